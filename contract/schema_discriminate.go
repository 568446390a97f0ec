package contract

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// demands is what a subschema surely asks of a value, by itself and by what applies
// with it through $ref and allOf.
type demands struct {
	kinds  kinds
	needs  map[string]bool            // members that must be there
	values map[string]map[string]bool // scalars, in canonical form, that a member may be
}

// maxDemandDepth bounds the chains of $ref and allOf that are followed.
const maxDemandDepth = 16

// exclusive says of the branches of one union whether at most one of them can match
// any object, and any array. Branches exclude each other by kind, or, for objects, by
// one member that all of them require and whose const or enum is different in each. A
// value then costs the one branch that it chooses.
func (g *graph) exclusive(id int, union edgeKind) (objects, arrays bool) {
	var forObjects []demands
	ofArrays := 0
	for _, e := range g.locations[id].edges {
		if e.kind != union {
			continue
		}
		d := demands{kinds: anyKind, needs: map[string]bool{}, values: map[string]map[string]bool{}}
		g.collect(&d, e.to, maxDemandDepth)
		if d.kinds&kindObject != 0 {
			forObjects = append(forObjects, d)
		}
		if d.kinds&kindArray != 0 {
			ofArrays++
		}
	}
	return toldApart(forObjects), ofArrays <= 1
}

// toldApart reports whether some member chooses between all branches.
func toldApart(branches []demands) bool {
	if len(branches) <= 1 {
		return true
	}
	for name := range branches[0].values {
		if chooses(branches, name) {
			return true
		}
	}
	return false
}

func chooses(branches []demands, name string) bool {
	taken := map[string]bool{}
	for _, b := range branches {
		if !b.needs[name] || b.values[name] == nil {
			return false
		}
		for v := range b.values[name] {
			if taken[v] {
				return false
			}
			taken[v] = true
		}
	}
	return true
}

// collect adds what a location demands.
func (g *graph) collect(d *demands, id, depth int) {
	if depth == 0 {
		return
	}
	l := &g.locations[id]
	if t := l.words["type"]; t.Exists() {
		d.kinds &= kindsOfType(t)
	}
	for _, name := range l.words["required"].Elements() {
		d.needs[name.Text()] = true
	}
	for _, e := range l.edges {
		switch e.kind {
		case edgeRef, edgeAllOf:
			g.collect(d, e.to, depth-1)
		case edgeProperty:
			if v := g.scalars(e.to, depth-1); v != nil && d.values[e.key] == nil {
				d.values[e.key] = v
			}
		}
	}
}

func kindsOfType(t strictjson.Value) kinds {
	if t.Kind() == strictjson.String {
		return kindsNamed(t.Text())
	}
	all := noKinds
	for _, name := range t.Elements() {
		all |= kindsNamed(name.Text())
	}
	return all
}

// scalars returns the scalars that a location allows by const or enum, itself or
// through $ref; nil where it allows anything else.
func (g *graph) scalars(id, depth int) map[string]bool {
	if depth <= 0 {
		return nil
	}
	l := &g.locations[id]
	if c := l.words["const"]; c.Exists() {
		return scalarSetOf(c)
	}
	if e := l.words["enum"]; e.Len() > 0 {
		var all []strictjson.Value
		for _, v := range e.Elements() {
			all = append(all, v)
		}
		return scalarSetOf(all...)
	}
	for _, e := range l.edges {
		if e.kind == edgeRef {
			return g.scalars(e.to, depth-1)
		}
	}
	return nil
}

func scalarSetOf(values ...strictjson.Value) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		if v.Kind() == strictjson.Array || v.Kind() == strictjson.Object {
			return nil
		}
		key, err := strictjson.AppendCanonical(nil, v, strictjson.KeepBigNumbers)
		if err != nil {
			return nil
		}
		set[string(key)] = true
	}
	return set
}
