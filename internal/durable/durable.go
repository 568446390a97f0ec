// Package durable writes small files that are whole whenever somebody reads them: during
// the write, after a crash and after a loss of power. What it writes lies beside the file
// first, so it needs the right to make files in the directory.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Replace puts content in the place of the file at path, or makes the file, with this
// mode whatever the umask. Whoever opens it meanwhile finds the old content or the new.
func Replace(path string, content []byte, mode fs.FileMode) error {
	beside, err := writeBeside(path, content, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(beside, path); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return SyncDir(filepath.Dir(path))
}

// Create makes the file at path for its owner alone. It never replaces: the error is
// [fs.ErrExist] where another was first, also at the same moment. The file system must
// have hard links.
func Create(path string, content []byte) error {
	beside, err := writeBeside(path, content, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(beside) //nolint:errcheck // the file has another name by now, or none is wanted
	if err := os.Link(beside, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// writeBeside writes a new file in the directory of path and returns its name.
func writeBeside(path string, content []byte, mode fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// SyncDir flushes the names in a directory, so that those which were made last. Windows
// has no such call and needs none.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
