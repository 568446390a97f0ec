package contract

import (
	"bytes"
	"maps"
)

// role is what a schema judges.
type role uint8

const (
	ofResult role = iota
	ofArguments
	ofVendor // what an adapter relies on: what it makes of it is judged by ofResult
)

func roles() []role { return []role{ofResult, ofArguments, ofVendor} }

// schema returns the schema of a contract that judges this, nil where it has none.
func (r role) schema(c *Contract) *Schema {
	switch {
	case r == ofResult:
		return c.Result.Schema
	case r == ofArguments && c.Arguments != nil:
		return c.Arguments.Schema
	case r == ofVendor && c.Result.Adapter != nil:
		return c.Result.Adapter.Schema
	}
	return nil
}

// effect is what a difference of two schemas does to the values that pass.
type effect uint8

const (
	noted    effect = iota // nothing: an annotation
	widens                 // more values pass
	loosens                // more values pass, and what readers relied on need not hold
	opens                  // what nobody described passes
	narrows                // fewer values pass
	unproven               // nobody knows
)

// side is one of the two schemas.
type side struct {
	cx     *contexts
	shapes map[*context]*shape
}

// same reports whether two graphs were read from the same bytes.
func (g *graph) same(h *graph) bool {
	return g.locations[g.root].file == h.locations[h.root].file && maps.EqualFunc(g.rep.files, h.rep.files, bytes.Equal)
}

func newSide(s *Schema) *side {
	return &side{cx: newContexts(graphOf(s)), shapes: map[*context]*shape{}}
}

func (s *side) shape(x *context) *shape {
	if s.shapes[x] == nil {
		s.shapes[x] = s.cx.shapeOf(x)
	}
	return s.shapes[x]
}

// walk goes through two schemas in parallel, place by place.
type walk struct {
	d        *differ
	role     role
	old, new *side
	// refuses is true where an adapter refuses members that the vendor's schema does not
	// name: what is no longer described is refused then.
	refuses bool
	done    map[pairing]bool
	steps   int
	// probing is true while it is only asked whether two places are the same. Pairs that
	// are being compared, and those found the same, are assumed to be; differs ends it.
	probing bool
	differs bool
	assumed map[pairing]bool
	trail   []pairing // of assumed, in order
}

// pairing is two contexts and how they are looked at.
type pairing struct {
	old, new *context
	view     view
}

// view is what a place takes from those above it.
type view struct {
	whole bool       // all of it is given to the agent, or it is an argument
	node  *fieldNode // the part of agent_fields below; nil: nothing of it is given
	// aroundOld and aroundNew are what is said around this branch of a union, where that
	// refuses members which nothing at the place names; else nil.
	aroundOld, aroundNew *context
}

func (v view) visible() bool { return v.whole || v.node != nil }

// below is the view of a member or element.
func (v view) below(token string) view {
	if v.whole {
		return view{whole: true}
	}
	n := v.node.child(token)
	return view{whole: n != nil && n.field > 0, node: n}
}

// maxPairs bounds the pairs of places that one comparison looks at.
const maxPairs = 200_000

func newWalk(d *differ, r role, old, now *Schema) *walk {
	a := d.new.Result.Adapter
	return &walk{
		refuses: r == ofVendor && a != nil && a.Watch == WatchRefuse,
		d:       d, role: r, old: newSide(old), new: newSide(now),
		done: map[pairing]bool{}, assumed: map[pairing]bool{},
	}
}

// run compares from the root down. Recursion is bounded by the number of contexts.
func (w *walk) run() {
	if w.old.cx.g.same(w.new.cx.g) {
		return
	}
	before := len(w.d.changes)
	w.diff(w.old.cx.root(), w.new.cx.root(), w.rootView(), nil)
	if w.steps > maxPairs || w.old.cx.exhausted || w.new.cx.exhausted {
		w.d.changes = append(w.d.changes[:before], Change{
			Class: Breaking, Kind: "schema-changed", At: w.new.shape(w.new.cx.root()).first.String(),
			Detail: cannotProve + ": the schemas combine too many subschemas at too many places",
		})
	}
}

