package semantic

import (
	"context"
	"errors"
	"fmt"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/condition"
)

// cel is a condition that the contract's author wrote.
type cel struct{ program *condition.Program }

func compileCEL(c validators.CheckContext) (validators.Check, error) {
	p := read(c.With)
	expr := p.text("expr")
	if err := p.done(); err != nil {
		return nil, err
	}
	program, err := condition.Compile(expr, celVariables(c)...)
	if err != nil {
		message := err.Error()
		var fault *condition.Fault
		if errors.As(err, &fault) && fault.Line > 0 {
			message = fmt.Sprintf("line %d, column %d of the expression: %s", fault.Line, fault.Column, fault.Message)
		}
		return nil, &validators.ParameterError{
			Parameter: "expr", Message: message,
			Cure: "write a condition over result, request, evidence and now",
		}
	}
	return cel{program}, nil
}

func celVariables(c validators.CheckContext) []condition.Variable {
	return []condition.Variable{
		{Name: "result", Shape: c.Result},
		{Name: "request", Shape: validators.Request{}.Shape(c.Arguments)},
		{Name: "evidence", Shape: condition.List(condition.Record(map[string]*condition.Shape{
			"tool":        condition.Text(),
			"version":     condition.Int(),
			"data":        nil,
			"observed_at": condition.Time(),
		}))},
		{Name: "now", Shape: condition.Time()},
	}
}

// Check implements [validators.Check]: anything but true refuses.
func (c cel) Check(f validators.Facts) *validators.CheckFailure {
	evidence := make([]condition.Input, len(f.Evidence))
	for i, e := range f.Evidence {
		evidence[i] = condition.Fields(map[string]condition.Input{
			"tool":        condition.String(e.Tool),
			"version":     condition.Integer(int64(e.Version)),
			"data":        condition.JSON(e.Data),
			"observed_at": condition.Instant(e.ObservedAt),
		})
	}
	ok, err := c.program.Test(context.Background(), map[string]condition.Input{
		"result":   condition.JSON(f.Result),
		"request":  f.Request.Input(),
		"evidence": condition.Items(evidence),
		"now":      condition.Instant(f.Now),
	})
	switch {
	case err != nil:
		return refuse(contract.ReasonCheck, nil, err.Error())
	case !ok || !f.Result.Exists():
		return refuse(contract.ReasonCheck, nil, "the condition does not hold")
	}
	return nil
}
