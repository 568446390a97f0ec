package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hallmark-gate/hallmark/audit"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// watch begins to watch and returns once the service has begun too.
func watch(t *testing.T, conn *grpc.ClientConn, req *hallmarkv1.WatchEventsRequest) hallmarkv1.AuditService_WatchEventsClient {
	t.Helper()
	stream, err := hallmarkv1.NewAuditServiceClient(conn).WatchEvents(ctxFor(t), req)
	if err != nil {
		t.Fatal(err)
	}
	if header, err := stream.Header(); err != nil || header == nil {
		t.Fatalf("no header: %v, %v", header, err)
	}
	return stream
}

// next returns the decision ids of the next n events.
func next(t *testing.T, stream hallmarkv1.AuditService_WatchEventsClient, n int) []string {
	t.Helper()
	var ids []string
	for range n {
		reply, err := stream.Recv()
		if err != nil {
			t.Fatalf("after %d events: %v", len(ids), err)
		}
		ids = append(ids, reply.GetEvent().GetDecisionId())
	}
	return ids
}

// ends fails the test unless the stream ends with the code, and without another event.
func ends(t *testing.T, stream hallmarkv1.AuditService_WatchEventsClient, want codes.Code) {
	t.Helper()
	reply, err := stream.Recv()
	if err == nil {
		t.Errorf("another event: %v", reply)
	}
	wantCode(t, err, want)
}

// watchers returns how many there are.
func (s *service) watchers() int {
	s.app.watching.mu.Lock()
	defer s.app.watching.mu.Unlock()
	return s.app.watching.all
}

// judged makes a judgement and returns its id.
func (s *service) judged(t *testing.T, tool, raw string) string {
	t.Helper()
	reply, err := s.gate.Validate(ctxFor(t), call(tool, []byte(raw)))
	if err != nil {
		t.Error(err)
	}
	return reply.GetDecisionId()
}

// A17: whoever watches sees every record exactly once, whoever writes, and goes on after
// any of them.
func TestWatchSeesAllOnce(t *testing.T) {
	s := start(t)
	before := s.judged(t, "review_status", accepted)
	live := watch(t, s.conn, &hallmarkv1.WatchEventsRequest{})
	var mu sync.Mutex
	var written []string
	var writers sync.WaitGroup
	const each = 40
	for range 8 {
		writers.Go(func() {
			for range each {
				id := s.judged(t, "review_status", accepted)
				mu.Lock()
				written = append(written, id)
				mu.Unlock()
			}
		})
	}
	seen := next(t, live, 8*each)
	writers.Wait()
	slices.Sort(written)
	if got := slices.Sorted(slices.Values(seen)); !slices.Equal(got, written) {
		t.Errorf("%d events seen, %d judgements made, and they differ", len(got), len(written))
	}
	last := s.judged(t, "review_status", accepted)
	if got := next(t, live, 1); got[0] != last {
		t.Errorf("then %s, want %s", got, last)
	}
	for i, after := range []string{before, seen[0], seen[len(seen)/2], strings.ToUpper(seen[len(seen)-1])} {
		want := append(slices.Clone(seen), last)
		if at := slices.Index(seen, strings.ToLower(after)); i > 0 {
			want = want[at+1:]
		}
		if got := next(t, watch(t, s.conn, &hallmarkv1.WatchEventsRequest{AfterDecisionId: after}), len(want)); !slices.Equal(got, want) {
			t.Errorf("after the %d. id: %d events, want %d, in the order of writing", i, len(got), len(want))
		}
	}
}

// A backlog that is longer than any buffer comes whole: to read from far behind is not to
// fall behind.
func TestWatchFromFarBehind(t *testing.T) {
	var records []audit.Record
	for n := 1; n <= 3000; n++ {
		records = append(records, record(n, "local"))
	}
	s := start(t, withRecords(t, records...))
	for i, id := range next(t, watch(t, s.conn, &hallmarkv1.WatchEventsRequest{AfterDecisionId: records[0].DecisionID}), 2999) {
		if id != records[i+1].DecisionID {
			t.Fatalf("event %d is %s", i, id)
		}
	}
}

