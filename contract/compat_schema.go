package contract

import (
	"bytes"
	"maps"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// role is what a schema judges.
type role uint8

const (
	ofResult role = iota
	ofArguments
)

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
	done     map[pairing]bool
	steps    int
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
	// closedOld and closedNew: the schema around this branch refuses members that
	// neither it nor the branch names.
	closedOld, closedNew bool
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
	return &walk{
		d: d, role: r, old: newSide(old), new: newSide(now),
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
	if w.role == ofArguments {
		return view{whole: true}
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
	case e == noted:
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
		return "what nobody described passes"
	case loosens:
		if visible && w.role == ofResult {
			return "what the agent relied on need not hold"
		}
	}
	if w.role == ofResult && !visible {
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

// placeOf is one place in both schemas.
type placeOf struct {
	w    *walk
	a, b *shape // old and new
	v    view
	t    *trail
}

func (p placeOf) report(e effect, kind string, at site, old, now string) {
	p.w.report(e, kind, at, old, now, p.v, p.t)
}

func (p placeOf) notes() {
	for _, name := range keysOf(union(p.a.notes, p.b.notes)) {
		if was, is := p.a.notes[name], p.b.notes[name]; was != is {
			at := p.b.first
			p.report(noted, "annotation-changed", at, join2(name, was), join2(name, is))
		}
	}
}

func join2(name, text string) string {
	if text == "" {
		return ""
	}
	return name + " " + text
}

func (p placeOf) types() {
	old, now := p.a.types, p.b.types
	if old == now || (p.a.listed && p.b.listed) {
		return
	}
	e, kind := unproven, "type-changed"
	switch {
	case old&^now == 0:
		e, kind = loosens, "type-widened"
	case now&^old == 0:
		e, kind = narrows, "type-narrowed"
	}
	p.report(e, kind, p.b.first, old.String(), now.String())
}

// values compares the values that are listed.
func (p placeOf) values() {
	switch {
	case !p.a.listed:
		p.report(narrows, "enum-added", p.b.first, "", p.b.String())
		return
	case !p.b.listed:
		p.report(loosens, "enum-removed", p.b.first, p.a.String(), "")
		return
	}
	for _, key := range keysOf(p.a.values) {
		if _, kept := p.b.values[key]; !kept {
			p.report(narrows, "enum-narrowed", p.b.first, key, "")
		}
	}
	for _, key := range keysOf(p.b.values) {
		if at, known := p.b.values[key], p.a.values[key]; known.file == "" {
			e := widens
			if typeOf(at.v)&^p.a.types != 0 {
				e = loosens // another type than any before
			}
			p.report(e, "enum-widened", at, "", key)
		}
	}
}

// scalars compares bounds, patterns, formats and steps of the types that both know.
func (p placeOf) scalars() {
	both := p.a.types & p.b.types
	for i, word := range boundWords {
		if word.of&both != 0 && (i == 0 || boundWords[i-1].kind != word.kind) {
			p.bound(word.kind, word.least)
		}
	}
	for _, word := range setWords {
		if word.of&both != 0 {
			p.words(word.word)
		}
	}
	if both&typeSet(kindArray) != 0 && p.a.unique != p.b.unique {
		if p.b.unique {
			p.report(narrows, "unique-added", p.b.uniqueAt, "", "true")
		} else {
			p.report(loosens, "unique-removed", p.a.uniqueAt, "true", "")
		}
	}
}

func (p placeOf) bound(kind string, least bool) {
	old, now := p.a.bounds[kind], p.b.bounds[kind]
	order := 0 // of how much passes: negative for less
	switch {
	case old.set && now.set:
		order = now.at.Cmp(old.at)
		if least {
			order = -order
		}
		if order == 0 {
			order = number(old.open) - number(now.open)
		}
	case old.set:
		order = 1
	case now.set:
		order = -1
	}
	at := now.site
	if !now.set {
		at = old.site
	}
	switch {
	case order < 0:
		p.report(narrows, "bound-narrowed", at, old.text, now.text)
	case order > 0:
		p.report(widens, "bound-widened", at, old.text, now.text)
	}
}

// words compares conditions that each stand for themselves.
func (p placeOf) words(word string) {
	var gone, came []string
	for _, key := range keysOf(p.a.words[word]) {
		if _, kept := p.b.words[word][key]; !kept {
			gone = append(gone, key)
		}
	}
	for _, key := range keysOf(p.b.words[word]) {
		if _, known := p.a.words[word][key]; !known {
			came = append(came, key)
		}
	}
	name := strings.ToLower(word)
	if len(gone) == 1 && len(came) == 1 {
		old, now := p.a.words[word][gone[0]], p.b.words[word][came[0]]
		e, kind := unproven, name+"-changed"
		if word == "multipleOf" {
			switch {
			case now.v.Decimal().MultipleOf(old.v.Decimal()):
				e, kind = narrows, name+"-narrowed"
			case old.v.Decimal().MultipleOf(now.v.Decimal()):
				e, kind = widens, name+"-widened"
			}
		}
		p.report(e, kind, now, plainOf(old.v), plainOf(now.v))
		return
	}
	for _, key := range gone {
		at := p.a.words[word][key]
		e := widens
		if word == "format" {
			e = loosens // who reads a date takes it apart
		}
		p.report(e, name+"-removed", at, plainOf(at.v), "")
	}
	for _, key := range came {
		at := p.b.words[word][key]
		p.report(narrows, name+"-added", at, "", plainOf(at.v))
	}
}

// plainOf shows a value of a schema: a string without quotes.
func plainOf(v strictjson.Value) string {
	if v.Kind() == strictjson.String {
		return v.Text()
	}
	return plainText(v)
}
