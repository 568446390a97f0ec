package contract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/format"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// typeSet is a set of JSON types in which integers are numbers of their own, so that
// "integer" is a part of "number".
type typeSet uint8

const (
	typeInteger typeSet = 1 << (iota + 6) // beside the kinds without kindNumber
	typeFraction
	typeNumber = typeInteger | typeFraction
	anyType    = typeSet(anyKind&^kindNumber) | typeNumber
)

func typeNamed(name string) typeSet {
	switch name {
	case "integer":
		return typeInteger
	case "number":
		return typeNumber
	}
	return typeSet(kindsNamed(name))
}

func typeOf(v strictjson.Value) typeSet {
	if v.Kind() == strictjson.Number {
		if v.Decimal().IsInteger() {
			return typeInteger
		}
		return typeFraction
	}
	return typeNamed(v.Kind().String())
}

// String returns the names as a schema writes them.
func (t typeSet) String() string {
	if t == anyType {
		return "any"
	}
	var names []string
	for _, name := range []string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		bits := typeNamed(name)
		switch {
		case name == "integer" && t&typeNumber == typeNumber: // number says it
		case bits&t == bits:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "|")
}

// site is where something stands in a schema's files.
type site struct {
	file string
	v    strictjson.Value
}

func (s site) String() string { return s.file + "#" + s.v.Path().String() }

// shape is what all subschemas that surely apply at one place say together: allOf and
// $ref are merged, so that it is the same however they are written.
type shape struct {
	first  site // of the first subschema
	types  typeSet
	listed bool // only values pass
	values map[string]site
	bounds map[string]bound // by kind: "length least", "value most"
	words  map[string]map[string]site
	// required and dependent are by the member's name and by "if -> then".
	required, dependent map[string]site
	unique              bool
	uniqueAt            site
	members             []string // that some subschema names, in order
	closed              bool     // members that no subschema names are refused
	closedAt            site
	unevaluated         bool              // closed by unevaluatedProperties: branches may name members too
	notes               map[string]string // annotations, by keyword
}

// boundWords are the keywords that bound an amount, by the kind of bound.
var boundWords = [...]struct {
	word, kind string
	of         typeSet
	least      bool
	open       bool
}{
	{"minLength", "length least", typeSet(kindString), true, false},
	{"maxLength", "length most", typeSet(kindString), false, false},
	{"minItems", "items least", typeSet(kindArray), true, false},
	{"maxItems", "items most", typeSet(kindArray), false, false},
	{"minProperties", "properties least", typeSet(kindObject), true, false},
	{"maxProperties", "properties most", typeSet(kindObject), false, false},
	{"minimum", "value least", typeNumber, true, false},
	{"exclusiveMinimum", "value least", typeNumber, true, true},
	{"maximum", "value most", typeNumber, false, false},
	{"exclusiveMaximum", "value most", typeNumber, false, true},
}

// setWords are the keywords of which every different value is one more condition.
var setWords = [...]struct {
	word string
	of   typeSet
}{
	{"pattern", typeSet(kindString)},
	{"format", typeSet(kindString)},
	{"multipleOf", typeNumber},
}

// shapeOf merges what surely applies at x.
func (c *contexts) shapeOf(x *context) *shape {
	s := &shape{
		types: anyType, bounds: map[string]bound{}, words: map[string]map[string]site{},
		required: map[string]site{}, dependent: map[string]site{}, notes: map[string]string{},
	}
	for _, a := range x.all {
		if a.level == sure {
			s.take(c, a.to)
		}
	}
	for _, name := range x.names {
		if len(surely(x.children[name])) > 0 {
			s.members = append(s.members, name)
		}
	}
	s.settle()
	return s
}

func surely(list []applied) []applied {
	var out []applied
	for _, a := range list {
		if a.level == sure {
			out = append(out, a)
		}
	}
	return out
}

// take merges one subschema into s.
func (s *shape) take(c *contexts, id int) {
	l := &c.g.locations[id]
	if !s.first.v.Exists() {
		s.first = site{l.file, l.value}
	}
	if l.words == nil {
		if c.g.bool(id, false) {
			s.types = 0
		}
		return
	}
	s.takeTypes(l)
	s.takeValues(l)
	for _, b := range boundWords {
		if v := l.words[b.word]; v.Kind() == strictjson.Number {
			text := v.Digits()
			if b.open {
				text = "exclusive " + text
			}
			s.tighten(b.kind, b.least, bound{true, v.Decimal(), b.open, text, site{l.file, v}})
		}
	}
	for _, w := range setWords {
		v := l.words[w.word]
		if !v.Exists() {
			continue
		}
		if s.words[w.word] == nil {
			s.words[w.word] = map[string]site{}
		}
		s.words[w.word][plainText(v)] = site{l.file, v}
	}
	for _, r := range l.words["required"].Elements() {
		s.required[r.Text()] = site{l.file, l.words["required"]}
	}
	for name, list := range l.words["dependentRequired"].Members() {
		for _, r := range list.Elements() {
			s.dependent[name+" -> "+r.Text()] = site{l.file, list}
		}
	}
	if v := l.words["uniqueItems"]; v.IsTrue() {
		s.unique, s.uniqueAt = true, site{l.file, v}
	}
	for _, e := range l.edges {
		if (e.kind == edgeAdditional || e.kind == edgeUnevaluatedProperties) && c.g.bool(e.to, false) {
			s.closed, s.closedAt = true, site{l.file, c.g.locations[e.to].value}
			s.unevaluated = s.unevaluated || e.kind == edgeUnevaluatedProperties
		}
	}
	s.takeNotes(l)
}

