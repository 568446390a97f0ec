package contract

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// The digest covers policies, and is what it was where there are none (F3).
func TestPolicyDigest(t *testing.T) {
	const rule = "- {name: a, forbid: {tools: [job_status]}}"
	bare := mustLoad(t, good(t)).Digest
	seen := map[string]string{}
	for name, files := range map[string]map[string]string{
		"no file": {}, "one": {"a.yaml": rule}, "the same elsewhere": {"b.yaml": rule}, "below": {"a/a.yaml": rule}, "a byte more": {"a.yaml": rule + "\n"},
		"two": {"a.yaml": rule, "b.yaml": "[]"}, "a path into the contracts": {"job_status/v1/a.yaml": rule}, "an empty list": {"a.yaml": "[]"},
	} {
		tree, s, err := withPolicies(t, files)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Digest != s.Digest() || (tree.Digest == bare) != (len(files) == 0) {
			t.Errorf("%s: %s, the contracts alone %s", name, tree.Digest, bare)
		}
		if other, ok := seen[tree.Digest]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[tree.Digest] = name
		below, err := fs.Sub(tree.Files, policiesFolder)
		if len(files) == 0 {
			below = nil
		}
		if again, err2 := TakeSnapshot(tree.Files, below); err != nil || err2 != nil || again.Digest() != tree.Digest {
			t.Errorf("%s: its own files have the digest %s, %v, %v", name, again.Digest(), err, err2)
		}
	}
}

// No file among the contracts can pass for a policy, whatever its path.
func TestPolicyCollision(t *testing.T) {
	text := []byte("- {name: a, forbid: {tools: [job_status]}}")
	_, with, err := withPolicies(t, map[string]string{"a.md": string(text)})
	if err == nil {
		t.Fatal("a.md is no policy")
	}
	for _, name := range []string{".policies/a.md", "policies/a.md", "a.md", "policies:a.md"} {
		m := good(t)
		m[name] = &fstest.MapFile{Data: text}
		s, err := TakeSnapshot(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Digest() == with.Digest() {
			t.Errorf("a contracts directory with %s has the digest of one beside a policy", name)
		}
		if tree, err := s.Load(); err == nil && len(tree.Policies) > 0 {
			t.Errorf("%s is enforced", name)
		}
	}
}

// A policies directory has the bounds of a contracts directory, and its links stay
// inside.
func TestPolicySnapshot(t *testing.T) {
	var faults Faults
	large := fstest.MapFS{"a.yaml": {Data: make([]byte, maxFileBytes+1)}}
	if _, err := TakeSnapshot(good(t), large); !errors.As(err, &faults) || len(faults) != 1 || faults[0].File != "policies/a.yaml" {
		t.Errorf("too large: %v", err)
	}
	deepest := fstest.MapFS{strings.Repeat("d/", maxTreeDepth+1) + "a.yaml": {}}
	if _, err := TakeSnapshot(large, deepest); !errors.As(err, &faults) || len(faults) != 2 || !strings.HasPrefix(faults[1].File, "policies/d/d/") {
		t.Errorf("too deep: %v", err)
	}

	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "p.yaml")
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, []byte("- {name: a, forbid: {tools: [job_status]}}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(outside)
	write(filepath.Join(dir, "a.yaml"))
	bare, err := SnapshotOf("testdata/good", "")
	if err != nil {
		t.Fatal(err)
	}
	with, err := SnapshotOf("testdata/good", dir)
	if err != nil || with.Digest() == bare.Digest() {
		t.Errorf("%v, %s", err, with.Digest())
	}
	if tree, err := with.Load(); err != nil || len(tree.Policies) != 1 {
		t.Errorf("%v, %+v", err, tree)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "b.yaml")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := SnapshotOf("testdata/good", dir); err == nil || !strings.Contains(err.Error(), "policies: ") ||
		!strings.Contains(err.Error(), "b.yaml is a link that leads out of the directory; put ") {
		t.Errorf("a link that leads out: %v", err)
	}
	if _, err := SnapshotOf("testdata/good", filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such directory: %v", err)
	}
	if _, err := SnapshotOf("", dir); err == nil {
		t.Error("no contracts directory is named")
	}
}
