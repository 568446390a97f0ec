package gate

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Set is everything that a deployment declares, compiled: its tools and its policies. It
// is immutable and safe for concurrent use.
type Set struct {
	*validators.Set
	policies *policy.Set
	subjects map[*validators.Tool]policy.Tool // as policies see them
	// matches are, for each tool whose results serve as evidence, the matches that some
	// requirement asks for: what a receipt's arguments may have been.
	matches map[string][][]policy.Match
}

// Tool is one version of one tool, compiled. The name stands here for the rooms that stand
// before the gate and know no validators.
type Tool = validators.Tool

// newSet adds policies to compiled tools. The error is a [contract.Faults].
func newSet(tools *validators.Set, rules []contract.Policy) (*Set, error) {
	s := &Set{
		Set: tools, subjects: map[*validators.Tool]policy.Tool{}, matches: map[string][][]policy.Match{},
	}
	var faults contract.Faults
	for _, t := range tools.Tools() {
		subject, f := s.subjectOf(t)
		s.subjects[t] = subject
		faults = append(faults, f...)
	}
	var wrong contract.Faults
	s.policies, wrong = s.compilePolicies(rules)
	if faults = append(faults, wrong...); len(faults) > 0 {
		return nil, faults.Sort()
	}
	return s, nil
}

// WithPolicies returns the same tools under other policies, for trying them. The error
// is a [contract.Faults].
func (s *Set) WithPolicies(rules []contract.Policy) (*Set, error) {
	other := *s
	other.matches = maps.Clone(s.matches)
	var faults contract.Faults
	if other.policies, faults = other.compilePolicies(rules); len(faults) > 0 {
		return nil, faults.Sort()
	}
	return &other, nil
}

// subjectOf compiles what policies need to know of a tool.
func (s *Set) subjectOf(t *validators.Tool) (policy.Tool, contract.Faults) {
	c := t.Contract
	tool := policy.Tool{
		Name: c.Tool, Aliases: c.Aliases, ReadOnly: c.Effect == contract.ReadOnly,
		RequiresGrant: c.Egress == contract.EgressGranted,
	}
	var faults contract.Faults
	if a := c.Arguments; a != nil {
		tool.RequiresGrant = tool.RequiresGrant || a.RequiresGrant
		for _, scope := range a.Scopes {
			tool.Scopes = append(tool.Scopes, scopeOf(scope))
		}
		for i, e := range a.Requires {
			refuse := func(member, message string) {
				key := fmt.Sprintf("arguments.requires[%d].%s", i, member)
				line, column := c.Place(key)
				faults = append(faults, contract.Fault{
					File: path.Join(c.Dir, "contract.yaml"), Line: line, Column: column, Message: key + ": " + message,
				})
			}
			rule, err := s.evidenceRule(e)
			if err != nil {
				refuse("when", err.Error())
			}
			knows := func(p strictjson.Pointer) bool { return t.KnownArgument(p.String()) == p.String() }
			for _, message := range s.matchFaults(e, rule, map[string]func(strictjson.Pointer) bool{c.Tool: knows}) {
				refuse("match", message)
			}
			tool.Requires = append(tool.Requires, rule)
		}
	}
	return tool, faults
}

// scopeOf turns a contract's scope into the policy's. What an enum may be has been
// judged by the schema, so that it compares like any string.
func scopeOf(s contract.Scope) policy.Scope {
	t := policy.ScopeType(s.Type)
	if t == policy.Enum {
		t = policy.String
	}
	return policy.Scope{Name: s.Name, Type: t, At: s.At, Optional: s.Optional}
}

