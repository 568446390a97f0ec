package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// CompileEvidence compiles a condition of an [EvidenceRule] over the variable evidence,
// the data that was validated; shape is what its contract's schema says about it, nil
// where that is not known. The error is a [*condition.Fault].
func CompileEvidence(expr string, shape *condition.Shape) (*condition.Program, error) {
	return condition.Compile(expr, condition.Variable{Name: "evidence", Shape: shape})
}

// require looks for evidence that a rule asks for; policy is whose rule it is, "" the
// contract's.
func (d *decider) require(rule *EvidenceRule, policy string) {
	var best *Evidence
	var about, other []Code // why evidence about this call, and about others, does not do
	for i := range d.r.Evidence {
		e := &d.r.Evidence[i]
		if e.Tool != rule.Tool {
			continue
		}
		if code := d.foreign(rule, e); code != "" {
			other = append(other, code)
			continue
		}
		if code := d.unfit(rule, e); code != "" {
			about = append(about, code)
			continue
		}
		if best == nil || compareEvidence(e, best) < 0 {
			best = e
		}
	}
	if best != nil {
		d.use(rule, best)
		return
	}
	codes := about
	if len(codes) == 0 {
		codes = other
	}
	if len(codes) == 0 {
		codes = append(codes, EvidenceMissing)
		if d.r.EvidenceRefused {
			codes[0] = EvidenceInvalid
		}
	}
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		d.refuse(Reason{Code: code, RequiredTool: rule.Tool, Policy: policy})
	}
}

// use notes that a decision rests on evidence.
func (d *decider) use(rule *EvidenceRule, e *Evidence) {
	if !slices.Contains(d.out.Evidence, e.ID) {
		d.out.Evidence = append(d.out.Evidence, e.ID)
	}
	if !rule.Reusable && !d.r.Tool.ReadOnly && !slices.Contains(d.out.Consumed, e.ID) {
		d.out.Consumed = append(d.out.Consumed, e.ID)
	}
}

// foreign returns why evidence cannot be about this call, or "".
func (d *decider) foreign(rule *EvidenceRule, e *Evidence) Code {
	if e.ID == "" || !e.Current && !slices.Contains(rule.Versions, e.Version) ||
		len(rule.From) > 0 && !slices.Contains(rule.From, e.Caller) {
		return EvidenceInvalid
	}
	if len(rule.Match) == 0 {
		return EvidenceMismatch
	}
	for _, m := range rule.Match {
		if !matches(m, e, d.r.Arguments) {
			return EvidenceMismatch
		}
	}
	return ""
}

// matches asks that a value is found in the evidence and agrees wherever it is found:
// evidence that contradicts itself is about nothing.
func matches(m Match, e *Evidence, arguments strictjson.Value) bool {
	want := arguments.At(m.Argument)
	data, argument := e.Data.At(m.Evidence), e.Arguments.At(m.Evidence)
	if !want.Exists() || !data.Exists() && !argument.Exists() {
		return false
	}
	return (!data.Exists() || strictjson.Equal(data, want)) &&
		(!argument.Exists() || strictjson.Equal(argument, want))
}

// unfit returns why evidence about this call does not do, or "".
func (d *decider) unfit(rule *EvidenceRule, e *Evidence) Code {
	if !e.Newest || !d.recent(rule, e) {
		return EvidenceStale
	}
	if rule.When == nil {
		return ""
	}
	// The context carries nothing: there is nobody who could end this earlier than the
	// condition's own limits.
	ok, err := rule.When.Test(context.Background(), map[string]condition.Input{"evidence": condition.JSON(e.Data)})
	switch {
	case err != nil:
		return ConditionError
	case !ok:
		return EvidenceMismatch
	}
	return ""
}

// recent looks at both sides: an observation of tomorrow is no fresher than one of
// yesterday. Both ends are included.
func (d *decider) recent(rule *EvidenceRule, e *Evidence) bool {
	if d.r.Now.IsZero() {
		return false
	}
	if e.ObservedAt.IsZero() {
		return rule.MaxAge == 0
	}
	if e.ObservedAt.After(d.r.Now.Add(max(d.r.Skew, 0))) {
		return false
	}
	return rule.MaxAge == 0 || !e.ObservedAt.Before(d.r.Now.Add(-rule.MaxAge))
}

// compareEvidence puts the latest observation first.
func compareEvidence(a, b *Evidence) int {
	if c := b.ObservedAt.Compare(a.ObservedAt); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}
