package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/validators"
)

// Answer is what a caller of Authorize gets. Whatever is not an allowing Effect refuses.
type Answer struct {
	Effect  policy.Effect
	Reasons []policy.Reason
	// Result and ModelPayload are for the agent, in place of the tool's result; nil and
	// "" where the call is allowed, since permission is not a result.
	Result       *ToolResult
	ModelPayload string
	// ArgumentsJSON are the bytes to execute, no others; Permit is a compact JWS over
	// their digest, for a side effect. Both are "" where the call is not allowed.
	ArgumentsJSON string
	Permit        string
	// Challenge holds all that an approver must be shown, where a person must approve.
	Challenge   string
	Obligations []policy.Obligation
	DecisionID  string
	// ContractsDigest names the published set that decided.
	ContractsDigest string
}

// deciding is one call of Authorize on its way.
type deciding struct {
	gate   *Gate
	set    *Set
	tokens Tokens
	caller Caller
	id     string // of the decision
	now    time.Time
	watch  *stages.Watch
}

// Authorize decides whether one proposed call may be executed now: default deny.
// decisionID is a fresh UUIDv7 that names the call in the answer and in the record.
//
// What an allowed call uses up (of grants, receipts, an approval) is used in the same
// transaction as its record; a repeat of the request while its permit lives gets that
// permit again and uses nothing.
//
// The error is the context's where it ended, a [*PanicError], or that of the audit store
// or of the keys: then there is no answer, and nothing was allowed.
func (g *Gate) Authorize(ctx context.Context, caller Caller, decisionID string, p Proposal) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	set := g.published.Load()
	if set == nil {
		return Answer{}, ErrNoContracts
	}
	d := &deciding{gate: g, set: set, tokens: g.tokens(), caller: caller, id: decisionID, now: g.clock()}
	d.watch = stages.Start(g.clock, d.now)
	answer, err := d.answered(ctx, p)
	if err != nil {
		return Answer{}, d.lost(ctx, p, err)
	}
	return answer, nil
}

// answered decides a call and answers it. Panics cost one call.
func (d *deciding) answered(ctx context.Context, p Proposal) (a Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			a, err = Answer{}, newPanicError(v)
		}
	}()
	r, ruling, known, err := d.decide(ctx, p)
	if err != nil {
		return Answer{}, err
	}
	return d.answer(ctx, r, ruling, known)
}

// answer does what follows from a ruling, and records it.
func (d *deciding) answer(ctx context.Context, r reading, ruling Ruling, k presented) (Answer, error) {
	var permit, challenge string
	var err error
	again := false
	if ruling.Decision.Effect != policy.Allow && !r.refused() {
		var first Ruling
		if first, permit, again, err = d.repeated(ctx, r, k, ruling.Decision.Reasons); again {
			ruling = first
		}
	}
	switch {
	case again || err != nil:
	case ruling.Decision.Effect == policy.Allow:
		ruling, permit, err = d.allow(ctx, r, ruling, k)
	case ruling.Decision.Effect == policy.NeedsApproval:
		ruling, challenge, err = d.challenge(ctx, r, ruling, k)
	default:
		err = d.append(ctx, d.record(r, ruling, k))
	}
	if err != nil {
		return Answer{}, err
	}
	answer := AnswerOf(d.set, ruling)
	answer.Permit, answer.Challenge, answer.DecisionID = permit, challenge, d.id
	return answer, nil
}

// AnswerOf is what a caller gets of a ruling by set that was not recorded: no id, no
// permit, no challenge.
func AnswerOf(set *Set, r Ruling) Answer {
	a := Answer{
		Effect: r.Decision.Effect, Reasons: shownReasons(r.Decision.Reasons), Result: r.Result,
		ArgumentsJSON: r.ArgumentsJSON, Obligations: r.Decision.Obligations, ContractsDigest: set.Digest(),
	}
	if r.Result != nil {
		a.ModelPayload = ModelPayload(*r.Result)
	}
	return a
}

