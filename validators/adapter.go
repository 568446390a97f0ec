package validators

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/projection"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// SignalUnnamed is the signal under which a verdict counts the members of a vendor's
// reply that the vendor's schema does not name, and that its adapter drops (D8).
const SignalUnnamed = "unnamed_members"

// adapter is a contract's adapter, compiled.
type adapter struct {
	vendor  *schema.Schema
	fields  *projection.Adapter
	refuses bool // unnamed members are refused, not dropped
}

// compileAdapter compiles a contract's adapter; a contract without one gives nil.
func compileAdapter(c *contract.Contract) (*adapter, contract.Faults) {
	spec := c.Result.Adapter
	if spec == nil {
		return nil, nil
	}
	a := &adapter{refuses: spec.Watch != contract.WatchDrop}
	vendor, fault := compileSchema(c, spec.Schema)
	if fault != nil {
		return nil, contract.Faults{*fault}
	}
	if vendor == nil {
		return nil, contract.Faults{{File: path.Join(c.Dir, "contract.yaml"), Message: "the adapter has no schema"}}
	}
	a.vendor = vendor
	payload := shapeOf(c.Result.Schema)
	fields := make([]projection.Field, len(spec.Fields))
	for i, f := range spec.Fields {
		fields[i] = projection.Field{Member: f.Member, Expr: f.Expr, Shape: payload.Member(f.Member)}
	}
	var arguments *contract.Schema
	if c.Arguments != nil {
		arguments = c.Arguments.Schema
	}
	made, wrong := projection.NewAdapter(fields,
		condition.Variable{Name: "upstream", Shape: shapeOf(spec.Schema)},
		condition.Variable{Name: "request", Shape: Request{}.Shape(shapeOf(arguments))})
	var faults contract.Faults
	for _, w := range wrong {
		f := spec.Fields[w.Field]
		faults = append(faults, contract.Fault{
			File: path.Join(c.Dir, "contract.yaml"), Line: f.Line, Column: f.Column,
			Message: fmt.Sprintf("adapter, field %q: %s", ShownName(f.Member), expressionFault(w.Err)),
		})
	}
	a.fields = made
	return a, faults
}

// expressionFault names the place inside the expression, where there is one.
func expressionFault(err error) string {
	var f *condition.Fault
	if errors.As(err, &f) && f.Line > 0 {
		return fmt.Sprintf("line %d, column %d of the expression: %s", f.Line, f.Column, f.Message)
	}
	return err.Error()
}

// shapeOf is what an expression may know of a value under a schema; nil: nothing.
func shapeOf(s *contract.Schema) *condition.Shape {
	if s == nil {
		return nil
	}
	return condition.ShapeOf(s.File, s.Roots)
}

// Shape is the shape of a request in expressions; arguments is that of its arguments,
// nil where nothing is known.
func (Request) Shape(arguments *condition.Shape) *condition.Shape {
	return condition.Record(map[string]*condition.Shape{
		"arguments":  arguments,
		"tool":       condition.Text(),
		"request_id": condition.Text(),
		"session_id": condition.Text(),
		"attempt":    condition.Int(),
		"issued_at":  condition.Time(),
	})
}

// Input is the request as expressions see it.
func (r Request) Input() condition.Input {
	return condition.Fields(map[string]condition.Input{
		"arguments":  condition.JSON(r.Arguments),
		"tool":       condition.String(r.Tool),
		"request_id": condition.String(r.RequestID),
		"session_id": condition.String(r.SessionID),
		"attempt":    condition.Integer(int64(r.Attempt)),
		"issued_at":  condition.Instant(r.IssuedAt),
	})
}

// adapt turns the vendor's reply inside f into the payload, and counts what nobody
// named among what f dropped. The rejections, where there are any, are final; of f then
// only that count goes on. A nil adapter changes nothing.
func (a *adapter) adapt(ctx context.Context, f frame, request Request, limits strictjson.Limits) (frame, []Rejection) {
	if a == nil {
		return f, nil
	}
	failures, err := a.vendor.Validate(ctx, f.payload)
	if err != nil {
		return f, []Rejection{vendorBudget(f.under)}
	}
	if len(failures) > 0 {
		refused := fromSchema(failures, f.under)
		for i := range refused {
			refused[i].Layer, refused[i].Reason = contract.LayerAdapter, contract.ReasonAdapter
			refused[i].Detail = fmt.Sprintf("the vendor's schema: %q refuses this place", refused[i].Keyword)
		}
		return f, refused
	}
	unnamed, total, err := a.vendor.Unnamed(ctx, f.payload, MaxRejections)
	if err != nil {
		return f, []Rejection{vendorBudget(f.under)}
	}
	if a.refuses && total > 0 {
		var refused []Rejection
		for _, at := range unnamed {
			refused = append(refused, adapterRejection(join(f.under, at), "the vendor's schema does not name this member"))
		}
		return f, refused
	}
	count(&f.dropped, SignalUnnamed, uint64(total))
	f.payload, err = a.fields.Adapt(ctx, map[string]condition.Input{
		"upstream": condition.JSON(f.payload), "request": request.Input(),
	}, limits)
	if err != nil {
		return f, []Rejection{adaptRejection(err)}
	}
	f.under = nil
	return f, nil
}

func vendorBudget(at strictjson.Pointer) Rejection {
	return Rejection{
		Layer: contract.LayerAdapter, Reason: contract.ReasonEvaluationBudget,
		At: shownPointer(at), Detail: "judging this value by the vendor's schema takes too long",
	}
}

func adapterRejection(at strictjson.Pointer, detail string) Rejection {
	return Rejection{Layer: contract.LayerAdapter, Reason: contract.ReasonAdapter, At: shownPointer(at), Detail: detail}
}

// adaptRejection turns the refusal of a field, at its place in the new object, into a
// rejection.
func adaptRejection(err error) Rejection {
	var at strictjson.Pointer
	var failed *projection.AdaptError
	if errors.As(err, &failed) {
		at = failed.At
	}
	detail := "the new object could not be made"
	var expression *condition.Error
	var limit *strictjson.Error
	switch {
	case errors.As(err, &expression):
		detail = expression.Error()
	case errors.As(err, &limit):
		detail = fmt.Sprintf("the new object breaks a limit: %s (%s)", limit.Reason, limit.Detail)
	}
	return adapterRejection(at, detail)
}
