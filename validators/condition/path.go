package condition

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// route is an expression that only says where something stands in an input.
type route struct {
	variable string
	steps    []step
}

// A step goes to a member, or to an element where name is "" and index counts.
type step struct {
	name     string
	index    int64
	element  bool
	optional bool // an absent value makes the whole absent, and so for every later step
}

// pathOf returns the path that e is, where it is nothing else.
func (f *Formulas) pathOf(e ast.Expr) (*route, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		for _, v := range f.variables {
			if v.Name == e.AsIdent() {
				return &route{variable: v.Name}, true
			}
		}
	case ast.SelectKind:
		s := e.AsSelect()
		if s.IsTestOnly() {
			return nil, false
		}
		if p, ok := f.pathOf(s.Operand()); ok {
			return p.and(step{name: s.FieldName()}), true
		}
	case ast.CallKind:
		return f.pathOfCall(e.AsCall())
	}
	return nil, false
}

func (f *Formulas) pathOfCall(call ast.CallExpr) (*route, bool) {
	args := call.Args()
	if len(args) != 2 || args[1].Kind() != ast.LiteralKind {
		return nil, false
	}
	next := step{}
	switch call.FunctionName() {
	case operators.Index:
	case operators.OptIndex, operators.OptSelect:
		next.optional = true
	default:
		return nil, false
	}
	switch token := args[1].AsLiteral().(type) {
	case types.String:
		next.name = string(token)
	case types.Int:
		next.index, next.element = int64(token), true
	default:
		return nil, false
	}
	p, ok := f.pathOf(args[0])
	if !ok {
		return nil, false
	}
	return p.and(next), true
}

func (p *route) and(s step) *route {
	if len(p.steps) > 0 && p.steps[len(p.steps)-1].optional {
		s.optional = true
	}
	p.steps = append(p.steps, s)
	return p
}

// append copies what stands at the path.
func (p *route) append(dst []byte, limit int, b *Binding) (out []byte, present bool, err error) {
	at := b.inputs[p.variable]
	if at.kind == inputAbsent {
		return dst, false, &Error{Failed}
	}
	for _, s := range p.steps {
		next, ok := b.arena.step(at, s)
		switch {
		case !ok, next.kind == inputAbsent && !s.optional:
			return dst, false, &Error{Failed}
		case next.kind == inputAbsent:
			return dst, false, nil
		}
		at = next
	}
	w := writer{arena: b.arena, dst: dst, limit: limit}
	switch at.kind {
	case inputJSON:
		w.copy(at.json)
	case inputText:
		w.text(at.text)
	case inputInt:
		w.value(types.Int(at.number), 0)
	default: // a record of inputs, an instant
		w.cause = Unwritable
	}
	if w.cause != 0 {
		return dst, false, &Error{w.cause}
	}
	return w.dst, true, nil
}

// step goes down once; the Input is absent where nothing stands there, and ok is false
// where nothing could.
func (a *arena) step(at Input, s step) (next Input, ok bool) {
	switch {
	case at.kind == inputFields && !s.element:
		return at.fields[s.name], true
	case at.kind == inputItems && s.element:
		if s.index < 0 || s.index >= int64(len(at.items)) {
			return Input{}, true
		}
		return at.items[s.index], true
	case at.kind == inputJSON && at.json.Kind() == strictjson.Object && !s.element:
		return JSON(a.member(at.json, s.name)), true
	case at.kind == inputJSON && at.json.Kind() == strictjson.Array && s.element:
		elems := a.elements(at.json)
		if s.index < 0 || s.index >= int64(len(elems)) {
			return Input{}, true
		}
		return JSON(elems[s.index]), true
	}
	return Input{}, false
}
