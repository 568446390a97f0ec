package receipt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hallmark-gate/hallmark/internal/durable"
)

// readFile reads the keys of a set's file.
func readFile(dir string, set Set) ([]*jwk, error) {
	kind, _, err := set.kindOf()
	if err != nil {
		return nil, err
	}
	if err := guarded(dir, 0o002); err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, string(set)+fileExtension))
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, cause(err)
	}
	// A group may read: that is how orchestrators mount secrets for a process that is
	// not root. Nobody else may, and nobody but the owner may write.
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o027 != 0 {
		return nil, ErrExposed
	}
	content, err := io.ReadAll(io.LimitReader(f, maxSet+1)) // readSet refuses one byte over
	if err != nil {
		return nil, cause(err)
	}
	return readSet(kind, content, false)
}

// guarded refuses a directory with one of the bits, unless it is sticky: in one that is,
// others cannot replace our files.
func guarded(dir string, bits fs.FileMode) error {
	info, err := os.Stat(dir)
	if err != nil {
		return cause(err)
	}
	if !info.IsDir() {
		return fmt.Errorf("not a directory: %w", fs.ErrInvalid)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&bits != 0 && info.Mode()&fs.ModeSticky == 0 {
		return ErrExposed
	}
	return nil
}

// cause cuts the path from an error of package os; a DirError has it already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// writeFile replaces a set's file: whoever reads it meanwhile, or after a crash, finds
// the old one or the new one, whole.
func writeFile(dir string, set Set, keys []*jwk) error {
	path := filepath.Join(dir, string(set)+fileExtension)
	content, ok := appendSet(nil, keys)
	if !ok || len(content) > maxSet {
		return &DirError{path, Kind(0).fail(TooLarge, "keys")}
	}
	if err := durable.Replace(path, append(content, '\n'), 0o600); err != nil {
		return &DirError{path, cause(err)}
	}
	return nil
}

// locked runs f while no other process changes the keys.
func locked(dir string, f func() error) error {
	if err := guarded(dir, 0o077); err != nil {
		return &DirError{dir, err}
	}
	unlock, err := lock(filepath.Join(dir, lockFile))
	if err != nil {
		return &DirError{dir, cause(err)}
	}
	defer unlock()
	return f()
}
