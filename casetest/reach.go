package casetest

import (
	"fmt"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// reach notes which promises of a contract its cases look at.
type reach struct {
	contract *contract.Contract
	checks   map[int]bool // places from 1, as in validators.Rejection.CheckIndex
	codes    map[contract.FailureCode]bool
	fields   map[int]bool // indexes of agent fields
}

func newReach(c *contract.Contract) *reach {
	return &reach{
		contract: c,
		checks:   map[int]bool{},
		codes:    map[contract.FailureCode]bool{},
		fields:   map[int]bool{},
	}
}

func (r *reach) note(o gate.Outcome) {
	if f := o.Result.Failure; f != nil {
		r.codes[f.Code] = true
		r.checks[o.Verdict.Rejections[0].CheckIndex] = true
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
	for i := range r.contract.Result.Checks {
		if !r.checks[i+1] {
			add("check", r.checkName(i))
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

// checkName names one check: by its name, and where several have it also by its place.
func (r *reach) checkName(i int) string {
	checks := r.contract.Result.Checks
	for j, other := range checks {
		if j != i && other.Name == checks[i].Name {
			return fmt.Sprintf("%s (contract.yaml:%d:%d)", other.Name, checks[i].Line, checks[i].Column)
		}
	}
	return checks[i].Name
}
