package gate

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
)

// What lint and engines find in one contract is listed at once: a missing case hides no
// check that cannot be compiled.
func TestLoadFaultsOfBothKinds(t *testing.T) {
	const file = "deploy_status/v1/contract.yaml"
	files := fstest.MapFS{}
	shipped := os.DirFS("../contracts")
	err := fs.WalkDir(shipped, "deploy_status", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/cases/stale-") || strings.Contains(name, "/cases/duplicate-") {
			return err
		}
		content, err := fs.ReadFile(shipped, name)
		files[name] = &fstest.MapFile{Data: content}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	yaml := strings.Replace(string(files[file].Data), "  checks:\n", "  checks:\n    - {use: magic, with: {}}\n    - {cel: result.nobody == 1}\n", 1)
	files[file] = &fstest.MapFile{Data: []byte(yaml + "colour: red\n")}
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewLoader(registry).Load(files)
	for _, want := range []string{"no case duplicate-member-*.yaml", `unknown key "colour"`, "no check has this name", "undefined field 'nobody'"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in:\n%v", want, err)
		}
	}
}
