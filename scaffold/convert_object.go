package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// object converts a schema that is no reference, keyword by keyword.
func (c *converter) object(o *object, open bool) any {
	out := newObject()
	types := c.types(o, out)
	for _, name := range []string{"title", "description"} {
		if s := text(o.get(name)); s != "" {
			out.set(name, s)
		}
	}
	for _, name := range []string{"readOnly", "writeOnly", "deprecated", "uniqueItems"} {
		if b, ok := o.get(name).(bool); ok && b {
			out.set(name, b)
		}
	}
	c.values(o, out)
	c.numbers(o, out, types)
	c.strings(o, out)
	c.arrays(o, out, types)
	c.members(o, out, types, open)
	c.count(o)
	if !open && len(types) == 0 && !out.has("enum") && !out.has("const") && !inPlace(out) {
		out.set("type", anys(scalars))
		ask(out, "The source does not say which kinds of values may stand here; which?")
	}
	return out
}

// types reads and writes the types of a schema, those that its keywords imply included.
func (c *converter) types(o, out *object) []string {
	var types []string
	switch t := o.get("type").(type) {
	case string:
		types = []string{t}
	case []any:
		types = texts(t)
	}
	types = slices.DeleteFunc(types, func(t string) bool {
		known := slices.Contains([]string{"null", "boolean", "object", "array", "number", "integer", "string"}, t)
		if !known {
			ask(out, fmt.Sprintf("The source has the type %.40q, which does not exist; what is meant?", t))
		}
		return !known
	})
	if len(types) == 0 && !o.has("enum") && !o.has("const") && !inPlace(o) {
		types = implied(o)
	}
	if isTrue(o.get("nullable")) && len(types) > 0 && !slices.Contains(types, "null") {
		c.noted["nullable was written as type null"] = true
		types = append(types, "null")
	}
	switch len(types) {
	case 0:
	case 1:
		out.set("type", types[0])
	default:
		out.set("type", anys(types))
	}
	return types
}

// implied returns the types that a schema without type has in mind.
func implied(o *object) []string {
	var types []string
	for _, of := range []struct {
		kind     string
		keywords string
	}{
		{"object", "properties required additionalProperties patternProperties minProperties maxProperties propertyNames"},
		{"array", "items prefixItems minItems maxItems uniqueItems contains"},
		{"string", "pattern format minLength maxLength"},
		{"number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"},
	} {
		if slices.ContainsFunc(strings.Fields(of.keywords), o.has) {
			types = append(types, of.kind)
		}
	}
	return types
}

// values converts enum and const.
func (c *converter) values(o, out *object) {
	if l, ok := o.get("enum").([]any); ok && len(l) > 0 {
		if isTrue(o.get("nullable")) && !slices.ContainsFunc(l, func(v any) bool { return v == any(null{}) }) {
			l = append(slices.Clone(l), null{})
		}
		out.set("enum", l)
	}
	if v := o.get("const"); v != nil {
		out.set("const", v)
	}
}

// members converts everything about objects, and closes them.
func (c *converter) members(o, out *object, types []string, open bool) {
	mayBeObject := slices.Contains(types, "object") || len(types) == 0
	if !mayBeObject {
		for _, name := range []string{"required", "properties", "additionalProperties"} {
			if o.has(name) {
				c.dropped[name+" of what is no object"]++
			}
		}
		o = o.without("required", "properties", "additionalProperties", "patternProperties", "dependentRequired")
	}
	c.required(o, out)
	properties := asObject(o.get("properties"))
	if properties != nil && len(properties.names) > 0 {
		p := newObject()
		for _, name := range properties.names {
			p.set(name, c.schema(properties.at[name], false))
		}
		out.set("properties", p)
	}
	if d := asObject(o.get("dependentRequired")); d != nil && everyText(d) {
		out.set("dependentRequired", d)
	}
	own := out.has("properties") || out.has("required")
	branches := open || own || o.has("allOf") || o.has("if") || o.has("dependentSchemas") || (o.has("anyOf") && o.has("oneOf"))
	composed := c.branches(o, out, branches)
	switch {
	case open || !mayBeObject || o.has("const") || o.has("enum"):
	case composed && branches:
		c.requiredKnown(out)
		out.set("unevaluatedProperties", false)
	case composed: // each branch closes itself
	case len(types) > 0:
		c.freeMap(o, out)
		c.requiredKnown(out)
		out.set("additionalProperties", false)
	}
}

