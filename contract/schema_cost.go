package contract

import "fmt"

// lintCost refuses schemas that an engine may follow for ever, or for a time that
// grows exponentially with the depth of the value. Three rules, in this order:
//
//   - No cycle of in-place edges ($ref, allOf, anyOf, oneOf, not, if, then, else,
//     dependentSchemas): it consumes nothing of the value.
//   - Within one strongly connected component of the whole graph, no location may
//     reach, in place, two descents that both lead back into the component and can
//     fall on the same member or element. Both are followed at every level, so n
//     levels cost 2^n. Branches of a oneOf or anyOf that exclude each other, by kind or
//     by a required member with a const or enum of its own in each, count as one, and
//     so do then and else: whoever judges takes the one that the value chooses.
//   - With every $ref outside of recursion replaced by its target, the schema has at
//     most maxExpansion subschemas.
//
// Trees, lists and discriminated unions pass.
func (g *graph) lintCost() {
	if g.inPlaceCycles() {
		return
	}
	c := g.components()
	r := &recursion{g: g, c: c, memo: make([]*descents, len(g.locations)), unions: map[unionAt]*apart{}}
	for i := range g.locations {
		r.lint(i)
	}
	if g.expansion(c) > maxExpansion {
		root := &g.locations[g.root]
		g.rep.at(root.file, root.value, fmt.Sprintf("with each $ref replaced by its target this schema has more than %d subschemas", maxExpansion),
			"refer to the same definition from fewer places")
	}
}

// inPlaceCycles reports each edge that closes a cycle of in-place edges. Recursion is
// bounded by maxLocations.
func (g *graph) inPlaceCycles() (found bool) {
	const open, done = 1, 2
	state := make([]uint8, len(g.locations))
	var visit func(int)
	visit = func(id int) {
		state[id] = open
		l := &g.locations[id]
		for _, e := range l.edges {
			if !e.kind.inPlace() {
				continue
			}
			switch state[e.to] {
			case open:
				found = true
				at := l.value
				if e.kind == edgeRef {
					at = l.words["$ref"]
				}
				g.rep.at(l.file, at, "this $ref leads back to itself without descending into the value", "let the cycle pass through properties or items, or break it")
			case 0:
				visit(e.to)
			}
		}
		state[id] = done
	}
	for i := range g.locations {
		if state[i] == 0 {
			visit(i)
		}
	}
	return found
}

// components are the strongly connected components of the graph over all edges that
// apply something.
type components struct {
	of     []int   // component of each location
	lists  [][]int // members; a component comes after all that its edges lead to
	cyclic []bool
}

// components is Tarjan's algorithm; recursion is bounded by maxLocations.
func (g *graph) components() *components {
	n := len(g.locations)
	c := &components{of: make([]int, n)}
	low, order := make([]int, n), make([]int, n)
	onStack := make([]bool, n)
	var stack []int
	next := 1
	var visit func(int)
	visit = func(v int) {
		order[v], low[v] = next, next
		next++
		stack = append(stack, v)
		onStack[v] = true
		for _, e := range g.locations[v].edges {
			switch {
			case e.kind == edgeHeld:
			case order[e.to] == 0:
				visit(e.to)
				low[v] = min(low[v], low[e.to])
			case onStack[e.to]:
				low[v] = min(low[v], order[e.to])
			}
		}
		if low[v] != order[v] {
			return
		}
		at := len(stack) - 1
		for stack[at] != v {
			at--
		}
		list := append([]int(nil), stack[at:]...)
		stack = stack[:at]
		for _, m := range list {
			onStack[m] = false
			c.of[m] = len(c.lists)
		}
		c.lists = append(c.lists, list)
	}
	for v := range n {
		if order[v] == 0 {
			visit(v)
		}
	}
	c.cyclic = make([]bool, len(c.lists))
	for v := range g.locations {
		for _, e := range g.locations[v].edges {
			if e.kind != edgeHeld && c.of[v] == c.of[e.to] {
				c.cyclic[c.of[v]] = true
			}
		}
	}
	return c
}

// expansion counts the subschemas after every $ref that is not recursive is replaced
// by its target, up to maxExpansion+1.
func (g *graph) expansion(c *components) int {
	size := make([]int, len(c.lists))
	for i, list := range c.lists {
		for _, v := range list {
			size[i]++
			for _, e := range g.locations[v].edges {
				if to := c.of[e.to]; to != i && e.kind != edgeHeld {
					size[i] = min(size[i]+size[to], maxExpansion+1)
				}
			}
		}
	}
	return size[c.of[g.root]]
}

