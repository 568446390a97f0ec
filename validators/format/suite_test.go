package format

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const failuresFile = "testdata/format-expected-failures.txt"

type suiteGroup struct {
	Description string                     `json:"description"`
	Schema      map[string]json.RawMessage `json:"schema"`
	Tests       []struct {
		Description string          `json:"description"`
		Data        json.RawMessage `json:"data"`
		Valid       bool            `json:"valid"`
	} `json:"tests"`
}

// A12: the suite's verdict on every format, asserted.
//
// The suite is not in this repository. A test that is listed as an expected
// failure and passes fails this test, like one that is not listed and fails.
func TestSuiteFormats(t *testing.T) {
	files := suiteFiles(t)
	expected := expectedFailures(t)
	agreed, total, groups := 0, 0, 0
	for _, file := range files {
		for _, g := range readSuite(t, file) {
			name, alone := formatAlone(g)
			if !alone {
				t.Errorf("%s | %s: not a schema of one format: this test must learn to read it", filepath.Base(file), g.Description)
				continue
			}
			groups++
			for _, tt := range g.Tests {
				total++
				key := strings.Join([]string{filepath.Base(file), g.Description, tt.Description}, " | ")
				_, listed := expected[key]
				delete(expected, key)
				switch agrees := verdict(t, name, tt.Data) == tt.Valid; {
				case agrees && listed:
					t.Errorf("%s: listed as a failure, but passes", key)
				case !agrees && !listed:
					t.Errorf("%s: want valid=%v", key, tt.Valid)
				case agrees:
					agreed++
				}
			}
		}
	}
	for key := range expected {
		t.Errorf("%s: listed as a failure, but not in the suite", key)
	}
	t.Logf("%d of %d tests in %d groups agree", agreed, total, groups)
	if agreed < 750 {
		t.Errorf("%d tests agree, want at least 750", agreed)
	}
}

// verdict is what a validator says that asserts formats: only strings have one,
// and the suite wants a name that nobody defines to be ignored.
func verdict(t *testing.T, name string, data json.RawMessage) bool {
	t.Helper()
	check, known := Lookup(name)
	if !known && name != "unknown" {
		t.Errorf("format %s is not known", name)
	}
	if !known || data[0] != '"' {
		return true
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return check(s) == nil
}

// formatAlone returns the format of a schema that has no other assertion.
func formatAlone(g suiteGroup) (name string, alone bool) {
	for keyword, value := range g.Schema {
		switch keyword {
		case "$schema", "$comment":
		case "format":
			alone = json.Unmarshal(value, &name) == nil
		default:
			return "", false
		}
	}
	return name, alone
}

func suiteFiles(t *testing.T) []string {
	t.Helper()
	const suite = "corpora/json-schema-test-suite/tests/draft2020-12/optional/format"
	shared := os.Getenv("HALLMARK_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared") // next to the repository
	}
	files, err := filepath.Glob(filepath.Join(shared, filepath.FromSlash(suite), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("SKIPPED: the JSON Schema test suite is absent (%s under HALLMARK_SHARED)", suite)
	}
	return files
}

func readSuite(t *testing.T, file string) []suiteGroup {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}

// expectedFailures reads lines of "file | group | test # reason"; one without a
// reason is refused.
func expectedFailures(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(failuresFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	expected := map[string]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := cutLast(line, " # ")
		if !ok || reason == "" || strings.Count(key, " | ") != 2 {
			t.Fatal(fmt.Errorf("%s:%d: want file | group | test # reason", failuresFile, n))
		}
		expected[key] = reason
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return expected
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
