package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
)

// Redemption is a permit that an executor is about to act on.
type Redemption struct {
	Permit string
	// Arguments are the bytes that are about to be executed. The caller keeps them.
	Arguments []byte
	Audience  string // who executes, as the contract names it
}

// Redeemed is what a caller of Redeem gets.
type Redeemed struct {
	// Redeemed is true exactly once for each permit.
	Redeemed bool
	// Reason is why not; "" where it is true.
	Reason     policy.Code
	DecisionID string
}

// Redeem checks a permit of the caller's tenant and uses it up, for executors that keep
// no record of their own. A permit that does not verify, or is for a tool that the caller
// may not use, touches nothing. The error is the context's, a [*PanicError], or that of the
// audit store: the permit may then be used up all the same, and whoever cannot know does
// not execute.
func (g *Gate) Redeem(ctx context.Context, caller Caller, decisionID string, r Redemption) (out Redeemed, err error) {
	if err := ctx.Err(); err != nil {
		return Redeemed{}, err
	}
	now, tokens := g.clock(), g.tokens()
	watch := stages.Start(g.clock, now)
	record := audit.Record{
		DecisionID: decisionID, At: now, RPC: "redeem", Tenant: caller.Tenant, Caller: caller.Name,
		RawBytes: uint64(len(r.Arguments)), Decision: policy.Allow.String(),
	}
	if set := g.published.Load(); set != nil {
		record.ContractsDigest = set.Digest()
	}
	defer func() { // a panic costs one call, and leaves a record unless there is one already
		if v := recover(); v != nil {
			record.Decision = policy.Deny.String()
			record.Rejection = audit.Rejection{Layer: string(contract.LayerInternal), Detail: "redeeming failed"}
			if _, err = g.store.Append(ctx, audit.Entry{Record: record}); err == nil {
				err = newPanicError(v)
			}
			out = Redeemed{}
		}
	}()
	p, err := tokens.Keys.VerifyPermit(r.Permit, receipt.PermitExpect{
		Issuer: tokens.Issuer, Tenant: caller.Tenant, Audience: r.Audience, Arguments: r.Arguments, Now: now,
	})
	watch.Ends(stages.Evidence)
	if err != nil {
		return g.unredeemed(ctx, watch, record, policy.PermitInvalid, err.Error())
	}
	record.Tool, record.ContractVersion = p.Tool, p.Version
	record.RequestID, record.SessionID, record.Principal = p.Request, p.Session, p.Principal
	record.ArgumentsDigest, record.PermitID = p.ArgumentsDigest, p.ID
	if caller.Tools != nil && !slices.Contains(caller.Tools, p.Tool) {
		return g.unredeemed(ctx, watch, record, policy.PermitInvalid, "the caller may not use this tool")
	}
	record.Duration = g.clock().Sub(now)
	outcome, err := g.store.Append(ctx, audit.Entry{Record: record, Uses: audit.Uses{Claims: []audit.Claim{{
		Key: audit.KeyOf("permit", caller.Tenant, tokens.Issuer, p.ID), Limit: 1, Until: p.Expires.Add(receipt.Skew),
	}}}})
	switch {
	case err != nil:
		return Redeemed{}, fmt.Errorf("gate: recording the redemption: %w", err)
	case !outcome.Written():
		return g.unredeemed(ctx, watch, record, policy.Replayed, "the permit was redeemed before")
	}
	watch.Ends(stages.Record)
	g.observed(record, watch)
	return Redeemed{Redeemed: true, DecisionID: decisionID}, nil
}

// unredeemed records a permit that is not taken. why is a sentence of our own.
func (g *Gate) unredeemed(ctx context.Context, watch *stages.Watch, record audit.Record, code policy.Code, why string) (Redeemed, error) {
	record.Decision = policy.Deny.String()
	record.Reasons = []audit.Reason{{Code: string(code)}}
	record.Rejection = audit.Rejection{Layer: string(contract.LayerPolicy), Detail: why}
	if _, err := g.store.Append(ctx, audit.Entry{Record: record}); err != nil {
		return Redeemed{}, fmt.Errorf("gate: recording the redemption: %w", err)
	}
	watch.Ends(stages.Record)
	g.observed(record, watch)
	return Redeemed{Reason: code, DecisionID: record.DecisionID}, nil
}

// PublicKeys returns the keys that verify permits and challenges, as a JWK Set (RFC
// 7517); one without keys where the gate has none.
func (g *Gate) PublicKeys() []byte { return g.tokens().Keys.Public(g.clock()) }
