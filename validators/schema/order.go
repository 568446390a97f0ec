package schema

// What a run remembers of the order of members.
const (
	orderSlots = 4  // locations of objects at one time
	orderSteps = 24 // members of one
)

// order is the order in which the last object of some location had its members. Objects
// of a list have theirs in the same order every time, and to compare a name with the
// one that is expected costs less than to look it up. Nothing but time depends on it.
type order struct {
	of *objectRules
	// next is, for each property, which one followed it: properties[next[i]] came behind
	// properties[i-1], and properties[next[0]] came first.
	next [orderSteps]uint8
}

// order returns what the run remembers for a location; at first, that members come in
// the order of the schema's text.
func (r *run) order(o *objectRules) *order {
	w := &r.orders[o.slot]
	if w.of != o {
		w.of = o
		for i := range w.next {
			w.next[i] = uint8(i)
		}
	}
	return w
}

// find returns what is said of a member; nil where nothing is. at is 0 for the first
// member of an object; find moves it on.
func (o *objectRules) find(name string, w *order, at *int) *property {
	if *at < len(w.next) {
		// Objects inside of this one may have the slot now: w says something of theirs.
		if i := int(w.next[*at]); i < len(o.properties) && o.properties[i].name == name {
			*at = i + 1
			return &o.properties[i]
		}
	}
	i, ok := o.positions[name]
	if !ok {
		return nil
	}
	if *at < len(w.next) && i < len(w.next) {
		w.next[*at] = uint8(i)
	}
	*at = i + 1
	return &o.properties[i]
}
