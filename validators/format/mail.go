package format

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxLocal is the longest local part in octets (RFC 5321 section 4.5.3.1.1).
const maxLocal = 64

// Email reports whether s is an RFC 5321 Mailbox in ASCII; nil means yes, the
// error is an [*Error]. A well-formed address is not one that a policy would
// send to: quoted local parts and address literals conform.
func Email(s string) error { return run("email", checkEmail, s) }

func checkEmail(s string) *Error {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return fault(i, "a character outside ASCII")
		}
	}
	return checkMailbox(s)
}

func checkIDNEmail(s string) *Error { return checkMailbox(s) }

// checkMailbox reads Local-part "@" ( Domain / address-literal ). Characters
// outside ASCII count as letters of the local part (RFC 6531 section 3.3).
func checkMailbox(s string) *Error {
	end, e := localPart(s)
	if e != nil {
		return e
	}
	if end > maxLocal {
		return fault(maxLocal, "a local part of more than 64 octets")
	}
	if end == len(s) || s[end] != '@' {
		return fault(end, "an at-sign expected")
	}
	return checkMailDomain(s[end+1:]).at(end + 1)
}

// localPart returns the index after a dot-string or a quoted string.
func localPart(s string) (end int, e *Error) {
	if s != "" && s[0] == '"' {
		return quotedLocal(s)
	}
	atom := 0 // bytes of the current atom
	for i := range len(s) {
		switch c := s[i]; {
		case isAtext(c):
			atom++
		case atom == 0:
			return 0, fault(i, "an empty part of the local part")
		case c == '.':
			atom = 0
		default:
			return i, nil
		}
	}
	return 0, fault(len(s), "no at-sign")
}

func isAtext(c byte) bool {
	return c >= 0x80 || isLetDig(c) || indexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

// quotedLocal reads a quoted string. Only printable ASCII, and with RFC 6531
// anything outside ASCII, may be in it, escaped or not: CR, LF and NUL, with
// which headers are forged, may not.
func quotedLocal(s string) (end int, e *Error) {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' && i == 1:
			return 0, fault(i, "an empty local part")
		case c == '"':
			return i + 1, nil
		case c < ' ' || c == 0x7f:
			return 0, fault(i, "a control character in a quoted local part")
		case c == '\\':
			i++
			if i < len(s) && (s[i] < ' ' || s[i] >= 0x7f) {
				return 0, fault(i, "only printable ASCII may be escaped")
			}
		}
	}
	return 0, fault(len(s), "a quoted local part without an end")
}

func checkMailDomain(s string) *Error {
	if s == "" || s[0] != '[' {
		// RFC 5890 wants U-labels in NFC, RFC 6531 does not ask senders for it:
		// judge the composed form. Its offsets are not those of s.
		if isASCII(s) {
			return checkName(s, false)
		}
		if len(s) > 4*maxName {
			return fault(0, "a name of more than 253 octets")
		}
		if e := checkName(norm.NFC.String(s), false); e != nil {
			return fault(0, e.Reason)
		}
		return nil
	}
	if s[len(s)-1] != ']' {
		return fault(len(s), "an address literal without an end")
	}
	const tag = "IPv6:"
	literal := s[1 : len(s)-1]
	if len(literal) >= len(tag) && strings.EqualFold(literal[:len(tag)], tag) {
		return checkIPv6(literal[len(tag):]).at(1 + len(tag))
	}
	return checkIPv4(literal).at(1)
}
