package contract

import (
	"slices"
	"testing"
)

// An extension is given only where an agent field names it. A13
func TestExtensionsAreLeftOut(t *testing.T) {
	const schema = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{
		"id":{"enum":["a"]},
		"b":{"$ref":"#/$defs/b"},
		"l":{"type":"array","maxItems":3,"items":{"$ref":"#/$defs/b"}},
		"ext_v2":{"enum":[1]}},
		"$defs":{"b":{"type":"object","additionalProperties":false,"properties":{
			"k":{"enum":[1]},"ext_v1":{"type":"object","additionalProperties":false,"properties":{"color":{"enum":["red"]}}},"ext_vx":{"enum":[2]}}}}}`
	for _, row := range []struct {
		line   string
		fields []string
		want   []string
	}{
		{"the whole", []string{""}, []string{"/id", "/b/k", "/b/ext_vx", "/l/*/k", "/l/*/ext_vx"}},
		{"an object", []string{"/id", "/b"}, []string{"/id", "/b/k", "/b/ext_vx"}},
		{"a list", []string{"/id", "/l"}, []string{"/id", "/l/*/k", "/l/*/ext_vx"}},
		{"an extension beside its object", []string{"/id", "/b", "/b/ext_v1"}, []string{"/id", "/b/k", "/b/ext_vx", "/b/ext_v1"}},
		{"an extension alone", []string{"/id", "/ext_v2"}, []string{"/id", "/ext_v2"}},
		{"nothing to leave out", []string{"/id"}, []string{"/id"}},
	} {
		t.Run(row.line, func(t *testing.T) {
			c := &Contract{Result: Result{Schema: schemaOf(t, here(), schema), AgentFields: pointersOf(t, row.fields...)}}
			if faults := lintResultSchema(c); len(faults) > 0 {
				t.Errorf("refused: %v", faults)
			}
			var got []string
			for _, p := range c.Result.AgentFields {
				got = append(got, p.String())
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("given are %q, want %q", got, row.want)
			}
		})
	}
}

func TestRecursiveExtension(t *testing.T) {
	c := &Contract{Result: Result{
		Schema:      schemaOf(t, here(), `{"type":"object","additionalProperties":false,"properties":{"c":{"$ref":"#"},"ext_v1":{"enum":[1]}}}`),
		AgentFields: pointersOf(t, ""),
	}}
	if faults := lintResultSchema(c); len(faults) == 0 {
		t.Error("a recursive value with an extension is given whole")
	}
}
