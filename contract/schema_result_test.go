package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// closedObject is an object of these members, all required.
func closedObject(properties string) string {
	return `{"type":"object","additionalProperties":false,"properties":{` + properties + `}}`
}

func pointersOf(t *testing.T, texts ...string) []strictjson.Pointer {
	t.Helper()
	var list []strictjson.Pointer
	for _, s := range texts {
		p, err := strictjson.ParsePointer(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func parsed(t *testing.T, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.Ceilings())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// schemaOf reads a schema that must have no fault of its own.
func schemaOf(t *testing.T, line int, text string) *Schema {
	t.Helper()
	s, faults := readSchema(map[string][]byte{"s.json": []byte(text)}, "s.json")
	if len(faults) > 0 {
		t.Fatalf("row of line %d: %v", line, faults)
	}
	return s
}

// TestResultStructure proves that every place of a payload is closed and described.
// // A5, A6, B7
func TestResultStructure(t *testing.T) {
	obj := closedObject(`"a":{"type":"integer"}`)
	for _, row := range []struct {
		line   int
		schema string
		want   []string
	}{
		{here(), obj, nil},
		{here(), `{"type":"integer"}`, nil},
		{here(), `false`, nil},
		{here(), `true`, []string{"s.json:1:1: #: nothing limits"}},
		{here(), `{}`, []string{"#: nothing limits"}},
		{here(), `{"maxLength":3}`, []string{"#: nothing limits"}},
		{here(), `{"enum":[1,{"a":1}]}`, nil},
		{here(), `{"const":{"a":1}}`, nil},
		{here(), `{"type":"object"}`, []string{"#: this object is open"}},
		{here(), `{"type":["object","null"],"additionalProperties":false}`, nil},
		{here(), `{"properties":{"a":{"type":"integer"}}}`, []string{"#: nothing limits"}},
		{here(), `{"type":"object","unevaluatedProperties":false}`, nil},
		{here(), closedObject(`"a":` + `{"type":"object","properties":{}}`), []string{"#/properties/a: this object is open"}},
		{here(), closedObject(`"a":true`), []string{"#/properties/a: nothing limits"}},
		{here(), closedObject(`"a":{"type":"array","items":{"type":"object"}}`), []string{"#/properties/a/items: this object is open"}},
		{here(), `{"type":"array"}`, []string{"#: the elements of an array here are described by no schema"}},
		{here(), `{"type":"array","items":false}`, nil},
		{here(), `{"type":"array","prefixItems":[{"type":"null"}],"maxItems":1}`, nil},
		{here(), `{"type":"array","prefixItems":[{"type":"null"}],"maxItems":2}`, []string{"#: the elements of an array here"}},
		{here(), `{"type":"array","prefixItems":[{"type":"null"}],"items":false}`, nil},
		{here(), `{"type":"array","prefixItems":[{"type":"object"}],"items":{"type":"null"}}`, []string{"#/prefixItems/0: this object is open"}},
		{here(), `{"type":"array","contains":` + obj + `}`, []string{"#: the elements of an array here"}},
		{here(), `{"type":"array","items":` + obj + `,"contains":{"properties":{"a":{"const":1}}}}`, nil},
		{here(), `{"type":"array","prefixItems":[{"type":"null"}],"unevaluatedItems":false}`, nil},
		// Free maps.
		{here(), `{"type":"object","additionalProperties":{"type":"string"}}`, []string{"#/additionalProperties: additionalProperties makes this object a free map"}},
		{here(), `{"type":"object","additionalProperties":true}`, []string{"free map"}},
		{here(), `{"type":"object","patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}`, []string{"#/patternProperties: patternProperties makes"}},
		{here(), `{"type":"object","unevaluatedProperties":{"type":"null"}}`, []string{"free map"}},
		{here(), `{"type":"object","propertyNames":{"type":"string","maxLength":3}}`, []string{"this object is open"}},
		{here(), `{"allOf":[{"type":"object","additionalProperties":{"type":"null"}}],"unevaluatedProperties":false}`, []string{"#/allOf/0/additionalProperties: "}},
		// Composition.
		{here(), `{"allOf":[{"type":"object","properties":{"a":{"type":"null"}}},{"type":"object","properties":{"b":{"type":"null"}}}],"unevaluatedProperties":false}`, nil},
		{here(), `{"allOf":[{"type":"object","properties":{"a":{"type":"null"}}},{"type":"object"}]}`, []string{"#: this object is open"}},
		{here(), `{"type":"object","allOf":[{"properties":{"a":{"type":"null"}}}],"properties":{}}`, []string{"#: this object is open"}},
		{here(), `{"allOf":[` + obj + `,{"properties":{"a":{"minimum":1}}}]}`, nil},
		{here(), `{"$ref":"#/$defs/b","type":"object","unevaluatedProperties":false,"$defs":{"b":{"properties":{"a":{"type":"integer"}}}}}`, nil},
		{here(), `{"$ref":"#/$defs/b","$defs":{"b":{"type":"object"}}}`, []string{"#/$defs/b: this object is open"}},
		{here(), `{"$ref":"#/$defs/b","$defs":{"b":` + obj + `,"unused":{}}}`, nil},
		{here(), `{"oneOf":[` + obj + `,{"type":"null"}]}`, nil},
		{here(), `{"oneOf":[` + obj + `,{"type":"object","properties":{}}]}`, []string{"#/oneOf/1: this object is open"}},
		{here(), `{"anyOf":[{"type":"object","properties":{}},{"$ref":"#/$defs/b"}],"$defs":{"b":{"type":"object"}}}`, []string{"#/anyOf/0: this object", "#/$defs/b: this object"}},
		{here(), `{"type":"object","anyOf":[{"properties":{"a":{"type":"null"}}},{"required":["a"]}],"unevaluatedProperties":false}`, nil},
		{here(), `{"type":"object","anyOf":[{"properties":{"a":{"type":"null"}}}]}`, []string{"#/anyOf/0: this object is open"}},
		{here(), `{"anyOf":[` + obj + `],"oneOf":[{},{}]}`, nil},
		{here(), `{"if":{"type":"object"},"then":` + obj + `,"else":{"type":"null"}}`, nil},
		{here(), `{"if":{"type":"object"},"then":` + obj + `}`, []string{"#: nothing limits"}},
		{here(), `{"not":` + obj + `}`, []string{"#: nothing limits"}},
		// A refinement needs no closing of its own.
		{here(), `{"type":"object","additionalProperties":false,"properties":{"k":{"type":"string"},"a":{"type":"string"}},"if":{"properties":{"k":{"const":"x"}}},"then":{"properties":{"a":{"maxLength":3}},"required":["a"]}}`, nil},
		{here(), `{"type":"object","additionalProperties":false,"properties":{"a":true},"anyOf":[{"properties":{"a":` + obj + `}},{"properties":{"a":{"type":"null"}}}]}`, []string{"#/properties/a: nothing limits"}},
		{here(), `{"type":"object","unevaluatedProperties":false,"anyOf":[{"properties":{"a":` + obj + `}},{"properties":{"a":{"type":"null"}}}]}`, nil},
		{here(), `{"type":"object","unevaluatedProperties":false,"anyOf":[{"properties":{"a":` + obj + `}},{"properties":{"a":{"type":"object"}}}]}`, []string{"#/anyOf/1/properties/a: this object is open"}},
		{here(), `{"type":"object","unevaluatedProperties":false,"dependentSchemas":{"a":{"properties":{"b":{"type":"object"}}}},"properties":{"a":{"type":"null"}}}`, []string{"#/dependentSchemas/a/properties/b: this object is open"}},
		{here(), `{"type":"object","unevaluatedProperties":false,"if":{"properties":{"b":true}},"else":{"properties":{"b":{"type":"null"}}}}`, []string{"#/if/properties/b: nothing limits"}},
		// A location counts by its strongest way, here the longer one.
		{here(), `{"type":"object","unevaluatedProperties":false,"anyOf":[{"$ref":"#/$defs/b"},{"properties":{"a":{"minimum":1}}}],"allOf":[{"allOf":[{"allOf":[{"$ref":"#/$defs/b"}]}]}],"$defs":{"b":{"properties":{"a":{"type":"integer"}}}}}`, nil},
		// Recursion.
		{here(), closedObject(`"v":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#"}}`), nil},
		{here(), `{"type":"object","properties":{"next":{"$ref":"#"}}}`, []string{"#: this object is open"}},
		// Required members that nobody names.
		{here(), `{"type":"object","additionalProperties":false,"required":["ab"],"properties":{"ab1":{"type":"null"}}}`, []string{"s.json:1:59: #/required/0: the member \"ab\" is required, but no schema here names it"}},
		{here(), `{"type":"object","additionalProperties":false,"required":["project_di"],"properties":{"project_id":{"type":"null"}}}`, []string{"(did you mean project_id?)"}},
		{here(), `{"type":"object","required":["a"],"allOf":[{"properties":{"a":{"type":"null"}}}],"unevaluatedProperties":false}`, nil},
		{here(), `{"type":"object","if":{"required":["z"]},"then":false,"additionalProperties":false,"properties":{}}`, nil},
	} {
		c := &Contract{Result: Result{Schema: schemaOf(t, row.line, row.schema)}}
		c.Result.NotGiven = map[string]string{"/a": "why", "/ab": "why", "/project_di": "why"}
		var got Faults
		for _, f := range lintResultSchema(c) {
			if f.File != contractFile {
				got = append(got, f)
			}
		}
		wantFaults(t, row.line, got, row.want)
	}
}

// TestAgentFields proves that what reaches the agent is named, bounded, and either a
// machine value or declared text. // A6, A9, A15
func TestAgentFields(t *testing.T) {
	id := `"id":{"type":"string","pattern":"^[a-z]{1,20}$"}`
	note := `"note":{"type":"string","maxLength":200}`
	text := func(at string, max int) []TextField {
		return []TextField{{At: pointersOf(t, at)[0], As: "text/plain", MaxChars: max, Profile: "prose"}}
	}
	list := closedObject(id + `,"rows":{"type":"array","maxItems":9,"items":` + closedObject(id+`,`+note) + `}`)
	for _, row := range []struct {
		line     int
		schema   string
		fields   []string
		text     []TextField
		notGiven map[string]string
		want     []string
	}{
		{line: here(), schema: closedObject(id), fields: []string{"/id"}},
		{line: here(), schema: closedObject(id), fields: []string{""}},
		{line: here(), schema: closedObject(id), fields: []string{"/idd"}, want: []string{"contract.yaml: result.agent_fields[0]: the schema knows no member /idd (did you mean /id?)"}},
		{line: here(), schema: closedObject(id), fields: []string{"/id/x"}, want: []string{"no member /id/x (what stands above it is neither"}},
		{line: here(), schema: closedObject(id), fields: []string{"/id", "/id"}, want: []string{"agent_fields[1]: the field /id is listed twice"}},
		{line: here(), schema: closedObject(id), fields: []string{"/id", ""}, want: []string{"agent_fields[1]: the field \"\" (the whole value) overlaps"}},
		{line: here(), schema: closedObject(id), fields: []string{"", "/id"}, want: []string{"agent_fields[1]: the field /id overlaps"}},
		{line: here(), schema: list, fields: []string{"/rows/*/id"}},
		{line: here(), schema: list, fields: []string{"/rows/0/id"}, want: []string{"no member /rows/0 (a place inside an array is written with *"}},
		{line: here(), schema: list, fields: []string{"/rows/id"}, want: []string{"(a place inside an array"}},
		{line: here(), schema: list, fields: []string{"/*/id"}, want: []string{"no member /*"}},
		{line: here(), schema: `{"type":"array","maxItems":3,"items":` + closedObject(id) + `}`, fields: []string{"/*/id"}},
		{line: here(), schema: closedObject(`"ext_v1":` + closedObject(note) + `,` + id), fields: []string{"/id"}},
		// Through unions and references.
		{line: here(), schema: `{"oneOf":[` + closedObject(id) + `,{"$ref":"#/$defs/e"}],"$defs":{"e":` + closedObject(`"code":{"enum":["A"]}`) + `}}`, fields: []string{"/id", "/code"}},
		{line: here(), schema: `{"allOf":[{"type":"object","properties":{` + id + `}}],"not":{"properties":{"x":{"type":"null"}}},"unevaluatedProperties":false}`, fields: []string{"/id", "/x"}, want: []string{"no member /x"}},
		// Bounds and machine values.
		{line: here(), schema: closedObject(note), fields: []string{"/note"}, want: []string{"agent_fields[0]: the string at /note (s.json#/properties/note) is neither a machine value nor a declared text field"}},
		{line: here(), schema: closedObject(note), fields: []string{"/note"}, text: text("/note", 0)},
		{line: here(), schema: closedObject(`"n":{"type":"string"}`), fields: []string{"/n"}, text: text("/n", 0), want: []string{"s.json:1:65: #/properties/n: a string that reaches the agent at /n has no bound"}},
		{line: here(), schema: closedObject(`"n":{"type":"string"}`), fields: []string{"/n"}, text: text("/n", 500)},
		{line: here(), schema: closedObject(`"n":{"type":"string"}`), fields: []string{"/n"}, want: []string{"contract.yaml: result.agent_fields[0]: the string at /n", "s.json:1:65: #/properties/n: a string"}},
		{line: here(), schema: closedObject(`"n":{"type":["string","null"],"enum":["a",null]}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"const":"a b"}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","format":"date-time"}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","format":"uuid"}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","format":"uri","maxLength":99}`), fields: []string{"/n"}, want: []string{"string at /n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","pattern":"^[a-z]{1,65}$"}`), fields: []string{"/n"}, want: []string{"string at /n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","pattern":"^[a-z ]{1,6}$"}`), fields: []string{"/n"}, want: []string{"string at /n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","pattern":"^[a-z]+$","maxLength":64}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","pattern":"^[a-z]+$","maxLength":65}`), fields: []string{"/n"}, want: []string{"string at /n"}},
		{line: here(), schema: closedObject(`"n":{"type":"string","pattern":"[a-z]+","maxLength":9}`), fields: []string{"/n"}, want: []string{"string at /n"}},
		{line: here(), schema: closedObject(`"n":{"anyOf":[{"type":"null"},{"type":"string","maxLength":9}]}`), fields: []string{"/n"}, want: []string{"(s.json#/properties/n/anyOf/1)"}},
		{line: here(), schema: closedObject(`"n":{"allOf":[{"type":"string"},{"pattern":"^[a-z]{3}$"}]}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"oneOf":[{"enum":["a"]},{"type":"string","format":"date"}]}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"type":"array","items":{"type":"integer"}}`), fields: []string{"/n"}, want: []string{"#/properties/n: an array that reaches the agent at /n has no bound (add maxItems, or bound it in max_list)"}},
		{line: here(), schema: closedObject(`"n":{"type":"array","items":{"type":"integer"}}`), fields: []string{"/n/*"}, want: []string{"an array that reaches the agent at /n has no bound"}},
		{line: here(), schema: closedObject(`"n":{"type":"array","maxItems":2,"items":{"type":"array","items":{"type":"integer"}}}`), fields: []string{"/n/*/*"}, want: []string{"an array that reaches the agent at /n/* has no bound"}},
		{line: here(), schema: `{"if":{"type":"object"},"then":` + closedObject(id) + `,"else":{"type":"string","maxLength":9}}`, fields: []string{""}, want: []string{"the string at \"\" (the whole value) (s.json#) is neither"}},
		{line: here(), schema: closedObject(`"n":{"type":"array","prefixItems":[{"type":"null"}],"items":false}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"type":"array","prefixItems":[{"type":"null"}],"unevaluatedItems":false}`), fields: []string{"/n"}},
		{line: here(), schema: closedObject(`"n":{"type":"array","contains":{"type":"null"},"unevaluatedItems":false}`), fields: []string{"/n"}, want: []string{"an array that reaches"}},
		{line: here(), schema: closedObject(`"n":{"type":"array","maxItems":2,"items":{"type":"string","maxLength":3}}`), fields: []string{"/n"}, text: text("/n/*", 0)},
		{line: here(), schema: closedObject(`"n":{"type":"array","maxItems":2,"items":{"type":"string","maxLength":3}}`), fields: []string{"/n"}, want: []string{"the string at /n/*"}},
		{line: here(), schema: closedObject(id + `,"kids":{"type":"array","maxItems":2,"items":{"$ref":"#"}}`), fields: []string{""}},
		{line: here(), schema: closedObject(note + `,"kids":{"type":"array","maxItems":2,"items":{"$ref":"#"}}`), fields: []string{""}, text: text("/note", 9), want: []string{"the string at /kids/*/note"}},
		{line: here(), schema: closedObject(`"n":{"type":"integer"}`), fields: []string{"/n"}, text: text("/n", 0), want: []string{"text_fields[0]: the schema allows no string at /n"}},
		{line: here(), schema: closedObject(id + `,` + note), fields: []string{"/id"}, text: text("/note", 0)},
		{line: here(), schema: closedObject(id), fields: []string{"/id"}, text: text("/nope", 0), want: []string{"text_fields[0]: the schema knows no member /nope"}},
		{line: here(), schema: closedObject(note), fields: []string{"/note"}, text: append(text("/note", 0), text("/note", 0)...), want: []string{"text_fields[1]: the text field /note is listed twice"}},
		{line: here(), schema: list, fields: []string{"/rows"}, text: text("/rows/*/note", 9)},
		// Required and not given.
		{line: here(), schema: `{"type":"object","additionalProperties":false,"required":["id","note"],"properties":{` + id + `,` + note + `}}`, fields: []string{"/id"}, want: []string{"result.agent_fields: the required member /note is neither given to the agent nor in not_given"}},
		{line: here(), schema: `{"type":"object","additionalProperties":false,"required":["id","note"],"properties":{` + id + `,` + note + `}}`, fields: []string{"/id"}, notGiven: map[string]string{"/note": "for operators"}},
		{
			line: here(), schema: closedObject(id + `,` + note), fields: []string{"/id"}, notGiven: map[string]string{"/note": "", "/zz": "x", "zz": "x", "/id": "x"},
			want: []string{"result.not_given./id: /id is given", "result.not_given./note: the reason is empty", "result.not_given./zz: the schema knows no member", "result.not_given.zz: this is no JSON Pointer"},
		},
		{line: here(), schema: closedObject(`"o":{"type":"object","additionalProperties":false,"required":["id","k"],"properties":{` + id + `,"k":{"enum":[1]}}}`), fields: []string{"/o/id"}, want: []string{"the required member /o/k is neither"}},
		{line: here(), schema: closedObject(`"o":{"type":"object","additionalProperties":false,"required":["id","k"],"properties":{` + id + `,"k":{"enum":[1]}}}`), fields: []string{"/o"}},
		{line: here(), schema: closedObject(`"o":` + closedObject(id)), fields: []string{"/o/id"}, notGiven: map[string]string{"/o": "x"}, want: []string{"not_given./o: /o is given by agent_fields"}},
		{line: here(), schema: closedObject(`"rows":{"type":"array","maxItems":9,"items":{"type":"object","additionalProperties":false,"required":["id","k"],"properties":{` + id + `,"k":{"enum":[1]}}}}`), fields: []string{"/rows/*/id"}, notGiven: map[string]string{"/rows/*/k": "x"}},
		{line: here(), schema: `{"type":"object","unevaluatedProperties":false,"properties":{` + id + `},"anyOf":[{"required":["k"],"properties":{"k":{"type":"null"}}},{"required":["id"]}]}`, fields: []string{"/id"}, want: []string{"required member /k"}},
	} {
		c := &Contract{Result: Result{
			Schema: schemaOf(t, row.line, row.schema), AgentFields: pointersOf(t, row.fields...),
			TextFields: row.text, NotGiven: row.notGiven,
		}}
		wantFaults(t, row.line, lintResultSchema(c), row.want)
	}
	if got := lintResultSchema(&Contract{}); got != nil {
		t.Error(got)
	}
}

// TestCheckPointers proves that checks name places that exist. // A11, A12
func TestCheckPointers(t *testing.T) {
	result := closedObject(`"id":{"enum":["a"]},"at":{"type":"string","format":"date-time"},"from":{"$ref":"#/properties/at"},"rows":{"type":"array","maxItems":3,"items":` + closedObject(`"id":{"enum":["a"]}`) + `},"n":{"type":"integer"}`)
	args := closedObject(`"id":{"enum":["a"]},"since":{"type":"string","format":"date-time"}`)
	for _, row := range []struct {
		line      int
		use, with string
		want      []string
	}{
		{here(), "equals", `{"result":"/id","argument":"/id"}`, nil},
		{here(), "equals", `{"result":"/idd","argument":"/ids"}`, []string{"check bind, argument: the schema of the arguments knows no member /ids", "contract.yaml:7:5: check bind, result: the payload's schema knows no member /idd"}},
		{here(), "equals", `{"result":"/rows/0/id","constant":"a"}`, nil},
		{here(), "equals", `{"result":"/rows/*/id","constant":"a"}`, nil},
		{here(), "equals", `{"result":"id"}`, []string{"result: \"id\" is no JSON Pointer"}},
		{here(), "equals", `{"result":7}`, nil},
		{here(), "equals", `{}`, nil},
		{here(), "fresh", `{"field":"/at","max_age":"5m"}`, nil},
		{here(), "fresh", `{"field":"/from"}`, nil},
		{here(), "fresh", `{"field":"/id"}`, []string{"field: the schema does not say that this is a date-time (s.json#/properties/id)"}},
		{here(), "fresh", `{"field":"/n"}`, []string{"is a date-time"}},
		{here(), "fresh", `{"field":"/when"}`, []string{"field: the payload's schema knows no member /when"}},
		{here(), "after", `{"field":"/at","than":{"field":"/from"}}`, nil},
		{here(), "after", `{"field":"/at","than":{"argument":"/since"}}`, nil},
		{here(), "after", `{"field":"/at","than":{"argument":"/id"}}`, []string{"than.argument: the schema does not say"}},
		{here(), "after", `{"field":"/id","than":{"field":"/n"}}`, []string{", field: the schema", ", than.field: the schema"}},
		{here(), "listed", `{"result":"/x","argument":"/y"}`, []string{"argument", "result"}},
		{here(), "listed", `{"result":"/id","evidence":{"tool":"t","items":"/runs","match":{"/p":"/id","/q":"/r"}}}`, []string{"evidence.match: the schema of the arguments knows no member /r"}},
		{here(), "signature", `{"field":"/s","claims":{"sub":"/id","iss":"/zz"}}`, []string{"claims.iss", "field"}},
		{here(), "cel", `{"expr":"result.nope"}`, nil},
		{here(), "house_rule", `{"result":"/nope"}`, nil},
	} {
		c := &Contract{
			Result: Result{
				Schema: schemaOf(t, row.line, result), AgentFields: pointersOf(t, "/id"),
				Checks: []Check{{Use: row.use, Name: "bind", With: parsed(t, row.with), Line: 7, Column: 5}},
			},
			Arguments: &Arguments{Schema: schemaOf(t, row.line, args)},
		}
		wantFaults(t, row.line, lintResultSchema(c), row.want)
		c.Arguments = nil
		for _, f := range lintResultSchema(c) {
			if strings.Contains(f.Message, "arguments") {
				t.Errorf("row of line %d: without a schema of arguments: %v", row.line, f)
			}
		}
	}
}

// TestTangled proves that the number of contexts is bounded: this schema has one for
// each subset of its n definitions.
func TestTangled(t *testing.T) {
	const n = 24
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/a"},"y":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b0"}]}}}`)
	for i := range n {
		fmt.Fprintf(&b, `,"b%d":{"properties":{"x":{"$ref":"#/$defs/b%d"},"y":{"$ref":"#/$defs/b%d"}}}`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `,"b%d":{"type":"null"}}}`, n)
	s, faults := readSchema(map[string][]byte{"s.json": []byte(b.String())}, "s.json")
	wantFaults(t, here(), faults, []string{"more than 50000 subschemas"}) // and linting goes on
	c := &Contract{Result: Result{Schema: s, AgentFields: pointersOf(t, "/x/y", "/nope")}}
	wantFaults(t, here(), lintResultSchema(c), []string{"s.json:1:1: #: this schema combines too many subschemas"})
}

// TestDeepChain proves that long chains of $refs are followed to their end.
func TestDeepChain(t *testing.T) {
	const n = 6_000
	for _, link := range []string{
		`{"type":"object","additionalProperties":false,"properties":{"m":{"$ref":"#/$defs/d%d"}}}`,
		`{"$ref":"#/$defs/d%d"}`,
	} {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range n {
			fmt.Fprintf(&b, `"d%d":`+link+`,`, i, i+1)
		}
		fmt.Fprintf(&b, `"d%d":{"type":"object"}}}`, n)
		c := &Contract{Result: Result{Schema: schemaOf(t, here(), b.String()), AgentFields: pointersOf(t, "")}}
		wantFaults(t, here(), lintResultSchema(c), []string{fmt.Sprintf("#/$defs/d%d: this object is open", n)})
		c = &Contract{Effect: SideEffect, Arguments: &Arguments{Schema: c.Result.Schema}}
		if got := lintArgumentSchema(c); len(got) == 0 || len(got) > 2 {
			t.Error(got)
		}
	}
}

// TestManySelfReferences proves that the walk ends at its budget: n members that are
// each the whole again make n contexts of n members.
func TestManySelfReferences(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","additionalProperties":false,"properties":{"z":{"type":"null"}`)
	for i := range 3_000 {
		fmt.Fprintf(&b, `,"p%d":{"$ref":"#"}`, i)
	}
	b.WriteString(`}}`)
	s, faults := readSchema(map[string][]byte{"s.json": []byte(b.String())}, "s.json")
	wantFaults(t, here(), faults, []string{"too tangled to bound its cost"})
	c := &Contract{
		Effect: SideEffect, Result: Result{Schema: s, AgentFields: pointersOf(t, "", "/p1")},
		Arguments: &Arguments{Schema: s},
	}
	wantFaults(t, here(), lintResultSchema(c), []string{"combines too many"})
	wantFaults(t, here(), lintArgumentSchema(c), []string{"combines too many"})
}
