package condition

import (
	"strconv"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func TestShapeOf(t *testing.T) {
	for _, row := range []struct{ name, schema, good, bad string }{
		{"allOf with unevaluatedProperties", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"integer"}}}],"unevaluatedProperties":false}`, `result.a == "" && result.b == 1`, `result.c == 1`},
		{"allOf narrows an untyped member", `{"type":"object","properties":{"a":true},"allOf":[{"properties":{"a":{"type":"string"}}}]}`, `result.a == ""`, `result.a == 1`},
		{"number narrowed to integer", `{"type":"object","properties":{"a":{"type":"number"}},"allOf":[{"properties":{"a":{"type":"integer"}}}]}`, `result.a == 1`, `result.a == 1.0`},
		{"const", `{"type":"object","properties":{"a":{"const":"x"},"b":{"const":1}},"additionalProperties":false}`, `result.a == "" && result.b == 1`, `result.a == 1`},
		{"oneOf: members of every branch", `{"type":"object","oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"string"}},"additionalProperties":false},{"properties":{"k":{"const":"b"},"y":{"type":"integer"}},"additionalProperties":false}]}`, `result.k == "a" && result.x == "" || result.y == 1`, `result.z == 1`},
		{"oneOf: a member of two types is dyn", `{"type":"object","oneOf":[{"properties":{"x":{"type":"string"}}},{"properties":{"x":{"type":"integer"}}}]}`, `result.x == 1 && result.x == ""`, `result.y == 1`},
		{"if then else", `{"type":"object","additionalProperties":false,"properties":{"k":{"type":"string"}},"then":{"properties":{"t":true}},"else":{"properties":{"e":true}},"if":{"properties":{"k":{"const":"x"}}}}`, `result.t == 1 || result.e == 1 || result.k == ""`, `result.z == 1`},
		{"an open object that names members", `{"type":"object","properties":{"a":{"type":"string"}}}`, `result.a == ""`, `result.b == ""`},
		{"a map of integers", `{"type":"object","additionalProperties":{"type":"integer"}}`, `result.x == 1`, `result.x == ""`},
		{"closed and empty", `{"type":"object","additionalProperties":false}`, `result == result`, `result.x == 1`},
		{"pattern properties", `{"type":"object","patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}`, `result.x1 == 1`, `result == 1`},
		{"prefixItems are dyn", `{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `result[0] == "" && result[1] == 1`, `result.x == 1`},
		{"another file", `{"$ref":"sub/o.json#/$defs/a"}`, `result.deep.x == ""`, `result.deep.y == ""`},
		{"reference to nothing", `{"$ref":"#/$defs/none"}`, `result.what.ever == 1`, `result ==`},
		{"reference to itself", `{"$ref":"#"}`, `result.what.ever == 1`, `result ==`},
		{"mutual references", `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `result.x == 1`, `result ==`},
		{"boolean schema", `true`, `result.x == 1`, `result ==`},
		{"impossible", `false`, `result.x == 1`, `result ==`},
		{"nullable is dyn", `{"type":["string","null"]}`, `result == null || result == ""`, `result ==`},
		{"integer or string", `{"type":["string","integer"]}`, `result == 1 || result == ""`, `result ==`},
	} {
		t.Run(row.name, func(t *testing.T) {
			shape := ShapeOf("s.json", map[string]strictjson.Value{
				"s.json":     parse(t, row.schema),
				"sub/o.json": parse(t, `{"$defs":{"a":{"type":"object","additionalProperties":false,"properties":{"deep":{"$ref":"p.json"}}}}}`),
				"sub/p.json": parse(t, `{"type":"object","additionalProperties":false,"properties":{"x":{"type":"string"}}}`),
			})
			if _, err := Compile(row.good, Variable{"result", shape}); err != nil {
				t.Errorf("%s: %v", row.good, err)
			}
			if _, err := Compile(row.bad, Variable{"result", shape}); err == nil {
				t.Errorf("%s: compiled", row.bad)
			}
		})
	}
}

// TestShapeOfIsLinear: schemas that refer to the next one twice are seen once each.
func TestShapeOfIsLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 200 {
		b.WriteString(`"d` + strconv.Itoa(i) + `":{"allOf":[{"$ref":"#/$defs/d` + strconv.Itoa(i+1) + `"},{"$ref":"#/$defs/d` + strconv.Itoa(i+1) + `"}]},`)
	}
	b.WriteString(`"d200":{"type":"string"}}}`)
	if s := schemaShape(t, b.String()); s.kind != kindString {
		t.Fatalf("got kind %d", s.kind)
	}
}

func TestAllows(t *testing.T) {
	shape := schemaShape(t, runSchema)
	for pointer, want := range map[string]bool{
		"": true, "/run_id": true, "/nope": false, "/run_id/x": false, "/owners/0/name": true,
		"/owners/0/nope": false, "/owners/*/name": false, "/owners/x": false, "/owners/01": false,
		"/any/what/ever": true, "/labels/k": true, "/labels/k/x": false, "/tree/kids/3/kids/4/v": true,
		"/tree/kids/3/w": false, "/a-b": true, "/owner": true,
	} {
		p, err := strictjson.ParsePointer(pointer)
		if err != nil {
			t.Fatal(err)
		}
		if got := shape.Allows(p); got != want {
			t.Errorf("%q: %v", pointer, got)
		}
	}
	if !(*Shape)(nil).Allows(strictjson.Pointer{"x"}) {
		t.Error("a nil shape forbids something")
	}
}
