package contract

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func (g *graph) lintPattern(l *location, v strictjson.Value) {
	if v.Kind() != strictjson.String {
		g.rep.at(l.file, v, "the value of pattern must be a string", "correct the value")
		return
	}
	g.lintExpression(l, v, v.Text())
}

// lintExpression refuses what RE2 cannot compile, and what it understands otherwise
// than ECMA-262, which authors of schemas have in mind.
func (g *graph) lintExpression(l *location, at strictjson.Value, expr string) {
	if len(expr) > maxPattern {
		g.rep.at(l.file, at, fmt.Sprintf("a pattern of more than %d bytes", maxPattern), "use enum, or a shorter pattern")
		return
	}
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
		g.rep.at(l.file, at, "the pattern "+shown(expr)+" is no RE2 expression: "+whyNotRE2(expr, err), "write it in the syntax of RE2")
		return
	}
	if class := differingClass(expr); class != "" && !l.words["x-re2"].IsTrue() {
		g.rep.at(l.file, at, "the pattern "+shown(expr)+" uses "+class+", which means less in RE2 than in ECMA-262 (ASCII only)",
			`write the characters out, or "x-re2": true beside the pattern if RE2's meaning is meant`)
	}
}

// whyNotRE2 names what RE2 lacks where that can be told.
func whyNotRE2(expr string, err error) string {
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(expr, look) {
			return "look-around " + look + "…) does not exist there"
		}
	}
	var e *syntax.Error
	if !errors.As(err, &e) {
		return "it cannot be parsed"
	}
	if e.Code == syntax.ErrInvalidEscape && len(e.Expr) == 2 && e.Expr[1] >= '1' && e.Expr[1] <= '9' {
		return "back-references do not exist there"
	}
	return e.Code.String()
}

// differingClass returns the first of \s \S \w \W \b \B in expr.
func differingClass(expr string) string {
	for i := 0; i+1 < len(expr); i++ {
		if expr[i] != '\\' {
			continue
		}
		i++
		if strings.IndexByte("sSwWbB", expr[i]) >= 0 {
			return expr[i-1 : i+1]
		}
	}
	return ""
}

// unbounded is the length of matches that have no longest one.
const unbounded = math.MaxInt32

// matches says what an expression can match as a whole string.
type matches struct {
	longest int  // code points; unbounded where there is no limit or no anchor
	spaces  bool // some match may contain white space
}

// machine reports whether the matches are machine values: finite, short and without
// white space, so that no sentence fits in.
func (m matches) machine() bool { return m.longest <= 64 && !m.spaces }

// matchesOf measures expr. An expression that is not anchored at both ends has no
// longest match: it says nothing about the rest of the string.
func matchesOf(expr string) matches {
	if len(expr) > maxPattern {
		return matches{longest: unbounded, spaces: true}
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || !anchoredAtStart(re) || !anchoredAtEnd(re) {
		return matches{longest: unbounded, spaces: true}
	}
	return matches{longest: longest(re), spaces: admitsSpace(re)}
}

func anchoredAtStart(re *syntax.Regexp) bool {
	return anchored(re, syntax.OpBeginText, func(n, i int) int { return i })
}

func anchoredAtEnd(re *syntax.Regexp) bool {
	return anchored(re, syntax.OpEndText, func(n, i int) int { return n - 1 - i })
}

// anchored reports whether every match of re passes the assertion op first, in the
// order that pick gives to the parts of a concatenation. Recursion is bounded by
// regexp/syntax, which refuses expressions nested deeper than 1000.
func anchored(re *syntax.Regexp, op syntax.Op, pick func(n, i int) int) bool {
	switch re.Op {
	case op:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return anchored(re.Sub[0], op, pick)
	case syntax.OpRepeat:
		return re.Min > 0 && anchored(re.Sub[0], op, pick)
	case syntax.OpConcat:
		for i := range re.Sub {
			part := re.Sub[pick(len(re.Sub), i)]
			if anchored(part, op, pick) {
				return true
			}
			if longest(part) > 0 {
				return false
			}
		}
		return false
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			if !anchored(s, op, pick) {
				return false
			}
		}
		return true
	case syntax.OpNoMatch:
		return true
	}
	return false
}

// longest returns the length of the longest text that re consumes.
func longest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpQuest:
		return longest(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return times(longest(re.Sub[0]), unbounded)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return times(longest(re.Sub[0]), unbounded)
		}
		return times(longest(re.Sub[0]), re.Max)
	case syntax.OpConcat:
		sum := 0
		for _, s := range re.Sub {
			sum = min(sum+longest(s), unbounded)
		}
		return sum
	case syntax.OpAlternate:
		most := 0
		for _, s := range re.Sub {
			most = max(most, longest(s))
		}
		return most
	}
	return 0 // assertions, the empty match and no match consume nothing
}

func times(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	if a >= unbounded/b {
		return unbounded
	}
	return a * b
}

// admitsSpace reports whether re can consume a white space character (Unicode's
// White_Space).
func admitsSpace(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if unicode.IsSpace(r) {
				return true
			}
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if holdsSpace(re.Rune[i], re.Rune[i+1]) {
				return true
			}
		}
	}
	for _, s := range re.Sub {
		if admitsSpace(s) {
			return true
		}
	}
	return false
}

func holdsSpace(low, high rune) bool {
	for _, r := range unicode.White_Space.R16 { // all of White_Space lies below U+10000
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			if low <= c && c <= high {
				return true
			}
		}
	}
	return false
}
