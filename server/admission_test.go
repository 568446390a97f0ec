package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func named(name string, share int) *identity {
	return &identity{Caller: gate.Caller{Name: name}, share: share}
}

// Each identity has the same part of calls and bytes, and never less than one call.
func TestShares(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		line    string
		total   room
		percent int
		share   int
		want    room
	}{
		{"half", room{256, 96 * mib}, 50, 0, room{128, 48 * mib}},
		{"a whole", room{256, 96 * mib}, 100, 0, room{256, 96 * mib}},
		{"its own", room{256, 96 * mib}, 50, 64, room{64, 24 * mib}},
		{"its own above all", room{256, 96 * mib}, 50, 1000, room{256, 96 * mib}},
		{"at least one call, and one request", room{10, 12 * mib}, 1, 0, room{1, MaxReceiveBytes}},
		{"all, whatever the remainder", room{7, 100 * mib}, 100, 0, room{7, 100 * mib}},
		{"one for all", room{1, MaxReceiveBytes}, 1, 0, room{1, MaxReceiveBytes}},
		{"no bytes are counted", room{1024, 0}, 50, 0, room{512, 0}},
	} {
		a := newAdmission(c.total, c.percent, 0, 0)
		a.own = true
		if got := a.share(named("a", c.share)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.line, got, c.want)
		}
	}
	a := newAdmission(room{10, 0}, 50, 0, 0)
	if got := a.share(named("a", 1)); got.calls != 5 {
		t.Errorf("where shares do not count: %+v", got)
	}
}

// Room that is given back goes to who waits, the first first, and nobody waits longer
// than agreed.
func TestAdmissionWaits(t *testing.T) {
	a := newAdmission(room{2, 0}, 100, time.Minute, 2)
	ctx := context.Background()
	one := room{calls: 1}
	for range 2 {
		if err := a.acquire(ctx, named("a", 0), one, 0); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string)
	wait := func(name string, waiting int) {
		go func() {
			if err := a.acquire(ctx, named(name, 0), one, 0); err != nil {
				name = err.Error()
			}
			got <- name
		}()
		eventually(t, name+" waits", func() bool { _, n, _ := a.look(); return n == waiting })
	}
	wait("b", 1)
	wait("c", 2)
	var full *roomError
	if err := a.acquire(ctx, named("d", 0), one, 0); !errors.As(err, &full) || full.retryAfter < retryPause || full.retryAfter > 2*retryPause {
		t.Errorf("a full queue: %v", err)
	}
	a.release(named("a", 0), one)
	if name := <-got; name != "b" {
		t.Errorf("%s before b", name)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := a.acquire(cancelled, named("d", 0), one, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves: %v", err)
	}
	a.release(named("a", 0), one)
	if name := <-got; name != "c" {
		t.Errorf("%s, not c", name)
	}
	a.wait = time.Millisecond
	if err := a.acquire(ctx, named("d", 0), one, 0); !errors.As(err, &full) {
		t.Errorf("after the wait: %v", err)
	}
	a.release(named("b", 0), one)
	a.release(named("c", 0), one)
	if used, waiting, refused := a.look(); used != (room{}) || waiting != 0 || len(a.by) != 0 || refused[refusal{"calls", "d"}] != 2 {
		t.Errorf("left %+v, %d waiting, %v, %v", used, waiting, a.by, refused)
	}
}

// As many calls of an identity wait as it may have in flight: who floods the queue keeps
// nobody else out of it.
func TestQueueShares(t *testing.T) {
	a := newAdmission(room{4, 0}, 25, time.Minute, 4)
	one := room{calls: 1}
	ctx, cancel := context.WithCancel(context.Background())
	if err := a.acquire(ctx, named("a", 0), one, 0); err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() { got <- a.acquire(ctx, named("a", 0), one, 0) }()
	eventually(t, "the second waits", func() bool { _, n, _ := a.look(); return n == 1 })
	brief, done := context.WithTimeout(ctx, 50*time.Millisecond)
	defer done()
	var full *roomError
	if err := a.acquire(brief, named("a", 0), one, 0); !errors.As(err, &full) {
		t.Errorf("the third: %v", err)
	}
	if err := a.acquire(ctx, named("b", 0), one, 0); err != nil {
		t.Errorf("another identity: %v", err)
	}
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the second: %v", err)
	}
}

