package outside

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The tests that use this package lie in folders of the root.
const root = ".."

var buildDir string // removed by Main

// built builds the binary once for all tests of a package.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hallmark-outside-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "hallmark")
	// Without what debuggers need it is linked in half the time.
	//nolint:gosec // our own sources
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, root+"/cmd/hallmark").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// Main runs the tests of a package and removes what was built for them; its result is for
// os.Exit in TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir) // it is below the directory for temporary files
	}
	return code
}

// Binary returns the path of the binary, which the first call builds.
func Binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Run runs a command of the binary to its end, which must be a good one. env is added to
// the test's own.
func Run(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(Binary(t), args...) //nolint:gosec // our own binary
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// Shipped copies some of the contracts that ship into a directory; without names it is
// the directory of all, which nobody changes.
func Shipped(t *testing.T, tools ...string) string {
	t.Helper()
	all := root + "/contracts"
	if len(tools) == 0 {
		return all
	}
	dir := filepath.Join(t.TempDir(), "contracts")
	for _, tool := range tools {
		if err := os.CopyFS(filepath.Join(dir, tool), os.DirFS(filepath.Join(all, tool))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
