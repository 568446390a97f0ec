package condition

import (
	"errors"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// errNative answers a conversion into Go types, which nothing here asks for.
var errNative = errors.New("condition: not convertible")

// errNoMember answers a read of a member that the value does not have.
var errNoMember = errors.New("condition: no such member")

// container is a CEL value over a JSON array or object.
type container interface{ source() strictjson.Value }

// equalJSON compares two JSON containers by the rules of JSON; ok is false where one of
// them is not a view of JSON.
func equalJSON(a, b any) (equal, ok bool) {
	x, okX := a.(container)
	y, okY := b.(container)
	if !okX || !okY || !x.source().Exists() || !y.source().Exists() {
		return false, false
	}
	return strictjson.Equal(x.source(), y.source()), true
}

// convert answers type(x) and conversions to the value's own type.
func convert(v ref.Val, to ref.Type) ref.Val {
	switch {
	case to == types.TypeType:
		return v.Type().(ref.Val)
	case to.TypeName() == v.Type().TypeName():
		return v
	}
	return types.NewErrFromString("no such conversion")
}

// list is a JSON array, a list of inputs, or two lists joined.
type list struct {
	arena *arena
	json  strictjson.Value // absent where the list is no JSON array
	size  int
	at    func(i int) ref.Val // i is within size
}

func (l *list) source() strictjson.Value                  { return l.json }
func (l *list) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }
func (l *list) ConvertToType(to ref.Type) ref.Val         { return convert(l, to) }
func (l *list) Type() ref.Type                            { return types.ListType }
func (l *list) Value() any                                { return l }
func (l *list) Size() ref.Val                             { return types.Int(l.size) }

// Get returns the element at a zero-based index.
func (l *list) Get(index ref.Val) ref.Val {
	i, err := types.GetOrError(index)
	if err != nil || i < 0 || i >= l.size {
		return types.NewErrFromString("no such index")
	}
	return l.at(i)
}

// Contains answers in. An element that cannot be represented fails the evaluation.
func (l *list) Contains(v ref.Val) ref.Val {
	for i := range l.size {
		if types.Equal(l.at(i), v) == types.True {
			return types.True
		}
	}
	return types.False
}

// Equal compares with any CEL list.
func (l *list) Equal(other ref.Val) ref.Val {
	if equal, ok := equalJSON(l, other); ok {
		return types.Bool(equal)
	}
	o, ok := other.(traits.Lister)
	if !ok || o.Size() != l.Size() {
		return types.False
	}
	for i := range l.size {
		if types.Equal(l.at(i), o.Get(types.Int(i))) != types.True {
			return types.False
		}
	}
	return types.True
}

// Add joins two lists without copying their elements.
func (l *list) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	more, ok := o.Size().(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return &list{arena: l.arena, size: l.size + int(more), at: func(i int) ref.Val {
		if i < l.size {
			return l.at(i)
		}
		return o.Get(types.Int(i - l.size))
	}}
}

// Iterator yields the elements in order.
func (l *list) Iterator() traits.Iterator { return &iterator{size: l.size, at: l.at} }

// AggregateSize is the size that the cost model counts.
func (l *list) AggregateSize(sizer types.AggregateSizer) uint32 {
	if l.json.Exists() {
		return l.arena.weight(l.json)
	}
	total := uint32(nodeWeight)
	for i := range l.size {
		total += sizer.AggregateSize(l.at(i))
	}
	return total
}

// mapping is a JSON object whose members no schema names.
type mapping struct {
	arena *arena
	elem  *Shape
	json  strictjson.Value
}

func (m *mapping) source() strictjson.Value                  { return m.json }
func (m *mapping) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }
func (m *mapping) ConvertToType(to ref.Type) ref.Val         { return convert(m, to) }
func (m *mapping) Type() ref.Type                            { return types.MapType }
func (m *mapping) Value() any                                { return m }
func (m *mapping) Size() ref.Val                             { return types.Int(m.json.Len()) }

// Find returns the member with this name.
func (m *mapping) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	v := m.arena.member(m.json, string(name))
	if !v.Exists() {
		return nil, false
	}
	return m.arena.wrap(v, m.elem), true
}

// Get is Find with an error for an absent member.
func (m *mapping) Get(key ref.Val) ref.Val {
	if v, ok := m.Find(key); ok {
		return v
	}
	return types.NewErrFromString("no such member")
}

