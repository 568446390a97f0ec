package contract

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// readPolicies reads the policies directory and lints what it says against the tools of
// the tree. It returns the rules of the files without faults, sorted by name, and adds
// the faults to the others.
func (l *loader) readPolicies(files map[string][]byte, current map[string]int) []Policy {
	var read []*policyFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := path.Join(policiesName, name)
		if !isPolicyFile(name) {
			l.fault(file, "policies stand in .yaml files; take it away", "nothing reads this file")
			continue
		}
		read = append(read, readPolicies(file, files[name]))
	}
	l.lintPolicies(read, current)
	var rules []Policy
	for _, f := range read {
		l.faults = append(l.faults, f.faults...)
		if len(f.faults) == 0 {
			rules = append(rules, f.policies()...)
		}
	}
	sortPolicies(rules)
	return rules
}

// lintCasePolicies lints the files of policies that cases name.
func (l *loader) lintCasePolicies(current map[string]int) {
	names, drafts := l.toolNames(), l.draftsByTool()
	for _, f := range l.policies {
		before := len(f.faults)
		f.lintTools(names, drafts, current)
		l.faults = append(l.faults, f.faults[before:]...)
	}
}

// lintPolicies lints the files of one set of policies.
func (l *loader) lintPolicies(files []*policyFile, current map[string]int) {
	names, drafts := l.toolNames(), l.draftsByTool()
	first := make(map[string]*policyDraft)
	for _, f := range files {
		f.lintNames(first)
		f.lintTools(names, drafts, current)
	}
}

// lintNames sees that no two rules have one name; first holds those that were seen.
func (f *policyFile) lintNames(first map[string]*policyDraft) {
	for _, p := range f.rules {
		switch other := first[p.Name]; {
		case p.Name == "": // a fault already
		case other == nil:
			first[p.Name] = p
		default:
			f.faultAt(p.named, "name one of them otherwise", "%s.name: a policy %s stands in %s:%d too",
				p.path, quote(p.Name), cut(other.File), other.named.line)
		}
	}
}

// lintTools sees that what rules speak of exists: a rule for a tool that does not would
// never apply. Without names nothing is said of tools.
func (f *policyFile) lintTools(names map[string]bool, drafts map[string]map[int]*draft, current map[string]int) {
	for _, p := range f.rules {
		for i, tool := range p.Tools {
			if names != nil && !names[tool] {
				f.faultAt(p.tools[i], "write a contract's tool or one of its aliases, byte for byte",
					"no contract has the tool %s", quote(tool))
			}
		}
		for i, e := range p.Evidence {
			lintRequirement(e, drafts[e.Tool], current[e.Tool], func(key, cure, message string) {
				f.faultAt(placeAround(f.places, indexed(p.path+".require.evidence", i)+key), cure, "%s", message)
			})
		}
	}
}

// toolNames are the names and aliases of all tools; nil where a contract's cannot be
// told.
func (l *loader) toolNames() map[string]bool {
	names := make(map[string]bool)
	for _, d := range l.drafts {
		if d.contract.Tool == "" || d.said("aliases") && !d.good["aliases"] {
			return nil
		}
		names[d.contract.Tool] = true
		for _, alias := range d.contract.Aliases {
			names[alias] = true
		}
	}
	return names
}

// policies returns the rules of a file.
func (f *policyFile) policies() []Policy {
	rules := make([]Policy, len(f.rules))
	for i, p := range f.rules {
		rules[i] = p.Policy
	}
	return rules
}

func sortPolicies(rules []Policy) {
	slices.SortStableFunc(rules, func(a, b Policy) int { return strings.Compare(a.Name, b.Name) })
}

// applicable returns the rules all of whose tools, those of their evidence included,
// the tree holds.
func (t *Tree) applicable(rules []Policy) []Policy {
	names, tools := make(map[string]bool), make(map[string]bool)
	for _, c := range t.Contracts {
		names[c.Tool], tools[c.Tool] = true, true
		for _, alias := range c.Aliases {
			names[alias] = true
		}
	}
	return slices.DeleteFunc(rules, func(p Policy) bool {
		return slices.ContainsFunc(p.Tools, func(tool string) bool { return !names[tool] }) ||
			slices.ContainsFunc(p.Evidence, func(e Evidence) bool { return !tools[e.Tool] })
	})
}