// rootView arranges the agent fields of both contracts as one tree.
func (w *walk) rootView() view {
	switch w.role {
	case ofArguments:
		return view{whole: true}
	case ofVendor:
		return view{}
	}
	tree, whole := &fieldNode{}, false
	for _, c := range []*Contract{w.d.old, w.d.new} {
		for _, p := range c.Result.AgentFields {
			n := tree
			for _, token := range p {
				n = n.grow(token)
			}
			n.field, whole = 1, whole || len(p) == 0
		}
	}
	return view{whole: whole, node: tree}
}

// class weighs an effect at a place; see docs/contracts-compat.md.
func (w *walk) class(e effect, visible bool) Class {
	switch {
	case e == noted, e == opens && w.role == ofVendor:
		return Safe
	case e == narrows, e == unproven, e == opens:
		return Breaking
	case w.role == ofArguments:
		return Additive
	case !visible:
		return Safe
	case e == loosens:
		return Breaking
	}
	return Additive
}

// means is what an effect does, in words.
func (w *walk) means(e effect, visible bool) string {
	what := "replies"
	if w.role == ofArguments {
		what = "calls"
	}
	switch e {
	case noted:
		return "nothing is judged by it"
	case narrows:
		return what + " that passed are refused"
	case unproven:
		return cannotProve
	case opens:
		if w.role == ofVendor {
			return "the adapter no longer relies on it"
		}
		return "what nobody described passes"
	case loosens:
		if visible && w.role == ofResult {
			return "what the agent relied on need not hold"
		}
	}
	if !visible {
		return what + " that were refused pass; the agent sees nothing of it"
	}
	return what + " that were refused pass"
}

// report adds a change at a place of the value.
func (w *walk) report(e effect, kind string, at site, old, now string, v view, t *trail) {
	if w.probing {
		w.differs = w.differs || e != noted
		return
	}
	place := shownPointer(t.pointer())
	if place == "" {
		place = "the whole"
	}
	w.d.add(Change{
		Class: w.class(e, v.visible()), Kind: kind, At: at.String(), Old: old, New: now,
		Detail: place + ": " + w.means(e, v.visible()),
	})
}

// enter notes a pair; false means that there is nothing more to do for it.
func (w *walk) enter(p pairing) bool {
	if w.steps++; w.steps > maxPairs || (w.probing && w.differs) {
		return false
	}
	if w.probing {
		p.view.whole, p.view.node = false, nil
		if w.assumed[p] {
			return false
		}
		w.assumed[p] = true
		w.trail = append(w.trail, p)
		return true
	}
	if w.done[p] {
		return false
	}
	w.done[p] = true
	return true
}

// same reports whether the schemas accept the same values at two places, as far as
// comparing can tell.
func (w *walk) same(x, y *context, v view) bool {
	probing, differs, begin := w.probing, w.differs, len(w.trail)
	w.probing, w.differs = true, false
	w.diff(x, y, v, nil)
	alike := !w.differs && w.steps <= maxPairs
	w.probing, w.differs = probing, differs
	if !alike {
		for _, p := range w.trail[begin:] {
			delete(w.assumed, p)
		}
		w.trail = w.trail[:begin]
	}
	return alike
}

// diff compares two places and what stands below them.
func (w *walk) diff(x, y *context, v view, t *trail) {
	if x == nil || y == nil || !w.enter(pairing{x, y, v}) {
		return
	}
	a, b := w.old.shape(x), w.new.shape(y)
	if a.types == 0 && b.types == 0 {
		return // nothing passes, however that is said
	}
	at := placeOf{w, a, b, v, t}
	at.notes()
	if w.mixed(x, y, at) {
		return
	}
	at.types()
	if a.listed || b.listed {
		at.values()
	}
	if !a.listed || !b.listed {
		at.scalars()
	}
	both := a.types & b.types
	if both&typeSet(kindObject) != 0 && !(a.listed && b.listed) {
		w.objects(x, y, at)
	}
	if both&typeSet(kindArray) != 0 && !(a.listed && b.listed) {
		w.arrays(x, y, at)
	}
	w.clauses(x, y, at)
}
