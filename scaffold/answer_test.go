package scaffold_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	"github.com/hallmark-gate/hallmark/scaffold"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/semantic"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// engine judges by the engine of the service, as the command does.
func engine(source []byte) func([]byte) bool {
	s, err := schema.Compile(map[string][]byte{"s.json": source}, "s.json", schema.Options{})
	if err != nil {
		return nil
	}
	return func(value []byte) bool {
		v, err := strictjson.Parse(value, strictjson.Ceilings())
		if err != nil {
			return false
		}
		failures, err := s.Validate(context.Background(), v)
		return err == nil && len(failures) == 0
	}
}

var placeholder = regexp.MustCompile(`"QUESTION: (?:[^"\\]|\\.)*"`)

// answered is a draft after somebody took every proposal as it is: question lines
// deleted, blanks filled in.
func answered(t *testing.T, files map[string][]byte) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	for name, content := range files {
		var out bytes.Buffer
		for line := range strings.Lines(string(content)) {
			trimmed := strings.TrimSpace(line)
			if strings.HasPrefix(trimmed, "# QUESTION") || strings.HasPrefix(trimmed, `"x-question": "`) {
				continue
			}
			if strings.HasSuffix(name, ".yaml") {
				line = placeholder.ReplaceAllString(line, `"answered"`)
			}
			out.WriteString(line)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(out.Bytes()) {
			t.Fatalf("%s is no JSON after its questions are deleted:\n%s", name, out.Bytes())
		}
		m[name] = &fstest.MapFile{Data: out.Bytes()}
	}
	return m
}

func asFiles(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: content}
	}
	return m
}

// refusedFirst sees that a draft is not served as it is, and that nothing but its
// questions is wrong with it.
func refusedFirst(t *testing.T, d *scaffold.Draft) {
	t.Helper()
	_, err := contract.Load(asFiles(d.Files))
	if err == nil {
		t.Fatal("a draft with open questions was loaded")
	}
	asked := 0
	for line := range strings.Lines(err.Error()) {
		if strings.Contains(line, "an open question") {
			asked++
		}
	}
	if asked == 0 || len(d.Questions) == 0 {
		t.Errorf("no question was refused:\n%v", err)
	}
}

// passes loads an answered draft and runs its cases as the service would.
func passes(t *testing.T, d *scaffold.Draft) {
	t.Helper()
	files := answered(t, d.Files)
	if _, err := contract.Load(files); err != nil {
		t.Errorf("an answered draft does not lint:\n%v", err)
		return
	}
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	set, err := gate.NewLoader(registry).Load(files)
	if err != nil {
		t.Errorf("an answered draft is not compiled:\n%v", err)
		return
	}
	if report := casetest.Run(t.Context(), set); len(report.Failed()) > 0 {
		t.Errorf("cases of an answered draft fail:\n%v", report)
	}
}

func dump(t *testing.T, d *scaffold.Draft) {
	t.Helper()
	if !t.Failed() {
		return
	}
	for _, name := range []string{"contract.yaml", "result.schema.json", "arguments.schema.json"} {
		t.Logf("%s\n%s", name, d.Files[d.Dir+"/"+name])
	}
}
