package fleettest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// serviceConfig is the configuration that clients are told to use: every replica in turn,
// and a retry of UNAVAILABLE alone.
const serviceConfig = `{
  "loadBalancingConfig": [{"round_robin": {}}],
  "methodConfig": [
    {
      "name": [{"service": "hallmark.v1.GateService"}, {"service": "hallmark.v1.ContractService"}],
      "timeout": "10s",
      "retryPolicy": {
        "maxAttempts": 4,
        "initialBackoff": "0.1s",
        "maxBackoff": "2s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]
      }
    }
  ]
}`

// What is shown with this configuration holds for the one that ships with the clients.
func TestServiceConfig(t *testing.T) {
	text, err := os.ReadFile("../clients/service-config.json")
	if os.IsNotExist(err) {
		t.Skip("skipped: there is no clients/service-config.json here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var here, there any
	if err := json.Unmarshal([]byte(serviceConfig), &here); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &there); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(here, there) {
		t.Error("clients/service-config.json says something else than these tests use")
	}
}

// callers is how many call at one time.
const callers = 12

// breath is how long a caller waits between its calls: the load is moderate.
const breath = 5 * time.Millisecond

// load is callers that validate and authorize until they are told to stop, and the
// decision ids that they were told.
type load struct {
	gate hallmarkv1.GateServiceClient
	stop context.CancelFunc
	wg   sync.WaitGroup
	good atomic.Int64

	mu      sync.Mutex
	replies map[string]string // rpc by decision id
	failed  []string
}

// startLoad lets callers begin. Each call has its own request id, each proposal its own
// one-shot grant: a repeat must find what the first attempt did.
func startLoad(t *testing.T, conn *grpc.ClientConn) *load {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l := &load{gate: hallmarkv1.NewGateServiceClient(conn), stop: stop, replies: map[string]string{}}
	for w := range callers {
		l.wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				rpc, id, err := l.call(fmt.Sprintf("req.%d.%06d", w, i), i%2 == 0)
				l.mu.Lock()
				if err != nil {
					l.failed = append(l.failed, err.Error())
				} else {
					l.replies[id] = rpc
				}
				l.mu.Unlock()
				if err == nil {
					l.good.Add(1)
				}
				time.Sleep(breath)
			}
		})
	}
	t.Cleanup(func() { stop(); l.wg.Wait() })
	return l
}

func (l *load) call(request string, validates bool) (rpc, id string, err error) {
	ctx, cancel := outside.Guard()
	defer cancel()
	if validates {
		reply, err := l.gate.Validate(ctx, review(request))
		if err == nil && reply.GetResult().GetData() == nil {
			err = fmt.Errorf("a good result is refused: %v", reply.GetResult().GetFailure().GetCode())
		}
		return "validate", reply.GetDecisionId(), err
	}
	reply, err := l.gate.Authorize(ctx, deploy(request))
	if err == nil && reply.GetDecision() != hallmarkv1.Decision_DECISION_ALLOW {
		err = fmt.Errorf("a call with a grant of its own is not allowed: %v %v", reply.GetDecision(), reply.GetReasons())
	}
	return "authorize", reply.GetDecisionId(), err
}

// review is a good result of review_status.
func review(request string) *hallmarkv1.ValidateRequest {
	return &hallmarkv1.ValidateRequest{
		Request: &hallmarkv1.OutstandingRequest{Tool: "review_status", RequestId: request, SessionId: "fleet"},
		Payload: &hallmarkv1.ValidateRequest_RawText{RawText: fmt.Sprintf(
			`{"tool":"review_status","request_id":%q,"outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"Ana Petrova"}}`, request)},
	}
}

// deploy is a call that its grant allows, once.
func deploy(request string) *hallmarkv1.AuthorizeRequest {
	return &hallmarkv1.AuthorizeRequest{
		Call:    &hallmarkv1.ProposedCall{Tool: "deploy", RequestId: request, SessionId: "fleet", Principal: "ana@example.test"},
		Payload: &hallmarkv1.AuthorizeRequest_RawText{RawText: `{"environment":"staging","revision":"a83f19c"}`},
		Grants: []*hallmarkv1.Grant{{
			Id: "g." + request, Tool: "deploy", NotAfter: timestamppb.New(time.Now().Add(time.Hour)),
			Scopes: []*hallmarkv1.Scope{{Name: "environment", Allowed: &hallmarkv1.Scope_Values{Values: &hallmarkv1.Values{Values: []string{"staging"}}}}},
			Uses:   &hallmarkv1.Grant_MaxUses{MaxUses: 1},
		}},
	}
}

// more waits until so many further calls were answered.
func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	from := l.good.Load()
	outside.Within(t, time.Minute, fmt.Sprintf("%d more answers", n), func() bool { return l.good.Load() >= from+n })
}

// end stops the callers and says what failed; nothing may have.
func (l *load) end(t *testing.T) {
	t.Helper()
	l.stop()
	l.wg.Wait()
	if n := len(l.failed); n > 0 {
		t.Errorf("%d calls failed beside %d that were answered; the first: %s", n, l.good.Load(), l.failed[0])
	}
}

// recorded holds the record, page by page, to what the callers were told: each reply has
// one entry, and no entry is listed twice. D4. It returns how many entries there are.
func (l *load) recorded(t *testing.T, conn *grpc.ClientConn, since time.Time) int {
	t.Helper()
	client := hallmarkv1.NewAuditServiceClient(conn)
	request := &hallmarkv1.ListEventsRequest{PageSize: 500, Filter: &hallmarkv1.EventFilter{Since: timestamppb.New(since), Tenant: "north"}}
	seen := map[string]string{}
	for {
		ctx, cancel := outside.Guard()
		page, err := client.ListEvents(ctx, request, grpc.MaxCallRecvMsgSize(8<<20))
		cancel()
		if err != nil {
			t.Fatalf("ListEvents: %v", err)
		}
		for _, e := range page.GetEvents() {
			if _, twice := seen[e.GetDecisionId()]; twice {
				t.Errorf("%s is listed twice", e.GetDecisionId())
			}
			seen[e.GetDecisionId()] = e.GetRpc()
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	lost := 0
	for id, rpc := range l.replies {
		if seen[id] != rpc {
			lost++
		}
	}
	if lost > 0 || len(l.replies) == 0 {
		t.Errorf("%d of %d replies have no record", lost, len(l.replies))
	}
	return len(seen)
}
