package receipt

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// field is one member of an object that has a fixed list of members. The same list
// writes and reads, so the two cannot drift apart.
type field struct {
	name  string
	value value
	must  presence
}

// presence says what an object may do with a member.
type presence uint8

const (
	needed   presence = iota // present, not empty
	always                   // present, perhaps empty
	maybe                    // absent, or present and not empty: emptiness has one spelling
	optional                 // absent, or present and perhaps empty; written where it is not
)

// mayBeEmpty reports whether a member that is there may hold nothing.
func (p presence) mayBeEmpty() bool { return p == always || p == optional }

// value is the Go side of a member's value.
type value interface {
	// empty reports whether there is nothing to write.
	empty() bool
	// append writes the value; false where it is out of its bounds.
	append(dst []byte) ([]byte, bool)
	// read takes the text of a JSON value; false where it is of a wrong type or out of
	// its bounds.
	read(raw []byte) bool
}

// appendObject writes an object. The reason is 0 where it could; the name is that of the
// field that it could not write.
func appendObject(dst []byte, fields []field) ([]byte, Reason, string) {
	dst = append(dst, '{')
	first := true
	for _, f := range fields {
		if f.value.empty() && f.must != always {
			if f.must == needed {
				return nil, MissingClaim, f.name
			}
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendText(dst, f.name), ':')
		var ok bool
		if dst, ok = f.value.append(dst); !ok {
			if v, bounded := f.value.(interface{ tooLarge() bool }); bounded && v.tooLarge() {
				return nil, TooLarge, f.name
			}
			return nil, Malformed, f.name
		}
	}
	return append(dst, '}'), 0, ""
}

// anyOther is the name of a last field that lets an object have members besides, which
// are ignored: for the sets of keys that a newer service may publish (RFC 7517 section 4).
const anyOther = "*"

// readObject reads an object into its fields. The reason is 0 where all went well. The
// name is that of the field, "" where the object as a whole is at fault.
func readObject(raw []byte, fields []field) (Reason, string) {
	var seen uint64
	place := ""
	others := len(fields) > 0 && fields[len(fields)-1].name == anyOther
	ok := members(raw, func(name, text []byte) bool {
		for i, f := range fields {
			if f.name != string(name) || f.name == anyOther {
				continue
			}
			seen |= 1 << i
			if !f.value.read(text) || f.value.empty() && !f.must.mayBeEmpty() {
				place = f.name
				return false
			}
			return true
		}
		return others
	})
	if !ok {
		return Malformed, place
	}
	for i, f := range fields {
		if seen&(1<<i) == 0 && f.must != maybe && f.must != optional {
			return MissingClaim, f.name
		}
	}
	return 0, ""
}

// maxText is the longest text of one claim, in bytes.
const maxText = 2048

// text is a string without control characters.
type text string

func (v *text) empty() bool { return *v == "" }

func (v *text) append(dst []byte) ([]byte, bool) {
	return appendText(dst, string(*v)), v.plain()
}

func (v *text) read(raw []byte) bool {
	s, ok := readText(raw)
	*v = text(s)
	return ok && v.plain()
}

func (v *text) plain() bool {
	return len(*v) <= maxText && utf8.ValidString(string(*v)) &&
		!strings.ContainsFunc(string(*v), func(r rune) bool { return r < 0x20 || r == 0x7f })
}

// digest is a lowercase hex SHA-256.
type digest string

func (v *digest) empty() bool { return *v == "" }

func (v *digest) append(dst []byte) ([]byte, bool) {
	return appendText(dst, string(*v)), v.isSHA256()
}

func (v *digest) read(raw []byte) bool {
	s, ok := readText(raw)
	*v = digest(s)
	return ok && v.isSHA256()
}

