package fleettest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
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
	// roomFor is how many calls of one client the replica takes at one time.
	roomFor = 4
	// slowness is how long the database takes for one record. So what bounds the capacity
	// is the database and not the machine, which offers ten times of it besides.
	slowness = 10 * time.Millisecond
)

func newOverload(t *testing.T) *overload {
	t.Helper()
	dsn := outside.Schema(t, outside.Database(t))
	slow(t, dsn)
	a := newAuthority(t)
	data := t.TempDir()
	outside.Run(t, nil, "keys", "init", "--data", data)
	r := launch(t, []string{"HALLMARK_AUDIT_DSN=" + dsn}, append([]string{
		"--data", data, "--audit-store", "postgres", "--keys", filepath.Join(data, "keys"),
		"--contracts", outside.Shipped(t, "review_status"), "--max-in-flight", fmt.Sprint(2 * roomFor),
	}, a.flags()...)...).await(t)
	o := &overload{authority: a, r: r}
	for range connections {
		o.gates = append(o.gates, hallmarkv1.NewGateServiceClient(r.dial(t, a, "assistant")))
	}
	return o
}

// slow makes the database of a schema take its time for every record.
func slow(t *testing.T, dsn string) {
	t.Helper()
	dsn, name, _ := strings.Cut(dsn, "search_path=")
	outside.Query(t, strings.TrimRight(dsn, "?&"), fmt.Sprintf(`
		CREATE FUNCTION %[1]s.slow() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN PERFORM pg_sleep(%[2]f); RETURN NULL; END $$;
		CREATE TRIGGER slow AFTER INSERT ON %[1]s.events FOR EACH ROW EXECUTE FUNCTION %[1]s.slow()`,
		name, slowness.Seconds()))
}

// one makes one call on one of the connections.
func (o *overload) one(ctx context.Context) error {
	i := o.next.Add(1)
	reply, err := o.gates[i%connections].Validate(ctx, review(fmt.Sprintf("req.o.%07d", i)))
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
				ctx, cancel := outside.Guard()
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
				ctx, cancel := outside.Guard()
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
	text, err := os.ReadFile(r.Log)
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

// quantile is what so many of 100 do not exceed; 0 for none.
func quantile(d []time.Duration, percent int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[len(d)*percent/100]
}

func p99(d []time.Duration) time.Duration { return quantile(d, 99) }

// Bounds of an overload.
const (
	tenTimes = 10
	// mostMemory is what the replica may take with everything at once: its start, the
	// bytes in flight twice (48 MiB, read and parsed), and a thousand connections.
	mostMemory = 320 << 20
	// soonRefused is for the 99th of 100 refusals by the service's clock. Meant are 50 ms;
	// the machine may be busy.
	soonRefused = 200 * time.Millisecond
	recovery    = 2 * time.Second
)

// C: ten times as many calls as can be answered, and those who mean harm beside them. What
// can be answered is; the rest is refused fast; memory stays; it is over when it is over.
func TestOverload(t *testing.T) {
	onLinux(t)
	o := newOverload(t)
	o.capacity(t, roomFor, time.Second) // connections are made, pages are in memory
	before := o.capacity(t, roomFor, either(2*time.Second, 10*time.Second))
	alone := o.r.memory(t)

	t.Run("ten times", func(t *testing.T) { o.endure(t, before, either(0.7, 0.9)) })
	t.Run("ten times under siege", func(t *testing.T) {
		s := besiege(t, o.r, o.authority)
		o.endure(t, before, either(0.4, 0.7)) // the besiegers have a part of it too
		s.lift(t)
	})
	t.Logf("capacity %.0f/s; memory before %d MiB", before, alone>>20)
}

// endure offers ten times the capacity for a while and holds the replica to its bounds;
// least is the part of the capacity that must be left.
func (o *overload) endure(t *testing.T, capacity, least float64) {
	t.Helper()
	d := either(5*time.Second, time.Minute)
	from := len(served(t, o.r, codes.ResourceExhausted))
	ctx, stop := context.WithCancel(context.Background())
	var memory []int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			memory = append(memory, o.r.memory(t))
			time.Sleep(100 * time.Millisecond)
		}
	})
	out := o.offer(tenTimes*capacity, d)
	stop()
	back := o.recovers(t)
	wg.Wait()

	good := float64(len(out.took[codes.OK])) / out.seconds
	refusals := served(t, o.r, codes.ResourceExhausted)[from:]
	t.Logf("offered %.0f/s in place of %.0f/s for %.1fs: %.0f/s answered (%.0f %%, p99 %s), %d refused (by the service's clock p50 %s, p99 %s; by the callers' p99 %s); at most %d MiB; back after %s",
		float64(out.offered)/out.seconds, capacity, out.seconds, good, 100*good/capacity, p99(out.took[codes.OK]).Round(time.Millisecond),
		len(refusals), quantile(refusals, 50).Round(time.Microsecond), p99(refusals).Round(time.Microsecond),
		p99(out.took[codes.ResourceExhausted]).Round(time.Millisecond), slices.Max(memory)>>20, back.Round(time.Millisecond))
	for code, took := range out.took {
		if code != codes.OK && code != codes.ResourceExhausted {
			t.Errorf("%d calls ended with %v", len(took), code)
		}
	}
	if float64(out.offered) < 0.7*tenTimes*capacity*out.seconds {
		t.Logf("the machine could not offer ten times the capacity")
	}
	if good < least*capacity {
		t.Errorf("%.0f/s answered, at least %.0f/s can be", good, least*capacity)
	}
	if len(refusals) == 0 || p99(refusals) > soonRefused {
		t.Errorf("%d refusals, p99 %s, at most %s", len(refusals), p99(refusals), soonRefused)
	}
	if most := slices.Max(memory); most > mostMemory {
		t.Errorf("%d MiB in memory, at most %d", most>>20, mostMemory>>20)
	}
	third := len(memory) / 3
	if first, last := slices.Max(memory[:third]), slices.Max(memory[2*third:]); last > first+first/10+either[int64](96<<20, 48<<20) {
		t.Errorf("memory grows: at most %d MiB in the first third, %d MiB in the last", first>>20, last>>20)
	}
}

// recovers measures how long it takes until calls within the capacity are all answered
// again.
func (o *overload) recovers(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	for inRow := 0; inRow < 2*roomFor; {
		ctx, cancel := outside.Guard()
		err := o.one(ctx)
		cancel()
		inRow++
		if err != nil {
			inRow = 0
			time.Sleep(10 * time.Millisecond)
		}
		if time.Since(began) > 10*recovery {
			t.Fatalf("calls are refused %s after the overload: %v", time.Since(began), err)
		}
	}
	took := time.Since(began)
	if took > recovery {
		t.Errorf("back to normal after %s, at most %s", took, recovery)
	}
	return took
}
