package faulttest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// loadTools are the contracts that a load needs: few, so that the service starts fast.
var loadTools = []string{"review_status", "deploy"}

// callers is how many call at one time; two neighbours share every one-shot grant.
const callers = 16

// session is the one that all calls of a load belong to.
const session = "faults"

// proposal is a call that one use of a grant is good for.
type proposal struct{ request, grant string }

// allowed is a permit that a caller got.
type allowed struct {
	proposal
	permit string
	until  time.Time // by the caller's clock
}

// load is callers that validate, authorize and redeem, and what they were told.
type load struct {
	name string // in ids, so that no two loads share one
	gate hallmarkv1.GateServiceClient

	mu       sync.Mutex
	replies  map[string]string // by decision id: what was said, as brief says it
	permits  []allowed
	open     []proposal // no answer came
	redeemed []string   // permits
	good     int        // calls that were answered
	refused  map[codes.Code]int
}

func newLoad(name string, p *process) *load {
	return &load{name: name, gate: p.gate, replies: map[string]string{}, refused: map[codes.Code]int{}}
}

// brief is what a reply says in words that its record says too.
func brief(rpc string, code hallmarkv1.FailureCode, decision hallmarkv1.Decision, permit string) string {
	return fmt.Sprintf("%s %v %v %s", rpc, code, decision, permit)
}

func briefOf(e *hallmarkv1.Event) string {
	return brief(e.GetRpc(), e.GetFailureCode(), e.GetDecision(), e.GetPermitId())
}

// said notes a reply.
func (l *load) said(id, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replies[id] = what
	l.good++
}

func (l *load) counts() (good int, refused map[codes.Code]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused = make(map[codes.Code]int, len(l.refused))
	for code, n := range l.refused {
		refused[code] = n
	}
	return l.good, refused
}

// call makes call i of caller w: every other one validates, the others propose, and some
// of what is allowed is redeemed. The error is the status's.
func (l *load) call(ctx context.Context, w, i int) error {
	err := l.kinds(ctx, w, i)
	if err != nil {
		l.mu.Lock()
		l.refused[status.Code(err)]++
		l.mu.Unlock()
	}
	return err
}

func (l *load) kinds(ctx context.Context, w, i int) error {
	request := fmt.Sprintf("req.%s.%d.%d", l.name, w, i)
	if i%2 == 0 {
		return l.validate(ctx, request, i%4 == 0)
	}
	p := proposal{request: request, grant: fmt.Sprintf("g.%s.%d.%d", l.name, w/2, i)}
	a, err := l.authorize(ctx, p)
	if err != nil {
		l.mu.Lock()
		l.open = append(l.open, p)
		l.mu.Unlock()
		return err
	}
	if a.permit == "" || i%4 == 1 {
		return nil
	}
	_, err = l.redeem(ctx, a.permit)
	return err
}

func (l *load) validate(ctx context.Context, request string, good bool) error {
	raw := fmt.Sprintf(`{"tool":"review_status","request_id":%q,"outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"Ana Petrova"}}`, request)
	if !good {
		raw = strings.Replace(raw, "approved", "probably", 1)
	}
	reply, err := l.gate.Validate(ctx, &hallmarkv1.ValidateRequest{
		Request: &hallmarkv1.OutstandingRequest{Tool: "review_status", RequestId: request, SessionId: session},
		Payload: &hallmarkv1.ValidateRequest_RawText{RawText: raw},
	})
	if err != nil {
		return err
	}
	l.said(reply.GetDecisionId(), brief("validate", reply.GetResult().GetFailure().GetCode(), 0, ""))
	return nil
}

// stagingArguments are canonical already.
const stagingArguments = `{"environment":"staging","revision":"a83f19c"}`

// authorize proposes a deploy; a permit that comes is noted.
func (l *load) authorize(ctx context.Context, p proposal) (allowed, error) {
	a := allowed{proposal: p, until: time.Now().Add(time.Minute)}
	reply, err := l.gate.Authorize(ctx, &hallmarkv1.AuthorizeRequest{
		Call:    &hallmarkv1.ProposedCall{Tool: "deploy", RequestId: p.request, SessionId: session, Principal: "ana@example.test"},
		Payload: &hallmarkv1.AuthorizeRequest_RawText{RawText: stagingArguments},
		Grants: []*hallmarkv1.Grant{{
			Id: p.grant, Tool: "deploy", NotAfter: timestamppb.New(time.Now().Add(time.Hour)),
			Scopes: []*hallmarkv1.Scope{{Name: "environment", Allowed: &hallmarkv1.Scope_Values{Values: &hallmarkv1.Values{Values: []string{"staging"}}}}},
			Uses:   &hallmarkv1.Grant_MaxUses{MaxUses: 1},
		}},
	})
	if err != nil {
		return a, err
	}
	a.permit = reply.GetPermit()
	l.said(reply.GetDecisionId(), brief("authorize", reply.GetResult().GetFailure().GetCode(), reply.GetDecision(), permitID(a.permit)))
	if a.permit != "" {
		l.mu.Lock()
		l.permits = append(l.permits, a)
		l.mu.Unlock()
	}
	return a, nil
}

