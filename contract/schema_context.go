package contract

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// kinds is a set of kinds of JSON values; numbers and integers are one kind.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	noKinds   kinds = 0
	anyKind         = kindNull | kindBool | kindNumber | kindString | kindArray | kindObject
	scalarSet       = kindNull | kindBool | kindNumber | kindString
)

func kindsNamed(name string) kinds {
	switch name {
	case "null":
		return kindNull
	case "boolean":
		return kindBool
	case "number", "integer":
		return kindNumber
	case "string":
		return kindString
	case "array":
		return kindArray
	case "object":
		return kindObject
	}
	return noKinds
}

// level says when a subschema counts for a value. It orders: a location that is
// reached in several ways counts by the strongest.
type level uint8

const (
	tested level = iota // inside an if: it chooses, it refuses nothing
	maybe               // in a branch that may not be the one
	sure                // every accepted value conforms to it
)

type applied struct {
	to    int
	level level
}

// context is everything that the schema says about one place in a value: the
// subschemas by which it is reached, and all that these apply in place.
type context struct {
	id       int
	entries  []applied // sorted by location
	all      []applied // entries and what they apply in place, not excluded by not
	names    []string  // members that some subschema names, in order of the schema
	children map[string][]applied
	elements []applied
	open     bool // members beyond names are described by some subschema
}

// contexts makes each context once. Their number is bounded by a budget of steps, at
// which exhausted is set and places look unknown.
type contexts struct {
	g         *graph
	known     map[string]*context
	steps     int
	exhausted bool
	preds     [predicates][]int8
	kindMemo  []kinds
	kindDone  []bool
	matchMemo map[int]matches
}

func newContexts(g *graph) *contexts {
	return &contexts{
		g: g, known: map[string]*context{},
		kindMemo: make([]kinds, len(g.locations)), kindDone: make([]bool, len(g.locations)),
		matchMemo: map[int]matches{},
	}
}

// spend counts steps of a walk that is repeated at many contexts; false means that
// the budget is used up and the walk must end.
func (c *contexts) spend(n int) bool {
	c.steps += n
	c.exhausted = c.exhausted || c.steps > maxSteps
	return !c.exhausted
}

// root returns the context of the whole value; there always is one.
func (c *contexts) root() *context { return c.context([]applied{{c.g.root, sure}}) }

// of returns the context of these entries, nil where there are none or the budget is
// used up.
func (c *contexts) of(entries []applied) *context {
	if len(entries) == 0 || !c.spend(len(entries)) {
		return nil
	}
	return c.context(strongest(entries))
}

// context makes the context of sorted entries, or finds it.
func (c *contexts) context(entries []applied) *context {
	key := make([]byte, 0, 4*len(entries))
	for _, e := range entries {
		key = binary.AppendUvarint(key, uint64(e.to))
		key = append(key, byte(e.level))
	}
	if x, ok := c.known[string(key)]; ok {
		return x
	}
	x := &context{id: len(c.known), entries: entries, children: map[string][]applied{}}
	c.known[string(key)] = x
	c.apply(x)
	for _, a := range x.all {
		c.descend(x, a)
	}
	return x
}

// strongest sorts entries by location and keeps the strongest level of each.
func strongest(entries []applied) []applied {
	out := slices.Clone(entries)
	sort.Slice(out, func(i, j int) bool {
		if out[i].to != out[j].to {
			return out[i].to < out[j].to
		}
		return out[i].level > out[j].level
	})
	return slices.CompactFunc(out, func(a, b applied) bool { return a.to == b.to })
}

// apply fills x.all: the subschemas that apply in place at x.
func (c *contexts) apply(x *context) {
	best := map[int]level{}
	queue := slices.Clone(x.entries)
	var order []int
	for len(queue) > 0 {
		a := queue[0]
		queue = queue[1:]
		old, seen := best[a.to]
		if seen && old >= a.level {
			continue
		}
		if !seen {
			order = append(order, a.to)
		}
		best[a.to] = a.level
		l := &c.g.locations[a.to]
		for _, e := range l.edges {
			c.steps++
			if e.kind.inPlace() && e.kind != edgeNot {
				queue = append(queue, applied{e.to, min(a.level, levelOf(l, e.kind))})
			}
		}
	}
	for _, id := range order {
		x.all = append(x.all, applied{id, best[id]})
	}
}

func levelOf(l *location, k edgeKind) level {
	switch k {
	case edgeRef, edgeAllOf:
		return sure
	case edgeIf:
		return tested
	case edgeAnyOf:
		if l.words["anyOf"].Len() == 1 {
			return sure
		}
	case edgeOneOf:
		if l.words["oneOf"].Len() == 1 {
			return sure
		}
	}
	return maybe
}

// descend adds to x what one of its subschemas says about members and elements.
func (c *contexts) descend(x *context, a applied) {
	l := &c.g.locations[a.to]
	prefixed := l.words["prefixItems"].Exists()
	for _, e := range l.edges {
		c.steps++
		switch e.kind {
		case edgeProperty:
			if _, ok := x.children[e.key]; !ok {
				x.names = append(x.names, e.key)
			}
			x.children[e.key] = append(x.children[e.key], applied{e.to, a.level})
		case edgePattern:
			x.open = true
		case edgeAdditional, edgeUnevaluatedProperties:
			x.open = x.open || !c.g.bool(e.to, false)
		case edgeItems:
			if prefixed {
				x.elements = append(x.elements, applied{e.to, min(a.level, maybe)})
			} else {
				x.elements = append(x.elements, applied{e.to, a.level})
			}
		case edgePrefix, edgeContains, edgeUnevaluatedItems:
			x.elements = append(x.elements, applied{e.to, min(a.level, maybe)})
		}
	}
}

// member returns the context of a member; nil where no subschema names it.
func (c *contexts) member(x *context, name string) *context { return c.of(x.children[name]) }

// element returns the context of an array's elements; nil where nothing describes
// them.
func (c *contexts) element(x *context) *context { return c.of(x.elements) }

// step follows one token of a pointer. index says that a position may stand for an
// element; otherwise only [strictjson.EveryElement] does.
func (c *contexts) step(x *context, token string, index bool) *context {
	k := c.kindsAt(x)
	if k&kindArray != 0 && (token == strictjson.EveryElement || (index && isIndex(token))) {
		if y := c.element(x); y != nil {
			return y
		}
	}
	if k&kindObject == 0 {
		return nil
	}
	return c.member(x, token)
}

// find follows a pointer from the root. known is the number of tokens that the schema
// knows, and last the context they lead to; x is nil where that is not all.
func (c *contexts) find(p strictjson.Pointer, index bool) (x, last *context, known int) {
	last = c.root()
	for i, token := range p {
		x := c.step(last, token, index)
		if x == nil {
			return nil, last, i
		}
		last = x
	}
	return last, last, len(p)
}

func isIndex(token string) bool {
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return false
		}
	}
	return token != "" && (token == "0" || token[0] != '0')
}
