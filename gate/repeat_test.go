package gate

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
)

// D6: a repeat after a lost reply burns nothing; a new request does.
func TestRepeats(t *testing.T) {
	h := build(t)
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) {
		once(g)
		g.Scopes = []policy.Allowed{allow("recipient", "@example.test")}
	})}
	first := h.authorize(orchestrator, p)
	h.pass(10 * time.Second)
	again := h.authorize(orchestrator, p)
	if again.Permit != first.Permit || again.Effect != policy.Allow || again.DecisionID == first.DecisionID {
		t.Fatalf("%+v", again)
	}
	if a, b := h.event(first.DecisionID), h.event(again.DecisionID); a.PermitID != b.PermitID || b.GrantIDs[0] != "g" {
		t.Errorf("%+v", b)
	}
	for line, change := range map[string]func(*Proposal){
		"a new request":       func(p *Proposal) { p.RequestID = "req.00000002" },
		"other arguments":     func(p *Proposal) { p.Raw = []byte(`{"text":"other","to":["ana@example.test"]}`) },
		"for another user":    func(p *Proposal) { p.Principal = "bo" },
		"only spelt the same": func(p *Proposal) { p.Raw = []byte(`{"to":["bo@example.test"],"text":"hello"}`) },
	} {
		other := p
		change(&other)
		a := h.authorize(orchestrator, other)
		if a.Effect != policy.Deny || codesOf(a) != "GRANT_EXHAUSTED " || a.Reasons[0].GrantID != "g" {
			t.Errorf("%s: %s %s", line, a.Effect, codesOf(a))
		}
	}
	same := p
	same.Raw = []byte("{\n\"to\": [\"ana@example.test\"], \"text\": \"hel\\u006co\"}")
	if a := h.authorize(orchestrator, same); a.Permit != first.Permit {
		t.Error("the same arguments in another spelling are another call")
	}
	h.pass(time.Minute)
	wants(t, h.authorize(orchestrator, p), policy.Deny, policy.GrantExhausted, contract.NotAuthorized)
	elsewhere := p
	elsewhere.SessionID = "s2"
	wants(t, h.authorize(orchestrator, elsewhere), policy.Allow, policy.Granted, "") // a session's grants are its own
}

// D6: the repeat of a call that was allowed gets the same answer while its permit lives,
// whatever is over by then. It must be the same call: whoever presents anything else, or is
// somebody else, is decided anew.
func TestRepeatsOfWhatIsOver(t *testing.T) {
	h := build(t)
	p := restartOf("s1", "00000001", "a1", h.job("s1", "a1", "failed").Receipt)
	p.Grants[0].NotAfter = h.clock().Add(20 * time.Second)
	first := h.authorize(orchestrator, p)
	wants(t, first, policy.Allow, policy.Granted, "")
	h.job("s1", "a1", "ok")
	h.pass(30 * time.Second) // the grant is over, and the evidence is no longer the newest
	again := h.authorize(orchestrator, p)
	wants(t, again, policy.Allow, policy.Granted, "")
	if again.Permit != first.Permit || again.ArgumentsJSON != first.ArgumentsJSON || len(again.Reasons) != 1 || again.Reasons[0] != first.Reasons[0] ||
		len(again.Obligations) != len(first.Obligations) {
		t.Errorf("%+v, and then %+v", first, again)
	}
	if a, b := h.event(first.DecisionID), h.event(again.DecisionID); a.PermitID != b.PermitID || len(b.EvidenceIDs) != 1 || b.Decision != "ALLOW" {
		t.Errorf("the record says %+v", b)
	}
	somebody := orchestrator
	somebody.Name = "somebody"
	for line, a := range map[string]Answer{
		"no evidence": h.authorize(orchestrator, restartOf("s1", "00000001", "a1")),
		"other grants": h.authorize(orchestrator, func() Proposal {
			q := p
			q.Grants = []policy.Grant{p.Grants[0]}
			q.Grants[0].ID = "other"
			return q
		}()),
		"another caller": h.authorize(somebody, p),
	} {
		if a.Effect != policy.Deny || a.Permit != "" {
			t.Errorf("%s: %s %s", line, a.Effect, codesOf(a))
		}
	}
	h.pass(31 * time.Second)
	if a := h.authorize(orchestrator, p); a.Effect != policy.Deny {
		t.Errorf("after the permit: %s %s", a.Effect, codesOf(a))
	}
}

// What a policy forbids meanwhile stays forbidden, and another contract is another call:
// neither gets a permit again.
func TestRepeatsOfWhatChanged(t *testing.T) {
	h := build(t)
	send := sendTo("s1", "00000001", "ana@example.test")
	send.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { g.Scopes = []policy.Allowed{allow("recipient", "@example.test")} })}
	wants(t, h.authorize(orchestrator, send), policy.Allow, policy.Granted, "")
	h.validate(orchestrator, "s1", "mail", `{"id":"x"}`, `{"body":"hello"}`)
	wants(t, h.authorize(orchestrator, send), policy.Deny, policy.Forbidden, contract.NotAuthorized)

	once := send
	once.SessionID = "s2"
	once.Grants = []policy.Grant{send.Grants[0]}
	once.Grants[0].Unlimited, once.Grants[0].MaxUses = false, 1
	first := h.authorize(orchestrator, once)
	wants(t, first, policy.Allow, policy.Granted, "")
	withdrawn := orchestrator
	withdrawn.MayGrant = false
	wants(t, h.authorize(withdrawn, once), policy.Deny, policy.NoGrant, contract.NotAuthorized)
	list := tools()
	for _, c := range list {
		if c.Tool == "send" {
			c.Arguments.Audience, c.Digest = "another mailer", digest([]byte("changed"))
		}
	}
	h.publish(list, rules)
	wants(t, h.authorize(orchestrator, once), policy.Deny, policy.GrantExhausted, contract.NotAuthorized)
}

