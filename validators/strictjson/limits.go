package strictjson

import "fmt"

// Limits bound one input. A zero or negative member allows nothing; start from
// [Ceilings]. No limit allows more than 2^31−1 bytes or items.
type Limits struct {
	MaxBytes       int // length of the input in bytes
	MaxDepth       int // open objects and arrays at one time; [[1]] has depth 2
	MaxItems       int // array elements and object members together, in the whole input
	MaxStringChars int // code points of one string value after unescaping; a byte that is not UTF-8 counts as one
	MaxNameChars   int // code points of one member name after unescaping
	MaxNumberChars int // bytes of one number token
}

// MaxExponent bounds the magnitude of a number: a value d.ddd × 10^e needs |e| ≤
// MaxExponent, and zero counts with the exponent that is written. No such value is
// zero as an IEEE 754 double; those from 1.8 × 10^308 on, which this rule by exponent
// lets pass, are infinite, and [AppendCanonical] refuses them.
const MaxExponent = 308

// Ceilings returns the widest limits of the service; contracts may only narrow them.
func Ceilings() Limits {
	return Limits{
		MaxBytes:       4 << 20,
		MaxDepth:       64,
		MaxItems:       100_000,
		MaxStringChars: 1_000_000,
		MaxNameChars:   256,
		MaxNumberChars: 128,
	}
}

// Reason says which rule an input broke.
type Reason uint8

// The reasons. The zero value is none of them.
const (
	_ Reason = iota
	ByteLimit
	DepthLimit
	ItemLimit
	StringLimit // of a string or of a member name
	NumberLimit // of a number's length or magnitude
	Encoding    // not UTF-8, or a lone surrogate escape
	Syntax      // not the grammar of RFC 8259; a byte order mark; trailing data
	DuplicateName
)

// IsLimit reports whether r is one of the limits.
func (r Reason) IsLimit() bool { return r >= ByteLimit && r <= NumberLimit }

// String returns the reason's name as the wire API spells it.
func (r Reason) String() string {
	switch r {
	case ByteLimit:
		return "BYTE_LIMIT"
	case DepthLimit:
		return "DEPTH_LIMIT"
	case ItemLimit:
		return "ITEM_LIMIT"
	case StringLimit:
		return "STRING_LIMIT"
	case NumberLimit:
		return "NUMBER_LIMIT"
	case Encoding:
		return "ENCODING"
	case Syntax:
		return "JSON_SYNTAX"
	case DuplicateName:
		return "DUPLICATE_NAME"
	}
	return "UNSPECIFIED"
}

// Error is the refusal of an input.
type Error struct {
	Reason Reason
	// Offset is the zero-based byte offset at which the fault shows.
	Offset int
	// Pointer is the JSON Pointer (RFC 6901) of the value or member that is at fault,
	// or of the innermost container being read. Its names come from the input; it is
	// valid UTF-8, with U+FFFD where they are not.
	Pointer string
	// Detail is a sentence of our own. It holds no part of the input.
	Detail string
}

// Error returns the reason, the offset and the detail, and nothing of the input: the
// pointer, whose names are the input's, is left to the caller.
func (e *Error) Error() string {
	return fmt.Sprintf("strictjson: %s at byte %d: %s", e.Reason, e.Offset, e.Detail)
}
