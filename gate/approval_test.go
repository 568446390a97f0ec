package gate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
)

func wipeOf(session, request, text string) Proposal {
	p := sendTo(session, request, "ana@example.test")
	p.Tool, p.Raw = "wipe", []byte(`{"to":["ana@example.test"],"text":"`+text+`"}`)
	p.Grants = []policy.Grant{grant("g", "wipe", func(g *policy.Grant) { g.Scopes = []policy.Allowed{allow("recipient", "@example.test")} })}
	return p
}

// approve signs an answer to a challenge.
func (h *house) approve(s *receipt.Signer, challenge string, change func(*receipt.Approval)) string {
	h.t.Helper()
	a := receipt.Approval{
		IssuedAt: h.clock(), Expires: h.clock().Add(5 * time.Minute), Audience: "hallmark.example.test",
		Challenge: receipt.Digest([]byte(challenge)), Approved: true,
	}
	if change != nil {
		change(&a)
	}
	token, err := s.SignApproval(a)
	if err != nil {
		h.t.Fatal(err)
	}
	return token
}

func TestApproval(t *testing.T) {
	h := build(t)
	h.validate(orchestrator, "s1", "mail", `{"id":"x"}`, `{"body":"hello"}`)
	p := wipeOf("s1", "00000001", "now")
	asked := h.authorize(orchestrator, p)
	wants(t, asked, policy.NeedsApproval, policy.NeedsPerson, contract.ApprovalRequired)
	keys, err := receipt.ParseChallengeKeys(h.gate.PublicKeys())
	if err != nil {
		t.Fatal(err)
	}
	c, err := keys.Verify(asked.Challenge, "hallmark.example.test", h.clock())
	if err != nil {
		t.Fatal(err)
	}
	if string(c.Arguments) != `{"text":"now","to":["ana@example.test"]}` || c.Caller != "orchestrator" || c.Principal != "ana" || c.Tool != "wipe" ||
		len(c.Disclosed) != 1 || c.Disclosed[0] != (receipt.Source{Tool: "mail", Trust: "untrusted"}) {
		t.Errorf("a person is shown %+v", c)
	}
	if again := h.authorize(orchestrator, p); again.Challenge != asked.Challenge {
		t.Error("a repeat gets another challenge")
	}
	// Fresh results of a kind that was disclosed change nothing.
	h.validate(orchestrator, "s1", "mail", `{"id":"y"}`, `{"body":"news"}`)
	if again := h.authorize(orchestrator, p); again.Challenge != asked.Challenge {
		t.Error("a fresh result of the same kind changes the challenge")
	}
	// It is made again from the call that is repeated; later, it is still the same.
	h.pass(90 * time.Second)
	if again := h.authorize(orchestrator, p); again.Challenge != asked.Challenge {
		t.Error("a later repeat gets another challenge")
	}

	yes := h.approve(h.boss, asked.Challenge, nil)
	self := Caller{Tenant: "acme", Name: "boss", MayGrant: true}
	selfAsked := h.authorize(self, p)
	with := func(change func(*Proposal), caller Caller, approval string) Answer {
		q := p
		if change != nil {
			change(&q)
		}
		q.Approval = approval
		return h.authorize(caller, q)
	}
	for line, a := range map[string]Answer{
		"no token":            with(nil, orchestrator, "x"),
		"the challenge":       with(nil, orchestrator, asked.Challenge),
		"a portal's":          with(nil, orchestrator, h.approve(h.portal, asked.Challenge, nil)),
		"another challenge's": with(nil, orchestrator, h.approve(h.boss, asked.Challenge+"x", nil)),
		"for another service": with(nil, orchestrator, h.approve(h.boss, asked.Challenge, func(a *receipt.Approval) { a.Audience = "x" })),
		"over":                with(nil, orchestrator, h.approve(h.boss, asked.Challenge, func(a *receipt.Approval) { a.IssuedAt, a.Expires = noon.Add(-9*time.Minute), noon.Add(-time.Minute) })),
		"the caller's own":    with(nil, self, h.approve(h.boss, selfAsked.Challenge, nil)),
		"other arguments":     with(func(p *Proposal) { p.Raw = []byte(`{"to":["ana@example.test"],"text":"no w"}`) }, orchestrator, yes),
		"another user":        with(func(p *Proposal) { p.Principal = "bo" }, orchestrator, yes),
		"another request":     with(func(p *Proposal) { p.RequestID = "req.00000009" }, orchestrator, yes),
		"another session":     with(func(p *Proposal) { p.SessionID = "s9" }, orchestrator, yes),
	} {
		if a.Effect != policy.Deny || codesOf(a) != "APPROVAL_INVALID " || a.Result.Failure.Code != contract.NotAuthorized {
			t.Errorf("%s: %s %s", line, a.Effect, codesOf(a))
		}
	}
	if e := h.event(asked.DecisionID); e.ChallengeID != c.ID || e.Approver != "" {
		t.Errorf("the record of the question says %+v", e)
	}

	done := with(nil, orchestrator, yes)
	wants(t, done, policy.Allow, policy.Granted, "")
	if again := with(nil, orchestrator, yes); again.Permit != done.Permit {
		t.Error("a repeat gets another permit")
	}
	h.pass(61 * time.Second)
	wants(t, with(nil, orchestrator, yes), policy.Deny, policy.InvalidApproval, contract.NotAuthorized) // used once
	if e := h.event(done.DecisionID); e.Approver != "boss" || e.ChallengeID != c.ID {
		t.Errorf("the record of the answer says %+v", e)
	}
}

