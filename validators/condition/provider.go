package condition

import (
	"strconv"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// provider tells CEL which object types there are and how their members are read. It is
// immutable once the variables are declared.
type provider struct {
	idents types.Provider // int, string and the like
	names  map[*Shape]string
	shapes map[string]*Shape
}

func newProvider(idents types.Provider) *provider {
	return &provider{idents: idents, names: map[*Shape]string{}, shapes: map[string]*Shape{}}
}

func objectType(name string) *types.Type {
	return types.NewObjectType(name, traits.FieldTesterType|traits.IndexerType)
}

// declare returns the CEL type of a shape and names every object type in it by the place
// where it was first met: "result/runs/*". No expression can write such a name, so no
// expression can make an object.
func (p *provider) declare(s *Shape, place string) *types.Type {
	s = s.known()
	switch s.kind {
	case kindNull:
		return cel.NullType
	case kindBool:
		return cel.BoolType
	case kindInt:
		return cel.IntType
	case kindDouble:
		return cel.DoubleType
	case kindString:
		return cel.StringType
	case kindTime:
		return cel.TimestampType
	case kindList:
		return cel.ListType(p.declare(s.elem, place+"/*"))
	case kindMap:
		return cel.MapType(cel.StringType, p.declare(s.elem, place+"/*"))
	case kindObject:
		return p.object(s, place)
	}
	return cel.DynType
}

func (p *provider) object(s *Shape, place string) *types.Type {
	if name, ok := p.names[s]; ok {
		return objectType(name)
	}
	if place == "" || p.shapes[place] != nil {
		place += "#" + strconv.Itoa(len(p.names))
	}
	p.names[s] = place
	p.shapes[place] = s
	for name, member := range s.members {
		p.declare(member, place+strictjson.Pointer{name}.String())
	}
	return objectType(place)
}

// EnumValue finds nothing: there are no enums.
func (p *provider) EnumValue(string) ref.Val { return types.NewErrFromString("no such enum") }

// FindIdent finds the names of CEL's own types.
func (p *provider) FindIdent(name string) (ref.Val, bool) { return p.idents.FindIdent(name) }

// FindStructType finds a declared object type.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.shapes[name]; !ok {
		return nil, false
	}
	return types.NewTypeTypeWithParam(objectType(name)), true
}

// FindStructFieldNames lists the members of an object type.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	s, ok := p.shapes[name]
	if !ok {
		return nil, false
	}
	names := make([]string, 0, len(s.members))
	for n := range s.members {
		names = append(names, n)
	}
	return names, true
}

// FindStructFieldType says how a member is read.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	s, ok := p.shapes[name]
	if !ok {
		return nil, false
	}
	member, ok := s.members[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type:  p.fieldType(member),
		IsSet: func(target any) bool { o, ok := target.(*object); return ok && o.has(field) },
		GetFrom: func(target any) (any, error) {
			o, ok := target.(*object)
			if !ok {
				return nil, errNoMember
			}
			v, ok := o.lookup(field)
			if !ok {
				return nil, errNoMember
			}
			if e, bad := v.(*types.Err); bad {
				return nil, e
			}
			return v, nil
		},
	}, true
}

// fieldType is the CEL type of a shape that was declared before: it adds no names.
func (p *provider) fieldType(s *Shape) *types.Type {
	s = s.known()
	switch s.kind {
	case kindList:
		return cel.ListType(p.fieldType(s.elem))
	case kindMap:
		return cel.MapType(cel.StringType, p.fieldType(s.elem))
	case kindObject:
		return objectType(p.names[s])
	}
	return p.declare(s, "")
}

// NewValue makes nothing: expressions cannot construct objects.
func (p *provider) NewValue(string, map[string]ref.Val) ref.Val {
	return types.NewErrFromString("no such type")
}
