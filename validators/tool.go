package validators

import (
	"context"
	"errors"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/projection"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Tool is one version of one tool, compiled. It is immutable and safe for concurrent
// use.
type Tool struct {
	Contract *contract.Contract
	// Current is true for the version that serves requests naming none.
	Current bool

	read      Reader
	adapter   *adapter // nil: the payload is judged as it came
	payload   *schema.Schema
	arguments *schema.Schema // nil where the contract has none
	checks    []namedCheck
	plan      *projection.Plan
}

type namedCheck struct {
	name string
	Check
}

// jsonReader is the reader of every tool that has none of its own.
type jsonReader struct{}

func (jsonReader) Read(raw []byte, limits strictjson.Limits) (strictjson.Value, *Rejection) {
	v, err := strictjson.Parse(raw, limits)
	if err == nil {
		return v, nil
	}
	var refused *strictjson.Error
	if !errors.As(err, &refused) {
		refused = &strictjson.Error{Reason: strictjson.Syntax, Detail: "unreadable"}
	}
	r := fromReader(refused)
	return strictjson.Value{}, &r
}

// Judge judges one reply. f holds everything but the result itself, which Judge fills
// in. It keeps neither raw nor f. What it takes is bounded by the contract's limits
// and by the schema's budget; when ctx ends, so does judging, with a refusal.
func (t *Tool) Judge(ctx context.Context, raw []byte, f Facts) Verdict {
	value, refused := t.read.Read(raw, t.Contract.Result.Limits)
	if refused != nil {
		return Refuse(*refused)
	}
	framed, refusal := t.unframe(value, f.Request.RequestID)
	if refusal != nil {
		return *refusal
	}
	framed, dropped, unfit := t.adapter.adapt(ctx, framed, f.Request, t.Contract.Result.Limits)
	if unfit != nil {
		v := Refuse(unfit...)
		v.count(SignalDropped, uint64(dropped))
		return v
	}
	cleaned := t.plan.Clean(framed.payload)
	v := t.judgePayload(ctx, cleaned.Value, framed, f)
	v.Output.Truncated = cleaned.Truncated
	v.count(SignalDropped, uint64(dropped))
	for kind, n := range cleaned.Removed.All() {
		v.count("removed."+kind, uint64(n))
	}
	return v
}

// judgePayload judges the payload once its text is clean.
func (t *Tool) judgePayload(ctx context.Context, payload strictjson.Value, framed frame, f Facts) Verdict {
	if hidden := t.plan.Hidden(payload); hidden.Exists() {
		offset := hidden.Offset()
		if framed.adapted {
			offset = 0 // there are no such bytes
		}
		return Refuse(Rejection{
			Layer: contract.LayerSyntax, Reason: contract.ReasonCharacter,
			At:     shownPointer(hidden.Path()),
			Detail: "a machine value holds a character that a reader would not see",
			Offset: offset,
		})
	}
	failures, err := t.payload.Validate(ctx, payload)
	if err != nil {
		return Refuse(Rejection{
			Layer: contract.LayerSchema, Reason: contract.ReasonEvaluationBudget,
			At: shownPointer(framed.under), Detail: "judging this value by its schema takes too long",
		})
	}
	if len(failures) > 0 {
		return Refuse(fromSchema(failures, framed.under)...)
	}
	f.Result = payload
	if framed.otherRequest {
		return Refuse(otherRequest)
	}
	for _, c := range t.checks {
		if refused := c.Check.Check(f); refused != nil {
			return Refuse(fromCheck(c.name, refused, framed.under))
		}
	}
	return t.accept(payload, f)
}

// accept makes the new value.
func (t *Tool) accept(payload strictjson.Value, f Facts) Verdict {
	out, untrusted, ok := t.plan.Project(nil, payload)
	if !ok {
		return Refuse(Rejection{Layer: contract.LayerInternal, Detail: "the contract gives nothing of this value"})
	}
	v := Verdict{Accepted: true, Output: Output{JSON: out, UntrustedText: untrusted}}
	for _, c := range t.checks {
		if dated, is := c.Check.(Freshness); is {
			v.Output.date(dated, f)
		}
	}
	return v
}

// date notes a freshness window; of several the one that ends first counts.
func (o *Output) date(dated Freshness, f Facts) {
	observed, known := dated.ObservedAt(f)
	until, bounded := dated.FreshUntil(f)
	if !known || !bounded || (!o.FreshUntil.IsZero() && !until.Before(o.FreshUntil)) {
		return
	}
	o.ObservedAt, o.FreshUntil = observed, until
}

func (v *Verdict) count(signal string, n uint64) {
	if n == 0 {
		return
	}
	if v.Signals == nil {
		v.Signals = map[string]uint64{}
	}
	v.Signals[signal] += n
}
