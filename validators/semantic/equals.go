package semantic

import (
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// equals binds a member of the payload to the request, or to a constant.
type equals struct {
	result    strictjson.Pointer
	argument  strictjson.Pointer // used where constant is absent
	constant  strictjson.Value
	whenGiven bool
}

func compileEquals(c validators.CheckContext) (validators.Check, error) {
	p := read(c.With)
	e := equals{result: p.pointer("result", c.Result)}
	if p.oneOf("argument", "constant") == "argument" {
		e.argument = p.pointer("argument", c.Arguments)
		if p.has("when_given") {
			e.whenGiven = p.typed("when_given", strictjson.Bool).IsTrue()
		}
	} else {
		e.constant = p.get("constant")
	}
	if p.known = append(p.known, "when_given"); e.constant.Exists() && p.has("when_given") {
		p.fail("when_given", "the parameter belongs to argument", "remove it: a constant is always given")
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	return e, nil
}

// Check implements [validators.Check].
func (e equals) Check(f validators.Facts) *validators.CheckFailure {
	want := e.constant
	if !want.Exists() {
		want = f.Request.Arguments.At(e.argument)
		if e.whenGiven && !want.Exists() && f.Result.Exists() {
			return nil
		}
	}
	got := f.Result.At(e.result)
	switch {
	case !got.Exists():
		return refuse(contract.ReasonBinding, e.result, "the result lacks the member that binds it")
	case !want.Exists():
		return refuse(contract.ReasonBinding, e.result, "the request lacks the argument that the result is bound to")
	case got.Kind() != want.Kind():
		return refuse(contract.ReasonBinding, e.result, "the member is of another type than what it must equal")
	case !strictjson.Equal(got, want):
		return refuse(contract.ReasonBinding, e.result, "the member is not what it must equal")
	}
	return nil
}