// A person's no refuses the call that brings it, and the record says whose it was. Another
// answer to the same question counts as it comes: people change their minds.
func TestRejection(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "now")
	asked := h.authorize(orchestrator, p).Challenge
	p.Approval = h.approve(h.boss, asked, func(a *receipt.Approval) { a.Approved = false })
	for range 2 {
		a := h.authorize(orchestrator, p)
		wants(t, a, policy.Deny, policy.RefusedByPerson, contract.NotAuthorized)
		if e := h.event(a.DecisionID); e.Approver != "boss" || e.ChallengeID == "" {
			t.Errorf("the record says %+v", e)
		}
	}
	p.Approval = h.approve(h.boss, asked, nil)
	wants(t, h.authorize(orchestrator, p), policy.Allow, policy.Granted, "")
}

// What was delivered after a person looked is something that the person did not see.
func TestApprovalAfterDisclosure(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "now")
	p.Approval = h.approve(h.boss, h.authorize(orchestrator, p).Challenge, nil)
	h.validate(orchestrator, "s1", "mail", `{"id":"x"}`, `{"body":"hello"}`)
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.InvalidApproval, contract.NotAuthorized)
	p.Approval = ""
	p.Approval = h.approve(h.boss, h.authorize(orchestrator, p).Challenge, nil)
	wants(t, h.authorize(orchestrator, p), policy.Allow, policy.Granted, "")
}

// A challenge has room for whatever the schema allows, and shows it whole.
func TestApprovalOfMuch(t *testing.T) {
	h := build(t)
	keys, err := receipt.ParseChallengeKeys(h.gate.PublicKeys())
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{7_000, 33_000, 1_000_000} {
		p := wipeOf("s1", fmt.Sprintf("1000000%d", i), strings.Repeat("x", n))
		asked := h.authorize(orchestrator, p)
		wants(t, asked, policy.NeedsApproval, policy.NeedsPerson, contract.ApprovalRequired)
		c, err := keys.Verify(asked.Challenge, "hallmark.example.test", h.clock())
		if err != nil || string(c.Arguments) != `{"text":"`+strings.Repeat("x", n)+`","to":["ana@example.test"]}` {
			t.Errorf("%d characters: %v, %d bytes are shown", n, err, len(c.Arguments))
		}
		p.Approval = h.approve(h.boss, asked.Challenge, nil)
		wants(t, h.authorize(orchestrator, p), policy.Allow, policy.Granted, "")
	}
}

// A call that cannot be shown whole cannot be approved: numbers are longer in their
// canonical form.
func TestApprovalOfTooMuch(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "x")
	p.Raw = []byte(`{"to":["ana@example.test"],"text":"x","many":[` + strings.TrimSuffix(strings.Repeat("1e15,", 99_000), ",") + `]}`)
	a := h.authorize(orchestrator, p)
	wants(t, a, policy.Deny, policy.InvalidArguments, contract.InvalidArguments)
	if a.Challenge != "" {
		t.Error("a challenge all the same")
	}
	// An approval is not asked for where the call is denied anyway.
	p = wipeOf("s1", "00000002", "x")
	p.Grants = nil
	if a := h.authorize(orchestrator, p); a.Effect != policy.Deny || a.Challenge != "" {
		t.Errorf("%+v", a)
	}
}

