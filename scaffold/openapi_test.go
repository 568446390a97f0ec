package scaffold_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/scaffold"
)

// A8, A11, A13, A22: operations become closed contracts with their cases.
func TestFromOpenAPI(t *testing.T) {
	src, err := os.ReadFile("testdata/forge.openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ operation, tool, effect string }{
		{"projects/get", "projects_get", ""},
		{"runs/list-for-project", "runs_list_for_project", ""},
		{"GET /projects/{owner}/{project}/tickets/{ticket_number}", "tickets_get", ""},
		{"tickets/update", "tickets_update", "side_effect"},
		{"patch /projects/{owner}/{project}/tickets/{ticket_number}", "tickets_update", ""},
	} {
		t.Run(c.operation, func(t *testing.T) {
			d, err := scaffold.FromOpenAPI(src, c.operation, scaffold.Options{Effect: c.effect, Compile: engine})
			if err != nil {
				t.Fatal(err)
			}
			if d.Tool != c.tool {
				t.Errorf("tool %s", d.Tool)
			}
			refusedFirst(t, d)
			passes(t, d)
			dump(t, d)
		})
	}
}

func document(version, paths, schemas string) []byte {
	return []byte("openapi: " + version + "\ninfo: {title: t, version: \"1\"}\npaths:\n  " + paths + "\ncomponents: {schemas: {" + schemas + "}}\n")
}

const one = `/a/{id}: {get: {operationId: a/get, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: ok, content: {application/json: {schema: SCHEMA}}}}}}`

// documents are small OpenAPI documents and what must be in a file of the draft of
// a/get, or in the error. They seed the fuzzer.
var documents = []struct {
	line    string
	src     []byte
	file    string // "" means the error
	want    string
	forbids string
}{
	{"3.1", document("3.1.0", strings.Replace(one, "SCHEMA", `{type: object, required: [n], properties: {n: {type: [string, "null"], const: x}}}`, 1), ""), "result.schema.json", `"const": "x"`, "QUESTION"},
	{"3.1 keeps what stands beside a $ref", document("3.1.0", strings.Replace(one, "SCHEMA", `{type: object, required: [n], properties: {n: {$ref: "#/components/schemas/n", maximum: 9}}}`, 1), "n: {type: integer}"), "result.schema.json", `"maximum": 9`, ""},
	{"3.0 does not", document("3.0.3", strings.Replace(one, "SCHEMA", `{type: object, required: [n], properties: {n: {$ref: "#/components/schemas/n", maximum: 9}}}`, 1), "n: {type: integer}"), "result.schema.json", `"$ref": "#/$defs/n"`, `"maximum": 9`},
	{"a $ref into the middle of a document", document("3.0.3", strings.Replace(one, "SCHEMA", `{type: object, required: [n], properties: {n: {$ref: "#/components/schemas/n/properties/m"}}}`, 1), "n: {type: object, properties: {m: {type: boolean}}}"), "result.schema.json", `"m": {"type": "boolean"}`, ""},
	{"status and id are bound", document("3.0.3", strings.Replace(one, "SCHEMA", `{type: object, required: [id], properties: {id: {type: integer}}}`, 1), ""), "contract.yaml", `{use: equals, name: id-asked-for, with: {result: "/id", argument: "/id"}}`, "unbound"},
	{"a list as the whole", document("3.0.3", strings.Replace(one, "SCHEMA", `{type: array, items: {type: object, required: [id], properties: {id: {type: integer}}}}`, 1), ""), "contract.yaml", `- "/*/id"`, ""},
	{"Swagger 2", []byte(`{"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {}}`), "", "Swagger 2.0 is not read", ""},
	{"another file", document("3.0.3", strings.Replace(one, "SCHEMA", `{$ref: "other.yaml#/a"}`, 1), ""), "", "bundle it", ""},
	{"the network", document("3.0.3", strings.Replace(one, "SCHEMA", `{$ref: "http://example.test/a.json"}`, 1), ""), "", "bundle it", ""},
	{"no JSON", document("3.0.3", `/a: {get: {operationId: a/get, responses: {"200": {description: ok, content: {text/plain: {schema: {type: string}}}}}}}`, ""), "contract.yaml", "kind: text\n  framing: payload\n", "schema:  result"},
	{"a page, a table, and what is neither", document("3.0.3", `/a: {get: {operationId: a/get, responses: {"200": {description: ok, content: {image/png: {}, text/csv: {}, "text/html; charset=utf-8": {}}}, "404": {description: none}}}}`, ""), "contract.yaml", "media_types: [text/html, text/csv]\n", ""},
	{"no content", document("3.0.3", `/a: {get: {operationId: a/get, responses: {"204": {description: ok}}}}`, ""), "", "no successful response with a JSON schema, nor one of text/plain", ""},
	{"no such operation", document("3.0.3", `/a: {get: {operationId: a/list, responses: {"200": {description: ok}}}}`, ""), "", `no operation "a/get"`, ""},
	{"nothing", nil, "", "openapi", ""},
}

func TestFromOpenAPIDocuments(t *testing.T) {
	for _, c := range documents {
		t.Run(c.line, func(t *testing.T) {
			d, err := scaffold.FromOpenAPI(c.src, "a/get", scaffold.Options{Compile: engine})
			if c.file == "" {
				if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.want)) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := string(d.Files[d.Dir+"/"+c.file])
			if !strings.Contains(got, c.want) || c.forbids != "" && strings.Contains(got, c.forbids) {
				t.Errorf("want %s, not %s in:\n%s", c.want, c.forbids, got)
			}
			refusedFirst(t, d)
			passes(t, d)
		})
	}
}

// What the operation says about itself reaches the draft as a proposal with a question.
func TestFromOpenAPIArguments(t *testing.T) {
	src, err := os.ReadFile("testdata/forge.openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := scaffold.FromOpenAPI(src, "tickets/update", scaffold.Options{Compile: engine})
	if err != nil {
		t.Fatal(err)
	}
	arguments, yaml := string(d.Files[d.Dir+"/arguments.schema.json"]), string(d.Files[d.Dir+"/contract.yaml"])
	for _, w := range []string{`"ticket_number"`, `"state"`, `"required": ["owner", "project", "ticket_number", "title"]`, `"additionalProperties": false`} {
		if !strings.Contains(arguments, w) {
			t.Errorf("the arguments lack %s:\n%s", w, arguments)
		}
	}
	for _, w := range []string{"PATCH says little", "effect: side_effect", `"/title": "QUESTION: which grant must cover it`, `argument: "/ticket_number"`} {
		if !strings.Contains(yaml, w) {
			t.Errorf("contract.yaml lacks %s:\n%s", w, yaml)
		}
	}
	d, err = scaffold.FromOpenAPI(src, "runs/list-for-project", scaffold.Options{Compile: engine})
	if err != nil {
		t.Fatal(err)
	}
	arguments = string(d.Files[d.Dir+"/arguments.schema.json"])
	if strings.Contains(arguments, "X-Trace") || !strings.Contains(arguments, "per_page") {
		t.Errorf("a header is an argument, or a query parameter is none:\n%s", arguments)
	}
}

// FuzzFromOpenAPI: whatever the bytes, a draft is made or refused.
func FuzzFromOpenAPI(f *testing.F) {
	for _, c := range documents {
		f.Add(c.src)
	}
	f.Fuzz(func(_ *testing.T, src []byte) {
		_, _ = scaffold.FromOpenAPI(src, "a/get", scaffold.Options{})
		_, _ = scaffold.FromMCP(src, "a", scaffold.Options{})
	})
}
