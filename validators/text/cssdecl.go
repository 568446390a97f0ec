package text

// style is the outcome of an inline style: for each longhand of interest its
// winning value.
type style map[string]styleValue

type styleValue struct {
	tokens    []token // without white space at the ends
	important bool
}

// parseStyle reads a style attribute as a list of declarations (CSS Syntax
// Level 3, section 5). A declaration whose value its property does not take
// does not exist. Of the others an important one wins, then the last.
func parseStyle(attr string) style {
	all := tokens(nil, attr)
	out := style{}
	for len(all) > 0 {
		n := declarationEnd(all)
		out.declare(all[:n])
		all = all[min(n+1, len(all)):]
	}
	return out
}

// declarationEnd returns the index of the semicolon that ends the declaration
// at the start of list, or len(list). Brackets of any kind protect semicolons.
func declarationEnd(list []token) int {
	var open []byte
	for i, t := range list {
		switch {
		case t.kind == tokenFunction:
			open = append(open, ')')
		case t.kind != tokenDelim:
		case t.delim == '(':
			open = append(open, ')')
		case t.delim == '[':
			open = append(open, ']')
		case t.delim == '{':
			open = append(open, '}')
		case len(open) > 0 && t.delim == open[len(open)-1]:
			open = open[:len(open)-1]
			// A block ends an at-rule without a semicolon.
			if t.delim == '}' && len(open) == 0 && list[0].kind == tokenAt {
				return i
			}
		case t.delim == ';' && len(open) == 0:
			return i
		}
	}
	return len(list)
}

// declare adds the declaration in list, if it is one.
func (s style) declare(list []token) {
	list = trimSpace(list)
	if len(list) == 0 || list[0].kind != tokenIdent {
		return
	}
	name := list[0].text
	list = trimSpace(list[1:])
	if len(list) == 0 || !list[0].is(':') {
		return
	}
	value := styleValue{tokens: trimSpace(list[1:])}
	value.tokens, value.important = cutImportant(value.tokens)
	if len(value.tokens) > 0 {
		s.expand(name, value)
	}
}

func trimSpace(list []token) []token {
	for len(list) > 0 && list[0].kind == tokenSpace {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].kind == tokenSpace {
		list = list[:len(list)-1]
	}
	return list
}

func cutImportant(list []token) (value []token, important bool) {
	if n := len(list); n > 0 && list[n-1].kind == tokenIdent && list[n-1].text == "important" {
		if rest := trimSpace(list[:n-1]); len(rest) > 0 && rest[len(rest)-1].is('!') {
			return trimSpace(rest[:len(rest)-1]), true
		}
	}
	return list, false
}

// ofSide returns the part of a shorthand for the four sides of a box that is meant for
// one of them: 0 top, 1 right, 2 bottom, 3 left. Sides that are left out take the value
// of the one opposite, or the only one.
func ofSide(v styleValue, side int) styleValue {
	list := words(v.tokens)
	n := len(list)
	at := min(side, n-1)
	if side >= n && side >= 2 {
		at = max(0, min(side-2, n-1))
	}
	return styleValue{list[at : at+1], v.important}
}

// expand sets the longhands that a declaration stands for.
func (s style) expand(name string, v styleValue) {
	switch name {
	case "all":
		if keyword(v.tokens, cssWide...) {
			for longhand := range longhands {
				s.set(longhand, v)
			}
		}
	case "font":
		if size, ok := fontSizeOf(v.tokens); ok {
			s.set("font-size", styleValue{size, v.important})
		}
	case "background":
		s.set("background-color", styleValue{backgroundColorOf(v.tokens), v.important})
	case "overflow":
		list := words(v.tokens)
		s.set("overflow-x", styleValue{list[:1], v.important})
		s.set("overflow-y", styleValue{list[len(list)-1:], v.important})
	case "inset":
		for i, side := range []string{"top", "right", "bottom", "left"} {
			s.set(side, ofSide(v, i))
		}
	case "margin":
		s.set("margin-top", ofSide(v, 0))
		s.set("margin-left", ofSide(v, 3))
	case "-webkit-transform", "-ms-transform", "-moz-transform":
		s.set("transform", v)
	case "-webkit-clip-path":
		s.set("clip-path", v)
	default:
		s.set(name, v)
	}
}

// cssWide are the keywords that every property takes.
var cssWide = []string{"inherit", "initial", "unset", "revert", "revert-layer"}

// set sets a longhand, if it is one of interest and takes the value.
func (s style) set(name string, v styleValue) {
	takes, known := longhands[name]
	if !known || len(v.tokens) == 0 || s[name].important && !v.important {
		return
	}
	if !keyword(v.tokens, cssWide...) && !takes(v.tokens) {
		return
	}
	s[name] = v
}

// words returns list without white space.
func words(list []token) []token {
	out := make([]token, 0, len(list))
	for _, t := range list {
		if t.kind != tokenSpace {
			out = append(out, t)
		}
	}
	return out
}

// keyword reports whether list is one of the identifiers alone.
func keyword(list []token, any ...string) bool {
	if len(list) != 1 || list[0].kind != tokenIdent {
		return false
	}
	for _, name := range any {
		if list[0].text == name {
			return true
		}
	}
	return false
}

// function returns the name and the arguments of list, if it is one function
// call and nothing else.
func function(list []token) (name string, args []token, ok bool) {
	if len(list) == 0 || list[0].kind != tokenFunction {
		return "", nil, false
	}
	end := closing(list)
	if end < len(list)-1 {
		return "", nil, false
	}
	return list[0].text, list[1:min(end, len(list))], true
}

// closing returns the index of the bracket that closes the function at the start
// of list, or len(list): the end of a style closes everything.
func closing(list []token) int {
	depth := 0
	for i, t := range list {
		switch {
		case t.kind == tokenFunction || t.is('('):
			depth++
		case t.is(')'):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(list)
}
