package contract

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// AgentSchema returns a JSON Schema (draft 2020-12) of what an agent gets of a result
// that was accepted, as one compact document without outside references; nil for kind
// text. It is the payload's schema reduced to the agent fields: only their members are
// described, every object on the way to them is closed, and a member is required where
// the payload requires it. A value below an agent field is described as the payload's
// schema describes it; text that is cut has a maxLength, and a list with a limit of its
// own a maxItems.
//
// Every result that an agent gets conforms. The reverse holds except where the payload's
// schema ties given members to withheld ones: a branch of a union or a condition cannot
// be told apart any more by what it says about the latter, so oneOf becomes anyOf, if
// becomes a choice, and not is left out, on the way to agent fields and nowhere else.
//
// The result depends on the contract's files only. It is made anew with each call and
// the caller's to keep. The error says that the schema would be larger than 1 MiB; a
// contract that was loaded has none.
func (c *Contract) AgentSchema() ([]byte, error) {
	if c.Result.Schema == nil {
		return nil, nil
	}
	fields := &fieldNode{}
	for _, p := range c.Result.AgentFields {
		n := fields
		for _, token := range p {
			n.below++
			n = n.grow(token)
		}
		n.field = 1
	}
	grow := func(at strictjson.Pointer) *fieldNode {
		n := fields
		for _, token := range at {
			n = n.grow(token)
		}
		return n
	}
	bounds := map[*fieldNode]ceilings{}
	for _, f := range c.Result.TextFields {
		if f.MaxChars > 0 {
			bounds[grow(f.At)] = append(bounds[grow(f.At)], ceiling{"maxLength", f.MaxChars})
		}
	}
	if m := c.Result.MaxList; m != nil {
		bounds[grow(m.At)] = append(bounds[grow(m.At)], ceiling{"maxItems", m.Items})
	}
	return excerptOf(c.Result.Schema, fields, bounds)
}

// ArgumentsSchema returns the JSON Schema (draft 2020-12) of the arguments, as one
// compact document without outside references; nil where the contract has none. What
// AgentSchema says of its result and its error holds here too.
func (c *Contract) ArgumentsSchema() ([]byte, error) {
	if c.Arguments == nil || c.Arguments.Schema == nil {
		return nil, nil
	}
	return excerptOf(c.Arguments.Schema, &fieldNode{field: 1}, nil)
}

// lintExcerpts refuses schemas that are too large in one document, so that whoever asks
// for them gets them.
func lintExcerpts(c *Contract) Faults {
	const cure = "let agent_fields name larger parts, or refer to large definitions less often"
	var faults Faults
	if _, err := c.AgentSchema(); err != nil {
		f := Fault{File: contractFile, Message: "result.agent_fields: the schema of what the agent gets would be larger than 1 MiB", Cure: cure}
		f.Line, f.Column = c.Place("result.agent_fields")
		faults = append(faults, f)
	}
	if _, err := c.ArgumentsSchema(); err != nil {
		f := Fault{File: contractFile, Message: "arguments.schema: the schema would be larger than 1 MiB in one document"}
		f.Line, f.Column = c.Place("arguments.schema")
		faults = append(faults, f)
	}
	return faults
}

// maxExcerpt bounds an excerpt, in bytes.
const maxExcerpt = 1 << 20

var errExcerptTooLarge = errors.New("contract: the schema in one document is larger than 1 MiB")

// standing is in what way a subschema stands in an excerpt.
type standing uint8

const (
	whole   standing = iota // as it is: the agent gets the value
	closing                 // reduced, and closed: the value is of these members only
	beside                  // reduced, beside a closing one that is of the same value
)

// ceilings are what a contract limits besides its schema, at one place.
type ceilings []ceiling

type ceiling struct {
	word string // maxLength or maxItems
	most int
}

// use is one subschema in one standing. node says what is given below the value, and what
// has bounds; of whole ones only the latter counts, and nil says nothing.
type use struct {
	id   int
	node *fieldNode
	role standing
}