// redeem uses a permit up.
func (l *load) redeem(ctx context.Context, permit string) (bool, error) {
	reply, err := l.gate.Redeem(ctx, &hallmarkv1.RedeemRequest{Permit: permit, Arguments: []byte(stagingArguments), Audience: "deploy"})
	if err != nil {
		return false, err
	}
	decision := hallmarkv1.Decision_DECISION_DENY
	if reply.GetRedeemed() {
		decision = hallmarkv1.Decision_DECISION_ALLOW
		l.mu.Lock()
		l.redeemed = append(l.redeemed, permit)
		l.mu.Unlock()
	}
	l.said(reply.GetDecisionId(), brief("redeem", 0, decision, permitID(permit)))
	return reply.GetRedeemed(), nil
}

// permitID is the id in a permit, "" for none.
func permitID(permit string) string {
	parts := strings.Split(permit, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct{ JTI string }
	_ = json.Unmarshal(payload, &claims) // then there is no id
	return claims.JTI
}

// record is everything that the service has on record since a time.
type record struct {
	events map[string]*hallmarkv1.Event
	// permits are the ids of those that a grant's use is good for, by the grant's id.
	permits map[string]map[string]bool
	// redeemed counts the redemptions that were allowed, by the permit's id.
	redeemed map[string]int
}

// recorded reads the record page by page. A row that cannot be read would be left out,
// and said so in the log.
func recorded(t *testing.T, p *process, since time.Time) record {
	t.Helper()
	r := record{events: map[string]*hallmarkv1.Event{}, permits: map[string]map[string]bool{}, redeemed: map[string]int{}}
	request := &hallmarkv1.ListEventsRequest{PageSize: 500, Filter: &hallmarkv1.EventFilter{Since: timestamppb.New(since)}}
	for {
		ctx, cancel := outside.Guard()
		page, err := p.audit.ListEvents(ctx, request, grpc.MaxCallRecvMsgSize(8<<20))
		cancel()
		if err != nil {
			t.Fatalf("ListEvents: %v", err)
		}
		for _, e := range page.GetEvents() {
			r.add(t, e)
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	if text := readFile(t, p.Log); strings.Contains(string(text), "audit records cannot be read") {
		t.Errorf("torn records:\n%s", outside.Tail(p.Log))
	}
	return r
}

func (r record) add(t *testing.T, e *hallmarkv1.Event) {
	t.Helper()
	if r.events[e.GetDecisionId()] != nil {
		t.Errorf("%s is listed twice", e.GetDecisionId())
	}
	r.events[e.GetDecisionId()] = e
	if e.GetDecision() != hallmarkv1.Decision_DECISION_ALLOW {
		return
	}
	if e.GetRpc() == "redeem" {
		r.redeemed[e.GetPermitId()]++
	}
	for _, grant := range e.GetGrantIds() {
		if r.permits[grant] == nil {
			r.permits[grant] = map[string]bool{}
		}
		r.permits[grant][e.GetPermitId()] = true
	}
}

// check holds the record to what the callers were told. D4.
func (r record) check(t *testing.T, l *load) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := 0
	for id, what := range l.replies {
		switch e := r.events[id]; {
		case e == nil:
			lost++
		case briefOf(e) != what:
			t.Errorf("%s was told %q, on record is %q", id, what, briefOf(e))
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d replies have no record", lost, len(l.replies))
	}
	for _, a := range l.permits {
		if !r.permits[a.grant][permitID(a.permit)] {
			t.Errorf("the permit of %s is not on record with its grant", a.request)
		}
	}
	for grant, permits := range r.permits {
		if len(permits) > 1 {
			t.Errorf("the one-shot grant %s was used %d times", grant, len(permits))
		}
	}
	for permit, n := range r.redeemed {
		if n > 1 {
			t.Errorf("the permit %s was redeemed %d times", permit, n)
		}
	}
}
