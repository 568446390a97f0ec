package scaffold_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/scaffold"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// sources are JSON Schemas and what must, or must not, be in the converted payload
// schema. They seed the fuzzer.
var sources = []struct {
	line, schema string
	want, not    []string
}{
	{"closed", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`, []string{`"additionalProperties": false`}, nil},
	{"explicitly open", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}},"additionalProperties":true}`, []string{"members beyond those named here"}, []string{`"additionalProperties": true`}},
	{"free map", `{"type":"object","required":["m","a"],"properties":{"a":{"type":"boolean"},"m":{"type":"object","additionalProperties":{"type":"string"}}}}`, []string{"free map"}, nil},
	{"pattern map", `{"type":"object","required":["m","a"],"properties":{"a":{"type":"boolean"},"m":{"patternProperties":{"^x":{}}}}}`, []string{"free map"}, []string{"patternProperties"}},
	{"unbounded text", `{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}`, []string{`"maxLength": 256`, `"minLength": 1`, "At most how many characters?"}, nil},
	{"bounded text is not asked about", `{"type":"object","required":["t"],"properties":{"t":{"type":"string","maxLength":9}}}`, []string{`"maxLength": 9`}, []string{"At most how many characters?"}},
	{"a bound not below the least", `{"type":"object","required":["t"],"properties":{"t":{"type":"string","minLength":900}}}`, []string{`"maxLength": 900`}, nil},
	{"unbounded list", `{"type":"array","items":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`, []string{`"maxItems": 100`}, nil},
	{"list of anything", `{"type":"object","required":["l","n"],"properties":{"n":{"type":"integer"},"l":{"type":"array"}}}`, []string{"what the elements are"}, nil},
	{"tuple", `{"type":"array","items":[{"type":"integer"},{"type":"string"}]}`, []string{`"prefixItems"`, "elements beyond those described"}, nil},
	{"nullable", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","nullable":true,"enum":["x"]}}}`, []string{`["string", "null"]`, `["x", null]`}, []string{"nullable"}},
	{"null as the whole", `{"type":["object","null"],"required":["a"],"properties":{"a":{"type":"integer"}}}`, []string{"null in place of the whole reply", `"type": "object"`}, nil},
	{"null branch as the whole", `{"anyOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}},{"type":"null"}]}`, []string{"null in place of the whole reply"}, nil},
	{"int32", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","format":"int32"}}}`, []string{`"minimum": -2147483648`, `"maximum": 2147483647`}, []string{`"format"`}},
	{"int64", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","format":"int64","minimum":0}}}`, []string{`"minimum": 0`, `"maximum": 9223372036854775807`}, nil},
	{"unknown format", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","format":"color"}}}`, []string{"which nothing here checks"}, []string{`"format": "color"`}},
	{"draft 4 exclusive", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}`, []string{`"exclusiveMinimum": 0`}, []string{`"minimum"`}},
	{"look-ahead", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^(?!x)"}}}`, []string{"RE2 cannot run"}, []string{`"pattern"`}},
	{"ASCII class", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^\\w{1,9}$"}}}`, []string{`"x-re2": true`}, nil},
	{"flat allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`, []string{`"required": ["a", "b"]`, `"additionalProperties": false`}, []string{"allOf"}},
	{"tangled allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"anyOf":[{"properties":{"b":{"type":"integer"}},"required":["b"]},{"properties":{"c":{"type":"integer"}},"required":["c"]}]}]}`, []string{"allOf", `"unevaluatedProperties": false`}, []string{"additionalProperties"}},
	{"union of closed", `{"oneOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}},{"type":"object","required":["b"],"properties":{"b":{"type":"integer"}}}]}`, []string{"oneOf"}, []string{"unevaluatedProperties"}},
	{"discriminator", `{"oneOf":[{"$ref":"#/$defs/cat"},{"$ref":"#/$defs/dog"}],"discriminator":{"propertyName":"kind","mapping":{"tom":"#/$defs/cat","kitty":"cat"}},"$defs":{"cat":{"type":"object","properties":{"kind":{"type":"string"},"lives":{"type":"integer"}}},"dog":{"allOf":[{"type":"object","required":["age"],"properties":{"age":{"type":"integer"}}},{"type":"object","properties":{"kind":{"type":"string"}}}]}}}`, []string{`"enum": ["tom", "kitty"]`, `"const": "dog"`, `"required": ["age", "kind"]`}, []string{"$ref", "discriminator"}},
	{"discriminator that some branch does not have", `{"oneOf":[{"$ref":"#/$defs/cat"},{"$ref":"#/$defs/dog"}],"discriminator":{"propertyName":"kind"},"$defs":{"cat":{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"}}},"dog":{"type":"object","required":["age"],"properties":{"age":{"type":"integer"}}}}}`, []string{`"$ref": "#/$defs/cat"`}, []string{"const"}},
	{"union beside members", `{"type":"object","required":["k"],"properties":{"k":{"type":"integer"}},"oneOf":[{"required":["a"],"properties":{"a":{"type":"integer"}}},{"required":["zz"]}]}`, []string{`"unevaluatedProperties": false`, "does not describe it"}, nil},
	{"several kinds", `{"type":"object","required":["a","v"],"properties":{"a":{"type":"integer"},"v":{"oneOf":[{"type":"string"},{"type":"object","required":["x"],"properties":{"x":{"type":"integer"}}}]}}}`, nil, nil},
	{"array or object", `{"oneOf":[{"type":"array","items":{"type":"object","required":["s"],"properties":{"s":{"type":"string"}}}},{"type":"object","required":["s"],"properties":{"s":{"type":"string"}}}]}`, nil, nil},
	{"recursive list", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"next":{"$ref":"#/$defs/n"}}}}}`, []string{`"$ref": "#/$defs/n"`}, nil},
	{"definitions", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/definitions/x y"}},"definitions":{"x y":{"type":"integer"}}}`, []string{`"#/$defs/xy"`}, []string{"definitions"}},
	{"ref elsewhere", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"other.json#/a"}}}`, []string{"which is not in it"}, []string{`"$ref"`}},
	{"vendor words", `{"type":"object","x-vendor":1,"externalDocs":{},"required":["a"],"properties":{"a":{"type":"integer","xml":{}}}}`, nil, []string{"x-vendor", "externalDocs", "xml"}},
	{"anything", `{"type":"object","required":["a"],"properties":{"a":{}}}`, []string{"allows anything here", `["string", "number", "boolean", "null"]`}, nil},
	{"nothing required", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","enum":["x","y"]}}}`, nil, nil},
	{"empty object", `{"type":"object"}`, []string{"which members this object has"}, nil},
	{"empty schema", `{}`, []string{"allows anything"}, nil},
	{"scalar", `{"type":"integer","minimum":3}`, nil, nil},
	{"text", `{"type":"string"}`, []string{`"maxLength": 256`}, nil},
	{"list of text", `{"type":"array","items":{"type":"string"}}`, nil, nil},
	{"list of lists", `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, []string{`"maxItems": 100`}, nil},
	{"link", `{"type":"object","required":["u"],"properties":{"u":{"type":"string","format":"uri"}}}`, []string{`"maxLength": 2048`}, nil},
	{"required on a list", `{"type":"object","required":["l"],"properties":{"l":{"type":"array","required":["x"],"items":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}}}`, nil, nil},
	{"conditional", `{"type":"object","required":["k"],"properties":{"k":{"enum":["a","b"]},"v":{"type":"integer"}},"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["v"]}}`, []string{`"unevaluatedProperties": false`}, nil},
	{"odd names", `{"type":"object","required":["a/b","c~d","*"],"properties":{"a/b":{"type":"integer"},"c~d":{"type":"string"},"*":{"type":"boolean"}}}`, nil, nil},
	{"a member called x-question", `{"type":"object","required":["x-question"],"properties":{"x-question":{"type":"integer"}}}`, nil, nil},
	{"text that asks", `{"type":"object","description":"QUESTION: \"?","required":["a"],"properties":{"a":{"type":"integer","description":"# QUESTION\u202e"}}}`, nil, nil},
}

// A8, A13, A22: what a source leaves open is closed, bounded and asked about, and once
// answered the draft lints and its cases pass.
func TestFromSchema(t *testing.T) {
	for _, c := range sources {
		t.Run(c.line, func(t *testing.T) {
			d, err := scaffold.FromSchema([]byte(c.schema), scaffold.Options{Tool: "t", Compile: engine})
			if err != nil {
				t.Fatal(err)
			}
			got := string(d.Files["t/v1/result.schema.json"])
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("lacks %s", w)
				}
			}
			for _, n := range c.not {
				if strings.Contains(got, n) {
					t.Errorf("has %s", n)
				}
			}
			refusedFirst(t, d)
			passes(t, d)
			dump(t, d)
		})
	}
}

