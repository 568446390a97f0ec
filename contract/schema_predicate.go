package contract

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// predicate is a promise that a schema may make about the values of one kind.
type predicate uint8

const (
	closed     predicate = iota // objects have no members but those that are named
	governed                    // each element of an array is described
	shortArray                  // arrays have a largest length
	shortText                   // strings have a largest length
	machine                     // strings are machine values
	finite                      // values are listed one by one
	dateTime                    // strings are RFC 3339 date-times
	predicates = iota
)

// about is the kind of values that a predicate restricts.
func (p predicate) about() kinds {
	switch p {
	case closed:
		return kindObject
	case governed, shortArray:
		return kindArray
	case finite:
		return anyKind
	}
	return kindString
}

// holdsAt reports whether every value accepted at x keeps the promise p: some
// subschema that surely applies makes it, or all that may apply do.
func (c *contexts) holdsAt(x *context, p predicate) bool {
	if c.kindsAt(x)&p.about() == 0 {
		return true
	}
	every := true
	for _, e := range x.entries {
		h := c.holds(e.to, p)
		if h && e.level == sure {
			return true
		}
		every = every && h
	}
	return every
}

// holds reports whether a subschema alone makes the promise p: itself, by one of
// those that apply with it, or by every branch of a union. Recursion follows in-place
// edges and is bounded by maxLocations; a cycle, which is refused elsewhere, makes no
// promise.
func (c *contexts) holds(id int, p predicate) bool {
	const open, no, yes = 1, 2, 3
	if c.preds[p] == nil {
		c.preds[p] = make([]int8, len(c.g.locations))
	}
	if m := c.preds[p][id]; m != 0 {
		return m == yes
	}
	c.preds[p][id] = open
	h := c.kindsOf(id)&p.about() == 0 || c.makes(id, p) || c.holdsInPlace(id, p)
	c.preds[p][id] = no
	if h {
		c.preds[p][id] = yes
	}
	return h
}

func (c *contexts) holdsInPlace(id int, p predicate) bool {
	var anyOf, oneOf [2]int // how many hold, how many there are
	cond, then, otherwise := false, false, false
	count := func(n *[2]int, h bool) {
		n[1]++
		if h {
			n[0]++
		}
	}
	for _, e := range c.g.locations[id].edges {
		switch e.kind {
		case edgeRef, edgeAllOf:
			if c.holds(e.to, p) {
				return true
			}
		case edgeAnyOf:
			count(&anyOf, c.holds(e.to, p))
		case edgeOneOf:
			count(&oneOf, c.holds(e.to, p))
		case edgeIf:
			cond = c.holds(e.to, p)
		case edgeThen:
			then = c.holds(e.to, p)
		case edgeElse:
			otherwise = c.holds(e.to, p)
		}
	}
	if (cond || then) && otherwise {
		return true
	}
	for _, n := range [...][2]int{anyOf, oneOf} {
		if n[1] > 0 && n[0] == n[1] {
			return true
		}
	}
	return false
}

// makes reports whether the keywords of one location make the promise.
func (c *contexts) makes(id int, p predicate) bool {
	l := &c.g.locations[id]
	if l.words == nil {
		return false // true promises nothing; false accepts no kind at all
	}
	if l.words["enum"].Exists() || l.words["const"].Exists() {
		return p != dateTime
	}
	format := l.words["format"].Text()
	switch p {
	case closed:
		return c.holdsFalse(id, edgeAdditional) || c.holdsFalse(id, edgeUnevaluatedProperties) || c.freeMap(id) != ""
	case governed:
		n, limited := l.words["maxItems"].Decimal().Int64()
		short := limited && l.words["maxItems"].Exists() && n <= int64(l.words["prefixItems"].Len())
		return short || l.words["items"].Exists() || l.words["unevaluatedItems"].Exists()
	case shortArray:
		return l.words["maxItems"].Exists() || c.holdsFalse(id, edgeItems) || c.endsArray(id)
	case shortText:
		return l.words["maxLength"].Exists() || machineFormat(format) || c.matches(id).longest < unbounded
	case machine:
		m := c.matches(id)
		if n, ok := l.words["maxLength"].Decimal().Int64(); ok && l.words["maxLength"].Exists() {
			m.longest = min(m.longest, int(min(n, unbounded)))
		}
		return machineFormat(format) || m.machine()
	case dateTime:
		return format == "date-time"
	}
	return false
}

