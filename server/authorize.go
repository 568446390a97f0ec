package server

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/policy"
)

// Authorize decides whether one proposed call may be executed now.
func (s *gateService) Authorize(ctx context.Context, req *hallmarkv1.AuthorizeRequest) (*hallmarkv1.AuthorizeResponse, error) {
	p, err := proposalFromWire(req)
	if err != nil {
		return nil, err
	}
	who := s.who(ctx)
	if err := s.guard.permit(ctx, hallmarkv1.GateService_Authorize_FullMethodName, who, s.gate.Set(), p.Tool); err != nil {
		return nil, err
	}
	answer, err := s.gate.Authorize(ctx, who.Caller, decisionID(ctx), p)
	if err != nil {
		return nil, err
	}
	return answerToWire(answer), nil
}

// Redeem uses a permit up, once.
func (s *gateService) Redeem(ctx context.Context, req *hallmarkv1.RedeemRequest) (*hallmarkv1.RedeemResponse, error) {
	r, err := s.gate.Redeem(ctx, s.who(ctx).Caller, decisionID(ctx), gate.Redemption{
		Permit: req.GetPermit(), Arguments: req.GetArguments(), Audience: req.GetAudience(),
	})
	if err != nil {
		return nil, err
	}
	return &hallmarkv1.RedeemResponse{
		Redeemed: proto.Bool(r.Redeemed), Reason: known[hallmarkv1.ReasonCode](r.Reason), DecisionId: valid(r.DecisionID),
	}, nil
}

// GetKeys publishes the keys that verify permits, challenges and signed receipts.
func (s *contractService) GetKeys(context.Context, *hallmarkv1.GetKeysRequest) (*hallmarkv1.GetKeysResponse, error) {
	return &hallmarkv1.GetKeysResponse{JwksJson: valid(string(s.gate.PublicKeys()))}, nil
}

// proposalFromWire makes the gate's proposal of a request that passed the rules of the
// API. It shares the payload's bytes with the request. The error is a [*gate.CallError].
func proposalFromWire(req *hallmarkv1.AuthorizeRequest) (gate.Proposal, error) {
	c := req.GetCall()
	p := gate.Proposal{
		Tool: c.GetTool(), RequestID: c.GetRequestId(), ContractVersion: intOf(c.GetContractVersion()),
		SessionID: c.GetSessionId(), CallID: c.GetCallId(), Principal: c.GetPrincipal(),
		GrantTokens: req.GetGrantTokens(), Evidence: req.GetEvidence(), Approval: req.GetApproval(),
	}
	switch raw := req.GetPayload().(type) {
	case *hallmarkv1.AuthorizeRequest_Raw:
		p.Raw = raw.Raw
	case *hallmarkv1.AuthorizeRequest_RawText:
		p.Raw = []byte(raw.RawText)
	default:
		return gate.Proposal{}, &gate.CallError{Field: "payload", Detail: "is missing"}
	}
	for _, g := range req.GetGrants() {
		grant, err := grantFromWire(g)
		if err != nil {
			return gate.Proposal{}, err
		}
		p.Grants = append(p.Grants, grant)
	}
	return p, nil
}

// grantFromWire converts a grant. One without an end, or with a use or a scope of a kind
// that this version does not know, covers nothing.
func grantFromWire(g *hallmarkv1.Grant) (policy.Grant, error) {
	out := policy.Grant{ID: g.GetId(), Tool: g.GetTool(), MaxUses: g.GetMaxUses(), Unlimited: g.GetUnlimitedUses()}
	var err error
	if out.NotAfter, err = timeFromWire("grants.not_after", g.GetNotAfter()); err != nil {
		return policy.Grant{}, err
	}
	for _, s := range g.GetScopes() {
		out.Scopes = append(out.Scopes, policy.Allowed{
			Scope: s.GetName(), Values: s.GetValues().GetValues(), Any: s.GetAny(),
		})
	}
	return out, nil
}

// answerToWire makes the message of an answer. Whatever is not ALLOW refuses.
func answerToWire(a gate.Answer) *hallmarkv1.AuthorizeResponse {
	out := &hallmarkv1.AuthorizeResponse{
		Decision:      known[hallmarkv1.Decision](a.Effect.String()),
		ArgumentsJson: valid(a.ArgumentsJSON), Permit: valid(a.Permit), ApprovalChallenge: valid(a.Challenge),
		DecisionId: valid(a.DecisionID), ContractsDigest: valid(a.ContractsDigest), ModelPayload: valid(a.ModelPayload),
	}
	for _, r := range a.Reasons {
		out.Reasons = append(out.Reasons, &hallmarkv1.Reason{
			Code: known[hallmarkv1.ReasonCode](r.Code), GrantId: valid(r.GrantID), Scope: valid(r.Scope),
			Argument: valid(r.Argument), RequiredTool: valid(r.RequiredTool), Keyword: valid(r.Keyword),
		})
	}
	for _, o := range a.Obligations {
		out.Obligations = append(out.Obligations, valid(string(o)))
	}
	if a.Result != nil {
		out.Result = resultToWire(*a.Result)
	}
	return out
}

// AuthorizeWith decides a request as the service would, in this process: by set, for a
// caller who may grant, at the time now, without claims, tokens or sources. Nothing is
// recorded, so the answer has no decision id and no permit. The error says what is
// malformed in the request, without its values.
func AuthorizeWith(set *gate.Set, now time.Time, req *hallmarkv1.AuthorizeRequest) (*hallmarkv1.AuthorizeResponse, error) {
	f, err := newForm()
	if err != nil {
		return nil, err
	}
	if err := f.check(req); err != nil {
		return nil, err
	}
	p, err := proposalFromWire(req)
	if err != nil {
		return nil, err
	}
	caller := gate.Caller{Tenant: "local", Name: "local", Operator: true, MayGrant: true}
	r := gate.Decide(context.Background(), set, p, gate.Known{Caller: caller, Now: now, Grants: p.Grants})
	return answerToWire(gate.AnswerOf(set, r)), nil
}
