package strictjson

// Shorten returns v's counterpart in a new tree in which list has its first keep
// elements only; v and its tree stay as they are. Everything that stays keeps its
// place: offsets are those of the input, and paths are the same. It takes time linear
// in the tree.
//
// v itself comes back where nothing is to be cut: list has no more elements, or is no
// array of v's tree. A v inside of what is cut has no counterpart, which gives the zero
// Value. A negative keep counts as 0.
func Shorten(v, list Value, keep int) Value {
	keep = max(keep, 0)
	if list.Kind() != Array || list.d != v.d || list.Len() <= keep {
		return v
	}
	from, to := list.i+1, list.node().next
	for range keep {
		from = v.d.nodes[from].next
	}
	gone := to - from
	d := &document{src: v.d.src, side: v.d.side, texts: v.d.texts, nodes: make([]node, 0, len(v.d.nodes)-int(gone))}
	d.nodes = append(append(d.nodes, v.d.nodes[:from]...), v.d.nodes[to:]...)
	for i := range d.nodes {
		// What ends at to or behind it is list, what list is in, and all that follows.
		if n := &d.nodes[i]; n.next >= to {
			n.next -= gone
		}
	}
	d.nodes[list.i].count = uint32(keep)
	switch {
	case v.i < from:
		return Value{d, v.i}
	case v.i < to:
		return Value{}
	}
	return Value{d, v.i - gone}
}