func (s *shape) takeTypes(l *location) {
	t := l.words["type"]
	switch t.Kind() {
	case strictjson.String:
		s.types &= typeNamed(t.Text())
	case strictjson.Array:
		all := typeSet(0)
		for _, e := range t.Elements() {
			all |= typeNamed(e.Text())
		}
		s.types &= all
	}
}

// takeValues intersects the values that are listed.
func (s *shape) takeValues(l *location) {
	only := func(values map[string]site) {
		if s.listed {
			for key := range s.values {
				if _, both := values[key]; !both {
					delete(s.values, key)
				}
			}
			return
		}
		s.listed, s.values = true, values
	}
	if v := l.words["const"]; v.Exists() {
		only(map[string]site{plainText(v): {l.file, v}})
	}
	if v := l.words["enum"]; v.Exists() {
		values := make(map[string]site, v.Len())
		for _, e := range v.Elements() {
			values[plainText(e)] = site{l.file, e}
		}
		only(values)
	}
}

// plainText is the same for values that JSON Schema holds for equal; for strings it is
// the text in quotes.
func plainText(v strictjson.Value) string {
	text, err := strictjson.AppendCanonical(nil, v, strictjson.KeepBigNumbers)
	if err != nil {
		text = strictjson.AppendJSON(nil, v)
	}
	return string(text)
}

// takeNotes collects annotations, which judge nothing.
func (s *shape) takeNotes(l *location) {
	for name, v := range l.words {
		switch keywordOf(name).form {
		case formText, formAnnotation, formList:
		case formBool:
			if name == "uniqueItems" {
				continue
			}
		default:
			continue
		}
		if name == "$comment" || name == "const" || name == "x-re2" {
			continue
		}
		s.notes[name] = strings.TrimSpace(s.notes[name] + " " + plainText(v))
	}
}

// settle brings what was merged into one form: what has no effect beside something
// else is dropped.
func (s *shape) settle() {
	for kind, b := range s.bounds {
		least := strings.HasSuffix(kind, "least")
		if least && !strings.HasPrefix(kind, "value") && b.at.Sign() <= 0 {
			delete(s.bounds, kind) // a length is never less
		}
		if s.types&typeFraction == 0 && strings.HasPrefix(kind, "value") {
			s.bounds[kind] = b.ofIntegers(least)
		}
	}
	if !s.listed {
		return
	}
	all := typeSet(0)
	for key, at := range s.values {
		if !s.admits(at.v) {
			delete(s.values, key)
			continue
		}
		all |= typeOf(at.v)
	}
	s.types = all
}

// admits reports whether a listed value passes what else is said about scalars here.
func (s *shape) admits(v strictjson.Value) bool {
	if typeOf(v)&s.types == 0 {
		return false
	}
	switch v.Kind() {
	case strictjson.String:
		length, _ := strictjson.ParseDecimal(strconv.Itoa(v.Chars()))
		return s.within("length", length) && s.matched(v.Text())
	case strictjson.Number:
		for _, step := range s.words["multipleOf"] {
			if !v.Decimal().MultipleOf(step.v.Decimal()) {
				return false
			}
		}
		return s.within("value", v.Decimal())
	}
	return true
}

func (s *shape) within(what string, d strictjson.Decimal) bool {
	if b := s.bounds[what+" least"]; b.set && (d.Cmp(b.at) < 0 || (b.open && d.Cmp(b.at) == 0)) {
		return false
	}
	b := s.bounds[what+" most"]
	return !b.set || d.Cmp(b.at) < 0 || (!b.open && d.Cmp(b.at) == 0)
}

func (s *shape) matched(text string) bool {
	for _, p := range s.words["pattern"] {
		if re, err := regexp.Compile(p.v.Text()); err == nil && !re.MatchString(text) {
			return false
		}
	}
	for _, f := range s.words["format"] {
		if check, known := format.Lookup(f.v.Text()); known && check(text) != nil {
			return false
		}
	}
	return true
}

// String is a short name of what passes.
func (s *shape) String() string {
	if !s.listed {
		return s.types.String()
	}
	return strings.Join(keysOf(s.values), "|")
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
