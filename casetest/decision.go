package casetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// decided runs a case that asks for a decision about a call.
func decided(ctx context.Context, set *gate.Set, tool *gate.Tool, c contract.Case) []Fault {
	c.Now = now(c)
	if c.Call.RequestID == "" {
		named := *c.Call
		named.RequestID = madeUpID
		c.Call = &named
	}
	r, err := gate.DecideCase(ctx, set, tool, c, caller)
	if err != nil {
		return []Fault{{"policies", "ones that can be compiled", err.Error()}}
	}
	return compareDecision(c.Want, r)
}

// compareDecision holds a ruling against what the case wants. Reasons are a set: each
// code is wanted or it is not.
func compareDecision(want contract.Want, r gate.Ruling) []Fault {
	var c comparison
	got := r.Decision.Effect.String()
	c.member("decision", got == want.Decision, want.Decision, got)
	reasons := codes(r)
	if want.Reasons != nil {
		wanted := slices.Clone(want.Reasons)
		slices.Sort(wanted)
		c.member("reasons", slices.Equal(reasons, slices.Compact(wanted)), wanted, reasons)
	}
	if want.Failure != "" {
		c.member("failure", r.Failure == want.Failure, want.Failure, r.Failure)
	}
	var first policyReason
	if len(r.Decision.Reasons) > 0 {
		first = policyReason{r.Decision.Reasons[0].Argument, r.Decision.Reasons[0].Keyword}
	}
	if want.At != nil {
		c.member("at", first.argument == *want.At, quote(*want.At), quote(first.argument))
	}
	if want.Keyword != "" {
		c.member("keyword", first.keyword == want.Keyword, want.Keyword, quote(first.keyword))
	}
	if want.ArgumentsJSON != nil {
		c.member("arguments", r.ArgumentsJSON == *want.ArgumentsJSON, *want.ArgumentsJSON, r.ArgumentsJSON)
	}
	if want.Obligations != nil {
		var obligations []string
		for _, o := range r.Decision.Obligations {
			obligations = append(obligations, string(o))
		}
		c.member("obliged", slices.Equal(obligations, want.Obligations), want.Obligations, obligations)
	}
	if len(c) > 0 {
		for _, why := range r.Decision.Reasons {
			c = append(c, Fault{Member: "detail", Got: fmt.Sprintf("%+v", why)})
		}
		for _, j := range r.Rejections {
			c = append(c, Fault{Member: "detail", Got: fmt.Sprintf("%s %s at %s: %s %s", j.Layer, j.Reason, quote(j.At), j.Keyword, j.Detail)})
		}
	}
	return c
}

// policyReason is where the first reason of a ruling points.
type policyReason struct{ argument, keyword string }

// codes are the codes of a ruling's reasons, each once, sorted.
func codes(r gate.Ruling) []string {
	var out []string
	for _, reason := range r.Decision.Reasons {
		out = append(out, string(reason.Code))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
