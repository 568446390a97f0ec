package format

import (
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// The rules of IDNA 2008 are written out here because golang.org/x/net/idna
// implements UTS #46: it maps, lets symbols pass, knows no CONTEXTO rule, and
// takes a zero width non-joiner before a letter that does not join.

// checkCodePoints applies RFC 5891 sections 4.2.1 to 4.2.3.3 to a U-label of
// bounded length. Offsets inside a label would have to be counted in bytes of
// the caller's string, which may be an A-label, so faults are at its start.
func checkCodePoints(label []rune) *Error {
	text := string(label)
	if !norm.NFC.IsNormalString(text) {
		return fault(0, "characters that are not in NFC")
	}
	if len(label) > 3 && label[2] == '-' && label[3] == '-' {
		return fault(0, "hyphens in the third and fourth place")
	}
	if unicode.Is(unicode.M, label[0]) {
		return fault(0, "a combining mark at the start")
	}
	fold := cases.Fold() // a Caser may have state: one for each use
	for i, r := range label {
		switch derivedProperty(r, fold) {
		case pvalid:
		case contextual:
			if !contextAllows(label, i) {
				return fault(0, "a character in a context that does not allow it")
			}
		default:
			return fault(0, "a character that IDNA does not allow")
		}
	}
	return nil
}

// property is a derived property value of RFC 5892 section 3. UNASSIGNED is
// disallowed here.
type property int

const (
	disallowed property = iota
	pvalid
	contextual // CONTEXTJ or CONTEXTO
)

// derivedProperty is the algorithm of RFC 5892 section 3 over the Unicode
// tables of the Go release. BackwardCompatible (2.7) is empty.
func derivedProperty(r rune, fold cases.Caser) property {
	if p, ok := exception(r); ok {
		return p
	}
	switch {
	case r < 0x80:
		if isDigit(byte(r)) || 'a' <= r && r <= 'z' || r == '-' {
			return pvalid
		}
		return disallowed
	case r == zwnj || r == zwj:
		return contextual
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector),
		unicode.Is(ignorableBlocks, r), unicode.Is(oldHangulJamo, r):
		return disallowed
	case unicode.Is(unicode.Cherokee, r) && unicode.Is(unicode.Lu, r):
		// CaseFolding.txt folds Cherokee to its capitals, which are stable; the
		// Caser swaps the two cases. The small letters fall to Unstable below.
		return pvalid
	case !unicode.In(r, unicode.Ll, unicode.Lu, unicode.Lo, unicode.Nd, unicode.Lm, unicode.Mn, unicode.Mc):
		return disallowed
	}
	s := string(r)
	if norm.NFKC.String(fold.String(norm.NFKC.String(s))) != s {
		return disallowed // Unstable (2.2)
	}
	return pvalid
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// exception is the list of RFC 5892 section 2.6.
func exception(r rune) (property, bool) {
	switch r {
	case 0x00DF, 0x03C2, 0x06FD, 0x06FE, 0x0F0B, 0x3007:
		return pvalid, true
	case 0x00B7, 0x0375, 0x05F3, 0x05F4, 0x30FB:
		return contextual, true
	case 0x0640, 0x07FA, 0x302E, 0x302F, 0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x303B:
		return disallowed, true
	}
	if isArabicIndic(r) || isExtendedArabicIndic(r) {
		return contextual, true
	}
	return disallowed, false
}

func isArabicIndic(r rune) bool         { return 0x0660 <= r && r <= 0x0669 }
func isExtendedArabicIndic(r rune) bool { return 0x06F0 <= r && r <= 0x06F9 }

// contextAllows applies the rules of RFC 5892 appendix A to label[i].
func contextAllows(label []rune, i int) bool {
	before, after := rune(-1), rune(-1)
	if i > 0 {
		before = label[i-1]
	}
	if i+1 < len(label) {
		after = label[i+1]
	}
	switch r := label[i]; {
	case r == zwnj: // A.1
		return isVirama(before) || joinsAround(label, i)
	case r == zwj: // A.2
		return isVirama(before)
	case r == 0x00B7: // A.3, between two l
		return before == 'l' && after == 'l'
	case r == 0x0375: // A.4, keraia
		return unicode.Is(unicode.Greek, after)
	case r == 0x05F3, r == 0x05F4: // A.5, A.6, geresh and gershayim
		return unicode.Is(unicode.Hebrew, before)
	case r == 0x30FB: // A.7, katakana middle dot
		return anyRune(label, func(r rune) bool {
			return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han)
		})
	case isArabicIndic(r): // A.8
		return !anyRune(label, isExtendedArabicIndic)
	case isExtendedArabicIndic(r): // A.9
		return !anyRune(label, isArabicIndic)
	}
	return false
}

func anyRune(label []rune, is func(rune) bool) bool {
	for _, r := range label {
		if is(r) {
			return true
		}
	}
	return false
}

// isVirama: canonical combining class 9; before the first code point r is -1.
func isVirama(r rune) bool {
	return r >= 0 && norm.NFD.PropertiesString(string(r)).CCC() == 9
}

// joinsAround is the regular expression of RFC 5892 A.1:
//
//	(L|D) T* ZWNJ T* (R|D)
//
// A label has at most 63 code points, so walking out from each joiner is cheap.
func joinsAround(label []rune, i int) bool {
	left, right := i-1, i+1
	for left >= 0 && isTransparent(label[left]) {
		left--
	}
	for right < len(label) && isTransparent(label[right]) {
		right++
	}
	return left >= 0 && right < len(label) &&
		(unicode.Is(joiningDual, label[left]) || unicode.Is(joiningLeft, label[left])) &&
		(unicode.Is(joiningDual, label[right]) || unicode.Is(joiningRight, label[right]))
}

// isTransparent: joining type T, which for characters that a label may hold is
// the same as being a non-spacing mark.
func isTransparent(r rune) bool { return unicode.Is(unicode.Mn, r) }

// checkBidi applies RFC 5893 section 2 to every label of a name in which any
// label has a right-to-left character. Other names have nothing to fear.
func checkBidi(labels []label) *Error {
	rtl := false
	for _, l := range labels {
		for _, r := range l.unicode {
			switch bidiClass(r) {
			case bidi.R, bidi.AL, bidi.AN:
				rtl = true
			}
		}
	}
	if !rtl {
		return nil
	}
	for _, l := range labels {
		if !bidiLabel([]rune(l.unicode)) {
			return fault(l.start, "a label that breaks the Bidi rule")
		}
	}
	return nil
}

func bidiClass(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// bidiLabel is the Bidi rule, conditions 1 to 6.
func bidiLabel(label []rune) bool {
	first := bidiClass(label[0])
	rtl := first == bidi.R || first == bidi.AL
	if !rtl && first != bidi.L {
		return false // 1
	}
	var last bidi.Class // the last that is no non-spacing mark
	seenEN, seenAN := false, false
	for _, r := range label {
		c := bidiClass(r)
		switch c {
		case bidi.NSM:
			continue
		case bidi.ES, bidi.CS, bidi.ET, bidi.ON, bidi.BN:
		case bidi.EN:
			seenEN = true
		case bidi.AN:
			seenAN = true
			if !rtl {
				return false // 5
			}
		case bidi.L:
			if rtl {
				return false // 2
			}
		case bidi.R, bidi.AL:
			if !rtl {
				return false // 5
			}
		default:
			return false // 2, 5
		}
		last = c
	}
	if rtl {
		return !(seenEN && seenAN) && // 4
			(last == bidi.R || last == bidi.AL || last == bidi.EN || last == bidi.AN) // 3
	}
	return last == bidi.L || last == bidi.EN // 6
}
