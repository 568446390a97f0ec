package contract

import (
	"slices"
	"strconv"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

const contractFile = "contract.yaml"

// schemaLinter applies the rules for schemas of our own: every place is closed and
// described, and what contract.yaml says about places is true of the schema.
type schemaLinter struct {
	c    *Contract
	g    *graph
	cx   *contexts
	rep  *reporter
	said map[strictjson.Value]map[string]bool // rules already reported at a place
	// fieldKeys says of each agent field which entry of contract.yaml it comes from.
	fieldKeys []int
}

// newSchemaLinter returns nil where there is no schema that could be read.
func newSchemaLinter(c *Contract, s *Schema) *schemaLinter {
	if s == nil {
		return nil
	}
	g := graphOf(s)
	if g == nil {
		return nil
	}
	return &schemaLinter{
		c: c, g: g, cx: newContexts(g), rep: &reporter{files: s.Files},
		said: map[strictjson.Value]map[string]bool{},
	}
}

// done returns the faults. Where the schema was too tangled to be followed to its
// end, only that is certain.
func (l *schemaLinter) done() Faults {
	if l.cx.exhausted {
		l.rep.faults = nil
		root := &l.g.locations[l.g.root]
		l.rep.at(root.file, root.value, "this schema combines too many subschemas at too many places to be linted", "simplify it")
	}
	return l.rep.faults.Sort()
}

// inSchema adds a fault at a location, once for each rule.
func (l *schemaLinter) inSchema(rule string, id int, at strictjson.Value, message, cure string) {
	if l.said[at] == nil {
		l.said[at] = map[string]bool{}
	}
	if l.said[at][rule] {
		return
	}
	l.said[at][rule] = true
	l.rep.at(l.g.locations[id].file, at, message, cure)
}

// inContract adds a fault at a key of contract.yaml.
func (l *schemaLinter) inContract(key, message, cure string) {
	f := Fault{File: contractFile, Message: key + ": " + message, Cure: cure}
	f.Line, f.Column = l.c.Place(key)
	if !l.rep.full() {
		l.rep.faults = append(l.rep.faults, f)
	}
}

func element(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// structure walks every place that a value may have and refuses those that are open.
func (l *schemaLinter) structure() {
	root := l.cx.root()
	queue := []*context{root}
	seen := map[int]bool{root.id: true}
	for len(queue) > 0 && !l.cx.exhausted {
		x := queue[0]
		queue = queue[1:]
		l.closedHere(x)
		for _, y := range l.below(x) {
			if !seen[y.id] {
				seen[y.id] = true
				queue = append(queue, y)
			}
		}
	}
}

// below returns the contexts of x's members and elements.
func (l *schemaLinter) below(x *context) []*context {
	var list []*context
	for _, name := range x.names {
		if y := l.cx.member(x, name); y != nil {
			list = append(list, y)
		}
	}
	if y := l.cx.element(x); y != nil {
		list = append(list, y)
	}
	return list
}

func (l *schemaLinter) closedHere(x *context) {
	if l.lost(x) {
		return
	}
	free := false
	for _, a := range x.all {
		word := l.cx.freeMap(a.to)
		if word == "" {
			continue
		}
		free = true
		at := l.g.locations[a.to].words[word]
		l.inSchema("free", a.to, at, word+" makes this object a free map: the sender chooses the names of members",
			"name the members in properties and write additionalProperties: false, or use an array of {name, value}")
	}
	if !l.cx.holdsAt(x, closed) {
		for _, id := range l.culprits(x, closed) {
			l.saysOpen(x, id)
		}
	} else if !free {
		l.requiredKnown(x)
	}
	if !l.cx.holdsAt(x, governed) {
		for _, id := range l.culprits(x, governed) {
			at := l.g.locations[id].value
			if l.said[at]["open"] {
				continue // one cure for both: to say what may stand here
			}
			l.inSchema("governed", id, at, "the elements of an array here are described by no schema, so any value would pass",
				"write items, or a type without array")
		}
	}
}

// lost reports whether some reference that applies at x leads nowhere, so that nobody
// knows what it says of x. The reference is the fault, and nothing follows from it.
func (l *schemaLinter) lost(x *context) bool {
	return slices.ContainsFunc(x.all, func(a applied) bool {
		loc := &l.g.locations[a.to]
		if loc.words["$dynamicRef"].Exists() {
			return true
		}
		return loc.words["$ref"].Exists() && !slices.ContainsFunc(loc.edges, func(e edge) bool { return e.kind == edgeRef })
	})
}

func (l *schemaLinter) saysOpen(x *context, id int) {
	loc := &l.g.locations[id]
	if l.cx.kindsAt(x) == anyKind && l.cx.kindsOf(id) == anyKind {
		l.inSchema("open", id, loc.value, "nothing limits what kind of value may stand here, so open objects pass too",
			"write a type, const or enum; an object also needs additionalProperties: false")
		return
	}
	l.inSchema("open", id, loc.value, "this object is open: members that no schema names would pass",
		"write additionalProperties: false here, or unevaluatedProperties: false beside the allOf, anyOf, oneOf or $ref that leads here")
}

// culprits returns the locations at which a promise that fails at x is best made: the
// branches of a union that do not make it, the target of a bare $ref, else the
// subschema itself.
func (l *schemaLinter) culprits(x *context, p predicate) []int {
	var list []int
	seen := map[int]bool{}
	var look func(int)
	look = func(id int) {
		if seen[id] || l.cx.holds(id, p) || !l.cx.spend(1+len(l.g.locations[id].edges)) {
			return
		}
		seen[id] = true
		next, bare := l.unions(id)
		if len(next) == 0 || !bare {
			list = append(list, id)
			return
		}
		for _, to := range next {
			look(to)
		}
	}
	certain := false
	for _, e := range x.entries {
		if e.level == sure && !certain {
			certain = true
			look(e.to)
		}
	}
	if !certain {
		for _, e := range x.entries {
			look(e.to)
		}
	}
	return list
}

// unions returns the targets of a location's anyOf, oneOf and $ref; bare says that it
// holds nothing else that describes a value.
func (l *schemaLinter) unions(id int) (next []int, bare bool) {
	bare = true
	for _, e := range l.g.locations[id].edges {
		switch e.kind {
		case edgeAnyOf, edgeOneOf, edgeRef:
			next = append(next, e.to)
		case edgeHeld:
		default:
			bare = false
		}
	}
	return next, bare
}

// requiredKnown refuses a required member of a closed object that no subschema names:
// no value could ever conform.
func (l *schemaLinter) requiredKnown(x *context) {
	if l.cx.kindsAt(x)&kindObject == 0 || x.open {
		return
	}
	for _, a := range x.all {
		required := l.g.locations[a.to].words["required"]
		if a.level == tested || l.cx.makes(a.to, finite) {
			continue // a listed value describes its members too
		}
		if !l.cx.spend(required.Len()) {
			return
		}
		for _, r := range required.Elements() {
			name := r.Text()
			if _, ok := x.children[name]; ok || r.Kind() != strictjson.String || l.said[r]["required"] {
				continue
			}
			cure := "describe it in properties, or do not require it"
			if near := nearest(name, x.names); near != "" {
				cure = "did you mean " + printable(near) + "?"
			}
			l.inSchema("required", a.to, r, "the member "+shown(name)+" is required, but no schema here names it, so nothing can ever conform", cure)
		}
	}
}
