package validators

import (
	"context"
	"errors"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/projection"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
	"github.com/hallmark-gate/hallmark/validators/text"
)

// Tool is one version of one tool, compiled. It is immutable and safe for concurrent
// use.
type Tool struct {
	Contract *contract.Contract
	// Current is true for the version that serves requests naming none.
	Current bool

	read          Reader
	framing       framing
	adapter       *adapter // nil: the payload is judged as it came
	payload       *schema.Schema
	arguments     *schema.Schema // nil where the contract has none
	argumentShape *condition.Shape
	checks        []namedCheck // in the order of the contract
	plan          *projection.Plan
	links         []contract.TextField // the text fields that hold a link
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
	if t.Contract.Result.Text != nil {
		v := t.judgeText(ctx, raw, f)
		f.Watch.Ends(stages.Text)
		return v
	}
	value, refused := t.read.Read(raw, t.Contract.Result.Limits)
	if refused != nil {
		f.Watch.Ends(stages.Read)
		return Refuse(*refused)
	}
	framed, refusal := t.framing.unframe(value, f.Request)
	if refusal != nil {
		f.Watch.Ends(stages.Read)
		return *refusal
	}
	framed, unfit := t.adapter.adapt(ctx, framed, f.Request, t.Contract.Result.Limits)
	f.Watch.Ends(stages.Read)
	v := Refuse(unfit...)
	if unfit == nil {
		v = t.judgeFramed(ctx, framed, f)
	}
	for signal, n := range framed.dropped {
		v.count(signal, n)
	}
	return v
}

// judgeFramed judges what the framing held.
func (t *Tool) judgeFramed(ctx context.Context, framed frame, f Facts) Verdict {
	payload, cut, refused := t.boundList(framed)
	if refused != nil {
		return Refuse(*refused)
	}
	cleaned, refused := t.clean(ctx, payload)
	f.Watch.Ends(stages.Clean)
	if refused != nil {
		return Refuse(*refused)
	}
	v := t.judgePayload(ctx, cleaned.Value, framed, f)
	v.Output.Truncated = cleaned.Truncated || cut > 0
	v.count("cut_items", uint64(cut))
	v.countRemoved(cleaned.Removed)
	v.countNoticed(cleaned.Noticed)
	return v
}

// clean cleans the text fields of a payload.
func (t *Tool) clean(ctx context.Context, payload strictjson.Value) (projection.Cleaned, *Rejection) {
	cleaned, err := t.plan.Clean(ctx, payload)
	if err == nil {
		return cleaned, nil
	}
	refused := textRejection(err)
	refused.Offset = 0
	var field *projection.TextError
	if errors.As(err, &field) {
		refused.At = shownPointer(field.At)
	}
	return projection.Cleaned{}, &refused
}

// boundList applies the contract's limit to its one list (B4), and returns how many
// elements were cut.
func (t *Tool) boundList(framed frame) (payload strictjson.Value, cut int, refused *Rejection) {
	limit := t.Contract.Result.MaxList
	if limit == nil {
		return framed.payload, 0, nil
	}
	list := framed.payload.At(limit.At)
	over := list.Len() - limit.Items
	if list.Kind() != strictjson.Array || over <= 0 {
		return framed.payload, 0, nil
	}
	if !limit.Cut {
		return strictjson.Value{}, 0, &Rejection{
			Layer: contract.LayerLimits, Reason: contract.ReasonItemLimit,
			At: shownPointer(list.Path()), Detail: "the list has more elements than the contract allows",
			Offset: t.offset(list),
		}
	}
	return strictjson.Shorten(framed.payload, list, limit.Items), over, nil
}

// judgePayload judges the payload once its text is clean.
func (t *Tool) judgePayload(ctx context.Context, payload strictjson.Value, framed frame, f Facts) Verdict {
	if hidden := t.plan.Hidden(payload); hidden.Exists() {
		return Refuse(Rejection{
			Layer: contract.LayerSyntax, Reason: contract.ReasonCharacter,
			At:     shownPointer(hidden.Path()),
			Detail: "a machine value holds a character that a reader would not see",
			Offset: t.offset(hidden),
		})
	}
	failures, err := t.payload.Validate(ctx, payload)
	f.Watch.Ends(stages.Schema)
	if err != nil {
		return Refuse(Rejection{
			Layer: contract.LayerSchema, Reason: contract.ReasonEvaluationBudget,
			At: shownPointer(framed.under), Detail: "judging this value by its schema takes too long",
		})
	}
	if len(failures) > 0 {
		return Refuse(fromSchema(failures, framed.under)...)
	}
	if bad := badLink(payload, t.links); bad.Exists() {
		return Refuse(Rejection{
			Layer: contract.LayerSchema, Reason: contract.ReasonSchema, Keyword: contract.AsURL,
			At: shownPointer(bad.Path()), Detail: "the text is no link that may be given",
		})
	}
	f.Result = payload
	if framed.foreign != nil {
		return Refuse(*framed.foreign)
	}
	refusal := t.check(f, framed.under)
	f.Watch.Ends(stages.Checks)
	if refusal != nil {
		return Refuse(*refusal)
	}
	v := t.accept(payload, f)
	f.Watch.Ends(stages.Project)
	return v
}

// check runs the semantic checks, in the order of the contract, up to the first that
// refuses; under is where the payload stands.
func (t *Tool) check(f Facts, under strictjson.Pointer) *Rejection {
	for i, c := range t.checks {
		if refused := c.Check.Check(f); refused != nil {
			r := fromCheck(c.name, i+1, refused, under)
			return &r
		}
	}
	return nil
}

// offset is where v begins in the received bytes; 0 where it was made of them.
func (t *Tool) offset(v strictjson.Value) int {
	if _, asReceived := t.read.(jsonReader); !asReceived || t.adapter != nil {
		return 0
	}
	return v.Offset()
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

func (v *Verdict) count(signal string, n uint64) { count(&v.Signals, signal, n) }

func (v *Verdict) countRemoved(removed text.Counts) {
	for kind, n := range removed.All() {
		v.count("removed."+kind, uint64(n))
	}
}

// count adds to a signal; the map is made when it is first needed.
func count(signals *map[string]uint64, signal string, n uint64) {
	if n == 0 {
		return
	}
	if *signals == nil {
		*signals = map[string]uint64{}
	}
	(*signals)[signal] += n
}
