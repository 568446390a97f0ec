package receipt

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the nesting that tokens may have, that of their facts and arguments
// included; what a result may have is below it.
const maxDepth = 100

// scanner reads JSON (RFC 8259) that two readers cannot understand differently
// (RFC 7493): UTF-8, no lone surrogates, no duplicate names. It only finds where values
// begin and end; nothing is rewritten.
type scanner struct {
	src   []byte
	at    int
	depth int
}

// wellFormed reports whether src is exactly one value, without white space around it.
func wellFormed(src []byte) bool {
	if len(src) == 0 || isSpace(src[0]) {
		return false
	}
	s := scanner{src: src}
	return s.value() && s.at == len(src)
}

// members calls yield for every member of the object that src is, in order, with the
// name unescaped and the text of the value; both may be part of src. It returns false
// where src is not one object, or yield does.
func members(src []byte, yield func(name, value []byte) bool) bool {
	s := scanner{src: src}
	s.space()
	if !s.object(yield) {
		return false
	}
	s.space()
	return s.at == len(src)
}

// elements calls yield for every element of the array that src is.
func elements(src []byte, yield func(value []byte) bool) bool {
	s := scanner{src: src}
	s.space()
	if !s.array(yield) {
		return false
	}
	s.space()
	return s.at == len(src)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) space() {
	for s.at < len(s.src) && isSpace(s.src[s.at]) {
		s.at++
	}
}

// take steps over c.
func (s *scanner) take(c byte) bool {
	if s.at < len(s.src) && s.src[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) value() bool {
	if s.at >= len(s.src) {
		return false
	}
	switch c := s.src[s.at]; c {
	case '{':
		return s.object(nil)
	case '[':
		return s.array(nil)
	case '"':
		_, ok := s.text()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(w string) bool {
	if len(s.src)-s.at < len(w) || string(s.src[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) object(yield func(name, value []byte) bool) bool {
	if !s.take('{') || s.depth >= maxDepth {
		return false
	}
	s.depth++
	defer func() { s.depth-- }()
	if s.space(); s.take('}') {
		return true
	}
	var seen names
	for {
		s.space()
		name, ok := s.text()
		if !ok || !seen.add(name) {
			return false
		}
		if s.space(); !s.take(':') {
			return false
		}
		s.space()
		from := s.at
		if !s.value() || yield != nil && !yield(name, s.src[from:s.at]) {
			return false
		}
		if s.space(); s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

func (s *scanner) array(yield func([]byte) bool) bool {
	if !s.take('[') || s.depth >= maxDepth {
		return false
	}
	s.depth++
	defer func() { s.depth-- }()
	if s.space(); s.take(']') {
		return true
	}
	for {
		s.space()
		from := s.at
		if !s.value() || yield != nil && !yield(s.src[from:s.at]) {
			return false
		}
		if s.space(); s.take(']') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// names remembers the names of one object: a list while there are few, then a map.
type names struct {
	few  [24][]byte
	n    int
	many map[string]struct{}
}

// add reports whether the name is new.
func (k *names) add(name []byte) bool {
	if k.many == nil {
		for _, other := range k.few[:k.n] {
			if bytes.Equal(other, name) {
				return false
			}
		}
		if k.n < len(k.few) {
			k.few[k.n] = name
			k.n++
			return true
		}
		k.many = make(map[string]struct{}, 2*len(k.few))
		for _, other := range k.few {
			k.many[string(other)] = struct{}{}
		}
	}
	if _, dup := k.many[string(name)]; dup {
		return false
	}
	k.many[string(name)] = struct{}{}
	return true
}

// text reads a string and returns it unescaped: a part of src where nothing is escaped.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	from := s.at
	var out []byte // nil until the first escape
	for s.at < len(s.src) {
		switch c := s.src[s.at]; {
		case c == '"':
			raw := s.src[from:s.at]
			s.at++
			if out != nil {
				raw = append(out, raw...)
			}
			return raw, utf8.Valid(raw)
		case c < 0x20:
			return nil, false
		case c == '\\':
			out = append(out, s.src[from:s.at]...)
			r, ok := s.escape()
			if !ok {
				return nil, false
			}
			out = utf8.AppendRune(out, r)
			from = s.at
		default:
			s.at++
		}
	}
	return nil, false
}

// escape reads an escape sequence, a pair of surrogates included.
func (s *scanner) escape() (rune, bool) {
	if s.at+2 > len(s.src) {
		return 0, false
	}
	c := s.src[s.at+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, ok := s.unit()
		if !ok || !utf16.IsSurrogate(r) {
			return r, ok
		}
		if s.at+2 > len(s.src) || s.src[s.at] != '\\' || s.src[s.at+1] != 'u' {
			return 0, false
		}
		low, ok := s.unit()
		pair := utf16.DecodeRune(r, low)
		return pair, ok && pair != utf8.RuneError
	default:
		return 0, false
	}
	s.at += 2
	return rune(c), true
}

// unit reads \uXXXX.
func (s *scanner) unit() (rune, bool) {
	if s.at+6 > len(s.src) {
		return 0, false
	}
	var r rune
	for _, c := range s.src[s.at+2 : s.at+6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	s.at += 6
	return r, true
}

func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.src) && '0' <= s.src[s.at] && s.src[s.at] <= '9' {
		s.at++
	}
	return s.at > from
}

// readText reads a value that is a string.
func readText(raw []byte) (string, bool) {
	s := scanner{src: raw}
	text, ok := s.text()
	return string(text), ok && s.at == len(raw)
}

// readInt reads a JSON value that is a non-negative integer written with digits only.
func readInt(raw []byte, limit uint64) (uint64, bool) {
	s := scanner{src: raw}
	if !s.digits() || s.at != len(raw) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw), 10, 64)
	return n, err == nil && n <= limit
}

// appendText writes a string, escaping what JSON must (RFC 8785 section 3.2.2.2).
func appendText(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}
