package format

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Limits of RFC 1035 section 2.3.4, in octets of the A-label form; maxName
// leaves out the length bytes of the wire form's ends.
const (
	maxLabel = 63
	maxName  = 253
)

// Hostname reports whether s is an ASCII host name whose A-labels, if any,
// stand for valid U-labels; nil means yes, the error is an [*Error]. Scope types
// of a policy ask for more than this.
func Hostname(s string) error { return run("hostname", checkHostname, s) }

func checkHostname(s string) *Error {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return fault(i, "a character outside ASCII")
		}
	}
	return checkName(s, false)
}

// checkIDNHostname takes the three other dots of RFC 3490 section 3.1 as
// separators too, because users type them; nothing else is mapped.
func checkIDNHostname(s string) *Error { return checkName(s, true) }

// label is one part of a name: where it starts, and what it reads as.
type label struct {
	start   int
	unicode string // the U-label, or the ASCII label as it stands
}

// checkName judges a name in whatever mixture of ASCII, A- and U-labels.
func checkName(s string, wideDots bool) *Error {
	// One code point takes at least one octet of the A-label form, so a longer
	// name is refused before anything is decoded.
	if utf8.RuneCountInString(s) > maxName {
		return fault(0, "a name of more than 253 octets")
	}
	var labels []label
	octets, digits, start := 0, false, 0
	for more := true; more; {
		end, next := len(s), len(s)
		more = false
		for i, r := range s[start:] {
			if r == '.' || wideDots && isWideDot(r) {
				end, next, more = start+i, start+i+utf8.RuneLen(r), true
				break
			}
		}
		text, ace, e := readLabel(s[start:end])
		if e != nil {
			return e.at(start)
		}
		labels = append(labels, label{start, text})
		octets += len(ace) + 1
		digits = strings.Trim(text, "0123456789") == ""
		start = next
	}
	if octets-1 > maxName {
		return fault(0, "a name of more than 253 octets")
	}
	if digits {
		return fault(labels[len(labels)-1].start, "a last label of digits: an address, not a name")
	}
	return checkBidi(labels)
}

func isWideDot(r rune) bool { return r == '\u3002' || r == '\uff0e' || r == '\uff61' }

// readLabel returns what a label reads as and its A-label form.
func readLabel(s string) (text, ace string, e *Error) {
	if s == "" {
		return "", "", fault(0, "an empty label")
	}
	if !isASCII(s) {
		if ace, e = checkULabel(s); e != nil {
			return "", "", e
		}
		return s, ace, nil
	}
	if e = checkLDH(s); e != nil {
		return "", "", e
	}
	if len(s) < 4 || !strings.EqualFold(s[:4], "xn--") {
		return s, s, nil
	}
	text, e = readALabel(strings.ToLower(s))
	return text, s, e
}

// checkLDH reads letters, digits and inner hyphens (RFC 1123 section 2.1).
func checkLDH(s string) *Error {
	if len(s) > maxLabel {
		return fault(0, "a label of more than 63 octets")
	}
	for i := range len(s) {
		if !isLetDig(s[i]) && s[i] != '-' {
			return fault(i, "a character that no host name has")
		}
	}
	return checkEdges(s)
}

func checkEdges(s string) *Error {
	if s[0] == '-' {
		return fault(0, "a label that begins with a hyphen")
	}
	if s[len(s)-1] == '-' {
		return fault(len(s)-1, "a label that ends with a hyphen")
	}
	return nil
}

// readALabel decodes a lower-case A-label and asks that its U-label is valid
// and encodes back to the same octets (RFC 5891 section 5.4).
func readALabel(s string) (string, *Error) {
	text, err := idna.Punycode.ToUnicode(s)
	if err != nil || text == s {
		return "", fault(0, "an A-label that does not decode")
	}
	if isASCII(text) {
		return "", fault(0, "an A-label that stands for ASCII")
	}
	ace, e := checkULabel(text)
	if e != nil {
		return "", fault(0, "an A-label for a label with "+e.Reason)
	}
	if ace != s { // the decoder is not known to allow it, and need not be trusted
		return "", fault(0, "an A-label that is not in its one form")
	}
	return text, nil
}

// checkULabel applies RFC 5891 section 4.2 but the Bidi rule, which needs the
// whole name, and returns the A-label.
func checkULabel(s string) (ace string, e *Error) {
	// An A-label is longer than its U-label in code points.
	if utf8.RuneCountInString(s) > maxLabel {
		return "", fault(0, "more than 63 octets as an A-label")
	}
	if e = checkEdges(s); e != nil {
		return "", e
	}
	if e = checkCodePoints([]rune(s)); e != nil {
		return "", e
	}
	ace, err := idna.Punycode.ToASCII(s)
	if err != nil || len(ace) > maxLabel {
		return "", fault(0, "more than 63 octets as an A-label")
	}
	return ace, nil
}
