package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// clause is a condition that is more than a fact about one place: a union, a negation,
// an if. Two of them are the same when their branches are.
type clause struct {
	word     string
	key      string // what must be equal: the name of a dependent schema, a pattern
	branches []*context
	at       site
}

func (c clause) String() string { return fmt.Sprintf("%s of %d", c.word, len(c.branches)) }

func (c clause) union() bool { return c.word == "anyOf" || c.word == "oneOf" }

// clausesOf returns the conditions that surely apply at x.
func (s *side) clausesOf(x *context) []clause {
	var list []clause
	for _, a := range x.all {
		if a.level != sure {
			continue
		}
		l := &s.cx.g.locations[a.to]
		by := map[edgeKind][]edge{}
		for _, e := range l.edges {
			by[e.kind] = append(by[e.kind], e)
		}
		add := func(word, key string, edges ...edge) {
			c := clause{word: word, key: key, at: site{l.file, l.words[word]}}
			for _, e := range edges {
				c.branches = append(c.branches, s.cx.of([]applied{{e.to, sure}}))
			}
			list = append(list, c)
		}
		if n := len(by[edgeAnyOf]); n > 1 {
			add("anyOf", "", by[edgeAnyOf]...)
		}
		if n := len(by[edgeOneOf]); n > 1 {
			add("oneOf", "", by[edgeOneOf]...)
		}
		for _, e := range by[edgeNot] {
			add("not", "", e)
		}
		if len(by[edgeIf]) > 0 {
			key := ""
			for _, k := range []edgeKind{edgeThen, edgeElse} {
				if len(by[k]) > 0 {
					key += map[edgeKind]string{edgeThen: "then ", edgeElse: "else "}[k]
				}
			}
			add("if", key, slices.Concat(by[edgeIf], by[edgeThen], by[edgeElse])...)
		}
		if len(by[edgeContains]) > 0 {
			add("contains", plainText(l.words["minContains"])+" "+plainText(l.words["maxContains"]), by[edgeContains]...)
		}
		s.keyed(x, by, add)
	}
	return list
}

// keyed adds the conditions of which a location has one for each name, or of which only
// those count that are no plain booleans.
func (s *side) keyed(x *context, by map[edgeKind][]edge, add func(word, key string, edges ...edge)) {
	for _, e := range by[edgeDependent] {
		add("dependentSchemas", e.key, e)
	}
	for _, e := range by[edgePattern] {
		add("patternProperties", e.key, e)
	}
	for _, e := range by[edgeNames] {
		add("propertyNames", "", e)
	}
	for _, k := range [...]struct {
		kind edgeKind
		word string
	}{
		{edgeAdditional, "additionalProperties"}, {edgeUnevaluatedProperties, "unevaluatedProperties"}, {edgeUnevaluatedItems, "unevaluatedItems"},
	} {
		for _, e := range by[k.kind] {
			if s.cx.g.locations[e.to].value.Kind() != strictjson.Bool {
				key := ""
				if k.kind != edgeAdditional { // what is evaluated is decided by all that applies
					key = strings.Join(inOrder(slices.Clone(x.names)), " ") + fmt.Sprint(s.positions(x))
				}
				add(k.word, key, e)
			}
		}
	}
}

// bareUnion returns the union that is all there is at x.
func (s *side) bareUnion(x *context) (clause, bool) {
	if !s.shape(x).unconditional() {
		return clause{}, false
	}
	list := s.clausesOf(x)
	if len(list) != 1 || !list[0].union() {
		return clause{}, false
	}
	return list[0], true
}

// mixed compares a union with what is none, as a union of one branch. It reports
// whether there was one.
func (w *walk) mixed(x, y *context, p placeOf) bool {
	a, left := w.old.bareUnion(x)
	b, right := w.new.bareUnion(y)
	switch {
	case left == right:
		return false
	case left:
		b = clause{word: a.word, branches: []*context{y}, at: p.b.first}
	default:
		a = clause{word: b.word, branches: []*context{x}, at: p.a.first}
	}
	w.unions(a, b, w.inside(a, b, p.v, p), p)
	return true
}

// clauses compares conditions: those that are the same first, then unions branch by
// branch; of the rest each came, went, or changed in a way that nobody can weigh.
func (w *walk) clauses(x, y *context, p placeOf) {
	old, now := w.old.clausesOf(x), w.new.clausesOf(y)
	v := p.v
	if p.a.unevaluated {
		v.aroundOld = x
	}
	if p.b.unevaluated {
		v.aroundNew = y
	}
	pair := func(fit func(a, b clause) bool) {
		old = slices.DeleteFunc(old, func(a clause) bool {
			i := slices.IndexFunc(now, func(b clause) bool { return a.word == b.word && fit(a, b) })
			if i >= 0 {
				now = slices.Delete(now, i, i+1)
			}
			return i >= 0
		})
	}
	pair(func(a, b clause) bool { return a.key == b.key && w.sameClause(a, b, w.inside(a, b, v, p), p) })
	pair(func(a, b clause) bool {
		switch {
		case a.union():
			w.unions(a, b, w.inside(a, b, v, p), p)
		case a.key != b.key && a.word != "if" && a.word != "contains":
			return false
		default:
			p.report(unproven, "condition-changed", b.at, a.word, b.word)
		}
		return true
	})
	for _, a := range old {
		p.report(loosens, "condition-removed", a.at, a.word, "")
	}
	for _, b := range now {
		p.report(narrows, "condition-added", b.at, "", b.word)
	}
}

