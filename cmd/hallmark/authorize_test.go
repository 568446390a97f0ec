package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// atFirst is an output that looks at a file when the first byte arrives.
type atFirst struct{ file, saw string }

func (w *atFirst) Write(b []byte) (int, error) {
	if w.saw == "" {
		content, err := os.ReadFile(w.file)
		w.saw = string(content)
		if err != nil {
			w.saw = err.Error()
		}
	}
	return len(b), nil
}

// What was used up for a permit is not lost to a reader who leaves early, as head does:
// the files are whole before anything is printed.
func TestFilesBeforeOutput(t *testing.T) {
	dir := t.TempDir()
	call, grants := filepath.Join(dir, "call.json"), filepath.Join(dir, "grants.json")
	for file, content := range map[string]string{
		call:   `{"path":"/srv/a","content":"x"}`,
		grants: `[{"id":"g","tool":"file_write","not_after":"2026-01-15T18:00:00Z","max_uses":1,"scopes":[{"name":"file","any":true}]}]`,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, output := range []string{"text", "json"} {
		w := &atFirst{file: filepath.Join(dir, output)}
		args := []string{
			"authorize", "--tool", "file_write", "--file", call, "--grants", grants, "--contracts", shipped,
			"--now", "2026-01-15T12:00:00Z", "--output", output, "--arguments-out", w.file,
		}
		code := run(context.Background(), args, strings.NewReader(""), w, io.Discard)
		if want := `{"content":"x","path":"/srv/a"}`; code != 0 || w.saw != want {
			t.Errorf("%s: exit %d, the file held %q at the first byte", output, code, w.saw)
		}
	}
}
