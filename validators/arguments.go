package validators

import (
	"context"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// MaxArgumentBytes bounds the arguments of a call, as the API bounds those of an
// outstanding request: what was allowed can be judged afterwards.
const MaxArgumentBytes = 1 << 20

// argumentLimits are the service's limits; results have those of their contract.
func argumentLimits() strictjson.Limits {
	l := strictjson.Ceilings()
	l.MaxBytes = MaxArgumentBytes
	return l
}

// ReadArguments judges the arguments of a call that is proposed: limits, strict syntax,
// the contract's schema with strict formats. Nothing is cleaned or coerced. The value is
// an object, and absent where there are rejections, the first of which counts. It keeps
// raw, which the caller must not change. When ctx ends, so does judging, with a refusal.
func (t *Tool) ReadArguments(ctx context.Context, raw []byte) (strictjson.Value, []Rejection) {
	v, refused := jsonReader{}.Read(raw, argumentLimits())
	if refused != nil {
		return strictjson.Value{}, []Rejection{*refused}
	}
	if v.Kind() != strictjson.Object {
		return strictjson.Value{}, []Rejection{{
			Layer: contract.LayerSchema, Reason: contract.ReasonSchema, Keyword: "type",
			Detail: "arguments are one JSON object",
		}}
	}
	if t.arguments == nil {
		return v, nil
	}
	failures, err := t.arguments.Validate(ctx, v)
	if err != nil {
		return strictjson.Value{}, []Rejection{{
			Layer: contract.LayerSchema, Reason: contract.ReasonEvaluationBudget,
			Detail: "judging these arguments by their schema takes too long",
		}}
	}
	if len(failures) > 0 {
		return strictjson.Value{}, fromSchema(failures, nil)
	}
	return v, nil
}

// KnownArgument returns the longest beginning of a pointer into the arguments that the
// contract's schema knows: a name that it does not have is the model's own word.
func (t *Tool) KnownArgument(at string) string {
	p, err := strictjson.ParsePointer(at)
	if err != nil || t.Contract.Arguments == nil {
		return ""
	}
	for len(p) > 0 && !t.argumentShape.Allows(p) {
		p = p[:len(p)-1]
	}
	return p.String()
}

// ArgumentShapes returns the shape of every current tool's arguments under each of its
// names; nil where nothing is known of them. The caller must not change the map.
func (s *Set) ArgumentShapes() map[string]*condition.Shape { return s.shapes }

// describe fills in what ArgumentShapes returns, once every tool is there.
func (s *Set) describe() {
	s.shapes = make(map[string]*condition.Shape, len(s.byName))
	for name, of := range s.byName {
		if t := of.live[of.current]; t != nil {
			s.shapes[name] = t.argumentShape
		}
	}
}

// FactShape is the shape of what an agent gets of a result of a tool's current version,
// and so of a receipt's facts; nil where there is no such tool or where the contract says
// too little, as for texts.
func (s *Set) FactShape(tool string) *condition.Shape {
	t, _ := s.Lookup(tool, 0)
	if t == nil || t.Contract.Result.Text != nil {
		return nil
	}
	text, err := t.Contract.AgentSchema()
	if err != nil {
		return nil
	}
	v, err := strictjson.Parse(text, strictjson.Ceilings())
	if err != nil {
		return nil
	}
	const file = "agent"
	return condition.ShapeOf(file, map[string]strictjson.Value{file: v})
}
