package policy

import (
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Decide judges one call under the policies of a deployment. The same arguments give
// the same decision. A set that [Compile] did not make denies: nobody knows what it
// would have forbidden. Safe for concurrent use.
func Decide(set *Set, r Request) Decision {
	d := decider{set: set, r: r} // a copy, so that the request stays on the stack
	if r.Tool.Name == "" {
		d.refuse(Reason{Code: UnknownTool})
		return d.conclude()
	}
	if r.Arguments.Kind() != strictjson.Object {
		d.refuse(Reason{Code: InvalidArguments})
		return d.conclude()
	}
	granted := !r.Tool.ReadOnly || r.Tool.RequiresGrant
	rules := set.rules(&r.Tool)
	if granted || len(rules) > 0 {
		d.readScopes()
	}
	if granted {
		d.grants()
	} else {
		d.unread = slices.ContainsFunc(d.scopes, func(c scoped) bool { return len(c.malformed) > 0 })
	}
	for i := range r.Tool.Requires {
		d.require(&r.Tool.Requires[i], "")
	}
	if !set.compiled() {
		d.refuse(Reason{Code: ConditionError})
	}
	d.apply(rules)
	d.approve()
	return d.conclude()
}

// decider is one decision in the making.
type decider struct {
	set    *Set
	r      Request
	scopes []scoped
	marks  []bool // scratch of covers

	denied   bool
	unread   bool // a scoped argument is malformed, and no grant is there to say so
	awaits   bool // some rule asks for an approval that has not come
	approval []string
	out      Decision
}

// refuse notes a reason for DENY.
func (d *decider) refuse(r Reason) {
	d.denied = true
	d.out.Reasons = append(d.out.Reasons, r)
}

func (d *decider) readScopes() {
	room := MaxScopeValues
	d.scopes = make([]scoped, len(d.r.Tool.Scopes))
	for i := range d.scopes {
		d.scopes[i].read(&d.r.Tool.Scopes[i], d.r.Arguments, &room)
	}
}

// approve judges the approval. A person's no holds even where no rule asked.
func (d *decider) approve() {
	if d.r.Approval == ApprovalRefused {
		d.refuse(Reason{Code: RefusedByPerson})
		return
	}
	for _, name := range d.approval {
		switch d.r.Approval {
		case Approved:
		case NoApproval:
			d.awaits = true
			d.out.Reasons = append(d.out.Reasons, Reason{Code: NeedsPerson, Policy: name})
		default:
			d.refuse(Reason{Code: InvalidApproval, Policy: name})
		}
	}
}

// conclude ranks what was found.
func (d *decider) conclude() Decision {
	switch {
	case d.denied:
		return Decision{Effect: Deny, Reasons: d.out.Reasons}
	case d.awaits:
		d.out.Effect = NeedsApproval
	default:
		d.out.Effect = Allow
		d.out.Reasons = []Reason{{Code: OnlyReads}}
		if len(d.out.Grants) > 0 {
			d.out.Reasons[0] = Reason{Code: Granted, GrantID: d.out.Grants[0].ID}
		}
	}
	d.out.Obligations = d.obligations()
	return d.out
}

func (d *decider) obligations() []Obligation {
	if len(d.out.Grants) == 0 {
		return nil
	}
	var url, path bool
	for i := range d.scopes {
		if c := &d.scopes[i]; c.count() > 0 {
			url = url || c.scope.Type == URL
			path = path || c.scope.Type == Path
		}
	}
	var o []Obligation
	if url {
		o = append(o, NoRedirects, PublicAddress)
	}
	if path {
		o = append(o, OpenBeneath)
	}
	slices.Sort(o)
	return o
}

// canonical returns the arguments as conditions see them: where a scope's type has a
// canonical text, that text stands, so that a rule cannot be passed by a spelling that
// a grant takes for the same.
func (d *decider) canonical() strictjson.Value {
	var edits []strictjson.Edit
	for i := range d.scopes {
		c := &d.scopes[i]
		for j, v := range c.raw {
			if s, ok := c.text(j); ok && s != v.Text() {
				edits = append(edits, strictjson.Edit{At: v, Text: s})
			}
		}
	}
	if len(edits) == 0 {
		return d.r.Arguments
	}
	return strictjson.Replace(d.r.Arguments, edits)
}

func compareReasons(a, b Reason) int {
	for _, c := range []int{
		strings.Compare(a.Policy, b.Policy),
		strings.Compare(a.GrantID, b.GrantID),
		strings.Compare(string(a.Code), string(b.Code)),
		strings.Compare(a.Scope, b.Scope),
		strings.Compare(a.Argument, b.Argument),
		strings.Compare(a.RequiredTool, b.RequiredTool),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}
