package sqlite

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// BenchmarkAppend measures durable appends by 1, 16 and 64 callers at the same time. One
// operation is one record; the disk's flush dominates with one caller.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			benchAppend(b, callers, func(n int) audit.Entry { return audit.Entry{Record: audittest.Full(n)} })
		})
	}
}

// BenchmarkAppendUses measures the same of entries by what they leave: a judgement of
// Validate, that of a call with a memo and two claims, and one with an original.
func BenchmarkAppendUses(b *testing.B) {
	validate := func(n int) audit.Entry {
		r := audittest.Full(n)
		r.RPC, r.ArgumentsDigest = "validate", string(audit.KeyOf("arguments", fmt.Sprint(n)))
		return audit.Entry{Record: r}
	}
	for name, entryOf := range map[string]func(n int) audit.Entry{
		"validate": validate,
		"claims": func(n int) audit.Entry {
			return requested(claiming(n, fmt.Sprint("9 ", n/4), fmt.Sprint("1 ", n)), fmt.Sprint(n), strings.Repeat("m", 1024))
		},
		"original": func(n int) audit.Entry {
			e := validate(n)
			e.Original = &audit.Original{Sealed: make([]byte, 64<<10), KeepUntil: farAway}
			return e
		},
	} {
		b.Run(name, func(b *testing.B) { benchAppend(b, 16, entryOf) })
	}
}

// benchAppend appends b.N entries and reports the bytes of the file for each.
func benchAppend(b *testing.B, callers int, entryOf func(n int) audit.Entry) {
	b.Helper()
	s := mustOpen(b, newPath(b), Options{})
	var next atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if _, err := s.Append(context.Background(), entryOf(int(n))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	if err := s.Close(context.Background()); err != nil {
		b.Error(err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(b.N), "disk-B/op")
}

// BenchmarkRatio states what a durable append costs beside one that only counts: value is
// the added latency at the median, in microseconds.
func BenchmarkRatio(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("append@%d", callers), func(b *testing.B) {
			s := mustOpen(b, newPath(b), Options{})
			const events = 2000
			var counted atomic.Int64
			count := func(context.Context, audit.Entry) error { counted.Add(1); return nil }
			write := func(ctx context.Context, e audit.Entry) error { _, err := s.Append(ctx, e); return err }
			began := time.Now()
			added := medianOf(b, callers, events, write)
			took := time.Since(began)
			b.ReportMetric(float64(added-medianOf(b, callers, events, count))/1e3, "value")
			b.ReportMetric(events/took.Seconds(), "events/s")
			if err := s.Close(context.Background()); err != nil {
				b.Error(err)
			}
			info, err := os.Stat(s.path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/events, "bytes/event")
		})
	}
}

// medianOf appends by some callers at once and returns the median time of one.
func medianOf(b *testing.B, callers, events int, add func(context.Context, audit.Entry) error) time.Duration {
	b.Helper()
	took := make([]time.Duration, events)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(events); n = next.Add(1) {
				e := audit.Entry{Record: audittest.Full(int(n))}
				began := time.Now()
				if err := add(context.Background(), e); err != nil {
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

// BenchmarkList measures a page of 50 out of 20,000 records, by the least selective and
// by a selective filter.
func BenchmarkList(b *testing.B) {
	s := mustOpen(b, newPath(b), Options{})
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for n := w; n < 20_000; n += 64 {
				if err := appendRecord(context.Background(), s, audittest.Record(n)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for name, filter := range map[string]audit.Filter{
		"tool":       {Tool: "review_status"},
		"request_id": {RequestID: "req.00000100"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.List(context.Background(), audit.OnlyTenants("acme", "other"), filter, 50, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	if err := s.Close(context.Background()); err != nil {
		b.Error(err)
	}
}