// descents counts the recursive descents that a location reaches in place: by name of
// the member, for members of any other name, and for elements of arrays.
type descents struct {
	names    map[string]int // beyond rest
	rest     int
	elements int
	reported bool // a part of it was refused already
}

func (d *descents) worst() int {
	most := 0
	for _, n := range d.names {
		most = max(most, n)
	}
	return max(most+d.rest, d.elements)
}

// apart says for which values the parts that are joined exclude each other.
type apart struct{ objects, arrays bool }

// join merges o into d: counts add where both are followed, and the larger one counts
// where they exclude each other.
func (d *descents) join(o *descents, by apart) {
	for k, n := range o.names {
		d.names[k] = merge(d.names[k], n, by.objects)
	}
	d.rest = merge(d.rest, o.rest, by.objects)
	d.elements = merge(d.elements, o.elements, by.arrays)
	d.reported = d.reported || o.reported
}

func merge(a, b int, exclusive bool) int {
	if exclusive {
		return max(a, b)
	}
	return min(a+b, 2)
}

type recursion struct {
	g     *graph
	c     *components
	memo  []*descents
	steps int
	// unions remembers how the branches of each union exclude each other.
	unions map[unionAt]*apart
}

// unionAt names one union: its location, and which of the two keywords.
type unionAt struct {
	id   int
	kind edgeKind
}

func (r *recursion) lint(id int) {
	comp := r.c.of[id]
	if !r.c.cyclic[comp] || r.steps > maxSteps {
		return
	}
	r.descents(id)
	if r.steps > maxSteps {
		l := &r.g.locations[id]
		r.g.rep.at(l.file, l.value, "this recursive schema is too tangled to bound its cost", "simplify it")
	}
}

// descents computes what id reaches in place within its component, and refuses it
// where two descents meet. In-place edges have no cycle here.
func (r *recursion) descents(id int) *descents {
	if d := r.memo[id]; d != nil {
		return d
	}
	d := r.own(id)
	l := &r.g.locations[id]
	groups := map[edgeKind]*descents{}
	for _, e := range l.edges {
		if !e.kind.inPlace() || r.c.of[e.to] != r.c.of[id] || r.steps > maxSteps {
			continue
		}
		below := r.descents(e.to)
		r.steps += 1 + len(below.names)
		kind := e.kind
		if kind == edgeElse {
			kind = edgeThen
		}
		if groups[kind] == nil {
			groups[kind] = &descents{names: map[string]int{}}
		}
		groups[kind].join(below, r.apart(id, kind))
	}
	for _, group := range groups {
		d.join(group, apart{})
	}
	if d.worst() > 1 && !d.reported {
		d.reported = true
		r.g.rep.at(l.file, l.value, "two recursive branches descend into the same member or element, so each level of a value doubles the work",
			"descend in one place only, or tell the branches apart by a required member with a const of its own in each")
	}
	r.memo[id] = d
	return d
}

// apart says how the parts of one kind of edge exclude each other.
func (r *recursion) apart(id int, kind edgeKind) apart {
	switch kind {
	case edgeThen:
		return apart{objects: true, arrays: true}
	case edgeAnyOf, edgeOneOf:
		by := r.unions[unionAt{id, kind}]
		if by == nil {
			by = &apart{}
			by.objects, by.arrays = r.g.exclusive(id, kind)
			r.unions[unionAt{id, kind}] = by
		}
		return *by
	}
	return apart{}
}

// own counts the descents of one location itself. Within a location, properties and
// additionalProperties exclude each other, and so do prefixItems and items.
func (r *recursion) own(id int) *descents {
	d := &descents{names: map[string]int{}}
	patterns, others, unevaluated, items := 0, 0, 0, 0
	var named []string
	for _, e := range r.g.locations[id].edges {
		r.steps++
		if e.kind.inPlace() || e.kind == edgeHeld || r.c.of[e.to] != r.c.of[id] {
			continue
		}
		switch e.kind {
		case edgeProperty:
			named = append(named, e.key)
		case edgePattern:
			patterns = min(patterns+1, 2)
		case edgeAdditional:
			others = 1
		case edgeUnevaluatedProperties:
			unevaluated = 1
		case edgeItems, edgePrefix:
			items = 1
		case edgeContains, edgeUnevaluatedItems:
			d.elements++
		}
	}
	d.rest = min(max(patterns, others)+unevaluated, 2)
	for _, name := range named {
		d.names[name] = max(1+patterns+unevaluated-d.rest, 0)
	}
	d.elements = min(d.elements+items, 2)
	return d
}
