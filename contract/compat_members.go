package contract

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// fate is what a schema says about one member or element.
type fate uint8

const (
	free      fate = iota // nobody describes it, and it passes
	described             // a subschema says what it must be
	refused               // it never passes
)

// slot is one member or element of a place in one schema.
type slot struct {
	fate fate
	x    *context // of a described one
	at   site     // where it is described; of a refused one, where its object is closed
	// never says that a refused one is refused by what describes it, so that the object
	// around may be open.
	never bool
}

// member returns what a schema says about a member. around, where it is not nil, is the
// context that refuses members which nothing in it names, this branch included.
func (s *side) member(x *context, name string, around *context) slot {
	sh := s.shape(x)
	entries := surely(x.children[name])
	closes := false
	if around != nil {
		_, named := around.children[name]
		closes = !named
	}
	for _, a := range x.all {
		if a.level != sure {
			continue
		}
		if to, ok := s.additional(a.to); ok && !s.names(a.to, name) {
			if s.cx.g.bool(to, false) {
				return slot{fate: refused, at: sh.closedAt}
			}
			entries = append(entries, applied{to, sure})
		}
		closes = closes || s.cx.holdsFalse(a.to, edgeUnevaluatedProperties)
	}
	switch {
	case len(entries) == 0 && closes:
		return slot{fate: refused, at: sh.closedAt}
	case len(entries) == 0:
		return slot{fate: free, at: sh.first}
	}
	return s.slotOf(entries)
}

func (s *side) slotOf(entries []applied) slot {
	y := s.cx.of(entries)
	if y == nil {
		return slot{fate: free}
	}
	sh := s.shape(y)
	if sh.types == 0 {
		return slot{fate: refused, at: sh.first, never: true}
	}
	return slot{fate: described, x: y, at: sh.first}
}

// additional returns what one location says about members that it does not name.
func (s *side) additional(id int) (to int, ok bool) {
	for _, e := range s.cx.g.locations[id].edges {
		if e.kind == edgeAdditional {
			return e.to, true
		}
	}
	return 0, false
}

// names reports whether the properties or patternProperties of one location name a
// member. Which names a pattern matches is not looked at: objects with patterns are
// compared by their patterns.
func (s *side) names(id int, name string) bool {
	for _, e := range s.cx.g.locations[id].edges {
		if (e.kind == edgeProperty && e.key == name) || e.kind == edgePattern {
			return true
		}
	}
	return false
}

// objects compares the members of two places.
func (w *walk) objects(x, y *context, p placeOf) {
	w.closedness(p)
	added, gone := map[string]bool{}, map[string]bool{} // of which member-added and -removed say all
	names := append([]string{}, p.a.members...)
	seen := map[string]bool{}
	for _, name := range names {
		seen[name] = true
	}
	for _, name := range p.b.members {
		if !seen[name] {
			names = append(names, name)
		}
	}
	for _, name := range names {
		old, now := w.old.member(x, name, p.v.aroundOld), w.new.member(y, name, p.v.aroundNew)
		required := now.fate == described && p.b.required[name].file != ""
		added[name] = old.fate == refused && now.fate == described
		gone[name] = old.fate == described && now.fate == refused
		w.slots(old, now, name, "member", required, p)
	}
	for _, name := range keysOf(p.a.required) {
		if _, kept := p.b.required[name]; !kept && !gone[name] {
			p.at(name).report(loosens, "required-removed", p.a.required[name], name, "")
		}
	}
	for _, name := range keysOf(p.b.required) {
		if _, known := p.a.required[name]; !known && !added[name] {
			p.at(name).report(narrows, "required-added", p.b.required[name], "", name)
		}
	}
	for _, pair := range keysOf(union(p.a.dependent, p.b.dependent)) {
		old, now := p.a.dependent[pair], p.b.dependent[pair]
		switch {
		case now.file == "":
			p.report(loosens, "required-removed", old, pair, "")
		case old.file == "":
			p.report(narrows, "required-added", now, "", pair)
		}
	}
}

// at is the place of a member, for a report about it.
func (p placeOf) at(token string) placeOf {
	p.v, p.t = p.v.below(token), &trail{p.t, token}
	return p
}

// closedness compares whether members that nobody names pass. What a branch takes from
// the schema around it was reported there.
func (w *walk) closedness(p placeOf) {
	switch {
	case p.a.closed && !p.b.closed:
		p.report(opens, "closed-opened", p.a.orFirst(p.a.closedAt), "closed", "open")
	case p.b.closed && !p.a.closed:
		p.report(narrows, "opened-closed", p.b.orFirst(p.b.closedAt), "open", "closed")
	}
}

