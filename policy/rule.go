package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/condition"
)

// Rule is a policy of a deployment, as it was written. It either forbids calls of Tools
// or requires something of them.
type Rule struct {
	// Name is unique in the set.
	Name  string
	Tools []string // names or aliases, byte for byte
	// Forbid refuses the calls; the other members are then empty.
	Forbid bool
	// Approval asks for a person's yes, Evidence for validated facts.
	Approval bool
	Evidence []EvidenceRule
	// When says which calls are meant, in CEL over call{tool, arguments, principal},
	// evidence, session{sources} and now; "" means all. Arguments are in canonical form
	// where a scope has one (a condition on a call whose scoped arguments have none has no
	// answer), evidence is a list of {tool, version, data, observed_at} that
	// holds what is newest of its kind and judged under a current contract, sources a
	// list of {tool, trust}. Who calls chooses which evidence is presented: a rule that
	// forbids because there is some is passed by not presenting it.
	When string
}

// Fault is what is wrong with one rule.
type Fault struct {
	// Rule is the index of the rule, from 0.
	Rule int
	// Member is the one of Rule that is at fault: name, tools, forbid, evidence, when.
	Member string
	// Line and Column are the place in When, from 1; 0 where the whole is meant.
	Line, Column int
	Message      string
}

// Error returns place and message.
func (f *Fault) Error() string {
	place := ""
	if f.Line > 0 {
		place = fmt.Sprintf(" (line %d, column %d of the expression)", f.Line, f.Column)
	}
	return fmt.Sprintf("policy %d: %s: %s%s", f.Rule+1, f.Member, f.Message, place)
}

// Set is all policies of a deployment, compiled. It is immutable and safe for
// concurrent use. The zero Set and a nil one deny; Compile(nil, nil) has no policies.
type Set struct{ byTool map[string][]*rule }

// rule is a Rule for one tool.
type rule struct {
	name     string
	forbid   bool
	approval bool
	evidence []EvidenceRule
	when     *condition.Program // nil: always
	sources  bool               // when reads session.sources
	call     bool               // when reads the call
}

