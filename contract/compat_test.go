package contract

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v4"
)

// compatPair is one file of testdata/compat/pairs: a base contract, edits that make the
// new one of it, and what must be reported.
type compatPair struct {
	Why   string       `yaml:"why"`
	Base  string       `yaml:"base"`
	Edits []compatEdit `yaml:"edits"`
	Want  *[]string    `yaml:"want"`
}

// compatEdit puts one text in the place of another that occurs once, or writes a file.
type compatEdit struct {
	File    string  `yaml:"file"`
	Find    string  `yaml:"find"`
	Put     string  `yaml:"put"`
	Content *string `yaml:"content"`
}

func readPair(t *testing.T, name string) compatPair {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := decodePair(src)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// decodePair refuses keys that it does not know.
func decodePair(src []byte) (compatPair, error) {
	var p compatPair
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	decoder.KnownFields(true)
	if err := decoder.Decode(&p); err != nil && !errors.Is(err, io.EOF) {
		return p, err
	}
	if p.Why == "" || p.Base == "" || len(p.Edits) == 0 || p.Want == nil {
		return p, errors.New("why, base, edits and want are all needed")
	}
	return p, nil
}

// apply makes the files of the new contract.
func (p compatPair) apply(t *testing.T, files map[string][]byte) map[string][]byte {
	t.Helper()
	now := maps.Clone(files)
	for _, e := range p.Edits {
		if e.Content != nil {
			now[e.File] = []byte(*e.Content)
			continue
		}
		if n := bytes.Count(now[e.File], []byte(e.Find)); e.Find == "" || n != 1 {
			t.Fatalf("%s holds %q %d times, not once", e.File, e.Find, n)
		}
		now[e.File] = bytes.Replace(now[e.File], []byte(e.Find), []byte(e.Put), 1)
	}
	return now
}

func baseFiles(t *testing.T, base string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	dir := filepath.Join("testdata", "compat", "base", base)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// readOne reads a contract as Load does, without asking for its cases.
func readOne(t *testing.T, files map[string][]byte) *Contract {
	t.Helper()
	version := 1
	if bytes.Contains(files[mainFile], []byte("version: 2")) {
		version = 2
	}
	d := readContract("tool/v1", version, files)
	if len(d.faults) == 0 {
		d.lint()
		d.lintSchemas()
	}
	if all := append(d.faults, d.schemaFaults...); len(all) > 0 {
		t.Fatalf("not a contract:\n%v", all)
	}
	return d.contract
}

func eachPair(t *testing.T, f func(t *testing.T, p compatPair, old, now *Contract)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "compat", "pairs", "*.yaml"))
	if err != nil || len(names) < 30 {
		t.Fatalf("%d pairs, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			p := readPair(t, name)
			files := baseFiles(t, p.Base)
			f(t, p, readOne(t, files), readOne(t, p.apply(t, files)))
		})
	}
}

func changeLines(changes []Change) []string {
	lines := make([]string, len(changes))
	for i, c := range changes {
		lines[i] = c.String()
	}
	return lines
}

// A23 D7
func TestCompareOnPreparedPairs(t *testing.T) {
	eachPair(t, func(t *testing.T, p compatPair, old, now *Contract) {
		got := changeLines(Compare(old, now))
		if !slices.Equal(got, *p.Want) {
			t.Errorf("%s\ngot  %q\nwant %q", p.Why, got, *p.Want)
		}
	})
}
