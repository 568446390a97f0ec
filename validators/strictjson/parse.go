package strictjson

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Parse reads one value. It copies src. The error, where there is one, is an [*Error];
// the value is then the zero Value: nothing is ever half read.
func Parse(src []byte, limits Limits) (Value, error) {
	if most := limits.normal().MaxBytes; len(src) > most { // before it is copied
		return Value{}, tooLong(len(src), most)
	}
	return ParseString(string(src), limits)
}

// ParseString is [Parse] of a string, which it does not copy: the value keeps it.
func ParseString(src string, limits Limits) (Value, error) {
	limits = limits.normal()
	if len(src) > limits.MaxBytes {
		return Value{}, tooLong(len(src), limits.MaxBytes)
	}
	r := reader{src: src, limits: limits}
	d := r.room(1 + min(r.mostItems(), limits.MaxItems))
	if err := r.document(); err != nil {
		return Value{}, err
	}
	d.src, d.side, d.texts, d.nodes = r.src, r.side.String(), r.texts, r.nodes
	return Value{d, 0}, nil
}

func tooLong(bytes, most int) *Error {
	return &Error{Reason: ByteLimit, Offset: most, Detail: fmt.Sprintf("%d bytes, allowed are %d", bytes, most)}
}

// What most values stay within; room for it is allocated with the document.
const (
	usualDepth = 8
	usualNodes = 16
)

// room makes a document with room for nodes and for open containers.
func (r *reader) room(nodes int) *document {
	if nodes > usualNodes {
		r.nodes = make([]node, 0, nodes)
		r.open = make([]frame, 0, min(usualDepth, r.limits.MaxDepth))
		return &document{}
	}
	small := &struct {
		document
		nodes [usualNodes]node
		open  [usualDepth]frame
	}{}
	r.nodes, r.open = small.nodes[:0], small.open[:0]
	return &small.document
}

// normal returns l with negative members as zero and without more bytes than offsets
// of 32 bits can count.
func (l Limits) normal() Limits {
	return Limits{
		MaxBytes:       min(max(l.MaxBytes, 0), math.MaxInt32),
		MaxDepth:       max(l.MaxDepth, 0),
		MaxItems:       min(max(l.MaxItems, 0), math.MaxInt32),
		MaxStringChars: max(l.MaxStringChars, 0),
		MaxNameChars:   max(l.MaxNameChars, 0),
		MaxNumberChars: max(l.MaxNumberChars, 0),
	}
}

// A span is a piece of text that was read: bytes from..to of the source, or of the side
// text.
type span struct {
	from, to uint32
	side     bool
}

// A frame is an open container. It holds no pointer, so that a deep input costs the
// collector nothing.
type frame struct {
	at     uint32 // its node
	inside bool   // one of its elements or members is being read
	many   bool   // its names are in a map: of all such frames, the innermost has the last
	marks  uint32 // of its names; see mark
	name   span   // of the member being read
}

// reader holds the state of one pass over the source.
type reader struct {
	src    string
	pos    int
	limits Limits
	nodes  []node
	side   strings.Builder // unescaped texts
	texts  []sideSpan      // of the nodes
	open   []frame
	seen   []map[string]struct{} // names of the open objects with many
	spare  []map[string]struct{} // empty maps of closed objects
	items  int
	fault  *Error // the earliest fault of encoding or duplicate name so far
}

// mostItems returns what the elements and members cannot outnumber: each follows a
// comma or the bracket of its container. Reserving that many nodes at once costs less
// than growing, whatever the shape.
func (r *reader) mostItems() int {
	return strings.Count(r.src, ",") + strings.Count(r.src, "[") + strings.Count(r.src, "{")
}

func (r *reader) document() error {
	if err := r.preamble(); err != nil {
		return err
	}
	if err := r.value(span{}); err != nil {
		return err
	}
	for len(r.open) > 0 {
		if err := r.step(); err != nil {
			return err
		}
	}
	r.space()
	if r.pos < len(r.src) {
		return r.unexpected("data after the end of the value")
	}
	if r.fault != nil {
		return r.fault
	}
	return nil
}

func (r *reader) preamble() error {
	const bom = "\uFEFF"
	if len(r.src) >= len(bom) && r.src[:len(bom)] == bom {
		return r.syntax("a byte order mark (BOM) stands before the value")
	}
	return nil
}

