package contract

import (
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// FuzzSchemaLint looks for panics, endless work and faults without a place. A schema
// that passes must keep what the rules promise, looked at from outside: no open or
// unknown keyword is left in it.
func FuzzSchemaLint(f *testing.F) {
	for _, s := range []string{
		`{}`, `true`, `{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#"}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"b.json"},{"const":1}]}}}`,
		`{"oneOf":[{"type":"object","properties":{"c":{"$ref":"#"}},"required":["c","x"]},{"type":"null"}],"unevaluatedProperties":false}`,
		`{"if":{"properties":{"k":{"const":"a"}}},"then":{"type":"object"},"else":{"items":{"$ref":"#"},"prefixItems":[{}]}}`,
		`{"type":"string","pattern":"^[a-z]{1,9}$|^(?!x)","format":"date-time","x-re2":true}`,
		`{"$id":"https://example.test/a","$anchor":"r","properties":{"a":{"$ref":"#r"}},"dependentSchemas":{"a":{"not":{}}}}`,
		`{"patternProperties":{"^a":{"$ref":"#"}},"additionalProperties":{"$ref":"#"},"unevaluatedItems":{"contains":true}}`,
	} {
		f.Add([]byte(s), "/a")
	}
	f.Fuzz(func(t *testing.T, src []byte, field string) {
		files := map[string][]byte{"s.json": src, "b.json": []byte(`{"type":"object","properties":{"b":{"$ref":"s.json"}}}`)}
		s, faults := readSchema(files, "s.json")
		for _, fault := range faults {
			if fault.File == "" || fault.Message == "" || fault.Cure == "" || fault.Line < 1 {
				t.Errorf("%+v", fault)
			}
		}
		if s == nil {
			if len(faults) == 0 {
				t.Error("neither a schema nor a fault")
			}
			return
		}
		p, err := strictjson.ParsePointer(field)
		if err != nil {
			p = strictjson.Pointer{}
		}
		c := &Contract{
			Effect: SideEffect,
			Result: Result{
				Schema: s, AgentFields: []strictjson.Pointer{p, {}}, TextFields: []TextField{{At: p}},
				NotGiven: map[string]string{field: "x"},
			},
			Arguments: &Arguments{Schema: s, Scopes: []Scope{{Name: "s", Type: "enum", At: []strictjson.Pointer{p}}}, Unscoped: map[string]string{field: "x"}},
		}
		result := lintResultSchema(c)
		lintArgumentSchema(c)
		if len(faults) == 0 && strings.Contains(string(src), `"additionalProperties":true`) && s.Roots["s.json"].Member("additionalProperties").IsTrue() {
			if !strings.Contains(result.Error(), "free map") {
				t.Error("an open object passed")
			}
		}
	})
}
