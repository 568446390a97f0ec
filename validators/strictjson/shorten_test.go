package strictjson_test

import (
	"fmt"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func appended(v strictjson.Value) string { return string(strictjson.AppendJSON(nil, v)) }

func TestShorten(t *testing.T) { // B4
	const src = `{"a":[{"x":[1,2]}, [3,[4]],"five",{}],"z":{"n":[ ]},"last":6}`
	for _, row := range []struct {
		line string
		list string
		keep int
		want string
	}{
		{"none kept", "/a", 0, `{"a":[],"z":{"n":[]},"last":6}`},
		{"a negative number is none", "/a", -7, `{"a":[],"z":{"n":[]},"last":6}`},
		{"one kept", "/a", 1, `{"a":[{"x":[1,2]}],"z":{"n":[]},"last":6}`},
		{"nested ones are kept whole", "/a", 2, `{"a":[{"x":[1,2]},[3,[4]]],"z":{"n":[]},"last":6}`},
		{"all but one", "/a", 3, `{"a":[{"x":[1,2]},[3,[4]],"five"],"z":{"n":[]},"last":6}`},
		{"as many as there are", "/a", 4, `{"a":[{"x":[1,2]},[3,[4]],"five",{}],"z":{"n":[]},"last":6}`},
		{"more than there are", "/a", 400, `{"a":[{"x":[1,2]},[3,[4]],"five",{}],"z":{"n":[]},"last":6}`},
		{"an inner list", "/a/0/x", 1, `{"a":[{"x":[1]},[3,[4]],"five",{}],"z":{"n":[]},"last":6}`},
		{"the innermost list", "/a/1/1", 0, `{"a":[{"x":[1,2]},[3,[]],"five",{}],"z":{"n":[]},"last":6}`},
		{"an empty list", "/z/n", 0, `{"a":[{"x":[1,2]},[3,[4]],"five",{}],"z":{"n":[]},"last":6}`},
		{"an object is no list", "/z", 0, `{"a":[{"x":[1,2]},[3,[4]],"five",{}],"z":{"n":[]},"last":6}`},
		{"nothing is no list", "/no", 0, `{"a":[{"x":[1,2]},[3,[4]],"five",{}],"z":{"n":[]},"last":6}`},
	} {
		t.Run(row.line, func(t *testing.T) {
			v := mustParse(t, src)
			at, err := strictjson.ParsePointer(row.list)
			if err != nil {
				t.Fatal(err)
			}
			before := appended(v)
			w := strictjson.Shorten(v, v.At(at), row.keep)
			if got := appended(w); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			if appended(v) != before {
				t.Error("the old tree changed")
			}
			if last := w.Member("last"); last.Digits() != "6" || last.Path().String() != "/last" || last.Offset() != v.Member("last").Offset() {
				t.Errorf("what follows is elsewhere: %q %s %d", last.Digits(), last.Path(), last.Offset())
			}
		})
	}
}

// Shorten answers with the counterpart of its first argument, wherever it stands.
func TestShortenPart(t *testing.T) {
	v := mustParse(t, `{"a":[1,[2],3],"b":{"c":"x"}}`)
	list := v.Member("a")
	if w := strictjson.Shorten(list, list, 1); appended(w) != "[1]" || w.Path().String() != "/a" {
		t.Errorf("the list itself: %s at %s", appended(w), w.Path())
	}
	if w := strictjson.Shorten(v.Member("b").Member("c"), list, 1); w.Text() != "x" || w.Path().String() != "/b/c" {
		t.Errorf("a value behind: %q at %s", w.Text(), w.Path())
	}
	if w := strictjson.Shorten(list.Element(0), list, 1); w.Digits() != "1" || w.Path().String() != "/a/0" {
		t.Errorf("a value that stays: %q at %s", w.Digits(), w.Path())
	}
	if strictjson.Shorten(list.Element(1).Element(0), list, 1).Exists() {
		t.Error("a value that goes has no counterpart")
	}
	other := mustParse(t, `[1,2]`)
	if strictjson.Shorten(v, other, 0) != v || strictjson.Shorten(strictjson.Value{}, list, 0).Exists() {
		t.Error("the list of another tree")
	}
}

// Shortening any list of any random tree gives the tree that parsing the shorter text
// gives, and edits and cuts can follow one another.
func TestShortenRandom(t *testing.T) {
	for seed := range uint64(150) {
		v := mustParse(t, randomJSON(seed))
		everyValue(v, func(list strictjson.Value) {
			if list.Kind() != strictjson.Array {
				return
			}
			for keep := range list.Len() + 1 {
				w := strictjson.Shorten(v, list, keep)
				text := strictjson.AppendJSON(nil, w)
				back := mustParse(t, string(text))
				checkTree(t, text, back)
				if w.Size() != back.Size() || !strictjson.Equal(w, back) || w.At(list.Path()).Len() != keep {
					t.Fatalf("seed %d, %s to %d: %s", seed, list.Path(), keep, text)
				}
				everyValue(w, func(x strictjson.Value) {
					if appended(v.At(x.Path())) != appended(x) && x.Path().String() != list.Path().String() && !above(x.Path(), list.Path()) {
						t.Fatalf("seed %d: %s is another value", seed, x.Path())
					}
				})
			}
		})
	}
}

// above reports whether p is on the way from the root to q.
func above(p, q strictjson.Pointer) bool {
	return len(p) < len(q) && fmt.Sprint(p) == fmt.Sprint(q[:len(p)])
}

// A tree with edited strings keeps them when it is cut, and the other way round.
func TestShortenAndReplace(t *testing.T) {
	v := mustParse(t, `{"a":["x","y","z"],"b":"w"}`)
	w := strictjson.Replace(v, []strictjson.Edit{{At: v.Member("b"), Text: "new"}, {At: v.Member("a").Element(0), Text: "first"}})
	w = strictjson.Shorten(w, w.Member("a"), 2)
	w = strictjson.Replace(w, []strictjson.Edit{{At: w.Member("a").Element(1), Text: "second"}})
	if got, want := appended(w), `{"a":["first","second"],"b":"new"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
