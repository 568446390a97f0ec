package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// source is one parsed file.
type source struct {
	path   string // below the root, with slashes
	folder string // its room
	test   bool   // a _test.go file
	ast    *ast.File
	lines  int
}

// tree is every source of a module that the rules speak about.
type tree struct {
	fset    *token.FileSet
	sources []source
}

// load parses the sources below root. A file that does not parse is an error: a rule
// that cannot be checked is not kept.
func load(root string) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			if relative != "." && unread(path, relative) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(relative, ".go") {
			return nil
		}
		return t.add(path, relative)
	})
	return t, err
}

// unread reports whether a folder is outside the rules.
func unread(path, relative string) bool {
	name := filepath.Base(path)
	if relative == "gen" || name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func (t *tree) add(path, relative string) error {
	file, err := parser.ParseFile(t.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder := filepath.ToSlash(filepath.Dir(relative))
	t.sources = append(t.sources, source{
		path:   relative,
		folder: folder,
		test:   strings.HasSuffix(relative, "_test.go"),
		ast:    file,
		lines:  t.fset.File(file.Pos()).LineCount(),
	})
	return nil
}

// at writes a fault with its place.
func (t *tree) at(s source, pos token.Pos, message string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, t.fset.Position(pos).Line, fmt.Sprintf(message, args...))
}

// importPath returns the unquoted path of an import; the parser has checked its form.
func importPath(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value)
	return path
}

// ours returns the room that a path names, and whether it is one of the module's.
// All generated packages are the one room gen.
func ours(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	name, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return "", false
	}
	if name == "gen" || strings.HasPrefix(name, "gen/") {
		return "gen", true
	}
	return name, true
}
