package contract

import (
	"strings"
	"testing"
)

// TestArgumentSchema proves that every argument of a side effect is in a scope or
// explained, and that egress is declared. // F2, F5
func TestArgumentSchema(t *testing.T) {
	mail := closedObject(`"to":{"type":"array","items":{"type":"string","format":"email"}},"body":{"type":"string"},"env":{"enum":["a","b"]}`)
	scope := func(name, kind string, at ...string) Scope {
		return Scope{Name: name, Type: kind, At: pointersOf(t, at...)}
	}
	oneOrMany := closedObject(`"to":{"oneOf":[{"type":"string","format":"email"},{"type":"array","items":{"type":"string","format":"email"}}]}`)
	nested := closedObject(`"o":` + closedObject(`"a":{"type":"integer"},"b":{"type":"boolean"}`))
	for _, row := range []struct {
		line     int
		schema   string
		effect   Effect
		egress   Egress
		scopes   []Scope
		unscoped map[string]string
		want     []string
	}{
		{line: here(), schema: closedObject(``), effect: SideEffect},
		{line: here(), schema: `{"type":"string"}`, effect: ReadOnly, want: []string{"#: arguments are always an object"}},
		{line: here(), schema: `{"type":["object","null"],"additionalProperties":false}`, effect: ReadOnly, want: []string{"#: arguments are always an object"}},
		{line: here(), schema: closedObject(`"a":{"type":"object"}`), effect: ReadOnly, want: []string{"#/properties/a: this object is open"}},
		{line: here(), schema: closedObject(`"a":{"type":"object","additionalProperties":{"type":"string"}}`), effect: ReadOnly, want: []string{"free map"}},
		{line: here(), schema: closedObject(`"a":{"type":"string"},"b":{"type":"array","items":{"type":"string"}}`), effect: ReadOnly},
		{line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to")}, unscoped: map[string]string{"/body": "x", "/env": "x"}},
		{line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to/*")}, unscoped: map[string]string{"/body": "x", "/env": "x"}},
		{line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to")}, unscoped: map[string]string{"/body": "x"}, want: []string{"contract.yaml: arguments: the argument /env (s.json#/properties/env) is in no scope and not in unscoped"}},
		{line: here(), schema: mail, effect: SideEffect, want: []string{"/body", "/env", "/to/*"}},
		{line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("r", "email", "/cc")}, unscoped: map[string]string{"/body": "x", "/env": "x", "/to": "x"}, want: []string{"arguments.scopes[0].at[0]: the schema knows no member /cc"}},
		{line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to", "/to")}, unscoped: map[string]string{"/body": "x", "/env": "x"}, want: []string{"arguments.scopes[0].at[1]: the argument /to is listed twice"}},
		{line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("e", "enum", "/env")}, unscoped: map[string]string{"/body": "x", "/to": "x"}},
		{line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("e", "enum", "/body")}, unscoped: map[string]string{"/env": "x", "/to": "x"}, want: []string{"the scope e is an enum, but the schema lists no values at /body"}},
		{
			line: here(), schema: mail, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to"), scope("e", "enum", "/env")}, unscoped: map[string]string{"/body": "x", "/env": "x", "/zz": "x", "zz": "x", "/to/*": ""},
			want: []string{"unscoped./env: /env is also in the scope e", "unscoped./to/*: the reason is empty", "unscoped./zz: the schema knows no member /zz", "unscoped.zz: this is no JSON Pointer"},
		},
		{line: here(), schema: nested, effect: SideEffect, unscoped: map[string]string{"/o": "x"}},
		{line: here(), schema: nested, effect: SideEffect, unscoped: map[string]string{"/o/a": "x"}, want: []string{"the argument /o/b"}},
		{line: here(), schema: nested, effect: SideEffect, scopes: []Scope{scope("n", "number", "/o")}, want: []string{"arguments.scopes[0].at[0]: the scope n points to an object", "/o/a", "/o/b"}},
		{line: here(), schema: nested, effect: SideEffect, scopes: []Scope{scope("n", "number", "/o/a")}, unscoped: map[string]string{"/o": "x"}, want: []string{"unscoped./o: /o is also in the scope n"}},
		{line: here(), schema: closedObject(`"a":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`), effect: SideEffect, scopes: []Scope{scope("n", "number", "/a")}},
		// One value or a list of them, as the tools of mail have it.
		{line: here(), schema: oneOrMany, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to")}},
		{line: here(), schema: oneOrMany, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to", "/to/*")}},
		{line: here(), schema: oneOrMany, effect: SideEffect, scopes: []Scope{scope("r", "email", "/to/*")}, want: []string{"the argument /to (s.json#/properties/to) is in no scope"}},
		{line: here(), schema: closedObject(`"to":{"type":["array","string","null"],"items":{"type":"string","format":"email"}}`), effect: SideEffect, scopes: []Scope{scope("r", "email", "/to")}},
		{line: here(), schema: closedObject(`"to":{"anyOf":[{"type":"string"},{"type":"array","items":` + closedObject(`"a":{"type":"string"}`) + `}]}`), effect: SideEffect, scopes: []Scope{scope("r", "string", "/to")}, want: []string{"points to an object or to arrays in objects at /to", "the argument /to/*/a"}},
		{line: here(), schema: closedObject(`"e":{"anyOf":[{"enum":["a","b"]},{"type":"array","items":{"type":"string"}}]}`), effect: SideEffect, scopes: []Scope{scope("e", "enum", "/e")}, want: []string{"the scope e is an enum, but the schema lists no values at /e"}},
		{line: here(), schema: closedObject(`"v":{"type":"integer"},"next":{"$ref":"#"}`), effect: SideEffect, unscoped: map[string]string{"/v": "x"}, want: []string{"the argument /next/next contains itself", "the argument /next/v"}},
		{line: here(), schema: closedObject(`"v":{"type":"integer"},"next":{"$ref":"#"}`), effect: SideEffect, unscoped: map[string]string{"/v": "x", "/next": "x"}},
		// Egress.
		{line: here(), schema: mail, effect: ReadOnly, want: []string{"egress: the argument /to/* is a url, host or address"}},
		{line: here(), schema: mail, effect: ReadOnly, egress: EgressNone},
		{line: here(), schema: mail, effect: ReadOnly, egress: EgressOpen},
		{line: here(), schema: closedObject(`"page_url":{"type":"string"}`), effect: ReadOnly, want: []string{"egress: the argument /page_url"}},
		{line: here(), schema: closedObject(`"mail-address":{"type":"string"}`), effect: ReadOnly, want: []string{"egress: the argument /mail-address"}},
		{line: here(), schema: closedObject(`"link":{"enum":["a","b"]}`), effect: ReadOnly},
		{line: here(), schema: closedObject(`"page":{"type":"string","pattern":"^https?://[a-z.]+/"}`), effect: ReadOnly, want: []string{"egress: the argument /page"}},
		{line: here(), schema: closedObject(`"page":{"type":"string","pattern":"^[a-z]+/"}`), effect: ReadOnly},
		{line: here(), schema: closedObject(`"host":{"enum":["a.example.test"]}`), effect: ReadOnly},
		{line: here(), schema: closedObject(`"q":{"type":"string"}`), effect: ReadOnly, scopes: []Scope{scope("q", "host", "/q")}, want: []string{"egress: the argument /q"}},
		{line: here(), schema: closedObject(`"q":{"anyOf":[{"type":"null"},{"type":"string","format":"ipv4"}]}`), effect: ReadOnly, want: []string{"egress: the argument /q"}},
	} {
		c := &Contract{Effect: row.effect, Egress: row.egress, Arguments: &Arguments{
			Schema: schemaOf(t, row.line, row.schema), Scopes: row.scopes, Unscoped: row.unscoped,
		}}
		wantFaults(t, row.line, lintArgumentSchema(c), row.want)
	}
	if got := lintArgumentSchema(&Contract{Effect: SideEffect}); got != nil {
		t.Error(got)
	}
	if got := lintArgumentSchema(&Contract{Arguments: &Arguments{}}); got != nil {
		t.Error(got)
	}
}

// TestArgumentsManyLeaves proves that shared definitions do not multiply the work.
func TestArgumentsManyLeaves(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	const n = 13
	for i := range n {
		b.WriteString(`"d` + string(rune('0'+i)) + `":` + closedObject(`"l":{"$ref":"#/$defs/d`+string(rune('0'+i+1))+`"},"r":{"$ref":"#/$defs/d`+string(rune('0'+i+1))+`"}`) + `,`)
	}
	b.WriteString(`"d` + string(rune('0'+n)) + `":{"type":"integer"}}}`)
	s, faults := readSchema(map[string][]byte{"s.json": []byte(b.String())}, "s.json")
	if len(faults) > 0 && !strings.Contains(faults[0].Message, "more than") {
		t.Fatal(faults)
	}
	got := lintArgumentSchema(&Contract{Effect: SideEffect, Arguments: &Arguments{Schema: s}})
	if len(got) == 0 || len(got) > maxFaults {
		t.Errorf("%d faults", len(got))
	}
}
