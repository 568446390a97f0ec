package policy

import "strings"

// location is a URL in canonical form.
type location struct {
	scheme string // lower case
	host   string // as type host, or an IPv6 address in brackets
	port   string // "" for the default one
	path   string // with its slash at the end, where there is one
	tail   string // query and fragment with their delimiters
	below  bool   // as a grant's value: what is below path is covered too
}

var urlKind = kind[location, location]{
	value:   fromText(parseURL),
	pattern: parseURL,
	covers:  coversURL,
	text:    func(v *location) string { return v.plain().String() },
}

func coversURL(p, v *location) bool {
	if p.scheme != v.scheme || p.host != v.host || p.port != v.port || p.tail != v.tail {
		return false
	}
	return p.path == v.path || p.below && strings.HasPrefix(v.path, p.path)
}

func (v *location) String() string {
	port := v.port
	if port != "" {
		port = ":" + port
	}
	return v.scheme + "://" + v.host + port + v.path + v.tail
}

// plain writes the path without escapes of letters and the like (RFC 3986 section 2.3),
// and the escapes that it needs in capitals: for conditions, since to who fetches it the
// path is the same. Grants compare it as it stands.
func (v *location) plain() *location {
	if strings.IndexByte(v.path, '%') < 0 {
		return v
	}
	var b strings.Builder
	for i := 0; i < len(v.path); i++ {
		octet, escaped := percent(v.path[i:])
		switch {
		case !escaped:
			b.WriteByte(v.path[i])
			continue
		case isAlnum(octet), strings.IndexByte("-._~", octet) >= 0:
			b.WriteByte(octet)
		default:
			b.WriteString(strings.ToUpper(v.path[i : i+3]))
		}
		i += 2
	}
	plain := *v
	plain.path = b.String()
	return &plain
}

// defaultPort returns "" for a scheme that we know none of.
func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	}
	return ""
}

// parseURL is the canonicaliser of type url.
func parseURL(s string) (location, bool) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found || !isScheme(scheme) {
		return location{}, false
	}
	u := location{scheme: strings.ToLower(scheme)}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	u.path = rest
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		u.path, u.tail = rest[:i], rest[i:]
	}
	if !u.authority(authority) || !isURLPath(u.path) || !isTail(u.tail) {
		return location{}, false
	}
	u.below = u.tail == "" && strings.HasSuffix(u.path, "/")
	if u.path == "" && defaultPort(u.scheme) != "" {
		u.path = "/" // what a client of these schemes asks for (RFC 3986 section 6.2.3)
	}
	return u, true
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// authority reads host and port. User information has no place here: an "@" is in no
// host name.
func (v *location) authority(s string) bool {
	host, port, ok := s, "", true
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 || !isIPv6(s[1:end]) {
			return false
		}
		host, port = s[:end+1], s[end+1:]
		v.host = host
	} else {
		if i := strings.IndexByte(s, ':'); i >= 0 {
			host, port = s[:i], s[i:]
		}
		v.host, ok = parseName(host)
	}
	if !ok || port == "" {
		return ok
	}
	port = port[1:] // from here on it was written
	if s[len(host)] != ':' || !isPort(port) {
		return false
	}
	if port != defaultPort(v.scheme) {
		v.port = port
	}
	return true
}

// isPort asks for 1 to 65535 without leading zeros.
func isPort(s string) bool {
	if s == "" || len(s) > 5 || s[0] == '0' {
		return false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= 65535
}

// isURLPath reads path-abempty of RFC 3986 less what parsers read differently: empty
// segments but the last, segments that become "." or ".." somewhere, parameters behind
// ";", and encoded octets that mean something once they are decoded, however often.
func isURLPath(s string) bool {
	if s == "" {
		return true
	}
	s = s[1:] // the slash that ended the authority
	for more := true; more; {
		var segment string
		segment, s, more = strings.Cut(s, "/")
		if segment == "" && more || !isURLSegment(segment) {
			return false
		}
	}
	return true
}

func isURLSegment(s string) bool {
	dots, others := false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%':
			octet, ok := percent(s[i:])
			if !ok || !isAlnum(octet) && strings.IndexByte(" \"-<>^_`{|}~", octet) < 0 {
				return false
			}
			others = others || octet != ' ' // some file systems drop dots and spaces at the end
			i += 2
		case c == '.':
			dots = true
		case isAlnum(c), strings.IndexByte("-_~!$&'()*+,=:@", c) >= 0:
			others = true
		default:
			return false
		}
	}
	return others || !dots
}

// percent decodes "%XX" at the start of s.
func percent(s string) (octet byte, ok bool) {
	if len(s) < 3 {
		return 0, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// isTail reads query and fragment (RFC 3986 sections 3.4 and 3.5), which are compared
// byte for byte and hence may hold whatever the grammar allows.
func isTail(s string) bool {
	fragment := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '#':
			if fragment {
				return false
			}
			fragment = true
		case c == '%':
			if _, ok := percent(s[i:]); !ok {
				return false
			}
			i += 2
		case isAlnum(c), strings.IndexByte("-._~!$&'()*+,;=:@/?", c) >= 0:
		default:
			return false
		}
	}
	return true
}