// However calls come and go, no bound is exceeded, nothing gets lost, and who fits is
// not kept waiting.
func TestAdmissionNeverExceeds(t *testing.T) {
	a := newAdmission(room{8, 100}, 50, 5*time.Millisecond, 8)
	a.own = true
	people := []*identity{named("a", 0), named("b", 0), named("c", 2), named("d", 8)}
	var wg sync.WaitGroup
	for _, who := range people {
		for range 6 {
			wg.Go(func() {
				for range 200 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(8))*time.Millisecond)
					t1 := &ticket{lane: a, who: who}
					err := t1.hold(ctx, room{1, int64(rand.IntN(30))}, 0)
					a.mu.Lock()
					has := a.by[who.Name]
					if a.used.calls > 8 || a.used.bytes > 100 || len(a.queue) > 8 || has != nil && (has.calls > a.share(who).calls || has.bytes > a.share(who).bytes) {
						t.Errorf("%s: %+v of %+v", who.Name, has, a.used)
					}
					for _, w := range a.queue {
						if a.lacks(w.who, w.needs) == "" {
							t.Errorf("%s waits though there is room", w.who.Name)
						}
					}
					a.mu.Unlock()
					if err == nil {
						t1.shrink(room{1, t1.holds.bytes / 2})
						t1.shrink(room{})
					}
					cancel()
				}
			})
		}
	}
	wg.Wait()
	if used, waiting, _ := a.look(); used != (room{}) || waiting != 0 || len(a.by) != 0 {
		t.Errorf("left %+v, %d waiting, %v", used, waiting, a.by)
	}
}

// blocked runs a service whose store holds every record until release is closed.
func blocked(t *testing.T, edits ...func(*setup)) (s *service, store *gatedStore) {
	t.Helper()
	store = &gatedStore{arrived: make(chan struct{}, 1000), release: make(chan struct{})}
	return start(t, append(edits, func(s *setup) {
		s.deps.OpenStore = func(ctx context.Context, dir string) (audit.Store, error) {
			var err error
			store.Store, err = openSQLite(ctx, dir)
			return store, err
		}
	})...), store
}

// retryIn returns the RetryInfo of a refusal for want of room.
func retryIn(err error) time.Duration {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok && status.Code(err) == codes.ResourceExhausted {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// C: with 64 calls in flight the next is refused fast and told when to come again;
// health answers, and the calls under way are not disturbed.
func TestOverload(t *testing.T) {
	s, store := blocked(t, func(s *setup) {
		s.cfg.MaxInFlight, s.cfg.AdmissionWait = 64, time.Millisecond
		s.cfg.MaxInFlightBytes = 100 * MaxReceiveBytes
	})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if reply, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil || reply.GetResult().GetData() == nil {
				t.Errorf("a call under way: %v", err)
			}
		})
	}
	for range 64 {
		<-store.arrived
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		began := time.Now()
		_, err := s.gate.Validate(ctx, call("review_status", []byte(accepted)))
		if retryIn(err) < retryPause || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if reply, err := s.health.Check(ctx, &healthv1.HealthCheckRequest{}); err != nil || reply.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health: %v, %v", reply, err)
		}
		cancel()
	}
	_, body := get(t, s.ops+"/metrics")
	for _, line := range []string{
		`hallmark_in_flight_calls{lane="judged"} 64`, `hallmark_admission_refused_total{bound="identity_calls",identity="local",lane="judged"} 20`,
	} {
		if !strings.Contains(body, line) {
			t.Errorf("%s is not in the metrics", line)
		}
	}
	close(store.release)
	wg.Wait()
	if _, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil {
		t.Errorf("after the overload: %v", err)
	}
	if _, body := get(t, s.ops+"/metrics"); !strings.Contains(body, `hallmark_in_flight_bytes{lane="judged"} 0`) {
		t.Error("bytes are still counted")
	}
}

// C: an identity that has its share leaves the rest to others.
func TestIdentityShare(t *testing.T) {
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, strings.Replace(listed, "roles: [orchestrator, raw_reader]", "roles: [orchestrator], share: 3", 1))
	s, store := blocked(t, withTLS, func(s *setup) { s.cfg.MaxInFlight, s.cfg.AdmissionWait = 8, time.Millisecond })
	agent := hallmarkv1.NewGateServiceClient(s.as(t, a.client(t, a.issue(t, []string{"spiffe://example.test/agent"}))))
	web := hallmarkv1.NewGateServiceClient(s.as(t, a.client(t, a.issue(t, []string{"dns:adapter.example.test"}))))
	var wg sync.WaitGroup
	fill := func(client hallmarkv1.GateServiceClient, n int) {
		for range n {
			wg.Go(func() {
				if _, err := client.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil {
					t.Errorf("within the share: %v", err)
				}
			})
		}
		for range n {
			<-store.arrived
		}
	}
	fill(agent, 3)
	_, err := agent.Validate(ctxFor(t), call("review_status", []byte(accepted)))
	if retryIn(err) == 0 {
		t.Errorf("beyond its own share: %v", err)
	}
	fill(web, 4) // half of eight
	_, err = web.Validate(ctxFor(t), call("review_status", []byte(accepted)))
	if retryIn(err) == 0 {
		t.Errorf("beyond the default share: %v", err)
	}
	if _, err := s.contracts.ListContracts(ctxFor(t), &hallmarkv1.ListContractsRequest{}); err != nil {
		t.Errorf("another identity: %v", err)
	}
	close(store.release)
	wg.Wait()
}