// excerpt writes one schema into one document. Each $ref leads to a definition, one for
// each use of its target, so that the document is not larger than the schema times the
// ways it is used, and recursion ends.
type excerpt struct {
	g      *graph
	cx     *contexts
	bounds map[*fieldNode]ceilings
	told   map[*fieldNode]bool // bounds are at or below the node
	root   use
	dst    []byte
	names  map[use]string // of definitions
	taken  map[string]int // how many begin with this name
	todo   []use          // definitions in order
	first  bool           // the next member is the first one of its object
	over   bool           // dst is too large; what follows does not count
}

func excerptOf(s *Schema, fields *fieldNode, limits map[*fieldNode]ceilings) ([]byte, error) {
	g := graphOf(s)
	if g == nil {
		return nil, errors.New("contract: the schema cannot be read")
	}
	e := &excerpt{
		g: g, cx: newContexts(g), bounds: limits, told: map[*fieldNode]bool{},
		names: map[use]string{}, taken: map[string]int{},
	}
	e.tell(fields)
	e.root = e.below(g.root, fields)
	e.dst, e.first = append(e.dst, '{'), true
	e.member("$schema")
	e.dst = strictjson.AppendString(e.dst, dialect)
	e.members(e.root)
	for i := 0; i < len(e.todo) && !e.over; i++ { // it grows meanwhile
		if i == 0 {
			e.member("$defs")
			e.dst = append(e.dst, '{')
			e.first = true
		}
		e.member(e.names[e.todo[i]])
		e.schema(e.todo[i])
	}
	if len(e.todo) > 0 {
		e.dst = append(e.dst, '}')
	}
	if e.over {
		return nil, errExcerptTooLarge
	}
	return append(e.dst, '}'), nil
}

// tell notes where bounds are.
func (e *excerpt) tell(n *fieldNode) bool {
	told := len(e.bounds[n]) > 0
	for _, below := range n.children {
		told = e.tell(below) || told
	}
	e.told[n] = told
	return told
}

// below returns the use of a subschema for a value at a node.
func (e *excerpt) below(id int, n *fieldNode) use {
	if n == nil || n.field > 0 {
		return e.asIs(id, n)
	}
	return use{id, n, closing}
}

// asIs returns the use of a subschema for a value that is given.
func (e *excerpt) asIs(id int, n *fieldNode) use {
	if !e.told[n] {
		n = nil
	}
	return use{id, n, whole}
}

// given reports whether the agent gets anything at or below a node.
func (n *fieldNode) given() bool { return n != nil && (n.field > 0 || n.below > 0) }

// member begins a member of the object that is being written.
func (e *excerpt) member(name string) {
	if !e.first {
		e.dst = append(e.dst, ',')
	}
	e.first = false
	e.dst = append(strictjson.AppendString(e.dst, name), ':')
}

// object writes an object whose members f writes.
func (e *excerpt) object(f func()) {
	e.dst = append(e.dst, '{')
	e.first = true
	f()
	e.dst = append(e.dst, '}')
	e.first = false
}

// comma separates element i of an array from the one before it.
func (e *excerpt) comma(i int) {
	if i > 0 {
		e.dst = append(e.dst, ',')
	}
}

// list writes an array of schemas.
func (e *excerpt) list(uses []use) {
	e.dst = append(e.dst, '[')
	for i, u := range uses {
		e.comma(i)
		e.schema(u)
	}
	e.dst = append(e.dst, ']')
}

// schema writes a subschema.
func (e *excerpt) schema(u use) {
	v := e.g.locations[u.id].value
	e.over = e.over || len(e.dst) > maxExcerpt
	switch {
	case e.over:
		e.dst = append(e.dst, "false"...)
	case v.Kind() == strictjson.Bool && (u.role != closing || !v.IsTrue()):
		e.dst = strictjson.AppendJSON(e.dst, v)
	default:
		e.object(func() { e.members(u) })
	}
}

// members writes what a subschema says.
func (e *excerpt) members(u use) {
	l := &e.g.locations[u.id]
	switch {
	case l.value.Kind() == strictjson.Bool && !l.value.IsTrue():
		e.member("not")
		e.dst = append(e.dst, "{}"...)
	case u.role == whole:
		e.wholeMembers(l, u.node)
	default:
		e.reducedMembers(l, u)
	}
}

