package scaffold

import (
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
)

// place is what a converted schema says about one place of a value: all subschemas
// that apply there, those of the branches of unions included.
type place struct{ parts []*object }

// placeOf gathers the subschemas that apply where v does.
func placeOf(root *object, schemas ...any) place {
	var p place
	seen := map[*object]bool{}
	queue := slices.Clone(schemas)
	for len(queue) > 0 {
		o := asObject(queue[0])
		queue = queue[1:]
		if o == nil || seen[o] {
			continue
		}
		seen[o] = true
		p.parts = append(p.parts, o)
		if ref := text(o.get("$ref")); ref != "" {
			queue = append(queue, target(root, ref))
		}
		for _, name := range []string{"allOf", "anyOf", "oneOf"} {
			queue = append(queue, list(o.get(name))...)
		}
		queue = append(queue, o.get("then"), o.get("else"))
		if d := asObject(o.get("dependentSchemas")); d != nil {
			for _, name := range d.names {
				queue = append(queue, d.at[name])
			}
		}
	}
	return p
}

// target returns the definition that a $ref of ours names.
func target(root *object, ref string) any {
	return asObject(root.get("$defs")).get(strings.TrimPrefix(ref, defsPrefix))
}

// types returns the types that some part names; of a part that lists values, theirs.
func (p place) types() []string {
	var out []string
	add := func(t string) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, o := range p.parts {
		if s := text(o.get("type")); s != "" {
			add(s)
		}
		for _, t := range texts(list(o.get("type"))) {
			add(t)
		}
		if o.has("type") {
			continue
		}
		values := slices.Clone(list(o.get("enum")))
		if v := o.get("const"); v != nil {
			values = append(values, v)
		}
		for _, v := range values {
			add(typeOf(v))
		}
	}
	return out
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case number:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case *object:
		return "object"
	}
	return "null"
}

func (p place) may(kind string) bool { return slices.Contains(p.types(), kind) }

// names returns the members that some part names, in order.
func (p place) names() []string {
	var out []any
	for _, o := range p.parts {
		out = append(out, anys(asObject(o.get("properties")).members())...)
	}
	return texts(out)
}

// required returns the members that some part requires.
func (p place) required() map[string]bool {
	out := map[string]bool{}
	for _, o := range p.parts {
		for _, name := range texts(list(o.get("required"))) {
			out[name] = true
		}
	}
	return out
}

// member returns what is said of a member.
func (p place) member(root *object, name string) place {
	var schemas []any
	for _, o := range p.parts {
		schemas = append(schemas, asObject(o.get("properties")).get(name))
	}
	return placeOf(root, schemas...)
}

// element returns what is said of the elements of an array.
func (p place) element(root *object) place {
	var schemas []any
	for _, o := range p.parts {
		schemas = append(schemas, o.get("items"))
		schemas = append(schemas, list(o.get("prefixItems"))...)
	}
	return placeOf(root, schemas...)
}

// free reports whether some string here is neither listed nor of a machine's form.
func (p place) free() bool {
	return slices.ContainsFunc(p.parts, func(o *object) bool { return isString(o) && !machine(o) })
}

// isURL reports whether every string here is a URI, which the service makes inert.
func (p place) isURL() bool {
	found := false
	for _, o := range p.parts {
		if isString(o) && text(o.get("format")) != "uri" {
			return false
		}
		found = found || isString(o)
	}
	return found
}

func isString(o *object) bool {
	return text(o.get("type")) == "string" || slices.Contains(texts(list(o.get("type"))), "string")
}

func isArray(o *object) bool {
	return text(o.get("type")) == "array" || slices.Contains(texts(list(o.get("type"))), "array")
}

// machine reports whether strings by this schema are machine values.
func machine(o *object) bool {
	if o.has("enum") || o.has("const") {
		return true
	}
	switch text(o.get("format")) {
	case "date-time", "date", "time", "uuid":
		return true
	}
	return contract.MachinePattern(text(o.get("pattern")))
}
