package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// Budgets, in lines and names. They make long things visible; an exception is a row
// in exceptions with its reason, not a higher number.
const (
	maxFileLines     = 400
	maxFunctionLines = 60  // from func to the closing brace; tests may hold long tables
	maxRootLines     = 100 // in the composition root
	maxExported      = 40  // top-level names of a package
)

// composition lists the files whose functions wire everything together.
var composition = []string{"cmd/hallmark/main.go", "cmd/hallmark/serve.go", "server/app.go"}

// exceptions names what may exceed its budget and why. The key is what the fault
// names: a file, "file:Function", or a package. One that excuses nothing is a fault.
var exceptions = map[string]string{
	"contract": "the words of one file format: a type for each thing that a contract can say, and no behaviour to split it by",
	"gate":     "the ways through, each with its request, its reply and what lies between, as plain data",
}

// overrun is one thing beyond its budget.
type overrun struct{ key, fault string }

// budgets returns what is too large and not excused, exceptions that excuse nothing,
// and exported names that say nothing about themselves.
func (t *tree) budgets(excused map[string]string) []string {
	over := append(t.sizes(), t.exported()...)
	var faults []string
	used := make(map[string]bool)
	for _, o := range over {
		if _, ok := excused[o.key]; ok {
			used[o.key] = true
			continue
		}
		faults = append(faults, o.fault)
	}
	for _, key := range slices.Sorted(maps.Keys(excused)) {
		if !used[key] {
			faults = append(faults, fmt.Sprintf("exception %q excuses nothing: remove it", key))
		}
	}
	return append(faults, t.undocumented()...)
}

// sizes returns long files and long functions; generated files have no budget.
func (t *tree) sizes() []overrun {
	var over []overrun
	for _, s := range t.sources {
		if ast.IsGenerated(s.ast) {
			continue
		}
		if s.lines > maxFileLines {
			over = append(over, overrun{s.path, fmt.Sprintf("%s: %d lines, %d are allowed", s.path, s.lines, maxFileLines)})
		}
		if s.test {
			continue
		}
		limit := maxFunctionLines
		if slices.Contains(composition, s.path) {
			limit = maxRootLines
		}
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := t.fset.Position(f.End()).Line - t.fset.Position(f.Pos()).Line + 1
			if lines > limit {
				over = append(over, overrun{s.path + ":" + f.Name.Name, t.at(s, f.Pos(), "%s has %d lines, %d are allowed", f.Name.Name, lines, limit)})
			}
		}
	}
	return over
}

// exported returns packages with too many exported names. Methods belong to their
// type, and so do constants of a type that the package declares.
func (t *tree) exported() []overrun {
	count := make(map[string]int)
	for _, s := range t.sources {
		if s.test || ast.IsGenerated(s.ast) {
			continue
		}
		for _, d := range s.ast.Decls {
			count[s.folder] += names(d)
		}
	}
	var over []overrun
	for _, folder := range slices.Sorted(maps.Keys(count)) {
		if n := count[folder]; n > maxExported {
			over = append(over, overrun{folder, fmt.Sprintf("%s: %d exported names, %d are allowed", folder, n, maxExported)})
		}
	}
	return over
}

// names counts the exported names of one declaration.
func names(d ast.Decl) int {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			return 1
		}
	case *ast.GenDecl:
		return groupNames(d)
	}
	return 0
}

// groupNames counts a group of types, variables or constants. In a group of
// constants a line without a type and a value repeats the type above it.
func groupNames(d *ast.GenDecl) int {
	n := 0
	typed := false
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				n++
			}
		case *ast.ValueSpec:
			if spec.Type != nil || len(spec.Values) > 0 {
				own, ok := spec.Type.(*ast.Ident)
				typed = d.Tok == token.CONST && ok && own.IsExported()
			}
			for _, name := range spec.Names {
				if name.IsExported() && !typed {
					n++
				}
			}
		}
	}
	return n
}

// plain are methods whose meaning is their interface's.
var plain = []string{"Error", "Is", "String", "Unwrap"}

// undocumented returns exported names without a comment, commands and tests apart.
func (t *tree) undocumented() []string {
	var faults []string
	for _, s := range t.sources {
		if s.test || s.ast.Name.Name == "main" || ast.IsGenerated(s.ast) {
			continue
		}
		for _, d := range s.ast.Decls {
			for _, name := range silent(d) {
				faults = append(faults, t.at(s, name.Pos(), "%s has no comment", name.Name))
			}
		}
	}
	return faults
}

// silent returns the exported names of a declaration that no comment is about. The
// comment of a group speaks for its variables and constants, never for its types.
func silent(d ast.Decl) []*ast.Ident {
	var quiet []*ast.Ident
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && visible(d.Recv) && (d.Recv == nil || !slices.Contains(plain, d.Name.Name)) {
			quiet = append(quiet, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && spec.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
					quiet = append(quiet, spec.Name)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() && spec.Doc == nil && spec.Comment == nil && d.Doc == nil {
						quiet = append(quiet, name)
					}
				}
			}
		}
	}
	return quiet
}

// visible reports whether a receiver is absent or of an exported type.
func visible(recv *ast.FieldList) bool {
	if recv == nil || len(recv.List) == 0 {
		return true
	}
	name := ""
	ast.Inspect(recv.List[0].Type, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok && name == "" {
			name = ident.Name
		}
		return name == ""
	})
	return ast.IsExported(name)
}
