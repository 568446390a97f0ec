package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteKeepsWhatOthersImport(t *testing.T) {
	root := t.TempDir()
	if err := write(root); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "buf", "validate", "validate.proto")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"package buf.validate;",
		`option go_package = "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate";`,
		"extend google.protobuf.FieldOptions {",
		"message FieldRules {",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("validate.proto lacks %q", want)
		}
	}
}

func TestWriteTouchesNothingWhenIdle(t *testing.T) {
	root := t.TempDir()
	if err := write(root); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "buf", "validate", "validate.proto")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(root); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("an idle run replaced the file")
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("%d files beside each other, want 1: a temporary one stayed", len(entries))
	}
}

func TestWriteRepairsADamagedFile(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "buf", "validate", "validate.proto")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("half a fi"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(root); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte(`syntax = "proto`)) && !bytes.HasPrefix(text, []byte(`edition = "`)) {
		t.Errorf("file starts with %.20q", text)
	}
}
