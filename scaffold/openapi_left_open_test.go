package scaffold_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/scaffold"
)

const object1 = `{type: object, required: [n], properties: {n: {type: integer}}}`

// operation is a document of one operation, a/get: its parameters, and its responses.
func operation(parameters, responses string) []byte {
	return document("3.1.0", `/a/{id}: {get: {operationId: a/get, parameters: [{name: id, in: path, required: true, schema: {type: integer}}`+
		parameters+`], responses: {`+responses+`}}}`, `big: {type: integer, enum: [9007199254740993]}`)
}

func content(status, media, schema string) string {
	return fmt.Sprintf(`%q: {description: d, content: {%s: {schema: %s}}}`, status, media, schema)
}

// chain is a response behind n references.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("}, responses: {")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "r%d: {$ref: \"#/components/responses/r%d\"}, ", i, i+1)
	}
	fmt.Fprintf(&b, "r%d: {description: d, content: {application/json: {schema: {type: object, required: [n], properties: {n: {type: integer, maximum: 9}}}}}}", n)
	return b.String()
}

// A8, A11: what the source left open is a question or a note, and never a silent choice.
func TestFromOpenAPILeftOpen(t *testing.T) {
	for _, c := range []struct {
		line string
		src  []byte
		file string // "" means the notes
		want string
	}{
		{"a media type of its own", operation("", content("200", "application/problem+json; charset=utf-8", object1)), "contract.yaml", "\n  media_types: [application/problem+json]\n"},
		{"and in its cases", operation("", content("200", "application/vnd.x+json", object1)), "cases/accepted-example.yaml", "media_type: application/vnd.x+json"},
		{"several", operation("", `"200": {description: d, content: {application/vnd.x+json: {schema: `+object1+`}, application/json: {schema: `+object1+`}}}`), "contract.yaml", "media_types: [application/json, application/vnd.x+json]\n"},
		{"several of different schemas", operation("", `"200": {description: d, content: {application/vnd.x+json: {schema: {type: string}}, application/json: {schema: `+object1+`}}}`), "contract.yaml", `the media type "application/vnd.x+json" too, with another schema`},
		{"a range", operation("", content("200", "application/*+json", object1)), "contract.yaml", `the media type "application/*+json", which is a range or none`},
		{"not JSON", operation("", `"200": {description: d, content: {text/csv: {}, application/json: {schema: `+object1+`}}}`), "", `the reply may be "text/csv" too`},
		{"another success", operation("", content("200", "application/json", object1)+", "+content("202", "application/json", `{type: object, properties: {job: {type: string}}}`)), "contract.yaml", `another successful reply, status "202", with a schema`},
		{"the same success twice", operation("", content("200", "application/json", object1)+", "+content("201", "application/json", object1)), "", `status "201" has the same schema as "200"`},
		{"a success without JSON", operation("", content("200", "application/json", object1)+`, "204": {description: d}`), "", `status "204" has no JSON`},
		{"any other status", operation("", content("200", "application/json", object1)+", "+content("default", "application/json", `{type: object, properties: {error: {type: string}}}`)), "contract.yaml", `any other status (default), with a schema of its own`},
		{"no other status", operation("", content("default", "application/json", object1)), "contract.yaml", `only the reply for any status (default)`},
		{"headers and cookies", operation(`, {name: X-Trace, in: header, schema: {type: string}}, {name: sid, in: cookie, required: true, schema: {type: string}}`, content("200", "application/json", object1)), "contract.yaml", `no arguments: "X-Trace" (header), "sid" (cookie, required).`},
		{"the query's parameter of a path's name", operation(`, {name: id, in: query, schema: {type: string}}`, content("200", "application/json", object1)), "contract.yaml", `which alone is an argument: "id". Is the other`},
		{"the path's stays", operation(`, {name: id, in: query, schema: {type: string}}`, content("200", "application/json", object1)), "arguments.schema.json", `"id": {"type": "integer"}`},
		{"int64 in arguments", operation(`, {name: since, in: query, schema: {type: integer, format: int64}}`, content("200", "application/json", object1)), "contract.yaml", "refused in arguments without big_integers: allowed"},
		{"int64 in results", operation("", content("200", "application/json", `{type: object, required: [n], properties: {n: {type: integer, format: int64}}}`)), "result.schema.json", `"minimum": -9223372036854775808, "maximum": 9223372036854775807`},
		{"digits of a bound", operation("", content("200", "application/json", `{type: object, required: [n], properties: {n: {type: integer, maximum: 9007199254740993}}}`)), "result.schema.json", `"maximum": 9007199254740993`},
		{"digits behind a $ref", operation("", content("200", "application/json", `{type: object, required: [n], properties: {n: {$ref: "#/components/schemas/big"}}}`)), "result.schema.json", `"enum": [9007199254740993]`},
		{"digits of a fraction", operation("", content("200", "application/json", `{type: object, required: [n], properties: {n: {type: number, minimum: -0.10000000000000000001}}}`)), "result.schema.json", `"minimum": -0.10000000000000000001`},
		{"digits of an argument", operation(`, {name: n, in: query, schema: {const: 9007199254740993}}`, content("200", "application/json", object1)), "arguments.schema.json", `"const": 9007199254740993`},
		{"digits in YAML's notation", operation("", content("200", "application/json", `{type: object, required: [n], properties: {n: {type: integer, maximum: +0x20000000000001}}}`)), "result.schema.json", `"maximum": 9007199254740993`},
		{"digits of an example", operation("", content("200", "application/json", `{type: object, required: [n], example: {n: 9007199254740993}, properties: {n: {type: integer}}}`)), "cases/accepted-example.yaml", `"n": 9007199254740993`},
		{"digits of an anchor, again", operation("", content("200", "application/json", `{type: object, required: [n], properties: {l: &m {type: integer, maximum: 9007199254740993}, m: *m, n: *m}}`)), "result.schema.json", `"n": {"type": "integer", "maximum": 9007199254740993}`},
		{"digits of a merged mapping", operation("", content("200", "application/json", `{type: object, required: [n], properties: {m: &m {type: integer, maximum: 9007199254740993}, n: {<<: *m, minimum: 0}}}`)), "result.schema.json", `"n": {"type": "integer", "minimum": 0, "maximum": 9007199254740993}`},
		{"digits out of sight", document("3.1.0", `/a: {get: {operationId: a/get, responses: {"200": {$ref: "#/components/responses/r1"}}}}`, chain(12)), "contract.yaml", `could not be compared with the source`},
		{"not one JSON value", operation("", `"200": {description: d, content: {application/x-ndjson: {schema: {type: string}}, application/json: {schema: `+object1+`}}}`), "", `the reply may be "application/x-ndjson" too`},
		{"digits of an anchor", operation("", content("200", "application/json", `{type: object, required: [n], properties: {m: &m {type: integer, maximum: 9007199254740993}, n: *m}}`)), "result.schema.json", `"n": {"type": "integer", "maximum": 9007199254740993}`},
	} {
		t.Run(c.line, func(t *testing.T) {
			d, err := scaffold.FromOpenAPI(c.src, "a/get", scaffold.Options{Compile: engine})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(d.Notes, "\n")
			if c.file != "" {
				got = string(d.Files[d.Dir+"/"+c.file])
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("want %s in:\n%s", c.want, got)
			}
			passes(t, d)
		})
	}
}

