package contract

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"
)

// A memFS serves files from memory. It is immutable and safe for concurrent use.
type memFS struct {
	files map[string][]byte
	dirs  map[string][]fs.DirEntry // sorted by name; every directory, "." included
}

func newMemFS(files map[string][]byte) *memFS {
	m := &memFS{files: files, dirs: map[string][]fs.DirEntry{".": nil}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		m.link(name, memInfo{name: path.Base(name), size: int64(len(files[name]))})
	}
	for dir, entries := range m.dirs {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return bytes.Compare([]byte(a.Name()), []byte(b.Name())) })
		m.dirs[dir] = entries
	}
	return m
}

// link enters a file or directory into its parent, and the parents as needed.
func (m *memFS) link(name string, info memInfo) {
	for {
		parent := path.Dir(name)
		_, known := m.dirs[parent]
		m.dirs[parent] = append(m.dirs[parent], info)
		if known || parent == "." {
			return
		}
		name, info = parent, memInfo{name: path.Base(parent), dir: true}
	}
}

// Open implements fs.FS.
func (m *memFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if b, ok := m.files[name]; ok {
		return &memFile{Reader: bytes.NewReader(b), info: memInfo{name: path.Base(name), size: int64(len(b))}}, nil
	}
	if entries, ok := m.dirs[name]; ok {
		return &memDir{info: memInfo{name: path.Base(name), dir: true}, rest: entries}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadFile implements fs.ReadFileFS; the caller owns the result.
func (m *memFS) ReadFile(name string) ([]byte, error) {
	if b, ok := m.files[name]; ok {
		return bytes.Clone(b), nil
	}
	err := fs.ErrNotExist
	if _, ok := m.dirs[name]; ok || !fs.ValidPath(name) {
		err = fs.ErrInvalid
	}
	return nil, &fs.PathError{Op: "read", Path: name, Err: err}
}

// memInfo describes a file or directory, as its own entry too.
type memInfo struct {
	name string
	size int64
	dir  bool
}

func (i memInfo) Name() string               { return i.name }
func (i memInfo) Size() int64                { return i.size }
func (i memInfo) ModTime() time.Time         { return time.Time{} }
func (i memInfo) IsDir() bool                { return i.dir }
func (i memInfo) Sys() any                   { return nil }
func (i memInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i memInfo) Info() (fs.FileInfo, error) { return i, nil }

func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// memFile reads, seeks and reads at offsets through its bytes.Reader.
type memFile struct {
	*bytes.Reader
	info memInfo
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memFile) Close() error               { return nil }

type memDir struct {
	info memInfo
	rest []fs.DirEntry
}

func (d *memDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *memDir) Close() error               { return nil }

func (d *memDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: fs.ErrInvalid}
}

func (d *memDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	entries := slices.Clone(d.rest[:n])
	d.rest = d.rest[n:]
	return entries, nil
}
