package fleettest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// overload is one replica that is asked for more than it can do.
type overload struct {
	*authority
	r     *replica
	gates []hallmarkv1.GateServiceClient // on a connection each
	next  atomic.Int64                   // request ids
}

// Sizes of the overload.
const (
	connections = 8
	// roomFor is how many calls the replica takes at one time: few, so that its capacity
	// is bounded by the disk it writes its records to, and ten times of it can be offered
	// by the same machine.
	roomFor = 8
)

func newOverload(t *testing.T) *overload {
	t.Helper()
	a := newAuthority(t)
	r := launch(t, nil, append([]string{
		"--data", t.TempDir(), "--contracts", shipped(t, "review_status"),
		"--max-in-flight", fmt.Sprint(2 * roomFor),
	}, a.flags()...)...).await(t)
	o := &overload{authority: a, r: r}
	for range connections {
		o.gates = append(o.gates, hallmarkv1.NewGateServiceClient(r.dial(t, a, "assistant")))
	}
	return o
}

// one makes one call on one of the connections.
func (o *overload) one(ctx context.Context) error {
	i := o.next.Add(1)
	reply, err := o.gates[i%connections].Validate(ctx, review(fmt.Sprintf("req.o.%07d", i)), grpc.WaitForReady(false))
	if err == nil && reply.GetResult().GetData() == nil {
		return fmt.Errorf("a good result is refused: %v", reply.GetResult().GetFailure().GetCode())
	}
	return err
}

// capacity is how many calls a second are answered when as many callers call as there is
// room for, and nobody is refused.
func (o *overload) capacity(t *testing.T, callers int, d time.Duration) float64 {
	t.Helper()
	var done atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range callers {
		wg.Go(func() {
			for time.Since(began) < d {
				ctx, cancel := guard()
				err := o.one(ctx)
				cancel()
				if err != nil {
					t.Errorf("within capacity: %v", err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// outcome is what became of offered calls.
type outcome struct {
	mu      sync.Mutex
	seconds float64
	offered int
	took    map[codes.Code][]time.Duration
}

// mostOpen bounds the calls that are offered and not yet answered, for the callers' sake.
const mostOpen = 2000

// offer begins calls at a rate, whatever becomes of the ones before.
func (o *overload) offer(rate float64, d time.Duration) *outcome {
	out := &outcome{took: map[codes.Code][]time.Duration{}}
	var open atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for time.Since(began) < d {
		due := int(rate * time.Since(began).Seconds())
		for ; out.offered < due && open.Load() < mostOpen; out.offered++ {
			open.Add(1)
			wg.Go(func() {
				defer open.Add(-1)
				ctx, cancel := guard()
				defer cancel()
				sent := time.Now()
				err := o.one(ctx)
				out.mu.Lock()
				defer out.mu.Unlock()
				code := status.Code(err)
				out.took[code] = append(out.took[code], time.Since(sent))
			})
		}
		time.Sleep(2 * time.Millisecond)
	}
	out.seconds = time.Since(began).Seconds()
	wg.Wait()
	return out
}

// served reads in the service's log how long its calls with a status took, by its own
// clock.
func served(t *testing.T, r *replica, code codes.Code) []time.Duration {
	t.Helper()
	text, err := os.ReadFile(r.log)
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for line := range strings.Lines(string(text)) {
		var call struct {
			Msg, Code string
			Duration  time.Duration
		}
		if json.Unmarshal([]byte(line), &call) == nil && call.Msg == "call" && call.Code == code.String() {
			took = append(took, call.Duration)
		}
	}
	return took
}

// p99 is what 99 of 100 do not exceed; 0 for none.
func p99(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[len(d)*99/100]
}

func TestProbe(t *testing.T) {
	o := newOverload(t)
	for _, n := range []int{2, 8, 8} {
		c := o.capacity(t, n, 2*time.Second)
		t.Logf("callers %d: %.0f/s, %d MiB", n, c, o.r.memory(t)>>20)
	}
	c := o.capacity(t, 8, 2*time.Second)
	out := o.offer(10*c, 5*time.Second)
	for code, d := range out.took {
		t.Logf("%v: %d, p50 %s p99 %s", code, len(d), slices.Sorted(slices.Values(d))[len(d)/2], p99(d))
	}
	t.Logf("offered %d in %.1fs, %.0f/s; mem %d", out.offered, out.seconds, float64(out.offered)/out.seconds, o.r.memory(t)>>20)
	d := served(t, o.r, codes.ResourceExhausted)
	t.Logf("server side refusals %d p50 %s p99 %s", len(d), slices.Sorted(slices.Values(d))[len(d)/2], p99(d))
}
