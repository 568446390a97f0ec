package condition

import (
	"path"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// ShapeOf derives a shape from the JSON Schema (draft 2020-12) in roots[file]. References
// are followed inside roots, whose keys are slash-separated paths relative to one
// folder; what they do not reach, and what has no single type, is dyn. The shape only
// names what an expression may rely on at load: it judges no instance. Time is linear in
// the size of the schemas.
func ShapeOf(file string, roots map[string]strictjson.Value) *Shape {
	b := builder{roots: roots, shapes: map[strictjson.Value]*Shape{}, views: map[strictjson.Value]*view{}}
	return b.shape(location{file, roots[file]}).known()
}

// A location is a subschema and the file that it stands in.
type location struct {
	file   string
	schema strictjson.Value
}

// typeSet is a set of JSON types; a number is an integer or a fraction.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBool
	typeInteger
	typeFraction
	typeString
	typeArray
	typeObject

	typeNumber = typeInteger | typeFraction
	typeAny    = typeNull | typeBool | typeNumber | typeString | typeArray | typeObject
)

var typeNames = map[string]typeSet{
	"null": typeNull, "boolean": typeBool, "integer": typeInteger, "number": typeNumber,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// A view is what a subschema says about the instance that it applies to, with all that
// applies in place ($ref, allOf, unions).
type view struct {
	types   typeSet
	members map[string]*Shape
	closed  bool   // no other members
	elem    *Shape // of array elements; nil means unknown
	extra   *Shape // of members without a name; nil means unknown
}

// builder remembers finished shapes and views, so that schemas that refer to the same
// place from many sides, or to themselves, cost no more than their size.
type builder struct {
	roots  map[string]strictjson.Value
	shapes map[strictjson.Value]*Shape
	views  map[strictjson.Value]*view // nil while in progress
}

// shape returns the shape of a subschema. While it is being built it is marked so, which
// lets recursive schemas point to it.
func (b *builder) shape(at location) *Shape {
	if s, ok := b.shapes[at.schema]; ok {
		return s
	}
	if target, ok := b.alias(at); ok {
		b.shapes[at.schema] = untyped // what a circle of aliases ends in
		s := b.shape(target)
		b.shapes[at.schema] = s
		return s
	}
	s := &Shape{kind: kindBuilding}
	b.shapes[at.schema] = s
	*s = b.view(at).shape()
	return s
}

// alias follows a subschema that is nothing but a reference, so that all places that
// refer to one definition have one type.
func (b *builder) alias(at location) (location, bool) {
	for name := range at.schema.Members() {
		switch name {
		case "$ref", "$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly":
		default:
			if !strings.HasPrefix(name, "x-") {
				return location{}, false
			}
		}
	}
	return b.resolve(at)
}

func (v *view) shape() Shape {
	switch v.types {
	case typeNull:
		return Shape{kind: kindNull}
	case typeBool:
		return Shape{kind: kindBool}
	case typeInteger:
		return Shape{kind: kindInt}
	case typeNumber, typeFraction:
		return Shape{kind: kindDouble}
	case typeString:
		return Shape{kind: kindString}
	case typeArray:
		return Shape{kind: kindList, elem: v.elem}
	case typeObject:
		if len(v.members) > 0 || v.closed {
			return Shape{kind: kindObject, members: v.members}
		}
		return Shape{kind: kindMap, elem: v.extra}
	}
	return Shape{}
}

// view gathers what applies in place. A cycle of references without a step into the
// instance says nothing.
func (b *builder) view(at location) *view {
	if v, ok := b.views[at.schema]; ok {
		if v == nil {
			return &view{types: typeAny}
		}
		return v
	}
	b.views[at.schema] = nil
	v := b.own(at)
	if target, ok := b.resolve(at); ok {
		v.narrow(b.view(target))
	}
	for _, s := range at.schema.Member("allOf").Elements() {
		v.narrow(b.view(location{at.file, s}))
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if branches := at.schema.Member(name); branches.Len() > 0 {
			v.narrow(b.union(at.file, branches))
		}
	}
	b.conditional(at, v)
	b.views[at.schema] = v
	return v
}

// own reads the keywords of one schema object.
func (b *builder) own(at location) *view {
	v := &view{types: typeAny, members: map[string]*Shape{}}
	s := at.schema
	if t := s.Member("type"); t.Exists() {
		v.types = declaredTypes(t)
	}
	if c := s.Member("const"); c.Exists() {
		v.types &= typeOf(c)
	}
	if e := s.Member("enum"); e.Exists() {
		var of typeSet
		for _, c := range e.Elements() {
			of |= typeOf(c)
		}
		v.types &= of
	}
	for name, p := range s.Member("properties").Members() {
		v.members[name] = b.shape(location{at.file, p})
	}
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		switch p := s.Member(keyword); p.Kind() {
		case strictjson.Bool:
			v.closed = v.closed || !p.IsTrue()
		case strictjson.Object:
			v.extra = b.shape(location{at.file, p})
		}
	}
	if s.Member("patternProperties").Len() > 0 {
		v.closed, v.extra = false, nil
	}
	if items := s.Member("items"); items.Kind() == strictjson.Object && !s.Member("prefixItems").Exists() {
		v.elem = b.shape(location{at.file, items})
	}
	return v
}

