package gate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/policy"
)

// panickyStore panics where something is used up or recalled, and records the rest.
type panickyStore struct{ audit.Store }

func (s panickyStore) Append(ctx context.Context, e audit.Entry) (audit.Outcome, error) {
	if e.Uses.Request != "" || len(e.Uses.Claims) > 0 {
		panic("SECRET")
	}
	return s.Store.Append(ctx, e)
}

func (panickyStore) Recall(context.Context, audit.Key, time.Time) ([]byte, error) { panic("SECRET") }

// Wherever a call panics, it leaves a record and an error, and allows nothing. Case 143
func TestPanicsLeaveRecords(t *testing.T) {
	h := build(t)
	p := sendTo("s1", "00000001", "ana@example.test")
	p.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) { g.Scopes = []policy.Allowed{allow("recipient", "ana@example.test")} })}
	allowed := h.authorize(orchestrator, p)
	if allowed.Permit == "" {
		t.Fatalf("%+v", allowed)
	}
	g := New(panickyStore{h.store}, h.clock, WithTokens(func() Tokens { return h.tokens }),
		WithOriginals(func() Originals { panic("SECRET") }))
	g.Publish(h.gate.Set())
	expired := p
	expired.Grants = []policy.Grant{grant("g", "send", func(g *policy.Grant) {
		g.Scopes, g.NotAfter = []policy.Allowed{allow("recipient", "ana@example.test")}, h.clock()
	})}
	another := p
	another.RequestID = "req.00000002"
	for line, call := range map[string]func(id string) error{
		"keeping an original": func(id string) error {
			_, err := g.Validate(context.Background(), orchestrator, id, Call{Request: Request{Tool: "job", RequestID: p.RequestID}, Raw: []byte(`{}`)})
			return err
		},
		"using a grant up": func(id string) error {
			a, err := g.Authorize(context.Background(), orchestrator, id, another)
			if a.Effect != policy.Deny || a.Permit != "" {
				t.Errorf("%+v", a)
			}
			return err
		},
		"looking for the first decision": func(id string) error {
			a, err := g.Authorize(context.Background(), orchestrator, id, expired)
			if a.Effect != policy.Deny || a.Permit != "" {
				t.Errorf("%+v", a)
			}
			return err
		},
		"using a permit up": func(id string) error {
			r, err := g.Redeem(context.Background(), orchestrator, id, Redemption{
				Permit: allowed.Permit, Arguments: []byte(allowed.ArgumentsJSON), Audience: "mailer",
			})
			if r.Redeemed {
				t.Error("redeemed")
			}
			return err
		},
	} {
		id := newID(t)
		var panicked *PanicError
		if err := call(id); !errors.As(err, &panicked) || panicked.Kind != "string" {
			t.Errorf("%s: %v", line, err)
		}
		if e, err := h.store.Get(context.Background(), audit.AllTenants(), id); err != nil || e.Rejection.Layer != "INTERNAL" || e.Decision == "ALLOW" {
			t.Errorf("%s: the record is %+v, %v", line, e, err)
		}
	}
}
