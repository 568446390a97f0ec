package semantic

import (
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// after puts one date-time strictly later than another: two equal instants have no
// order.
type after struct {
	field    strictjson.Pointer
	than     strictjson.Pointer
	argument bool // than points into the arguments
}

func compileAfter(c validators.CheckContext) (validators.Check, error) {
	p := read(c.With)
	a := after{field: p.pointer("field", c.Result)}
	than := p.sub("than")
	if a.argument = than.oneOf("field", "argument") == "argument"; a.argument {
		a.than = than.pointer("argument", c.Arguments)
	} else {
		a.than = than.pointer("field", c.Result)
	}
	p.join(than)
	if err := p.done(); err != nil {
		return nil, err
	}
	return a, nil
}

// Check implements [validators.Check].
func (a after) Check(f validators.Facts) *validators.CheckFailure {
	at, problem := instant(f.Result.At(a.field))
	if problem != "" {
		return refuse(contract.ReasonCheck, a.field, problem)
	}
	other := f.Result
	if a.argument {
		other = f.Request.Arguments
	}
	than, problem := instant(other.At(a.than))
	switch {
	case problem != "":
		return refuse(contract.ReasonCheck, a.field, "what it must be later than cannot be compared: "+problem)
	case !at.After(than):
		return refuse(contract.ReasonCheck, a.field, "the date-time is not later than it must be")
	}
	return nil
}