func (v *digest) isSHA256() bool {
	for i := range len(*v) {
		if c := (*v)[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(*v) == 64
}

// date is a NumericDate (RFC 7519 section 2) in whole seconds.
type date time.Time

// maxDate is the last second of the year 9999.
const maxDate = 253402300799

func (v *date) empty() bool { return time.Time(*v).IsZero() }

func (v *date) append(dst []byte) ([]byte, bool) {
	t := time.Time(*v)
	s := t.Unix()
	return strconv.AppendInt(dst, s, 10), t.Nanosecond() == 0 && s >= 0 && s <= maxDate
}

func (v *date) read(raw []byte) bool {
	s, ok := readInt(raw, maxDate)
	*v = date(time.Unix(int64(s), 0).UTC())
	return ok
}

// instant is a time as RFC 3339 with Z and no more digits than it needs.
type instant time.Time

func (v *instant) empty() bool { return time.Time(*v).IsZero() }

func (v *instant) append(dst []byte) ([]byte, bool) {
	t := time.Time(*v).UTC()
	return appendText(dst, t.Format(time.RFC3339Nano)), t.Year() >= 1 && t.Year() <= 9999
}

func (v *instant) read(raw []byte) bool {
	s, ok := readText(raw)
	if !ok {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	*v = instant(t)
	// time.Parse takes more than RFC 3339 has; what it writes it takes for what it is.
	return err == nil && strings.HasSuffix(s, "Z") && t.UTC().Format(time.RFC3339Nano) == s
}

// timestamp is an instant that others may have written: ProtoJSON fills fractions up with
// zeros.
type timestamp time.Time

func (v *timestamp) empty() bool                      { return (*instant)(v).empty() }
func (v *timestamp) append(dst []byte) ([]byte, bool) { return (*instant)(v).append(dst) }

func (v *timestamp) read(raw []byte) bool {
	s, ok := readText(raw)
	const seconds = len("2006-01-02T15:04:05")
	switch len(s) - seconds {
	case len(".000Z"), len(".000000Z"), len(".000000000Z"):
		if s[seconds] == '.' && s[len(s)-1] == 'Z' {
			s = strings.TrimSuffix(strings.TrimRight(s[:len(s)-1], "0"), ".") + "Z"
		}
	}
	return ok && (*instant)(v).read(appendText(nil, s))
}

// count is an integer from 1 on.
type count uint32

func (v *count) empty() bool { return *v == 0 }
func (v *count) append(dst []byte) ([]byte, bool) {
	return strconv.AppendUint(dst, uint64(*v), 10), true
}

func (v *count) read(raw []byte) bool {
	n, ok := readInt(raw, 1<<32-1)
	*v = count(n)
	return ok && n > 0
}

// truth is a boolean that is only written when it is true.
type truth bool

func (v *truth) empty() bool                      { return !bool(*v) }
func (v *truth) append(dst []byte) ([]byte, bool) { return append(dst, "true"...), true }

func (v *truth) read(raw []byte) bool {
	*v = string(raw) == "true"
	return bool(*v)
}

// exact is the text of a JSON value of at most max bytes, kept byte for byte.
type exact struct {
	to  *json.RawMessage
	max int
}

func (v exact) empty() bool { return len(*v.to) == 0 }

func (v exact) append(dst []byte) ([]byte, bool) {
	return append(dst, *v.to...), !v.tooLarge() && wellFormed(*v.to)
}

func (v exact) read(raw []byte) bool {
	*v.to = append(json.RawMessage(nil), raw...)
	return !v.tooLarge()
}

func (v exact) tooLarge() bool { return len(*v.to) > v.max }

// list is an array of at most max values, each written by the value that of makes of a
// pointer to it.
type list[T any] struct {
	to  *[]T
	max int
	of  func(*T) value
}

func (v list[T]) empty() bool { return len(*v.to) == 0 }

func (v list[T]) append(dst []byte) ([]byte, bool) {
	dst = append(dst, '[')
	for i := range *v.to {
		if i > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		e := v.of(&(*v.to)[i])
		if dst, ok = e.append(dst); !ok || e.empty() {
			return nil, false
		}
	}
	return append(dst, ']'), len(*v.to) <= v.max
}

func (v list[T]) read(raw []byte) bool {
	*v.to = nil
	return elements(raw, func(text []byte) bool {
		var t T
		e := v.of(&t)
		if len(*v.to) >= v.max || !e.read(text) || e.empty() {
			return false
		}
		*v.to = append(*v.to, t)
		return true
	})
}

// object is a nested object with fields of its own.
type object []field

func (v object) empty() bool { return false }

func (v object) append(dst []byte) ([]byte, bool) {
	dst, reason, _ := appendObject(dst, v)
	return dst, reason == 0
}

func (v object) read(raw []byte) bool {
	reason, _ := readObject(raw, v)
	return reason == 0
}

// inCamelCase are the same fields with names as ProtoJSON writes them: not_after is
// notAfter.
func (v object) inCamelCase() object {
	out := slices.Clone(v)
	for i := range out {
		words := strings.Split(out[i].name, "_")
		for j, w := range words[1:] {
			words[j+1] = strings.ToUpper(w[:1]) + w[1:]
		}
		out[i].name = strings.Join(words, "")
	}
	return out
}
