package text

import "fmt"

// Reason says why a text was refused. The zero value is none of them.
type Reason uint8

const (
	// MediaType: the media type is malformed or not one of those of [Process].
	MediaType Reason = iota + 1
	// Encoding: the bytes are not in the charset that was decided on, or nothing
	// says which one they are in, or its name is unknown.
	Encoding
	// ByteLimit: the input is longer than Options.MaxBytes.
	ByteLimit
	// ItemLimit: a table has more rows than Options.MaxItems.
	ItemLimit
	// HTMLLimit: reading the page would need more than its budget of open
	// elements, attributes, nodes or time.
	HTMLLimit
	// Syntax: a text/csv breaks RFC 4180.
	Syntax
)

var reasonNames = [...]string{
	MediaType: "media type",
	Encoding:  "encoding",
	ByteLimit: "byte limit",
	ItemLimit: "item limit",
	HTMLLimit: "HTML limit",
	Syntax:    "CSV syntax",
}

// String names the reason for people.
func (r Reason) String() string {
	if r == 0 || int(r) >= len(reasonNames) {
		return fmt.Sprintf("Reason(%d)", uint8(r))
	}
	return reasonNames[r]
}

// Error is the refusal of a text. It never contains a part of it.
type Error struct {
	Reason Reason
	// Offset is the place in bytes, from 0; -1 where there is none. It counts in
	// the input, for Syntax and ItemLimit in the input as UTF-8 without a BOM.
	Offset int64
	// Detail is one of a fixed set of phrases; its wording is not promised.
	Detail string
	// Err is the cause where there is one that callers ask for: the error of an
	// ended context. Otherwise nil.
	Err error
}

// Error returns reason, offset and detail, and nothing of the text.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("text: %s: %s", e.Reason, e.Detail)
	}
	return fmt.Sprintf("text: %s at byte %d: %s", e.Reason, e.Offset, e.Detail)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func refuse(reason Reason, offset int, detail string) *Error {
	return &Error{Reason: reason, Offset: int64(offset), Detail: detail}
}
