package text

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
	vs15 = '\ufe0e' // asks for text style
	vs16 = '\ufe0f' // asks for emoji style
)

// removable is the removable class, line feed and tab included.
//
// UAX #44 derives Default_Ignorable_Code_Point as Other_Default_Ignorable +
// Cf + Variation_Selector, less white space and some Cf. As every Cf is
// removable anyway, its three terms without the exceptions are the same set.
var removable = rangetable.Merge(
	unicode.Cc,
	unicode.Cf,
	unicode.Co,
	unicode.Cs,
	unicode.Noncharacter_Code_Point,
	unicode.Other_Default_Ignorable_Code_Point,
	unicode.Variation_Selector,
)

// removableBMP is removable as a bitmap of the Basic Multilingual Plane, where
// almost all text is: one load in place of a binary search.
var removableBMP = bitmapOf(removable.R16)

func bitmapOf(ranges []unicode.Range16) *[1 << 16 / 64]uint64 {
	bits := new([1 << 16 / 64]uint64)
	for _, r := range ranges {
		for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
			bits[c/64] |= 1 << (c % 64)
		}
	}
	return bits
}

// isRemovable is Removable for a decoded rune beyond ASCII.
func isRemovable(r rune) bool {
	if r < 1<<16 {
		return removableBMP[r/64]>>(r%64)&1 != 0
	}
	return unicode.Is(removable, r)
}

// Removable reports whether r belongs to the removable class: category Cc but
// '\n' and '\t', Cf, Co, Cs, the noncharacters, and every
// Default_Ignorable_Code_Point. It knows no context; the keep-rules are
// StripInvisible's. A value outside Unicode (negative, above U+10FFFF) is
// removable.
func Removable(r rune) bool {
	switch {
	case r < 0:
		return true
	case r < utf8.RuneSelf:
		return !plainASCII(byte(r))
	case r > unicode.MaxRune:
		return true
	}
	return isRemovable(r)
}

func plainASCII(c byte) bool {
	return c >= ' ' && c < 0x7f || c == '\n' || c == '\t'
}

// FirstRemovable returns the byte offset of the first removable character of s,
// or -1. It knows no context: it serves machine values, in which no invisible
// character has a place and which are refused, never repaired. An invalid byte
// counts as removable. It does not allocate.
func FirstRemovable(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if !plainASCII(c) {
				return i
			}
			i = scanPlain(s, i+1)
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if invalid(r, size) || isRemovable(r) {
			return i
		}
		i += size
	}
	return -1
}

// scanPlain returns the offset of the first byte at or after from that is not
// plain ASCII, or len(s). It looks at eight bytes at a time.
func scanPlain(s string, from int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := from
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// A byte's high bit is set if it is below the space, is DEL, or is not
		// ASCII. Borrows make it too strict at worst, and the loop below decides.
		odd := (w - ones*' ') | (w + ones) | w
		if odd&highs != 0 {
			for j := i; j < i+8; j++ {
				if !plainASCII(s[j]) {
					return j
				}
			}
		}
	}
	for ; i < len(s) && plainASCII(s[i]); i++ {
	}
	return i
}

// invalid reports whether a decoded rune stands for a byte that is not UTF-8,
// as opposed to a real U+FFFD, which is three bytes long.
func invalid(r rune, size int) bool {
	return r == utf8.RuneError && size <= 1
}

// StripInvisible removes every removable character that no keep-rule protects,
// and says how many of which kind. The rules are in the package's
// documentation. Stripping twice is stripping once. Where nothing is removed, s
// itself comes back and nothing is allocated. Invalid bytes are removed, so out
// is always valid UTF-8.
func StripInvisible(s string) (out string, removed Counts) {
	e := edit{src: s}
	for i := nextRemovable(s, 0); i < len(s); i = nextRemovable(s, i) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if kept := protected(s, i, r); kept > 0 {
			i += kept
			continue
		}
		removed.n[kindOf(r, size)]++
		e.replace(i, i+size, "")
		i += size
	}
	return e.result(), removed
}

// nextRemovable returns the offset of the first removable character at or after
// from, or len(s).
func nextRemovable(s string, from int) int {
	if i := FirstRemovable(s[from:]); i >= 0 {
		return from + i
	}
	return len(s)
}

// kindOf names the kind of a removable character as decoded.
func kindOf(r rune, size int) kind {
	switch {
	case invalid(r, size):
		return kindInvalidByte
	case unicode.Is(unicode.Cc, r):
		return kindControl
	case unicode.Is(unicode.Bidi_Control, r):
		return kindBidiControl
	case unicode.Is(unicode.Join_Control, r):
		return kindJoiner
	case unicode.Is(unicode.Variation_Selector, r):
		return kindVariationSelector
	case r >= 0xE0000 && r <= 0xE007F:
		return kindTag
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return kindDefaultIgnorable
	case unicode.Is(unicode.Co, r):
		return kindPrivateUse
	case unicode.Is(unicode.Noncharacter_Code_Point, r):
		return kindNoncharacter
	}
	return kindFormat
}
