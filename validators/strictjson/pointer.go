package strictjson

import (
	"errors"
	"strconv"
	"strings"
)

func itoa(i int) string { return strconv.Itoa(i) }

// Pointer is a parsed JSON Pointer (RFC 6901): the unescaped reference tokens from
// the root down. The empty Pointer is the whole value.
type Pointer []string

// ErrPointer is what [ParsePointer] returns for text that is no JSON Pointer.
var ErrPointer = errors.New(`not a JSON Pointer (RFC 6901): it is empty or begins with "/", and "~" stands only in "~0" and "~1"`)

// ParsePointer reads the string form of RFC 6901 section 3.
func ParsePointer(s string) (Pointer, error) {
	if s == "" {
		return Pointer{}, nil
	}
	if s[0] != '/' {
		return nil, ErrPointer
	}
	tokens := strings.Split(s[1:], "/")
	for i, t := range tokens {
		u, ok := unescapeToken(t)
		if !ok {
			return nil, ErrPointer
		}
		tokens[i] = u
	}
	return tokens, nil
}

func unescapeToken(t string) (string, bool) {
	if !strings.Contains(t, "~") {
		return t, true
	}
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] != '~' {
			b.WriteByte(t[i])
			continue
		}
		i++
		switch {
		case i < len(t) && t[i] == '0':
			b.WriteByte('~')
		case i < len(t) && t[i] == '1':
			b.WriteByte('/')
		default:
			return "", false
		}
	}
	return b.String(), true
}

// String returns the form of RFC 6901 section 3.
func (p Pointer) String() string {
	size := 0
	for _, t := range p {
		size += 1 + len(t)
	}
	b := make([]byte, 0, size)
	for _, t := range p {
		b = AppendToken(b, t)
	}
	return string(b)
}

// AppendToken appends a slash and one token with its escapes, as String writes them.
func AppendToken(dst []byte, token string) []byte {
	dst = append(dst, '/')
	for i := range len(token) {
		switch c := token[i]; c {
		case '~':
			dst = append(dst, '~', '0')
		case '/':
			dst = append(dst, '~', '1')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Append returns p with one more token; it shares nothing with p.
func (p Pointer) Append(token string) Pointer {
	return append(append(make(Pointer, 0, len(p)+1), p...), token)
}

// At returns the value that p points to inside v, or the zero Value. An array index
// is written in decimal without leading zeros (RFC 6901 section 4). It takes time
// linear in the members and elements beside the way.
func (v Value) At(p Pointer) Value {
	for _, token := range p {
		switch v.Kind() {
		case Object:
			v = v.Member(token)
		case Array:
			i, ok := arrayIndex(token)
			if !ok {
				return Value{}
			}
			v = v.Element(i)
		default:
			return Value{}
		}
	}
	return v
}

func arrayIndex(token string) (int, bool) {
	if token == "" || len(token) > 9 || (len(token) > 1 && token[0] == '0') {
		return 0, false
	}
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return 0, false
		}
	}
	i, err := strconv.Atoi(token)
	return i, err == nil
}

// EveryElement is the token that stands for all elements of an array in [Value.All].
const EveryElement = "*"

// All calls f with every value inside v that p points to, where the token
// [EveryElement] on an array stands for each of its elements; on an object it is a
// name like any other. It stops when f returns false and reports whether it did not.
func (v Value) All(p Pointer, f func(Value) bool) bool {
	for i, token := range p {
		switch v.Kind() {
		case Object:
			v = v.Member(token)
		case Array:
			if token == EveryElement {
				for _, e := range v.Elements() {
					if !e.All(p[i+1:], f) {
						return false
					}
				}
				return true
			}
			index, ok := arrayIndex(token)
			if !ok {
				return true
			}
			v = v.Element(index)
		default:
			return true
		}
	}
	if !v.Exists() {
		return true
	}
	return f(v)
}
