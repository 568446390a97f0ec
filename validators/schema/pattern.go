package schema

import (
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is a regular expression and what one byte of input may cost it. It is run as a
// table where it has one, and else by package regexp.
type pattern struct {
	expr    string
	steps   int64 // instructions of its program
	machine *machine
	re      *regexp.Regexp // nil where there is a machine
}

// compilePattern is the library's regular expression engine: RE2 as it is.
func compilePattern(expr string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	p := &pattern{expr: expr, steps: int64(len(program.Inst)), machine: newMachine(program)}
	if p.machine == nil {
		p.re, err = regexp.Compile(expr)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// String returns the expression as it was written.
func (p *pattern) String() string { return p.expr }

// MatchString reports whether the pattern matches anywhere in s.
func (p *pattern) MatchString(s string) bool {
	if p.machine != nil {
		return p.machine.match(s)
	}
	return p.re.MatchString(s)
}
