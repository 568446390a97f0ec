package text

import (
	"strings"
)

const (
	esc = '\x1b'
	bel = '\a'

	// maxControlSequence bounds the bytes between a control sequence's
	// introducer and its final byte. Colours in full take about 40.
	maxControlSequence = 64

	// maxControlString bounds the bytes of a control string with its
	// terminator: enough for a hyperlink or a chunk of an inline image.
	maxControlString = 8192
)

// stripTerminal removes the terminal sequences of s, whose line ends are LF
// already, and returns their number.
//
// It is linear: the search for the end of a sequence stops at the next
// character that could begin one, so no two searches look at the same byte.
func stripTerminal(s string) (out string, sequences int) {
	e := edit{src: s}
	for i := 0; i < len(s); {
		size := terminalSequence(s[i:])
		if size == 0 {
			i++
			continue
		}
		sequences++
		e.replace(i, i+size, "")
		i += size
	}
	return e.result(), sequences
}

// terminalSequence returns the length of the terminal sequence with which s,
// which is not empty, begins, or 0.
func terminalSequence(s string) int {
	introducer, size := introducer(s)
	switch introducer {
	case '[':
		return controlSequence(s, size)
	case ']', 'P', '_', '^', 'X':
		return controlString(s, size, introducer == ']')
	case '(', ')', '*', '+':
		return designation(s, size)
	}
	return 0
}

// introducer returns the character that follows ESC at the start of s, or the
// one that a C1 character at the start of s stands for, and the length of the
// introducer. A C1 character c is the same as ESC followed by c-0x40.
func introducer(s string) (c byte, size int) {
	switch {
	case len(s) < 2:
		return 0, 0
	case s[0] == esc:
		return s[1], 2
	case c1(s):
		return s[1] - 0x40, 2
	}
	return 0, 0
}

// c1 reports whether s begins with one of U+0080 to U+009F.
func c1(s string) bool {
	return len(s) >= 2 && s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f
}

// controlSequence returns the length of the control sequence at the start of s,
// whose introducer is size bytes long: parameter bytes, intermediate bytes,
// final byte (ECMA-48, 5.4).
func controlSequence(s string, size int) int {
	body := s[size:min(len(s), size+maxControlSequence+1)]
	n := 0
	for n < len(body) && body[n] >= 0x30 && body[n] <= 0x3f {
		n++
	}
	for n < len(body) && body[n] >= 0x20 && body[n] <= 0x2f {
		n++
	}
	switch {
	case n == maxControlSequence+1:
		return 0
	case n < len(body) && body[n] >= 0x40 && body[n] <= 0x7e:
		return size + n + 1
	case n == len(body), body[n] < 0x20, body[n] == 0x7f, c1(s[size+n:]):
		return size + n
	}
	return 0
}

// controlString returns the length of the control string at the start of s,
// whose opening is size bytes long, with its terminator (ECMA-48, 5.6). BEL
// ends an OSC by custom of terminals.
func controlString(s string, size int, isOSC bool) int {
	body := s[:min(len(s), maxControlString)]
	for i := size; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\n':
			return 0
		case c == bel && isOSC:
			return i + 1
		case c == esc || c1(body[i:]):
			if end, n := introducer(body[i:]); end == '\\' {
				return i + n
			}
			return 0
		}
	}
	return 0
}

// designation returns the length of the designation of a character set, as in
// ESC ( B, at the start of s. Only the sets that terminals know are taken for
// one, because the final byte may be any letter of a word.
func designation(s string, size int) int {
	if len(s) > size && strings.IndexByte("AB012", s[size]) >= 0 {
		return size + 1
	}
	return 0
}
