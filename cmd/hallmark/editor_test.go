package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/contract"
)

// The schemas for editors (docs/schemas) must know what the parser knows: a key that
// one of them lacks is either marked as a mistake while it is none, or offered while
// the service refuses it.

const (
	editorSchemas    = "../../docs/schemas/"
	shippedContracts = "../../contracts"
	// probed is a shippedContracts contract and a case of it, in which keys are tried out.
	probed     = "job_status/v1/contract.yaml"
	probedCase = "job_status/v1/cases/accepted-failed-run.yaml"
)

// mappings are all places of the two files that have a fixed set of keys.
var mappings = []struct{ file, at string }{
	{probed, ""},
	{probed, "result"},
	{probed, "result.limits"},
	{probed, "result.text_fields.0"},
	{probed, "result.max_list"},
	{probed, "result.checks.0"},
	{probed, "result.not_found"},
	{probed, "result.failure"},
	{probed, "result.adapter"},
	{probed, "result.command"},
	{probed, "result.text"},
	{probed, "result.text.html"},
	{probed, "retry"},
	{probed, "retention"},
	{probed, "receipt"},
	{probed, "arguments"},
	{probed, "arguments.scopes.0"},
	{probed, "arguments.requires.0"},
	{probedCase, ""},
	{probedCase, "request"},
	{probedCase, "evidence.0"},
	{probedCase, "upstream"},
	{probedCase, "want"},
	{probedCase, "want.links.0"},
}

const bogus = "zz-bogus"

// Both directions: what the parser lists as known is what the schema describes.
func TestEditorSchemasKnowTheKeys(t *testing.T) {
	known := regexp.MustCompile(`^known here: (.*)$`)
	for _, m := range mappings {
		t.Run(path.Base(m.file)+":"+m.at, func(t *testing.T) {
			faults := probe(t, m.file, m.at, map[string]any{bogus: 1})
			i := slices.IndexFunc(faults, func(f contract.Fault) bool {
				return strings.Contains(f.Message, "unknown key") && strings.Contains(f.Message, bogus)
			})
			if i < 0 {
				skipUnsupported(t, faults, m.at)
				t.Fatalf("the parser took an unknown key:\n%v", faults)
			}
			match := known.FindStringSubmatch(faults[i].Cure)
			if match == nil {
				t.Fatalf("the fault does not say which keys are known: %v", faults[i])
			}
			parser := strings.Split(match[1], ", ")
			described := keys(at(t, m.file, m.at)["properties"])
			for _, name := range parser {
				if !slices.Contains(described, name) {
					t.Errorf("the parser knows %s, the schema does not", name)
				}
			}
			for _, name := range described {
				if !slices.Contains(parser, name) {
					t.Errorf("the schema describes %s, which the parser refuses", name)
				}
			}
		})
	}
}

// Words are compared in the same way.
func TestEditorSchemasKnowTheWords(t *testing.T) {
	words := regexp.MustCompile(`"` + bogus + `" is not one of (.*)$`)
	compared := 0
	for _, m := range mappings {
		properties, _ := at(t, m.file, m.at)["properties"].(map[string]any)
		for _, name := range keys(properties) {
			want, isList := enum(t, m.file, properties[name])
			if want == nil || m.at+"."+name == "retry.on" { // the parser names all codes there and refuses most
				continue
			}
			var value any = bogus
			if isList {
				value = []any{bogus}
			}
			faults := probe(t, m.file, m.at, map[string]any{name: value})
			i := slices.IndexFunc(faults, func(f contract.Fault) bool { return words.MatchString(f.Message) })
			if i < 0 {
				if unsupported(faults, m.at) {
					continue
				}
				t.Errorf("%s %s.%s: the parser took a word that the schema refuses:\n%v", m.file, m.at, name, faults)
				continue
			}
			compared++
			got := strings.Split(words.FindStringSubmatch(faults[i].Message)[1], ", ")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s %s.%s: the parser knows %v, the schema %v", m.file, m.at, name, got, want)
			}
		}
	}
	if compared < 15 {
		t.Errorf("only %d lists of words were compared", compared)
	}
}

