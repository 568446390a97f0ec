package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxList renders everything of a list's limit but its amount.
func maxList(c *Contract) map[string]string {
	l := c.Result.MaxList
	switch {
	case l == nil:
		return map[string]string{}
	case l.Cut:
		return map[string]string{"": l.At.String() + " is cut"}
	}
	return map[string]string{"": l.At.String() + " is refused"}
}

func maxListItems(c *Contract) int {
	if c.Result.MaxList == nil {
		return notThere
	}
	return c.Result.MaxList.Items
}

// commandSettings are the keys of how a command's output is read.
func commandSettings() []setting {
	return []setting{
		mapping("result.command", breaks, breaks, harmless, func(c *Contract) map[string]string { return presence(c.Result.Command != nil) }),
		mapping("result.command.pattern", breaks, breaks, breaks, commanded(func(k *Command) map[string]string { return present(k.Pattern) })),
		mapping("result.command.json", breaks, breaks, harmless, commanded(func(k *Command) map[string]string { return presence(k.JSON) })),
		mapping("result.command.exit_codes", breaks, breaks, harmless, commanded(func(k *Command) map[string]string { return entriesOf(texts(k.ExitCodes)) })),
		mapping("result.command.convert", breaks, breaks, breaks, commanded(func(k *Command) map[string]string { return orEmpty(k.Convert) })),
	}
}

func commanded(of func(*Command) map[string]string) func(*Contract) map[string]string {
	return func(c *Contract) map[string]string {
		if c.Result.Command == nil {
			return nil
		}
		return of(c.Result.Command)
	}
}

func adapterFields(c *Contract) map[string]string {
	if c.Result.Adapter == nil {
		return nil
	}
	m := map[string]string{}
	for _, f := range c.Result.Adapter.Fields {
		m[f.Member] = f.Expr
	}
	return m
}

func adapterWatch(c *Contract) map[string]string {
	if c.Result.Adapter == nil {
		return nil
	}
	return map[string]string{"": string(c.Result.Adapter.Watch)}
}

func scopes(c *Contract) map[string]string {
	if c.Arguments == nil {
		return nil
	}
	m := map[string]string{}
	for _, s := range c.Arguments.Scopes {
		text := s.Type + " at " + strings.Join(inOrder(texts(s.At)), " ")
		if s.Optional {
			text += ", optional"
		}
		m[s.Name] = text
	}
	return m
}

func unscoped(c *Contract) map[string]string {
	if c.Arguments == nil {
		return nil
	}
	return orEmpty(c.Arguments.Unscoped)
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// requires renders each requirement. Requirements of one tool are told apart by their
// content.
func requires(c *Contract) map[string]string {
	if c.Arguments == nil {
		return nil
	}
	m := map[string]string{}
	for _, e := range c.Arguments.Requires {
		match := make([]string, 0, len(e.Match))
		for from, to := range e.Match {
			match = append(match, from+"="+to)
		}
		text := fmt.Sprintf("max_age %s, match %s", e.MaxAge, strings.Join(inOrder(match), " "))
		if e.When != "" {
			text += ", when " + e.When
		}
		if len(e.Versions) > 0 {
			text += ", versions " + strings.Join(inOrder(texts(e.Versions)), " ")
		}
		if len(e.From) > 0 {
			text += ", from " + strings.Join(inOrder(slices.Clone(e.From)), " ")
		}
		if e.Reusable {
			text += ", reusable"
		}
		key := e.Tool
		if _, taken := m[key]; taken {
			key = e.Tool + " " + text
		}
		m[key] = text
	}
	return m
}

func trustWord(t Trust) string {
	if t.Trusted {
		return "trusted"
	}
	return "untrusted"
}

func texts[T any](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprint(v)
	}
	return out
}

func present(s string) map[string]string {
	if s == "" {
		return map[string]string{}
	}
	return map[string]string{"": s}
}

func presence(there bool) map[string]string {
	if !there {
		return map[string]string{}
	}
	return map[string]string{"": "true"}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func span(n int) string { return time.Duration(n).String() }

func inOrder(list []string) []string {
	slices.Sort(list)
	return list
}

// how renders everything of a text field but its place, its length only where that is
// asked for: of a field that stays it is compared by itself.
func how(f TextField, length bool) string {
	text := fmt.Sprintf("as %s, profile %s", f.As, f.Profile)
	if length && f.MaxChars != 0 {
		text += fmt.Sprintf(", max_chars %d", f.MaxChars)
	}
	return text
}
