package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/receipt/permit"
)

// act is one step of the play. play does it, prints what came of it, and says how the
// answer was wrong.
type act interface {
	heading() string
	play(ctx context.Context, s *stage) error
}

func (scene scene) heading() string { return scene.title }
func (p proposal) heading() string  { return p.title }
func (x execution) heading() string { return x.title }
func (a approval) heading() string  { return a.title }

// proposal is a call that an agent proposes, and the one right answer to it.
type proposal struct {
	title     string
	call      *hallmarkv1.ProposedCall
	arguments string // canonical already
	grants    []*hallmarkv1.Grant
	evidence  []string // names of receipts that were kept
	approval  string   // name of an approval that was kept; "": none
	keep      string   // name under which permit and bytes, or the challenge, are kept
	want      ruling
}

// ruling is a right answer to a proposal.
type ruling struct {
	decision hallmarkv1.Decision
	code     hallmarkv1.FailureCode // what the agent is told; 0 on ALLOW
	reason   hallmarkv1.ReasonCode
	policy   string // the policy that the record names; "": none
}

func (p proposal) play(ctx context.Context, s *stage) error {
	request := &hallmarkv1.AuthorizeRequest{
		Call: p.call, Payload: &hallmarkv1.AuthorizeRequest_Raw{Raw: []byte(p.arguments)}, Grants: p.grants,
		Approval: s.approvals[p.approval],
	}
	for _, name := range p.evidence {
		request.Evidence = append(request.Evidence, s.receipts[name])
	}
	answer, err := s.gate.Authorize(ctx, request)
	if err != nil {
		return err
	}
	event, err := s.event(ctx, answer.GetDecisionId())
	if err != nil {
		return err
	}
	if p.keep != "" {
		s.permits[p.keep], s.bytes[p.keep] = answer.GetPermit(), answer.GetArgumentsJson()
		s.challenges[p.keep] = answer.GetApprovalChallenge()
	}
	agent := answer.GetModelPayload()
	if agent == "" {
		agent = "(nothing yet: what the tool will return)"
	}
	sideBySide(s.out, "the agent proposes", "", wrap(p.call.GetTool()+" "+visible(p.arguments), 2*column), nil)
	sideBySide(s.out, "the agent sees", "the operator sees", wrap(agent, column), rulingView(event))
	return p.want.check(answer, event, p.arguments)
}

// check says how an answer differs from the one right one.
func (w ruling) check(a *hallmarkv1.AuthorizeResponse, e *hallmarkv1.Event, arguments string) error {
	said := func(r *hallmarkv1.Reason) bool { return r.GetCode() == w.reason }
	allow := w.decision == hallmarkv1.Decision_DECISION_ALLOW
	switch {
	case a.GetDecision() != w.decision:
		return fmt.Errorf("decided %s, %v", a.GetDecision(), a.GetReasons())
	case !slices.ContainsFunc(a.GetReasons(), said) || len(a.GetReasons()) != 1:
		return fmt.Errorf("for the reasons %v", a.GetReasons())
	case a.GetResult().GetFailure().GetCode() != w.code:
		return fmt.Errorf("the agent is told %s", a.GetResult().GetFailure().GetCode())
	case allow != (a.GetPermit() != ""), allow != (a.GetArgumentsJson() == arguments):
		return errors.New("permit and bytes to execute do not go with the decision")
	case (w.decision == hallmarkv1.Decision_DECISION_NEEDS_APPROVAL) != (a.GetApprovalChallenge() != ""):
		return errors.New("the challenge does not go with the decision")
	case e.GetDecision() != w.decision || e.GetRejection().GetCheck() != w.policy:
		return fmt.Errorf("the record says %s by the policy %q", e.GetDecision(), e.GetRejection().GetCheck())
	}
	return nil
}

