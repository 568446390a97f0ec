package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
)

// nameless are folder and package names that say nothing about what is inside.
var nameless = []string{"util", "utils", "common", "types", "shared", "pkg", "helpers", "misc"}

// clockless are the rooms in which now is a parameter: what they say about given
// bytes at a given time must come out the same on every replica and in every test.
var clockless = []string{"contract", "policy", "validators", "validators/"}

// bans returns what sources contain that none may.
func (t *tree) bans() []string {
	var faults []string
	seen := make(map[string]bool)
	for _, s := range t.sources {
		for _, name := range []string{path.Base(s.folder), s.ast.Name.Name} {
			if slices.Contains(nameless, name) && !seen[s.folder] {
				seen[s.folder] = true
				faults = append(faults, fmt.Sprintf("%s: a package named %s names nothing; call it after what it does", s.folder, name))
			}
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if fault := t.ban(s, n); fault != "" {
				faults = append(faults, fault)
			}
			return true
		})
	}
	return faults
}

// ban judges one node; empty means nothing is wrong with it.
func (t *tree) ban(s source, n ast.Node) string {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			return t.at(s, n.Pos(), "func init: registration is an explicit line in the composition root")
		}
	case *ast.TypeSpec:
		if _, ok := n.Type.(*ast.InterfaceType); ok && n.Name.Name == "Stage" {
			return t.at(s, n.Pos(), "interface Stage: the data path is straight functions with typed hand-over")
		}
	case *ast.SelectorExpr:
		if refers(s, n, "context", "WithValue") && s.folder != "server" {
			return t.at(s, n.Pos(), "context.WithValue: values are parameters; only the server's interceptors may")
		}
		if !s.test && slices.ContainsFunc(clockless, func(name string) bool { return within(s.folder, name) }) {
			for _, name := range []string{"Now", "Since", "Until"} {
				if refers(s, n, "time", name) {
					return t.at(s, n.Pos(), "time.%s: now is a parameter of the core", name)
				}
			}
		}
	}
	return ""
}

// refers reports whether a selector means a name of a package of the standard
// library, under whatever name the file imports it.
func refers(s source, n *ast.SelectorExpr, pkg, name string) bool {
	ident, ok := n.X.(*ast.Ident)
	if !ok || n.Sel.Name != name {
		return false
	}
	for _, spec := range s.ast.Imports {
		if importPath(spec) != pkg {
			continue
		}
		local := path.Base(pkg)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if ident.Name == local {
			return true
		}
	}
	return false
}