// holdsFalse reports whether location id has the boolean schema false on an edge.
func (c *contexts) holdsFalse(id int, k edgeKind) bool {
	for _, e := range c.g.locations[id].edges {
		if e.kind == k && c.g.bool(e.to, false) {
			return true
		}
	}
	return false
}

// freeMap returns the keyword by which location id lets members with names of the
// sender's choice pass, "" where it has none.
func (c *contexts) freeMap(id int) string {
	for _, e := range c.g.locations[id].edges {
		switch {
		case e.kind == edgePattern:
			return "patternProperties"
		case e.kind == edgeAdditional && !c.g.bool(e.to, false):
			return "additionalProperties"
		case e.kind == edgeUnevaluatedProperties && !c.g.bool(e.to, false):
			return "unevaluatedProperties"
		}
	}
	return ""
}

// endsArray reports whether unevaluatedItems: false leaves only the elements of
// prefixItems: nothing that applies in place takes elements beyond them.
func (c *contexts) endsArray(id int) bool {
	if !c.holdsFalse(id, edgeUnevaluatedItems) {
		return false
	}
	x := &context{entries: []applied{{id, sure}}}
	c.apply(x)
	for _, a := range x.all {
		for _, e := range c.g.locations[a.to].edges {
			taking := e.kind == edgeItems || e.kind == edgeContains || e.kind == edgeUnevaluatedItems
			if taking && !c.g.bool(e.to, false) {
				return false
			}
		}
	}
	return true
}

func machineFormat(name string) bool {
	switch name {
	case "date-time", "date", "time", "uuid":
		return true
	}
	return false
}

func (c *contexts) matches(id int) matches {
	if m, ok := c.matchMemo[id]; ok {
		return m
	}
	m := matches{longest: unbounded, spaces: true}
	if v := c.g.locations[id].words["pattern"]; v.Kind() == strictjson.String {
		m = matchesOf(v.Text())
	}
	c.matchMemo[id] = m
	return m
}

// kindsAt returns the kinds of values that may be accepted at x.
func (c *contexts) kindsAt(x *context) kinds {
	all, some, certain := anyKind, noKinds, false
	for _, e := range x.entries {
		k := c.kindsOf(e.to)
		some |= k
		if e.level == sure {
			certain = true
			all &= k
		}
	}
	if certain {
		return all
	}
	return some
}

// kindsOf returns the kinds of values that a subschema may accept. Recursion follows
// in-place edges, as in holds.
func (c *contexts) kindsOf(id int) kinds {
	if c.kindDone[id] {
		return c.kindMemo[id]
	}
	c.kindDone[id], c.kindMemo[id] = true, anyKind // stands while a cycle is followed
	k := c.ownKinds(id)
	var anyOf, oneOf, then, otherwise kinds
	unions := [2]bool{}
	cond, hasThen, hasElse := anyKind, false, false
	for _, e := range c.g.locations[id].edges {
		switch e.kind {
		case edgeRef, edgeAllOf:
			k &= c.kindsOf(e.to)
		case edgeAnyOf:
			anyOf, unions[0] = anyOf|c.kindsOf(e.to), true
		case edgeOneOf:
			oneOf, unions[1] = oneOf|c.kindsOf(e.to), true
		case edgeIf:
			cond = c.kindsOf(e.to)
		case edgeThen:
			then, hasThen = c.kindsOf(e.to), true
		case edgeElse:
			otherwise, hasElse = c.kindsOf(e.to), true
		}
	}
	if unions[0] {
		k &= anyOf
	}
	if unions[1] {
		k &= oneOf
	}
	if hasThen && hasElse {
		k &= (cond & then) | otherwise
	}
	c.kindMemo[id] = k
	return k
}

func (c *contexts) ownKinds(id int) kinds {
	l := &c.g.locations[id]
	if l.words == nil {
		if c.g.bool(id, true) {
			return anyKind
		}
		return noKinds
	}
	k := anyKind
	if t := l.words["type"]; t.Kind() == strictjson.String {
		k &= kindsNamed(t.Text())
	} else if t.Kind() == strictjson.Array {
		k = noKinds
		for _, e := range t.Elements() {
			k |= kindsNamed(e.Text())
		}
	}
	if v := l.words["const"]; v.Exists() {
		k &= kindsNamed(v.Kind().String())
	}
	if v := l.words["enum"]; v.Kind() == strictjson.Array {
		listed := noKinds
		for _, e := range v.Elements() {
			listed |= kindsNamed(e.Kind().String())
		}
		k &= listed
	}
	return k
}
