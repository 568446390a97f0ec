package schema

import (
	"context"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Unnamed finds the members of v, at any depth, that the schema does not name: total is
// how many there are, and first are the places of the first limit of them in the order
// of the input, relative to v. What stands inside such a member is not looked at. v has
// been validated and conforms; otherwise the answer means nothing.
//
// A member is named where a schema that applies to its object evaluates it by
// properties, patternProperties, or by additionalProperties or unevaluatedProperties
// that hold more than true. Branches of unions count where they match. An object about
// whose members no schema that applies says anything (true, {}, a bare type) is known
// as a whole, and nothing in it is unnamed.
//
// The work is bounded as that of [Schema.Validate], with a budget of its own; the error
// is a [*BudgetError] or nil.
func (s *Schema) Unnamed(ctx context.Context, v strictjson.Value, limit int) (first []strictjson.Pointer, total int, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, &BudgetError{Cause: err}
	}
	r := s.newRun(ctx, v)
	n := namer{run: &r, limit: limit, seen: map[*location]int{}}
	n.walk(v, []applied{{s.root, nil}})
	if n.stopped != nil {
		return nil, 0, n.stopped
	}
	base := len(v.Path())
	for _, m := range n.first {
		first = append(first, m.Path()[base:])
	}
	return first, n.total, nil
}

// applied is a location that applies to some value, in the dynamic scope in which it
// was reached.
type applied struct {
	l   *location
	dyn *scope
}

// namer is one walk through a value for members without a name.
type namer struct {
	*run
	limit int
	first []strictjson.Value
	total int
	seen  map[*location]int // the number of the value for which it was last met
	turn  int               // number of the value that is being looked at
}

// walk looks at v, to which the entries apply. Its recursion is the depth of the value.
func (n *namer) walk(v strictjson.Value, entries []applied) {
	if v.Len() == 0 || len(entries) == 0 || n.stopped != nil {
		return
	}
	all := n.inPlace(v, entries)
	if v.Kind() == strictjson.Object {
		n.members(v, all)
		return
	}
	for i, e := range v.Elements() {
		if e.Len() > 0 {
			n.walk(e, n.ofElement(i, e, all))
		}
	}
}

func (n *namer) members(v strictjson.Value, all []applied) {
	speaks := false
	for _, a := range all {
		speaks = speaks || a.l.namesMembers()
	}
	if !speaks {
		return
	}
	for name, m := range v.Members() {
		if n.stopped != nil {
			return
		}
		kids, named := n.ofMember(name, all)
		if named {
			n.walk(m, kids)
			continue
		}
		if n.total++; len(n.first) < n.limit {
			n.first = append(n.first, m)
		}
	}
}

// namesMembers reports whether l itself says which members an object has.
func (l *location) namesMembers() bool {
	if says(l.unevaluatedProps) {
		return true
	}
	o := l.object
	return o != nil && (len(o.properties) > 0 || len(o.patterns) > 0 || says(o.additional))
}

// says reports whether a location is there and more than true.
func says(l *location) bool { return l != nil && l.verdict != always }

// inPlace returns the entries and everything that applies to v through them.
func (n *namer) inPlace(v strictjson.Value, entries []applied) []applied {
	n.spend(1)
	n.turn++
	all := make([]applied, 0, 2*len(entries))
	add := func(l *location, dyn *scope) {
		if l == nil || l.verdict != keywords || n.seen[l] == n.turn || !n.spend(1) {
			return
		}
		n.seen[l] = n.turn
		all = append(all, applied{l, dyn.enter(l)})
	}
	for _, e := range entries {
		add(e.l, e.dyn)
	}
	for i := 0; i < len(all) && n.stopped == nil; i++ {
		l, dyn := all[i].l, all[i].dyn
		add(l.ref, dyn)
		if l.dynamicRef != nil {
			add(l.dynamicRef.resolve(dyn), dyn)
		}
		for _, s := range l.allOf {
			add(s, dyn)
		}
		for _, u := range [...]*union{l.anyOf, l.oneOf} {
			n.matching(u, v, dyn, add)
		}
		if c := l.ifThen; c != nil {
			if c.test == nil || n.eval(c.test, v, dyn, nil, nil) {
				add(c.test, dyn)
				add(c.then, dyn)
			} else {
				add(c.otherwise, dyn)
			}
		}
		if l.object == nil {
			continue
		}
		for _, d := range l.object.dependentSchemas {
			n.spend(int64(v.Len() / 4))
			if v.Member(d.member).Exists() {
				add(d.schema, dyn)
			}
		}
	}
	return all
}

// matching adds the branches of a union that v conforms to.
func (n *namer) matching(u *union, v strictjson.Value, dyn *scope, add func(*location, *scope)) {
	if u == nil || !n.spend(int64(len(u.branches))) {
		return
	}
	for _, i := range u.choose(v).possible {
		if n.eval(u.branches[i], v, dyn, nil, nil) {
			add(u.branches[i], dyn)
		}
	}
}

// ofMember returns what applies to a member, and whether anything names it.
func (n *namer) ofMember(name string, all []applied) (kids []applied, named bool) {
	for _, a := range all {
		o := a.l.object
		if o == nil || !n.spend(1) {
			continue
		}
		known := false
		if p := o.property(name); p != nil {
			known = true
			kids = append(kids, applied{p.schema, a.dyn})
		}
		for _, p := range o.patterns {
			if n.matches(p.pattern, name) {
				known = true
				kids = append(kids, applied{p.schema, a.dyn})
			}
		}
		if !known && says(o.additional) {
			known = true
			kids = append(kids, applied{o.additional, a.dyn})
		}
		named = named || known
	}
	if named {
		return kids, true
	}
	for _, a := range all { // what nobody else has evaluated
		if says(a.l.unevaluatedProps) {
			kids = append(kids, applied{a.l.unevaluatedProps, a.dyn})
		}
	}
	return kids, len(kids) > 0
}

// ofElement returns what applies to an element of an array.
func (n *namer) ofElement(i int, e strictjson.Value, all []applied) (kids []applied) {
	for _, a := range all {
		r := a.l.array
		if r == nil || !n.spend(1) {
			continue
		}
		switch {
		case i < len(r.prefix):
			kids = append(kids, applied{r.prefix[i], a.dyn})
		case r.items != nil:
			kids = append(kids, applied{r.items, a.dyn})
		}
		if r.contains != nil && n.eval(r.contains, e, a.dyn, nil, nil) {
			kids = append(kids, applied{r.contains, a.dyn})
		}
	}
	for _, a := range all {
		if len(kids) == 0 && a.l.unevaluatedItems != nil {
			kids = append(kids, applied{a.l.unevaluatedItems, a.dyn})
		}
	}
	return kids
}
