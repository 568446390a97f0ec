package scaffold

import (
	"slices"
	"strings"
)

// tagged writes OpenAPI's discriminator as what it means: in each branch of the union the
// member that it names has the branch's own value. Otherwise every branch would allow
// every value, and a reply would fit several of them. A branch of which that cannot be
// said stays as it is.
func (c *converter) tagged(o *object) *object {
	d := asObject(o.get("discriminator"))
	member := text(d.get("propertyName"))
	if member == "" {
		return o
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		branches := list(o.get(name))
		told, tags := slices.Clone(branches), 0
		for i, b := range branches {
			branch := asObject(b)
			ref := text(branch.get("$ref"))
			if ref == "" || len(branch.names) > 1 {
				continue
			}
			if own := c.withTag(c.lookup(ref), member, tagValues(ref, asObject(d.get("mapping")))); own != nil {
				told[i] = own
				tags++
			}
		}
		if tags > 0 && !slices.ContainsFunc(told, func(b any) bool { return asObject(b).has("$ref") }) {
			c.noted["the values of a discriminator were written into the branches"] = true
			return o.without("discriminator").set(name, told)
		}
	}
	return o
}

// withTag returns a copy of an object's schema in which a member has one of the values;
// nil where the schema is none of a plain object, or says of the member something of its
// own.
func (c *converter) withTag(v any, member string, values []any) *object {
	o := asObject(v)
	if merged, ok := c.flatten(o, 0); o != nil && ok {
		o = merged
	}
	properties := asObject(o.get("properties"))
	of := asObject(properties.get(member))
	if o == nil || inPlace(o) || of == nil || text(of.get("type")) != "string" || of.has("enum") || of.has("const") {
		return nil
	}
	tag := newObject().set("type", "string").set("enum", values)
	if len(values) == 1 {
		tag = newObject().set("type", "string").set("const", values[0])
	}
	required := append(texts(list(o.get("required"))), member)
	return o.copied().set("properties", properties.copied().set(member, tag)).set("required", anys(texts(anys(required))))
}

// tagValues returns the values that stand for a branch: those that a mapping gives to its
// reference or to its name, else its name.
func tagValues(ref string, mapping *object) []any {
	name := ref[strings.LastIndexAny(ref, "/#")+1:]
	var values []any
	for _, value := range mapping.members() {
		if to := text(mapping.get(value)); to == ref || to == name {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return []any{name}
	}
	return values
}
