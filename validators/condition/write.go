package condition

import (
	"math"
	"slices"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// writable reports whether values of a type may have a JSON form, as far as is known at
// load.
func writable(t *types.Type) bool {
	switch t.Kind() {
	case types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind, types.StringKind,
		types.NullTypeKind, types.DynKind, types.AnyKind, types.StructKind, types.TypeParamKind:
		return true
	case types.ListKind:
		return writable(t.Parameters()[0])
	case types.MapKind:
		key := t.Parameters()[0].Kind()
		text := key == types.StringKind || key == types.DynKind || key == types.TypeParamKind
		return text && writable(t.Parameters()[1])
	}
	return false
}

// fits reports whether values of a writable type may have a shape. It is false only
// where that is certain. The kinds of numbers are one: 1.0 is an integer to a schema.
func fits(t *types.Type, want *Shape) bool {
	want = want.known()
	switch {
	case want.kind == kindDyn:
		return true
	case want.kind == kindTime:
		return false
	}
	switch t.Kind() {
	case types.NullTypeKind:
		return want.kind == kindNull
	case types.BoolKind:
		return want.kind == kindBool
	case types.IntKind, types.UintKind, types.DoubleKind:
		return want.kind == kindInt || want.kind == kindDouble
	case types.StringKind:
		return want.kind == kindString
	case types.ListKind:
		return want.kind == kindList && fits(t.Parameters()[0], want.elem)
	case types.MapKind, types.StructKind:
		return want.kind == kindMap || want.kind == kindObject
	}
	return true
}

// name is what a shape is called in JSON Schema.
func (s *Shape) name() string {
	switch s.known().kind {
	case kindNull:
		return "null"
	case kindBool:
		return "a boolean"
	case kindInt:
		return "an integer"
	case kindDouble:
		return "a number"
	case kindString:
		return "a string"
	case kindList:
		switch e := s.elem.known(); e.kind {
		case kindDyn:
			return "an array"
		case kindList:
			return "an array of arrays"
		default:
			return "an array, each element " + e.name()
		}
	case kindMap, kindObject:
		return "an object"
	}
	return "something else"
}

// maxWritten is the nesting of computed lists and maps; no reader takes more.
const maxWritten = 64

// writer writes one value. cause is set where that is not possible; what was written
// then does not count.
type writer struct {
	arena *arena
	dst   []byte
	limit int
	cause Cause
}

// room reports whether n more bytes fit.
func (w *writer) room(n int) bool {
	if w.cause == 0 && len(w.dst)+n > w.limit {
		w.cause = TooLarge
	}
	return w.cause == 0
}

func (w *writer) raw(text string) {
	if w.room(len(text)) {
		w.dst = append(w.dst, text...)
	}
}

// text writes a string. Escapes make it longer than what was asked for room, by a
// factor of at most six, so the length is looked at again.
func (w *writer) text(s string) {
	if w.room(len(s) + 2) {
		w.dst = strictjson.AppendString(w.dst, s)
		w.room(0)
	}
}

// copy writes a value of an input as it stands there, less white space.
func (w *writer) copy(v strictjson.Value) {
	if w.room(1) && w.room(w.arena.compact(v)) {
		w.dst = strictjson.AppendJSON(w.dst, v)
		w.room(0)
	}
}

// compact is a lower bound of the bytes that a value needs, so that no more than one
// value too many is ever copied.
func (a *arena) compact(v strictjson.Value) int {
	if v.Len() == 0 {
		return v.End() - v.Offset()
	}
	return v.Size()
}

func (w *writer) value(v ref.Val, depth int) {
	if w.cause != 0 {
		return
	}
	if depth > maxWritten {
		w.cause = TooLarge
		return
	}
	if c, is := v.(container); is && c.source().Exists() {
		w.copy(c.source())
		return
	}
	switch v := v.(type) {
	case types.Null:
		w.raw("null")
	case types.Bool:
		w.raw(strconv.FormatBool(bool(v)))
	case types.Int:
		w.raw(strconv.FormatInt(int64(v), 10))
	case types.Uint:
		w.raw(strconv.FormatUint(uint64(v), 10))
	case types.Double:
		w.double(float64(v))
	case types.String:
		w.text(string(v))
	case traits.Mapper:
		w.members(v, depth)
	case traits.Lister:
		w.elements(v, depth)
	default: // errors, bytes, instants, spans, types, records, an optional inside
		w.cause = Unwritable
	}
}

// double writes the shortest decimal that reads back as the same double.
func (w *writer) double(f float64) {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		w.cause = Unwritable
	case a == 0:
		w.raw("0")
	case a >= 1e-6 && a < 1e21:
		w.raw(strconv.FormatFloat(f, 'f', -1, 64))
	default:
		w.raw(strconv.FormatFloat(f, 'e', -1, 64))
	}
}

func (w *writer) elements(l traits.Lister, depth int) {
	w.raw("[")
	first := true
	for it := l.Iterator(); w.cause == 0 && it.HasNext() == types.True; first = false {
		if !first {
			w.raw(",")
		}
		w.value(it.Next(), depth+1)
	}
	w.raw("]")
}

func (w *writer) members(m traits.Mapper, depth int) {
	var names []string
	for it := m.Iterator(); it.HasNext() == types.True; {
		name, is := it.Next().(types.String)
		if !is {
			w.cause = Unwritable
			return
		}
		names = append(names, string(name))
	}
	slices.Sort(names)
	w.raw("{")
	for i, name := range names {
		if i > 0 {
			w.raw(",")
		}
		w.text(name)
		w.raw(":")
		w.value(m.Get(types.String(name)), depth+1)
	}
	w.raw("}")
}
