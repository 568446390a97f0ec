package contract

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Bounds of a command's pattern. RE2 looks at each byte of an output with as many of
// its instructions at most as the pattern has, and nothing can interrupt it.
const (
	maxInstructions = 5000    // of the compiled pattern
	maxPatternSteps = 1 << 30 // instructions times the longest output in bytes
)

// command reads how a command's output becomes a payload.
func (d *draft) command(n *yaml.Node, path string) {
	c := &Command{ExitCodes: []int{0}}
	var groups []string
	d.object(n, path,
		may("pattern", func(n *yaml.Node, path string) { groups = d.commandPattern(c, n, path) }),
		may("json", d.boolean(&c.JSON)),
		may("exit_codes", func(n *yaml.Node, path string) {
			c.ExitCodes = nil
			d.list(1, collect(d.source, &c.ExitCodes, func(dst *int) read {
				return d.integer(dst, math.MinInt32, math.MaxInt32)
			}))(n, path)
		}),
		may("convert", d.entries(func(key, value *yaml.Node, path string) {
			var to string
			word(d.source, &to, ConvertInteger, ConvertNumber, ConvertBoolean)(value, path)
			set(&c.Convert, key.Value, to)
		})),
	)
	d.contract.Result.Command = c
	pattern := d.said(path + ".pattern")
	switch {
	case pattern && c.JSON:
		d.fault(n, "keep the one that is meant", "%s has pattern and json; output is read in one way", path)
	case !pattern && !c.JSON:
		d.fault(n, "write pattern: …, or json: true", "%s has neither pattern nor json", path)
	case !pattern && len(c.Convert) > 0:
		d.faultOn(path+".convert", "remove it", "%s.convert beside json, whose values have kinds of their own", path)
	case c.Pattern != "":
		d.convertedGroups(c, groups, path)
	}
}

// commandPattern reads the expression and returns the names of its groups.
func (d *draft) commandPattern(c *Command, n *yaml.Node, path string) []string {
	var text string
	d.text(&text, maxPattern)(n, path)
	if text == "" {
		return nil
	}
	// The pattern has to be one by itself and between the anchors: \Q without \E is
	// the first and not the second.
	tree, err := syntax.Parse(text, syntax.Perl)
	if err == nil {
		tree, err = syntax.Parse((&Command{Pattern: text}).Expression(), syntax.Perl)
	}
	if err != nil {
		d.fault(n, "write it in the syntax of RE2", "%s: no RE2 expression: %s", path, whyNotRE2(text, err))
		return nil
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxInstructions {
		d.fault(n, "narrow its repetitions; lengths can be bounded in the schema",
			"%s: the pattern is larger than %d instructions", path, maxInstructions)
		return nil
	}
	groups := slices.DeleteFunc(tree.CapNames(), func(name string) bool { return name == "" })
	if len(groups) == 0 {
		d.fault(n, "name what it finds: (?P<name>…)", "%s has no named group, so it gives no member", path)
		return nil
	}
	slices.Sort(groups)
	for i := 1; i < len(groups); i++ {
		if groups[i] == groups[i-1] {
			d.fault(n, "give each group a name of its own", "%s: two groups are named %s", path, quote(groups[i]))
			return nil
		}
	}
	c.Pattern = text
	return groups
}

func (d *draft) convertedGroups(c *Command, groups []string, path string) {
	for name := range c.Convert {
		if !slices.Contains(groups, name) {
			d.faultOn(path+".convert["+name+"]", "", "%s.convert: the pattern has no group %s", path, quote(name))
		}
	}
}

// commandKind sees that a command is declared where the kind is command, and framed by
// nothing.
func (d *draft) commandKind(n *yaml.Node) {
	r := &d.contract.Result
	declared := d.said("result.command")
	switch {
	case r.Kind == "":
	case r.Kind == KindCommand && !declared:
		d.fault(n, "say how its output is read: command: {pattern: …}", "result.command is missing, and the kind is command")
	case r.Kind != KindCommand && declared:
		d.faultOn("result.command", "say kind: command, or remove it", "result.command of a result that is none of a command")
	case r.Kind == KindCommand && r.Framing != FramingPayload:
		d.faultOn("result.framing", "remove it", "framing: %s of a command, whose output is the payload alone", r.Framing)
	case r.Kind == KindCommand && r.Command.steps(r.Limits.MaxBytes) > maxPatternSteps:
		d.faultOn("result.command.pattern", "narrow limits.max_bytes to what the command prints",
			"matching an output of %d bytes by this pattern can take too long", r.Limits.MaxBytes)
	}
}

// steps bounds the work of matching so many bytes of output; 0 where there is no
// pattern.
func (c *Command) steps(bytes int) int {
	if c == nil || c.Pattern == "" {
		return 0
	}
	tree, err := syntax.Parse(c.Expression(), syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst) * bytes
}

// defaultMediaTypes returns the one media type of a contract that names none: one, so
// that whoever calls need not say it.
func (r *Result) defaultMediaTypes() []string {
	if r.Kind == KindCommand && r.Command != nil && !r.Command.JSON {
		return []string{mediaPlain}
	}
	if r.Kind == KindText && !r.framesText() {
		return []string{mediaPlain}
	}
	return []string{mediaJSON}
}

// command checks that the groups of a command's pattern are the members that the
// schema knows, and that it gives all that the schema requires.
func (l *schemaLinter) command() {
	c := l.c.Result.Command
	if c == nil || c.Pattern == "" {
		return
	}
	compiled, err := regexp.Compile(c.Expression())
	if err != nil {
		return // noted where it was read
	}
	const key = "result.command.pattern"
	groups := compiled.SubexpNames()
	for _, name := range groups {
		if name != "" {
			l.known(key, strictjson.Pointer{name})
		}
	}
	for _, name := range l.requiredNames(l.cx.root()) {
		if !slices.Contains(groups, name) {
			l.inContract(key, fmt.Sprintf("the schema requires %s, which no group gives", shownPointer(strictjson.Pointer{name})),
				"add a group of this name, or do not require the member")
		}
	}
}
