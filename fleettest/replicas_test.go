package fleettest

import (
	"math"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// balancer is what stands between the callers and the replicas.
type balancer struct {
	conn *grpc.ClientConn
	// point says which replicas there are from now on, as whoever runs the fleet would.
	point func(replicas []*replica)
}

// C: three replicas behind nginx; one is killed, one joins, one is drained.
func TestBehindNginx(t *testing.T) {
	t.Parallel()
	lives(t, func(t *testing.T, f *fleet, replicas []*replica) balancer {
		n := startNginx(t, f.authority, replicas)
		conn, err := grpc.NewClient(n.addr, grpc.WithTransportCredentials(f.creds(t, "assistant")), grpc.WithDefaultServiceConfig(serviceConfig))
		if err != nil {
			t.Fatal(err)
		}
		return balancer{conn, func(replicas []*replica) { n.point(t, replicas) }}
	})
}

// C: the same with clients that know every replica and take each in turn.
func TestRoundRobin(t *testing.T) {
	t.Parallel()
	lives(t, func(t *testing.T, f *fleet, replicas []*replica) balancer {
		names := newNames(replicas)
		conn, err := grpc.NewClient("fleet:///hallmark", grpc.WithResolvers(names.resolver), grpc.WithAuthority(serverName),
			grpc.WithTransportCredentials(f.creds(t, "assistant")), grpc.WithDefaultServiceConfig(serviceConfig))
		if err != nil {
			t.Fatal(err)
		}
		return balancer{conn, names.set}
	})
}

// names is a name service: whoever asks gets the replicas of that moment, and nobody is
// told of a change. So a client sees a replica that joins when one of its connections has
// aged, not before.
type names struct {
	resolver *manual.Resolver

	mu  sync.Mutex
	now resolver.State
}

func newNames(replicas []*replica) *names {
	n := &names{resolver: manual.NewBuilderWithScheme("fleet")}
	n.set(replicas)
	n.resolver.InitialState(n.now)
	n.resolver.ResolveNowCallback = func(resolver.ResolveNowOptions) {
		go func() { // it may not be told while it asks
			n.mu.Lock()
			now := n.now
			n.mu.Unlock()
			n.resolver.UpdateState(now)
		}()
	}
	return n
}

func (n *names) set(replicas []*replica) {
	var now resolver.State
	for _, r := range replicas {
		now.Endpoints = append(now.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: r.Addr}}})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = now
}

// Bounds of these tests.
const (
	unevenness = 0.15 // of a replica's part from the even one
	window     = 600  // calls over which the parts are measured
	// settling is how long the balancer may take to see a change: connections live for
	// ageing and a tenth more, and the machine may be slow.
	settling = ageing + ageing/10 + time.Second
)

// lives runs a fleet through its life under load, and holds the record to the replies.
func lives(t *testing.T, before func(*testing.T, *fleet, []*replica) balancer) {
	f := newFleet(t)
	since := time.Now().Add(-time.Second)
	replicas := f.start(t, 3)
	b := before(t, f, replicas)
	t.Cleanup(func() { _ = b.conn.Close() })
	l := startLoad(t, b.conn)

	time.Sleep(settling)
	even(t, l, "at the start", replicas)

	for range either(1, 5) {
		replicas = exchange(t, f, b, l, replicas)
	}

	replicas[0].Term(t)
	l.more(t, 300)
	replicas[0].Exits(t)
	l.more(t, 100)
	l.end(t)
	entries := l.recorded(t, replicas[1].dial(t, f.authority, "operator"), since)
	t.Logf("%d calls, %d failed, %d records", l.good.Load(), len(l.failed), entries)
}

// exchange kills one of three under load, lets a fourth join, and returns those that live.
func exchange(t *testing.T, f *fleet, b balancer, l *load, replicas []*replica) []*replica {
	t.Helper()
	fourth := f.launch(t)
	l.more(t, 100)
	replicas[0].Kill()
	l.more(t, 300)

	fourth.await(t)
	replicas = append(replicas[1:], fourth)
	b.point(replicas)
	began := time.Now()
	first := outside.Within(t, settling+10*time.Second, "any call to the fourth", func() bool { return fourth.metric(t, "hallmark_calls_total") > 0 })
	time.Sleep(settling - time.Since(began))
	t.Logf("one of three killed; the fourth had its first call %s after it joined", first.Round(time.Millisecond))
	even(t, l, "with a fourth", replicas)
	return replicas
}

// even measures how calls spread over replicas, by what these say that they judged.
func even(t *testing.T, l *load, when string, replicas []*replica) {
	t.Helper()
	judged := func() []float64 {
		out := make([]float64, len(replicas))
		for i, r := range replicas {
			out[i] = r.metric(t, "hallmark_calls_total")
		}
		return out
	}
	from := judged()
	l.more(t, window)
	to := judged()
	sum := 0.0
	for i := range to {
		to[i] -= from[i]
		sum += to[i]
	}
	fair := sum / float64(len(to))
	for i, n := range to {
		if math.Abs(n-fair) > unevenness*fair {
			t.Errorf("%s: replica %d had %.0f calls, the even part is %.0f", when, i, n, fair)
		}
	}
	t.Logf("%s: calls to each: %.0f", when, to)
}
