package contract

import (
	"slices"
	"strconv"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// reducedMembers writes what a subschema says about a value of which a part is given.
// What arrives instead of the value: of an object the given members, of an array its
// elements reduced, or nothing of them, and null in place of a scalar.
//
// Each keyword is written in a form that is true of what arrives whenever the keyword
// was true of the value, or not at all.
func (e *excerpt) reducedMembers(l *location, u use) {
	n := u.node
	every := n.child(strictjson.EveryElement)
	if !every.given() {
		every = nil
	}
	kinds := e.cx.kindsOf(u.id)
	pending := slices.Clone(e.bounds[n])
	e.reducedType(l, u, kinds)
	for name, v := range l.value.Members() {
		switch name {
		case "title", "description", "deprecated", "readOnly", "writeOnly":
			e.member(name)
			e.dst = strictjson.AppendJSON(e.dst, v)
		case "$ref":
			e.ref(l, use{node: n, role: beside})
		case "required":
			e.namesGiven(name, v, n)
		case "dependentRequired":
			e.dependentRequired(v, n)
		case "dependentSchemas":
			e.dependentSchemas(v, n)
		case "items", "prefixItems", "contains", "minContains", "minItems", "unevaluatedItems":
			if every != nil {
				e.elements(l, name, v, every)
			}
		case "maxItems":
			if every != nil {
				e.member(name)
				e.dst = pending.take(e.dst, name, v)
			}
		}
	}
	e.properties(l, u, kinds)
	e.choices(l, n)
	switch {
	case u.role != closing || kinds&kindArray == 0:
	case every == nil:
		e.member("maxItems")
		e.dst = append(e.dst, '0')
	default:
		for _, b := range pending { // text has no elements: of maxItems
			e.member(b.word)
			e.dst = strconv.AppendInt(e.dst, int64(b.most), 10)
		}
	}
}

// reducedType writes the kinds of what arrives.
func (e *excerpt) reducedType(l *location, u use, k kinds) {
	if u.role != closing {
		if !l.words["type"].Exists() {
			return
		}
		k = typeKinds(l.words["type"])
	}
	var names []string
	if k&kindArray != 0 {
		names = append(names, "array")
	}
	if k&scalarSet != 0 {
		names = append(names, "null")
	}
	if k&kindObject != 0 {
		names = append(names, "object")
	}
	if len(names) == 0 {
		return // no value ever conforms, and what says so may not be shown
	}
	e.member("type")
	if len(names) == 1 {
		e.dst = strictjson.AppendString(e.dst, names[0])
		return
	}
	e.strings(names)
}

// typeKinds returns the kinds that a type keyword names.
func typeKinds(v strictjson.Value) kinds {
	k := kindsNamed(v.Text())
	for _, name := range v.Elements() {
		k |= kindsNamed(name.Text())
	}
	return k
}

func (e *excerpt) strings(list []string) {
	e.dst = append(e.dst, '[')
	for i, s := range list {
		e.comma(i)
		e.dst = strictjson.AppendString(e.dst, s)
	}
	e.dst = append(e.dst, ']')
}

// givenNames returns the names of an array that are given at a node.
func givenNames(v strictjson.Value, n *fieldNode) []string {
	var list []string
	for _, s := range v.Elements() {
		if s.Text() != strictjson.EveryElement && n.child(s.Text()).given() {
			list = append(list, s.Text())
		}
	}
	return list
}

// namesGiven writes an array of member names without those that are not given.
func (e *excerpt) namesGiven(keyword string, v strictjson.Value, n *fieldNode) {
	if list := givenNames(v, n); len(list) > 0 {
		e.member(keyword)
		e.strings(list)
	}
}

func (e *excerpt) dependentRequired(v strictjson.Value, n *fieldNode) {
	e.member("dependentRequired")
	e.object(func() {
		for name, list := range v.Members() {
			if n.child(name).given() {
				e.namesGiven(name, list, n)
			}
		}
	})
}

func (e *excerpt) dependentSchemas(v strictjson.Value, n *fieldNode) {
	e.member("dependentSchemas")
	e.object(func() {
		for name, s := range v.Members() {
			if n.child(name).given() {
				e.member(name)
				e.schema(use{e.g.index[s], n, beside})
			}
		}
	})
}

// elements writes a keyword about an array whose elements are given, or a part of each.
// Elements that differed may arrive equal, and more of them may match contains.
func (e *excerpt) elements(l *location, name string, v strictjson.Value, every *fieldNode) {
	switch name {
	case "unevaluatedItems":
		// Without anything beside it that evaluates items, this is items.
		alone := !slices.ContainsFunc(l.edges, func(x edge) bool {
			return x.kind.inPlace() || x.kind == edgeContains || x.kind == edgeItems
		})
		if !alone {
			return
		}
		e.member("items")
		e.schema(e.below(e.g.index[v], every))
	case "items", "contains":
		e.member(name)
		e.schema(e.below(e.g.index[v], every))
	case "prefixItems":
		e.member(name)
		var list []use
		for _, s := range v.Elements() {
			list = append(list, e.below(e.g.index[s], every))
		}
		e.list(list)
	default:
		e.member(name)
		e.dst = strictjson.AppendJSON(e.dst, v)
	}
}

// properties writes the given members. All that is said of a value closes it: whatever
// closed the value, no other member arrives.
func (e *excerpt) properties(l *location, u use, k kinds) {
	closed := u.role == closing && k&kindObject != 0
	var described []string
	schemas := map[string]strictjson.Value{}
	for name, s := range l.words["properties"].Members() {
		if name != strictjson.EveryElement && u.node.child(name).given() {
			described, schemas[name] = append(described, name), s
		}
	}
	if len(described) == 0 && !closed {
		return
	}
	e.member("properties")
	e.object(func() {
		for _, name := range described {
			e.member(name)
			e.schema(e.below(e.g.index[schemas[name]], u.node.child(name)))
		}
		for _, name := range wantedNames(u.node) {
			if !schemas[name].Exists() && closed {
				e.member(name)
				e.dst = append(e.dst, "true"...)
			}
		}
	})
	if closed {
		e.member("additionalProperties")
		e.dst = append(e.dst, "false"...)
	}
}

// choices writes allOf, and anyOf, oneOf and if as one anyOf each. Branches that differ
// in what is not given look alike, so that several may match; and which way an if went
// cannot be told.
func (e *excerpt) choices(l *location, n *fieldNode) {
	all := e.beside(l.words["allOf"], n)
	var choices [][][]use // of each choice the branches, of each branch what it demands
	for _, word := range [...]string{"anyOf", "oneOf"} {
		var branches [][]use
		for _, u := range e.beside(l.words[word], n) {
			branches = append(branches, []use{u})
		}
		if branches != nil {
			choices = append(choices, branches)
		}
	}
	if cond, otherwise := l.words["if"], l.words["else"]; cond.Exists() && otherwise.Exists() {
		yes := []use{{e.g.index[cond], n, beside}}
		if then := l.words["then"]; then.Exists() {
			yes = append(yes, use{e.g.index[then], n, beside})
		}
		choices = append(choices, [][]use{yes, {{e.g.index[otherwise], n, beside}}})
	}
	if len(choices) > 0 {
		e.anyOf(choices[0])
		choices = choices[1:]
	}
	if len(all)+len(choices) == 0 {
		return
	}
	e.member("allOf")
	e.dst = append(e.dst, '[')
	for i, u := range all {
		e.comma(i)
		e.schema(u)
	}
	for i, branches := range choices { // an object has room for one anyOf
		e.comma(len(all) + i)
		e.object(func() { e.anyOf(branches) })
	}
	e.dst = append(e.dst, ']')
}

// beside returns the schemas of an array as uses for the value that they stand at.
func (e *excerpt) beside(v strictjson.Value, n *fieldNode) []use {
	var list []use
	for _, s := range v.Elements() {
		list = append(list, use{e.g.index[s], n, beside})
	}
	return list
}

func (e *excerpt) anyOf(branches [][]use) {
	e.member("anyOf")
	e.dst = append(e.dst, '[')
	for i, demands := range branches {
		e.comma(i)
		if len(demands) == 1 {
			e.schema(demands[0])
			continue
		}
		e.object(func() {
			e.member("allOf")
			e.list(demands)
		})
	}
	e.dst = append(e.dst, ']')
}
