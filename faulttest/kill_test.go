package faulttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// killBudget is how long the rounds on one store may take in all.
const killBudget = 120 * time.Second

// D4: kill -9 at random moments under load loses nothing that a caller was told, tears no
// record, and spends no grant twice; a permit is found again by repeating its request.
func TestKill(t *testing.T) {
	onStores(t, func(t *testing.T, s place) {
		rounds, calls := either(3, 50), either(200, 1000)
		contracts := outside.Shipped(t, loadTools...)
		run := func() *process { return start(t, s, "--contracts", contracts) }
		began := time.Now()
		p := run()
		var loads []*load
		for n := range rounds {
			if time.Since(began) > killBudget {
				t.Logf("the time is up after %d of %d rounds", n, rounds)
				break
			}
			since := time.Now().Add(-time.Second)
			l := newLoad(fmt.Sprint("k", n), p)
			loads = append(loads, l)
			killUnderLoad(t, p, l, calls)
			if n%5 == 1 { // in the middle of a start as well
				half := launch(t, s, "--contracts", contracts)
				time.Sleep(rand.N(time.Second))
				half.Kill()
			}
			p = run()
			l.gate = p.gate
			l.again(t)
			recorded(t, p, since).check(t, l)
			if t.Failed() {
				t.Fatalf("in round %d", n)
			}
		}
		r := recorded(t, p, began.Add(-time.Second))
		told := 0
		for _, l := range loads {
			r.check(t, l)
			told += len(l.replies)
		}
		t.Logf("%d rounds in %s: %d replies, %d records", len(loads), time.Since(began).Round(time.Second), told, len(r.events))
		p.stop(t)
	})
}

// killUnderLoad lets callers make so many calls in all, and kills the service after a
// random one of them.
func killUnderLoad(t *testing.T, p *process, l *load, calls int) {
	t.Helper()
	after := int64(calls/20 + rand.IntN(calls*4/5))
	var done atomic.Int64
	var killed atomic.Bool
	now := make(chan struct{})
	var wg sync.WaitGroup
	ended := make(chan struct{})
	for w := range callers {
		wg.Go(func() {
			for i := range (calls + callers - 1) / callers {
				ctx, cancel := outside.Guard()
				err := l.call(ctx, w, i)
				cancel()
				if err != nil {
					if !killed.Load() || status.Code(err) != codes.Unavailable {
						t.Errorf("call %d of caller %d, killed %t: %v", i, w, killed.Load(), err)
					}
					return
				}
				if done.Add(1) == after {
					close(now)
				}
			}
		})
	}
	go func() {
		wg.Wait()
		close(ended)
	}()
	select {
	case <-now:
	case <-ended: // each call has a guard of its own
		t.Errorf("the callers gave up after %d of %d calls:\n%s", done.Load(), calls, outside.Tail(p.Log))
	}
	time.Sleep(rand.N(3 * time.Millisecond))
	killed.Store(true)
	p.Kill()
	<-ended
}

// mostRepeats bounds the requests of each kind that are repeated.
const mostRepeats = 40

// again repeats requests after a restart: those that were answered get the same answer,
// those that were not get one, and another request gets nothing of a grant that is spent.
func (l *load) again(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a guard against a hang
	defer cancel()
	var wg sync.WaitGroup // side by side: each answer waits for the disk
	defer wg.Wait()
	room := make(chan struct{}, callers)
	beside := func(f func()) {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			f()
		})
	}
	permits := slices.Clone(l.permits)
	rand.Shuffle(len(permits), func(i, j int) { permits[i], permits[j] = permits[j], permits[i] })
	for i, a := range permits[:min(len(permits), mostRepeats)] {
		if time.Until(a.until) < 10*time.Second {
			continue // it is over before the answer is sure
		}
		beside(func() {
			if b, err := l.authorize(ctx, a.proposal); err != nil || b.permit != a.permit {
				t.Errorf("the permit of %s is not found again: %v, %q", a.request, err, b.permit)
			}
			if i%4 != 0 {
				return
			}
			other := proposal{request: a.request + ".other", grant: a.grant}
			if b, err := l.authorize(ctx, other); err != nil || b.permit != "" {
				t.Errorf("the grant of %s is good for another request: %v", a.request, err)
			}
		})
	}
	for _, p := range l.open[:min(len(l.open), mostRepeats)] {
		beside(func() {
			if _, err := l.authorize(ctx, p); err != nil {
				t.Errorf("%s, which was not answered, is not answered again: %v", p.request, err)
			}
		})
	}
	l.mu.Lock()
	redeemed := slices.Clone(l.redeemed)
	l.mu.Unlock()
	for _, permit := range redeemed[:min(len(redeemed), mostRepeats/2)] {
		beside(func() {
			if again, err := l.redeem(ctx, permit); err != nil || again {
				t.Errorf("a permit that was redeemed is redeemed again: %t, %v", again, err)
			}
		})
	}
}