func declaredTypes(t strictjson.Value) typeSet {
	set := typeNames[t.Text()]
	for _, name := range t.Elements() {
		set |= typeNames[name.Text()]
	}
	return set
}

func typeOf(v strictjson.Value) typeSet {
	switch v.Kind() {
	case strictjson.Null:
		return typeNull
	case strictjson.Bool:
		return typeBool
	case strictjson.Number:
		if v.Decimal().IsInteger() {
			return typeInteger
		}
		return typeFraction
	case strictjson.String:
		return typeString
	case strictjson.Array:
		return typeArray
	case strictjson.Object:
		return typeObject
	}
	return 0
}

// conditional adds the members that if, then, else and dependentSchemas name; nothing
// else of them is certain.
func (b *builder) conditional(at location, v *view) {
	add := func(s strictjson.Value) {
		if !s.Exists() {
			return
		}
		for name, shape := range b.view(location{at.file, s}).members {
			if _, ok := v.members[name]; !ok {
				v.members[name] = shape
			}
		}
	}
	for _, keyword := range []string{"if", "then", "else"} {
		add(at.schema.Member(keyword))
	}
	for _, s := range at.schema.Member("dependentSchemas").Members() {
		add(s)
	}
}

// union is what one of several branches says.
func (b *builder) union(file string, branches strictjson.Value) *view {
	u := &view{members: map[string]*Shape{}}
	for i, s := range branches.Elements() {
		v := b.view(location{file, s})
		if i == 0 {
			u.elem, u.extra, u.closed = v.elem, v.extra, v.closed
		} else {
			u.elem, u.extra = either(u.elem, v.elem), either(u.extra, v.extra)
			u.closed = u.closed && v.closed
		}
		u.types |= v.types
		for name, shape := range v.members {
			if other, ok := u.members[name]; ok {
				shape = either(other, shape)
			}
			u.members[name] = shape
		}
	}
	return u
}

// narrow adds what w says about the same instance.
func (v *view) narrow(w *view) {
	v.types &= w.types
	v.closed = v.closed || w.closed
	v.elem, v.extra = both(v.elem, w.elem), both(v.extra, w.extra)
	if v.members == nil {
		v.members = map[string]*Shape{}
	}
	for name, shape := range w.members {
		if other, ok := v.members[name]; ok {
			shape = both(other, shape)
		}
		v.members[name] = shape
	}
}

// both is the shape of a value that has two shapes at once. Where it would have to be
// made out of two objects or lists, nothing is said instead: the evaluation finds out.
func both(a, b *Shape) *Shape {
	switch {
	case a == b || b == nil || b.kind == kindDyn:
		return a
	case a == nil || a.kind == kindDyn:
		return b
	case a.scalar() && a.kind == b.kind:
		return a
	case a.kind == kindInt && b.kind == kindDouble:
		return a
	case a.kind == kindDouble && b.kind == kindInt:
		return b
	}
	return untyped
}

// either is the shape of a value that has one of two shapes.
func either(a, b *Shape) *Shape {
	if a == b || a != nil && b != nil && a.scalar() && a.kind == b.kind {
		return a
	}
	return untyped
}

func (s *Shape) scalar() bool { return s.kind >= kindNull && s.kind <= kindTime }

// resolve follows a $ref inside the files at hand.
func (b *builder) resolve(at location) (location, bool) {
	ref := at.schema.Member("$ref")
	if ref.Kind() != strictjson.String {
		return location{}, false
	}
	name, fragment, _ := strings.Cut(ref.Text(), "#")
	file := at.file
	if name != "" {
		file = path.Join(path.Dir(at.file), name)
	}
	pointer, err := strictjson.ParsePointer(fragment)
	if err != nil {
		return location{}, false
	}
	target := b.roots[file].At(pointer)
	return location{file, target}, target.Exists()
}
