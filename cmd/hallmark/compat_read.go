package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// contracts is what one side of a comparison holds.
type contracts struct {
	tree *contract.Tree
	one  bool // a single version's folder
	// whole says that it is a contracts directory, in which serving.yaml can say which
	// versions are served.
	whole bool
}

var versionFolder = regexp.MustCompile(`^v[1-9][0-9]{0,5}$`)

// readContracts reads a version's folder, a tool's folder or a contracts directory,
// whichever dir is. Of a folder nothing but itself is read.
func readContracts(dir string) (contracts, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return contracts{}, fmt.Errorf("%s is not a directory; name a contract's folder or the directory that holds them", printable(dir))
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return contracts{}, err
	}
	name, above := filepath.Base(absolute), filepath.Base(filepath.Dir(absolute))
	root, err := os.OpenRoot(dir)
	if err != nil {
		return contracts{}, err
	}
	defer root.Close() // opened for reading: closing can lose nothing
	fsys := root.FS()
	c := contracts{}
	switch {
	case isFile(fsys, "contract.yaml") && !versionFolder.MatchString(name):
		return contracts{}, fmt.Errorf("%s holds a contract, but its name is no version; a contract stands in <tool>/v<N>", printable(dir))
	case isFile(fsys, "contract.yaml"):
		c.one = true
		c.tree, err = contract.LoadFolder(fsys, path.Join(folderName(above), name))
	case holdsVersions(fsys):
		c.tree, err = contract.LoadFolder(fsys, folderName(name))
	default:
		c.whole = true
		c.tree, err = contract.Load(fsys)
	}
	if err != nil {
		return contracts{}, refusedContracts(dir, err)
	}
	return c, nil
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && !info.IsDir()
}

// holdsVersions reports whether fsys is a tool's folder.
func holdsVersions(fsys fs.FS) bool {
	entries, err := fs.ReadDir(fsys, ".")
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return versionFolder.MatchString(e.Name()) && isFile(fsys, e.Name()+"/contract.yaml")
	})
}

// folderName is a directory's name where it can be a tool's folder; what stands at the
// root of a file system gets one.
func folderName(name string) string {
	if !fs.ValidPath(name) || name == "." {
		return "tool"
	}
	return name
}

// contractPair is two contracts that are compared.
type contractPair struct{ old, now *contract.Contract }

// compare lists the changes of one pair, then how the old cases are judged now.
func (p contractPair) compare(ctx context.Context, set *gate.Set) ([]compatRow, error) {
	var rows []compatRow
	row := func(c contract.Change) {
		rows = append(rows, compatRow{
			Tool: p.now.Tool, OldVersion: p.old.Version, NewVersion: p.now.Version, Raised: p.now.Version > p.old.Version,
			Class: c.Class, Kind: c.Kind, At: c.At, Old: c.Old, New: c.New, Detail: c.Detail,
		})
	}
	for _, c := range contract.Compare(p.old, p.now) {
		row(c)
	}
	differences, err := casetest.Replay(ctx, p.old, p.now, set)
	if err != nil {
		return nil, err
	}
	for _, d := range differences {
		row(contract.Change{
			Class: classReplay, Kind: "case-differs", At: fmt.Sprintf("%s:%d", d.File, d.Line),
			Old: d.Want, New: d.Got, Detail: d.Member,
		})
	}
	return rows, nil
}
