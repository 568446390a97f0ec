package strictjson

import (
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// sideRoom is what an unescaped text needs at most, mostly.
const sideRoom = 64

// growSide makes room in the side text. What there is so far says how much there may be
// in all, which costs less than to grow by what each piece needs.
func (r *reader) growSide() {
	room := sideRoom
	if n := r.side.Len(); n > 4*sideRoom {
		room = max(room, r.inAll(n)-2*r.side.Cap()) // Grow doubles what there is
	}
	r.side.Grow(room)
}

// inAll guesses how many there will be of what there are n of before this position.
func (r *reader) inAll(n int) int {
	all := float64(n) * float64(len(r.src)) / float64(max(r.pos, 1))
	return int(all + all/16)
}

// str reads a string token at the current position and returns where its unescaped
// text stands, and its length in code points, of which there may be most. A string
// without escapes is a slice of the source; any other is unescaped into the side text.
// It is refused at its first character too many, so that what its rest holds makes no
// difference; what names it in that refusal.
func (r *reader) str(what string, most int) (text span, chars int, err error) {
	at, side := r.pos, r.side.Len()
	r.pos++
	from := r.pos // of the text that is not in the side text yet
	escaped := false
	for {
		chars += r.plain()
		if chars > most {
			return span{}, 0, r.limit(StringLimit, at, fmt.Sprintf("%s of more than %d characters", what, most))
		}
		if r.pos >= len(r.src) {
			return span{}, 0, r.syntax("the input ends inside a string")
		}
		switch c := r.src[r.pos]; {
		case c == '"':
			rest := span{from: uint32(from), to: uint32(r.pos)}
			r.pos++
			if !escaped {
				return rest, chars, nil
			}
			r.side.WriteString(r.src[rest.from:rest.to])
			return span{from: uint32(side), to: uint32(r.side.Len()), side: true}, chars, nil
		case c == '\\':
			if !escaped && r.side.Cap()-r.side.Len() < sideRoom {
				r.growSide()
			}
			escaped = true
			r.side.WriteString(r.src[from:r.pos])
			if err := r.escape(); err != nil {
				return span{}, 0, err
			}
			from = r.pos
		case c < ' ':
			return span{}, 0, r.syntax("a control character in a string must be escaped")
		default:
			r.multibyte()
		}
		chars++
	}
}

// plain steps over the characters of one byte that stand for themselves, and counts
// them.
func (r *reader) plain() int {
	i := r.pos
	for i+8 <= len(r.src) {
		odd := notPlain(eightBytes(r.src[i : i+8]))
		i += bits.TrailingZeros64(odd) / 8 // 8 where there is none
		if odd != 0 {
			n := i - r.pos
			r.pos = i
			return n
		}
	}
	for i < len(r.src) && r.src[i] >= ' ' && r.src[i] < utf8.RuneSelf && r.src[i] != '"' && r.src[i] != '\\' {
		i++
	}
	n := i - r.pos
	r.pos = i
	return n
}

// eightBytes returns eight bytes as a number, the first one lowest.
func eightBytes(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// notPlain looks for the first of eight bytes that plain would not step over: the lowest
// bit of the answer is the top one of that byte; 0 is the answer where it would step over
// all of them. A byte of the sums and differences below has its top bit set where the
// byte of w is below a space, a quote, a backslash or not ASCII; a borrow from a lower
// byte can only come from a byte that is not plain itself.
func notPlain(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^('"'*ones), w^('\\'*ones)
	return (w | (w - ' '*ones) | (quote - ones) | (backslash - ones)) & tops
}

// multibyte steps over one code point of several bytes.
func (r *reader) multibyte() {
	c, size := utf8.DecodeRuneInString(r.src[r.pos:])
	if c == utf8.RuneError && size == 1 {
		r.encoding(r.pos, "bytes that are not UTF-8")
	}
	r.pos += size
}

// escape reads one escape sequence, a surrogate pair as one, and appends its code
// point to the side text.
func (r *reader) escape() error {
	at := r.pos
	if at+1 >= len(r.src) {
		r.pos = len(r.src)
		return r.syntax("the input ends inside a string")
	}
	if c := r.src[at+1]; c != 'u' {
		meant := short(c)
		if meant == 0 {
			return r.syntax("no such escape")
		}
		r.side.WriteByte(meant)
		r.pos += 2
		return nil
	}
	unit, ok := hex4(r.src, at+2)
	if !ok {
		return r.syntax(`four hexadecimal digits are expected after \u`)
	}
	r.pos += 6
	c32 := rune(unit)
	if utf16.IsSurrogate(c32) {
		low, ok := lowSurrogate(r.src, r.pos)
		c32 = utf16.DecodeRune(c32, rune(low))
		if !ok || c32 == utf8.RuneError {
			r.encoding(at, "an escaped surrogate without its other half")
			r.side.WriteRune(utf8.RuneError) // for pointers that pass here
			return nil
		}
		r.pos += 6
	}
	r.side.WriteRune(c32)
	return nil
}

// short returns what an escape of one letter stands for, or 0 where there is no such.
func short(letter byte) byte {
	switch letter {
	case '"', '\\', '/':
		return letter
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

func lowSurrogate(s string, at int) (uint32, bool) {
	if at+1 >= len(s) || s[at] != '\\' || s[at+1] != 'u' {
		return 0, false
	}
	return hex4(s, at+2)
}

func hex4(s string, at int) (uint32, bool) {
	if at+4 > len(s) {
		return 0, false
	}
	var u uint32
	for i := at; i < at+4; i++ {
		d := uint32(s[i])
		switch {
		case d >= '0' && d <= '9':
			d -= '0'
		case d|0x20 >= 'a' && d|0x20 <= 'f':
			d = (d | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		u = u<<4 | d
	}
	return u, true
}

// number reads a number token (RFC 8259 section 6) and checks its length and
// magnitude by its digits.
func (r *reader) number() error {
	at := r.pos
	end, detail := numberEnd(r.src, at)
	if end-at > r.limits.MaxNumberChars {
		return r.limit(NumberLimit, at, fmt.Sprintf("a number of more than %d characters", r.limits.MaxNumberChars))
	}
	if detail != "" {
		r.pos = end
		return r.unexpected(detail)
	}
	if !magnitudeAllowed(r.src[at:end]) {
		return r.limit(NumberLimit, at, fmt.Sprintf("a number whose decimal exponent is beyond ±%d", MaxExponent))
	}
	r.pos = end
	return nil
}

// numberEnd returns where the number token that begins at i ends, or where and how it
// breaks the grammar.
func numberEnd(s string, i int) (end int, fault string) {
	if s[i] == '-' {
		i++
	}
	from := i
	if i = digitsEnd(s, i); i == from {
		return i, "a digit is expected"
	}
	if s[from] == '0' && i > from+1 {
		return from + 1, "a number does not begin with a superfluous zero"
	}
	if i < len(s) && s[i] == '.' {
		from = i + 1
		if i = digitsEnd(s, from); i == from {
			return i, "a digit is expected after the decimal point"
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		from = i + 1
		if from < len(s) && (s[from] == '+' || s[from] == '-') {
			from++
		}
		if i = digitsEnd(s, from); i == from {
			return i, "a digit is expected in the exponent"
		}
	}
	return i, ""
}

// digitsEnd returns where the digits end that begin at i.
func digitsEnd(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// exponentAt returns where the e of a number's exponent stands, or -1.
func exponentAt(token string) int {
	for i := range len(token) {
		if token[i]|0x20 == 'e' {
			return i
		}
	}
	return -1
}

// magnitudeAllowed looks at the digits of a valid token and computes nothing else.
func magnitudeAllowed(token string) bool {
	if len(token) <= MaxExponent && exponentAt(token) < 0 {
		return true // too short to leave the range without an exponent
	}
	d, ok := ParseDecimal(token)
	return ok && d.magnitude() <= MaxExponent && d.magnitude() >= -MaxExponent
}
