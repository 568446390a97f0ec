package strictjson

// manyMembers is the size from which an object's names are kept in a map instead of
// being compared one by one. A map of up to spareMembers names serves the next object
// when its own is closed; clearing a larger one would cost more than that object.
const (
	manyMembers  = 12
	spareMembers = 64
)

// duplicate reports whether the innermost object has the name already, and notes it.
func (r *reader) duplicate(top *frame, name span) bool {
	if !top.many {
		for i := top.at + 1; int(i) < len(r.nodes); i = r.nodes[i].next {
			if r.sameText(r.nodes[i].name, name) {
				return true
			}
		}
		if r.nodes[top.at].count < manyMembers {
			return false
		}
		names := r.emptyMap()
		for i := top.at + 1; int(i) < len(r.nodes); i = r.nodes[i].next {
			names[r.text(r.nodes[i].name)] = struct{}{}
		}
		top.many = true
		r.seen = append(r.seen, names)
	}
	names := r.seen[len(r.seen)-1]
	before := len(names)
	names[r.text(name)] = struct{}{}
	return len(names) == before
}

// closeMany puts the map of the innermost object aside.
func (r *reader) closeMany() {
	last := len(r.seen) - 1
	names := r.seen[last]
	r.seen = r.seen[:last]
	if len(names) <= spareMembers {
		clear(names)
		r.spare = append(r.spare, names)
	}
}

func (r *reader) emptyMap() map[string]struct{} {
	last := len(r.spare) - 1
	if last < 0 {
		return make(map[string]struct{}, 2*manyMembers)
	}
	m := r.spare[last]
	r.spare = r.spare[:last]
	return m
}

func (r *reader) sameText(a, b span) bool {
	switch {
	case a.to-a.from != b.to-b.from:
		return false
	case a.side && b.side:
		return string(r.side[a.from:a.to]) == string(r.side[b.from:b.to])
	case a.side:
		return string(r.side[a.from:a.to]) == r.src[b.from:b.to]
	case b.side:
		return r.src[a.from:a.to] == string(r.side[b.from:b.to])
	}
	return r.src[a.from:a.to] == r.src[b.from:b.to]
}

func (r *reader) text(s span) string {
	if s.side {
		return string(r.side[s.from:s.to])
	}
	return r.src[s.from:s.to]
}