// Everything that is shippedContracts conforms.
func TestEditorSchemasTakeShippedFiles(t *testing.T) {
	seen := 0
	err := fs.WalkDir(os.DirFS(shippedContracts), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".yaml" || name == "serving.yaml" || path.Base(path.Dir(name)) == "policies" || d.IsDir() {
			return err
		}
		text := asJSON(t, decode(t, name))
		if !conforms(schemaFor(t, name))(text) {
			t.Errorf("%s does not conform", name)
		}
		seen++
		return nil
	})
	if err != nil || seen < 20 {
		t.Error(seen, err)
	}
}

// And mistakes do not.
func TestEditorSchemasRefuse(t *testing.T) {
	for _, c := range []struct {
		line, file, at string
		value          any
	}{
		{"misspelt key", probed, "", map[string]any{"tol": "x"}},
		{"a limit beyond the ceiling", probed, "result.limits", map[string]any{"max_depth": 65}},
		{"a number for a duration", probed, "retry.delay", 5},
		{"a pointer without a slash", probed, "result.agent_fields", []any{"state"}},
		{"401 as not found", probed, "result.not_found", map[string]any{"http_status": []any{401}}},
		{"use beside cel", probed, "result.checks.0", map[string]any{"use": "fresh", "with": map[string]any{}, "cel": "true"}},
		{"an adapter that watches nothing", probed, "result.adapter", map[string]any{"schema": "v.json", "fields": map[string]any{"a": "1"}}},
		{"a command that is read in no way", probed, "result.command", map[string]any{"exit_codes": []any{0}}},
		{"a command that is read in two ways", probed, "result.command", map[string]any{"pattern": "(?P<a>.)", "json": true}},
		{"json: false alone", probed, "result.command", map[string]any{"json": false}},
		{"groups converted in JSON", probed, "result.command", map[string]any{"json": true, "convert": map[string]any{"a": "integer"}}},
		{"a kind that does not exist", probed, "result.kind", "xml"},
		{"an unknown reason", probedCase, "want", map[string]any{"failure": "NOT_FOUND", "reason": "BECAUSE"}},
		{"no verdict", probedCase, "want", map[string]any{"retryable": true}},
		{"two verdicts", probedCase, "want", map[string]any{"failure": "NOT_FOUND", "data": 1}},
		{"data and text", probedCase, "want", map[string]any{"data": 1, "text": "a"}},
		{"raw twice", probedCase, "raw_file", "a.json"},
		{"raw twice, in base64", probedCase, "raw_base64", "e30="},
		{"raw in base64 and in a file", probedCase, "", map[string]any{"why": "a", "want": map[string]any{"data": 1}, "raw_base64": "e30=", "raw_file": "a.json"}},
		{"two statuses", probedCase, "upstream", map[string]any{"http_status": 200, "transport_error": "TLS"}},
		{"two other statuses", probedCase, "upstream", map[string]any{"jsonrpc_error": 1, "tool_raised": true}},
		{"a clock that is none", probedCase, "now", "noon"},
	} {
		if conforms(schemaFor(t, c.file))(asJSON(t, put(decode(t, c.file), c.at, c.value))) {
			t.Errorf("%s conforms", c.line)
		}
	}
}

// What stands beside those mistakes is none.
func TestEditorSchemasTake(t *testing.T) {
	for _, c := range []struct {
		line, file, at string
		value          any
	}{
		{"an adapter", probed, "result.adapter", map[string]any{"schema": "v.json", "fields": map[string]any{"a": "1"}, "watch": "refuse"}},
		{"a command's pattern", probed, "result.command", map[string]any{"pattern": "(?P<a>.)", "convert": map[string]any{"a": "integer"}}},
		{"a command's pattern, and no JSON", probed, "result.command", map[string]any{"pattern": "(?P<a>.)", "json": false}},
		{"a command's JSON", probed, "result.command", map[string]any{"json": true}},
		{"a refusal", probedCase, "want", map[string]any{"failure": "NOT_FOUND", "layer": "TRANSPORT"}},
		{"text", probedCase, "want", map[string]any{"text": "a"}},
		{"one status", probedCase, "upstream", map[string]any{"exit_code": 0, "source": "/bin/a"}},
		{"no status", probedCase, "upstream", map[string]any{"source": "/bin/a"}},
	} {
		if !conforms(schemaFor(t, c.file))(asJSON(t, put(decode(t, c.file), c.at, c.value))) {
			t.Errorf("%s does not conform", c.line)
		}
	}
}

