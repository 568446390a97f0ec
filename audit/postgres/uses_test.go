package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

func claimOf(name string, limit uint32) audit.Claim {
	return audit.Claim{Key: audit.KeyOf("claim", name), Limit: limit, Until: loadClaim.Until}
}

// What was refused leaves no row, not even one that was only made to be locked.
func TestRefusedLeavesNothing(t *testing.T) {
	dsn := database(t, server(t))
	s := mustOpen(t, dsn, Options{})
	none := audit.Entry{Record: audittest.Record(1), Uses: audit.Uses{
		Request: audit.KeyOf("request", "a"), Memo: []byte("m"), Until: loadClaim.Until,
		Claims: []audit.Claim{claimOf("a", 1), claimOf("b", 0)},
	}}
	some := audit.Entry{Record: audittest.Record(2), Uses: audit.Uses{Claims: []audit.Claim{claimOf("c", 1)}}}
	var batch []*job
	for _, e := range []audit.Entry{none, some, none} {
		row, err := encode(e.Record)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, &job{row: row, uses: e.Uses})
	}
	l := &lane{store: s}
	defer l.discard()
	conn, err := l.connection(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := writeUses(t.Context(), conn, batch)
	if err != nil || outcomes[0].Written() || !outcomes[1].Written() || outcomes[2].Written() {
		t.Errorf("writeUses = %+v, %v", outcomes, err)
	}
	c := connect(t, dsn)
	defer c.Close(t.Context())
	var requests, claims, used int
	if err := c.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM requests), count(*), sum(used) FROM claims`).
		Scan(&requests, &claims, &used); err != nil || requests != 0 || claims != 1 || used != 1 {
		t.Errorf("%d requests, %d claims used %d times, %v", requests, claims, used, err)
	}
	closeStore(t, s)
}

// An id that another replica is writing is waited for, and its uses are counted once.
func TestSameIDElsewhere(t *testing.T) {
	dsn := database(t, server(t))
	s := mustOpen(t, dsn, Options{WriteTimeout: time.Minute})
	commit := insertLate(t, dsn, 1)
	done := make(chan error, 1)
	go func() {
		o, err := s.Append(t.Context(), audit.Entry{Record: audittest.Record(1), Uses: audit.Uses{Claims: []audit.Claim{claimOf("a", 1)}}})
		if err == nil && !o.Written() {
			err = fmt.Errorf("outcome %+v", o)
		}
		done <- err
	}()
	c := connect(t, dsn)
	defer c.Close(t.Context())
	within(t, 10*time.Second, "waiting", func() bool {
		var waiting bool
		err := c.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE NOT granted AND locktype = 'transactionid' AND query LIKE '%INSERT INTO events%')`).Scan(&waiting)
		return err == nil && waiting
	})
	commit()
	if err := <-done; err != nil {
		t.Error(err)
	}
	var claims int
	if err := c.QueryRow(t.Context(), `SELECT count(*) FROM claims`).Scan(&claims); err != nil || claims != 0 {
		t.Errorf("%d claims, %v: the entry that came first used nothing", claims, err)
	}
	closeStore(t, s)
}

