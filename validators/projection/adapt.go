package projection

import (
	"context"

	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Field makes one member of the object that an [Adapter] makes.
type Field struct {
	Member string
	Expr   string           // CEL over the adapter's variables
	Shape  *condition.Shape // what the payload's schema says of the member; nil: nothing
}

// Adapter makes one object out of a vendor's reply: its members are what the fields
// compute, and nothing else of the reply goes on (A10). It is immutable and safe for
// concurrent use.
type Adapter struct {
	formulas *condition.Formulas
	fields   []formulaField
}

type formulaField struct {
	member  string
	formula *condition.Formula
}

// FieldFault says which field does not compile, and why.
type FieldFault struct {
	Field int   // its index
	Err   error // a [*condition.Fault]
}

// NewAdapter compiles the fields, whose names are distinct. All that do not compile are
// answered at once, and then there is no adapter.
func NewAdapter(fields []Field, variables ...condition.Variable) (*Adapter, []FieldFault) {
	formulas, err := condition.NewFormulas(variables...)
	if err != nil {
		return nil, []FieldFault{{0, err}}
	}
	a := &Adapter{formulas: formulas}
	var faults []FieldFault
	for i, f := range fields {
		formula, err := formulas.Compile(f.Expr, f.Shape)
		if err != nil {
			faults = append(faults, FieldFault{i, err})
			continue
		}
		a.fields = append(a.fields, formulaField{f.Member, formula})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return a, nil
}

// AdaptError says that no object could be made. It holds no value of the reply.
type AdaptError struct {
	// At points into the new object: to the member that could not be made, or to what
	// broke a limit.
	At strictjson.Pointer
	// Err is a [*condition.Error], or a [*strictjson.Error] where the new object is
	// beyond the limits.
	Err error
}

// Error returns the cause's sentence, without the place, whose names may be the reply's.
func (e *AdaptError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AdaptError) Unwrap() error { return e.Err }

// Adapt makes the object: members in the order of the fields, those left out that gave
// optional.none(). It is read again under limits, so that what stands behind it finds a
// value like any other. The error is an [*AdaptError].
//
// Cost and size are bounded whatever the inputs: the fields together have one
// [condition.MaxCost] and one [condition.MaxTime].
func (a *Adapter) Adapt(ctx context.Context, inputs map[string]condition.Input, limits strictjson.Limits) (strictjson.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, condition.MaxTime)
	defer cancel()
	binding := a.formulas.Bind(inputs)
	out := []byte{'{'}
	for _, f := range a.fields {
		before := len(out)
		if before > 1 {
			out = append(out, ',')
		}
		out = append(strictjson.AppendString(out, f.member), ':')
		written, present, err := f.formula.Append(ctx, out, limits.MaxBytes, binding)
		if err != nil {
			return strictjson.Value{}, &AdaptError{strictjson.Pointer{f.member}, err}
		}
		if !present {
			out = out[:before]
			continue
		}
		out = written
	}
	v, err := strictjson.Parse(append(out, '}'), limits)
	if err != nil {
		return strictjson.Value{}, beyondLimits(err)
	}
	return v, nil
}

func beyondLimits(err error) *AdaptError {
	e := &AdaptError{Err: err}
	if refused, is := err.(*strictjson.Error); is { //nolint:errorlint // Parse returns it unwrapped
		e.At, _ = strictjson.ParsePointer(refused.Pointer)
	}
	return e
}
