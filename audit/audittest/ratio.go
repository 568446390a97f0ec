package audittest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// Ratio is a benchmark: what a durable append costs beside one that only counts, at 1, 16
// and 64 callers. It reports value, the added latency at the median in microseconds,
// events/s and bytes/event. open returns a new store each time and what closes it and
// says how many bytes its events take, indexes included.
func Ratio(b *testing.B, open func(b *testing.B) (store audit.Store, finish func() int64)) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("append@%d", callers), func(b *testing.B) {
			store, finish := open(b)
			const events = 2000
			var counted atomic.Int64
			count := func(context.Context, audit.Entry) (audit.Outcome, error) {
				counted.Add(1)
				return audit.Outcome{}, nil
			}
			began := time.Now()
			added := medianOf(b, callers, events, store.Append)
			took := time.Since(began)
			b.ReportMetric(float64(added-medianOf(b, callers, events, count))/1e3, "value")
			b.ReportMetric(events/took.Seconds(), "events/s")
			b.ReportMetric(float64(finish())/events, "bytes/event")
		})
	}
}

// medianOf appends by some callers at once and returns the median time of one.
func medianOf(b *testing.B, callers, events int, add func(context.Context, audit.Entry) (audit.Outcome, error)) time.Duration {
	b.Helper()
	took := make([]time.Duration, events)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(events); n = next.Add(1) {
				e := audit.Entry{Record: Full(int(n))}
				began := time.Now()
				if _, err := add(context.Background(), e); err != nil {
					b.Error(err)
					return
				}
				took[n-1] = time.Since(began)
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took[events/2]
}