// JSON keeps its digits as YAML does, and nothing is asked where nothing was lost.
func TestFromOpenAPIDigitsOfJSON(t *testing.T) {
	src := `{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"operationId": "a/get", "responses": {
	"200": {"$ref": "#/components/responses/ok"}}}}}, "components": {"responses": {"ok": {"description": "d", "content": {"application/json": {"schema":
	{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1.0, "maximum": 18446744073709551615, "exclusiveMaximum": true}}}}}}}}}`
	d, err := scaffold.FromOpenAPI([]byte(src), "a/get", scaffold.Options{Compile: engine})
	if err != nil {
		t.Fatal(err)
	}
	got := string(d.Files[d.Dir+"/result.schema.json"])
	if !strings.Contains(got, `"minimum": 1, "exclusiveMaximum": 18446744073709551615`) {
		t.Errorf("digits were lost:\n%s", got)
	}
	if q := strings.Join(d.Questions, "\n"); strings.Contains(q, "could not be compared") {
		t.Errorf("asked in vain:\n%s", q)
	}
	passes(t, d)
}

// An operation's own parameter replaces that of its path, and a body's name takes none.
func TestFromOpenAPIParameters(t *testing.T) {
	src := document("3.1.0", `/a: {parameters: [{name: q, in: query, required: true, schema: {type: string}}], post: {operationId: a/get,
    parameters: [{name: q, in: query, schema: {type: integer}}, {name: body, in: query, schema: {type: boolean}}],
    requestBody: {required: true, content: {application/json: {schema: {type: array, items: {type: integer}}}}}, responses: {`+content("200", "application/json", object1)+`}}}`, "")
	d, err := scaffold.FromOpenAPI(src, "a/get", scaffold.Options{Compile: engine})
	if err != nil {
		t.Fatal(err)
	}
	got := string(d.Files[d.Dir+"/arguments.schema.json"])
	for _, want := range []string{`"required": ["request_body"]`, `"q": {"type": "integer"}`, `"body": {"type": "boolean"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in:\n%s", want, got)
		}
	}
	passes(t, d)
}

// A reference to another file is told by its cure, wherever it stands.
func TestFromOpenAPIElsewhere(t *testing.T) {
	const elsewhere = `{$ref: "other.yaml#/a"}`
	for line, src := range map[string][]byte{
		"schema":            operation("", content("200", "application/json", elsewhere)),
		"member":            operation("", content("200", "application/json", `{type: object, properties: {a: {items: `+elsewhere+`}}}`)),
		"response":          operation("", `"200": `+elsewhere),
		"parameter":         operation(`, `+elsewhere, content("200", "application/json", object1)),
		"path":              document("3.0.3", `/b: `+elsewhere, ""),
		"unused components": document("3.0.3", `/b: {}`, "c: "+elsewhere),
	} {
		_, err := scaffold.FromOpenAPI(src, "a/get", scaffold.Options{})
		if err == nil || !strings.Contains(err.Error(), `refers to another file, "other.yaml#/a"`) || !strings.Contains(err.Error(), "bundle it into one document first") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
