package policy

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

var stringRows = []row{
	{"equal", "bluebird", "bluebird", inside},
	{"case", "bluebird", "Bluebird", outside},
	{"prefix", "bluebird", "bluebirds", outside},
	{"blank", "bluebird", "bluebird ", outside},
	{"nul", "bluebird", "bluebird\x00", outside},
	{"139 a word before", "rm", "nohup rm -r x", outside},
	{"not normalised", "\u00e9", "e\u0301", outside},
	{"long s", "s", "\u017f", outside},
	{"star", "*", "bluebird", outside},
	{"empty", "", "", inside},
	{"empty grant", "", "bluebird", outside},
}

// B9.
func TestString(t *testing.T) {
	check(t, String, stringRows, func(string) bool { return true })
}

func FuzzString(f *testing.F) {
	seed(f, stringRows)
	f.Fuzz(func(t *testing.T, granted, used string) {
		if !utf8.ValidString(used) {
			return
		}
		if ok, _ := covers(t, String, granted, text(t, used)); ok != (strings.Compare(granted, used) == 0) {
			t.Errorf("the grant %q covers %q: %v", granted, used, ok)
		}
	})
}

// enumCall is a call of a tool whose one scope is an enum.
func enumCall(t testing.TB, argument, value string) Request {
	return Request{
		Tool:      Tool{Name: "deploy", Scopes: []Scope{{Name: "env", Type: Enum, At: at(t, "/env"), Enum: []string{"staging", "production"}}}},
		Arguments: parse(t, argument), MayGrant: true, Now: now,
		Grants: []Grant{grant("g", "deploy", "env", value)},
	}
}

// B9.
func TestEnum(t *testing.T) {
	for _, c := range []struct {
		line, argument, grant string
		want                  Effect
	}{
		{"listed and granted", `{"env":"staging"}`, "staging", Allow},
		{"listed, not granted", `{"env":"production"}`, "staging", Deny},
		{"granted, not listed", `{"env":"test"}`, "test", Deny},
		{"case", `{"env":"Staging"}`, "Staging", Deny},
		{"number", `{"env":1}`, "1", Deny},
		{"null", `{"env":null}`, "staging", Deny},
	} {
		t.Run(c.line, func(t *testing.T) {
			if d := Decide(compile(t, nil), enumCall(t, c.argument, c.grant)); d.Effect != c.want {
				t.Errorf("%v %+v", d.Effect, d.Reasons)
			}
		})
	}
}

func FuzzEnum(f *testing.F) {
	f.Add("staging", "staging")
	f.Add("test", "test")
	f.Add("production", "staging")
	f.Fuzz(func(t *testing.T, granted, used string) {
		if !utf8.ValidString(used) {
			return
		}
		argument := string(append(strictjson.AppendString([]byte(`{"env":`), used), '}'))
		d := Decide(compile(t, nil), enumCall(t, argument, granted))
		want := granted == used && slices.Contains([]string{"staging", "production"}, used)
		if (d.Effect == Allow) != want {
			t.Errorf("the grant %q, the argument %q: %v", granted, used, d.Effect)
		}
	})
}
