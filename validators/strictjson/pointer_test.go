package strictjson_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// RFC 6901 section 3: what is a pointer, and its tokens.
func TestParsePointer(t *testing.T) {
	for _, row := range []struct {
		src    string
		tokens []string
	}{
		{"", nil},
		{"/", []string{""}},
		{"//", []string{"", ""}},
		{"/a", []string{"a"}},
		{"/a/b/0", []string{"a", "b", "0"}},
		{"/a~1b", []string{"a/b"}},
		{"/m~0n", []string{"m~n"}},
		{"/~01", []string{"~1"}},
		{"/~10", []string{"/0"}},
		{"/~0~1~0", []string{"~/~"}},
		{"/ ", []string{" "}},
		{"/é€😀", []string{"é€😀"}},
		{"/*/-", []string{"*", "-"}},
		{`/"\`, []string{`"\`}},
	} {
		p, err := strictjson.ParsePointer(row.src)
		if err != nil || !slices.Equal(p, row.tokens) || p == nil {
			t.Errorf("%q: %q, %v", row.src, p, err)
		}
		if p.String() != row.src {
			t.Errorf("%q written again is %q", row.src, p)
		}
	}
	for _, src := range []string{"a", "a/b", " /a", "#/a", "~", "/~", "/~2", "/a~", "/~/", "/a~~0", "/0/~a"} {
		if p, err := strictjson.ParsePointer(src); !errors.Is(err, strictjson.ErrPointer) || p != nil {
			t.Errorf("%q: %q, %v", src, p, err)
		}
	}
}

// RFC 6901 sections 4 and 5.
func TestAt(t *testing.T) {
	v := mustParse(t, `{"foo":["bar","baz",[1,2]],"":0,"a/b":1,"m~n":8," ":7,"0":"zero","*":"star","x":{"01":"name"}}`)
	for pointer, want := range map[string]string{
		"/foo/0": `"bar"`, "/foo/2/1": "2", "/": "0", "/a~1b": "1", "/m~0n": "8", "/ ": "7", "/0": `"zero"`, "/*": `"star"`, "/x/01": `"name"`, "/foo/2": "[1,2]",
		"/foo/3": "", "/foo/-": "", "/foo/00": "", "/foo/01": "", "/foo/+1": "", "/foo/-0": "", "/foo/1e0": "", "/foo/ 1": "", "/foo/": "", "/foo/*": "", "/foo/१": "",
		"/foo/0/0": "", "/bar": "", "/foo/bar": "", "/FOO": "", "/foo/4294967296": "", "/foo/18446744073709551616": "", "/foo/999999999": "", "/0/0": "", "//": "",
	} {
		p, err := strictjson.ParsePointer(pointer)
		if err != nil {
			t.Fatal(err)
		}
		at := v.At(p)
		if got := string(strictjson.AppendJSON(nil, at)); got != want || at.Exists() != (want != "") {
			t.Errorf("%s is %s, want %s", pointer, got, want)
		}
	}
	if v.At(nil) != v || (strictjson.Value{}).At(strictjson.Pointer{"a"}).Exists() {
		t.Error("the empty pointer, or one into nothing")
	}
}

// The token for every element, which is a name on objects.
func TestAll(t *testing.T) {
	v := mustParse(t, `{"rows":[{"id":1,"tags":["a","b"]},{"id":2},{"id":3,"tags":[]},{"id":4,"tags":["c"]},5],"*":{"id":6},"deep":[[1,2],[3],4]}`)
	for pointer, want := range map[string]string{
		"/rows/*/id": "1 2 3 4", "/rows/*/tags/*": `"a" "b" "c"`, "/rows/*/tags/0": `"a" "c"`, "/rows/1/id": "2", "/*/id": "6", "/rows/4": "5",
		"/deep/*/*": "1 2 3", "/deep/*": "[1,2] [3] 4", "/none/*": "", "/rows/*/none": "", "/rows/9": "", "/rows/x": "", "/rows/*/id/*": "", "/deep/0/*": "1 2", "/deep/01": "",
	} {
		p, err := strictjson.ParsePointer(pointer)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		whole := v.All(p, func(x strictjson.Value) bool {
			got = append(got, string(strictjson.AppendJSON(nil, x)))
			return true
		})
		if strings.Join(got, " ") != want || !whole {
			t.Errorf("%s is %q, want %s", pointer, got, want)
		}
		stops := 0
		if whole := v.All(p, func(strictjson.Value) bool { stops++; return false }); whole == (want != "") || stops > 1 {
			t.Errorf("%s: stopped %d times, whole %v", pointer, stops, whole)
		}
	}
	calls := 0
	if !v.All(nil, func(x strictjson.Value) bool { calls++; return x == v }) || calls != 1 {
		t.Error("the empty pointer is the value itself")
	}
	if !(strictjson.Value{}).All(nil, func(strictjson.Value) bool { return false }) {
		t.Error("an absent value was found")
	}
}

// Append shares nothing.
func TestPointerAppend(t *testing.T) {
	p := make(strictjson.Pointer, 1, 10)
	p[0] = "a"
	q, r := p.Append("b"), p.Append("c")
	if q.String() != "/a/b" || r.String() != "/a/c" || p.String() != "/a" || strictjson.Pointer(nil).Append("x").String() != "/x" {
		t.Errorf("%s %s %s", p, q, r)
	}
}

// D1: Path, At, All and the written form agree about every value of random trees.
func TestPathsAgree(t *testing.T) {
	for seed := range uint64(150) {
		v := mustParse(t, randomJSON(seed))
		everyValue(v, func(x strictjson.Value) { checkPath(t, v, x) })
	}
}

func checkPath(t testing.TB, root, x strictjson.Value) {
	t.Helper()
	path := x.Path()
	if root.At(path) != x {
		t.Fatalf("%q leads elsewhere", path)
	}
	parsed, err := strictjson.ParsePointer(path.String())
	if err != nil || !slices.Equal(parsed, path) {
		t.Fatalf("%q written and read again is %q: %v", path, parsed, err)
	}
	wide := slices.Clone(path)
	for i := range wide {
		parent := root.At(path[:i])
		if parent.Kind() == strictjson.Array {
			wide[i] = strictjson.EveryElement
		}
	}
	for _, p := range []strictjson.Pointer{path, wide} {
		found := 0
		root.All(p, func(y strictjson.Value) bool {
			if x == y {
				found++
			}
			return true
		})
		if found != 1 {
			t.Fatalf("%q meets its value %d times", p, found)
		}
	}
}

func FuzzPointer(f *testing.F) {
	for _, src := range []string{"", "/", "/a/0/b", "/~0~1", "/~", "a", "/*/x", "/00", "/é", "/\xff"} {
		f.Add(src)
	}
	v := mustParse(f, `{"a":[{"b":1},[2,3]],"":{"~":{"/":[4]}},"*":5}`)
	f.Fuzz(func(t *testing.T, src string) {
		p, err := strictjson.ParsePointer(src)
		if err != nil {
			if p != nil || (src == "" || (src[0] == '/' && !strings.Contains(src, "~"))) {
				t.Errorf("refused: %v", err)
			}
			return
		}
		if p.String() != src {
			t.Errorf("%q written again is %q", src, p)
		}
		if x := v.At(p); x.Exists() {
			if !slices.Equal(x.Path(), p) {
				t.Errorf("%q is the value at %q", p, x.Path())
			}
			checkPath(t, v, x)
		}
		v.All(p, func(x strictjson.Value) bool {
			if len(x.Path()) != len(p) {
				t.Errorf("%q found the value at %q", p, x.Path())
			}
			return true
		})
	})
}
