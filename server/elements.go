package server

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Bounds of what one request may hold, counted before a message is made of it: an empty
// element takes two bytes of the wire and hundreds in memory. Both are above the most that
// the rules of the API let pass, 64 grants with 32 scopes of 256 values.
const (
	maxMessages = 64*(1+2*32) + 1000
	maxScalars  = 64*32*256 + 1000
)

// elements is what a request may still hold.
type elements struct{ messages, scalars int }

// errElements says that a request holds more elements than any that is well-formed.
var errElements = &formError{faults: []fieldFault{{detail: "holds more elements than a request may have"}}}

// fit reports whether the messages and the repeated values in raw, the wire form of a
// message of this type, are few enough. Bytes that are no wire format fit: whoever makes
// the message says what is wrong with them. It recurses into message fields; those of the
// API do not contain themselves.
func (e *elements) fit(raw []byte, md protoreflect.MessageDescriptor) bool {
	fields := md.Fields()
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return true
		}
		raw = raw[n:]
		size := protowire.ConsumeFieldValue(number, kind, raw)
		if size < 0 {
			return true
		}
		value := raw[:size]
		raw = raw[size:]
		field := fields.ByNumber(number)
		switch {
		case field == nil:
		case field.Message() != nil:
			if e.messages--; e.messages < 0 {
				return false
			}
			if inner, n := protowire.ConsumeBytes(value); kind == protowire.BytesType && n >= 0 && !e.fit(inner, field.Message()) {
				return false
			}
		case field.IsList():
			if e.scalars -= countOfList(field, kind, value); e.scalars < 0 {
				return false
			}
		}
	}
	return true
}

// countOfList is the number of elements that one field of a list holds at most: several
// where they are packed.
func countOfList(field protoreflect.FieldDescriptor, kind protowire.Type, value []byte) int {
	switch field.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind:
		return 1
	}
	if kind == protowire.BytesType {
		return len(value)
	}
	return 1
}