// A rotation loses no question and no answer; a revoked key loses all of its own, and the
// question is asked anew.
func TestChallengeKeyRotates(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "now")
	asked := h.authorize(orchestrator, p).Challenge
	old := h.tokens.Keys.ChallengeKeys(h.clock())[0]
	change := func(what func() error) {
		t.Helper()
		if err := what(); err != nil {
			t.Fatal(err)
		}
		keys, err := h.dir.Load()
		if err != nil {
			t.Fatal(err)
		}
		h.tokens.Keys = keys
	}
	// In the same second, so that both keys were active then.
	change(func() error { _, err := h.dir.Rotate(receipt.Challenges, h.clock(), 0, 24*time.Hour); return err })
	if again := h.authorize(orchestrator, p); again.Challenge != asked {
		t.Error("after a rotation a repeat gets another challenge")
	}
	q := p
	q.Approval = h.approve(h.boss, asked, nil)
	wants(t, h.authorize(orchestrator, q), policy.Allow, policy.Granted, "")

	p = wipeOf("s1", "00000002", "now")
	h.tokens.Keys, p.RequestID = h.keys, "req.00000002" // by the old key
	asked = h.authorize(orchestrator, p).Challenge
	change(func() error { _, err := h.dir.Revoke(old, h.clock()); return err })
	q = p
	q.Approval = h.approve(h.boss, asked, nil)
	wants(t, h.authorize(orchestrator, q), policy.Deny, policy.InvalidApproval, contract.NotAuthorized)
	anew := h.authorize(orchestrator, p)
	wants(t, anew, policy.NeedsApproval, policy.NeedsPerson, contract.ApprovalRequired)
	if anew.Challenge == asked {
		t.Error("the challenge of a revoked key is given out again")
	}
	q.Approval = h.approve(h.boss, anew.Challenge, nil)
	wants(t, h.authorize(orchestrator, q), policy.Allow, policy.Granted, "")
}

// Replicas' clocks differ: one that is behind gives the same challenge out.
func TestChallengeByASlowClock(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "now")
	asked := h.authorize(orchestrator, p)
	h.pass(-8 * time.Second)
	again := h.authorize(orchestrator, p)
	wants(t, again, policy.NeedsApproval, policy.NeedsPerson, contract.ApprovalRequired)
	if again.Challenge != asked.Challenge {
		t.Error("another challenge")
	}
}

// A challenge lives for hours, and then the question is asked anew.
func TestChallengeExpires(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "now")
	first := h.authorize(orchestrator, p).Challenge
	h.pass(challengeLife + time.Second)
	p.Approval = h.approve(h.boss, first, nil)
	p.Grants[0].NotAfter = h.clock().Add(time.Hour)
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.InvalidApproval, contract.NotAuthorized)
	p.Approval = ""
	if second := h.authorize(orchestrator, p).Challenge; second == "" || second == first {
		t.Error("no new challenge")
	}
}

// forgetful is a store that cannot say what was delivered, and can do everything else.
type forgetful struct{ audit.Store }

func (forgetful) Delivered(context.Context, string, string) ([]audit.Delivery, error) {
	return nil, audit.ErrUnavailable
}

// What cannot be known is not nothing: nobody is asked, and no earlier yes counts.
func TestApprovalWithoutSources(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "now")
	yes := h.approve(h.boss, h.authorize(orchestrator, p).Challenge, nil) // after nothing
	h.validate(orchestrator, "s1", "mail", `{"id":"x"}`, `{"body":"hello"}`)
	h.gate.store = forgetful{h.store}
	if a := h.authorize(orchestrator, p); a.Challenge != "" {
		t.Error("a person is asked")
	} else {
		wants(t, a, policy.Deny, policy.ConditionError, contract.NotAuthorized)
	}
	p.Approval = yes
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.InvalidApproval, contract.NotAuthorized)
	// Without a session there is nothing to know; the challenge says so by naming none.
	p.SessionID, p.Approval = "", ""
	wants(t, h.authorize(orchestrator, p), policy.NeedsApproval, policy.NeedsPerson, contract.ApprovalRequired)
}

// Two callers that propose the same call in one session are asked about apart: the answer
// to one is not used up by the other's.
func TestChallengesOfCallersDiffer(t *testing.T) {
	h := build(t)
	p := wipeOf("s1", "00000001", "now")
	keys, err := receipt.ParseChallengeKeys(h.gate.PublicKeys())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, caller := range []Caller{orchestrator, {Tenant: "acme", Name: "another", MayGrant: true}} {
		asked := h.authorize(caller, p)
		c, err := keys.Verify(asked.Challenge, "hallmark.example.test", h.clock())
		if err != nil || c.Caller != caller.Name {
			t.Fatalf("%+v, %v", c, err)
		}
		if other, found := seen[c.ID]; found {
			t.Errorf("%s and %s have one challenge", caller.Name, other)
		}
		seen[c.ID] = caller.Name
	}
}
