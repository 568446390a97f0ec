package contract

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"
)

// Bounds of one directory.
const (
	maxFileBytes  = 1 << 20
	maxTreeBytes  = 1 << 30
	maxEntryCount = 1_000_000
	maxTreeDepth  = 16
)

// errTooMuch ends a walk whose directory is refused as a whole.
var errTooMuch = errors.New("the directory is refused")

// Snapshot is the content of a contracts directory, and of a policies directory beside
// it, read once into memory, so that what was compared is what is linted and compiled.
// It is immutable and safe for concurrent use. The zero Snapshot is that of an empty
// directory, without a digest.
type Snapshot struct {
	files    map[string][]byte // of the contracts
	policies map[string][]byte // by path below their own directory
	digest   string
}

// TakeSnapshot reads every file below contracts, and below policies unless that is nil,
// whose path has no name beginning with ".". Symbolic links are followed as far as the
// file systems follow them: a mounted ConfigMap holds nothing but links into its hidden
// ..data. The error is one of reading, or [Faults] where a directory exceeds its bounds
// (for each those of [Load]).
//
// Reading takes time, and files may change meanwhile: whoever reads a directory that
// others write takes snapshots until two have the same digest.
func TakeSnapshot(contracts, policies fs.FS) (Snapshot, error) {
	var s Snapshot
	var faults, more Faults
	var err error
	if s.files, faults, err = readFiles(contracts); err != nil {
		return Snapshot{}, err
	}
	if policies != nil {
		if s.policies, more, err = readFiles(policies); err != nil {
			return Snapshot{}, fmt.Errorf("policies: %w", err)
		}
		for i, f := range more {
			more[i].File = path.Join(policiesName, f.File)
		}
	}
	if faults = append(faults, more...); len(faults) > 0 {
		return Snapshot{}, faults.Sort()
	}
	s.digest = digest(s.covered())
	return s, nil
}

// SnapshotOf is [TakeSnapshot] of directories of this machine; policies is "" where
// there are none. A link that leads out of its directory is an error: nothing elsewhere
// is opened, and none of its bytes can come to stand in a fault. The directories
// themselves may be links.
func SnapshotOf(contracts, policies string) (Snapshot, error) {
	var dirs [2]fs.FS
	for i, dir := range []string{contracts, policies} {
		if i > 0 && dir == "" {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return Snapshot{}, fmt.Errorf("contract: open directory: %w", err)
		}
		defer root.Close() // opened for reading: closing can lose nothing
		dirs[i] = root.FS()
	}
	return TakeSnapshot(dirs[0], dirs[1])
}

// covered returns the files that the digest covers.
func (s Snapshot) covered() map[string][]byte {
	if len(s.policies) == 0 {
		return s.files
	}
	all := maps.Clone(s.files)
	for name, b := range s.policies {
		all[path.Join(policiesFolder, name)] = b
	}
	return all
}

// Digest returns what [Tree.Digest] says of the same files.
func (s Snapshot) Digest() string { return s.digest }

// A reading is one pass over a directory.
type reading struct {
	fsys    fs.FS
	files   map[string][]byte
	faults  Faults
	entries int
	bytes   int
}

// readFiles reads the files of a snapshot. An error is one of reading; faults are
// bounds that the directory exceeds.
func readFiles(fsys fs.FS) (map[string][]byte, Faults, error) {
	s := &reading{fsys: fsys, files: make(map[string][]byte)}
	if err := s.directory(".", 0); err != nil && !errors.Is(err, errTooMuch) {
		return nil, nil, err
	}
	return s.files, s.faults.Sort(), nil
}

func (s *reading) refuse(file, format string, args ...any) {
	s.faults = append(s.faults, Fault{File: file, Message: fmt.Sprintf(format, args...)})
}

func (s *reading) directory(name string, depth int) error {
	if depth > maxTreeDepth {
		s.refuse(name, "directories are nested deeper than %d", maxTreeDepth)
		return errTooMuch
	}
	entries, err := fs.ReadDir(s.fsys, name)
	if err != nil {
		return fmt.Errorf("contract: read directory: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if s.entries++; s.entries > maxEntryCount {
			s.refuse(".", "the directory holds more than %d entries", maxEntryCount)
			return errTooMuch
		}
		if err := s.entry(path.Join(name, e.Name()), depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *reading) entry(name string, depth int) error {
	// Stat, not the entry's own type: it follows links.
	info, err := fs.Stat(s.fsys, name)
	switch {
	case err != nil && strings.Contains(err.Error(), "escapes from parent"): // os.Root has no name for it
		return fmt.Errorf("contract: %s is a link that leads out of the directory; put what it leads to in its place", name)
	case err != nil:
		return fmt.Errorf("contract: read file: %w", err)
	case info.IsDir():
		return s.directory(name, depth+1)
	case !info.Mode().IsRegular():
		s.refuse(name, "not a regular file")
		return nil
	}
	return s.file(name)
}

func (s *reading) file(name string) error {
	f, err := s.fsys.Open(name)
	if err != nil {
		return fmt.Errorf("contract: read file: %w", err)
	}
	defer f.Close() // opened for reading: closing can lose nothing
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return fmt.Errorf("contract: read file %s: %w", name, err)
	}
	if len(b) > maxFileBytes {
		s.refuse(name, "the file is larger than %d bytes", maxFileBytes)
		return nil
	}
	if s.bytes += len(b); s.bytes > maxTreeBytes {
		s.refuse(".", "the files are larger than %d bytes together", maxTreeBytes)
		return errTooMuch
	}
	s.files[name] = b
	return nil
}
