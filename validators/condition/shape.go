package condition

import (
	"strconv"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// kind is what a Shape describes.
type kind uint8

const (
	kindDyn kind = iota
	kindNull
	kindBool
	kindInt
	kindDouble
	kindString
	kindTime
	kindList
	kindMap
	kindObject
	kindBuilding // a shape that ShapeOf has begun and not finished
)

// Shape is the type of a value. The zero Shape, and a nil one, is dyn: nothing is known
// at load. Shapes may refer to themselves (a tree). They are immutable once returned
// and safe for concurrent use.
type Shape struct {
	kind kind
	elem *Shape // of a list's elements or a map's values; nil means dyn
	// members of an object; a name that is not here is a fault at load.
	members map[string]*Shape
}

// untyped is the one dyn shape, so that what is cached under it is found again.
var untyped = &Shape{}

// Text returns the shape of a string.
func Text() *Shape { return &Shape{kind: kindString} }

// Int returns the shape of an integer that fits an int64.
func Int() *Shape { return &Shape{kind: kindInt} }

// Time returns the shape of an instant, a CEL timestamp.
func Time() *Shape { return &Shape{kind: kindTime} }

// List returns the shape of a list; a nil element shape is dyn.
func List(elem *Shape) *Shape { return &Shape{kind: kindList, elem: elem} }

// Record returns the shape of an object with exactly these members; a nil member shape
// is dyn. It keeps members, which the caller must not change afterwards.
func Record(members map[string]*Shape) *Shape {
	return &Shape{kind: kindObject, members: members}
}

// known returns s, or dyn where nothing is known.
func (s *Shape) known() *Shape {
	if s == nil || s.kind == kindBuilding {
		return untyped
	}
	return s
}

// Allows reports whether a value of this shape may have a value at p. It is false only
// where that is certain: a name that an object does not have, a token that is no array
// index, a step into a scalar. A nil Shape allows everything.
func (s *Shape) Allows(p strictjson.Pointer) bool {
	for _, token := range p {
		s = s.known()
		switch s.kind {
		case kindDyn:
			return true
		case kindList:
			if !isIndex(token) {
				return false
			}
			s = s.elem
		case kindMap:
			s = s.elem
		case kindObject:
			member, ok := s.members[token]
			if !ok {
				return false
			}
			s = member
		default:
			return false
		}
	}
	return true
}

// isIndex reports whether token is an array index (RFC 6901 section 4).
func isIndex(token string) bool {
	n, err := strconv.ParseUint(token, 10, 31)
	return err == nil && strconv.FormatUint(n, 10) == token
}

// Member returns the shape of an object's member; nil where nothing is known of it.
func (s *Shape) Member(name string) *Shape {
	s = s.known()
	switch s.kind {
	case kindObject:
		return s.members[name]
	case kindMap:
		return s.elem
	}
	return nil
}
