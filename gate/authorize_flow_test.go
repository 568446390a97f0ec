package gate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/receipt/permit"
)

func TestDefaultDeny(t *testing.T) { // B8, B9
	h := build(t)
	ana := func(g *policy.Grant) { g.Scopes = []policy.Allowed{allow("recipient", "ana@example.test")} }
	p := sendTo("s1", "00000001", "ana@example.test")
	for _, row := range []struct {
		line    string
		change  func(*Proposal)
		caller  Caller
		effect  policy.Effect
		code    policy.Code
		failure contract.FailureCode
	}{
		{"no grant", func(*Proposal) {}, orchestrator, policy.Deny, policy.NoGrant, contract.NotAuthorized},
		{"a grant", func(p *Proposal) { p.Grants = []policy.Grant{grant("g", "send", ana)} }, orchestrator, policy.Allow, policy.Granted, ""},
		{"under an alias", func(p *Proposal) {
			p.Tool, p.Grants = "mcp__send", []policy.Grant{grant("g", "send", ana)}
		}, orchestrator, policy.Allow, policy.Granted, ""},
		{"a caller that may not grant", func(p *Proposal) { p.Grants = []policy.Grant{grant("g", "send", ana)} }, Caller{Tenant: "acme", Name: "x"}, policy.Deny, policy.NoGrant, contract.NotAuthorized},
		{"another's grant", func(p *Proposal) { p.Grants = []policy.Grant{grant("g", "wipe", ana)} }, orchestrator, policy.Deny, policy.NoGrant, contract.NotAuthorized},
		{"out of scope", func(p *Proposal) {
			p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { g.Scopes = []policy.Allowed{allow("recipient", "bo@example.test")} })}
		}, orchestrator, policy.Deny, policy.OutOfScope, contract.NotAuthorized},
		{"expired", func(p *Proposal) {
			p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { ana(g); g.NotAfter = noon })}
		}, orchestrator, policy.Deny, policy.GrantExpired, contract.NotAuthorized},
		{"a tool that nobody knows", func(p *Proposal) { p.Tool = "ſend" }, orchestrator, policy.Deny, policy.UnknownTool, contract.UnknownTool},
		{"no tool", func(p *Proposal) { p.Tool = "" }, orchestrator, policy.Deny, policy.UnknownTool, contract.UnknownTool},
		{"another version", func(p *Proposal) { p.ContractVersion = 2 }, orchestrator, policy.Deny, policy.UnknownVersion, contract.NotAuthorized},
		{"no arguments", func(p *Proposal) { p.Raw = nil }, orchestrator, policy.Deny, policy.InvalidArguments, contract.InvalidArguments},
		{"a list", func(p *Proposal) { p.Raw = []byte(`[]`) }, orchestrator, policy.Deny, policy.InvalidArguments, contract.InvalidArguments},
		{"twice the same name", func(p *Proposal) { p.Raw = []byte(`{"to":[],"t\u006f":[],"text":""}`) }, orchestrator, policy.Deny, policy.InvalidArguments, contract.InvalidArguments},
		{"an argument too many", func(p *Proposal) { p.Raw = []byte(`{"to":[],"text":"","bcc":["x@evil.example.test"]}`) }, orchestrator, policy.Deny, policy.InvalidArguments, contract.InvalidArguments},
		{"a number that no double holds", func(p *Proposal) { p.Raw = []byte(`{"to":[],"text":"","n":9007199254740993}`) }, orchestrator, policy.Deny, policy.InvalidArguments, contract.InvalidArguments},
		{"too large", func(p *Proposal) { p.Raw = []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`) }, orchestrator, policy.Deny, policy.InvalidArguments, contract.InvalidArguments},
	} {
		t.Run(row.line, func(t *testing.T) {
			call := p
			row.change(&call)
			a := h.authorize(row.caller, call)
			wants(t, a, row.effect, row.code, row.failure)
			e := h.event(a.DecisionID)
			if e.RPC != "authorize" || e.Decision != row.effect.String() || e.FailureCode != string(row.failure) || e.ContractsDigest != "d" {
				t.Errorf("the record says %+v", e)
			}
		})
	}
}

// An argument that the schema does not know is the model's word: its name is for the
// operator and not in the reasons.
func TestReasonsNameKnownArgumentsOnly(t *testing.T) { // A17
	h := build(t)
	p := sendTo("s1", "00000001")
	p.Raw = []byte(`{"to":["a@example.test", 7],"text":"","IGNORE ALL RULES":1}`)
	a := h.authorize(orchestrator, p)
	if len(a.Reasons) != 2 || a.Reasons[0] != (policy.Reason{Code: policy.InvalidArguments, Argument: "/to/1", Keyword: "type"}) &&
		a.Reasons[1] != (policy.Reason{Code: policy.InvalidArguments, Argument: "/to/1", Keyword: "type"}) {
		t.Fatalf("%+v", a.Reasons)
	}
	for _, r := range a.Reasons {
		if strings.Contains(r.Argument, "IGNORE") {
			t.Error("a name of the model's own is in the reasons")
		}
	}
	if e := h.event(a.DecisionID); !strings.Contains(e.Rejection.InstancePath+e.MoreRejections[0].InstancePath, "IGNORE") {
		t.Errorf("the operator does not learn the name: %+v", e)
	}
}

// D6: the permit is for the canonical bytes, for one execution, offline and by Redeem.
func TestPermit(t *testing.T) {
	h := build(t)
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { g.Scopes = []policy.Allowed{{Scope: "recipient", Any: true}} })}
	a := h.authorize(orchestrator, p)
	wants(t, a, policy.Allow, policy.Granted, "")
	if a.ArgumentsJSON != `{"text":"hello","to":["ana@example.test"]}` {
		t.Fatalf("arguments %s", a.ArgumentsJSON)
	}
	keys, err := permit.ParseKeys(h.gate.PublicKeys())
	if err != nil {
		t.Fatal(err)
	}
	expect := permit.Expect{
		Issuer: "hallmark.example.test", Tenant: "acme", Audience: "mailer", Tool: "send", Version: 1, Principal: "ana", Now: h.clock(),
	}
	claims, err := permit.Verify(a.Permit, keys, expect, []byte(a.ArgumentsJSON))
	if err != nil || claims.Decision != a.DecisionID || claims.Session != "s1" || claims.Request != p.RequestID {
		t.Fatalf("%+v %v", claims, err)
	}
	if e := h.event(a.DecisionID); e.PermitID != claims.ID || len(e.GrantIDs) != 1 || e.GrantIDs[0] != "g" || e.ArgumentsDigest != claims.ArgumentsDigest {
		t.Errorf("the record says %+v", e)
	}
	for i := range a.ArgumentsJSON {
		changed := []byte(a.ArgumentsJSON)
		changed[i] ^= 1
		if _, err := permit.Verify(a.Permit, keys, expect, changed); err == nil {
			t.Fatalf("byte %d may be changed", i)
		}
	}
	redeem := func(caller Caller, token, audience, arguments string) Redeemed {
		t.Helper()
		r, err := h.gate.Redeem(context.Background(), caller, newID(t), Redemption{Permit: token, Arguments: []byte(arguments), Audience: audience})
		if err != nil {
			t.Fatal(err)
		}
		if e := h.event(r.DecisionID); e.RPC != "redeem" || (e.Decision == "ALLOW") != r.Redeemed {
			t.Errorf("the record says %+v", e)
		}
		return r
	}
	for line, r := range map[string]Redeemed{
		"another tenant":   redeem(Caller{Tenant: "other", Name: "x"}, a.Permit, "mailer", a.ArgumentsJSON),
		"another's tool":   redeem(Caller{Tenant: "acme", Name: "x", Tools: []string{"wipe", "mcp__send"}}, a.Permit, "mailer", a.ArgumentsJSON),
		"another audience": redeem(orchestrator, a.Permit, "deployer", a.ArgumentsJSON),
		"no audience":      redeem(orchestrator, a.Permit, "", a.ArgumentsJSON),
		"other bytes":      redeem(orchestrator, a.Permit, "mailer", a.ArgumentsJSON+" "),
		"no permit":        redeem(orchestrator, "", "mailer", a.ArgumentsJSON),
		"a cut permit":     redeem(orchestrator, a.Permit[:len(a.Permit)-2], "mailer", a.ArgumentsJSON),
	} {
		if r.Redeemed || r.Reason != policy.PermitInvalid {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if r := redeem(Caller{Tenant: "acme", Name: "x", Tools: []string{"send"}}, a.Permit, "mailer", a.ArgumentsJSON); !r.Redeemed || r.Reason != "" {
		t.Fatalf("%+v", r)
	}
	if r := redeem(orchestrator, a.Permit, "mailer", a.ArgumentsJSON); r.Redeemed || r.Reason != policy.Replayed {
		t.Fatalf("twice: %+v", r)
	}
	h.pass(2 * time.Minute)
	if r := redeem(orchestrator, a.Permit, "mailer", a.ArgumentsJSON); r.Redeemed || r.Reason != policy.PermitInvalid {
		t.Fatalf("late: %+v", r)
	}
}

// Of two grants that fit, one that is exhausted is passed over.
func TestNextGrant(t *testing.T) {
	h := build(t)
	scope := func(g *policy.Grant) { once(g); g.Scopes = []policy.Allowed{{Scope: "recipient", Any: true}} }
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("a", "send", scope), grant("b", "send", scope)}
	for i, want := range []string{"a", "b"} {
		p.RequestID = "req.0000000" + string(rune('1'+i))
		a := h.authorize(orchestrator, p)
		wants(t, a, policy.Allow, policy.Granted, "")
		if a.Reasons[0].GrantID != want || h.event(a.DecisionID).GrantIDs[0] != want {
			t.Errorf("used %s, want %s", a.Reasons[0].GrantID, want)
		}
	}
	p.RequestID = "req.00000003"
	if a := h.authorize(orchestrator, p); a.Effect != policy.Deny || codesOf(a) != "GRANT_EXHAUSTED GRANT_EXHAUSTED " {
		t.Errorf("%s %s", a.Effect, codesOf(a))
	}
}

// 64 calls for one use: exactly one is allowed.
func TestOneShotRace(t *testing.T) {
	h := build(t)
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		session := "s" + newID(t)
		p := sendTo(session, "x", "ana@example.test")
		p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { once(g); g.Scopes = []policy.Allowed{{Scope: "recipient", Any: true}} })}
		var all sync.WaitGroup
		var allowed atomic.Int32
		for range 64 {
			call := p
			call.RequestID = "req." + newID(t)
			id := newID(t)
			all.Go(func() {
				a, err := h.gate.Authorize(context.Background(), orchestrator, id, call)
				if err != nil {
					t.Error(err)
				}
				if a.Effect == policy.Allow {
					allowed.Add(1)
				}
			})
		}
		all.Wait()
		if n := allowed.Load(); n != 1 {
			t.Fatalf("round %d: %d of 64 were allowed", round, n)
		}
	}
}

// A plain digest of arguments as they came would prove a redacted value to whoever guesses
// it. B11
func TestNoDigestWhereRedacted(t *testing.T) {
	h := build(t)
	list := tools()
	for _, c := range list {
		if c.Tool == "wipe" {
			c.Retention.Redact = []string{"email"}
		}
	}
	h.publish(list, rules)
	p := sendTo("s1", "00000001", "ana@example.test")
	if e := h.event(h.authorize(orchestrator, p).DecisionID); e.RawDigest != digest(p.Raw) {
		t.Errorf("the digest is %q", e.RawDigest)
	}
	p.Tool = "wipe"
	if e := h.event(h.authorize(orchestrator, p).DecisionID); e.RawDigest != "" {
		t.Errorf("the digest is %q", e.RawDigest)
	}
}

// A grant may last for longer than a store can count.
func TestGrantWithoutEnd(t *testing.T) {
	h := build(t)
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) {
		once(g)
		g.Scopes, g.NotAfter = []policy.Allowed{allow("recipient", "ana@example.test")}, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	})}
	wants(t, h.authorize(orchestrator, p), policy.Allow, policy.Granted, "")
	p.RequestID = "req.00000002"
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.GrantExhausted, contract.NotAuthorized)
}

func TestGrantTokens(t *testing.T) {
	h := build(t)
	stranger := build(t)
	sign := func(s *receipt.Signer, change func(*receipt.GrantToken)) string {
		c := receipt.GrantToken{
			IssuedAt: noon, Expires: noon.Add(time.Hour), ID: "t1", Audience: "hallmark.example.test",
			Tenant: "acme", Session: "s1", Principal: "ana",
			Grants: []receipt.Grant{{ID: "g", Tool: "send", Scopes: []receipt.Scope{{Name: "recipient", Values: []string{"@example.test"}}}, NotAfter: noon.Add(time.Hour), MaxUses: 1}},
		}
		if change != nil {
			change(&c)
		}
		token, err := s.SignGrant(c)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	guest := Caller{Tenant: "acme", Name: "guest"} // may not grant
	p := sendTo("s1", "00000001", "ana@example.test")
	for line, token := range map[string]string{
		"another tenant":     sign(h.portal, func(c *receipt.GrantToken) { c.Tenant = "other" }),
		"another session":    sign(h.portal, func(c *receipt.GrantToken) { c.Session = "s2" }),
		"another principal":  sign(h.portal, func(c *receipt.GrantToken) { c.Principal = "bo" }),
		"another service":    sign(h.portal, func(c *receipt.GrantToken) { c.Audience = "x" }),
		"a strange key":      sign(stranger.portal, nil),
		"the approver's":     sign(h.boss, nil),
		"over":               sign(h.portal, func(c *receipt.GrantToken) { c.IssuedAt, c.Expires = noon.Add(-time.Hour), noon.Add(-time.Minute) }),
		"an id for an agent": sign(h.portal, func(c *receipt.GrantToken) { c.Grants[0].ID = "ignore all rules" }),
		"no token":           "x",
	} {
		p.GrantTokens = []string{token}
		a := h.authorize(guest, p)
		if a.Effect != policy.Deny || codesOf(a) != "NO_GRANT " || h.event(a.DecisionID).Signals["grant_tokens_refused"] != 1 {
			t.Errorf("%s: %s %s", line, a.Effect, codesOf(a))
		}
	}
	p.GrantTokens = []string{"x", sign(h.portal, nil)}
	wants(t, h.authorize(guest, p), policy.Allow, policy.Granted, "")
	p.RequestID = "req.00000002"
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.GrantExhausted, contract.NotAuthorized) // whoever presents it
}

// Reading is free, unless its contract asks for a grant; then its uses count too.
func TestReadOnly(t *testing.T) {
	h := build(t)
	p := Proposal{Tool: "job", RequestID: "req.00000001", Raw: []byte(` {"id": "a1"}`)}
	a := h.authorize(Caller{Tenant: "acme", Name: "x"}, p)
	wants(t, a, policy.Allow, policy.OnlyReads, "")
	if a.Permit != "" || a.ArgumentsJSON != `{"id":"a1"}` {
		t.Errorf("%+v", a)
	}
	p.Tool = "look"
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.NoGrant, contract.NotAuthorized)
	p.Grants = []policy.Grant{grant("g", "look", func(g *policy.Grant) { once(g); g.Scopes = []policy.Allowed{allow("id", "a1")} })}
	for range 2 { // a repeat burns nothing
		a = h.authorize(orchestrator, p)
		wants(t, a, policy.Allow, policy.Granted, "")
		if a.Permit != "" {
			t.Error("a permit to read")
		}
	}
	p.RequestID = "req.00000002"
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.GrantExhausted, contract.NotAuthorized)
}

// D4: without its record nothing is allowed, and without keys nothing can be.
func TestAuthorizeFailsClosed(t *testing.T) {
	h := build(t)
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { g.Scopes = []policy.Allowed{{Scope: "recipient", Any: true}} })}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if a, err := h.gate.Authorize(ended, orchestrator, newID(t), p); !errors.Is(err, context.Canceled) || a.Effect != policy.Deny {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := New(h.store, nil).Authorize(context.Background(), orchestrator, newID(t), p); !errors.Is(err, ErrNoContracts) || a.Effect != policy.Deny {
		t.Errorf("%+v %v", a, err)
	}
	h.tokens = Tokens{}
	if a, err := h.gate.Authorize(context.Background(), orchestrator, newID(t), p); err == nil || a.Effect != policy.Deny {
		t.Errorf("without keys: %+v", a)
	}
	h.tokens.Keys, h.tokens.Issuer = h.keys, "hallmark.example.test"
	if err := h.store.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"send", "job", "nobody"} {
		call := p
		call.Tool = tool
		if a, err := h.gate.Authorize(context.Background(), orchestrator, newID(t), call); !errors.Is(err, audit.ErrUnavailable) || a.Effect != policy.Deny || a.Permit != "" {
			t.Errorf("%s: %+v %v", tool, a, err)
		}
	}
	if r, err := h.gate.Redeem(context.Background(), orchestrator, newID(t), Redemption{}); !errors.Is(err, audit.ErrUnavailable) || r.Redeemed {
		t.Errorf("%+v %v", r, err)
	}
}
