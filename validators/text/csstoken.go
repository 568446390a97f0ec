package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// tokenKind is the kind of a CSS token (CSS Syntax Level 3, section 4), as far as
// inline declarations need it.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenSpace
	tokenIdent    // text
	tokenFunction // text, "(" follows
	tokenAt       // text
	tokenHash     // text
	tokenString
	tokenURL
	tokenNumber // value; unit in text, "%" for a percentage
	tokenDelim  // delim: any other character
)

// token is one CSS token. Text is in lower case, its escapes decoded.
type token struct {
	kind  tokenKind
	delim byte
	value float64
	text  string
}

func (t token) is(delim byte) bool { return t.kind == tokenDelim && t.delim == delim }

// cssLexer reads the tokens of a style attribute. Comments are skipped.
type cssLexer struct {
	src string
	pos int
}

// tokens appends the tokens of a style attribute to list.
func tokens(list []token, style string) []token {
	lex := cssLexer{src: style}
	for {
		t := lex.next()
		if t.kind == tokenEnd {
			return list
		}
		list = append(list, t)
	}
}

// peek returns the byte n places ahead, or 0.
func (l *cssLexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

func (l *cssLexer) next() token {
	for strings.HasPrefix(l.src[l.pos:], "/*") {
		end := strings.Index(l.src[l.pos+2:], "*/")
		if end < 0 {
			l.pos = len(l.src)
			break
		}
		l.pos += end + 4
	}
	if l.pos >= len(l.src) {
		return token{}
	}
	switch c := l.src[l.pos]; {
	case cssSpace(c):
		for l.pos < len(l.src) && cssSpace(l.src[l.pos]) {
			l.pos++
		}
		return token{kind: tokenSpace}
	case c == '"' || c == '\'':
		l.pos++
		l.quoted(c)
		return token{kind: tokenString}
	case l.startsNumber():
		return l.number()
	case l.startsIdent(0):
		return l.identLike()
	case c == '#' && (nameByte(l.peek(1)) || l.startsEscape(1)):
		l.pos++
		return token{kind: tokenHash, text: l.name()}
	case c == '@' && l.startsIdent(1):
		l.pos++
		return token{kind: tokenAt, text: l.name()}
	default:
		l.pos++
		return token{kind: tokenDelim, delim: c}
	}
}

func cssSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

func cssNewline(c byte) bool { return c == '\n' || c == '\r' || c == '\f' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func nameStart(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}

func nameByte(c byte) bool { return nameStart(c) || digit(c) || c == '-' }

// startsEscape reports whether a valid escape begins n bytes ahead.
func (l *cssLexer) startsEscape(n int) bool {
	return l.peek(n) == '\\' && l.pos+n+1 < len(l.src) && !cssNewline(l.peek(n+1))
}

func (l *cssLexer) startsIdent(n int) bool {
	if l.peek(n) == '-' {
		n++
		if l.peek(n) == '-' {
			return true
		}
	}
	return nameStart(l.peek(n)) || l.startsEscape(n)
}

func (l *cssLexer) startsNumber() bool {
	n := 0
	if c := l.peek(0); c == '+' || c == '-' {
		n++
	}
	return digit(l.peek(n)) || l.peek(n) == '.' && digit(l.peek(n+1))
}

func (l *cssLexer) digits() {
	for digit(l.peek(0)) {
		l.pos++
	}
}

func (l *cssLexer) number() token {
	start := l.pos
	if !digit(l.src[l.pos]) && l.src[l.pos] != '.' {
		l.pos++
	}
	l.digits()
	if l.peek(0) == '.' && digit(l.peek(1)) {
		l.pos++
		l.digits()
	}
	if l.peek(0)|0x20 == 'e' {
		sign := 0
		if c := l.peek(1); c == '+' || c == '-' {
			sign = 1
		}
		if digit(l.peek(1 + sign)) {
			l.pos += 1 + sign
			l.digits()
		}
	}
	// An error means a value out of range, which is then infinite or zero.
	value, _ := strconv.ParseFloat(l.src[start:l.pos], 64)
	t := token{kind: tokenNumber, value: value}
	switch {
	case l.peek(0) == '%':
		l.pos++
		t.text = "%"
	case l.startsIdent(0):
		t.text = l.name()
	}
	return t
}

// name reads the rest of an identifier, in lower case.
func (l *cssLexer) name() string {
	start := l.pos
	for nameByte(l.peek(0)) && l.pos < len(l.src) {
		l.pos++
	}
	if l.peek(0) != '\\' {
		return strings.ToLower(l.src[start:l.pos])
	}
	var b strings.Builder
	b.WriteString(l.src[start:l.pos])
	for l.pos < len(l.src) {
		switch {
		case nameByte(l.peek(0)):
			b.WriteByte(l.src[l.pos])
			l.pos++
		case l.startsEscape(0):
			l.pos++
			b.WriteRune(l.escape())
		default:
			return strings.ToLower(b.String())
		}
	}
	return strings.ToLower(b.String())
}

// escape reads what follows a backslash.
func (l *cssLexer) escape() rune {
	n, value := 0, rune(0)
	for ; n < 6; n++ {
		v := strings.IndexByte("0123456789abcdef", l.peek(n)|0x20)
		if v < 0 || l.peek(n) < '0' {
			break
		}
		value = value<<4 | rune(v)
	}
	if n == 0 {
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		l.pos += size
		return r
	}
	l.pos += n
	if l.peek(0) == '\r' && l.peek(1) == '\n' {
		l.pos++
	}
	if l.pos < len(l.src) && cssSpace(l.src[l.pos]) {
		l.pos++
	}
	if value == 0 || !utf8.ValidRune(value) {
		return utf8.RuneError
	}
	return value
}

func (l *cssLexer) identLike() token {
	name := l.name()
	if l.peek(0) != '(' {
		return token{kind: tokenIdent, text: name}
	}
	l.pos++
	if name != "url" {
		return token{kind: tokenFunction, text: name}
	}
	rest := strings.TrimLeft(l.src[l.pos:], " \t\n\r\f")
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		return token{kind: tokenFunction, text: name}
	}
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		l.pos++
		if c == ')' {
			break
		}
		if c == '\\' && l.pos < len(l.src) {
			l.pos++
		}
	}
	return token{kind: tokenURL}
}

// quoted skips a string whose opening quote has been read. A line end breaks it.
func (l *cssLexer) quoted(quote byte) {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if cssNewline(c) {
			return
		}
		l.pos++
		if c == quote {
			return
		}
		if c == '\\' && l.pos < len(l.src) {
			l.pos++
		}
	}
}