// A repeat gets its permit also where the key that signed it was rotated out, or revoked.
func TestRepeatsAfterRotation(t *testing.T) {
	h := build(t)
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) {
		g.Scopes = []policy.Allowed{allow("recipient", "@example.test")}
		once(g)
	})}
	first := h.authorize(orchestrator, p)
	wants(t, first, policy.Allow, policy.Granted, "")
	h.pass(5 * time.Second)
	list, err := h.dir.List(h.clock())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.dir.Rotate(receipt.Permits, h.clock(), 0, time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		if k.Set == receipt.Permits {
			if _, err := h.dir.Revoke(k.ID, h.clock()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if h.tokens.Keys, err = h.dir.Load(); err != nil {
		t.Fatal(err)
	}
	again := h.authorize(orchestrator, p)
	wants(t, again, policy.Allow, policy.Granted, "")
	if a, b := h.event(first.DecisionID), h.event(again.DecisionID); a.PermitID != b.PermitID || again.Permit == first.Permit {
		t.Errorf("permit %s, then %s", a.PermitID, b.PermitID)
	}
	if _, err := h.tokens.Keys.VerifyPermit(again.Permit, receipt.PermitExpect{
		Issuer: "hallmark.example.test", Tenant: "acme", Audience: "mailer", Arguments: []byte(again.ArgumentsJSON), Now: h.clock(),
	}); err != nil {
		t.Error(err)
	}
}

// A fault of our own refuses, and is on record.
func TestFaultIsRecorded(t *testing.T) {
	h := build(t)
	h.tokens.Keys = nil
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { g.Scopes = []policy.Allowed{allow("recipient", "@example.test")} })}
	for i, p := range []Proposal{p, wipeOf("s1", "00000002", "x")} {
		id := fmt.Sprintf("01890000-0000-7000-8000-00000000000%d", i)
		if _, err := h.gate.Authorize(context.Background(), orchestrator, id, p); err == nil {
			t.Fatal("answered without keys")
		}
		if e := h.event(id); e.Decision != "DENY" || e.Rejection.Layer != "INTERNAL" || e.PermitID != "" {
			t.Errorf("the record says %+v", e)
		}
	}
}

// Whatever is presented otherwise is presented otherwise: each field of each kind counts,
// also one that is added later.
func TestPresented(t *testing.T) {
	base := func() reading {
		return reading{Proposal: Proposal{
			Grants: []policy.Grant{{
				ID: "g", Issuer: "i", Tool: "t", NotAfter: noon, MaxUses: 1,
				Scopes: []policy.Allowed{{Scope: "s", Values: []string{"a", "b"}}},
			}},
			GrantTokens: []string{"x"}, Evidence: []string{"y"}, Approval: "z",
		}}
	}
	seen := map[string]string{base().presented(): "as it is"}
	if again := base().presented(); seen[again] == "" {
		t.Error("the same is presented otherwise")
	}
	note := func(line string, r reading) {
		t.Helper()
		d := r.presented()
		if other, known := seen[d]; known {
			t.Errorf("%s: the same as %s", line, other)
		}
		seen[d] = line
	}
	fields := func(line string, of func(*reading) reflect.Value) {
		r := base()
		for i := range of(&r).NumField() {
			r := base()
			f := of(&r).Field(i)
			switch v := f.Addr().Interface().(type) {
			case *string:
				*v += "x"
			case *bool:
				*v = !*v
			case *uint32:
				*v++
			case *time.Time:
				*v = v.Add(time.Nanosecond)
			case *[]string:
				*v = append(*v, "")
			case *[]policy.Allowed:
				*v = append(*v, policy.Allowed{})
			default:
				t.Fatalf("%s: a field of the kind %s", line, f.Type())
			}
			note(line+of(&r).Type().Field(i).Name, r)
		}
	}
	fields("grant: ", func(r *reading) reflect.Value { return reflect.ValueOf(&r.Grants[0]).Elem() })
	fields("scope: ", func(r *reading) reflect.Value { return reflect.ValueOf(&r.Grants[0].Scopes[0]).Elem() })
	for line, change := range map[string]func(*reading){
		"no grant":             func(r *reading) { r.Grants = nil },
		"two grants":           func(r *reading) { r.Grants = append(r.Grants, r.Grants[0]) },
		"no token":             func(r *reading) { r.GrantTokens = nil },
		"a token as a receipt": func(r *reading) { r.GrantTokens, r.Evidence = nil, []string{"x", "y"} },
		"another receipt":      func(r *reading) { r.Evidence[0] = "w" },
		"texts run together":   func(r *reading) { r.Grants[0].Scopes[0].Values = []string{"ab"} },
		"no approval":          func(r *reading) { r.Approval = "" },
		"no end":               func(r *reading) { r.Grants[0].NotAfter = time.Time{} },
	} {
		r := base()
		change(&r)
		note(line, r)
	}
}
