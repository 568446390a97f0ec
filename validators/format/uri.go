package format

import "unicode/utf8"

// URI reports whether s is an RFC 3986 URI, scheme included; nil means yes, the
// error is an [*Error]. It says nothing about where the URI leads.
func URI(s string) error { return run("uri", checkURI, s) }

func checkURI(s string) *Error          { return uriGrammar{}.check(s, false) }
func checkURIReference(s string) *Error { return uriGrammar{}.check(s, true) }
func checkIRI(s string) *Error          { return uriGrammar{iri: true}.check(s, false) }
func checkIRIReference(s string) *Error { return uriGrammar{iri: true}.check(s, true) }

// uriGrammar is RFC 3986, or RFC 3987 where iri is set.
type uriGrammar struct{ iri bool }

// check cuts s at the first delimiters, as RFC 3986 appendix B does, and then
// holds each component to its own characters.
func (g uriGrammar) check(s string, relative bool) *Error {
	i, hasScheme := 0, false
	if colon := indexAny(s, 0, ":/?#"); colon < len(s) && s[colon] == ':' {
		if e := checkScheme(s[:colon]); e != nil {
			return e
		}
		i, hasScheme = colon+1, true
	}
	if !hasScheme && !relative {
		return fault(0, "no scheme")
	}
	if len(s)-i >= 2 && s[i:i+2] == "//" {
		end := indexAny(s, i+2, "/?#")
		if e := g.checkAuthority(s[i+2 : end]); e != nil {
			return e.at(i + 2)
		}
		i = end
	}
	end := indexAny(s, i, "?#")
	if e := g.component(s[i:end], ":@/", false); e != nil {
		return e.at(i)
	}
	if i = end; i < len(s) && s[i] == '?' {
		end = indexAny(s, i, "#")
		if e := g.component(s[i+1:end], ":@/?", true); e != nil {
			return e.at(i + 1)
		}
		i = end
	}
	if i < len(s) {
		return g.component(s[i+1:], ":@/?", false).at(i + 1)
	}
	return nil
}

// indexAny returns the index of the first byte of set in s[from:], or len(s).
func indexAny(s string, from int, set string) int {
	for i := from; i < len(s); i++ {
		if indexByte(set, s[i]) >= 0 {
			return i
		}
	}
	return len(s)
}

// checkScheme reads ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ). What stands
// before a colon and is no scheme is no first segment of a path either.
func checkScheme(s string) *Error {
	if s == "" || !isAlpha(s[0]) {
		return fault(0, "a scheme begins with a letter")
	}
	for i := range len(s) {
		if !isLetDig(s[i]) && indexByte("+-.", s[i]) < 0 {
			return fault(i, "a character that no scheme has")
		}
	}
	return nil
}

// checkAuthority reads [ userinfo "@" ] host [ ":" port ].
func (g uriGrammar) checkAuthority(s string) *Error {
	i := 0
	if at := indexByte(s, '@'); at >= 0 {
		if e := g.component(s[:at], ":", false); e != nil {
			return e
		}
		i = at + 1
	}
	if i < len(s) && s[i] == '[' {
		end := indexByte(s[i:], ']')
		if end < 0 {
			return fault(len(s), "an address literal without an end")
		}
		if e := checkIPLiteral(s[i+1 : i+end]); e != nil {
			return e.at(i + 1)
		}
		i += end + 1
		if i < len(s) && s[i] != ':' {
			return fault(i, "something follows the address literal")
		}
	} else {
		end := indexAny(s, i, ":")
		if e := g.component(s[i:end], "", false); e != nil {
			return e.at(i)
		}
		i = end
	}
	for i++; i < len(s); i++ {
		if !isDigit(s[i]) {
			return fault(i, "a port of other than digits")
		}
	}
	return nil
}

// checkIPLiteral reads what stands between the brackets: an IPv6 address
// without a zone, or "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ).
func checkIPLiteral(s string) *Error {
	if s == "" || s[0]|0x20 != 'v' {
		return checkIPv6(s)
	}
	dot := 1
	for dot < len(s) && isHex(s[dot]) {
		dot++
	}
	if dot == 1 || dot == len(s) || s[dot] != '.' {
		return fault(dot, "a version and a dot expected")
	}
	if dot+1 == len(s) {
		return fault(dot+1, "an empty address")
	}
	for i := dot + 1; i < len(s); i++ {
		if !isUnreserved(s[i]) && !isSubDelim(s[i]) && s[i] != ':' {
			return fault(i, "a character that no address literal has")
		}
	}
	return nil
}

func isUnreserved(c byte) bool { return isLetDig(c) || indexByte("-._~", c) >= 0 }

func isSubDelim(c byte) bool { return indexByte("!$&'()*+,;=", c) >= 0 }

// component reads unreserved, sub-delims, percent-encoded octets and the bytes
// of also; for an IRI ucschar too, and iprivate where private says so.
func (g uriGrammar) component(s, also string, private bool) *Error {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '%':
			if !pctEncoded(s, i) {
				return fault(i, "a percent sign without two hex digits")
			}
			i += 3
		case c < utf8.RuneSelf:
			if !isUnreserved(c) && !isSubDelim(c) && indexByte(also, c) < 0 {
				return fault(i, "a character that may not stand here")
			}
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if !g.iri || !isUCSChar(r) && !(private && isPrivate(r)) {
				return fault(i, "a character outside ASCII that may not stand here")
			}
			if isBidiControl(r) {
				return fault(i, "a character that turns the direction of text")
			}
			i += n
		}
	}
	return nil
}

// isUCSChar is ucschar of RFC 3987 section 2.2: from each plane all but its
// last two code points, without private use and the tags at U+E0000.
func isUCSChar(r rune) bool {
	switch {
	case r < 0x10000:
		return 0xA0 <= r && r <= 0xD7FF || 0xF900 <= r && r <= 0xFDCF || 0xFDF0 <= r && r <= 0xFFEF
	case r >= 0xE0000:
		return 0xE1000 <= r && r <= 0xEFFFD
	default:
		return r&0xFFFF <= 0xFFFD
	}
}

// isPrivate is iprivate of RFC 3987 section 2.2.
func isPrivate(r rune) bool {
	return 0xE000 <= r && r <= 0xF8FF || r >= 0xF0000 && r&0xFFFF <= 0xFFFD
}

// isBidiControl: characters with which an IRI is shown as another one. RFC 3987
// section 4.1 forbids those that it knew; the isolates and U+061C came later.
func isBidiControl(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}
