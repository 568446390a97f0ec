package policy

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// filePath is a path in canonical form: without the slash at its end, so that the root
// is empty.
type filePath struct {
	text  string
	slash bool // it was written with a slash at the end
}

var pathKind = kind[filePath, filePath]{
	value:   fromText(parsePath),
	pattern: parsePath,
	covers:  coversPath,
	differ:  func(s string, v *filePath) bool { return !strings.HasPrefix(v.text, strings.TrimSuffix(s, "/")) },
	text:    func(v *filePath) string { return cmp.Or(v.text, "/") },
}

func coversPath(p, v *filePath) bool {
	if !p.slash {
		return *p == *v
	}
	return strings.HasPrefix(v.text, p.text) &&
		(len(v.text) == len(p.text) || v.text[len(p.text)] == '/')
}

// parsePath is the canonicaliser of type path.
func parsePath(s string) (filePath, bool) {
	if s == "" || s[0] != '/' {
		return filePath{}, false
	}
	p := filePath{text: s, slash: s[len(s)-1] == '/'}
	if p.slash {
		p.text = s[:len(s)-1]
	}
	plain := true // outside of it are only characters that cannot be taken apart
	for i := range len(s) {
		c := s[i]
		if c < 0x20 || c == 0x7f || c == '~' || c == '\\' || c == '%' {
			return filePath{}, false
		}
		plain = plain && c < utf8.RuneSelf
	}
	if !plain && !isComposed(s) {
		return filePath{}, false
	}
	for rest := p.text; rest != ""; {
		var segment string
		segment, rest = rest[1:], ""
		if i := strings.IndexByte(segment, '/'); i >= 0 {
			segment, rest = segment[:i], segment[i:]
		}
		// Some file systems drop dots and spaces at the end of a name: ".. " is "..".
		if segment == "" || strings.IndexByte(segment, '.') >= 0 && strings.Trim(segment, ". ") == "" {
			return filePath{}, false
		}
	}
	return p, true
}

// isComposed asks for UTF-8 in NFC without control characters: a file system that
// composes names would open another file than the one that was compared.
func isComposed(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0 && norm.NFC.IsNormalString(s)
}
