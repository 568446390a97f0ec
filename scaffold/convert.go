package scaffold

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxSubschemas bounds the subschemas of one draft, copies included.
const maxSubschemas = 20_000

// ErrTooLarge is returned for a source whose schemas are too many or too entangled.
var ErrTooLarge = errors.New("the source's schema is too large: more than 20000 subschemas, copies included")

// converter turns one schema of a source into one of ours: 2020-12, closed, with a
// question at each place that the source left open.
type converter struct {
	// lookup returns what a $ref of the source stands for, nil where that is unknown.
	lookup func(ref string) any
	// plainRefs says that a $ref hides what stands beside it, as in OpenAPI 3.0.
	plainRefs bool

	defs    *object           // converted $defs
	named   map[string]string // names in $defs, by $ref
	taken   map[string]bool   // the names in named
	twice   map[string]int    // how often a name was wanted again
	waiting []string          // $refs whose target is still to be converted
	inside  map[string]bool   // $refs that are being written out in place
	dropped map[string]int    // keywords that were left out, and how often
	noted   map[string]bool   // what was changed without a question
	int64   bool              // bounds of int64 were written
	steps   int
}

func newConverter(lookup func(string) any, plainRefs bool) *converter {
	return &converter{
		lookup: lookup, plainRefs: plainRefs, defs: newObject(), named: map[string]string{},
		taken: map[string]bool{}, twice: map[string]int{},
		inside: map[string]bool{}, dropped: map[string]int{}, noted: map[string]bool{},
	}
}

// root converts a whole schema with everything that it refers to.
func (c *converter) root(v any) (*object, error) {
	out := c.schema(v, false)
	for len(c.waiting) > 0 && c.steps <= maxSubschemas {
		ref := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.defs.set(c.named[ref], c.schema(c.lookup(ref), false))
	}
	if c.steps > maxSubschemas {
		return nil, ErrTooLarge
	}
	o := asObject(out)
	if o == nil {
		o = unknownValue("The source allows nothing at all here; what does the tool return?")
	}
	// What is only a reference is written out, so that the root can be read at once.
	if ref := text(o.get("$ref")); ref != "" && len(o.names) == 1 {
		if def := asObject(c.defs.get(strings.TrimPrefix(ref, defsPrefix))); def != nil {
			o = def.copied()
		}
	}
	root := newObject()
	if q := text(o.get(questionKeyword)); q != "" {
		ask(root, q)
	}
	root.set("$schema", "https://json-schema.org/draft/2020-12/schema")
	for _, name := range o.names {
		if name != questionKeyword {
			root.set(name, o.at[name])
		}
	}
	if used := c.used(root); len(used.names) > 0 {
		root.set("$defs", used)
	}
	return root, nil
}

const defsPrefix = "#/$defs/"

// used returns the definitions that a schema still reaches, in the order of use.
func (c *converter) used(root *object) *object {
	out := newObject()
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case *object:
			for _, name := range v.names {
				ref, isRef := v.at[name].(string)
				if name != "$ref" || !isRef {
					walk(v.at[name])
					continue
				}
				if def := strings.TrimPrefix(ref, defsPrefix); c.defs.has(def) && !out.has(def) {
					out.set(def, c.defs.at[def])
					walk(c.defs.at[def])
				}
			}
		}
	}
	walk(root)
	return out
}

// schema converts a subschema. An open one is applied in place by a schema that closes
// the object as a whole, so it does not close itself.
func (c *converter) schema(v any, open bool) any {
	if c.steps++; c.steps > maxSubschemas {
		return unknownValue("")
	}
	o, ok := v.(*object)
	switch {
	case isFalse(v):
		return false
	case !ok && !isTrue(v):
		return unknownValue("The source has no schema here; what may stand here?")
	case isTrue(v), len(o.names) == 0:
		if open {
			return newObject()
		}
		return unknownValue("The source allows anything here; which kinds of values are meant?")
	}
	if ref := text(o.get("$ref")); ref != "" {
		return c.reference(ref, o, open)
	}
	if merged, ok := c.flatten(o, 0); ok {
		o = merged
	}
	o = c.tagged(o)
	if inner := c.lonely(o); inner != nil {
		return c.schema(inner, open)
	}
	if isTrue(o.get("nullable")) && !o.has("type") && inPlace(o) {
		c.noted["nullable was written as a branch of type null"] = true
		rest := c.schema(o.without("nullable"), open)
		return newObject().set("anyOf", []any{rest, newObject().set("type", "null")})
	}
	return c.object(o, open)
}

// reference converts a $ref: to a name in $defs, or, where it must stay open, to its
// target written out.
func (c *converter) reference(ref string, o *object, open bool) any {
	rest := o.without("$ref")
	if !describes(rest) || c.plainRefs {
		rest = newObject()
	}
	target := c.lookup(ref)
	if target == nil {
		c.dropped["$ref"]++
		return unknownValue("The source refers to " + fmt.Sprintf("%.80q", ref) + ", which is not in it; what stands there?")
	}
	if len(rest.names) > 0 {
		both := []any{newObject().set("$ref", ref), rest}
		return c.schema(newObject().set("allOf", both), open)
	}
	if !open {
		return newObject().set("$ref", defsPrefix+c.name(ref))
	}
	if c.inside[ref] {
		return unknownValue("The source's schema leads back to itself here; what may stand here?")
	}
	c.inside[ref] = true
	defer delete(c.inside, ref)
	return c.schema(target, true)
}