// A value that the source gives is used where it conforms, and no other.
func TestExamples(t *testing.T) {
	for _, c := range []struct{ line, example, want string }{
		{"conforms", `{"id":"run-7","n":3}`, `"n": 3`},
		{"does not", `{"id":7,"n":3}`, `"n": 1`},
		{"extra member", `{"id":"run-7","n":3,"x":1}`, `"n": 1`},
	} {
		src := `{"type":"object","required":["id","n"],"properties":{"id":{"type":"string"},"n":{"type":"integer"}},"examples":[` + c.example + `]}`
		d, err := scaffold.FromSchema([]byte(src), scaffold.Options{Tool: "t", Compile: engine})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(d.Files["t/v1/cases/accepted-example.yaml"]); !strings.Contains(got, c.want) {
			t.Errorf("%s: lacks %s:\n%s", c.line, c.want, got)
		}
		passes(t, d)
	}
}

func TestDeterministic(t *testing.T) {
	src, err := os.ReadFile("testdata/forge.openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var first *scaffold.Draft
	for range 5 {
		d, err := scaffold.FromOpenAPI(src, "tickets/get", scaffold.Options{Compile: engine})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = d
		}
		if !maps.EqualFunc(d.Files, first.Files, bytes.Equal) || !slices.Equal(d.Notes, first.Notes) || !slices.Equal(d.Questions, first.Questions) {
			t.Fatal("the same source gave two drafts")
		}
	}
}

