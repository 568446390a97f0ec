package schema

import (
	"slices"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// union is anyOf or oneOf. Branches that cannot match, seen by the value's type or by
// a const or enum of one of its members, are not evaluated: the verdict is the same,
// and a recursive union whose branches exclude each other costs one branch.
type union struct {
	keyword  string
	branches []*location
	facts    []facts  // one for each branch
	members  []string // members by which at least one branch can be excluded
	chooser  string   // the member by which a failing value chooses its branch; see chosen
}

func newUnion(keyword string, branches []*location) *union {
	if len(branches) == 0 {
		return nil
	}
	return &union{keyword: keyword, branches: branches}
}

// facts are conditions without which a location cannot match.
type facts struct {
	types   types
	members map[string]map[string]struct{} // member -> keys of the scalars it may be
	needs   map[string]bool                // members that must be there
}

// The bounds of what is looked at: chains of $ref and allOf, and members by which
// branches are told apart.
const (
	maxFactDepth = 16
	maxChoosers  = 4
)

// discriminate computes the facts, once all locations are filled. nil is allowed.
func (u *union) discriminate() {
	if u == nil {
		return
	}
	u.facts = make([]facts, len(u.branches))
	holders := make(map[string]int)
	for i, b := range u.branches {
		f := facts{types: anyType, members: map[string]map[string]struct{}{}, needs: map[string]bool{}}
		f.learn(b, maxFactDepth)
		u.facts[i] = f
		for name := range f.members {
			holders[name]++
		}
	}
	for name := range holders {
		u.members = append(u.members, name)
	}
	slices.SortFunc(u.members, func(a, b string) int {
		if holders[a] != holders[b] {
			return holders[b] - holders[a]
		}
		if a < b {
			return -1
		}
		return 1
	})
	for i, name := range u.members {
		if holders[name] > 1 && u.tellsApart(name) {
			u.chooser = name
			u.members[0], u.members[i] = name, u.members[0]
			break
		}
	}
	if len(u.members) > maxChoosers {
		u.members = slices.Clone(u.members[:maxChoosers])
	}
}

// tellsApart reports whether no value of the member is allowed by two branches.
func (u *union) tellsApart(name string) bool {
	taken := make(map[string]bool)
	for _, f := range u.facts {
		for key := range f.members[name] {
			if taken[key] {
				return false
			}
			taken[key] = true
		}
	}
	return true
}

// learn adds what l and everything that it must match in place demand.
func (f *facts) learn(l *location, depth int) {
	if l == nil || depth == 0 {
		return
	}
	if l.types != 0 {
		f.types = intersect(f.types, l.types)
	}
	if l.object != nil {
		for _, name := range l.object.required {
			f.needs[name] = true
		}
		for _, p := range l.object.properties {
			if keys := scalars(p.schema, depth-1); keys != nil {
				f.restrict(p.name, keys)
			}
		}
	}
	f.learn(l.ref, depth-1)
	for _, s := range l.allOf {
		f.learn(s, depth-1)
	}
}

func (f *facts) restrict(name string, keys map[string]struct{}) {
	old, ok := f.members[name]
	if !ok {
		f.members[name] = keys
		return
	}
	both := make(map[string]struct{})
	for k := range keys {
		if _, ok := old[k]; ok {
			both[k] = struct{}{}
		}
	}
	f.members[name] = both
}

// intersect treats integer as a part of number.
func intersect(a, b types) types {
	both := a & b
	const num = types(1 << strictjson.Number)
	if (a&num != 0 && b&integerType != 0) || (b&num != 0 && a&integerType != 0) {
		both |= integerType
	}
	return both
}

// scalars returns the keys of the scalars that l allows by const or enum; nil where
// it allows anything else.
func scalars(l *location, depth int) map[string]struct{} {
	if l == nil || depth == 0 {
		return nil
	}
	if l.constant.Exists() {
		if l.constant.Size() != 1 || l.constant.Kind() >= strictjson.Array {
			return nil
		}
		return map[string]struct{}{string(appendKey(nil, l.constant)): {}}
	}
	if l.enum != nil {
		if l.enum.mayBeContainer() {
			return nil
		}
		return l.enum.keys
	}
	if keys := scalars(l.ref, depth-1); keys != nil {
		return keys
	}
	for _, s := range l.allOf {
		if keys := scalars(s, depth-1); keys != nil {
			return keys
		}
	}
	return nil
}

func (e *enumeration) mayBeContainer() bool {
	return e.kinds&(1<<strictjson.Array|1<<strictjson.Object) != 0
}

// choice is what a value says about the branches of a union.
type choice struct {
	possible []int // branches that may match, in order
	chosen   int   // the branch that the chooser's value names, or -1
}

// choose excludes the branches that cannot match v.
func (u *union) choose(v strictjson.Value) choice {
	c := choice{chosen: -1, possible: make([]int, 0, len(u.branches))}
	kind := v.Kind()
	type seen struct {
		key    string
		exists bool
	}
	var values [maxChoosers]seen
	if kind == strictjson.Object {
		for i, name := range u.members {
			m := v.Member(name)
			values[i] = seen{exists: m.Exists()}
			if m.Exists() && m.Kind() < strictjson.Array {
				values[i].key = string(appendKey(nil, m))
			}
		}
	}
	for i := range u.branches {
		f := &u.facts[i]
		possible := f.types.allow(v)
		if kind == strictjson.Object {
			for j, name := range u.members {
				keys, restricted := f.members[name]
				if !restricted {
					continue
				}
				_, allowed := keys[values[j].key]
				switch {
				case !values[j].exists:
					possible = possible && !f.needs[name]
				case !allowed:
					possible = false
				case name == u.chooser:
					c.chosen = i
				}
			}
		}
		if possible {
			c.possible = append(c.possible, i)
		}
	}
	return c
}
