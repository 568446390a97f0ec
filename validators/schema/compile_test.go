package schema

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// D1: what is refused when a schema is compiled, and where the fault is said to be.
func TestCompileErrors(t *testing.T) {
	lookAround := `{"properties":{"n":{"pattern":"^(?!.*-abc$)[a-z-]*$"}}}`
	for _, c := range []struct{ name, source, at, detail string }{
		{"054 look-ahead", lookAround, "/properties/n/pattern", noRE2},
		{"054 in a name", `{"items":{"patternProperties":{"a(?=b)":true}}}`, "/items/patternProperties/a(?=b)", noRE2},
		{"054 repetition", `{"pattern":"a{1001}"}`, "/pattern", noRE2},
		{"058 network", `{"allOf":[{"$ref":"http://169.254.169.254/latest/meta-data/"}]}`, "/allOf/0/$ref", "leads out"},
		{"058 file", `{"$ref":"file:///etc/hostname"}`, "/$ref", "leads out"},
		{"058 $id moves the base", `{"$id":"https://attacker.example/s","$ref":"other.json"}`, "/$ref", "leads out"},
		{"a file that is not there", `{"$ref":"missing.json#/a"}`, "/$ref", "leads out"},
		{"a metaschema that is not there", `{"$schema":"https://json-schema.org/draft/2020-13/schema"}`, "/$schema", unsupportedDialect},
		{"069 draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "/$schema", unsupportedDialect},
		{"draft 2019-09", `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, "/$schema", unsupportedDialect},
		{"the newest, whatever it is", `{"$schema":"https://json-schema.org/schema"}`, "/$schema", unsupportedDialect},
		{"a dialect by a name that is nearly right", `{"$schema":"http://json-schema.org/draft/2020-12/schema"}`, "/$schema", unsupportedDialect},
		{"another dialect behind a reference", `{"$ref":"http://json-schema.org/draft-07/schema"}`, "", unsupportedDialect},
		{"another dialect in an embedded resource", `{"$defs":{"a":{"$id":"https://example.test/a","$schema":"http://json-schema.org/draft-07/schema#","type":"string"}},"$ref":"#/$defs/a"}`, "/$defs/a", unsupportedDialect},
		{"a keyword of the wrong type", `{"properties":{"a":{"minLength":"1"}}}`, "/properties/a/minLength", "metaschema"},
		{"a negative bound", `{"maxItems":-1}`, "/maxItems", "metaschema"},
		{"multipleOf nothing", `{"multipleOf":0}`, "/multipleOf", "metaschema"},
		{"a type that there is not", `{"type":"int"}`, "/type", "metaschema"},
		{"a place that is not there", `{"$ref":"#/$defs/a"}`, "/$defs/a", "nothing"},
		{"an anchor that is not there", `{"$ref":"#a"}`, "", "anchor"},
		{"an $id twice", `{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, "", "twice"},
		{"an anchor twice", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "", "twice"},
		{"a member twice", `{"type":"object","type":"string"}`, "/type", "DUPLICATE_NAME"},
		{"a number that is no number", `{"minimum":1e400}`, "/minimum", "NUMBER_LIMIT"},
		{"032 a number to panic on", `{"minimum":1e2000000}`, "/minimum", "NUMBER_LIMIT"},
		{"bad UTF-8", "{\"title\":\"\xff\"}", "/title", "ENCODING"},
		{"no JSON", `{`, "", "JSON_SYNTAX"},
		{"a number as a schema", `5`, "", "metaschema"},
		{"a reference that is no URI", `{"$ref":"http://%zz"}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(map[string][]byte{"dir/s.json": []byte(c.source)}, "dir/s.json", Options{Formats: Annotate})
			e, ok := errors.AsType[*CompileError](err)
			if !ok {
				t.Fatalf("%v", err)
			}
			if !strings.Contains(e.Detail, c.detail) || (c.at != "" && e.Pointer != c.at) {
				t.Errorf("%+v", e)
			}
			if e.File != "dir/s.json" && c.name != "another dialect behind a reference" {
				t.Errorf("file %q", e.File)
			}
			if len(err.Error()) > 3000 {
				t.Errorf("%d bytes of text", len(err.Error()))
			}
		})
	}
}

// 058: a file that exists is neither opened nor quoted, by whatever name.
func TestNothingIsOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.json")
	const secret = "FAKE-SECRET-123"
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"file://" + path, path, strings.Repeat("../", 20) + strings.TrimPrefix(path, "/"), "contract://" + path} {
		for _, keyword := range []string{"$ref", "$schema", "$dynamicRef"} {
			source := fmt.Sprintf(`{%q:%q}`, keyword, ref)
			_, err := Compile(map[string][]byte{"s.json": []byte(source)}, "s.json", Options{})
			if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "'F'") {
				t.Errorf("%s %s: %v", keyword, ref, err)
			}
		}
	}
}

// Error texts stay short whatever the names in a schema are.
func TestErrorTextIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 4000)
	for _, source := range []string{
		fmt.Sprintf(`{"properties":{%q:{"minLength":"x"}}}`, long),
		fmt.Sprintf(`{"$ref":"#/%s"}`, long),
		fmt.Sprintf(`{"$ref":"https://example.test/%s"}`, long),
		fmt.Sprintf(`{"patternProperties":{"(?=%s)":true}}`, long),
	} {
		_, err := Compile(map[string][]byte{long: []byte(source)}, long, Options{})
		if err == nil || len([]rune(err.Error())) > 3*maxErrorText {
			t.Errorf("%d bytes", len(fmt.Sprint(err)))
		}
	}
}

func TestCompileArguments(t *testing.T) {
	files := map[string][]byte{"a.json": []byte(`{"$ref":"b.json"}`), "b.json": []byte(`{"$ref":"a.json"}`), "bad.json": []byte(`{`)}
	for _, root := range []string{"", "c.json", "/a.json", "./a.json"} {
		if _, err := Compile(files, root, Options{}); err == nil {
			t.Errorf("%q is no file of these", root)
		}
	}
	// A broken file is found even where nothing refers to it.
	if _, err := Compile(files, "a.json", Options{}); err == nil || !strings.Contains(err.Error(), "bad.json") {
		t.Error(err)
	}
	for _, uri := range []string{"relative.json", "https://example.test/a#b", "https://example.test/a#", "contract:///a.json"} {
		if _, err := Compile(map[string][]byte{"a": []byte(`true`)}, "a", Options{Remotes: map[string][]byte{uri: []byte(`true`)}}); err == nil {
			t.Errorf("%q is no name of a remote", uri)
		}
	}
	// A remote that is broken harms only who refers to it.
	remotes := map[string][]byte{"https://example.test/broken": []byte(`{`)}
	if _, err := Compile(map[string][]byte{"a": []byte(`true`)}, "a", Options{Remotes: remotes}); err != nil {
		t.Error(err)
	}
	_, err := Compile(map[string][]byte{"a": []byte(`{"$ref":"https://example.test/broken"}`)}, "a", Options{Remotes: remotes})
	if e, ok := errors.AsType[*CompileError](err); !ok || e.File != "https://example.test/broken" {
		t.Error(err)
	}
	// The embedded metaschema is not replaced.
	replaced := map[string][]byte{Dialect: []byte(`true`)}
	if _, err := Compile(map[string][]byte{"a": []byte(`{"type":"int"}`)}, "a", Options{Remotes: replaced}); err == nil {
		t.Error("the metaschema was replaced")
	}
}
