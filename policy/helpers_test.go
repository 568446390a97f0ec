package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

var now = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func parse(t testing.TB, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.Ceilings())
	if err != nil {
		t.Fatalf("test data %.60q: %v", text, err)
	}
	return v
}

// text makes a JSON string of s.
func text(t testing.TB, s string) strictjson.Value {
	t.Helper()
	return parse(t, string(strictjson.AppendString(nil, s)))
}

func at(t testing.TB, pointers ...string) []strictjson.Pointer {
	t.Helper()
	var list []strictjson.Pointer
	for _, p := range pointers {
		q, err := strictjson.ParsePointer(p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	return list
}

// compile compiles rules for tools whose arguments are of any shape.
func compile(t testing.TB, rules []Rule, tools ...string) *Set {
	t.Helper()
	shapes := make(map[string]*condition.Shape)
	for _, name := range tools {
		shapes[name] = nil
	}
	set, err := Compile(rules, shapes)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// grant allows values of one scope of a tool for an hour.
func grant(id, tool, scope string, values ...string) Grant {
	return Grant{
		ID: id, Tool: tool, NotAfter: now.Add(time.Hour), Unlimited: true,
		Scopes: []Allowed{{Scope: scope, Values: values}},
	}
}

func codes(d Decision) []Code {
	var list []Code
	for _, r := range d.Reasons {
		list = append(list, r.Code)
	}
	return list
}

// wants compares the effect and the codes of the reasons, in order.
func wants(t *testing.T, d Decision, effect Effect, reasons ...Code) {
	t.Helper()
	if d.Effect != effect || !slices.Equal(codes(d), reasons) {
		t.Errorf("got %v %+v, want %v %v", d.Effect, d.Reasons, effect, reasons)
	}
	if d.Effect == Deny && (d.Grants != nil || d.Evidence != nil || d.Consumed != nil || d.Obligations != nil) {
		t.Errorf("a DENY hands something out: %+v", d)
	}
}

// covers asks one scope whether a grant's value covers an argument's; malformed says
// that the argument has no canonical form.
func covers(t testing.TB, typ ScopeType, value string, argument strictjson.Value) (covered, malformed bool) {
	t.Helper()
	s := newSubjects(typ)
	if !s.add(argument) {
		return false, true
	}
	return s.cover([]string{value}, make([]bool, 1)), false
}

// verdict is what a row of a scope's table expects.
type verdict string

const (
	inside    verdict = "inside"    // the grant's value covers the argument
	outside   verdict = "outside"   // both are well-formed
	malformed verdict = "malformed" // the argument is
	void      verdict = "void"      // the grant's value is, and covers nothing
)

// row is one line of a scope's table.
type row struct {
	line            string
	grant, argument string
	want            verdict
}

// check runs a table; well asks whether a grant's value has a canonical form.
func check(t *testing.T, typ ScopeType, rows []row, well func(string) bool) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.line, func(t *testing.T) {
			v := text(t, r.argument)
			if typ == Number {
				v = parse(t, r.argument)
			}
			got := outside
			switch covered, bad := covers(t, typ, r.grant, v); {
			case bad:
				got = malformed
			case covered:
				got = inside
			case !well(r.grant):
				got = void
			}
			if got != r.want {
				t.Errorf("%q under the grant %q: %s, want %s", r.argument, r.grant, got, r.want)
			}
		})
	}
}

// seed gives the table to a fuzz target.
func seed(f *testing.F, rows []row) {
	for _, r := range rows {
		f.Add(r.grant, r.argument)
	}
}
