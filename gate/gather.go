package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
)

// signalGrantsRefused counts grant tokens that were presented and do not count.
const signalGrantsRefused = "grant_tokens_refused"

// maxDisclosed is how many sources a challenge can show.
const maxDisclosed = 64

// presented is what a caller presented for a call, verified.
type presented struct {
	Known
	facts []fact
	// grantsRefused counts the grant tokens that do not count.
	grantsRefused int
	// challenge is what Known.Approval answers; zero where that is not Approved.
	challenge receipt.Challenge
}

// gather verifies everything that was presented for a call and asks the audit store what
// else it knows. The error is that of the store where nothing can be decided without
// it.
func (d *deciding) gather(ctx context.Context, r reading) (presented, error) {
	k := presented{Known: Known{Caller: d.caller, Now: d.now, Grants: r.Grants}}
	if r.refused() {
		return k, nil
	}
	k.Grants, k.grantsRefused = d.grants(r)
	k.facts, k.EvidenceRefused = d.tokens.verify(d.set, d.caller, r.SessionID, r.Evidence, d.now)
	var err error
	if k.Evidence, err = d.gate.forPolicies(ctx, d.set, d.caller, r, k.facts); err != nil {
		return k, err
	}
	subject := d.set.subjects[r.tool]
	if d.set.policies.ReadsSources(&subject) || r.Approval != "" {
		k.Sources = d.sources(ctx, r)
	}
	if r.Approval != "" {
		k.Approval, k.challenge, err = d.approval(ctx, r, k.Sources)
	}
	return k, err
}

// grants adds those of verified tokens to the caller's own.
func (d *deciding) grants(r reading) (grants []policy.Grant, refused int) {
	grants = append(grants, r.Grants...)
	for _, token := range r.GrantTokens {
		t, err := d.tokens.Issuers.Verify(token, receipt.GrantExpect{
			Audience: d.tokens.Issuer, Tenant: d.caller.Tenant, Session: r.SessionID,
			Principal: r.Principal, Now: d.now,
		})
		if err != nil {
			refused++
			continue
		}
		for _, g := range t.Grants {
			grants = append(grants, grantOf(t.Issuer, g))
		}
	}
	return grants, refused
}

func grantOf(issuer string, g receipt.Grant) policy.Grant {
	out := policy.Grant{
		ID: g.ID, Issuer: issuer, Tool: g.Tool, NotAfter: g.NotAfter, MaxUses: g.MaxUses, Unlimited: g.Unlimited,
	}
	for _, s := range g.Scopes {
		out.Scopes = append(out.Scopes, policy.Allowed{Scope: s.Name, Values: s.Values, Any: s.Any})
	}
	return out
}

// sources are what was delivered to the session, from the store and not from what the
// caller presents. Where the store cannot say, or there is no session, they are unknown.
func (d *deciding) sources(ctx context.Context, r reading) policy.Sources {
	if r.SessionID == "" {
		return policy.Sources{}
	}
	delivered, err := d.gate.store.Delivered(ctx, d.caller.Tenant, r.SessionID)
	if err != nil {
		return policy.Sources{}
	}
	s := policy.Sources{Known: true}
	for _, one := range delivered {
		s.List = append(s.List, policy.Source(one))
	}
	return s
}

// unseen reports that a call belongs to a session of which the store cannot say what it
// has seen: that is not the same as nothing.
func unseen(r reading, s policy.Sources) bool { return r.SessionID != "" && !s.Known }

// approval judges the approval that came with a call, against the challenge that the
// same call got before.
func (d *deciding) approval(ctx context.Context, r reading, s policy.Sources) (policy.Approval, receipt.Challenge, error) {
	if unseen(r, s) {
		return policy.ApprovalInvalid, receipt.Challenge{}, nil // nor what the person would have to have seen
	}
	memo, err := d.gate.store.Recall(ctx, d.challengeKey(r, s), d.now)
	switch {
	case errors.Is(err, audit.ErrNotFound):
		return policy.ApprovalInvalid, receipt.Challenge{}, nil
	case err != nil:
		return policy.ApprovalInvalid, receipt.Challenge{}, fmt.Errorf("gate: looking for the challenge: %w", err)
	}
	token, err := d.askedBefore(r, s, memo)
	if err != nil {
		return policy.ApprovalInvalid, receipt.Challenge{}, nil // its key is gone
	}
	c, err := d.tokens.Keys.VerifyChallenge(token, receipt.ChallengeExpect{
		Issuer: d.tokens.Issuer, Tenant: d.caller.Tenant, Session: r.SessionID, Caller: d.caller.Name,
		Principal: r.Principal, Tool: r.name, Version: uint32(r.tool.Contract.Version), Arguments: r.canonical, Now: d.now,
	})
	if err != nil {
		return policy.ApprovalInvalid, receipt.Challenge{}, nil
	}
	_, err = d.tokens.Approvers.Verify(r.Approval, receipt.ApprovalExpect{
		Audience: d.tokens.Issuer, Challenge: receipt.Digest([]byte(token)), Caller: d.caller.Name, Now: d.now,
	})
	switch {
	case err == nil:
		return policy.Approved, c, nil
	case errors.Is(err, &receipt.Error{Reason: receipt.Refused}):
		return policy.ApprovalRefused, receipt.Challenge{}, nil
	}
	return policy.ApprovalInvalid, receipt.Challenge{}, nil
}
