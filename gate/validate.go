package gate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/validators"
)

// Gate judges calls for a service: by the published set, with an audit record that is
// durable before any reply. It is safe for concurrent use.
type Gate struct {
	published atomic.Pointer[Set]
	store     audit.Store
	clock     func() time.Time
	attempts  *attempts
	alerts    alerts
	observe   func(audit.Record, stages.Times)
	tokens    func() Tokens
	originals func() Originals
	quota     quota
}

// New returns a gate that records in store and judges nothing until a set is
// published. clock says what time it is; nil means the system's clock. The caller
// keeps ownership of store and closes it after the last call.
func New(store audit.Store, clock func() time.Time, options ...Option) *Gate {
	if clock == nil {
		clock = time.Now
	}
	g := &Gate{
		store: store, clock: clock, attempts: newAttempts(),
		tokens: func() Tokens { return Tokens{} }, originals: func() Originals { return Originals{} },
	}
	for _, o := range options {
		o(g)
	}
	return g
}

// Publish makes set the one by which every call that begins from now on is judged.
func (g *Gate) Publish(set *Set) { g.published.Store(set) }

// Set returns the published set; nil before the first Publish.
func (g *Gate) Set() *Set { return g.published.Load() }

// ErrNoContracts says that no set has been published yet.
var ErrNoContracts = errors.New("gate: no contracts are published")

// PanicError says that judging one call panicked. The call is lost, the process is
// not.
type PanicError struct {
	// Kind is the Go type of the value that was panicked with; the value itself may
	// hold a part of the payload and is dropped.
	Kind  string
	Stack []byte
}

// newPanicError is called where a panic was caught.
func newPanicError(v any) *PanicError {
	return &PanicError{Kind: fmt.Sprintf("%T", v), Stack: debug.Stack()}
}

// Error names the kind of the panic.
func (e *PanicError) Error() string { return "gate: judging panicked with a " + e.Kind }

// Reply is what a caller of Validate gets.
type Reply struct {
	Result       ToolResult
	ModelPayload string // Result as one JSON block; "" where it would not fit beside it
	Retry        *Retry // nil on success
	DecisionID   string
	// ContractsDigest names the published set that judged.
	ContractsDigest string
	// Receipt attests an accepted result, a compact JWS; "" where the contract issues none.
	Receipt string
	// Rejection is set for operators only.
	Rejection *validators.Rejection
}

// Validate judges one reply of a tool. decisionID is a fresh UUIDv7 that names the
// call in the reply and in the record.
//
// The error is a [*CallError] where the call is malformed, the context's error where
// it ended, a [*PanicError], or that of the audit store: then there is no reply,
// whatever was judged.
func (g *Gate) Validate(ctx context.Context, caller Caller, decisionID string, call Call) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	set := g.published.Load()
	if set == nil {
		return Reply{}, ErrNoContracts
	}
	p, err := prepare(call)
	if err != nil {
		return Reply{}, err
	}
	v := &validating{gate: g, set: set, caller: caller, id: decisionID, began: g.clock()}
	v.watch = stages.Start(g.clock, v.began)
	key := attemptKey{caller.Tenant, call.Request.SessionID, call.Request.RequestID}
	outcome, attested, entry, panicked := v.judged(ctx, p, g.attempts.answered(key))
	entry.Record.Duration = g.clock().Sub(v.began)
	if _, err := g.store.Append(ctx, entry); err != nil {
		return Reply{}, fmt.Errorf("gate: recording the decision: %w", err)
	}
	v.watch.Ends(stages.Record)
	g.observed(entry.Record, v.watch)
	if panicked != nil {
		return Reply{}, panicked
	}
	g.attempts.note(key, outcome.Attempt)
	g.alerts.note(outcome, v.began)
	reply := Reply{
		Result: outcome.Result, ModelPayload: ModelPayload(outcome.Result), Retry: outcome.Retry,
		DecisionID: decisionID, ContractsDigest: set.Digest(), Receipt: attested,
	}
	if caller.Operator && len(outcome.Verdict.Rejections) > 0 {
		reply.Rejection = &outcome.Verdict.Rejections[0]
	}
	return reply, nil
}

// validating is one call of Validate on its way.
type validating struct {
	gate   *Gate
	set    *Set
	caller Caller
	id     string // of the decision
	began  time.Time
	watch  *stages.Watch
}

// judged judges a call, attests what it came to, and makes what is recorded of it.
// answered is how many attempts of the request were answered before. Panics cost one call,
// and leave a record: without the original, where it is keeping that which panics.
func (v *validating) judged(ctx context.Context, p prepared, answered int) (o Outcome, attested string, e audit.Entry, panicked error) {
	defer func() {
		if value := recover(); value != nil {
			panicked = newPanicError(value)
			o, attested = failed(p, answered), ""
			e = audit.Entry{Record: v.record(p, o)}
		}
	}()
	tokens := v.gate.tokens()
	facts, refused := tokens.verify(v.set, v.caller, p.Request.SessionID, p.Request.Evidence, v.began)
	v.watch.Ends(stages.Evidence)
	o, panicked = v.judge(ctx, p, Judgement{
		Caller: v.caller, Now: v.began, Evidence: forChecks(facts),
		Answered: answered, Jitter: rand.Float64(), Watch: v.watch,
	})
	e.Record = v.record(p, o)
	e.Record.EvidenceIDs = ids(facts)
	signal(&e.Record, signalEvidenceRefused, refused)
	attested, receiptID, wanted := tokens.receipt(v.caller, p, o, v.began)
	if wanted {
		v.watch.Ends(stages.Sign)
	}
	if e.Record.ReceiptID = receiptID; wanted && attested == "" {
		signal(&e.Record, signalReceiptMissing, 1)
	}
	if e.Original = v.gate.keep(v.set, v.gate.originals(), v.caller, p, o, facts, &e.Record); e.Original != nil {
		v.watch.Ends(stages.Seal)
	}
	return o, attested, e, panicked
}

func (v *validating) record(p prepared, o Outcome) audit.Record {
	r := newRecord(v.caller, v.id, v.set, p, o)
	r.At = v.began
	return r
}

// judge is the pure judgement with its panics caught: the reply that is at fault is kept
// like any other that was refused.
func (v *validating) judge(ctx context.Context, p prepared, j Judgement) (o Outcome, panicked error) {
	defer func() {
		if value := recover(); value != nil {
			panicked = newPanicError(value)
			o = failed(p, j.Answered)
		}
	}()
	return judge(ctx, v.set, p, j), nil
}

// failed is the outcome of a call whose judging panicked.
func failed(p prepared, answered int) Outcome {
	return Outcome{Attempt: max(p.Request.Attempt, 1, answered+1), Verdict: validators.Verdict{
		Rejections: []validators.Rejection{{Layer: contract.LayerInternal, Detail: "judging failed"}},
	}}
}

// observed tells of a durable record.
func (g *Gate) observed(record audit.Record, watch *stages.Watch) {
	if g.observe != nil {
		g.observe(record, watch.Times())
	}
}
