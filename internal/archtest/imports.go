package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// arrows checks every import against the table, both of rooms and of libraries, and
// returns the faults in order of their files.
func (t *tree) arrows(table map[string]room) []string {
	var faults []string
	unknown := make(map[string]bool)
	for _, s := range t.sources {
		row, ok := find(table, s.folder)
		if !ok {
			if !unknown[s.folder] {
				faults = append(faults, fmt.Sprintf(
					"%s: no room of this name; decide in internal/archtest/rooms.go what it may import, and say in the architecture why it fits no other room", s.folder))
			}
			unknown[s.folder] = true
			continue
		}
		for _, spec := range s.ast.Imports {
			if fault := t.arrow(table, row, s, spec); fault != "" {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

// arrow judges one import of a source that has a row; empty means allowed.
func (t *tree) arrow(table map[string]room, row room, s source, spec *ast.ImportSpec) string {
	path := importPath(spec)
	target, own := ours(path)
	if !own {
		return t.library(s, spec, path)
	}
	if row.all || slices.Contains(row.imports, target) {
		return ""
	}
	allowed := row.imports
	if s.test {
		allowed = slices.Concat([]string{s.folder}, reach(table, row), row.tests)
		if slices.Contains(allowed, target) {
			return ""
		}
	}
	return t.at(s, spec.Pos(), "%s may not import %s; it may import: %s", s.folder, target, list(allowed))
}

// library judges an import of somebody else's package.
func (t *tree) library(s source, spec *ast.ImportSpec, path string) string {
	for _, rule := range outside {
		if path != rule.prefix && !strings.HasPrefix(path, rule.prefix+"/") {
			continue
		}
		for _, name := range rule.rooms {
			if within(s.folder, name) {
				return ""
			}
		}
		return t.at(s, spec.Pos(), "%s may not import %s (%s); it is for: %s", s.folder, path, rule.why, list(rule.rooms))
	}
	return ""
}

// graph returns the arrows that the sources draw, tests left out: an external test
// may well import what imports its package.
func (t *tree) graph() map[string][]string {
	g := make(map[string][]string)
	for _, s := range t.sources {
		if s.test {
			continue
		}
		for _, spec := range s.ast.Imports {
			if target, own := ours(importPath(spec)); own && !slices.Contains(g[s.folder], target) {
				g[s.folder] = append(g[s.folder], target)
			}
		}
	}
	return g
}

// cycles returns one line for each cycle that a walk from the rooms in order meets.
func cycles(graph map[string][]string) []string {
	const (
		open = 1
		done = 2
	)
	var faults, trail []string
	state := make(map[string]int)
	var visit func(string)
	visit = func(name string) {
		state[name] = open
		trail = append(trail, name)
		for _, next := range slices.Sorted(slices.Values(graph[name])) {
			switch state[next] {
			case open:
				loop := append(slices.Clone(trail[slices.Index(trail, next):]), next)
				faults = append(faults, "cycle: "+strings.Join(loop, " -> "))
			case done:
			default:
				visit(next)
			}
		}
		trail = trail[:len(trail)-1]
		state[name] = done
	}
	for _, name := range slices.Sorted(maps.Keys(graph)) {
		if state[name] == 0 {
			visit(name)
		}
	}
	return faults
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