func rulingView(e *hallmarkv1.Event) []string {
	lines := []string{
		"decision  " + e.GetDecisionId(),
		fmt.Sprintf("contract  %s v%d, owner %s", e.GetTool(), e.GetContractVersion(), e.GetOwner()),
		fmt.Sprintf("for       %s in session %s", e.GetPrincipal(), e.GetSessionId()),
		"verdict   " + strings.TrimPrefix(e.GetDecision().String(), "DECISION_"),
	}
	for _, r := range e.GetReasons() {
		text := "  reason  " + strings.TrimPrefix(r.GetCode().String(), "REASON_CODE_")
		for _, part := range []string{r.GetGrantId(), r.GetScope(), r.GetArgument(), r.GetRequiredTool()} {
			if part != "" {
				text += " " + part
			}
		}
		lines = append(lines, text)
	}
	if policy := e.GetRejection().GetCheck(); policy != "" {
		lines = append(lines, "  policy  "+policy)
	}
	for _, id := range e.GetEvidenceIds() {
		lines = append(lines, "evidence  "+id)
	}
	if id := e.GetPermitId(); id != "" {
		lines = append(lines, "permit    "+id)
	}
	return lines
}

// execution is an executor with a permit that was kept.
type execution struct {
	title, name     string
	tool, principal string
	version         uint32
}

func (x execution) play(ctx context.Context, s *stage) error {
	jwks, err := s.keys(ctx)
	if err != nil {
		return err
	}
	keys, err := permit.ParseKeys(jwks)
	if err != nil {
		return err
	}
	token, arguments := s.permits[x.name], []byte(s.bytes[x.name])
	expect := permit.Expect{
		Issuer: issuer, Tenant: tenant, Audience: x.tool, Tool: x.tool, Version: x.version,
		Principal: x.principal, Now: time.Now(),
	}
	_, good := permit.Verify(token, keys, expect, arguments)
	_, other := permit.Verify(token, keys, expect, append(slices.Clone(arguments), ' '))
	redeem := func() (*hallmarkv1.RedeemResponse, error) {
		return s.gate.Redeem(ctx, &hallmarkv1.RedeemRequest{Permit: token, Arguments: arguments, Audience: x.tool})
	}
	first, err := redeem()
	if err != nil {
		return err
	}
	second, err := redeem()
	if err != nil {
		return err
	}
	sideBySide(s.out, "the executor finds", "the service says", []string{
		"the permit for these bytes:        " + outcome(good),
		"the permit for one byte more:      " + outcome(other),
	}, []string{
		fmt.Sprintf("redeemed  %t", first.GetRedeemed()),
		fmt.Sprintf("redeemed  %t, %s", second.GetRedeemed(), strings.TrimPrefix(second.GetReason().String(), "REASON_CODE_")),
	})
	switch {
	case good != nil:
		return good
	case !errors.Is(other, &receipt.Error{Reason: receipt.Mismatch}):
		return fmt.Errorf("other bytes are taken: %w", other)
	case !first.GetRedeemed() || second.GetRedeemed() || second.GetReason() != hallmarkv1.ReasonCode_REASON_CODE_REPLAYED:
		return errors.New("the permit is not good exactly once")
	}
	return nil
}

func outcome(err error) string {
	if err == nil {
		return "good"
	}
	return err.Error()
}

// approval is a person who is shown a challenge that was kept, and approves it.
type approval struct{ title, name, arguments string }

func (a approval) play(ctx context.Context, s *stage) error {
	jwks, err := s.keys(ctx)
	if err != nil {
		return err
	}
	keys, err := receipt.ParseChallengeKeys(jwks)
	if err != nil {
		return err
	}
	token, now := s.challenges[a.name], time.Now()
	c, err := keys.Verify(token, issuer, now)
	if err != nil {
		return err
	}
	issued := now.UTC().Truncate(time.Second)
	s.approvals[a.name], err = s.approver.SignApproval(receipt.Approval{
		IssuedAt: issued, Expires: issued.Add(10 * time.Minute), Audience: c.Issuer,
		Challenge: receipt.Digest([]byte(token)), Approved: true,
	})
	if err != nil {
		return err
	}
	sideBySide(s.out, "the approver sees", "the approver answers", []string{
		fmt.Sprintf("tool       %s v%d", c.Tool, c.Version),
		"arguments  " + visible(string(c.Arguments)),
		"caller     " + c.Caller + " for " + c.Principal,
		"session    " + c.Session,
		fmt.Sprintf("seen       %d tools before", len(c.Disclosed)),
	}, []string{"approved by " + s.approver.Owner()})
	if string(c.Arguments) != a.arguments {
		return fmt.Errorf("the challenge shows %q", c.Arguments)
	}
	return nil
}