// Contains answers in.
func (m *mapping) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	return types.Bool(ok && m.arena.member(m.json, string(name)).Exists())
}

// Equal compares with any CEL map.
func (m *mapping) Equal(other ref.Val) ref.Val {
	if equal, ok := equalJSON(m, other); ok {
		return types.Bool(equal)
	}
	o, ok := other.(traits.Mapper)
	if !ok || o.Size() != m.Size() {
		return types.False
	}
	for name, v := range m.json.Members() {
		mine := m.arena.wrap(v, m.elem)
		theirs, ok := o.Find(types.String(name))
		if !ok || types.Equal(mine, theirs) != types.True {
			return types.False
		}
	}
	return types.True
}

// Iterator yields the names in the order of the input.
func (m *mapping) Iterator() traits.Iterator {
	names := make([]types.String, 0, m.json.Len())
	for name := range m.json.Members() {
		names = append(names, types.String(name))
	}
	return &iterator{size: len(names), at: func(i int) ref.Val { return names[i] }}
}

// AggregateSize is the size that the cost model counts.
func (m *mapping) AggregateSize(types.AggregateSizer) uint32 { return m.arena.weight(m.json) }

// object is a JSON object, or a record of inputs, whose members are named at load.
type object struct {
	arena  *arena
	shape  *Shape
	json   strictjson.Value
	fields map[string]Input
}

func (o *object) source() strictjson.Value                  { return o.json }
func (o *object) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }
func (o *object) ConvertToType(to ref.Type) ref.Val         { return convert(o, to) }
func (o *object) Type() ref.Type                            { return objectType(o.arena.names[o.shape]) }
func (o *object) Value() any                                { return o }

// lookup returns a member; ok is false where it is absent or not named by the shape.
func (o *object) lookup(name string) (v ref.Val, ok bool) {
	shape, named := o.shape.members[name]
	if !named {
		return nil, false
	}
	if o.fields != nil {
		in := o.fields[name]
		if in.kind == inputAbsent {
			return nil, false
		}
		return o.arena.value(in, shape), true
	}
	member := o.arena.member(o.json, name)
	if !member.Exists() {
		return nil, false
	}
	return o.arena.wrap(member, shape), true
}

// has reports presence without looking at the value.
func (o *object) has(name string) bool {
	if _, named := o.shape.members[name]; !named {
		return false
	}
	if o.fields != nil {
		return o.fields[name].kind != inputAbsent
	}
	return o.arena.member(o.json, name).Exists()
}

// Get returns a member of an object whose type was lost on the way (dyn).
func (o *object) Get(index ref.Val) ref.Val {
	name, ok := index.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(index)
	}
	if v, ok := o.lookup(string(name)); ok {
		return v
	}
	return types.NewErrFromString("no such member")
}

// IsSet answers has() where the type was lost on the way.
func (o *object) IsSet(field ref.Val) ref.Val {
	name, ok := field.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(field)
	}
	return types.Bool(o.has(string(name)))
}

// Equal compares with any other view of a JSON object. Records equal nothing: no
// comparison of them means anything.
func (o *object) Equal(other ref.Val) ref.Val {
	equal, ok := equalJSON(o, other)
	return types.Bool(ok && equal)
}

// AggregateSize is the size that the cost model counts.
func (o *object) AggregateSize(sizer types.AggregateSizer) uint32 {
	if o.json.Exists() {
		return o.arena.weight(o.json)
	}
	total := uint32(nodeWeight)
	for name := range o.fields {
		if v, ok := o.lookup(name); ok {
			total += sizer.AggregateSize(v)
		}
	}
	return total
}

// iterator walks by index.
type iterator struct {
	next, size int
	at         func(int) ref.Val
}

func (it *iterator) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }
func (it *iterator) ConvertToType(ref.Type) ref.Val {
	return types.NewErrFromString("no such conversion")
}
func (it *iterator) Equal(ref.Val) ref.Val { return types.False }
func (it *iterator) Type() ref.Type        { return types.IteratorType }
func (it *iterator) Value() any            { return it }
func (it *iterator) HasNext() ref.Val      { return types.Bool(it.next < it.size) }

// Next returns the element after the last one that was returned.
func (it *iterator) Next() ref.Val {
	if it.next >= it.size {
		return types.NewErrFromString("no further element")
	}
	it.next++
	return it.at(it.next - 1)
}
