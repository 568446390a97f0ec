package format

import "unicode/utf8"

// checkTemplate reads RFC 6570 section 2: literals and expressions.
func checkTemplate(s string) *Error {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '{':
			end := indexAny(s, i, "}")
			if end == len(s) {
				return fault(end, "an expression without an end")
			}
			if e := checkExpression(s[i+1 : end]); e != nil {
				return e.at(i + 1)
			}
			i = end + 1
		case c == '%':
			if !pctEncoded(s, i) {
				return fault(i, "a percent sign without two hex digits")
			}
			i += 3
		case c < utf8.RuneSelf:
			if c <= ' ' || c == 0x7f || indexByte("\"<>\\^`|}", c) >= 0 {
				return fault(i, "a character that no literal has")
			}
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if !isUCSChar(r) && !isPrivate(r) {
				return fault(i, "a character outside ASCII that no literal has")
			}
			i += n
		}
	}
	return nil
}

// checkExpression reads what stands between the braces:
// [ operator ] varspec *( "," varspec ).
func checkExpression(s string) *Error {
	i := 0
	if s != "" && indexByte("=,!@|", s[0]) >= 0 {
		return fault(0, "an operator that is reserved")
	}
	if s != "" && indexByte("+#./;?&", s[0]) >= 0 {
		i++
	}
	for {
		end := indexAny(s, i, ",")
		if e := checkVarspec(s[i:end]); e != nil {
			return e.at(i)
		}
		if end == len(s) {
			return nil
		}
		i = end + 1
	}
}

// checkVarspec reads varname [ ":" max-length / "*" ], the length from 1 to
// 9999 without leading zeros.
func checkVarspec(s string) *Error {
	i, dot := 0, true // dot: a varchar must follow
	for i < len(s) && s[i] != ':' && s[i] != '*' {
		switch c := s[i]; {
		case c == '.':
			if dot {
				return fault(i, "a dot without a name before it")
			}
			dot = true
			i++
		case isLetDig(c) || c == '_':
			dot = false
			i++
		case pctEncoded(s, i):
			dot = false
			i += 3
		default:
			return fault(i, "a character that no variable name has")
		}
	}
	if dot {
		return fault(i, "a variable name expected")
	}
	if i == len(s) || s[i:] == "*" {
		return nil
	}
	if s[i] == '*' {
		return fault(i+1, "something follows the explode modifier")
	}
	i++
	if i == len(s) || s[i] == '0' {
		return fault(i, "a prefix length from 1 to 9999 expected")
	}
	for from := i; i < len(s); i++ {
		if !isDigit(s[i]) || i-from == 4 {
			return fault(i, "a prefix length from 1 to 9999 expected")
		}
	}
	return nil
}
