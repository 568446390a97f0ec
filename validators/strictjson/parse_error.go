package strictjson

import (
	"strings"
	"unicode/utf8"
)

// errorAt makes an error that points at the value being read. The names on the way
// may hold bytes that are not UTF-8; no caller should have to carry those.
func (r *reader) errorAt(reason Reason, offset int, detail string) *Error {
	pointer := strings.ToValidUTF8(r.pointer().String(), string(utf8.RuneError))
	return &Error{Reason: reason, Offset: offset, Pointer: pointer, Detail: detail}
}

// limit returns the fault of a limit, which outranks every other.
func (r *reader) limit(reason Reason, offset int, detail string) error {
	return r.errorAt(reason, offset, detail)
}

// syntax returns the fault of the grammar at the current position, or the earlier
// fault that was met before it.
func (r *reader) syntax(detail string) error {
	if r.fault != nil {
		return r.fault
	}
	return r.errorAt(Syntax, r.pos, detail)
}

// unexpected is syntax for a byte that cannot stand here: bytes that are no UTF-8 are
// a fault of the encoding wherever they stand.
func (r *reader) unexpected(detail string) error {
	if r.pos < len(r.src) && r.src[r.pos] >= utf8.RuneSelf {
		if c, size := utf8.DecodeRuneInString(r.src[r.pos:]); c == utf8.RuneError && size == 1 {
			r.encoding(r.pos, "bytes that are not UTF-8")
		}
	}
	return r.syntax(detail)
}

// encoding notes a fault of the encoding; reading goes on, since a limit that is
// exceeded later outranks it.
func (r *reader) encoding(offset int, detail string) {
	if r.fault == nil {
		r.fault = r.errorAt(Encoding, offset, detail)
	}
}

// pointer returns where the value being read stands; between two of them, where their
// container stands. It runs on error paths only.
func (r *reader) pointer() Pointer {
	p := make(Pointer, 0, len(r.open))
	for _, f := range r.open {
		c := r.nodes[f.at]
		switch {
		case !f.inside:
			return p
		case c.kind == Array:
			p = append(p, itoa(int(c.count)-1))
		default:
			p = append(p, r.text(f.name))
		}
	}
	return p
}
