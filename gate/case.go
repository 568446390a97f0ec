package gate

import (
	"context"
	"fmt"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/validators"
)

// CaseEvidence turns the evidence of a contract's case into facts.
func CaseEvidence(evidence []contract.CaseEvidence) []validators.Evidence {
	out := make([]validators.Evidence, len(evidence))
	for i, e := range evidence {
		out[i] = validators.Evidence(e)
	}
	return out
}

// DecideCase decides the call of a contract's case, whose Call is not nil, by one given
// tool of a set: under the case's own policies and none of the deployment's, for a
// caller who may grant. What the case presents counts as verified, newest and unused.
// The error says why the case's policies cannot be compiled.
func DecideCase(ctx context.Context, set *Set, tool *validators.Tool, c contract.Case, caller Caller) (Ruling, error) {
	set, err := set.WithPolicies(c.Policies)
	if err != nil {
		return Ruling{}, err
	}
	caller.MayGrant = true
	k := Known{Caller: caller, Now: c.Now, Sources: policy.Sources{Known: true}, Approval: caseApproval(c.Approval)}
	for _, s := range c.Sources {
		k.Sources.List = append(k.Sources.List, policy.Source(s))
	}
	for _, g := range c.Grants {
		grant := policy.Grant{
			ID: g.ID, Issuer: g.Issuer, Tool: g.Tool, NotAfter: g.NotAfter, MaxUses: g.MaxUses, Unlimited: g.Unlimited,
		}
		for _, s := range g.Scopes {
			grant.Scopes = append(grant.Scopes, policy.Allowed{Scope: s.Name, Values: s.Values, Any: s.Any})
		}
		k.Grants = append(k.Grants, grant)
	}
	for i, e := range c.Evidence {
		from, _ := set.Lookup(e.Tool, e.Version)
		k.Evidence = append(k.Evidence, policy.Evidence{
			ID: fmt.Sprintf("evidence-%d", i+1), Tool: e.Tool, Version: e.Version, Current: from != nil && from.Current,
			Caller: caller.Name, Arguments: e.Arguments, Data: e.Data, ObservedAt: e.ObservedAt, Newest: true,
		})
	}
	p := Proposal{
		Tool: tool.Contract.Tool, RequestID: c.Call.RequestID, SessionID: c.Call.SessionID,
		Principal: c.Call.Principal, Raw: c.Call.Raw,
	}
	return DecideBy(ctx, set, tool, p, k), nil
}

func caseApproval(word string) policy.Approval {
	switch word {
	case "":
		return policy.NoApproval
	case "approve":
		return policy.Approved
	case "reject":
		return policy.ApprovalRefused
	}
	return policy.ApprovalInvalid
}
