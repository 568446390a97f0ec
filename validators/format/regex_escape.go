package format

import (
	"unicode"
	"unicode/utf8"
)

// atomEscape reads a backslash and what follows it outside a class.
func (p *pattern) atomEscape() *Error {
	at := p.i
	switch {
	case p.skip(`\k<`):
		name, e := p.groupName()
		if e != nil {
			return e
		}
		p.references = append(p.references, reference{at: at, name: name})
		return nil
	case at+1 < len(p.s) && '1' <= p.s[at+1] && p.s[at+1] <= '9':
		p.i++
		number := 0
		for _, d := range []byte(p.digits()) {
			// No pattern that is read has so many groups: stop before overflow.
			number = min(number*10+int(d-'0'), MaxBytes)
		}
		p.references = append(p.references, reference{at: at, number: number})
		return nil
	}
	_, _, e := p.escape()
	return e
}

// class reads "[" ranges "]". "[]" and "[^]" are classes of their own.
func (p *pattern) class() *Error {
	at := p.i
	p.i++
	p.skip("^")
	for p.i < len(p.s) {
		if p.skip("]") {
			return nil
		}
		from := p.i
		low, lowSet, e := p.classAtom()
		if e != nil {
			return e
		}
		// A hyphen before the end is itself.
		if !p.peek("-") || p.peek("-]") {
			continue
		}
		p.i++
		if p.i == len(p.s) {
			break
		}
		high, highSet, e := p.classAtom()
		if e != nil {
			return e
		}
		if lowSet || highSet {
			return fault(from, "a range from or to a set of characters")
		}
		if low > high {
			return fault(from, "a range that is out of order")
		}
	}
	return fault(at, "a class without an end")
}

// classAtom reads one character of a class, or one escape for a set of them.
func (p *pattern) classAtom() (r rune, set bool, e *Error) {
	switch {
	case p.skip(`\b`):
		return '\b', false, nil
	case p.skip(`\-`):
		return '-', false, nil
	case p.peek(`\`):
		return p.escape()
	}
	r, n := utf8.DecodeRuneInString(p.s[p.i:])
	p.i += n
	return r, false, nil
}

// escape reads CharacterClassEscape or CharacterEscape with its backslash: the
// character that it stands for, or set where it stands for several.
func (p *pattern) escape() (r rune, set bool, e *Error) {
	at := p.i
	p.i++
	if p.i == len(p.s) {
		return 0, false, fault(at, "a backslash at the end")
	}
	c := p.s[p.i]
	p.i++
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W':
		return 0, true, nil
	case 'p', 'P':
		return 0, true, p.property()
	case 'f':
		return '\f', false, nil
	case 'n':
		return '\n', false, nil
	case 'r':
		return '\r', false, nil
	case 't':
		return '\t', false, nil
	case 'v':
		return '\v', false, nil
	case 'c':
		if p.i < len(p.s) && isAlpha(p.s[p.i]) {
			p.i++
			return rune(p.s[p.i-1] & 0x1f), false, nil
		}
		return 0, false, fault(at, `\c without a letter`)
	case '0':
		if p.i < len(p.s) && isDigit(p.s[p.i]) {
			return 0, false, fault(at, "an octal escape")
		}
		return 0, false, nil
	case 'x':
		r, ok := p.hex(2)
		if !ok {
			return 0, false, fault(at, `\x without two hex digits`)
		}
		return r, false, nil
	case 'u':
		r, e = p.unicodeEscape()
		return r, false, e
	}
	if indexByte(`^$\.*+?()[]{}|/`, c) < 0 {
		return 0, false, fault(at, "an escape that does not exist")
	}
	return rune(c), false, nil
}

// unicodeEscape reads what follows \u: four hex digits, two such escapes for a
// surrogate pair, or a code point in braces.
func (p *pattern) unicodeEscape() (rune, *Error) {
	at := p.i
	if p.skip("{") {
		r, n := rune(0), 0
		for ; p.i < len(p.s) && isHex(p.s[p.i]); p.i++ {
			if r = r<<4 | hexValue(p.s[p.i]); r > unicode.MaxRune {
				return 0, fault(at, "a code point beyond U+10FFFF")
			}
			n++
		}
		if n == 0 || !p.skip("}") {
			return 0, fault(at, "hex digits in braces expected")
		}
		return r, nil
	}
	r, ok := p.hex(4)
	if !ok {
		return 0, fault(at, `\u without four hex digits`)
	}
	if 0xD800 <= r && r <= 0xDBFF {
		back := p.i
		if p.skip(`\u`) {
			if low, ok := p.hex(4); ok && 0xDC00 <= low && low <= 0xDFFF {
				return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), nil
			}
		}
		p.i = back // a lone surrogate is a character too
	}
	return r, nil
}

// hex reads exactly n hex digits, or nothing.
func (p *pattern) hex(n int) (r rune, ok bool) {
	if len(p.s)-p.i < n {
		return 0, false
	}
	for _, c := range []byte(p.s[p.i : p.i+n]) {
		if !isHex(c) {
			return 0, false
		}
		r = r<<4 | hexValue(c)
	}
	p.i += n
	return r, true
}

func hexValue(c byte) rune {
	if isDigit(c) {
		return rune(c - '0')
	}
	return rune(c|0x20-'a') + 10
}

// isNameRune: RegExpIdentifierStart and RegExpIdentifierPart.
func isNameRune(r rune, first bool) bool {
	switch {
	case r == '$' || r == '_':
		return true
	case unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space):
		return false
	case unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start):
		return true
	case first:
		return false
	}
	return r == zwnj || r == zwj ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}
