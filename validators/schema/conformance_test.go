package schema

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// shared returns a folder of the public suites, which stand beside the repository.
func shared(t *testing.T, folder string) string {
	t.Helper()
	base := os.Getenv("HALLMARK_SHARED")
	if base == "" {
		base = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(base, "corpora", filepath.FromSlash(folder))
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("HALLMARK_REQUIRE_SHARED") == "1" {
			t.Fatalf("the suite corpora/%s is absent and HALLMARK_REQUIRE_SHARED=1", folder)
		}
		t.Skipf("the suite corpora/%s is absent: set HALLMARK_SHARED to the folder that holds corpora/", folder)
	}
	return dir
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wide are the limits for suites: some of their numbers are longer than a service takes.
func wide() strictjson.Limits {
	l := strictjson.Ceilings()
	l.MaxNumberChars, l.MaxNameChars, l.MaxDepth = 400, 4096, 256
	return l
}

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// suiteRemotes are the documents that the suite expects at http://localhost:1234/.
func suiteRemotes(t *testing.T, root string) map[string][]byte {
	t.Helper()
	remotes := make(map[string][]byte)
	dir := filepath.Join(root, "remotes")
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		remotes["http://localhost:1234/"+filepath.ToSlash(rel)] = read(t, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return remotes
}

// verdict is what an engine says about one row: "valid", "invalid" or why there is no
// answer.
func verdictOf(s *Schema, compileErr error, data []byte) string {
	if compileErr != nil {
		return "no schema"
	}
	v, err := strictjson.Parse(data, wide())
	if err != nil {
		return "refused by the reader"
	}
	failures, err := s.Validate(context.Background(), v)
	switch {
	case err != nil:
		return "budget"
	case len(failures) == 0:
		return "valid"
	}
	return "invalid"
}

type suiteCount struct{ files, groups, tests, valid int }

// runSuite runs the files of one folder and returns the rows that went wrong, by
// "file | group | test", with what was said about them.
func runSuite(t *testing.T, root, folder string, formats Formats) (suiteCount, map[string]string) {
	t.Helper()
	var count suiteCount
	wrong := make(map[string]string)
	remotes := suiteRemotes(t, root)
	paths, err := filepath.Glob(filepath.Join(root, "tests", "draft2020-12", folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		count.files++
		name := filepath.ToSlash(filepath.Join(folder, filepath.Base(path)))
		var groups []suiteGroup
		if err := json.Unmarshal(read(t, path), &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			count.groups++
			s, err := Compile(map[string][]byte{"schema.json": g.Schema}, "schema.json",
				Options{Formats: formats, Remotes: remotes})
			for _, c := range g.Tests {
				count.tests++
				want := "invalid"
				if c.Valid {
					count.valid++
					want = "valid"
				}
				got := verdictOf(s, err, c.Data)
				if got == "no schema" {
					got += ": " + err.Error()
				}
				if got != want {
					wrong[strings.Join([]string{name, g.Description, c.Description}, " | ")] = got
				}
			}
		}
	}
	return count, wrong
}

// A9, A12
func TestConformanceSuiteCore(t *testing.T) {
	root := shared(t, "json-schema-test-suite")
	count, wrong := runSuite(t, root, "", Annotate)
	if want := (suiteCount{46, 383, 1299, 765}); count != want {
		t.Errorf("the suite has %+v, known are %+v", count, want)
	}
	for row, got := range wrong {
		t.Errorf("%s: %s", row, got)
	}
}

// A12
func TestConformanceSuiteOptional(t *testing.T) {
	root := shared(t, "json-schema-test-suite")
	count, wrong := runSuite(t, root, "optional", Annotate)
	if want := (suiteCount{13, 50, 162, 87}); count != want {
		t.Errorf("optional has %+v, known are %+v", count, want)
	}
	formats, more := runSuite(t, root, "optional/format", AssertKnown)
	if want := (suiteCount{21, 28, 764, 376}); formats != want {
		t.Errorf("optional/format has %+v, known are %+v", formats, want)
	}
	for row, got := range more {
		wrong[row] = got
	}
	expected := expectedFailures(t)
	for row, got := range wrong {
		if _, ok := expected[row]; !ok {
			t.Errorf("%s: %s", row, got)
		}
		delete(expected, row)
	}
	for row := range expected {
		t.Errorf("expected to fail, and passes: %s", row)
	}
}

// expectedFailures reads lines "file | group | test # reason".
func expectedFailures(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(read(t, "testdata/conformance-expected-failures.txt")))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		i := strings.LastIndex(line, " # ")
		if i < 0 || strings.TrimSpace(line[i+3:]) == "" {
			t.Fatalf("no reason: %s", line)
		}
		out[line[:i]] = line[i+3:]
	}
	return out
}

// A9
func TestConformanceSchemaStore(t *testing.T) {
	root := shared(t, "schemastore")
	type key struct{ folder, name string }
	schemas := make(map[key]*Schema)
	refused := make(map[key]error)
	compile := func(folder, name string) (*Schema, error) {
		k := key{folder, name}
		if schemas[k] == nil && refused[k] == nil {
			schemas[k], refused[k] = Compile(map[string][]byte{
				"schema.json": read(t, filepath.Join(root, folder, name+".json")),
			}, "schema.json", Options{Formats: Annotate})
		}
		return schemas[k], refused[k]
	}
	rows, valid, dialect := 0, 0, 0
	for _, line := range jsonLines(t, filepath.Join(root, "cases.jsonl")) {
		var row struct {
			Schema, File  string
			ExpectedValid bool `json:"expected_valid"`
			Instance      json.RawMessage
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows++
		want := "invalid"
		if row.ExpectedValid {
			valid++
			want = "valid"
		}
		s, err := compile("schemas-2020-12", row.Schema)
		if got := verdictOf(s, err, row.Instance); got != want {
			t.Errorf("%s %s: %s, want %s (%v)", row.Schema, row.File, got, want, err)
		}
		s, err = compile("schemas-original", row.Schema)
		if err != nil {
			if !strings.Contains(err.Error(), unsupportedDialect) {
				t.Errorf("original %s: %v", row.Schema, err)
			}
			dialect++
		} else if got := verdictOf(s, err, row.Instance); got != want {
			t.Errorf("original %s %s: %s, want %s", row.Schema, row.File, got, want)
		}
	}
	if rows != 372 || valid != 197 || dialect != 368 {
		t.Errorf("%d rows, %d valid, %d with an original of another dialect", rows, valid, dialect)
	}
}

// Look-around is refused at load, with the place of the pattern.
func TestConformanceLookAround(t *testing.T) {
	root := shared(t, "schemastore/schemas-re2-incompatible")
	paths, _ := filepath.Glob(filepath.Join(root, "*.json"))
	if len(paths) != 7 {
		t.Errorf("%d schemas, known are 7", len(paths))
	}
	for _, path := range paths {
		source := read(t, path)
		// The dialect would be refused first; the patterns are what is looked at here.
		var top map[string]json.RawMessage
		if err := json.Unmarshal(source, &top); err != nil {
			t.Fatal(err)
		}
		delete(top, "$schema")
		delete(top, "$id")
		source, _ = json.Marshal(top)
		_, err := Compile(map[string][]byte{"schema.json": source}, "schema.json", Options{Formats: Annotate})
		e, ok := errors.AsType[*CompileError](err)
		if !ok || e.Detail != noRE2 || e.Pointer == "" {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

// A9
func TestConformanceGitHub(t *testing.T) {
	root := shared(t, "api-payloads")
	rows, valid := 0, 0
	for _, line := range jsonLines(t, filepath.Join(root, "github-rest.jsonl")) {
		var row struct {
			ID               string
			Schema, Instance json.RawMessage
			Valid            bool
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows++
		want := "invalid"
		if row.Valid {
			valid++
			want = "valid"
		}
		s, err := Compile(map[string][]byte{"schema.json": row.Schema}, "schema.json", Options{Formats: Annotate})
		if got := verdictOf(s, err, row.Instance); got != want {
			t.Errorf("%s: %s, want %s (%v)", row.ID, got, want, err)
		}
	}
	if rows != 250 || valid != 140 {
		t.Errorf("%d rows, %d valid", rows, valid)
	}
}

// Values of which nothing is known pass the schema true, and come out as they came in.
func TestConformanceStripe(t *testing.T) {
	root := shared(t, "api-payloads")
	s := mustCompile(t, `true`, Options{})
	rows := 0
	for _, line := range jsonLines(t, filepath.Join(root, "stripe-fixtures.jsonl")) {
		var row struct {
			ID       string
			Instance json.RawMessage
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows++
		if got := verdictOf(s, nil, row.Instance); got != "valid" {
			t.Errorf("%s: %s", row.ID, got)
		}
		v, err := strictjson.Parse(row.Instance, strictjson.Ceilings())
		if err != nil {
			t.Fatal(err)
		}
		out := strictjson.AppendJSON(nil, v)
		if got, want := tokens(t, out), tokens(t, row.Instance); !slices.Equal(got, want) {
			t.Errorf("%s: written again it differs", row.ID)
		}
	}
	if rows != 176 {
		t.Errorf("%d rows, known are 176", rows)
	}
}

// tokens is the sequence of tokens, numbers with their digits, as another reader sees it.
func tokens(t *testing.T, source []byte) []json.Token {
	t.Helper()
	var out []json.Token
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return out
		}
		out = append(out, tok)
	}
}

func jsonLines(t *testing.T, path string) [][]byte {
	t.Helper()
	return bytes.Split(bytes.TrimSpace(read(t, path)), []byte("\n"))
}

func mustCompile(t testing.TB, source string, opts Options) *Schema {
	t.Helper()
	s, err := Compile(map[string][]byte{"schema.json": []byte(source)}, "schema.json", opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
