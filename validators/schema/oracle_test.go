package schema

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// oracle is the library's own answer. Formats are not asserted: those are ours.
func oracle(source []byte, remotes map[string][]byte) (*jsonschema.Schema, error) {
	docs, err := newDocuments(map[string][]byte{"schema.json": source}, remotes)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(docs)
	return c.Compile(fileURI("schema.json"))
}

// Both engines agree on every row of every suite, whatever the suite expects.
func TestConformanceOracle(t *testing.T) {
	suite, store, api := shared(t, "json-schema-test-suite"), shared(t, "schemastore"), shared(t, "api-payloads")
	remotes := suiteRemotes(t, suite)
	pairs := 0
	compare := func(name string, source []byte, instances ...[]byte) {
		t.Helper()
		ours, err := Compile(map[string][]byte{"schema.json": source}, "schema.json",
			Options{Formats: Annotate, Remotes: remotes})
		theirs, theirErr := oracle(source, remotes)
		if err != nil || theirErr != nil {
			if err == nil {
				t.Errorf("%s: only the library refuses the schema", name)
			}
			return
		}
		for _, instance := range instances {
			v, err := strictjson.Parse(instance, wide())
			if err != nil {
				continue
			}
			pairs++
			failures, err := ours.Validate(context.Background(), v)
			if err != nil || (len(failures) == 0) != (theirs.Validate(plain(v)) == nil) {
				t.Errorf("%s: the engines differ (%v)", name, err)
			}
		}
	}
	for _, folder := range []string{"", "optional", "optional/format"} {
		paths, _ := filepath.Glob(filepath.Join(suite, "tests", "draft2020-12", folder, "*.json"))
		for _, path := range paths {
			if filepath.Base(path) == "format-assertion.json" {
				continue // the library ignores the vocabulary where it is not required
			}
			var groups []suiteGroup
			if err := json.Unmarshal(read(t, path), &groups); err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				for _, c := range g.Tests {
					compare(path+g.Description+c.Description, g.Schema, c.Data)
				}
			}
		}
	}
	instances := make(map[string][][]byte)
	for _, line := range jsonLines(t, filepath.Join(store, "cases.jsonl")) {
		var row struct {
			Schema   string
			Instance json.RawMessage
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		instances[row.Schema] = append(instances[row.Schema], row.Instance)
	}
	// Every instance against every schema: far more failing pairs than the suite has.
	for name := range instances {
		source := read(t, filepath.Join(store, "schemas-2020-12", name+".json"))
		for _, other := range instances {
			compare(name, source, other...)
		}
	}
	for _, line := range jsonLines(t, filepath.Join(api, "github-rest.jsonl")) {
		var row struct{ Schema, Instance json.RawMessage }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		compare("github", row.Schema, row.Instance)
	}
	if pairs < 8000 {
		t.Errorf("only %d pairs were compared", pairs)
	}
}
