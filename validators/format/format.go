package format

import (
	"fmt"
	"unicode/utf8"
)

// MaxBytes is the longest string, in bytes, that any check reads. A longer one
// is refused unread, so that the cost of a check has a ceiling of its own
// whatever limits the caller has.
const MaxBytes = 64 << 10

// Error says why a string does not conform to a format. It never holds the
// string or any part of it, so it may be logged and sent to clients.
// The wording of Reason is not promised; Format and Offset are.
type Error struct {
	// Format is the name of the format as a schema writes it.
	Format string
	// Offset is the place of the fault: a byte index into the string, from 0
	// to its length (the length means that something is missing at the end).
	// A fault of the whole string has offset 0.
	Offset int
	// Reason is a phrase of this package that needs no value to be understood.
	Reason string
}

// Error returns format, place and reason on one line.
func (e *Error) Error() string {
	return fmt.Sprintf("not a valid %s: %s (byte %d)", e.Format, e.Reason, e.Offset)
}

// parser is what every format is inside this package: nil means conforming.
// It reads valid UTF-8 of at most MaxBytes and leaves Error.Format empty.
type parser func(s string) *Error

// fault is the short way to an Error whose format is filled in by run.
func fault(offset int, reason string) *Error {
	return &Error{Offset: offset, Reason: reason}
}

// at moves a fault found in a part of a string to its place in the whole.
func (e *Error) at(base int) *Error {
	if e != nil {
		e.Offset += base
	}
	return e
}

// run guards a parser: size and encoding first, and an untyped nil at the end.
func run(name string, p parser, s string) error {
	if e := guarded(p, s); e != nil {
		e.Format = name
		return e
	}
	return nil
}

func guarded(p parser, s string) *Error {
	if len(s) > MaxBytes {
		return fault(MaxBytes, "longer than any check reads")
	}
	if !utf8.ValidString(s) {
		return fault(invalidUTF8(s), "not valid UTF-8")
	}
	return p(s)
}

func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return len(s)
}

// entry is one format.
type entry struct {
	name  string
	parse parser
}

// entries is the list of formats, sorted by name: JSON Schema 2020-12,
// validation vocabulary, section 7.3.
func entries() []entry {
	return []entry{
		{"date", checkDate},
		{"date-time", checkDateTime},
		{"duration", checkDuration},
		{"email", checkEmail},
		{"hostname", checkHostname},
		{"idn-email", checkIDNEmail},
		{"idn-hostname", checkIDNHostname},
		{"ipv4", checkIPv4},
		{"ipv6", checkIPv6},
		{"iri", checkIRI},
		{"iri-reference", checkIRIReference},
		{"json-pointer", checkPointer},
		{"regex", checkRegex},
		{"relative-json-pointer", checkRelativePointer},
		{"time", checkTime},
		{"uri", checkURI},
		{"uri-reference", checkURIReference},
		{"uri-template", checkTemplate},
		{"uuid", checkUUID},
	}
}

// Names returns the names of all formats of this package, sorted. The slice is
// the caller's own.
func Names() []string {
	var names []string
	for _, f := range entries() {
		names = append(names, f.name)
	}
	return names
}

// Lookup returns the check of the named format. Names are compared byte for
// byte; for one that this package does not define, check is nil and known is
// false: the caller decides, and contracts refuse it at load.
//
// The check returns nil for a conforming string and an [*Error] otherwise. It
// is safe for concurrent use, keeps no reference to its argument and takes time
// linear in it.
func Lookup(name string) (check func(s string) error, known bool) {
	for _, f := range entries() {
		if f.name == name {
			return func(s string) error { return run(f.name, f.parse, s) }, true
		}
	}
	return nil, false
}