func (c *converter) required(o, out *object) {
	if names := texts(list(o.get("required"))); len(names) > 0 {
		out.set("required", anys(names))
	}
}

// requiredKnown describes members that are required, by the object itself or by a
// branch that applies in place, and described nowhere.
func (c *converter) requiredKnown(out *object) {
	here := placeOf(nil, out)
	described := map[string]bool{}
	for _, name := range here.names() {
		described[name] = true
	}
	for _, part := range here.parts {
		for _, name := range texts(list(part.get("required"))) {
			if described[name] {
				continue
			}
			described[name] = true
			p := asObject(out.get("properties"))
			if p == nil {
				p = newObject()
				out.set("properties", p)
			}
			p.set(name, unknownValue("The source requires this member and does not describe it; what is it?"))
		}
	}
}

// freeMap asks about members whose names the sender would choose.
func (c *converter) freeMap(o, out *object) {
	more := o.get("additionalProperties")
	others := more != nil && !isFalse(more)
	pattern := o.has("patternProperties")
	switch {
	case !out.has("properties") && (others || pattern):
		ask(out, "The source has a free map here, names chosen by the sender. Which members are needed? Name them, or ask the vendor for a list of {name, value}.")
	case !out.has("properties") && !out.has("required") && more == nil:
		ask(out, "The source does not say which members this object has; which are needed?")
	case others || pattern:
		ask(out, "The source allows members beyond those named here; they are refused now. Is that right?")
	case more == nil:
		c.noted["objects that the source left open are closed: a member that the vendor adds is refused"] = true
	}
}

// branches converts what applies in place, and reports whether there is any of it.
func (c *converter) branches(o, out *object, open bool) (composed bool) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		l := list(o.get(name))
		if len(l) == 0 {
			continue
		}
		converted := make([]any, len(l))
		for i, b := range l {
			converted[i] = c.schema(b, open)
		}
		out.set(name, converted)
		composed = true
	}
	if s := o.get("if"); s != nil && (o.has("then") || o.has("else")) {
		for _, name := range []string{"if", "then", "else"} {
			if b := o.get(name); b != nil {
				out.set(name, c.schema(b, true))
			}
		}
		composed = true
	}
	if s := asObject(o.get("not")); s != nil {
		out.set("not", c.schema(s, true))
	}
	if s := asObject(o.get("dependentSchemas")); s != nil {
		converted := newObject()
		for _, name := range s.names {
			converted.set(name, c.schema(s.at[name], true))
		}
		out.set("dependentSchemas", converted)
		composed = true
	}
	return composed
}

func everyText(o *object) bool {
	for _, name := range o.names {
		l, ok := o.at[name].([]any)
		if !ok || len(texts(l)) != len(l) {
			return false
		}
	}
	return true
}

// known are the keywords that the converter reads or deliberately passes over.
var known = strings.Fields(`type title description readOnly writeOnly deprecated uniqueItems enum const
	nullable minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format minLength maxLength
	contentEncoding contentMediaType items prefixItems additionalItems minItems maxItems contains minContains
	maxContains required properties additionalProperties patternProperties dependentRequired allOf anyOf oneOf
	not if then else dependentSchemas $schema $defs definitions default example examples $comment
	unevaluatedProperties unevaluatedItems`)

// count notes the keywords that were left out.
func (c *converter) count(o *object) {
	for _, name := range o.names {
		if !slices.Contains(known, name) {
			c.dropped[fmt.Sprintf("%.60q", name)]++
		}
	}
}
