package casetest

import (
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// reach notes which promises of a contract its cases look at.
type reach struct {
	contract *contract.Contract
	checks   map[string]bool
	codes    map[contract.FailureCode]bool
	fields   map[int]bool // indexes of agent fields
}

func newReach(c *contract.Contract) *reach {
	return &reach{
		contract: c,
		checks:   map[string]bool{},
		codes:    map[contract.FailureCode]bool{},
		fields:   map[int]bool{},
	}
}

func (r *reach) note(o gate.Outcome) {
	if f := o.Result.Failure; f != nil {
		r.codes[f.Code] = true
		r.checks[o.Verdict.Rejections[0].Check] = true
		return
	}
	if o.Result.Data == nil {
		return // a text has no fields
	}
	for _, i := range r.contract.FieldsIn([]byte(o.Result.Data.JSON)) {
		r.fields[i] = true
	}
}

// missing names what no case reached, in the order of the contract.
func (r *reach) missing() []Unreached {
	var out []Unreached
	add := func(kind, name string) {
		out = append(out, Unreached{r.contract.Tool, r.contract.Version, kind, name})
	}
	for _, check := range r.contract.Result.Checks {
		if !r.checks[check.Name] {
			add("check", check.Name)
		}
	}
	for _, code := range r.contract.ReportableCodes() {
		if !r.codes[code] {
			add("failure code", string(code))
		}
	}
	for i, field := range r.contract.Result.AgentFields {
		if !r.fields[i] {
			add("agent field", field.String())
		}
	}
	return out
}