// B11: 64 callers on four replicas want the last use: one of them gets it, and entries
// that use nothing are not held up by somebody who keeps the claim locked.
func TestLastUse(t *testing.T) {
	dsn := database(t, server(t))
	var replicas []*Store
	for range 4 {
		replicas = append(replicas, mustOpen(t, dsn, Options{WriteTimeout: time.Minute}))
	}
	for round := range 5 {
		last := claimOf(fmt.Sprint("last", round), 1)
		execute(t, dsn, fmt.Sprintf(`INSERT INTO claims (key, until, used) VALUES ('\x%s', %d, 0)`, last.Key, last.Until.UnixNano()))
		c := connect(t, dsn)
		if _, err := c.Exec(t.Context(), `BEGIN; SELECT FROM claims WHERE key = '\x`+string(last.Key)+`' FOR UPDATE`); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		written := 0
		for n := range 64 {
			wg.Go(func() {
				e := audit.Entry{Record: audittest.Record(round*1000 + n), Uses: audit.Uses{Claims: []audit.Claim{last}}}
				o, err := replicas[n%4].Append(t.Context(), e)
				if err != nil {
					t.Errorf("Append: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if o.Written() {
					written++
				}
			})
		}
		for n, s := range replicas {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if err := appendRecord(ctx, s, audittest.Record(round*1000+500+n)); err != nil {
				t.Errorf("a record that uses nothing is held up: %v", err)
			}
			cancel()
		}
		if err := c.Close(t.Context()); err != nil { // rolls back
			t.Error(err)
		}
		wg.Wait()
		if written != 1 {
			t.Errorf("round %d: %d got the last use", round, written)
		}
	}
	for _, s := range replicas {
		closeStore(t, s)
	}
}

// A claim that somebody keeps locked fails what waits for it in time, and the store is
// ready again at once.
func TestClaimLocked(t *testing.T) {
	dsn := database(t, server(t))
	s := mustOpen(t, dsn, Options{WriteTimeout: time.Second})
	e := audit.Entry{Record: audittest.Record(1), Uses: audit.Uses{Claims: []audit.Claim{claimOf("a", 9)}}}
	if _, err := s.Append(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	c := connect(t, dsn)
	if _, err := c.Exec(t.Context(), `BEGIN; SELECT FROM claims FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	e.Record = audittest.Record(2)
	if _, err := s.Append(t.Context(), e); !errors.Is(err, audit.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Append = %v, want ErrUnavailable", err)
	}
	within(t, 5*time.Second, "ready again", func() bool { return s.Ready(t.Context()) == nil })
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if o, err := s.Append(t.Context(), e); err != nil || !o.Written() {
		t.Errorf("Append = %+v, %v", o, err)
	}
	closeStore(t, s)
}

// A queue is bounded in bytes too, and a large original fits however small the bound.
func TestQueueBytes(t *testing.T) {
	dsn := database(t, server(t))
	s := mustOpen(t, dsn, Options{QueueBytes: 1, WriteTimeout: time.Minute})
	unlock := lockTable(t, dsn)
	large := func(n int) audit.Entry {
		return audit.Entry{Record: audittest.Record(n), Original: &audit.Original{
			Sealed: make([]byte, audit.MaxOriginalBytes), KeepUntil: loadClaim.Until,
		}}
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Append(t.Context(), large(1))
		done <- err
	}()
	within(t, 10*time.Second, "queued", func() bool { return s.bytes.Load() > 0 })
	if _, err := s.Append(t.Context(), large(2)); !errors.Is(err, audit.ErrFull) {
		t.Errorf("Append = %v, want ErrFull", err)
	}
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if left, n := s.bytes.Load(), s.records.Load(); left != 0 || n != 0 {
		t.Errorf("%d bytes of %d entries are still counted", left, n)
	}
	closeStore(t, s)
}

// What calls look up does not wait behind operators' lists, however long those take.
func TestLookUpsBesideLists(t *testing.T) {
	s := mustOpen(t, database(t, server(t)), Options{Readers: 2})
	defer closeStore(t, s)
	for range 2 { // lists that do not end
		c, err := s.read.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := s.Delivered(ctx, "t", "s"); err != nil {
		t.Errorf("Delivered: %v", err)
	}
	if _, err := s.Latest(ctx, audit.Judged{Tenant: "t", SessionID: "s", Tool: "x"}); !errors.Is(err, audit.ErrNotFound) {
		t.Errorf("Latest: %v", err)
	}
	if _, err := s.Recall(ctx, audit.KeyOf("k"), time.Now()); !errors.Is(err, audit.ErrNotFound) {
		t.Errorf("Recall: %v", err)
	}
}