// decide reads, gathers and decides.
func (d *deciding) decide(ctx context.Context, p Proposal) (r reading, ruling Ruling, k presented, err error) {
	r = read(ctx, d.set, p)
	d.watch.Ends(stages.Read)
	k, err = d.gather(ctx, r)
	d.watch.Ends(stages.Evidence)
	if err != nil {
		return r, Ruling{}, k, err
	}
	if err := ctx.Err(); err != nil {
		return r, Ruling{}, k, err
	}
	ruling = rule(r, decide(d.set, r, k.Known), d.now)
	d.watch.Ends(stages.Decide)
	return r, ruling, k, nil
}

// instead turns a ruling into a refusal for other reasons.
func (d *deciding) instead(r reading, ruling Ruling, reasons []policy.Reason, why ...validators.Rejection) Ruling {
	denied := rule(r, policy.Decision{Reasons: reasons}, d.now)
	denied.Rejections = append(ruling.Rejections, why...)
	return denied
}

// append records what a decision came to.
func (d *deciding) append(ctx context.Context, record audit.Record) error {
	record.Duration = d.gate.clock().Sub(d.now)
	if _, err := d.gate.store.Append(ctx, audit.Entry{Record: record}); err != nil {
		return fmt.Errorf("gate: recording the decision: %w", err)
	}
	d.watch.Ends(stages.Record)
	d.gate.observed(record, d.watch)
	return nil
}

// lost records a call that was not decided by a fault of our own, a panic or keys that do
// not sign, so that it does not go without trace, and returns why there is no answer.
// Where the store is at fault, or the caller has gone, there is nothing to record with or
// for. A record that the call has left already stays.
func (d *deciding) lost(ctx context.Context, p Proposal, why error) error {
	if ctx.Err() != nil || ofStore(why) {
		return why
	}
	r := reading{Proposal: p, name: validators.ShownName(p.Tool)}
	record := d.record(r, Ruling{Rejections: []validators.Rejection{{Layer: contract.LayerInternal, Detail: "deciding failed"}}}, presented{})
	if err := d.append(ctx, record); err != nil {
		return err
	}
	return why
}

// ofStore reports whether an error is one that the audit store answers with.
func ofStore(err error) bool {
	for _, fault := range []error{audit.ErrUnavailable, audit.ErrFull, audit.ErrInvalidRecord, audit.ErrDamaged} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// record makes the audit record of a decision. Nothing of the arguments is in it but
// their digest and pointers that the contract knows (B11).
func (d *deciding) record(r reading, ruling Ruling, k presented) audit.Record {
	out := audit.Record{
		DecisionID: d.id, At: d.now, RPC: "authorize", Tenant: d.caller.Tenant, Caller: d.caller.Name,
		Tool: r.name, ContractsDigest: d.set.Digest(), RequestID: r.RequestID, SessionID: r.SessionID,
		Principal: r.Principal, ArgumentsDigest: r.digest, RawBytes: uint64(len(r.Raw)),
		OutputBytes: uint64(len(ruling.ArgumentsJSON)),
		FailureCode: string(ruling.Failure), Decision: ruling.Decision.Effect.String(),
		EvidenceIDs: ruling.Decision.Evidence,
		Approver:    k.answered.approver, ChallengeID: k.answered.challenge.ID,
	}
	if r.tool != nil {
		c := r.tool.Contract
		out.ContractVersion, out.ContractDigest, out.Owner = uint32(c.Version), c.Digest, c.Owner
	} else {
		// What was asked for, since no contract has it.
		out.Tool, out.ContractVersion = validators.ShownName(r.Tool), uint32(max(r.ContractVersion, 0))
	}
	if r.tool == nil || len(r.tool.Contract.Retention.Redact) == 0 {
		out.RawDigest = digest(r.Raw)
	}
	if r.CallID != "" {
		out.CallIDDigest = digest([]byte(r.CallID))
	}
	for _, reason := range shownReasons(ruling.Decision.Reasons) {
		out.Reasons = append(out.Reasons, audit.Reason{
			Code: string(reason.Code), GrantID: reason.GrantID, Scope: reason.Scope, Argument: reason.Argument,
			RequiredTool: reason.RequiredTool, Keyword: reason.Keyword,
		})
	}
	reject(&out, ruling.Rejections)
	signal(&out, signalEvidenceRefused, k.EvidenceRefused)
	signal(&out, signalGrantsRefused, k.grantsRefused)
	return out
}
