package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// BenchmarkAppend measures durable appends by 1, 16 and 64 callers at the same time, of
// records alone and of records with a use each. One operation is one entry; bytes/event
// are those of the table and its indexes.
func BenchmarkAppend(b *testing.B) {
	for _, uses := range []bool{false, true} {
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("uses=%t/callers=%d", uses, callers), func(b *testing.B) {
				dsn := database(b, server(b))
				s := mustOpen(b, dsn, Options{})
				var next atomic.Int64
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							e := audit.Entry{Record: audittest.Full(int(n))}
							if uses {
								e.Uses.Claims = []audit.Claim{{Key: audit.KeyOf("bench", fmt.Sprint(n)), Limit: 1, Until: loadClaim.Until}}
							}
							if _, err := s.Append(context.Background(), e); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
				var size int64
				if err := s.read.QueryRow(context.Background(), `SELECT pg_total_relation_size('events')`).Scan(&size); err != nil {
					b.Error(err)
				}
				b.ReportMetric(float64(size)/float64(b.N), "bytes/event")
				closeStore(b, s)
			})
		}
	}
}

// BenchmarkRatio states what a durable append costs beside one that only counts.
func BenchmarkRatio(b *testing.B) {
	audittest.Ratio(b, func(b *testing.B) (audit.Store, func() int64) {
		s := mustOpen(b, database(b, server(b)), Options{})
		return s, func() (size int64) {
			if err := s.read.QueryRow(context.Background(), `SELECT pg_total_relation_size('events')`).Scan(&size); err != nil {
				b.Error(err)
			}
			closeStore(b, s)
			return size
		}
	})
}

// BenchmarkPurge measures the removal of events. One operation is one event.
func BenchmarkPurge(b *testing.B) {
	dsn := database(b, server(b))
	s := mustOpen(b, dsn, Options{})
	for range 4 {
		execute(b, dsn, fill)
	}
	b.ResetTimer()
	far := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	got, err := s.Purge(context.Background(), audit.Purge{Now: far, EventsBefore: far})
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(got.Events)/b.Elapsed().Seconds(), "events/s")
	closeStore(b, s)
}