// probe loads the shippedContracts contract with another value at one place of a file.
func probe(t *testing.T, file, place string, value any) contract.Faults {
	t.Helper()
	m := fstest.MapFS{}
	folder := strings.SplitN(file, "/", 2)[0]
	err := fs.WalkDir(os.DirFS(shippedContracts), folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, err := os.ReadFile(path.Join(shippedContracts, name))
			m[name] = &fstest.MapFile{Data: b}
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m[file] = &fstest.MapFile{Data: asJSON(t, put(decode(t, file), place, value))} // JSON is YAML
	_, err = contract.Load(m)
	var faults contract.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("%s at %s: %v", file, place, err)
	}
	return slices.DeleteFunc(faults, func(f contract.Fault) bool { return f.File != file })
}

// put replaces what stands at a dotted place, and makes the way to it.
func put(root any, place string, value any) any {
	if place == "" {
		return value
	}
	head, rest, _ := strings.Cut(place, ".")
	if _, err := strconv.Atoi(head); err == nil {
		return []any{put(nil, rest, value)}
	}
	out := map[string]any{}
	if m, ok := root.(map[string]any); ok {
		for k, v := range m {
			out[k] = v
		}
	}
	out[head] = put(out[head], rest, value)
	return out
}

func unsupported(faults contract.Faults, place string) bool {
	return slices.ContainsFunc(faults, func(f contract.Fault) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(place, "result."), ".")
		return strings.Contains(f.Message, "is not supported by this version") && strings.Contains(f.Message, first)
	})
}

func skipUnsupported(t *testing.T, faults contract.Faults, place string) {
	t.Helper()
	if unsupported(faults, place) {
		t.Skipf("the parser does not read %s yet, so its keys cannot be compared", place)
	}
}

// at returns the part of a schema that describes a place.
func at(t *testing.T, file, place string) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(schemaFor(t, file), &root); err != nil {
		t.Fatal(err)
	}
	here := root
	for token := range strings.SplitSeq(place, ".") {
		if token == "" {
			continue
		}
		var next any
		if _, err := strconv.Atoi(token); err == nil {
			next = here["items"]
		} else if p, ok := here["properties"].(map[string]any); ok {
			next = p[token]
		}
		here = resolve(root, next)
		if here == nil {
			t.Fatalf("the schema describes nothing at %s", place)
		}
	}
	return here
}

func resolve(root map[string]any, v any) map[string]any {
	m, _ := v.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		defs, _ := root["$defs"].(map[string]any)
		m, _ = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	return m
}

// enum returns the words of a property, or of the elements of its list.
func enum(t *testing.T, file string, property any) (words []string, list bool) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(schemaFor(t, file), &root); err != nil {
		t.Fatal(err)
	}
	m := resolve(root, property)
	if items := resolve(root, m["items"]); items != nil {
		m, list = items, true
	}
	values, _ := m["enum"].([]any)
	for _, v := range values {
		words = append(words, fmt.Sprint(v))
	}
	return words, list
}

func keys(v any) []string {
	m, _ := v.(map[string]any)
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func schemaFor(t *testing.T, file string) []byte {
	t.Helper()
	name := "contract.schema.json"
	if strings.Contains(file, "/cases/") {
		name = "case.schema.json"
	}
	b, err := os.ReadFile(editorSchemas + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t *testing.T, name string) any {
	t.Helper()
	b, err := os.ReadFile(path.Join(shippedContracts, name))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
