package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// shared returns a folder of the shared material, or skips the test visibly.
func shared(t testing.TB, name string) string {
	t.Helper()
	roots := []string{os.Getenv("HALLMARK_SHARED"), filepath.Join("..", "..", "shared")}
	for _, root := range roots {
		if root == "" {
			continue
		}
		dir := filepath.Join(root, filepath.FromSlash(name))
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	t.Skipf("ABSENT: %s, neither below HALLMARK_SHARED nor below ../shared", name)
	return ""
}

// TestPublicCases proves the outcome of public bug reports about schemas. Every
// schema of the cases is read; those that are not named here must be taken. // B7
func TestPublicCases(t *testing.T) {
	dir := shared(t, "cases/files")
	refused := map[string]string{
		"054-pattern-lookahead.schema.json":           "look-around (?!…)",
		"058-ref-ssrf-file.schema.json":               "absolute URL",
		"058-ref-ssrf-file.file.schema.json":          "absolute URL",
		"058-ref-ssrf-file.id.schema.json":            "from a file with an $id",
		"059-ref-self-loop.schema.json":               "leads back to itself",
		"060-recursive-anyof-exponential.schema.json": "two recursive branches",
		"067-unknown-keyword-typo.schema.json":        `unknown keyword "requierd"`,
		"069-ref-siblings.draft7.schema.json":         "another dialect",
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.schema.json"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d schemas, %v", len(paths), err)
	}
	seen := 0
	for _, path := range paths {
		name := filepath.Base(path)
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, faults := readSchema(map[string][]byte{name: src, "other.json": []byte(`{}`)}, name)
		want, bad := refused[name]
		switch {
		case bad:
			seen++
			if !strings.Contains(faults.Error(), want) {
				t.Errorf("%s: %v", name, faults)
			}
		case len(faults) > 0:
			t.Errorf("%s: %v", name, faults)
		default:
			// Closed, described, no free map. Bounds are asked only of what reaches an
			// agent, and these cases have no agent fields.
			c := &Contract{Result: Result{Schema: s}}
			for _, f := range lintResultSchema(c) {
				open := strings.Contains(f.Message, "nothing limits") || strings.Contains(f.Message, "is open")
				if f.File != contractFile && !(strings.HasPrefix(name, "032-") && open) {
					t.Errorf("%s: %v", name, f)
				}
			}
		}
	}
	if seen != len(refused) {
		t.Errorf("%d of %d refused cases found", seen, len(refused))
	}
}

// TestSeedSchemas proves that every schema of the source documents passes. // A4, A5, A6
func TestSeedSchemas(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(shared(t, "seeds"), "000*.txt"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, src := range jsonBlocks(string(text)) {
		v, err := strictjson.Parse([]byte(src), strictjson.Ceilings())
		if err != nil || !(v.Member("type").Exists() || v.Member("oneOf").Exists() || v.Member("allOf").Exists()) {
			continue
		}
		found++
		s, faults := readSchema(map[string][]byte{"seed.json": []byte(src)}, "seed.json")
		if len(faults) > 0 {
			t.Errorf("%v", faults)
			continue
		}
		c := &Contract{Result: Result{
			Schema: s, AgentFields: []strictjson.Pointer{{}},
			TextFields: []TextField{{At: strictjson.Pointer{"data", "reviewed_by"}}, {At: strictjson.Pointer{"subject"}}},
		}}
		for _, f := range lintResultSchema(c) {
			if !strings.Contains(f.Message, "text_fields") {
				t.Errorf("%v", f)
			}
		}
	}
	if found != 3 {
		t.Errorf("%d schemas found", found)
	}
}

// jsonBlocks returns the objects that begin and end with a brace in the first column.
func jsonBlocks(text string) []string {
	var blocks []string
	from := -1
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case line == "{":
			from = i
		case line == "}" && from >= 0:
			blocks = append(blocks, strings.Join(lines[from:i+1], "\n"))
			from = -1
		}
	}
	return blocks
}