// inside is the view of the branches of two conditions. Where what is refused around
// them does not decide whether a branch accepts, nothing of it is taken: a negation, an
// if, a oneOf whose branches overlap, what judges members or elements.
func (w *walk) inside(a, b clause, v view, p placeOf) view {
	switch a.word {
	case "anyOf", "dependentSchemas":
		return v
	case "oneOf":
		if w.old.apart(a.branches, p.a.types) && w.new.apart(b.branches, p.b.types) {
			return v
		}
	}
	v.aroundOld, v.aroundNew = nil, nil
	return v
}

// sameClause reports whether two conditions are the same, and then reports what their
// branches say to people.
func (w *walk) sameClause(a, b clause, v view, p placeOf) bool {
	if len(a.branches) != len(b.branches) {
		return false
	}
	to := slices.Clone(b.branches)
	for i, x := range a.branches {
		rest := to[i:]
		if !a.union() {
			rest = to[i : i+1]
		}
		j := slices.IndexFunc(rest, func(y *context) bool { return w.same(x, y, v) })
		if j < 0 {
			return false
		}
		rest[0], rest[j] = rest[j], rest[0]
	}
	for i, x := range a.branches {
		w.diff(x, to[i], v, p.t)
	}
	return true
}

// unions compares two unions that are not the same: equal branches are set aside, those
// that are told apart alike are compared, the rest came or went.
func (w *walk) unions(a, b clause, v view, p placeOf) {
	old, now := slices.Clone(a.branches), slices.Clone(b.branches)
	pair := func(fit func(x, y *context) bool, then func(x, y *context)) {
		old = slices.DeleteFunc(old, func(x *context) bool {
			j := slices.IndexFunc(now, func(y *context) bool { return fit(x, y) })
			if j >= 0 {
				then(x, now[j])
				now = slices.Delete(now, j, j+1)
			}
			return j >= 0
		})
	}
	compare := func(x, y *context) { w.diff(x, y, v, p.t) }
	pair(func(x, y *context) bool { return w.same(x, y, v) }, compare)
	apart := w.old.apart(a.branches, p.a.types) && w.new.apart(b.branches, p.b.types)
	if !apart && b.word == "oneOf" {
		// A value that passes two branches is refused: no change of one branch can be
		// weighed alone.
		p.report(unproven, "union-changed", b.at, a.String(), b.String())
		return
	}
	pair(func(x, y *context) bool { t := w.old.tag(x); return t != "" && t == w.new.tag(y) }, compare)
	if len(old) == 1 && len(now) == 1 {
		compare(old[0], now[0])
		return
	}
	for _, x := range old {
		p.report(narrows, "branch-removed", w.old.shape(x).first, w.old.name(x), "")
	}
	for _, y := range now {
		e := loosens
		if strings.Contains(w.new.tag(y), "=") {
			e = widens // as a value that is added to an enum
		}
		p.report(e, "branch-added", w.new.shape(y).first, "", w.new.name(y))
	}
}

func (s *side) name(x *context) string {
	if t := s.tag(x); t != "" {
		return t
	}
	return s.shape(x).String()
}

// tag is what tells a branch from its neighbours: a member with one value, or, of what
// is no object, its types.
func (s *side) tag(x *context) string {
	sh := s.shape(x)
	for _, name := range inOrder(slices.Clone(sh.members)) {
		if m := s.member(x, name, nil); m.fate == described {
			if ms := s.shape(m.x); ms.listed && len(ms.values) == 1 {
				return name + "=" + ms.String()
			}
		}
	}
	if sh.types != anyType && sh.types&typeSet(kindObject) == 0 {
		return sh.types.String()
	}
	return ""
}

// apart reports whether no value that is one of types passes two of the branches.
func (s *side) apart(branches []*context, types typeSet) bool {
	const most = 64 // pairs of more branches are not looked at
	if len(branches) > most {
		return false
	}
	for i, a := range branches {
		for _, b := range branches[i+1:] {
			if !s.disjoint(a, b, types) {
				return false
			}
		}
	}
	return true
}

func (s *side) disjoint(x, y *context, types typeSet) bool {
	if x == nil || y == nil {
		return false
	}
	a, b := s.shape(x), s.shape(y)
	both := a.types & b.types & types
	switch {
	case both == 0:
		return true
	case a.listed && b.listed:
		return !overlap(a.values, b.values)
	case both != typeSet(kindObject):
		return false
	}
	for _, name := range a.members {
		if a.required[name].file == "" && b.required[name].file == "" {
			continue
		}
		m, n := s.member(x, name, nil), s.member(y, name, nil)
		if m.fate != described || n.fate != described {
			continue
		}
		if ms, ns := s.shape(m.x), s.shape(n.x); ms.listed && ns.listed && !overlap(ms.values, ns.values) {
			return true
		}
	}
	return false
}

func overlap(a, b map[string]site) bool {
	for key := range a {
		if _, both := b[key]; both {
			return true
		}
	}
	return false
}
