package seal

import "unicode/utf8"

// Symbols that stand for more than one character. The others are ASCII.
const (
	letter = 0x80 // a letter beyond ASCII that may stand in a name
	uuid   = 0x81 // a part of a UUID
	other  = 0xFF
)

// view is how bytes read: one symbol for each character, with its escapes undone, and
// where it begins. It never ends inside an escape or a character, so that what is
// replaced leaves both sides as well-formed as they were.
type view struct {
	sym []byte
	at  []uint32 // one more than symbols: the last is the length of the bytes
}

// look reads bytes of any kind. Two layers of escapes are undone, so that JSON within a
// string of JSON and a percent-encoded parameter within either read as what they mean.
// Time and memory (five bytes for each) are in proportion to the input, whose length
// fits into 32 bits.
func look(raw []byte) view {
	v := view{sym: make([]byte, 0, len(raw)), at: make([]uint32, 0, len(raw)+1)}
	for i := 0; i < len(raw); {
		s, n := character(raw[i:])
		v.sym, v.at = append(v.sym, s), append(v.at, uint32(i))
		i += n
	}
	v.at = append(v.at, uint32(len(raw)))
	v.again()
	return v
}

// again undoes one more layer of escapes, in place.
func (v *view) again() {
	k := 0
	for i := 0; i < len(v.sym); k++ {
		s, n := v.sym[i], 1
		if s < utf8.RuneSelf {
			s, n = escaped(v.sym[i:])
		}
		v.sym[k], v.at[k] = s, v.at[i]
		i += n
	}
	v.at[k] = v.at[len(v.sym)]
	v.sym, v.at = v.sym[:k], v.at[:k+1]
}

// character reads the first character of b and how many bytes it takes.
func character(b []byte) (sym byte, n int) {
	if b[0] < utf8.RuneSelf {
		return escaped(b)
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		if b[0] >= 0xC0 { // Latin-1 and its like
			return letter, 1
		}
		return other, 1
	}
	return symbol(r), n
}

// symbol returns what stands for a character.
func symbol(r rune) byte {
	switch {
	case r < utf8.RuneSelf:
		return byte(r)
	case r == 0xA0, r >= 0x2000 && r <= 0x200A, r == 0x202F, r == 0x3000: // spaces
		return ' '
	case r >= 0x2010 && r <= 0x2015, r == 0x2212: // hyphens, dashes, minus
		return '-'
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return byte(r - 0xFEE0)
	case r >= 0xC0 && r <= 0x7FF: // alphabets that part words by spaces
		return letter
	}
	return other
}

// escaped reads an ASCII character, or the escape that begins with it: of JSON, of a URL
// or of HTML. What only looks like one is its first character.
func escaped(b []byte) (sym byte, n int) {
	switch b[0] {
	case '\\':
		return reverseSolidus(b)
	case '%':
		if r, ok := hexDigits(b[1:], 2); ok {
			if r >= utf8.RuneSelf {
				return letter, 3 // a byte of some character
			}
			return byte(r), 3
		}
	case '&':
		return reference(b)
	}
	return b[0], 1
}

// reverseSolidus reads an escape of JSON.
func reverseSolidus(b []byte) (sym byte, n int) {
	if len(b) < 2 {
		return '\\', 1
	}
	switch b[1] {
	case '"', '\\', '/':
		return b[1], 2
	case 'b', 'f', 'n', 'r', 't':
		return '\n', 2
	case 'u':
		if r, ok := hexDigits(b[2:], 4); ok {
			return symbol(r), 6
		}
	}
	return '\\', 1
}

// maxReference bounds the digits of a character reference.
const maxReference = 7

// reference reads a numeric character reference of HTML, or the one that has a name and
// matters here.
func reference(b []byte) (sym byte, n int) {
	const at = "&commat;"
	if len(b) >= len(at) && string(b[:len(at)]) == at {
		return '@', len(at)
	}
	if len(b) < 2 || b[1] != '#' {
		return '&', 1
	}
	i, base := 2, rune(10)
	if i < len(b) && b[i]|0x20 == 'x' {
		i, base = i+1, 16
	}
	first, r := i, rune(0)
	for ; i < len(b) && i < first+maxReference; i++ {
		d := digit(b[i])
		if d < 0 || d >= base {
			break
		}
		r = r*base + d
	}
	if i == first || i == len(b) || b[i] != ';' {
		return '&', 1
	}
	return symbol(r), i + 1
}

// hexDigits reads n hexadecimal digits.
func hexDigits(b []byte, n int) (r rune, ok bool) {
	if len(b) < n {
		return 0, false
	}
	for _, c := range b[:n] {
		d := digit(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}

// digit is the value of a hexadecimal digit, or -1.
func digit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isAlpha(c byte) bool { return isUpper(c) || isLower(c) || c == letter }

// inWord reports whether a symbol continues a word, so that nothing begins behind it.
func inWord(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c == uuid }