func TestWrite(t *testing.T) {
	d, err := scaffold.FromSchema([]byte(sources[0].schema), scaffold.Options{Tool: "mcp/t:x", Compile: engine})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "contracts")
	if err := d.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(dir, "mcp_t_x", "v1", "contract.yaml")
	if err := os.WriteFile(main, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(dir, false); !errors.Is(err, scaffold.ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if b, _ := os.ReadFile(main); string(b) != "mine" {
		t.Error("a file was overwritten without force")
	}
	if err := d.Write(dir, true); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(main); string(b) == "mine" {
		t.Error("force did not overwrite")
	}
	outside := t.TempDir()
	linked := filepath.Join(t.TempDir(), "contracts")
	if err := os.MkdirAll(linked, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(linked, "mcp_t_x")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := d.Write(linked, true); err == nil {
		t.Error("a symbolic link led the draft out of the directory")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error("files were written outside")
	}
}

// FuzzFromSchema: whatever the bytes, a draft is made or refused; its schemas are JSON.
func FuzzFromSchema(f *testing.F) {
	for _, c := range sources {
		f.Add([]byte(c.schema))
	}
	f.Add([]byte(`{"$ref":"#"}`))
	f.Add([]byte(`{"$ref":"#/$defs/f","$defs":{"f":false}}`))
	f.Add([]byte(`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`))
	f.Add([]byte(`{"type":"array","items":{"$ref":"#"}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, v := range []func([]byte) func([]byte) bool{nil, engine} {
			d, err := scaffold.FromSchema(src, scaffold.Options{Tool: "t", Compile: v})
			if err != nil {
				continue
			}
			for name, content := range d.Files {
				if strings.HasSuffix(name, ".json") {
					if _, err := strictjson.Parse(content, strictjson.Ceilings()); err != nil {
						t.Fatalf("%s: %v\n%s", name, err, content)
					}
				}
			}
		}
	})
}
