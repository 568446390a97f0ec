package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
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

// A pair whose keys are misspelt would test nothing.
func TestPairsRefuseUnknownKeys(t *testing.T) {
	for _, src := range []string{
		"why: w\nbase: runs\nedits: [{file: f, content: c}]\nwants: []\n",
		"why: w\nbase: runs\nedits: [{file: f, found: x}]\nwant: []\n",
		"why: w\nbase: runs\nedits: [{file: f, content: c}]\n",
		"base: runs\nedits: [{file: f, content: c}]\nwant: []\n",
	} {
		if _, err := decodePair([]byte(src)); err == nil {
			t.Errorf("taken: %s", src)
		}
	}
}

// rewritten is a contract whose files are laid out in another way, so that nothing is
// found the same by its bytes.
func rewritten(t *testing.T, c *Contract) *Contract {
	t.Helper()
	files := maps.Clone(c.Files)
	for name, src := range files {
		if filepath.Ext(name) == ".json" {
			var out bytes.Buffer
			if err := json.Indent(&out, src, "", "     "); err != nil {
				t.Fatal(err)
			}
			files[name] = out.Bytes()
		}
	}
	return readOne(t, files)
}

// A contract does not differ from itself.
func TestCompareWithItself(t *testing.T) {
	eachPair(t, func(t *testing.T, _ compatPair, old, now *Contract) {
		for _, c := range []*Contract{old, now} {
			if got := Compare(c, c); len(got) > 0 {
				t.Errorf("itself: %q", changeLines(got))
			}
			if got := Compare(c, rewritten(t, c)); len(got) > 0 {
				t.Errorf("itself laid out otherwise: %q", changeLines(got))
			}
		}
	})
}

// counterpart is the kind of a change seen from the other side.
func counterpart(kind string) string {
	switch kind {
	case "closed-opened":
		return "opened-closed"
	case "opened-closed":
		return "closed-opened"
	}
	for _, ends := range [][2]string{
		{"-added", "-removed"}, {"-widened", "-narrowed"}, {"-undescribed", "-described"}, {"-described", "-undescribed"},
	} {
		for i := range ends {
			if stem, ok := strings.CutSuffix(kind, ends[i]); ok {
				return stem + ends[1-i]
			}
		}
	}
	return kind // -changed, -renamed
}

// Every change has a counterpart when old and new are swapped; it stands at the same
// key of contract.yaml, and what went comes.
func TestCompareSwapped(t *testing.T) {
	eachPair(t, func(t *testing.T, _ compatPair, old, now *Contract) {
		var want, got []string
		for _, c := range Compare(old, now) {
			want = append(want, counterpart(c.Kind)+" "+c.New+" "+c.Old)
		}
		for _, c := range Compare(now, old) {
			got = append(got, c.Kind+" "+c.Old+" "+c.New)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// The order is the same whatever the order of maps.
func TestCompareIsDeterministic(t *testing.T) {
	eachPair(t, func(t *testing.T, _ compatPair, old, now *Contract) {
		first := Compare(old, now)
		for range 5 {
			if again := Compare(old, now); !slices.Equal(first, again) {
				t.Fatalf("%q\n%q", changeLines(first), changeLines(again))
			}
		}
	})
}

// Every key that a contract may have is weighed by the table or by code of its own; a
// new one is breaking until somebody weighs it.
func TestCompareKnowsEveryKey(t *testing.T) {
	src, err := os.ReadFile("testdata/good/job_status/v1/contract.yaml") // it spells every key out
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range settings() {
		known[s.at] = true
	}
	for _, key := range elsewhere() {
		known[key] = true
	}
	if left := unweighed(&Contract{Files: map[string][]byte{mainFile: src}}, known); len(left) > 0 {
		t.Errorf("nobody weighs %q", keysOf(left))
	}
	with := func(more string) *Contract {
		return &Contract{Files: map[string][]byte{mainFile: []byte("tool: t\nresult:\n  kind: json\n" + more)}}
	}
	for _, c := range []struct{ old, now, want string }{
		{"  later: {at: /a, items: 20}\n", "  later: {items: 20, at: /a}\n", ""},
		{"  later: {at: /a, items: 20}\n", "  later: {items: 30, at: /a}\n", `breaking later-changed result.later: {"at":"/a","items":20} -> {"items":30,"at":"/a"}`},
		{"", "novel: true\n", "breaking novel-changed novel: nothing -> true"},
		{"retry:\n  jitter: 1\n", "retry:\n  jitter: 2\n", "breaking jitter-changed retry.jitter: 1 -> 2"},
	} {
		got := strings.Join(changeLines(Compare(with(c.old), with(c.now))), "\n")
		if got != c.want {
			t.Errorf("%q to %q: got %s, want %s", c.old, c.now, got, c.want)
		}
	}
}

// A folder alone is read without the neighbours that its evidence names.
func TestLoadFolder(t *testing.T) {
	good := os.DirFS("testdata/good/job_status")
	for _, c := range []struct{ under, dir string }{{".", "job_status"}, {"v1", "job_status/v1"}} {
		sub, err := fs.Sub(good, c.under)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := LoadFolder(sub, c.dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(tree.Contracts) != 1 || tree.Contracts[0].Dir != "job_status/v1" || len(tree.Contracts[0].Cases) == 0 {
			t.Errorf("%s: %d contracts", c.dir, len(tree.Contracts))
		}
	}
	files := baseFiles(t, "restart")
	tree := map[string][]byte{}
	for name, b := range files {
		tree["restart/v1/"+name] = b
	}
	names := func(err error) bool { return err != nil && strings.Contains(err.Error(), "evidence of \"runs\"") }
	if _, err := Load(newMemFS(tree)); !names(err) {
		t.Errorf("a tree without the evidence's contract: %v", err)
	}
	if _, err := LoadFolder(newMemFS(files), "restart/v1"); err == nil || names(err) {
		t.Errorf("the folder alone, without cases: %v", err)
	}
	if _, err := LoadFolder(newMemFS(map[string][]byte{mainFile: make([]byte, maxFileBytes+1)}), "restart/v1"); err == nil ||
		!strings.HasPrefix(err.Error(), "restart/v1/contract.yaml: ") {
		t.Errorf("too large: %v", err)
	}
}
