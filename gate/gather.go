package gate

import (
	"context"
	"errors"
	"regexp"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
)

// signalGrantsRefused counts grant tokens that were presented and do not count.
const signalGrantsRefused = "grant_tokens_refused"

// presented is what a caller presented for a call, verified.
type presented struct {
	Known
	facts []fact
	// grantsRefused counts the grant tokens that do not count.
	grantsRefused int
	// answered is what Known.Approval answers; zero where that is neither Approved nor
	// ApprovalRefused.
	answered answered
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
		k.Approval, k.answered, err = d.approval(ctx, r, k.Sources)
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
			if grantID.MatchString(g.ID) {
				grants = append(grants, grantOf(t.Issuer, g))
			} else {
				refused++ // it would stand in reasons that an agent sees
			}
		}
	}
	return grants, refused
}

// grantID is the form that the API gives to the ids of grants.
var grantID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

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

// answered is a challenge that a person answered, with yes or no.
type answered struct {
	challenge receipt.Challenge
	approver  string
}

// approval judges the approval that came with a call, against the challenge that the
// same call got before.
func (d *deciding) approval(ctx context.Context, r reading, s policy.Sources) (policy.Approval, answered, error) {
	if unseen(r, s) {
		return policy.ApprovalInvalid, answered{}, nil // nor what the person would have to have seen
	}
	c, token, err := d.asked(ctx, r, s)
	switch {
	case errors.Is(err, audit.ErrNotFound):
		return policy.ApprovalInvalid, answered{}, nil
	case err != nil:
		return policy.ApprovalInvalid, answered{}, err
	}
	a, err := d.tokens.Approvers.Verify(r.Approval, receipt.ApprovalExpect{
		Audience: d.tokens.Issuer, Challenge: receipt.Digest([]byte(token)), Caller: d.caller.Name, Now: d.now,
	})
	switch {
	case err == nil:
		return policy.Approved, answered{c, a.Approver}, nil
	case errors.Is(err, &receipt.Error{Reason: receipt.Refused}):
		return policy.ApprovalRefused, answered{c, a.Approver}, nil
	}
	return policy.ApprovalInvalid, answered{}, nil
}
