package projection

import (
	"slices"
	"strconv"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Project appends the new value to dst as compact JSON and returns with it the JSON
// Pointers, into that value, of every string that is outside text. ok is false where v
// has nothing that the plan gives at its root.
func (p *Plan) Project(dst []byte, v strictjson.Value) (out []byte, untrusted []string, ok bool) {
	if !p.root.given && p.root.wanted == 0 && p.root.every == nil {
		return dst, nil, false
	}
	if !v.Exists() {
		return dst, nil, false
	}
	if dst == nil {
		dst = make([]byte, 0, min(v.End()-v.Offset(), firstRoom))
	}
	w := writer{dst: dst}
	var way [usualDepth]step
	var usual [usualFound]strictjson.Value
	found := usual[:0]
	if p.most > usualFound {
		found = make([]strictjson.Value, 0, p.most)
	}
	w.value(v, &p.root, way[:0], found)
	return w.dst, w.untrusted, true
}

const (
	firstRoom  = 64 << 10 // bytes that are reserved at once for a projection
	usualDepth = 8
	usualFound = 16 // members of the objects on a way
)

// writer writes the projection of one value. The way to where it is and the wanted
// members of the objects on it go along beside it, so that they can stand on the stack.
type writer struct {
	dst       []byte
	untrusted []string
}

// step is one token of a pointer that is seldom needed.
type step struct {
	name  string
	index int // of an element; -1 where name counts
}

// note records that the string at the end of a way is outside text.
func (w *writer) note(at *place, way []step) {
	if at.fixed != "" {
		w.untrusted = append(w.untrusted, at.fixed)
		return
	}
	var usual [128]byte
	pointer := usual[:0]
	for _, s := range way {
		if s.index >= 0 {
			pointer = strconv.AppendInt(append(pointer, '/'), int64(s.index), 10)
		} else {
			pointer = strictjson.AppendToken(pointer, s.name)
		}
	}
	w.untrusted = append(w.untrusted, string(pointer))
}

// value writes what the place gives of v: all of it, or the members and elements that
// lead to given places.
func (w *writer) value(v strictjson.Value, at *place, way []step, found []strictjson.Value) {
	if at.given {
		w.dst = strictjson.AppendJSON(w.dst, v)
		if at.texts {
			w.noteTexts(v, at, way)
		}
		return
	}
	switch v.Kind() {
	case strictjson.Object:
		w.object(v, at, way, found)
	case strictjson.Array:
		w.array(v, at, way, found)
	default:
		// The schema lets a scalar stand where the agent fields name members: only that
		// it is there can be told.
		w.dst = append(w.dst, "null"...)
	}
}

func (w *writer) object(v strictjson.Value, at *place, way []step, found []strictjson.Value) {
	base, next, missing := len(found), 0, at.wanted
	for range at.wanted {
		found = append(found, strictjson.Value{})
	}
	for name, m := range v.Members() {
		if missing == 0 {
			break // no name comes twice
		}
		if i := at.find(name, at.wanted, &next); i >= 0 {
			found[base+i] = m
			missing--
		}
	}
	w.dst = append(w.dst, '{')
	first := true
	for i := range at.wanted {
		m := found[base+i]
		if !m.Exists() {
			continue
		}
		if !first {
			w.dst = append(w.dst, ',')
		}
		first = false
		w.dst = append(w.dst, at.quoted[i]...)
		w.value(m, at.below[i], append(way, step{at.names[i], -1}), found)
	}
	w.dst = append(w.dst, '}')
}

func (w *writer) array(v strictjson.Value, at *place, way []step, found []strictjson.Value) {
	w.dst = append(w.dst, '[')
	if at.every != nil {
		from := len(w.dst)
		for i, e := range v.Elements() {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			if i == sample {
				w.reserve(int64(len(w.dst)-from)/sample*int64(v.Len()-sample), int64(v.End()-e.Offset()))
			}
			w.value(e, at.every, append(way, step{"", i}), found)
		}
	}
	w.dst = append(w.dst, ']')
}

// sample is after how many elements it is guessed how long a list will become.
const sample = 8

// reserve makes room at once for the rest of a list, of which the elements so far say how
// many bytes it may become; but never for more than it was, so that memory stays linear in
// the value.
func (w *writer) reserve(guess, rest int64) {
	w.dst = slices.Grow(w.dst, int(min(guess+guess/16, rest)))
}

// noteTexts records the text fields inside a value that is given whole.
func (w *writer) noteTexts(v strictjson.Value, at *place, way []step) {
	if at == nil || !at.texts {
		return
	}
	switch v.Kind() {
	case strictjson.String:
		if at.text != nil {
			w.note(at, way)
		}
	case strictjson.Array:
		if at.every == nil {
			return
		}
		for i, e := range v.Elements() {
			w.noteTexts(e, at.every, append(way, step{"", i}))
		}
	case strictjson.Object:
		next := 0
		for name, m := range v.Members() {
			w.noteTexts(m, at.member(name, &next), append(way, step{name, -1}))
		}
	}
}
