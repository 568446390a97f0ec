package sqlite

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
	"github.com/hallmark-gate/hallmark/internal/interleave"
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

// BenchmarkRatio states what a durable append costs beside one that only counts.
func BenchmarkRatio(b *testing.B) {
	audittest.Ratio(b, func(b *testing.B) (audit.Store, func() int64) {
		s := mustOpen(b, newPath(b), Options{})
		return s, func() int64 {
			if err := s.Close(context.Background()); err != nil {
				b.Error(err)
			}
			info, err := os.Stat(s.path)
			if err != nil {
				b.Fatal(err)
			}
			return info.Size()
		}
	})
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

// BenchmarkFloor measures what SQLite takes at least for a record: a row of the usual size
// in a table without any index, 64 to each flushed commit. The processor time of one row
// is cpu-us/row.
func BenchmarkFloor(b *testing.B) {
	const rows = 64
	s := mustOpen(b, newPath(b), Options{})
	defer func() { _ = s.Close(context.Background()) }()
	if _, err := s.write.Exec(`CREATE TABLE floor (rest BLOB NOT NULL)`); err != nil {
		b.Fatal(err)
	}
	insert, err := s.write.Prepare(`INSERT INTO floor (rest) VALUES (?)`)
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	record := make([]byte, 1000)
	commit := func() {
		tx, err := s.write.Begin()
		if err != nil {
			b.Fatal(err)
		}
		for range rows {
			if _, err := tx.Stmt(insert).Exec(record); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		b.ReportMetric(interleave.Compare(5, 100*time.Millisecond, commit).Time(0)/1e3/rows, "cpu-us/row")
	}
}
