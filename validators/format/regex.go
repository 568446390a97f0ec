package format

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// checkRegex reads ECMA-262 section 22.2.1, Pattern[+UnicodeMode, ~UnicodeSetsMode,
// +NamedCaptureGroups], with all its early errors (22.2.1.1).
//
// Groups are kept on a stack of our own, so that a pattern of nothing but
// parentheses costs memory and not the goroutine's stack.
func checkRegex(s string) *Error {
	p := &pattern{s: s, open: []group{{at: -1}}}
	for p.i < len(s) {
		if e := p.term(); e != nil {
			return e
		}
	}
	if n := len(p.open); n > 1 {
		return fault(p.open[n-1].at, "a group without an end")
	}
	return p.checkReferences()
}

// group is an open parenthesis; open[0] stands for the whole pattern.
type group struct {
	at         int  // where its parenthesis is, in bytes
	branch     int  // where its current alternative begins
	repeatable bool // a quantifier may follow its end
}

// reference is a back reference, which may stand before its group.
type reference struct {
	at     int
	name   string // of \k<name>
	number int    // of \1, where name is empty
}

type pattern struct {
	s          string
	i          int
	open       []group
	repeatable bool // a quantifier may follow here
	captures   int
	names      map[string]int // name -> where its last group begins
	references []reference
}

// peek reports whether what follows is t.
func (p *pattern) peek(t string) bool { return strings.HasPrefix(p.s[p.i:], t) }

// skip reads over t if it follows.
func (p *pattern) skip(t string) bool {
	if !p.peek(t) {
		return false
	}
	p.i += len(t)
	return true
}

// term reads one assertion, atom, quantifier, parenthesis or bar.
func (p *pattern) term() *Error {
	c := p.s[p.i]
	repeatable := false
	switch c {
	case '^', '$':
		p.i++
	case '|':
		p.i++
		p.open[len(p.open)-1].branch = p.i
	case '(':
		if e := p.openGroup(); e != nil {
			return e
		}
	case ')':
		n := len(p.open) - 1
		if n == 0 {
			return fault(p.i, "an end without a group")
		}
		repeatable = p.open[n].repeatable
		p.open = p.open[:n]
		p.i++
	case '*', '+', '?', '{':
		if !p.repeatable {
			return fault(p.i, "a quantifier with nothing to repeat")
		}
		if e := p.quantifier(); e != nil {
			return e
		}
	case '}', ']':
		return fault(p.i, "a closing bracket that must be escaped")
	case '[':
		repeatable = true
		if e := p.class(); e != nil {
			return e
		}
	case '\\':
		repeatable = !p.peek(`\b`) && !p.peek(`\B`)
		if !repeatable {
			p.i += 2
		} else if e := p.atomEscape(); e != nil {
			return e
		}
	default:
		repeatable = true
		_, n := utf8.DecodeRuneInString(p.s[p.i:])
		p.i += n
	}
	p.repeatable = repeatable
	return nil
}

// openGroup reads a parenthesis and what says of which kind it is.
func (p *pattern) openGroup() *Error {
	at := p.i
	p.i++
	g := group{at: at, repeatable: true}
	switch {
	case !p.peek("?"):
		p.captures++
	case p.skip("?:"):
	case p.skip("?="), p.skip("?!"), p.skip("?<="), p.skip("?<!"):
		g.repeatable = false
	case p.skip("?<"):
		name, e := p.groupName()
		if e != nil {
			return e
		}
		p.captures++
		if e = p.declare(name, at); e != nil {
			return e
		}
	default:
		p.i++
		if e := p.modifiers(); e != nil {
			return e
		}
	}
	g.branch = p.i
	p.open = append(p.open, g)
	return nil
}

// modifiers reads flags [ "-" flags ] ":" after "(?".
func (p *pattern) modifiers() *Error {
	seen, minus, at := "", false, p.i
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == ':' && seen != "":
			p.i++
			return nil
		case c == '-' && !minus:
			minus = true
		case indexByte("ims", c) >= 0 && indexByte(seen, c) < 0:
			seen += string(c)
		default:
			return fault(p.i, "a kind of group that does not exist")
		}
	}
	return fault(at, "a group without an end")
}

// declare takes a name for a group that begins at the given byte. Two groups
// may share a name only when no match can pass through both: when at the
// innermost group around both they stand in different alternatives. Looking at
// the last group of that name is enough, as all before it were compared to it
// and to one another.
func (p *pattern) declare(name string, at int) *Error {
	if last, taken := p.names[name]; taken {
		inner := sort.Search(len(p.open), func(i int) bool { return p.open[i].at >= last }) - 1
		if last >= p.open[inner].branch {
			return fault(at, "a group name that is taken")
		}
	}
	if p.names == nil {
		p.names = map[string]int{}
	}
	p.names[name] = at
	return nil
}

// groupName reads a name and ">".
func (p *pattern) groupName() (string, *Error) {
	at := p.i
	var name strings.Builder
	for p.i < len(p.s) {
		if name.Len() > 0 && p.skip(">") {
			return name.String(), nil
		}
		from := p.i
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		p.i += n
		if r == '\\' {
			if !p.skip("u") {
				return "", fault(from, "a character that no group name has")
			}
			var e *Error
			if r, e = p.unicodeEscape(); e != nil {
				return "", e
			}
		}
		if !isNameRune(r, name.Len() == 0) {
			return "", fault(from, "a character that no group name has")
		}
		name.WriteRune(r)
	}
	return "", fault(at, "a group name without an end")
}

// quantifier reads * + ? {n} {n,} {n,m}, each with an optional ?.
func (p *pattern) quantifier() *Error {
	at := p.i
	p.i++
	if p.s[at] == '{' {
		low := p.digits()
		high := low
		if p.skip(",") {
			high = p.digits()
			if high == "" {
				high = low
			}
		}
		if low == "" || !p.skip("}") {
			return fault(at, "a brace that is no quantifier must be escaped")
		}
		if lessNumber(high, low) {
			return fault(at, "a quantifier whose bounds are out of order")
		}
	}
	p.skip("?")
	return nil
}

func (p *pattern) digits() string {
	from := p.i
	for p.i < len(p.s) && isDigit(p.s[p.i]) {
		p.i++
	}
	return p.s[from:p.i]
}

// lessNumber compares decimal digits of any length by value.
func lessNumber(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

func (p *pattern) checkReferences() *Error {
	for _, r := range p.references {
		if r.name != "" {
			if _, ok := p.names[r.name]; !ok {
				return fault(r.at, "a reference to a group that does not exist")
			}
		} else if r.number > p.captures {
			return fault(r.at, "a reference to a group that does not exist")
		}
	}
	return nil
}
