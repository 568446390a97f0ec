package sqlite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// BenchmarkAppend measures durable appends by 1, 16 and 64 callers at the same time. One
// operation is one record; the disk's flush dominates with one caller.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := mustOpen(b, newPath(b), Options{})
			var next atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						if err := appendRecord(context.Background(), s, audittest.Full(int(n))); err != nil {
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
		})
	}
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