// evidenceRule compiles a requirement; the error is that of its condition. A condition
// holds for every version that counts, so it is checked against what the current one
// gives.
func (s *Set) evidenceRule(e contract.Evidence) (policy.EvidenceRule, error) {
	rule := policy.EvidenceRule{
		Tool: e.Tool, Versions: e.Versions, MaxAge: e.MaxAge, From: e.From, Reusable: e.Reusable,
	}
	for from, to := range e.Match {
		evidence, err := strictjson.ParsePointer(from)
		argument, err2 := strictjson.ParsePointer(to)
		if err = errors.Join(err, err2); err != nil {
			return policy.EvidenceRule{}, err
		}
		rule.Match = append(rule.Match, policy.Match{Evidence: evidence, Argument: argument})
	}
	slices.SortFunc(rule.Match, func(a, b policy.Match) int {
		return slices.Compare(a.Evidence, b.Evidence)
	})
	s.matches[e.Tool] = append(slices.Clip(s.matches[e.Tool]), rule.Match)
	if e.When == "" {
		return rule, nil
	}
	program, err := policy.CompileEvidence(e.When, s.FactShape(e.Tool))
	rule.When = program
	return rule, err
}

// matchFaults says which pointers of a requirement can never match: what neither facts
// nor arguments of the evidence have, and what the arguments of a tool that is called do not
// have. Every such call would be denied. Where other versions than the current one count,
// nothing is certain about the evidence.
func (s *Set) matchFaults(e contract.Evidence, rule policy.EvidenceRule, called map[string]func(strictjson.Pointer) bool) []string {
	var faults []string
	current, _ := s.Lookup(e.Tool, 0)
	certain := current != nil && (len(e.Versions) == 0 || len(e.Versions) == 1 && e.Versions[0] == current.Contract.Version)
	facts, arguments := s.FactShape(e.Tool), s.ArgumentShapes()[e.Tool]
	for _, m := range rule.Match {
		if certain && !facts.Allows(m.Evidence) && !arguments.Allows(m.Evidence) {
			faults = append(faults, fmt.Sprintf("neither the facts nor the arguments of %s have %s", e.Tool, m.Evidence))
		}
		for _, name := range slices.Sorted(maps.Keys(called)) {
			if !called[name](m.Argument) {
				faults = append(faults, fmt.Sprintf("the arguments of %s have no %s", name, m.Argument))
			}
		}
	}
	return faults
}

// compilePolicies compiles the deployment's rules.
func (s *Set) compilePolicies(rules []contract.Policy) (*policy.Set, contract.Faults) {
	var faults contract.Faults
	compiled := make([]policy.Rule, len(rules))
	for i, r := range rules {
		compiled[i] = policy.Rule{Name: r.Name, Tools: r.Tools, Forbid: r.Forbid, Approval: r.Approval, When: r.When}
		for _, e := range r.Evidence {
			rule, err := s.evidenceRule(e)
			if err != nil {
				faults = append(faults, policyFault(r, fmt.Sprintf("policy %s: evidence of %s: %v", r.Name, e.Tool, err)))
			}
			called := map[string]func(strictjson.Pointer) bool{}
			for _, name := range r.Tools {
				called[name] = s.ArgumentShapes()[name].Allows
			}
			for _, message := range s.matchFaults(e, rule, called) {
				faults = append(faults, policyFault(r, fmt.Sprintf("policy %s: evidence of %s: match: %s", r.Name, e.Tool, message)))
			}
			compiled[i].Evidence = append(compiled[i].Evidence, rule)
		}
	}
	set, err := policy.Compile(compiled, s.ArgumentShapes())
	for _, f := range policyFaults(err) {
		r := rules[f.Rule]
		fault := policyFault(r, fmt.Sprintf("policy %s: %s: %s", r.Name, f.Member, f.Message))
		if f.Member == "when" && r.WhenLine > 0 {
			fault.Line, fault.Column = r.WhenLine, r.WhenColumn
		}
		faults = append(faults, fault)
	}
	return set, faults
}

func policyFault(r contract.Policy, message string) contract.Fault {
	return contract.Fault{File: r.File, Line: r.Line, Column: r.Column, Message: message}
}

// policyFaults takes a joined error of [policy.Compile] apart.
func policyFaults(err error) []*policy.Fault {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var faults []*policy.Fault
	for _, e := range joined.Unwrap() {
		var f *policy.Fault
		if errors.As(e, &f) {
			faults = append(faults, f)
		}
	}
	return faults
}
