package projection

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
	"github.com/hallmark-gate/hallmark/validators/text"
)

func parse(t testing.TB, src string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(src), strictjson.Ceilings())
	if err != nil {
		t.Fatalf("parse %s: %v", src, err)
	}
	return v
}

func pointers(t testing.TB, texts ...string) []strictjson.Pointer {
	t.Helper()
	var out []strictjson.Pointer
	for _, s := range texts {
		p, err := strictjson.ParsePointer(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func plan(t testing.TB, fields, texts []string) *Plan {
	t.Helper()
	var fs []TextField
	for _, p := range pointers(t, texts...) {
		fs = append(fs, TextField{At: p})
	}
	return New(pointers(t, fields...), fs)
}

var projectTable = []struct {
	line      string
	fields    []string
	texts     []string
	in, out   string
	untrusted []string
}{
	{"only what is named", []string{"/a"}, nil, `{"a":1,"b":2}`, `{"a":1}`, nil},
	{"in the contract's order", []string{"/b", "/a"}, nil, `{"a":1,"b":2}`, `{"b":2,"a":1}`, nil},
	{"an absent optional member stays absent", []string{"/a", "/b"}, nil, `{"b":2}`, `{"b":2}`, nil},
	{"a member of an object", []string{"/a/x"}, nil, `{"a":{"x":1,"y":2},"b":3}`, `{"a":{"x":1}}`, nil},
	{"a member of every element", []string{"/r/*/t"}, nil, `{"r":[{"t":1,"u":2},{"t":3}]}`, `{"r":[{"t":1},{"t":3}]}`, nil},
	{"an empty list stays one", []string{"/r/*/t"}, nil, `{"r":[]}`, `{"r":[]}`, nil},
	{"lists in lists", []string{"/r/*/*"}, nil, `{"r":[[1,2],[]]}`, `{"r":[[1,2],[]]}`, nil},
	{"an object whole", []string{"/a"}, nil, `{"a":{"x":[1, {"y":null}]},"b":0}`, `{"a":{"x":[1,{"y":null}]}}`, nil},
	{"a scalar root", []string{""}, nil, `12.50e1`, `12.50e1`, nil},
	{"a root list", []string{"/*/id"}, nil, `[{"id":1,"x":2}]`, `[{"id":1}]`, nil},
	{"digits stay", []string{"/n"}, nil, `{"n":725653563933458432.10}`, `{"n":725653563933458432.10}`, nil},
	{"tokens of machine strings stay", []string{"/s"}, nil, `{"s":"\u0041\/b"}`, `{"s":"\u0041\/b"}`, nil},
	{"null stands where members were named", []string{"/a/x"}, nil, `{"a":null}`, `{"a":null}`, nil},
	{"text is named", []string{"/a", "/m"}, []string{"/m"}, `{"a":"x","m":"hello"}`, `{"a":"x","m":"hello"}`, []string{"/m"}},
	{"text of every element is named with its index", []string{"/r/*/t"}, []string{"/r/*/t"}, `{"r":[{"t":"a"},{"t":"b"}]}`, `{"r":[{"t":"a"},{"t":"b"}]}`, []string{"/r/0/t", "/r/1/t"}},
	{"text inside an object given whole", []string{"/a"}, []string{"/a/m"}, `{"a":{"m":"x","n":"y"}}`, `{"a":{"m":"x","n":"y"}}`, []string{"/a/m"}},
	{"text that is not given is not named", []string{"/a"}, []string{"/m"}, `{"a":1,"m":"x"}`, `{"a":1}`, nil},
	{"names are escaped in pointers", []string{"/a~1b"}, []string{"/a~1b"}, `{"a/b":"x"}`, `{"a/b":"x"}`, []string{"/a~1b"}},
}

func TestProject(t *testing.T) { // A15
	for _, row := range projectTable {
		t.Run(row.line, func(t *testing.T) {
			out, untrusted, ok := plan(t, row.fields, row.texts).Project(nil, parse(t, row.in))
			if !ok || string(out) != row.out {
				t.Errorf("got %s (%v), want %s", out, ok, row.out)
			}
			if !slices.Equal(untrusted, row.untrusted) {
				t.Errorf("untrusted text: got %q, want %q", untrusted, row.untrusted)
			}
		})
	}
}

func TestZeroPlanGivesNothing(t *testing.T) {
	if out, _, ok := (&Plan{}).Project(nil, parse(t, `{"a":1}`)); ok || len(out) > 0 {
		t.Errorf("got %s", out)
	}
}

func clean(t *testing.T, p *Plan, v strictjson.Value) Cleaned {
	t.Helper()
	c, err := p.Clean(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClean(t *testing.T) { // B3, D10
	p := New(pointers(t, "/id", "/m", "/r/*/t"), []TextField{
		{At: pointers(t, "/m")[0]}, {At: pointers(t, "/r/*/t")[0], MaxChars: 3},
	})
	v := parse(t, `{"id":"x\u200by","m":"a\u0000b\u202ec","r":[{"t":"абвг"},{"t":"аб"}]}`)
	c := clean(t, p, v)
	out, _, _ := p.Project(nil, c.Value)
	if want := `{"id":"x\u200by","m":"abc","r":[{"t":"абв"},{"t":"аб"}]}`; string(out) != want {
		t.Errorf("got %s, want %s", out, want)
	}
	if !c.Truncated || c.Removed.Total() != 2 {
		t.Errorf("truncated %v, removed %d", c.Truncated, c.Removed.Total())
	}
	if again := clean(t, p, c.Value); again.Truncated || again.Removed.Total() != 0 {
		t.Error("cleaning is not idempotent")
	}
	if kept := string(strictjson.AppendJSON(nil, v)); !strings.Contains(kept, `\u0000`) {
		t.Error("the value that was cleaned has changed")
	}
}

// What a text field is decides how it is cleaned: pages give their visible text, links
// are neither normalised nor cut, code keeps its form. B5, B15
func TestCleanAs(t *testing.T) {
	p := New(pointers(t, ""), []TextField{
		{At: pointers(t, "/p")[0], MaxChars: 4},
		{At: pointers(t, "/h")[0], HTML: true, MaxChars: 6},
		{At: pointers(t, "/c")[0], Profile: text.Code},
		{At: pointers(t, "/l")[0], Link: true, MaxChars: 3},
	})
	v := parse(t, `{"p":" x² ﬁ\r\n\u200b","h":"<p>a<p hidden>SYSTEM<p>b<br>c&#8203;</p>","c":"  x²\n\n\n\n\ny","l":"https://ａ.example/\u200b"}`)
	c := clean(t, p, v)
	out, _, _ := p.Project(nil, c.Value)
	if want := `{"p":"x2 f","h":"a\nb\nc","c":"  x²\n\n\n\n\ny","l":"https://ａ.example/"}`; string(out) != want {
		t.Errorf("got %s, want %s", out, want)
	}
	if !c.Truncated || c.Noticed.HiddenText != 1 {
		t.Errorf("%+v", c)
	}
	deep := parse(t, `{"h":"`+strings.Repeat("<b>", 600)+`"}`)
	var refused *TextError
	if _, err := p.Clean(t.Context(), deep); !errors.As(err, &refused) || refused.At.String() != "/h" || strings.Contains(err.Error(), "<b>") {
		t.Errorf("%v", err)
	}
}

func TestHidden(t *testing.T) {
	p := plan(t, []string{"/id", "/m", "/deep"}, []string{"/m"})
	for _, row := range []struct{ line, in, at string }{
		{"a machine value", `{"id":"x\u200by","m":"ok"}`, "/id"},
		{"the first in the order of the input", `{"deep":{"b":["\ufeff"]},"id":"\u0000"}`, "/deep/b/0"},
		{"text is not looked at", `{"id":"x","m":"\u200b"}`, ""},
		{"what is not given is not looked at", `{"id":"x","trace":"\u200b"}`, ""},
		{"line feed and tab are not hidden", `{"id":"a\n\tb"}`, ""},
	} {
		t.Run(row.line, func(t *testing.T) {
			found := p.Hidden(parse(t, row.in))
			if found.Exists() != (row.at != "") || found.Path().String() != row.at {
				t.Errorf("got %q, want %q", found.Path(), row.at)
			}
		})
	}
}

// FuzzProject: whatever is read and projected is valid, holds no member that was not
// named, and machine values come out byte for byte.
func FuzzProject(f *testing.F) {
	for _, row := range projectTable {
		f.Add(row.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		v, err := strictjson.Parse([]byte(in), strictjson.Ceilings())
		if err != nil {
			return
		}
		p := plan(t, []string{"/a", "/r/*/t", "/m"}, []string{"/m", "/r/*/t"})
		c := clean(t, p, v)
		out, untrusted, ok := p.Project(nil, c.Value)
		if !ok {
			t.Fatal("nothing was given")
		}
		made, err := strictjson.Parse(out, strictjson.Ceilings())
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if v.Kind() == strictjson.Object {
			for name := range made.Members() {
				if name != "a" && name != "r" && name != "m" {
					t.Fatalf("member %q was not promised", name)
				}
			}
			if a := v.Member("a"); a.Exists() && string(strictjson.AppendJSON(nil, a)) != string(strictjson.AppendJSON(nil, made.Member("a"))) {
				t.Fatal("a machine value changed")
			}
		}
		for _, at := range untrusted {
			pointer, err := strictjson.ParsePointer(at)
			if err != nil || made.At(pointer).Kind() != strictjson.String {
				t.Fatalf("%q points to no text", at)
			}
		}
	})
}
