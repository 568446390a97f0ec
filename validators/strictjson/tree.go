package strictjson

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is the type of a JSON value (RFC 8259 section 3).
type Kind uint8

// The kinds. Absent is the kind of the zero [Value].
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the kind's name as JSON Schema spells it.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "absent"
}

// A node is one value. Nodes stand in document order; a container's descendants
// follow it directly, and next steps over them. What a list of many values costs is the
// size of its nodes: they are 24 bytes, and a text that is not written as it is read
// stands in the side text, of which [document.texts] says where.
type node struct {
	start   uint32 // of the token in the source
	end     uint32 // one past the token; of a container, one past its closing bracket
	next    uint32 // index of the first node after this one and its descendants
	count   uint32 // children of a container; code points of a string, or the index of its side text
	name    uint32 // where the parent is an object: where the name begins, or the index of its side text
	nameLen uint16 // bytes of a name that stands in the source
	kind    Kind
	flags   flags
}

// flags say where the texts of a node stand.
type flags uint8

const (
	sideText flags = 1 << iota // that of a string stands in the side text
	sideName                   // the name does
	replaced                   // and the string's text is not that of the source token
)

// A sideSpan is one text within the side text.
type sideSpan struct {
	from, to uint32
	chars    uint32 // its code points
}

// document is what a Value points into. It is immutable once parsed.
type document struct {
	src   string
	side  string // unescaped and replaced texts
	texts []sideSpan
	nodes []node
}

// textOf returns the unescaped text of a string.
func (d *document) textOf(n *node) string {
	if n.flags&sideText != 0 {
		return d.sideAt(n.count)
	}
	return d.src[n.start+1 : n.end-1]
}

// nameOf returns the unescaped name of a member.
func (d *document) nameOf(n *node) string {
	if n.flags&sideName != 0 {
		return d.sideAt(n.name)
	}
	return d.src[n.name : n.name+uint32(n.nameLen)]
}

func (d *document) sideAt(i uint32) string {
	at := &d.texts[i]
	return d.side[at.from:at.to]
}

// Value is one value of a parsed input. The zero Value stands for an absent one: its
// kind is [Absent] and every other method answers with the zero of its type. A Value
// is immutable, safe for concurrent use, and keeps the whole input in memory.
type Value struct {
	d *document
	i uint32
}

func (v Value) node() *node { return &v.d.nodes[v.i] }

// Kind returns the value's kind.
func (v Value) Kind() Kind {
	if v.d == nil {
		return Absent
	}
	return v.node().kind
}

// Exists reports whether v is a value at all.
func (v Value) Exists() bool { return v.d != nil }

// IsTrue reports whether v is the literal true.
func (v Value) IsTrue() bool {
	return v.Kind() == Bool && v.d.src[v.node().start] == 't'
}

// Text returns the unescaped text of a string, and "" for every other kind.
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return v.d.textOf(v.node())
}

// Chars returns the length of a string in code points, and 0 for every other kind.
func (v Value) Chars() int {
	if v.Kind() != String {
		return 0
	}
	n := v.node()
	if n.flags&sideText != 0 {
		return int(v.d.texts[n.count].chars)
	}
	return int(n.count)
}

// Digits returns a number as it was written, and "" for every other kind.
func (v Value) Digits() string {
	if v.Kind() != Number {
		return ""
	}
	n := v.node()
	return v.d.src[n.start:n.end]
}

// Decimal returns the exact value of a number, and zero for every other kind.
func (v Value) Decimal() Decimal {
	if v.Kind() != Number {
		return Decimal{}
	}
	d, _ := decimalOf(v.Digits())
	return d
}

// Len returns the number of elements or members of a container, else 0.
func (v Value) Len() int {
	if k := v.Kind(); k != Array && k != Object {
		return 0
	}
	return int(v.node().count)
}

// Size returns the number of values in v, itself included; 0 for an absent one.
func (v Value) Size() int {
	if v.d == nil {
		return 0
	}
	return int(v.node().next - v.i)
}

// Offset returns the byte offset of the value's first byte in the input.
func (v Value) Offset() int {
	if v.d == nil {
		return 0
	}
	return int(v.node().start)
}

// End returns the byte offset one past the value's last byte in the input.
func (v Value) End() int {
	if v.d == nil {
		return 0
	}
	return int(v.node().end)
}

// Elements yields the elements of an array in order, and nothing for other kinds.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		i := 0
		for c, end := v.i+1, v.node().next; c < end; c = v.d.nodes[c].next {
			if !yield(i, Value{v.d, c}) {
				return
			}
			i++
		}
	}
}

// Members yields the members of an object in the order of the input, names
// unescaped, and nothing for other kinds.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != Object {
			return
		}
		for c, end := v.i+1, v.node().next; c < end; c = v.d.nodes[c].next {
			if !yield(v.d.nameOf(&v.d.nodes[c]), Value{v.d, c}) {
				return
			}
		}
	}
}

// Member returns the member of an object with exactly this name, or the zero Value.
// It takes time linear in the number of members.
func (v Value) Member(name string) Value {
	for n, m := range v.Members() {
		if n == name {
			return m
		}
	}
	return Value{}
}

// Element returns the element of an array at a zero-based index, or the zero Value.
// It takes time linear in the index; [Value.Elements] reads them all.
func (v Value) Element(index int) Value {
	if index < 0 || index >= v.Len() {
		return Value{}
	}
	for i, e := range v.Elements() {
		if i == index {
			return e
		}
	}
	return Value{}
}

// Path returns where v stands in the parsed input. It walks down from the root, in
// time linear in the nodes beside the way; meant for error paths.
func (v Value) Path() Pointer {
	path := Pointer{}
	if v.d == nil {
		return path
	}
	at := uint32(0)
	for at != v.i {
		parent := v.d.nodes[at].kind
		index := 0
		at++
		for v.d.nodes[at].next <= v.i {
			at = v.d.nodes[at].next
			index++
		}
		if parent == Object {
			path = append(path, v.d.nameOf(&v.d.nodes[at]))
		} else {
			path = append(path, itoa(index))
		}
	}
	return path
}

// Edit replaces the text of one string.
type Edit struct {
	At   Value  // a string of the document that is edited
	Text string // valid UTF-8
}

// Replace returns v's counterpart in a new tree in which the edited strings have
// their new text; v and its tree stay as they are. Edits of values that are not
// strings of v's tree are a fault of the caller and are ignored; of several edits of
// one string the last counts. It takes time linear in the tree and the texts.
func Replace(v Value, edits []Edit) Value {
	if v.d == nil || len(edits) == 0 {
		return v
	}
	d := &document{src: v.d.src, nodes: slices.Clone(v.d.nodes)}
	d.texts = append(make([]sideSpan, 0, len(v.d.texts)+len(edits)), v.d.texts...)
	var side strings.Builder
	room := len(v.d.side)
	for _, e := range edits {
		room += len(e.Text)
	}
	side.Grow(room)
	side.WriteString(v.d.side)
	for _, e := range edits {
		if e.At.d != v.d || e.At.Kind() != String {
			continue
		}
		n := &d.nodes[e.At.i]
		n.count = uint32(len(d.texts))
		n.flags |= sideText | replaced
		from := uint32(side.Len())
		side.WriteString(e.Text)
		d.texts = append(d.texts, sideSpan{from, uint32(side.Len()), uint32(utf8.RuneCountInString(e.Text))})
	}
	d.side = side.String()
	return Value{d, v.i}
}