// step reads one element or member of the innermost container, or its end.
func (r *reader) step() error {
	top := &r.open[len(r.open)-1]
	top.inside = false
	container := &r.nodes[top.at]
	r.space()
	if r.pos >= len(r.src) {
		return r.syntax("the input ends inside an array or object")
	}
	closing := byte(']')
	if container.kind == Object {
		closing = '}'
	}
	c := r.src[r.pos]
	if c == closing {
		r.pos++
		container.end = uint32(r.pos)
		container.next = uint32(len(r.nodes))
		if top.many {
			r.closeMany()
		}
		r.open = r.open[:len(r.open)-1]
		return nil
	}
	if container.count > 0 {
		if c != ',' {
			return r.unexpected("a comma or the end of the container is expected")
		}
		r.pos++
		r.space()
		if r.pos >= len(r.src) {
			return r.syntax("the input ends after a comma")
		}
		if r.src[r.pos] == closing {
			return r.syntax("a comma before the end of the container")
		}
	}
	r.items++
	if r.items > r.limits.MaxItems {
		return r.limit(ItemLimit, r.pos, fmt.Sprintf("more than %d elements and members", r.limits.MaxItems))
	}
	if container.kind == Array {
		container.count++
		top.inside = true
		return r.value(span{})
	}
	return r.member(top)
}

// member reads a name, its colon and its value.
func (r *reader) member(top *frame) error {
	at := r.pos
	if r.src[r.pos] != '"' {
		return r.unexpected("a member name is expected")
	}
	name, _, err := r.str("a member name", r.limits.MaxNameChars)
	if err != nil {
		return err
	}
	if r.fault == nil && r.duplicate(top, name) { // the first fault is enough
		top.name, top.inside = name, true
		r.fault = r.errorAt(DuplicateName, at, "the object has this member name already")
	}
	top.name, top.inside = name, true
	r.space()
	if r.pos >= len(r.src) || r.src[r.pos] != ':' {
		return r.unexpected("a colon is expected after a member name")
	}
	r.pos++
	r.space()
	r.nodes[top.at].count++
	return r.value(name)
}

// value reads a scalar whole, or the opening bracket of a container.
func (r *reader) value(name span) error {
	r.space()
	if r.pos >= len(r.src) {
		return r.syntax("the input ends where a value is expected")
	}
	r.nodes = append(r.nodes, node{start: uint32(r.pos), next: uint32(len(r.nodes)) + 1})
	n := &r.nodes[len(r.nodes)-1]
	if name.to > name.from { // an element has none, and no name is the empty one
		r.setName(n, name)
	}
	switch c := r.src[r.pos]; {
	case c == '{' || c == '[':
		return r.openContainer(n, c)
	case c == '"':
		text, chars, err := r.str("a string", r.limits.MaxStringChars)
		if err != nil {
			return err
		}
		n.kind, n.count = String, uint32(chars)
		if text.side {
			n.count = r.noteSide(text, chars)
			n.flags |= sideText
		}
	case c == '-' || (c >= '0' && c <= '9'):
		if err := r.number(); err != nil {
			return err
		}
		n.kind = Number
	default:
		kind, err := r.literal()
		if err != nil {
			return err
		}
		n.kind = kind
	}
	n.end = uint32(r.pos)
	return nil
}

// setName says where the name of a member stands; one that is too long for that is
// copied.
func (r *reader) setName(n *node, name span) {
	if !name.side && name.to-name.from <= math.MaxUint16 {
		n.name, n.nameLen = name.from, uint16(name.to-name.from)
		return
	}
	if !name.side {
		from := uint32(r.side.Len())
		r.side.WriteString(r.text(name))
		name = span{from, uint32(r.side.Len()), true}
	}
	n.name = r.noteSide(name, 0)
	n.flags |= sideName
}

// noteSide notes a text of a node and returns its index.
func (r *reader) noteSide(text span, chars int) uint32 {
	if n := len(r.texts); n == cap(r.texts) {
		r.texts = slices.Grow(r.texts, max(n/2, 8, r.inAll(n)-n))
	}
	r.texts = append(r.texts, sideSpan{text.from, text.to, uint32(chars)})
	return uint32(len(r.texts)) - 1
}

func (r *reader) openContainer(n *node, bracket byte) error {
	n.kind = Array
	if bracket == '{' {
		n.kind = Object
	}
	if len(r.open) >= r.limits.MaxDepth {
		return r.limit(DepthLimit, r.pos, fmt.Sprintf("more than %d arrays and objects inside each other", r.limits.MaxDepth))
	}
	r.pos++
	if n := len(r.open); n == cap(r.open) {
		r.open = slices.Grow(r.open, max(n, 1)) // append grows many by less, and so more often
	}
	r.open = append(r.open, frame{at: uint32(len(r.nodes)) - 1})
	return nil
}

func (r *reader) literal() (Kind, error) {
	word, kind := "null", Null
	switch r.src[r.pos] {
	case 't':
		word, kind = "true", Bool
	case 'f':
		word, kind = "false", Bool
	}
	if !strings.HasPrefix(r.src[r.pos:], word) {
		return Absent, r.unexpected("a value is expected")
	}
	r.pos += len(word)
	return kind, nil
}

// space skips the white space of RFC 8259 section 2.
func (r *reader) space() {
	for r.pos < len(r.src) {
		switch r.src[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}