// What a filter leaves out does not come, and what cannot be asked is refused.
func TestWatchFilters(t *testing.T) {
	first := record(1, "local")
	odd := record(2, "local")
	odd.Tool, odd.RequestID, odd.SessionID, odd.RPC = "odd", "req-2", "s-2", "redeem"
	odd.FailureCode, odd.Rejection.Reason, odd.Decision = "NOT_FOUND", "BINDING", "DENY"
	s := start(t, withRecords(t, first, odd, record(3, "local"), record(4, "other")))
	for name, f := range map[string]*hallmarkv1.EventFilter{
		"tool": {Tool: "odd"}, "request": {RequestId: "req-2"}, "session": {SessionId: "s-2"}, "rpc": {Rpc: "redeem"},
		"code":     {FailureCode: hallmarkv1.FailureCode_FAILURE_CODE_NOT_FOUND},
		"reason":   {Reason: hallmarkv1.RejectionReason_REJECTION_REASON_BINDING},
		"decision": {Decision: hallmarkv1.Decision_DECISION_DENY},
		"time":     {Since: timestamppb.New(time.Unix(2, 0)), Until: timestamppb.New(time.Unix(3, 0))},
		"tenant":   {Tenant: "local", Tool: "odd"},
	} {
		// A connection of its own: with its end the watcher's place is free again.
		conn := s.as(t, insecure.NewCredentials())
		stream := watch(t, conn, &hallmarkv1.WatchEventsRequest{Filter: f, AfterDecisionId: first.DecisionID})
		if got := next(t, stream, 1); got[0] != odd.DecisionID {
			t.Errorf("by %s: %s", name, got)
		}
		conn.Close()
		eventually(t, "a free place", func() bool { return s.watchers() == 0 })
	}
	for name, c := range map[string]struct {
		req  *hallmarkv1.WatchEventsRequest
		want codes.Code
	}{
		"no such id":      {&hallmarkv1.WatchEventsRequest{AfterDecisionId: record(9, "").DecisionID}, codes.NotFound},
		"another's id":    {&hallmarkv1.WatchEventsRequest{AfterDecisionId: record(4, "").DecisionID}, codes.NotFound},
		"no id at all":    {&hallmarkv1.WatchEventsRequest{AfterDecisionId: "x'; --"}, codes.NotFound},
		"unknown rpc":     {&hallmarkv1.WatchEventsRequest{Filter: &hallmarkv1.EventFilter{Rpc: "x"}}, codes.InvalidArgument},
		"unknown reason":  {&hallmarkv1.WatchEventsRequest{Filter: &hallmarkv1.EventFilter{Reason: 9999}}, codes.InvalidArgument},
		"impossible time": {&hallmarkv1.WatchEventsRequest{Filter: &hallmarkv1.EventFilter{Since: &timestamppb.Timestamp{Nanos: -1}}}, codes.InvalidArgument},
	} {
		stream, err := s.audit.WatchEvents(ctxFor(t), c.req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ends(t, stream, c.want)
	}
}

// Operators watch their tenants and no other; who is no operator watches nothing.
func TestWatchScope(t *testing.T) {
	a := newAuthority(t)
	_, tls := a.withTLS(t, listed)
	s := start(t, tls)
	as := func(san string) *grpc.ClientConn { return s.as(t, a.client(t, a.issue(t, []string{san}))) }
	web := hallmarkv1.NewGateServiceClient(as("dns:adapter.example.test"))
	blueConn := as("dns:blue-op.example.test")
	blue := hallmarkv1.NewGateServiceClient(blueConn)
	ofOps, ofBlue := watch(t, s.conn, &hallmarkv1.WatchEventsRequest{}), watch(t, blueConn, &hallmarkv1.WatchEventsRequest{})
	var red, blues []string
	for range 5 {
		for _, c := range []struct {
			client hallmarkv1.GateServiceClient
			ids    *[]string
		}{{web, &red}, {blue, &blues}} {
			reply, err := c.client.Validate(ctxFor(t), call("review_status", []byte(accepted)))
			if err != nil {
				t.Fatal(err)
			}
			*c.ids = append(*c.ids, reply.GetDecisionId())
		}
	}
	if got := next(t, ofOps, 5); !slices.Equal(got, red) {
		t.Errorf("the operator of red saw %s, want %s", got, red)
	}
	if got := next(t, ofBlue, 5); !slices.Equal(got, blues) {
		t.Errorf("the operator of blue saw %s, want %s", got, blues)
	}
	for _, san := range []string{"spiffe://example.test/agent", "dns:adapter.example.test", "spiffe://example.test/runner", "dns:other.example.test"} {
		stream, err := hallmarkv1.NewAuditServiceClient(as(san)).WatchEvents(ctxFor(t), &hallmarkv1.WatchEventsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		ends(t, stream, codes.PermissionDenied)
	}
}

// Who watches is asked again who it is: one that is removed, or may see less, is ended,
// whether there is something to see or not, and one that may see more goes on.
func TestWatchEndsWithItsRights(t *testing.T) {
	const op = `{name: op, san: "spiffe://example.test/operator", tenant: ops, roles: [operator], tenants: [ops, red]}`
	for name, c := range map[string]struct {
		becomes string
		ends    bool
	}{
		"removed":         {`{name: someone, san: "spiffe://example.test/someone", tenant: ops, roles: [operator]}`, true},
		"another role":    {`{name: op, san: "spiffe://example.test/operator", tenant: ops, roles: [adapter]}`, true},
		"fewer tenants":   {`{name: op, san: "spiffe://example.test/operator", tenant: ops, roles: [operator], tenants: [ops]}`, true},
		"another's name":  {`{name: new, san: "spiffe://example.test/operator", tenant: ops, roles: [operator], tenants: [ops, red]}`, true},
		"further tenants": {`{name: op, san: "spiffe://example.test/operator", tenant: ops, roles: [operator], tenants: [red, blue, ops]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			f, tls := a.withTLS(t, listed)
			s := start(t, tls, func(s *setup) { s.cfg.ReloadEvery = 20 * time.Millisecond })
			stream := watch(t, s.conn, &hallmarkv1.WatchEventsRequest{})
			exchange(t, f.identities, []byte(strings.Replace(listed, op, c.becomes, 1)))
			if c.ends {
				ends(t, stream, codes.PermissionDenied)
				eventually(t, "a free place", func() bool { return s.watchers() == 0 })
				return
			}
			eventually(t, "the file is read", func() bool { return s.app.access.identities.status.Load().done > 0 })
			time.Sleep(2 * pollEvery)
			web := hallmarkv1.NewGateServiceClient(s.as(t, a.client(t, a.issue(t, []string{"dns:adapter.example.test"}))))
			reply, err := web.Validate(ctxFor(t), call("review_status", []byte(accepted)))
			if err != nil {
				t.Fatal(err)
			}
			if got := next(t, stream, 1); got[0] != reply.GetDecisionId() {
				t.Errorf("saw %s", got)
			}
		})
	}
}

// Who watches and does not read is ended, costs no call anything, keeps no place, and
// loses no record by it.
func TestWatchBehind(t *testing.T) {
	var records []audit.Record
	for n := 1; n <= 4000; n++ {
		r := record(n, "local")
		r.Rejection.Detail = strings.Repeat("d", 500)
		records = append(records, r)
	}
	s := start(t, withRecords(t, records...), func(s *setup) {
		s.app = func(a *App) { a.watching.patience = time.Second }
	})
	lazy := watch(t, s.conn, &hallmarkv1.WatchEventsRequest{AfterDecisionId: records[0].DecisionID})
	eventually(t, "the watcher's end", func() bool {
		s.judged(t, "review_status", accepted)
		return s.watchers() == 0
	})
	seen := records[0].DecisionID
	n := 1
	for {
		reply, err := lazy.Recv()
		if err != nil {
			wantCode(t, err, codes.ResourceExhausted)
			break
		}
		if seen = reply.GetEvent().GetDecisionId(); seen != records[n].DecisionID {
			t.Fatalf("event %d is %s", n, seen)
		}
		n++
	}
	if n >= len(records) {
		t.Fatal("nobody fell behind")
	}
	for i, id := range next(t, watch(t, s.conn, &hallmarkv1.WatchEventsRequest{AfterDecisionId: seen}), len(records)-n) {
		if id != records[n+i].DecisionID {
			t.Fatalf("resumed, event %d is %s", n+i, id)
		}
	}
	if faults := s.log.lines(t, "fault"); len(faults) != 0 {
		t.Errorf("a reader that does not read is no fault of ours: %v", faults)
	}
}

// One caller has a few places, and all callers some more; who leaves gives his back.
func TestTooManyWatchers(t *testing.T) {
	s := start(t)
	ctx, leave := context.WithCancel(ctxFor(t))
	for range maxWatchersEach {
		stream, err := s.audit.WatchEvents(ctx, &hallmarkv1.WatchEventsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if header, err := stream.Header(); err != nil || header == nil {
			t.Fatalf("no header: %v, %v", header, err)
		}
	}
	stream, err := s.audit.WatchEvents(ctxFor(t), &hallmarkv1.WatchEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); retryIn(err) < retryPause {
		t.Errorf("one more than a caller may: %v", err)
	}
	s.judged(t, "review_status", accepted) // calls go on
	leave()
	eventually(t, "a free place", func() bool { return s.watchers() == 0 })
	watch(t, s.conn, &hallmarkv1.WatchEventsRequest{})
	if faults := s.log.lines(t, "fault"); len(faults) != 0 {
		t.Errorf("to leave is no fault: %v", faults)
	}

	w := newWatchers()
	for n := range maxWatchers {
		if _, err := w.enter(fmt.Sprint(n)); err != nil {
			t.Fatalf("watcher %d: %v", n, err)
		}
	}
	if _, err := w.enter("one more"); retryIn(statusOf(err).Err()) < retryPause {
		t.Errorf("one more than all: %v", err)
	}
}

// A stop ends watchers at once, whether they read or not, and late ones as well.
func TestWatchEndsOnDrain(t *testing.T) {
	var records []audit.Record
	for n := 1; n <= 3000; n++ {
		records = append(records, record(n, "local"))
	}
	s := start(t, withRecords(t, records...))
	idle := watch(t, s.conn, &hallmarkv1.WatchEventsRequest{})
	watch(t, s.conn, &hallmarkv1.WatchEventsRequest{AfterDecisionId: records[0].DecisionID}) // is never read
	began := time.Now()
	s.stop()
	ends(t, idle, codes.Unavailable)
	if err := <-s.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if took := time.Since(began); took > s.app.cfg.DrainTimeout/2 {
		t.Errorf("the stop took %s", took)
	}
	if faults := s.log.lines(t, "fault"); len(faults) != 0 {
		t.Errorf("a stop is no fault: %v", faults)
	}
}

// panickyTail panics where a watcher reads.
type panickyTail struct{ audit.Store }

func (panickyTail) Tail(context.Context, audit.Scope, audit.Filter, string, int) ([]audit.Record, string, error) {
	panic("in the store")
}

// Case 143: a panic costs the watcher, not the service; a store that cannot read ends it.
func TestWatchFaults(t *testing.T) {
	s := start(t, func(s *setup) {
		s.deps.OpenStore = func(ctx context.Context, dir string) (audit.Store, error) {
			store, err := openSQLite(ctx, dir)
			return panickyTail{store}, err
		}
	})
	ends(t, watch(t, s.conn, &hallmarkv1.WatchEventsRequest{}), codes.Internal)
	s.judged(t, "review_status", accepted)

	store := &brokenStore{}
	s = start(t, withStore(store))
	stream := watch(t, s.conn, &hallmarkv1.WatchEventsRequest{})
	store.fail(asUnavailable("no disk"))
	ends(t, stream, codes.Unavailable)
}
