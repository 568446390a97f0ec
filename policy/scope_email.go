package policy

import "strings"

// The longest parts of an address (RFC 5321 section 4.5.3.1), in octets.
const (
	maxLocal   = 64
	maxMailbox = 254
)

// mailbox is an address in canonical form; as a grant's value it may lack the local
// part, and then stands for the whole domain.
type mailbox struct{ local, domain string }

var emailKind = kind[mailbox, mailbox]{
	value:   fromText(parseAddress),
	pattern: parseMailbox,
	covers: func(p, v *mailbox) bool {
		return (p.local == "" || p.local == v.local) && p.domain == v.domain
	},
	differ: func(s string, v *mailbox) bool {
		return s != "" && s[0] != '@' && (len(s) <= len(v.local) || s[:len(v.local)] != v.local)
	},
	text: func(v *mailbox) string { return v.local + "@" + v.domain },
}

// parseAddress reads one whole address.
func parseAddress(s string) (mailbox, bool) {
	m, ok := parseMailbox(s)
	return m, ok && m.local != ""
}

// parseMailbox is the canonicaliser of type email. The domain is one as in type host,
// but has no trailing dot: no mail parser takes one.
func parseMailbox(s string) (mailbox, bool) {
	at := strings.IndexByte(s, '@')
	if at < 0 || at > maxLocal || len(s) > maxMailbox || s[len(s)-1] == '.' {
		return mailbox{}, false
	}
	local := s[:at]
	if local != "" && !isLocal(local) {
		return mailbox{}, false
	}
	domain, ok := parseName(s[at+1:])
	return mailbox{local, domain}, ok
}

// isLocal asks for a dot-atom (RFC 5322 section 3.2.3) of few characters: none that a
// shell, a list or a routing mailer reads as more than a letter, and no leading hyphen,
// which a command would take for an option.
func isLocal(s string) bool {
	dot := true // at the start, or after a dot
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '.':
			if dot {
				return false
			}
			dot = true
			continue
		case isAlnum(c), c == '_', c == '+', c == '\'':
		case c == '-':
			if i == 0 {
				return false
			}
		default:
			return false
		}
		dot = false
	}
	return !dot
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
