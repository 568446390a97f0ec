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

// comparison runs both engines side by side.
type comparison struct {
	remotes map[string][]byte
	pairs   int
}

func (c *comparison) run(t *testing.T, name string, source []byte, instances ...[]byte) {
	t.Helper()
	ours, err := Compile(map[string][]byte{"schema.json": source}, "schema.json",
		Options{Formats: Annotate, Remotes: c.remotes})
	theirs, theirErr := oracle(source, c.remotes)
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
		c.pairs++
		failures, err := ours.Validate(context.Background(), v)
		if err != nil || (len(failures) == 0) != (theirs.Validate(plain(v)) == nil) {
			t.Errorf("%s: the engines differ (%v)", name, err)
		}
	}
}

// Both engines agree on every row of the suite, whatever the suite expects.
func TestConformanceOracleSuite(t *testing.T) {
	suite := shared(t, "json-schema-test-suite")
	c := comparison{remotes: suiteRemotes(t, suite)}
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
				var data [][]byte
				for _, test := range g.Tests {
					data = append(data, test.Data)
				}
				c.run(t, path+" "+g.Description, g.Schema, data...)
			}
		}
	}
	if c.pairs < 2150 {
		t.Errorf("only %d pairs were compared", c.pairs)
	}
}

// Both engines agree on real schemas and data: every instance of the store against
// every schema, which gives far more failing pairs than the suite has.
func TestConformanceOracleData(t *testing.T) {
	store, api := shared(t, "schemastore"), shared(t, "api-payloads")
	if testing.Short() || slower > 3 {
		t.Skip("long: thousands of pairs, also run without -short and without -race")
	}
	var c comparison
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
	for name := range instances {
		source := read(t, filepath.Join(store, "schemas-2020-12", name+".json"))
		for from, other := range instances {
			c.run(t, name+" with data of "+from, source, other...)
		}
	}
	for _, line := range jsonLines(t, filepath.Join(api, "github-rest.jsonl")) {
		var row struct{ Schema, Instance json.RawMessage }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		c.run(t, "github", row.Schema, row.Instance)
	}
	if c.pairs < 6000 {
		t.Errorf("only %d pairs were compared", c.pairs)
	}
}
