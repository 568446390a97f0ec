package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// smallDisk gives every new connection a bound on the pages of the file.
type smallDisk struct {
	driver.Connector
	pages *atomic.Int64 // 0 for no bound
}

func (d smallDisk) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := d.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if pages := d.pages.Load(); pages != 0 {
		_, err = conn.(driver.ExecerContext).ExecContext(ctx, "PRAGMA max_page_count = "+strconv.FormatInt(pages, 10), nil)
	}
	return conn, err
}

// Case 150, D4: a full disk fails closed, and the writer recovers by itself.
func TestDiskFull(t *testing.T) {
	var pages atomic.Int64
	pages.Store(100)
	path := newPath(t)
	s := mustOpen(t, path, Options{
		RetryEvery: 5 * time.Millisecond,
		wrap:       func(c driver.Connector) driver.Connector { return smallDisk{c, &pages} },
	})
	fillAndFree(t, s, func() { pages.Store(0) })
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Case 150: where there is room for small records and for no large one, what is written is
// confirmed, and the store is not ready.
func TestDiskNearlyFull(t *testing.T) {
	var pages atomic.Int64
	pages.Store(100)
	s := mustOpen(t, newPath(t), Options{
		RetryEvery: 5 * time.Millisecond,
		wrap:       func(c driver.Connector) driver.Connector { return smallDisk{c, &pages} },
	})
	n := 0
	for ; n < 20_000 && appendRecord(t.Context(), s, audittest.Full(n)) == nil; n++ {
	}
	pages.Add(4) // for connections that are made from now on
	confirmed := 0
	for i := range 8 {
		if appendRecord(t.Context(), s, audittest.Record(n+1+i)) == nil {
			confirmed++
		}
		if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("Ready on a disk that takes only little = %v", err)
		}
		time.Sleep(10 * time.Millisecond) // a probe or two
	}
	if confirmed == 0 {
		t.Error("no small record was written: nothing was proved")
	}
	pages.Store(0)
	eventuallyReady(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Case 150 with a real file system of 4 MiB.
func TestDiskFullTmpfs(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("skipped: a tmpfs cannot be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	writeFile(t, ballast, make([]byte, 2<<20))
	s := mustOpen(t, filepath.Join(dir, "audit.db"), Options{RetryEvery: 5 * time.Millisecond})
	fillAndFree(t, s, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// fillAndFree appends until the disk is full, sees the store fail closed, frees the disk
// and sees it recover; every record that was confirmed is there all the time.
func fillAndFree(t *testing.T, s *Store, free func()) {
	t.Helper()
	var confirmed []int
	n := 0
	var err error
	for ; n < 20_000; n++ {
		if err = appendRecord(t.Context(), s, audittest.Full(n)); err != nil {
			break
		}
		confirmed = append(confirmed, n)
	}
	if !errors.Is(err, audit.ErrUnavailable) {
		t.Fatalf("Append on a full disk, after %d records = %v, want ErrUnavailable", n, err)
	}
	t.Logf("full after %d records: %v", n, err)
	if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Ready on a full disk = %v", err)
	}
	// 320 more calls: each is told, nothing piles up.
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 5 {
				rec := audittest.Full(1_000_000)
				for range 30 { // larger than what may still be free
					rec.MoreRejections = append(rec.MoreRejections, audit.Rejection{InstancePath: strings.Repeat("/x", 900)})
				}
				err := appendRecord(t.Context(), s, rec)
				if !errors.Is(err, audit.ErrUnavailable) && !errors.Is(err, audit.ErrFull) {
					t.Errorf("Append on a full disk = %v", err)
				}
			}
		})
	}
	wg.Wait()
	if after := runtime.NumGoroutine(); after > before+10 {
		t.Errorf("goroutines grew from %d to %d", before, after)
	}
	if left := s.bytes.Load(); left != 0 {
		t.Errorf("%d bytes are still counted as queued", left)
	}
	time.Sleep(50 * time.Millisecond) // some probes
	if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Ready = %v while the disk is still full", err)
	}
	checkAll(t, s, confirmed)

	free()
	eventuallyReady(t, s) // without any call: readiness keeps traffic away
	for end := n + 1000; n < end; n += 100 {
		if err := appendRecord(t.Context(), s, audittest.Full(n)); err != nil {
			t.Fatalf("Append after recovery: %v", err)
		}
		confirmed = append(confirmed, n)
	}
	checkAll(t, s, confirmed)
}

func checkAll(t *testing.T, s *Store, numbers []int) {
	t.Helper()
	for _, n := range numbers {
		if _, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(n)); err != nil {
			t.Fatalf("record %d was confirmed: %v", n, err)
		}
	}
}

// A lock that another process keeps fails the batch in time, and the store recovers.
func TestLocked(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{BusyTimeout: 20 * time.Millisecond, RetryEvery: 5 * time.Millisecond})
	unlock := lock(t, s)
	var wg sync.WaitGroup
	for n := range 10 {
		wg.Go(func() {
			if err := appendRecord(t.Context(), s, audittest.Record(n)); !errors.Is(err, audit.ErrUnavailable) {
				t.Errorf("Append = %v, want ErrUnavailable for all of the batch", err)
			}
		})
	}
	wg.Wait()
	if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Ready = %v", err)
	}
	unlock()
	eventuallyReady(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(1)); err != nil {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A commit that hangs is seen by Ready, which does not hang itself.
func TestReadyStalled(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	s.busySince.Store(time.Now().Add(-stallAfter / 2).UnixNano())
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready during a slow commit = %v", err)
	}
	s.busySince.Store(time.Now().Add(-2 * stallAfter).UnixNano())
	if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Ready during a hung commit = %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// The queue is bounded in bytes too.
func TestQueueBytes(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{QueueBytes: 1, BusyTimeout: time.Minute})
	if s.opts.QueueBytes != audit.MaxRecordBytes {
		t.Fatalf("QueueBytes = %d, one record must fit", s.opts.QueueBytes)
	}
	unlock := lock(t, s)
	large := func(n int) audit.Record {
		return audittest.Record(n, func(r *audit.Record) {
			for range 20 {
				r.MoreRejections = append(r.MoreRejections, audit.Rejection{Detail: string(make([]byte, 300)), SchemaPath: string(make([]byte, 1800))})
			}
		})
	}
	var full atomic.Int64
	var wg sync.WaitGroup
	for n := range 10 {
		wg.Go(func() {
			if err := appendRecord(t.Context(), s, large(n)); errors.Is(err, audit.ErrFull) {
				full.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	for range 1000 {
		if full.Load() == 9 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	unlock()
	wg.Wait()
	if full.Load() != 9 {
		t.Errorf("%d of 10 large records were refused, want 9", full.Load())
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