// wholeMembers writes the keywords of a subschema as they are, without what only names
// places of its file and without what authors note for themselves.
func (e *excerpt) wholeMembers(l *location, n *fieldNode) {
	pending := slices.Clone(e.bounds[n])
	for name, v := range l.value.Members() {
		k := keywordOf(name)
		if unshown(name) {
			continue
		}
		if name == "$ref" {
			e.ref(l, use{node: n, role: whole})
			pending = nil // they stand where this leads
			continue
		}
		e.member(name)
		switch {
		case name == "maxLength", name == "maxItems":
			e.dst = pending.take(e.dst, name, v)
		case k.form == formSchema:
			e.schema(e.asIs(e.g.index[v], nodeUnder(k.edge, n, "")))
		case k.form == formSchemas:
			var list []use
			for _, m := range v.Elements() {
				list = append(list, e.asIs(e.g.index[m], nodeUnder(k.edge, n, "")))
			}
			e.list(list)
		case k.form == formSchemaMap:
			e.object(func() {
				for key, m := range v.Members() {
					e.member(key)
					e.schema(e.asIs(e.g.index[m], nodeUnder(k.edge, n, key)))
				}
			})
		default:
			e.dst = strictjson.AppendJSON(e.dst, v)
		}
	}
	for _, b := range pending {
		e.member(b.word)
		e.dst = strconv.AppendInt(e.dst, int64(b.most), 10)
	}
}

// take appends the value of a keyword, or that of the bound for it where it is less, and
// removes the bound.
func (b *ceilings) take(dst []byte, word string, v strictjson.Value) []byte {
	i := slices.IndexFunc(*b, func(x ceiling) bool { return x.word == word })
	if i < 0 {
		return strictjson.AppendJSON(dst, v)
	}
	limit := int64((*b)[i].most)
	*b = slices.Delete(*b, i, i+1)
	if most, fits := v.Decimal().Int64(); fits && most < limit {
		limit = most
	}
	return strconv.AppendInt(dst, limit, 10)
}

// unshown reports whether a keyword says nothing to a reader of the excerpt.
func unshown(name string) bool {
	switch name {
	case "$schema", "$id", "$anchor", "$defs", "$comment", "contentSchema":
		return true
	}
	return strings.HasPrefix(name, "x-")
}

// nodeUnder returns the node of the values that an applicator judges; nil where the
// applicator only asks, or where nothing is said.
func nodeUnder(k edgeKind, n *fieldNode, key string) *fieldNode {
	switch k {
	case edgeAllOf, edgeAnyOf, edgeOneOf, edgeThen, edgeElse, edgeDependent:
		return n
	case edgeProperty:
		return n.child(key)
	case edgeItems, edgePrefix:
		return n.child(strictjson.EveryElement)
	}
	return nil
}

// ref writes where the $ref of a location leads in the excerpt, in the same use; nothing
// where it leads nowhere.
func (e *excerpt) ref(l *location, u use) {
	for _, to := range l.edges {
		if to.kind == edgeRef {
			u.id = to.to
			e.member("$ref")
			e.dst = strictjson.AppendString(e.dst, e.nameOf(u))
		}
	}
}

// nameOf returns the $ref to a use, and makes a definition of it where there is none.
func (e *excerpt) nameOf(u use) string {
	if u == e.root {
		return "#"
	}
	name, known := e.names[u]
	if !known {
		l := &e.g.locations[u.id]
		base := strings.TrimSuffix(path.Base(l.file), ".json")
		if p := l.value.Path(); len(p) > 0 {
			base = p[len(p)-1]
		}
		base = plainBase(base)
		e.taken[base]++
		name = base
		if n := e.taken[base]; n > 1 {
			name = base + "-" + strconv.Itoa(n) // no other base holds a hyphen
		}
		e.names[u] = name
		e.todo = append(e.todo, u)
	}
	return "#/$defs/" + name
}

// plainBase makes a name that needs no escape in a $ref.
func plainBase(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 64)]
}

// wantedNames returns the members that are given at a node, sorted.
func wantedNames(n *fieldNode) []string {
	names := sortedTokens(n)
	return slices.DeleteFunc(names, func(token string) bool {
		return token == strictjson.EveryElement || !n.children[token].given()
	})
}