// name returns the name in $defs of a $ref's target.
func (c *converter) name(ref string) string {
	if name, ok := c.named[ref]; ok {
		return name
	}
	base := ref[strings.LastIndexAny(ref, "/#")+1:]
	base = identifier(base)
	if base == "" {
		base = "part"
	}
	name := base
	for c.taken[name] {
		c.twice[base]++
		name = fmt.Sprintf("%s_%d", base, c.twice[base]+1)
	}
	c.named[ref], c.taken[name] = name, true
	c.waiting = append(c.waiting, ref)
	return name
}

// identifier keeps letters, digits, - and _ of a name.
func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return -1
	}, s)
}

// describes reports whether a schema says anything about values.
func describes(o *object) bool {
	for _, name := range o.names {
		if !annotation(name) {
			return true
		}
	}
	return false
}

func annotation(name string) bool {
	switch name {
	case "title", "description", "$comment", "deprecated", "readOnly", "writeOnly",
		"default", "example", "examples", "externalDocs", "xml", "discriminator", "$defs", "definitions", "$schema", "$id", "id":
		return true
	}
	return strings.HasPrefix(name, "x-")
}

// inPlace reports whether other subschemas judge the same value as o.
func inPlace(o *object) bool {
	for _, name := range []string{"allOf", "anyOf", "oneOf", "if", "dependentSchemas"} {
		if o.has(name) {
			return true
		}
	}
	return false
}

// lonely returns the only branch of a union or allOf that has nothing beside it, nil
// where there is none.
func (c *converter) lonely(o *object) *object {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		l := list(o.get(name))
		if len(l) == 1 && asObject(l[0]) != nil && !describes(o.without(name)) {
			return asObject(l[0])
		}
	}
	return nil
}

// flatten writes an allOf of plain objects as the one object that it means. ok is
// false where there is no allOf or where it says more than that.
func (c *converter) flatten(o *object, deep int) (merged *object, ok bool) {
	branches := list(o.get("allOf"))
	if len(branches) < 2 && !(len(branches) == 1 && describes(o.without("allOf"))) || deep > 8 {
		return nil, false
	}
	parts := []*object{o.without("allOf")}
	for _, b := range branches {
		if c.steps++; c.steps > maxSubschemas {
			return nil, false
		}
		part := asObject(b)
		for hops := 0; part != nil && part.has("$ref"); hops++ {
			if describes(part.without("$ref")) && !c.plainRefs || hops > 8 {
				return nil, false
			}
			part = asObject(c.lookup(text(part.get("$ref"))))
		}
		if part == nil {
			return nil, false
		}
		if part.has("allOf") {
			if part, ok = c.flatten(part, deep+1); !ok {
				return nil, false
			}
		}
		parts = append(parts, part)
	}
	return c.merge(parts)
}

// merge joins plain objects whose members do not contradict each other.
func (c *converter) merge(parts []*object) (*object, bool) {
	out := newObject().set("type", "object")
	properties := newObject()
	var required []string
	for _, part := range parts {
		c.steps += len(part.names)
		for _, name := range part.names {
			switch v := part.at[name]; name {
			case "type":
				if v != any("object") {
					return nil, false
				}
			case "properties":
				for _, p := range asObject(v).members() {
					old, new := properties.get(p), v.(*object).at[p]
					if old != nil && !c.same(old, new) {
						return nil, false
					}
					properties.set(p, new)
				}
			case "required":
				required = append(required, texts(list(v))...)
			case "nullable":
				if len(parts) > 1 && part != parts[0] && isTrue(v) {
					return nil, false
				}
				out.set(name, v)
			case "additionalProperties":
				if isFalse(v) {
					return nil, false // closed alone, before the others add theirs
				}
				out.set(name, v)
			default:
				if !annotation(name) {
					return nil, false
				}
				out.set(name, v)
			}
		}
	}
	if len(properties.names) == 0 {
		return nil, false
	}
	c.noted["an allOf of plain objects was written as one object"] = true
	if len(required) > 0 {
		out.set("required", anys(texts(anys(required))))
	}
	return out.set("properties", properties), true
}

// same compares what two branches say of one member. Work is counted, since a $ref
// can bring the same large member again and again.
func (c *converter) same(a, b any) bool {
	if o := asObject(a); o != nil && o == asObject(b) {
		return true
	}
	one := compact(a)
	c.steps += 1 + len(one)/64
	return c.steps <= maxSubschemas && one == compact(b)
}

// members returns the names of an object's members; o may be nil.
func (o *object) members() []string {
	if o == nil {
		return nil
	}
	return o.names
}

// notes lists what was changed or left out without a question, sorted.
func (c *converter) notes() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.dropped)) {
		out = append(out, fmt.Sprintf("left out: %s (%d)", name, c.dropped[name]))
	}
	return append(out, slices.Sorted(maps.Keys(c.noted))...)
}
