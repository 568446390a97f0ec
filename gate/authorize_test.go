package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/sqlite"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// house is a gate with everything real behind it: keys, an audit store, contracts.
type house struct {
	t      testing.TB
	gate   *Gate
	store  audit.Store
	tokens Tokens
	keys   *receipt.KeySet
	dir    receipt.Dir // of keys
	mu     sync.Mutex
	now    time.Time
	boss   *receipt.Signer // may approve
	portal *receipt.Signer // may sign grants
}

var orchestrator = Caller{Tenant: "acme", Name: "orchestrator", MayGrant: true}

// parsed reads a schema for what a test's contract promises.
func parsed(name, text string) *contract.Schema {
	v, err := strictjson.Parse([]byte(text), strictjson.Ceilings())
	if err != nil {
		panic(err)
	}
	return &contract.Schema{File: name, Files: map[string][]byte{name: []byte(text)}, Roots: map[string]strictjson.Value{name: v}}
}

func at(pointers ...string) []strictjson.Pointer {
	var out []strictjson.Pointer
	for _, p := range pointers {
		parsed, err := strictjson.ParsePointer(p)
		if err != nil {
			panic(err)
		}
		out = append(out, parsed)
	}
	return out
}

const (
	jobArguments = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{"id":{"type":"string","maxLength":40}}}`
	jobResult    = `{"type":"object","additionalProperties":false,"required":["id","state","seen"],"properties":{
		"id":{"type":"string","pattern":"^[a-z0-9]{1,20}$"},"state":{"enum":["failed","ok"]},"seen":{"type":"string","format":"date-time"}}}`
	sendArguments = `{"type":"object","additionalProperties":false,"required":["to","text"],"properties":{
		"to":{"type":"array","maxItems":5,"items":{"type":"string","maxLength":200}},"text":{"type":"string","maxLength":1000000},"n":{"type":"number"},"many":{"type":"array","items":{"type":"number"}}}}`
)

// tools are what the house knows: job (evidence), mail (text of strangers), restart
// (needs evidence), send (a scope), wipe (needs a person), look (reads, under a grant).
func tools() []*contract.Contract {
	base := func(name string, effect contract.Effect, result, arguments string) *contract.Contract {
		return &contract.Contract{
			Dir: name + "/v1", Tool: name, Version: 1, Effect: effect, Digest: digest([]byte(name)), Owner: name + "-owner",
			Result: contract.Result{
				Kind: contract.KindJSON, Framing: contract.FramingPayload, MediaTypes: []string{"application/json"},
				Limits: strictjson.Ceilings(), Schema: parsed("r.json", result), AgentFields: []strictjson.Pointer{{}},
			},
			Arguments: &contract.Arguments{Schema: parsed("a.json", arguments)},
			Retention: contract.Retention{Accepted: "hash", Rejected: "hash"},
		}
	}
	job := base("job", contract.ReadOnly, jobResult, jobArguments)
	job.Receipt = &contract.Receipt{TTL: 10 * time.Minute, Facts: true}
	job.Result.Checks = []contract.Check{{Use: "fresh", Name: "fresh", With: parsed("", `{"field":"/seen","max_age":"5m","max_skew":"30s"}`).Roots[""]}}
	mail := base("mail", contract.ReadOnly, `{"type":"object","additionalProperties":false,"required":["body"],"properties":{"body":{"type":"string","maxLength":9000}}}`, jobArguments)
	mail.Result.TextFields = []contract.TextField{{At: at("/body")[0], As: contract.AsPlain, MaxChars: 500, Profile: "prose"}}
	restart := base("restart", contract.SideEffect, jobResult, jobArguments)
	restart.Arguments.Scopes = []contract.Scope{{Name: "id", Type: "string", At: at("/id")}}
	restart.Arguments.Requires = []contract.Evidence{{
		Tool: "job", MaxAge: 5 * time.Minute, Match: map[string]string{"/id": "/id"}, When: `evidence.state == "failed"`,
	}}
	send := base("send", contract.SideEffect, jobResult, sendArguments)
	send.Aliases = []string{"mcp__send"}
	send.Arguments.Audience = "mailer"
	send.Arguments.Scopes = []contract.Scope{{Name: "recipient", Type: "email", At: at("/to")}}
	wipe := base("wipe", contract.SideEffect, jobResult, sendArguments)
	wipe.Arguments.Scopes = []contract.Scope{{Name: "recipient", Type: "email", At: at("/to")}}
	look := base("look", contract.ReadOnly, jobResult, jobArguments)
	look.Arguments.RequiresGrant = true
	look.Arguments.Scopes = []contract.Scope{{Name: "id", Type: "string", At: at("/id")}}
	return []*contract.Contract{job, look, mail, restart, send, wipe}
}

var rules = []contract.Policy{
	{Name: "a-person", Tools: []string{"wipe"}, Approval: true},
	{Name: "no-send-after-mail", Tools: []string{"send"}, Forbid: true, When: `session.sources.exists(s, s.tool == "mail" && s.trust == "untrusted")`},
}

func build(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, now: noon}
	var err error
	h.store, err = sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "audit.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close(context.Background()) })
	h.tokens, h.boss, h.portal = h.newTokens()
	h.keys = h.tokens.Keys
	h.gate = New(h.store, h.clock, WithTokens(func() Tokens { return h.tokens }))
	h.publish(tools(), rules)
	return h
}

func (h *house) publish(list []*contract.Contract, rules []contract.Policy) {
	h.t.Helper()
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		h.t.Fatal(err)
	}
	current := map[string]int{}
	for _, c := range list {
		current[c.Tool] = c.Version
	}
	set, err := NewLoader(registry).CompileTree(&contract.Tree{Contracts: list, Current: current, Digest: "d", Policies: rules})
	if err != nil {
		h.t.Fatal(err)
	}
	h.gate.Publish(set)
}

func (h *house) newTokens() (Tokens, *receipt.Signer, *receipt.Signer) {
	h.t.Helper()
	h.dir = receipt.Dir(filepath.Join(h.t.TempDir(), "keys"))
	if _, err := h.dir.Init(noon.Add(-time.Hour)); err != nil {
		h.t.Fatal(err)
	}
	keys, err := h.dir.Load()
	if err != nil {
		h.t.Fatal(err)
	}
	signer := func(name string) (*receipt.Signer, []byte) {
		private, public, err := receipt.NewSigner(name, noon.Add(-time.Hour))
		if err != nil {
			h.t.Fatal(err)
		}
		s, err := receipt.ParseSigner(private)
		if err != nil {
			h.t.Fatal(err)
		}
		return s, public
	}
	boss, bossKeys := signer("boss")
	portal, portalKeys := signer("portal")
	t := Tokens{Issuer: "hallmark.example.test", Keys: keys}
	if t.Approvers, err = receipt.ParseApprovers(bossKeys); err != nil {
		h.t.Fatal(err)
	}
	if t.Issuers, err = receipt.ParseIssuers(map[string][]byte{"portal": portalKeys}); err != nil {
		h.t.Fatal(err)
	}
	return t, boss, portal
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func newID(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// validate lets a tool's reply pass and returns its receipt.
func (h *house) validate(caller Caller, session, tool, arguments, raw string) Reply {
	h.t.Helper()
	r, err := h.gate.Validate(context.Background(), caller, newID(h.t), Call{
		Request: Request{Tool: tool, RequestID: "req." + newID(h.t), SessionID: session, ArgumentsJSON: arguments}, Raw: []byte(raw),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// job judges one observation of a job.
func (h *house) job(session, id, state string) Reply {
	h.t.Helper()
	return h.validate(orchestrator, session, "job", fmt.Sprintf(`{"id":%q}`, id),
		fmt.Sprintf(`{"id":%q,"state":%q,"seen":%q}`, id, state, h.clock().Format(time.RFC3339)))
}

func (h *house) authorize(caller Caller, p Proposal) Answer {
	h.t.Helper()
	a, err := h.gate.Authorize(context.Background(), caller, newID(h.t), p)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// event returns the record of a decision.
func (h *house) event(id string) audit.Record {
	h.t.Helper()
	r, err := h.store.Get(context.Background(), audit.AllTenants(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func grant(id, tool string, change func(*policy.Grant)) policy.Grant {
	g := policy.Grant{ID: id, Tool: tool, NotAfter: noon.Add(time.Hour), Unlimited: true}
	if change != nil {
		change(&g)
	}
	return g
}

func once(g *policy.Grant) { g.Unlimited, g.MaxUses = false, 1 }

func allow(scope string, values ...string) policy.Allowed {
	return policy.Allowed{Scope: scope, Values: values}
}

func sendTo(session, request string, to ...string) Proposal {
	list, _ := json.Marshal(to)
	return Proposal{
		Tool: "send", RequestID: "req." + request, SessionID: session, Principal: "ana",
		Raw: fmt.Appendf(nil, `{"text":"hello", "to":%s}`, list),
	}
}

func codesOf(a Answer) string {
	out := ""
	for _, r := range a.Reasons {
		out += string(r.Code) + " "
	}
	return out
}

// wants checks a decision and its only reason.
func wants(t testing.TB, a Answer, effect policy.Effect, code policy.Code, failure contract.FailureCode) {
	t.Helper()
	if a.Effect != effect || codesOf(a) != string(code)+" " {
		t.Fatalf("got %s %s, want %s %s", a.Effect, codesOf(a), effect, code)
	}
	if effect == policy.Allow {
		if a.Result != nil || a.ModelPayload != "" || a.ArgumentsJSON == "" {
			t.Fatalf("an allowed call with %+v %q", a.Result, a.ModelPayload)
		}
		return
	}
	if a.Result == nil || a.Result.Failure == nil || a.Result.Failure.Code != failure || a.Result.Failure.Retryable {
		t.Fatalf("the agent is told %+v, want %s", a.Result, failure)
	}
	if a.Permit != "" || a.ArgumentsJSON != "" || len(a.Obligations) > 0 && effect == policy.Deny || a.ModelPayload == "" {
		t.Fatalf("a refusal with %+v", a)
	}
}
