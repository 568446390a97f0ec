package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plant writes files below a new folder and loads it as a tree.
func plant(t *testing.T, files map[string]string) *tree {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	planted, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return planted
}

// want fails unless the faults are exactly those that hold the fragments, in order.
func want(t *testing.T, faults []string, fragments ...string) {
	t.Helper()
	if len(faults) != len(fragments) {
		t.Fatalf("%d faults, want %d:\n%s", len(faults), len(fragments), strings.Join(faults, "\n"))
	}
	for i, fragment := range fragments {
		if !strings.Contains(faults[i], fragment) {
			t.Errorf("fault %q lacks %q", faults[i], fragment)
		}
	}
}

// file writes a source of a package that imports what it is given.
func file(pkg string, imports ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", pkg)
	for _, path := range imports {
		fmt.Fprintf(&b, "import _ %q\n", path)
	}
	return b.String()
}

func TestArrows(t *testing.T) {
	const own = module + "/"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"an allowed arrow", map[string]string{
			"contract/a.go": file("contract", own+"validators/strictjson", "strings"),
		}, nil},
		{"a forbidden arrow", map[string]string{
			"policy/a.go": file("policy", own+"audit"),
		}, []string{"policy/a.go:2: policy may not import audit; it may import: validators/condition, "}},
		{"the core and gen", map[string]string{
			"gate/a.go": file("gate", own+"gen/hallmark/v1"),
		}, []string{"gate may not import gen"}},
		{"server and gen", map[string]string{
			"server/a.go": file("server", own+"gen/hallmark/v1", "google.golang.org/grpc/codes"),
		}, nil},
		{"an unknown room", map[string]string{
			"gatekeeper/a.go": file("gatekeeper"),
			"gatekeeper/b.go": file("gatekeeper", own+"audit"),
		}, []string{"gatekeeper: no room of this name; decide"}},
		{"a folder in a room is a room", map[string]string{
			"audit/mysql/a.go": file("mysql"),
		}, []string{"audit/mysql: no room of this name"}},
		{"the root is no room", map[string]string{"a.go": file("hallmark")}, []string{".: no room"}},
		{"a build tag hides nothing", map[string]string{
			"policy/a_plan9.go": "//go:build never\n\n" + file("policy", own+"receipt"),
		}, []string{"policy may not import receipt"}},
		{"commands see all", map[string]string{
			"cmd/hallmark/a.go": file("main", own+"gate", own+"gen/hallmark/v1", "google.golang.org/grpc"),
		}, nil},
		{"grpc in the core", map[string]string{
			"gate/a.go": file("gate", "google.golang.org/grpc/status"),
		}, []string{"gate may not import google.golang.org/grpc/status"}},
		{"a prefix ends at a slash", map[string]string{
			"gate/a.go": file("gate", "google.golang.org/grpcurl"),
		}, nil},
		{"cel outside condition", map[string]string{
			"policy/a.go": file("policy", "cel.dev/cel-go/cel"),
		}, []string{"one package knows CEL"}},
		{"the schema engine outside schema", map[string]string{
			"contract/a.go": file("contract", "github.com/santhosh-tekuri/jsonschema/v6"),
		}, []string{"one package knows the schema engine"}},
		{"yaml in a validator", map[string]string{
			"validators/a.go": file("validators", "go.yaml.in/yaml/v4"),
		}, []string{"results are never YAML"}},
		{"the old yaml anywhere", map[string]string{
			"contract/a.go": file("contract", "gopkg.in/yaml.v3"),
		}, []string{"it is for: nothing"}},
		{"a test reaches what its room reaches", map[string]string{
			"gate/a_test.go": file("gate_test", own+"gate", own+"validators/schema", own+"audit/audittest"),
		}, nil},
		{"a test is not free", map[string]string{
			"validators/strictjson/a_test.go": file("strictjson", own+"validators"),
		}, []string{"validators/strictjson may not import validators"}},
		{"a test of the core and gen", map[string]string{
			"gate/a_test.go": file("gate", own+"gen/hallmark/v1"),
		}, []string{"gate may not import gen"}},
		{"what is not read", map[string]string{
			"gen/hallmark/v1/a.go":  file("hallmarkv1", own+"gate"),
			"gate/testdata/x/a.go":  file("x", own+"gen"),
			".tmp/a.go":             file("x"),
			"tools/go.mod":          "module x\n",
			"tools/x/a.go":          file("main", own+"gate"),
			"gate/a.go":             file("gate", own+"audit"),
			"validators/_old/a.go":  file("old"),
			"deploy/vendor/x/a.go":  file("x"),
			"contracts/v1/data.yml": "x: 1\n",
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { want(t, plant(t, tt.files).arrows(rooms), tt.want...) })
	}
}

func TestCycles(t *testing.T) {
	planted := plant(t, map[string]string{
		"a/a.go":      file("a", module+"/b"),
		"b/b.go":      file("b", module+"/c", module+"/d"),
		"c/c.go":      file("c", module+"/a"),
		"d/d.go":      file("d"),
		"d/d_test.go": file("d_test", module+"/a"),
	})
	want(t, cycles(planted.graph()), "cycle: a -> b -> c -> a")
	want(t, cycles(map[string][]string{"a": {"b", "c"}, "b": {"d"}, "c": {"d"}})) // a diamond is none
}

func TestLoadRefusesWhatDoesNotParse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\nfunc {"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil {
		t.Error("a broken file passed")
	}
}

func TestBans(t *testing.T) {
	for _, tt := range []struct {
		name, path, content string
		want                []string
	}{
		{"init", "gate/a.go", "package gate\nfunc init() {}\n", []string{"gate/a.go:2: func init"}},
		{"a method named init", "gate/a.go", "package gate\ntype t int\nfunc (t) init() {}\n", nil},
		{"Stage", "gate/a.go", "package gate\ntype Stage interface{ Run() }\n", []string{"interface Stage"}},
		{"a struct named Stage", "gate/a.go", "package gate\ntype Stage struct{}\n", nil},
		{"a value in a context", "gate/a.go", "package gate\nimport c \"context\"\nvar f = c.WithValue\n", []string{"gate/a.go:3: context.WithValue"}},
		{"the server's context", "server/a.go", "package server\nimport \"context\"\nvar f = context.WithValue\n", nil},
		{"somebody else's WithValue", "gate/a.go", "package gate\nimport \"x/context\"\nvar f = context.WithValue\n", nil},
		{"a clock in the core", "validators/semantic/a.go", "package semantic\nimport \"time\"\nvar f = time.Now\n", []string{"now is a parameter"}},
		{"a clock in a test of the core", "policy/a_test.go", "package policy\nimport \"time\"\nvar f = time.Now\n", nil},
		{"a clock at the edge", "server/a.go", "package server\nimport \"time\"\nvar f = time.Since\n", nil},
		{"a folder that names nothing", "gate/util/a.go", "package clean\n", []string{"gate/util: a package named util"}},
		{"a package that names nothing", "gate/x/a.go", "package types\n", []string{"gate/x: a package named types"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want(t, plant(t, map[string]string{tt.path: tt.content}).bans(), tt.want...)
		})
	}
}
