package text

import "strings"

// CleanMember cleans a text member of a JSON result as it stands in the string
// value, escapes already decoded. In this order:
//
//  1. Line ends: CRLF, CR, NEL, VT, FF, LS and PS become LF.
//  2. Terminal sequences (ECMA-48) go as a whole, not only their ESC: control
//     sequences (CSI), control strings (OSC, DCS, APC, PM, SOS) with everything
//     up to their terminator, and the designations of G0 to G3, each with ESC
//     or as one C1 character. Any other ESC is a plain control character.
//  3. StripInvisible.
//
// A terminal sequence is recognised within bounds, so that text never vanishes
// behind an opening that nothing closes: a control string must end, by ST or,
// for OSC, by BEL, within 8192 bytes, on its line, before the next escape or
// other C1 character; a control sequence has at most 64 bytes between its
// introducer and its final byte. A control string that does not is text, and
// loses its ESC or C1 character alone. A control sequence cut off by the end of
// the text or by a control character goes as far as it is there, as in a
// terminal; one that contains anything else that it must not is text.
//
// removed counts code points by kind and each terminal sequence once; line ends
// are not counted. Cleaning twice is cleaning once: the result contains no
// line end but LF, no ESC and no C1 character, so that steps 1 and 2 find
// nothing in it. Where nothing changes, s itself comes back and nothing is
// allocated.
func CleanMember(s string) (out string, removed Counts) {
	// All that the steps look for is removable, except LS and PS.
	if FirstRemovable(s) < 0 && !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029") {
		return s, removed
	}
	s = unifyLineEnds(s)
	s, sequences := stripTerminal(s)
	s, removed = StripInvisible(s)
	removed.n[kindTerminalSequence] = sequences
	return s, removed
}

// unifyLineEnds turns CRLF, CR, NEL, VT, FF, LS and PS into LF.
func unifyLineEnds(s string) string {
	e := edit{src: s}
	for i := 0; i < len(s); i++ {
		if size := foreignLineEnd(s[i:]); size > 0 {
			e.replace(i, i+size, "\n")
			i += size - 1
		}
	}
	return e.result()
}

// foreignLineEnd returns the length of the line end other than LF with which s,
// which is not empty, begins, or 0.
func foreignLineEnd(s string) int {
	switch s[0] {
	case '\r':
		if strings.HasPrefix(s, "\r\n") {
			return 2
		}
		return 1
	case '\v', '\f':
		return 1
	case "\u0085"[0]:
		if strings.HasPrefix(s, "\u0085") {
			return 2
		}
	case "\u2028"[0]:
		if strings.HasPrefix(s, "\u2028") || strings.HasPrefix(s, "\u2029") {
			return 3
		}
	}
	return 0
}
