package gate

import (
	"context"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/validators"
)

// Judgement is what judging needs besides the call: whose clock, whose dice, which
// attempt.
type Judgement struct {
	Caller Caller
	Now    time.Time
	// Evidence are facts that were validated before, as plain, already verified values.
	Evidence []validators.Evidence
	// Answered is how many attempts of this request were answered before.
	Answered int
	// Jitter in [0,1) shortens the retry delay.
	Jitter float64
	// Watch takes the time of the parts of judging; nil where nobody asks.
	Watch *stages.Watch
}

// Judge judges one call against a set. It is pure: the same arguments give the same
// outcome, unless ctx ends first, which is a refusal. The error, where there is one, is
// a [*CallError]: the call itself is malformed and nothing was judged.
func Judge(ctx context.Context, set *Set, call Call, j Judgement) (Outcome, error) {
	p, err := prepare(call)
	if err != nil {
		return Outcome{}, err
	}
	return judge(ctx, set, p, j), nil
}

// JudgeBy is [Judge] by one given tool, live or not, whatever the call's tool and
// version say.
func JudgeBy(ctx context.Context, tool *validators.Tool, call Call, j Judgement) (Outcome, error) {
	p, err := prepare(call)
	if err != nil {
		return Outcome{}, err
	}
	return judgeBy(ctx, tool, p, j), nil
}

func judge(ctx context.Context, set *Set, p prepared, j Judgement) Outcome {
	tool, nameKnown := set.Lookup(p.Request.Tool, p.Request.ContractVersion)
	if tool == nil {
		return refuseUnknown(newOutcome(p, j), set.Name(p.Request.Tool), nameKnown)
	}
	return judgeBy(ctx, tool, p, j)
}

// newOutcome begins an outcome that names no tool yet.
func newOutcome(p prepared, j Judgement) Outcome {
	return Outcome{
		Attempt: max(p.Request.Attempt, 1, j.Answered+1),
		Result: ToolResult{
			Tool: UnknownTool, RequestID: p.Request.RequestID, ValidatedAt: j.Now,
		},
	}
}

func judgeBy(ctx context.Context, tool *validators.Tool, p prepared, j Judgement) Outcome {
	o := newOutcome(p, j)
	c := tool.Contract
	o.Tool = tool
	o.Result.Tool, o.Result.ContractVersion = c.Tool, c.Version
	o.Result.Provenance = provenance(c, j.Caller, p.Upstream)

	arrived, refused := arrive(c, j.Caller, p.Upstream)
	if refused {
		o.Verdict = validators.Verdict{Code: arrived.code, Rejections: []validators.Rejection{arrived.rejection}}
	} else {
		o.Verdict = tool.Judge(ctx, p.Raw, facts(c, p, j))
		arrived.definite = reported(o.Verdict)
	}
	if o.Verdict.Accepted {
		out := o.Verdict.Output
		if out.Text != nil {
			o.Result.Text = textOf(out.Text)
		} else {
			o.Result.Data = &Data{JSON: string(out.JSON), UntrustedText: out.UntrustedText, Truncated: out.Truncated}
		}
		o.Result.FreshUntil = out.FreshUntil
		if fits(o.Result) {
			return o
		}
		o.Result.Data, o.Result.Text, o.Result.FreshUntil = nil, nil, time.Time{}
		o.Verdict = validators.Refuse(validators.Rejection{
			Layer: contract.LayerLimits, Reason: contract.ReasonByteLimit,
			Detail: "what the contract gives of this reply is larger than a reply may be",
		})
	}
	return refuse(o, p, j, arrived)
}

// reported reports whether the tool itself said, in its promised shape, that it failed.
func reported(v validators.Verdict) bool {
	return len(v.Rejections) > 0 && v.Rejections[0].Reason == contract.ReasonToolReported
}

// refuse turns a refusing verdict into what the agent and the orchestrator get.
func refuse(o Outcome, p prepared, j Judgement, a arrival) Outcome {
	c := o.Tool.Contract
	if o.Verdict.Code == "" {
		o.Verdict.Code = contract.InvalidResponse
	}
	if c.Effect == contract.SideEffect && !c.Idempotent && !a.definite {
		o.Verdict.Code = contract.OutcomeUnknown
	}
	code := o.Verdict.Code
	retry := Retry{}
	if !a.neverRetry && code != contract.OutcomeUnknown && code != contract.NotAuthorized {
		retry = advise(c, code, p.Request, o.Attempt, p.Upstream.RetryAfter, j.Now, j.Jitter)
	}
	o.Retry = &retry
	o.Result.Failure = &Failure{Code: code, Retryable: retry.Allowed}
	if shown := o.Verdict.Display; shown != nil {
		o.Result.Failure.DisplayText = &Text{
			Content: shown.Content, Truncated: shown.Truncated, Normalization: shown.Normalization,
		}
	}
	return o
}

// refuseUnknown refuses a call for which there is no contract. There is no default
// schema and no way through.
func refuseUnknown(o Outcome, name string, nameKnown bool) Outcome {
	r := validators.Rejection{
		Layer: contract.LayerTransport, Reason: contract.ReasonUnknownTool,
		Detail: "no contract has this tool",
	}
	if nameKnown {
		o.Result.Tool = name
		r.Reason, r.Detail = contract.ReasonUnknownVersion, "the tool has no live contract of this version"
	}
	o.Verdict = validators.Verdict{Code: contract.UnknownTool, Rejections: []validators.Rejection{r}}
	o.Retry = &Retry{}
	o.Result.Failure = &Failure{Code: contract.UnknownTool}
	return o
}

func facts(c *contract.Contract, p prepared, j Judgement) validators.Facts {
	return validators.Facts{
		Request: validators.Request{
			Tool: c.Tool, RequestID: p.Request.RequestID, SessionID: p.Request.SessionID,
			CallID:    p.Request.CallID,
			Arguments: p.arguments, Attempt: max(p.Request.Attempt, 1), IssuedAt: p.Request.IssuedAt,
		},
		Evidence: j.Evidence,
		Now:      j.Now,
		Watch:    j.Watch,
		Arrival: validators.Arrival{
			MediaType: p.Upstream.MediaType, Source: finalSource(p.Upstream), RawSource: p.Upstream.RawSource,
		},
	}
}

// finalSource is where a page came from; "" where a request was redirected, since then
// nobody says where to.
func finalSource(u Upstream) string {
	if u.Redirects > 0 {
		return ""
	}
	return u.Source
}

func textOf(t *validators.Text) *Text {
	out := &Text{
		Content: t.Content, Title: t.Title, Truncated: t.Truncated, Normalization: t.Normalization,
	}
	for _, l := range t.Links {
		out.Links = append(out.Links, Link(l))
	}
	return out
}