func (s *shape) orFirst(at site) site {
	if at.file == "" {
		return s.first
	}
	return at
}

// slots compares what two schemas say about one member or element.
func (w *walk) slots(old, now slot, token, what string, required bool, p placeOf) {
	switch {
	case old.fate == described && now.fate == described:
		w.diff(old.x, now.x, p.v.below(token), &trail{p.t, token})
	case old.fate == refused && now.fate == described:
		e := widens
		if required {
			e = narrows
		}
		in := p // the object's view: a new member of an object that the agent sees counts (A23)
		in.t = &trail{p.t, token}
		in.report(e, what+"-added", now.at, "", w.new.show(now, required))
	case old.fate == described && now.fate == refused:
		in := p
		in.t = &trail{p.t, token}
		in.report(narrows, what+"-removed", old.at, w.old.show(old, p.a.required[token].file != ""), "")
	case old.fate == free && now.never:
		p.at(token).report(narrows, what+"-removed", now.at, "any", "")
	case old.never && now.fate == free:
		p.at(token).report(opens, what+"-added", old.at, "", "any")
	case old.fate == free && now.fate == described:
		if w.new.shape(now.x).unconditional() && len(w.new.clausesOf(now.x)) == 0 {
			return
		}
		p.at(token).report(narrows, what+"-described", now.at, "any", w.new.show(now, required))
	case old.fate == described && now.fate == free && w.refuses && what == "member":
		p.at(token).report(narrows, what+"-undescribed", old.at, w.old.show(old, false), "any")
	case old.fate == described && now.fate == free:
		if w.old.shape(old.x).unconditional() && len(w.old.clausesOf(old.x)) == 0 {
			return
		}
		p.at(token).report(opens, what+"-undescribed", old.at, w.old.show(old, false), "any")
	}
}

// unconditional reports whether everything passes.
func (s *shape) unconditional() bool {
	return s.types == anyType && !s.listed && len(s.bounds)+len(s.words)+len(s.required)+len(s.dependent)+len(s.members) == 0 &&
		!s.unique && !s.closed
}

func (s *side) show(sl slot, required bool) string {
	if sl.x == nil {
		return "any"
	}
	text := s.shape(sl.x).String()
	if required {
		return "required " + text
	}
	return text
}

// arrays compares the elements of two places: those that have a position of their own,
// then all further ones.
func (w *walk) arrays(x, y *context, p placeOf) {
	most := max(w.old.positions(x), w.new.positions(y))
	for i := range most {
		w.slots(w.old.element(x, i), w.new.element(y, i), strictjson.EveryElement, "element", false, p)
	}
	old, now := w.old.element(x, most), w.new.element(y, most)
	if (old.fate == refused) != (now.fate == refused) && (old.fate == free || now.fate == free) {
		if now.fate == free {
			p.report(opens, "closed-opened", old.at, "closed", "open")
		} else {
			p.report(narrows, "opened-closed", now.at, "open", "closed")
		}
		return
	}
	w.slots(old, now, strictjson.EveryElement, "element", false, p)
}

// positions is how many elements have a position of their own.
func (s *side) positions(x *context) int {
	most := 0
	for _, a := range x.all {
		if a.level == sure {
			most = max(most, s.cx.g.locations[a.to].words["prefixItems"].Len())
		}
	}
	return most
}

// element returns what a schema says about the element at a position.
func (s *side) element(x *context, position int) slot {
	var entries []applied
	ends := false
	for _, a := range x.all {
		if a.level != sure {
			continue
		}
		i := 0
		for _, e := range s.cx.g.locations[a.to].edges {
			if e.kind != edgePrefix {
				continue
			}
			if i == position {
				entries = append(entries, applied{e.to, sure})
			}
			i++
		}
		for _, e := range s.cx.g.locations[a.to].edges {
			if e.kind == edgeItems && position >= i {
				entries = append(entries, applied{e.to, sure})
			}
		}
		ends = ends || s.cx.endsArray(a.to)
	}
	switch {
	case len(entries) == 0 && ends:
		return slot{fate: refused, at: s.shape(x).first}
	case len(entries) == 0:
		return slot{fate: free, at: s.shape(x).first}
	}
	return s.slotOf(entries)
}
