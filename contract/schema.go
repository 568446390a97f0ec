package contract

import (
	"fmt"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// What a schema may cost before anything is judged by it. The numbers are far above
// what a contract needs: they bound the linter and, through it, the engine.
const (
	maxSchemaFiles = 64      // files that one schema reaches
	maxLocations   = 20_000  // subschemas in these files together
	maxExpansion   = 50_000  // subschemas after every $ref is replaced by its target
	maxPattern     = 4096    // bytes of one regular expression
	maxSteps       = 500_000 // edges that are looked at to follow what applies where
	maxFaults      = 200     // of one schema; more help nobody
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// readSchema parses the schema file root and every file that its $refs reach, and
// applies the rules that hold for every schema, a vendor's included: dialect,
// keywords and their values, formats, patterns, references, cycles, cost.
//
// files maps paths relative to the contract's folder to bytes; nothing outside this
// map is ever opened. The schema is nil where root itself cannot be read; with other
// faults it is what could be read, so that the caller can go on and find more. The
// faults' files are relative to the contract's folder.
func readSchema(files map[string][]byte, root string) (*Schema, Faults) {
	s := &Schema{File: root, Files: map[string][]byte{}, Roots: map[string]strictjson.Value{}}
	rep := &reporter{files: files}
	if _, ok := files[root]; !ok {
		rep.add(root, -1, "the contract's folder has no such file", "write the schema or correct its name in contract.yaml")
		return nil, rep.faults
	}
	open := func(name string) (strictjson.Value, bool) {
		src := files[name]
		v, err := strictjson.Parse(src, strictjson.Ceilings())
		if err != nil {
			rep.unreadable(name, err)
			return strictjson.Value{}, false
		}
		s.Files[name], s.Roots[name] = src, v
		return v, true
	}
	g := newGraph(files, root, open, rep)
	if g.root < 0 {
		return nil, rep.faults.Sort()
	}
	g.lintKeywords()
	g.lintCost()
	return s, rep.faults.Sort()
}

// graphOf builds the graph of a schema that readSchema returned. Its faults were
// reported then and are dropped. It returns nil for a schema without a root.
func graphOf(s *Schema) *graph {
	open := func(name string) (strictjson.Value, bool) {
		v, ok := s.Roots[name]
		return v, ok
	}
	g := newGraph(s.Files, s.File, open, &reporter{files: s.Files})
	if g.root < 0 {
		return nil
	}
	return g
}

// edgeKind is how one subschema comes to be applied by another.
type edgeKind uint8

const (
	// In place: the target judges the same value.
	edgeRef edgeKind = iota
	edgeAllOf
	edgeAnyOf
	edgeOneOf
	edgeIf
	edgeThen
	edgeElse
	edgeNot
	edgeDependent
	// Descending: the target judges members or elements of the value.
	edgeProperty
	edgePattern
	edgeAdditional
	edgeUnevaluatedProperties
	edgeNames
	edgeItems
	edgePrefix
	edgeContains
	edgeUnevaluatedItems
	// Held for others to refer to; applied by nobody.
	edgeHeld
)

func (k edgeKind) inPlace() bool { return k <= edgeDependent }

// edge leads from one location to another. key is the member's name of edgeProperty
// and the expression of edgePattern.
type edge struct {
	kind edgeKind
	key  string
	to   int
}

// location is one subschema: an object or a boolean.
type location struct {
	file  string
	value strictjson.Value
	words map[string]strictjson.Value // its keywords; nil for a boolean
	edges []edge
}

// graph is all subschemas of a schema's files, reachable or not, with what applies
// what. Locations are named by their index.
type graph struct {
	root      int // -1 where there is none
	locations []location
	index     map[strictjson.Value]int // by the place in the tree
	anchors   map[string]map[string]int
	roots     map[string]int
	children  map[strictjson.Value]map[string]strictjson.Value // of large containers
	rep       *reporter
	exhausted bool
}

// newGraph reads root and, by way of open, every file that is referred to.
func newGraph(files map[string][]byte, root string, open func(string) (strictjson.Value, bool), rep *reporter) *graph {
	g := &graph{
		root: -1, index: map[strictjson.Value]int{}, anchors: map[string]map[string]int{},
		roots: map[string]int{}, children: map[strictjson.Value]map[string]strictjson.Value{}, rep: rep,
	}
	queue := []string{root}
	queued := map[string]bool{root: true}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		v, ok := open(name)
		if !ok {
			continue
		}
		first := len(g.locations)
		id, ok := g.place(name, v)
		if !ok {
			continue
		}
		g.roots[name] = id
		for i := first; i < len(g.locations); i++ {
			target, ok := g.referredFile(i, files)
			if ok && !queued[target] && len(queued) < maxSchemaFiles {
				queued[target] = true
				queue = append(queue, target)
			}
		}
	}
	if id, ok := g.roots[root]; ok {
		g.root = id
	}
	for i := range g.locations {
		g.resolve(i, files)
	}
	return g
}

// place adds v and the subschemas in it; ok is false where v is no schema. Recursion
// is bounded by the depth that strictjson allows.
func (g *graph) place(file string, v strictjson.Value) (id int, ok bool) {
	if k := v.Kind(); k != strictjson.Object && k != strictjson.Bool {
		g.rep.at(file, v, "a schema must stand here, an object or a boolean, not a value of type "+k.String(), "write a schema")
		return 0, false
	}
	if len(g.locations) >= maxLocations {
		if !g.exhausted {
			g.exhausted = true
			g.rep.at(file, v, fmt.Sprintf("there are more than %d subschemas", maxLocations), "split the contract")
		}
		return 0, false
	}
	id = len(g.locations)
	g.locations = append(g.locations, location{file: file, value: v})
	g.index[v] = id
	if v.Kind() == strictjson.Bool {
		return id, true
	}
	words := make(map[string]strictjson.Value, v.Len())
	var edges []edge
	hold := func(kind edgeKind, key string, w strictjson.Value) {
		if to, ok := g.place(file, w); ok {
			edges = append(edges, edge{kind, key, to})
		}
	}
	for name, w := range v.Members() {
		words[name] = w
		k := keywordOf(name)
		switch {
		case k.form == formSchema:
			hold(k.edge, "", w)
		case k.form == formSchemas && w.Kind() == strictjson.Array:
			for _, e := range w.Elements() {
				hold(k.edge, "", e)
			}
		case k.form == formSchemaMap && w.Kind() == strictjson.Object:
			for key, m := range w.Members() {
				hold(k.edge, key, m)
			}
		}
	}
	g.locations[id].words, g.locations[id].edges = words, edges
	g.anchor(id, words["$anchor"])
	return id, true
}

// anchor makes a location known by its plain name.
func (g *graph) anchor(id int, name strictjson.Value) {
	if name.Kind() != strictjson.String {
		return
	}
	file := g.locations[id].file
	if g.anchors[file] == nil {
		g.anchors[file] = map[string]int{}
	}
	if _, taken := g.anchors[file][name.Text()]; taken {
		g.rep.at(file, name, "this file has the $anchor "+shown(name.Text())+" twice", "rename one of them")
		return
	}
	g.anchors[file][name.Text()] = id
}

// bool reports whether location id is the boolean schema b.
func (g *graph) bool(id int, b bool) bool {
	v := g.locations[id].value
	return v.Kind() == strictjson.Bool && v.IsTrue() == b
}
