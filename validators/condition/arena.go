package condition

import (
	"math"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// arena holds what one evaluation has made of its inputs: every array and every large
// object is indexed once, however often the expression comes back to it. It belongs to
// one goroutine.
type arena struct {
	names   map[*Shape]string
	lists   map[cell]*list
	elems   map[strictjson.Value][]strictjson.Value
	indexes map[strictjson.Value]map[string]strictjson.Value
	weights map[strictjson.Value]uint32
	// unfaithful is set once a value was met that CEL cannot stand for. It decides the
	// evaluation even where && or || absorb the error value.
	unfaithful bool
}

// A cell is a JSON value read under a shape.
type cell struct {
	json  strictjson.Value
	shape *Shape
}

func newArena(names map[*Shape]string) *arena {
	return &arena{
		names:   names,
		lists:   map[cell]*list{},
		elems:   map[strictjson.Value][]strictjson.Value{},
		indexes: map[strictjson.Value]map[string]strictjson.Value{},
		weights: map[strictjson.Value]uint32{},
	}
}

// fail notes that a value has no faithful CEL value.
func (a *arena) fail() ref.Val {
	a.unfaithful = true
	return types.NewErrFromString("a value that its declared type cannot hold")
}

// wrap makes the CEL value of v, lazily for containers.
func (a *arena) wrap(v strictjson.Value, s *Shape) ref.Val {
	s = s.known()
	if s.kind == kindDyn {
		return a.wrapAny(v)
	}
	if !s.holds(v.Kind()) {
		return a.fail()
	}
	switch s.kind {
	case kindInt:
		if n, ok := integer(v); ok {
			return types.Int(n)
		}
		return a.fail()
	case kindDouble:
		return a.double(v)
	case kindList:
		return a.list(v, s.elem.known())
	case kindMap:
		return &mapping{arena: a, json: v, elem: s.elem.known()}
	case kindObject:
		return &object{arena: a, shape: s, json: v}
	}
	return a.wrapAny(v)
}

// holds reports whether a JSON value of this kind can have the shape.
func (s *Shape) holds(k strictjson.Kind) bool {
	switch s.kind {
	case kindNull:
		return k == strictjson.Null
	case kindBool:
		return k == strictjson.Bool
	case kindInt, kindDouble:
		return k == strictjson.Number
	case kindString:
		return k == strictjson.String
	case kindList:
		return k == strictjson.Array
	case kindMap, kindObject:
		return k == strictjson.Object
	}
	return false
}

// wrapAny makes the CEL value of v by its own kind. A number is an int where it is an
// integer, else a double.
func (a *arena) wrapAny(v strictjson.Value) ref.Val {
	switch v.Kind() {
	case strictjson.Null:
		return types.NullValue
	case strictjson.Bool:
		return types.Bool(v.IsTrue())
	case strictjson.Number:
		if n, ok := integer(v); ok {
			return types.Int(n)
		}
		if !v.Decimal().IsInteger() {
			return a.double(v)
		}
	case strictjson.String:
		return types.String(v.Text())
	case strictjson.Array:
		return a.list(v, untyped)
	case strictjson.Object:
		return &mapping{arena: a, json: v, elem: untyped}
	}
	return a.fail()
}

// integer returns a number's value where it is an integer in int64. Plain digits, which
// nearly all are, take the short way.
func integer(v strictjson.Value) (int64, bool) {
	if n, err := strconv.ParseInt(v.Digits(), 10, 64); err == nil {
		return n, true
	}
	return v.Decimal().Int64()
}

// double returns the double whose shortest decimal is exactly the number that was
// written; any other number would be compared as a neighbour of itself.
func (a *arena) double(v strictjson.Value) ref.Val {
	f, err := strconv.ParseFloat(v.Digits(), 64)
	if err != nil || math.IsInf(f, 0) {
		return a.fail()
	}
	back, ok := strictjson.ParseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	if !ok || back.Cmp(v.Decimal()) != 0 {
		return a.fail()
	}
	return types.Double(f)
}

func (a *arena) list(v strictjson.Value, elem *Shape) *list {
	key := cell{v, elem}
	if l, ok := a.lists[key]; ok {
		return l
	}
	elems := a.elements(v)
	l := &list{arena: a, json: v, size: len(elems), at: func(i int) ref.Val { return a.wrap(elems[i], elem) }}
	a.lists[key] = l
	return l
}

// elements finds every element of an array in constant time after the first look.
func (a *arena) elements(v strictjson.Value) []strictjson.Value {
	elems, ok := a.elems[v]
	if !ok {
		elems = make([]strictjson.Value, 0, v.Len())
		for _, e := range v.Elements() {
			elems = append(elems, e)
		}
		a.elems[v] = elems
	}
	return elems
}

// smallObject is the size up to which members are looked for one by one.
const smallObject = 12

// member finds a member in constant time after the first look at a large object.
func (a *arena) member(v strictjson.Value, name string) strictjson.Value {
	if v.Len() <= smallObject {
		return v.Member(name)
	}
	index, ok := a.indexes[v]
	if !ok {
		index = make(map[string]strictjson.Value, v.Len())
		for n, m := range v.Members() {
			index[n] = m
		}
		a.indexes[v] = index
	}
	if len(name) > maxNameBytes {
		return strictjson.Value{} // not even hashed: no name is that long
	}
	return index[name]
}

// maxNameBytes is more than the longest member name that the reader lets pass
// (256 code points).
const maxNameBytes = 1024

// nodeWeight is what one value counts beside the bytes of its text; the cost model
// takes a tenth of it, so that one value costs one unit.
const nodeWeight = 10

// weight is the size of a JSON value for the cost model, computed once.
func (a *arena) weight(v strictjson.Value) uint32 {
	if w, ok := a.weights[v]; ok {
		return w
	}
	w := weigh(v)
	a.weights[v] = w
	return w
}

func weigh(v strictjson.Value) uint32 {
	w := uint32(nodeWeight + len(v.Text()))
	for _, e := range v.Elements() {
		w += weigh(e)
	}
	for name, m := range v.Members() {
		w += uint32(len(name)) + weigh(m)
	}
	return w
}
