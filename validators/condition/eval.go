package condition

import (
	"context"
	"errors"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// MaxTime is the second line behind [MaxCost]: an evaluation that takes longer is
// ended, on whatever machine it runs.
const MaxTime = 2 * time.Second

// Cause says why an evaluation has no answer.
type Cause uint8

// The causes. The zero value is none of them.
const (
	_           Cause = iota
	Failed            // an operation failed: an absent member, no such index, a bad timestamp, an overflow
	NotBool           // the outcome is no bool
	Unfaithful        // a value that its type cannot hold exactly
	CostLimit         // MaxCost
	Interrupted       // MaxTime, or the caller's context
	NoProgram         // a Program that Compile did not return, or inputs without all its variables
	Unwritable        // of a Formula: the outcome is nothing that JSON can hold
	TooLarge          // of a Formula: the outcome does not fit in the limit
)

// Error is an evaluation without an answer. It holds no part of any value.
type Error struct{ Cause Cause }

// Error returns a sentence of our own.
func (e *Error) Error() string {
	switch e.Cause {
	case Failed:
		return "the expression could not be evaluated on this data"
	case NotBool:
		return "the expression gave something other than true or false"
	case Unfaithful:
		return "the expression met a value that its declared type cannot hold exactly"
	case CostLimit:
		return "the expression costs more than is allowed on this data"
	case Interrupted:
		return "the expression was interrupted"
	case Unwritable:
		return "the expression gave something that JSON cannot hold"
	case TooLarge:
		return "the expression gave more than the limits allow"
	}
	return "the expression was not prepared"
}

// Test evaluates the condition over one input for every variable, by name; an absent
// Input is one that the expression fails on when it reads it. The error is an [*Error]
// and the answer then false, which no caller may take for one: every error refuses. ctx
// ends the evaluation early; it is not nil.
func (p *Program) Test(ctx context.Context, inputs map[string]Input) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	return p.test(ctx, inputs)
}

// test is Test without the clock.
func (p *Program) test(ctx context.Context, inputs map[string]Input) (bool, error) {
	if p == nil || p.program == nil || len(inputs) != len(p.variables) {
		return false, &Error{NoProgram}
	}
	a := newArena(p.names)
	vars := make(map[string]any, len(inputs))
	for _, v := range p.variables {
		in, ok := inputs[v.Name]
		if !ok {
			return false, &Error{NoProgram}
		}
		if in.kind != inputAbsent {
			vars[v.Name] = a.value(in, v.Shape)
		}
	}
	out, _, err := p.program.ContextEval(ctx, vars)
	if err != nil {
		return false, &Error{a.cause(ctx, err)}
	}
	if a.unfaithful {
		return false, &Error{Unfaithful}
	}
	answer, ok := out.(types.Bool)
	if !ok {
		return false, &Error{NotBool}
	}
	return bool(answer), nil
}

func (a *arena) cause(ctx context.Context, err error) Cause {
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded:
		return CostLimit
	case ctx.Err() != nil:
		return Interrupted
	case a.unfaithful:
		return Unfaithful
	}
	return Failed
}
