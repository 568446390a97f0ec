package validators

import (
	"slices"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/condition"
)

// Set is every tool of one contracts directory, compiled. It is immutable and safe for
// concurrent use.
type Set struct {
	digest string
	tools  []*Tool
	byName map[string]*served          // tool names and aliases
	shapes map[string]*condition.Shape // of the current arguments, by the same names
}

// served are the live versions of one tool.
type served struct {
	current int
	live    map[int]*Tool
}

func (s *Set) add(t *Tool, tree *contract.Tree) {
	c := t.Contract
	current := tree.Current[c.Tool]
	t.Current = c.Version == current
	s.tools = append(s.tools, t)
	if !t.Current && !slices.Contains(tree.Drain[c.Tool], c.Version) {
		return
	}
	of := s.byName[c.Tool]
	if of == nil {
		of = &served{current: current, live: map[int]*Tool{}}
		s.byName[c.Tool] = of
	}
	of.live[c.Version] = t
	for _, alias := range c.Aliases {
		s.byName[alias] = of
	}
}

// Digest returns the lowercase hex SHA-256 that names the set.
func (s *Set) Digest() string { return s.digest }

// Tools returns every tool and version, sorted by tool and version. The caller must
// not change the slice.
func (s *Set) Tools() []*Tool { return s.tools }

// Lookup finds the tool with exactly this name or alias; version 0 means the current
// one. Where t is nil, nameKnown says whether any contract has the name.
func (s *Set) Lookup(name string, version int) (t *Tool, nameKnown bool) {
	of := s.byName[name]
	if of == nil {
		return nil, false
	}
	if version == 0 {
		version = of.current
	}
	return of.live[version], true
}

// Name returns the contract's name of the tool that has this name or alias, and ""
// where none has.
func (s *Set) Name(name string) string {
	of := s.byName[name]
	if of == nil {
		return ""
	}
	for _, t := range of.live {
		return t.Contract.Tool
	}
	return ""
}
