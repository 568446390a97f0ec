package scaffold

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// matching makes up a string that an expression matches, of at least least code
// points if it can. Variant 0 is the shortest of the simplest choices; others choose
// differently. ok is false where none was found.
func matching(expr string, variant, least int) (string, bool) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", false
	}
	check, err := regexp.Compile(expr)
	if err != nil {
		return "", false
	}
	for more := range 12 {
		m := maker{variant: variant, more: more * (more + 1) / 2, left: 10_000}
		m.write(re)
		s := m.out.String()
		if m.left > 0 && utf8.RuneCountInString(s) >= least && check.MatchString(s) {
			return s, true
		}
	}
	return "", false
}

// maker writes a match; more is how often a repetition goes beyond what it must, left
// how many steps there are.
type maker struct {
	out           strings.Builder
	variant, more int
	left          int
}

// write recurses as deep as the expression, which regexp/syntax bounds.
func (m *maker) write(re *syntax.Regexp) {
	if m.left--; m.left <= 0 {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			m.out.WriteRune(r)
		}
	case syntax.OpCharClass:
		m.out.WriteRune(choose(re.Rune, m.variant))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.out.WriteRune(rune('a' + m.variant%26))
	case syntax.OpCapture, syntax.OpConcat:
		for _, s := range re.Sub {
			m.write(s)
		}
	case syntax.OpAlternate:
		m.write(re.Sub[m.variant%len(re.Sub)])
	case syntax.OpPlus:
		m.times(re.Sub[0], 1, -1)
	case syntax.OpStar:
		m.times(re.Sub[0], 0, -1)
	case syntax.OpQuest:
		m.times(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		m.times(re.Sub[0], re.Min, re.Max)
	}
}

func (m *maker) times(re *syntax.Regexp, least, most int) {
	n := least + m.more
	if most >= 0 {
		n = min(n, most)
	}
	for range n {
		m.write(re)
	}
}

// choose picks a character of a class, plain ones first.
func choose(ranges []rune, variant int) rune {
	for _, plain := range []string{"abcdefghij", "0123456789", "ABCDEFGHIJ", "-_./"} {
		var in []rune
		for _, r := range plain {
			for i := 0; i+1 < len(ranges); i += 2 {
				if ranges[i] <= r && r <= ranges[i+1] {
					in = append(in, r)
					break
				}
			}
		}
		if len(in) > 0 {
			return in[variant%len(in)]
		}
	}
	if len(ranges) > 0 {
		return ranges[0]
	}
	return 'a'
}
