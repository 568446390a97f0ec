package contract

import (
	"path"
	"regexp"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

var policyForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// A policyFile is one file of policies being read.
type policyFile struct {
	*source
	rules []*policyDraft
	src   []byte
	lines []string // of src; nil until a block needs them
}

// A policyDraft is one rule being read.
type policyDraft struct {
	Policy
	path  string  // of the rule, as in "policies[1]"
	named place   // of its name
	tools []place // of each of Tools
}

// isPolicyFile reports whether a file of a policies directory is read.
func isPolicyFile(name string) bool {
	ext := path.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// readPolicies reads a list of rules; file is its name in faults.
func readPolicies(file string, src []byte) *policyFile {
	root, s := readYAML(file, src)
	f := &policyFile{source: s, src: src}
	if root != nil && f.isKind(root, "", strictjson.Array) {
		f.list(0, f.rule)(root, policiesName)
	}
	return f
}

func (f *policyFile) rule(n *yaml.Node, at string) {
	p := &policyDraft{path: at, Policy: Policy{File: f.file, Line: n.Line, Column: n.Column}}
	require := false
	f.object(n, at,
		need("name", func(n *yaml.Node, at string) {
			p.named = place{n.Line, n.Column}
			f.matching(&p.Name, policyForm, "a policy's name: letters, digits and _.-, at most 128")(n, at)
		}),
		may("forbid", func(n *yaml.Node, at string) {
			p.Forbid = true
			f.object(n, at, need("tools", f.toolsOf(p)))
		}),
		may("require", func(n *yaml.Node, at string) {
			require = true
			f.require(p, n, at)
		}),
		may("when", func(n *yaml.Node, at string) {
			f.text(&p.When, maxSentence)(n, at)
			if p.When != "" {
				begin := f.textPlace(n)
				p.WhenLine, p.WhenColumn = begin.line, begin.column
			}
		}),
	)
	switch {
	case jsonKind(n) != strictjson.Object:
	case p.Forbid && require:
		f.fault(n, "write two policies", "%s has forbid and require; a policy has one of them", at)
	case !p.Forbid && !require:
		f.fault(n, "write forbid: {tools: […]}, or require: {tools: […], approval: true}", "%s has neither forbid nor require", at)
	}
	f.rules = append(f.rules, p)
}

func (f *policyFile) require(p *policyDraft, n *yaml.Node, at string) {
	before := f.wrong
	f.object(n, at,
		need("tools", f.toolsOf(p)),
		may("approval", f.boolean(&p.Approval)),
		may("evidence", f.list(0, f.bound(&p.Evidence))),
	)
	if f.wrong == before && !p.Approval && len(p.Evidence) == 0 {
		f.fault(n, "add approval: true, or evidence", "%s requires nothing", at)
	}
}

// toolsOf reads the names of tools that a rule is about.
func (f *policyFile) toolsOf(p *policyDraft) read {
	return func(n *yaml.Node, at string) {
		p.Tools, p.tools = nil, nil // where a rule has both forbid and require, its last
		f.list(1, func(n *yaml.Node, at string) {
			before := len(p.Tools)
			collect(f.source, &p.Tools, f.anyName)(n, at)
			if len(p.Tools) > before {
				p.tools = append(p.tools, place{n.Line, n.Column})
			}
		})(n, at)
	}
}

// bound reads evidence that something binds to the call: no other could ever count.
func (f *policyFile) bound(list *[]Evidence) read {
	return func(n *yaml.Node, at string) {
		f.requirement(list)(n, at)
		if f.good[at+".match"] && len((*list)[len(*list)-1].Match) == 0 {
			f.faultAt(f.places[at+".match"], "say which member of it equals which argument: {/id: /id}",
				"%s.match: nothing binds the evidence to the call", at)
		}
	}
}

// textPlace is where the text of a scalar begins: behind its quote, or in the line
// below the sign of a block.
func (f *policyFile) textPlace(n *yaml.Node) place {
	switch {
	case isPlain(n):
		return place{n.Line, n.Column}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0:
		return place{n.Line, n.Column + 1}
	}
	if f.lines == nil {
		f.lines = strings.Split(string(f.src), "\n")
	}
	for _, line := range f.lines[min(n.Line, len(f.lines)):] {
		if text := strings.TrimLeft(line, " "); strings.TrimSpace(text) != "" {
			first := strings.TrimLeft(n.Value, "\n")
			return place{n.Line + 1, len(line) - len(text) - (len(first) - len(strings.TrimLeft(first, " "))) + 1}
		}
	}
	return place{n.Line, n.Column}
}
