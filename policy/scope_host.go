package policy

import (
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/format"
)

var hostKind = kind[string, string]{
	value:   fromText(parseHost),
	pattern: parseHost,
	covers:  func(p, v *string) bool { return *p == *v },
	differ:  func(s string, v *string) bool { return len(s) < len(*v) || len(s) > len(*v)+1 },
	text:    func(v *string) string { return *v },
}

// parseHost is the canonicaliser of type host.
func parseHost(s string) (string, bool) {
	if strings.IndexByte(s, ':') >= 0 {
		return s, isIPv6(s)
	}
	return parseName(s)
}

// isIPv6 asks for RFC 4291 without a zone. Its many spellings are not made equal: an
// address is listed as it is used.
func isIPv6(s string) bool {
	check, known := format.Lookup("ipv6")
	return known && check(s) == nil
}

// parseName returns a name in lower case without a trailing dot, and an IPv4 address
// byte for byte as it stands: resolvers differ about which notations they take, so none
// may stand for another. No name has the form of an address, hence the two never meet.
func parseName(s string) (string, bool) {
	name := strings.TrimSuffix(s, ".")
	if name == "" || len(name) > 253 {
		return "", false
	}
	start, upper, ace := 0, false, false
	for i := 0; i <= len(name); i++ {
		if i == len(name) || name[i] == '.' {
			label := name[start:i]
			if !isLabel(label) {
				return "", false
			}
			ace = ace || len(label) >= 4 && label[3] == '-' && strings.EqualFold(label[:4], "xn--")
			start = i + 1
			continue
		}
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
		case 'A' <= c && c <= 'Z':
			upper = true
		default:
			return "", false
		}
	}
	if isNumeral(name[strings.LastIndexByte(name, '.')+1:]) {
		return s, isIPv4(name)
	}
	if ace && format.Hostname(name) != nil {
		return "", false
	}
	if upper {
		name = strings.ToLower(name)
	}
	return name, true
}

func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-'
}

// isNumeral reports whether a label is a number to those who read IPv4 addresses: a
// name whose last label is one is an address or nothing (RFC 1123 section 2.1).
func isNumeral(label string) bool {
	hex := len(label) >= 2 && label[0] == '0' && label[1]|0x20 == 'x'
	if hex {
		label = label[2:]
	}
	for i := range len(label) {
		if c := label[i]; c < '0' || c > '9' {
			if _, ok := hexDigit(c); !hex || !ok {
				return false
			}
		}
	}
	return true
}

// isIPv4 reads every notation of inet_aton(3): up to four numbers, each decimal, octal
// or hexadecimal, the last of which fills the bytes that remain.
func isIPv4(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return false
	}
	for i, p := range parts {
		n, ok := numeral(p)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if !ok || n>>bits != 0 {
			return false
		}
	}
	return true
}

func numeral(s string) (uint64, bool) {
	base := 10
	switch {
	case len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x':
		if s = s[2:]; s == "" { // some readers take 0x for 0
			return 0, true
		}
		base = 16
	case len(s) > 1 && s[0] == '0':
		base = 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}
