package scaffold

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/format"
)

// numbers converts bounds of numbers, and those that a format means.
func (c *converter) numbers(o, out *object, types []string) {
	for _, side := range []struct{ inclusive, exclusive string }{
		{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"},
	} {
		inclusive, exclusive := o.get(side.inclusive), o.get(side.exclusive)
		if isTrue(exclusive) { // draft 4 and OpenAPI 3.0
			exclusive, inclusive = inclusive, nil
		}
		if n, ok := inclusive.(number); ok {
			out.set(side.inclusive, n)
		}
		if n, ok := exclusive.(number); ok {
			out.set(side.exclusive, n)
		}
	}
	if n, ok := o.get("multipleOf").(number); ok {
		if f, err := strconv.ParseFloat(string(n), 64); err == nil && f > 0 {
			out.set("multipleOf", n)
		}
	}
	if !slices.Contains(types, "integer") && !slices.Contains(types, "number") {
		return
	}
	switch f := text(o.get("format")); f {
	case "int32":
		c.bounds(out, "-2147483648", "2147483647")
		c.noted["the format int32 was written as bounds"] = true
	case "int64":
		c.int64 = c.bounds(out, "-9223372036854775808", "9223372036854775807") || c.int64
		c.noted["the format int64 was written as bounds"] = true
	}
}

// bounds writes the bounds that the source does not have itself, and reports whether
// there was one to write.
func (c *converter) bounds(out *object, least, most number) (wrote bool) {
	if !out.has("minimum") && !out.has("exclusiveMinimum") {
		out.set("minimum", least)
		wrote = true
	}
	if !out.has("maximum") && !out.has("exclusiveMaximum") {
		out.set("maximum", most)
		wrote = true
	}
	return wrote
}

// strings converts what is said of strings.
func (c *converter) strings(o, out *object) {
	c.counts(o, out, "minLength", "maxLength")
	if p := text(o.get("pattern")); p != "" {
		c.pattern(p, out)
	}
	for _, name := range []string{"contentEncoding", "contentMediaType"} {
		if s := text(o.get(name)); s != "" {
			out.set(name, s)
		}
	}
	f := text(o.get("format"))
	if _, ok := format.Lookup(f); ok {
		out.set("format", f)
		return
	}
	switch f {
	case "", "int32", "int64":
	case "float", "double", "password":
		c.dropped["format "+f]++
	case "byte":
		out.set("contentEncoding", "base64")
		c.noted["the format byte was written as contentEncoding: base64, which nothing checks"] = true
	default:
		c.dropped[fmt.Sprintf("format %.40q", f)]++
		ask(out, fmt.Sprintf("The source has the format %.40q, which nothing here checks. Is a pattern, an enum or another format meant?", f))
	}
}

// pattern keeps an expression that RE2 understands as its author did.
func (c *converter) pattern(p string, out *object) {
	if _, err := syntax.Parse(p, syntax.Perl); err != nil || len(p) > 4096 {
		ask(out, fmt.Sprintf("The source has the pattern %.120q, which RE2 cannot run; how can it be said?", p))
		return
	}
	out.set("pattern", p)
	for i := 0; i+1 < len(p); i++ {
		if p[i] != '\\' {
			continue
		}
		i++
		if strings.IndexByte("sSwWbB", p[i]) >= 0 {
			out.set("x-re2", true)
			ask(out, `The pattern uses \`+p[i:i+1]+`, which is ASCII only here. Is that meant? If not, write the characters out and remove x-re2.`)
			return
		}
	}
}

// counts converts limits that are whole numbers.
func (c *converter) counts(o, out *object, names ...string) {
	for _, name := range names {
		if n, ok := o.get(name).(number); ok {
			if _, ok := count(n); ok {
				out.set(name, n)
			}
		}
	}
}

// count reads a whole number that is not negative.
func count(v any) (int, bool) {
	n, ok := v.(number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(string(n))
	return i, err == nil && i >= 0
}

// arrays converts what is said of arrays.
func (c *converter) arrays(o, out *object, types []string) {
	c.counts(o, out, "minItems", "maxItems")
	prefix := list(o.get("prefixItems"))
	items := o.get("items")
	if l, ok := items.([]any); ok { // before draft 2020-12
		prefix, items = l, o.get("additionalItems")
	}
	if len(prefix) > 0 {
		converted := make([]any, len(prefix))
		for i, e := range prefix {
			converted[i] = c.schema(e, false)
		}
		out.set("prefixItems", converted)
		if items == nil {
			items = false
			ask(out, "The source allows elements beyond those described; they are refused now. Is that right?")
		}
	}
	if items == nil && slices.Contains(types, "array") {
		out.set("items", unknownValue("The source does not say what the elements are; what may stand here?"))
	} else if items != nil {
		out.set("items", c.schema(items, false))
	}
	if s := o.get("contains"); asObject(s) != nil {
		out.set("contains", c.schema(s, true))
		c.counts(o, out, "minContains", "maxContains")
	}
}
