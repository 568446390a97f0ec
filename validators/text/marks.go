package text

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxMarks bounds the combining marks in a row, after full decomposition. It is
// the bound of the Stream-Safe Text Format (UAX #15, section 13); beyond it
// package norm would put U+034F into the text.
const maxMarks = 30

// markStride is the distance at which shortenMarks looks for marks. A run that
// is too long has at least 14 of them, as none counts for more than two after a
// start that counts for at most three, and they are two bytes long or more.
const markStride = 24

// shortenMarks removes from every run of combining marks what exceeds maxMarks,
// and returns the number of code points removed. Invisible characters neither
// count nor end a run, since they will not be there in the end.
//
// It looks at one byte in 24 until it meets a mark.
func shortenMarks(s string) (out string, removed int) {
	e := edit{src: s}
	for at := markStride - 1; at < len(s); at += markStride {
		if s[at] < utf8.RuneSelf {
			continue
		}
		start := at
		for start > e.done && !utf8.RuneStart(s[start]) {
			start--
		}
		if weight, _ := markWeight(s[start:]); weight == 0 {
			continue
		}
		end, n := shortenRun(&e, runStart(s, start, e.done))
		removed += n
		at = max(at, end)
	}
	return e.result(), removed
}

// runStart returns the offset of the character that begins the run of marks in
// which at lies, not before floor.
func runStart(s string, at, floor int) int {
	for at > floor {
		_, size := utf8.DecodeLastRuneInString(s[floor:at])
		at -= size
		if weight, _ := markWeight(s[at:]); weight == 0 {
			r, _ := utf8.DecodeRuneInString(s[at:])
			if !Removable(r) {
				break
			}
		}
	}
	return at
}

// shortenRun walks over the run that begins at from, and returns its end and the
// number of marks cut out of it.
func shortenRun(e *edit, from int) (end, removed int) {
	s := e.src
	first, size := utf8.DecodeRuneInString(s[from:])
	count := trailingMarks(s[from:])
	i := from + size
	if weight, _ := markWeight(s[from:]); weight > 0 || Removable(first) {
		count, i = 0, from
	}
	for i < len(s) {
		weight, size := markWeight(s[i:])
		r, _ := utf8.DecodeRuneInString(s[i:])
		switch {
		case weight == 0 && !Removable(r):
			return i, removed
		case weight > 0 && count+weight > maxMarks && !isJamo(s[i:]):
			e.replace(i, i+size, "")
			removed++
		default:
			count += weight
		}
		i += size
	}
	return i, removed
}

// markWeight returns for how many marks the character at the start of s counts,
// 0 where it is none or invisible, and its length. Vowels and finals of Hangul
// count as they do in package norm, but are letters and never cut.
func markWeight(s string) (weight, size int) {
	r, size := utf8.DecodeRuneInString(s)
	if r < 0x300 || Removable(r) {
		return 0, size
	}
	p := norm.NFKD.PropertiesString(s)
	if p.LeadCCC() == 0 && !unicode.IsMark(r) && !isJamo(s) {
		return 0, size
	}
	return max(1, utf8.RuneCount(p.Decomposition())), size
}

// isJamo reports whether s begins with a vowel or final of Hangul, or a
// compatibility letter that becomes one.
func isJamo(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if r < 0x1161 {
		return false
	}
	if d := norm.NFKD.PropertiesString(s).Decomposition(); len(d) > 0 && (r < 0xAC00 || r > 0xD7A3) {
		r, _ = utf8.DecodeRune(d)
	}
	return r >= 0x1161 && r <= 0x1175 || r >= 0x11A8 && r <= 0x11C2
}

// trailingMarks returns the number of marks at the end of the decomposition of
// the character at the start of s.
func trailingMarks(s string) int {
	d := norm.NFKD.PropertiesString(s).Decomposition()
	n := 0
	for len(d) > 0 {
		r, size := utf8.DecodeLastRune(d)
		if norm.NFKD.Properties(d[len(d)-size:]).CCC() == 0 && !unicode.IsMark(r) {
			break
		}
		d = d[:len(d)-size]
		n++
	}
	return n
}
