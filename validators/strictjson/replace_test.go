package strictjson_test

import (
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func TestReplace(t *testing.T) {
	const src = `{ "a" : ["x\n", 1.50, "\u0079"], "b": "z", "n\u0061me": true }`
	v := mustParse(t, src)
	a, b := v.Member("a"), v.Member("b")
	before := string(strictjson.AppendJSON(nil, v))
	w := strictjson.Replace(v, []strictjson.Edit{
		{At: a.Element(0), Text: "first"},
		{At: b, Text: "once"},
		{At: b, Text: "é\"\x00😀"}, // the last counts
		{At: a.Element(1), Text: "no string"},
		{At: strictjson.Value{}, Text: "nothing"},
		{At: mustParse(t, `"other tree"`), Text: "elsewhere"},
	})
	if got, want := string(strictjson.AppendJSON(nil, w)), `{"a":["first",1.50,"\u0079"],"b":"é\"\u0000😀","name":true}`; got != want {
		t.Errorf("new tree %s, want %s", got, want)
	}
	if got := string(strictjson.AppendJSON(nil, v)); got != before {
		t.Errorf("the old tree became %s", got)
	}
	if x := w.Member("b"); x.Text() != "é\"\x00😀" || x.Chars() != 4 || x.Offset() != b.Offset() || x.Path().String() != "/b" {
		t.Errorf("%q of %d at %d", x.Text(), x.Chars(), x.Offset())
	}
	if b.Text() != "z" || b.Chars() != 1 || strictjson.Equal(v, w) || w.Size() != v.Size() {
		t.Error("old and new mix")
	}
	// Edits of a tree that is itself new, and a handle of the tree before it.
	u := strictjson.Replace(w, []strictjson.Edit{{At: w.Member("a").Element(0), Text: ""}, {At: b, Text: "stale handle"}})
	if got, want := string(strictjson.AppendJSON(nil, u)), `{"a":["",1.50,"\u0079"],"b":"é\"\u0000😀","name":true}`; got != want {
		t.Errorf("second tree %s, want %s", got, want)
	}
	if w.Member("a").Element(0).Text() != "first" {
		t.Error("the second edit changed the first tree")
	}
}

// Replace answers with the counterpart of its argument, not with the root.
func TestReplacePart(t *testing.T) {
	v := mustParse(t, `{"a":{"b":["x","y"]},"c":"z"}`)
	part := v.Member("a").Member("b")
	w := strictjson.Replace(part, []strictjson.Edit{{At: part.Element(1), Text: "new"}})
	if got := string(strictjson.AppendJSON(nil, w)); got != `["x","new"]` || w.Path().String() != "/a/b" {
		t.Errorf("%s at %s", got, w.Path())
	}
	if strictjson.Replace(v, nil) != v || strictjson.Replace(strictjson.Value{}, []strictjson.Edit{{At: v, Text: "x"}}).Exists() {
		t.Error("no edits, or no tree")
	}
}

// D1: replacing every string by its own text changes no value, in any random tree.
func TestReplaceBySame(t *testing.T) {
	for seed := range uint64(150) {
		v := mustParse(t, randomJSON(seed))
		var same, longer []strictjson.Edit
		everyValue(v, func(x strictjson.Value) {
			if x.Kind() == strictjson.String {
				same = append(same, strictjson.Edit{At: x, Text: x.Text()})
				longer = append(longer, strictjson.Edit{At: x, Text: strings.Repeat(x.Text()+"é", 3)})
			}
		})
		w := strictjson.Replace(v, same)
		if !strictjson.Equal(v, w) {
			t.Fatalf("seed %d: another value", seed)
		}
		checkTree(t, strictjson.AppendJSON(nil, w), mustParse(t, string(strictjson.AppendJSON(nil, w))))
		u := strictjson.Replace(w, []strictjson.Edit{})
		if u != w {
			t.Fatal("no edits make a new tree")
		}
		u = strictjson.Replace(v, longer)
		if back := mustParse(t, string(strictjson.AppendJSON(nil, u))); !strictjson.Equal(u, back) || (len(longer) > 0 && strictjson.Equal(u, v)) {
			t.Fatalf("seed %d: the edited tree is written as another", seed)
		}
	}
}
