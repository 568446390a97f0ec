package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// alone fails where the directory holds anything but the file with this content and mode.
func alone(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("the file holds %q, %v; want %q", got, err, content)
	}
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode() != mode {
		t.Errorf("the file's mode is %s, want %s", info.Mode(), mode)
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		content string
		mode    fs.FileMode
	}{{"first", 0o600}, {"", 0o640}, {"second", 0o644}} {
		if err := Replace(path, []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		alone(t, path, c.content, c.mode)
	}
	if err := Replace(filepath.Join(path, "below"), nil, 0o600); err == nil {
		t.Error("a file was made below a file")
	}
	if err := Replace(filepath.Join(filepath.Dir(path), "nowhere", "f"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a directory that is not there: %v", err)
	}
	alone(t, path, "second", 0o644)
}

// A directory that stands where the file should be keeps what it holds, and nothing is
// left beside it.
func TestReplaceRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "d", "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "d"), []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Create(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a file = %v", err)
	}
	alone(t, path, "first", 0o600)
}

// Of several that create one file, one does, and its content is whole and stays.
func TestCreateTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var made atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			switch err := Create(path, bytes.Repeat([]byte{byte('a' + i)}, 4096)); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
			content, err := os.ReadFile(path)
			if err != nil || len(content) != 4096 || bytes.Count(content, content[:1]) != 4096 {
				t.Errorf("read %d bytes, %v", len(content), err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d made the file", made.Load())
	}
}