// Compile checks and compiles rules. tools has every name and alias of every tool of
// the deployment with the shape of its arguments, nil where that is not known: a rule
// for a tool that does not exist would never forbid anything, and is refused. The error
// joins a [*Fault] for everything that is wrong. The rules' evidence is kept.
func Compile(rules []Rule, tools map[string]*condition.Shape) (*Set, error) {
	set := &Set{byTool: make(map[string][]*rule)}
	names := make(map[string]bool)
	var faults []error
	for i := range rules {
		r := &rules[i]
		found := r.check(names)
		names[r.Name] = true
		for j, tool := range r.Tools {
			shape, known := tools[tool]
			if !known {
				found = append(found, &Fault{Member: "tools", Message: "no contract has a tool with this name"})
				continue
			}
			if slices.Contains(r.Tools[:j], tool) {
				found = append(found, &Fault{Member: "tools", Message: "a tool is named twice"})
				continue
			}
			c, fault := r.compile(shape)
			if fault != nil {
				found = append(found, fault)
				break // the same again for every tool
			}
			set.byTool[tool] = append(set.byTool[tool], c)
		}
		for _, f := range found {
			f.Rule = i
			faults = append(faults, f)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	for _, list := range set.byTool {
		slices.SortFunc(list, compareRules)
	}
	return set, nil
}

func compareRules(a, b *rule) int { return strings.Compare(a.name, b.name) }

// check looks at everything but tools and condition.
func (r *Rule) check(names map[string]bool) []*Fault {
	var faults []*Fault
	fault := func(member, message string) {
		faults = append(faults, &Fault{Member: member, Message: message})
	}
	switch {
	case r.Name == "" || !utf8.ValidString(r.Name):
		fault("name", "a policy needs a name")
	case names[r.Name]:
		fault("name", "another policy has this name")
	}
	if len(r.Tools) == 0 {
		fault("tools", "a policy for no tool says nothing")
	}
	if asks := r.Approval || len(r.Evidence) > 0; asks == r.Forbid {
		fault("forbid", "a policy either forbids, or requires approval or evidence")
	}
	for _, e := range r.Evidence {
		switch {
		case e.Tool == "":
			fault("evidence", "evidence is of a tool")
		case len(e.Match) == 0:
			fault("evidence", "nothing binds the evidence to the call: say which member equals which argument")
		case e.MaxAge < 0:
			fault("evidence", "an age is not negative")
		}
	}
	return faults
}

// compile makes the rule for one tool.
func (r *Rule) compile(arguments *condition.Shape) (*rule, *Fault) {
	c := &rule{name: r.Name, forbid: r.Forbid, approval: r.Approval, evidence: slices.Clone(r.Evidence)}
	if r.When == "" {
		return c, nil
	}
	variables := ruleVariables(arguments)
	program, err := condition.Compile(r.When, variables...)
	if err != nil {
		fault := &Fault{Member: "when", Message: err.Error()}
		var at *condition.Fault
		if errors.As(err, &at) {
			fault.Line, fault.Column, fault.Message = at.Line, at.Column, at.Message
		}
		return nil, fault
	}
	c.when = program
	// What does not compile without a variable reads it.
	without := func(name string) bool {
		_, err := condition.Compile(r.When, slices.DeleteFunc(slices.Clone(variables), func(v condition.Variable) bool {
			return v.Name == name
		})...)
		return err != nil
	}
	c.sources, c.call = without("session"), without("call")
	return c, nil
}

// ruleVariables are what a condition may speak of. The session is its sources.
func ruleVariables(arguments *condition.Shape) []condition.Variable {
	return []condition.Variable{
		{Name: "call", Shape: condition.Record(map[string]*condition.Shape{
			"tool":      condition.Text(),
			"arguments": arguments,
			"principal": condition.Text(),
		})},
		{Name: "evidence", Shape: condition.List(condition.Record(map[string]*condition.Shape{
			"tool":        condition.Text(),
			"version":     condition.Int(),
			"data":        nil,
			"observed_at": condition.Time(),
		}))},
		{Name: "now", Shape: condition.Time()},
		{Name: "session", Shape: condition.Record(map[string]*condition.Shape{
			"sources": condition.List(condition.Record(map[string]*condition.Shape{
				"tool":  condition.Text(),
				"trust": condition.Text(),
			})),
		})},
	}
}

func (s *Set) compiled() bool { return s != nil && s.byTool != nil }

// ReadsSources reports whether some rule for a tool reads [Request.Sources]: who fills in
// a request need not look for them otherwise.
func (s *Set) ReadsSources(t *Tool) bool {
	return slices.ContainsFunc(s.rules(t), func(r *rule) bool { return r.sources })
}

// rules returns the rules for a tool under any of its names, by name of the rule.
func (s *Set) rules(t *Tool) []*rule {
	if !s.compiled() {
		return nil
	}
	list := s.byTool[t.Name]
	shared := true
	for _, a := range t.Aliases {
		more := s.byTool[a]
		if len(more) == 0 || a == t.Name {
			continue
		}
		if shared {
			list, shared = slices.Clone(list), false
		}
		list = append(list, more...)
	}
	if !shared {
		slices.SortStableFunc(list, compareRules)
		list = slices.CompactFunc(list, func(a, b *rule) bool { return a.name == b.name })
	}
	return list
}

// apply evaluates every rule. What a rule requires is asked for once its condition
// holds; one without an answer refuses.
func (d *decider) apply(rules []*rule) {
	var inputs map[string]condition.Input
	for _, r := range rules {
		if r.sources && !d.r.Sources.Known || r.call && d.unread {
			d.refuse(Reason{Code: ConditionError, Policy: r.name})
			continue
		}
		if r.when != nil {
			if inputs == nil {
				inputs = d.inputs()
			}
			meant, err := r.when.Test(context.Background(), inputs)
			if err != nil {
				d.refuse(Reason{Code: ConditionError, Policy: r.name})
				continue
			}
			if !meant {
				continue
			}
		}
		if r.forbid {
			d.refuse(Reason{Code: Forbidden, Policy: r.name})
			continue
		}
		for i := range r.evidence {
			d.require(&r.evidence[i], r.name)
		}
		if r.approval {
			d.approval = append(d.approval, r.name)
		}
	}
}

// inputs are the values of the variables. Evidence that a newer judgement replaced, or
// that was judged under another contract than the current one, is left out.
func (d *decider) inputs() map[string]condition.Input {
	var evidence, sources []condition.Input
	for i := range d.r.Evidence {
		if e := &d.r.Evidence[i]; e.Newest && e.Current {
			evidence = append(evidence, condition.Fields(map[string]condition.Input{
				"tool":        condition.String(e.Tool),
				"version":     condition.Integer(int64(e.Version)),
				"data":        condition.JSON(e.Data),
				"observed_at": condition.Instant(e.ObservedAt),
			}))
		}
	}
	for _, s := range d.r.Sources.List {
		sources = append(sources, condition.Fields(map[string]condition.Input{
			"tool":  condition.String(s.Tool),
			"trust": condition.String(s.Trust),
		}))
	}
	return map[string]condition.Input{
		"call": condition.Fields(map[string]condition.Input{
			"tool":      condition.String(d.r.Tool.Name),
			"arguments": condition.JSON(d.canonical()),
			"principal": condition.String(d.r.Principal),
		}),
		"evidence": condition.Items(evidence),
		"now":      condition.Instant(d.r.Now),
		"session":  condition.Fields(map[string]condition.Input{"sources": condition.Items(sources)}),
	}
}
