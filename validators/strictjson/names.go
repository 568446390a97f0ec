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
	text := r.text(name)
	if !top.many {
		known := top.marks&mark(text) != 0
		top.marks |= mark(text)
		if !known && r.nodes[top.at].count < manyMembers {
			return false
		}
		for i := top.at + 1; int(i) < len(r.nodes); i = r.nodes[i].next {
			if r.nameOf(&r.nodes[i]) == text {
				return true
			}
		}
		if r.nodes[top.at].count < manyMembers {
			return false
		}
		names := r.emptyMap()
		for i := top.at + 1; int(i) < len(r.nodes); i = r.nodes[i].next {
			names[r.nameOf(&r.nodes[i])] = struct{}{}
		}
		top.many = true
		r.seen = append(r.seen, names)
	}
	names := r.seen[len(r.seen)-1]
	before := len(names)
	names[text] = struct{}{}
	return len(names) == before
}

// mark returns one of 32 bits, which names of other length, beginning or end seldom share:
// where no name of an object has it, the name is new.
func mark(name string) uint32 {
	if name == "" {
		return 1
	}
	return 1 << ((uint(len(name)) + 5*uint(name[0]) + 7*uint(name[len(name)-1])) % 32)
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

// nameOf is [document.nameOf] while the side text grows.
func (r *reader) nameOf(n *node) string {
	if n.flags&sideName == 0 {
		return r.src[n.name : n.name+uint32(n.nameLen)]
	}
	at := &r.texts[n.name]
	return r.side.String()[at.from:at.to]
}

func (r *reader) text(s span) string {
	if s.side {
		return r.side.String()[s.from:s.to]
	}
	return r.src[s.from:s.to]
}
