package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

var farAway = audittest.Record(0).At.AddDate(1, 0, 0)

// claiming is entry n, which uses these things once; the limit of each is in its name's
// first byte.
func claiming(n int, names ...string) audit.Entry {
	e := audit.Entry{Record: audittest.Record(n)}
	for _, name := range names {
		e.Uses.Claims = append(e.Uses.Claims, audit.Claim{Key: audit.KeyOf("claim", name), Limit: uint32(name[0] - '0'), Until: farAway})
	}
	return e
}

// requested makes an entry that of a request.
func requested(e audit.Entry, name, memo string) audit.Entry {
	e.Uses.Request, e.Uses.Memo, e.Uses.Until = audit.KeyOf("request", name), []byte(memo), farAway
	return e
}

// Entries of one batch are decided one after another, each with what those before it
// used; one that is refused disturbs no other.
func TestBatchInOrder(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	defer closeStore(t, s)
	withOriginal := claiming(6, "1c")
	withOriginal.Original = &audit.Original{Sealed: []byte("sealed"), KeepUntil: farAway}
	rows := []struct {
		line string
		e    audit.Entry
		want audit.Outcome
	}{
		{"the first use", claiming(1, "1a"), audit.Outcome{}},
		{"none is left", claiming(2, "2b", "1a"), audit.Outcome{Short: []int{1}}},
		{"no uses", claiming(3), audit.Outcome{}},
		{"the request", requested(claiming(4, "2b"), "r", "memo"), audit.Outcome{}},
		{"its repeat", requested(claiming(5, "2b"), "r", "other"), audit.Outcome{Repeated: true, Memo: []byte("memo")}},
		{"the same id", claiming(1, "1a"), audit.Outcome{}},
		{"the same id and request", requested(claiming(4, "2b"), "r", "memo"), audit.Outcome{}},
		{"the refused id again", claiming(2, "2b"), audit.Outcome{}},
		{"both are used up", claiming(7, "1a", "2b"), audit.Outcome{Short: []int{0, 1}}},
		{"an original", withOriginal, audit.Outcome{}},
		{"an id and another claim", claiming(6, "9d"), audit.Outcome{}},
		{"the claim of that was not used", claiming(8, "1d"), audit.Outcome{}},
	}
	var batch []*job
	for _, row := range rows {
		batch = append(batch, newJob(row.e))
	}
	if err := s.commit(batch); err != nil {
		t.Fatalf("commit = %v", err)
	}
	for i, row := range rows {
		if got := batch[i].outcome; !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %+v, want %+v", row.line, got, row.want)
		}
	}
	if err := checkUses(t.Context(), s, []string{"1a", "2b", "1c", "1d", "9d"}, []int64{1, 2, 1, 1, 0}); err != nil {
		t.Error(err)
	}
	if o, err := s.Original(t.Context(), audit.AllTenants(), audittest.ID(6), audittest.Record(0).At); err != nil || string(o.Sealed) != "sealed" {
		t.Errorf("Original = %q, %v", o.Sealed, err)
	}
	if err := s.commit(batch[1:2]); err != nil {
		t.Errorf("commit of what is there = %v", err)
	}
	if err := checkUses(t.Context(), s, []string{"1a", "2b", "1c", "1d", "9d"}, []int64{1, 2, 1, 1, 0}); err != nil {
		t.Errorf("after what was there came again: %v", err)
	}
}

// checkUses compares the uses that the file counts with those that are meant.
func checkUses(ctx context.Context, s *Store, names []string, want []int64) error {
	var errs []error
	for i, name := range names {
		var used int64
		if err := s.read.QueryRowContext(ctx, `SELECT ifnull(sum(used), 0) FROM claims WHERE key = ?`, keyBytes(audit.KeyOf("claim", name))).Scan(&used); err != nil {
			return err
		}
		if used != want[i] {
			errs = append(errs, fmt.Errorf("%s was used %d times, want %d", name, used, want[i]))
		}
	}
	return errors.Join(errs...)
}

// A batch is no proof by itself: neither a repeat nor a record makes a store ready whose
// disk failed before the disk has held for RetryEvery, and a purge does not try.
func TestBatchIsNoProof(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{BusyTimeout: 10 * time.Millisecond, RetryEvery: time.Hour})
	defer closeStore(t, s)
	if _, err := s.Append(t.Context(), requested(claiming(1), "r", "memo")); err != nil {
		t.Fatal(err)
	}
	unlock := lock(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(2)); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Append = %v", err)
	}
	unlock()
	if o, err := s.Append(t.Context(), requested(claiming(3), "r", "memo")); err != nil || !o.Repeated {
		t.Errorf("repeat = %+v, %v", o, err)
	}
	if err := appendRecord(t.Context(), s, audittest.Record(1)); err != nil {
		t.Errorf("Append again = %v", err)
	}
	if _, err := s.Purge(t.Context(), audit.Purge{Now: farAway}); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Purge = %v, want ErrUnavailable", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Ready = %v", err)
	}
	if err := appendRecord(t.Context(), s, audittest.Record(2)); err != nil {
		t.Errorf("Append = %v", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Ready after a record was written = %v, want the failure until it has held", err)
	}
	s.provenSince = s.provenSince.Add(-s.opts.RetryEvery)
	if err := appendRecord(t.Context(), s, audittest.Record(3)); err != nil {
		t.Errorf("Append = %v", err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready after records were written for RetryEvery = %v", err)
	}
}

// Batches that come without a pause, and have nothing to write, do not keep a store from
// finding out that its disk works again.
func TestReadyUnderRepeats(t *testing.T) {
	const every = 50 * time.Millisecond
	s := mustOpen(t, newPath(t), Options{BusyTimeout: 10 * time.Millisecond, RetryEvery: every})
	defer closeStore(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(1)); err != nil {
		t.Fatal(err)
	}
	unlock := lock(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(2)); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Append = %v", err)
	}
	unlock()
	for began := time.Now(); s.Ready(t.Context()) != nil; {
		if time.Since(began) > time.Minute {
			t.Fatal("the store never becomes ready")
		}
		if err := appendRecord(t.Context(), s, audittest.Record(1)); err != nil {
			t.Fatal(err)
		}
	}
}

// Originals count as what waits, and one that is larger than the bound fits alone.
func TestQueueBytesOfOriginals(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{QueueBytes: 1 << 20, BusyTimeout: time.Minute})
	unlock := lock(t, s)
	var full atomic.Int64
	var wg sync.WaitGroup
	for n := range 10 {
		wg.Go(func() {
			e := claiming(n)
			e.Original = &audit.Original{Sealed: bytes.Repeat([]byte{7}, 3<<20), KeepUntil: farAway}
			if _, err := s.Append(t.Context(), e); errors.Is(err, audit.ErrFull) {
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
	if full.Load() != 9 || s.bytes.Load() != 0 {
		t.Errorf("%d of 10 entries were refused, want 9; %d bytes are still counted", full.Load(), s.bytes.Load())
	}
	closeStore(t, s)
}

// Latest tells apart what has one number, and looks at what was written without numbers by
// a version before: the newest of all counts, whichever has it.
func TestLatestNumbers(t *testing.T) {
	base := audittest.Record(0).At
	asked := audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status", ArgumentsDigest: "d1"}
	type row struct {
		n, seconds int
		digest     string
		judged     any // the number; nil for none
	}
	mine := judgedBy(asked)
	for _, c := range []struct {
		name string
		rows []row
		want int // -1 for none
	}{
		{"one of each, with a number newer", []row{{1, 10, "d1", nil}, {2, 20, "d1", mine}}, 2},
		{"one of each, without newer", []row{{1, 30, "d1", nil}, {2, 20, "d1", mine}}, 1},
		{"at the same time, the larger id with a number", []row{{1, 10, "d1", nil}, {2, 10, "d1", mine}}, 2},
		{"at the same time, the larger id without", []row{{2, 10, "d1", nil}, {1, 10, "d1", mine}}, 2},
		{"several without", []row{{1, 10, "d1", nil}, {2, 30, "d1", nil}, {3, 20, "d1", nil}}, 2},
		{"before 1970, as other hands may write", []row{{1, -3_000_000_000, "d1", nil}}, 1},
		{"other arguments without a number", []row{{1, 10, "d2", nil}}, -1},
		{"the same number by chance", []row{{1, 10, "d1", mine}, {2, 20, "d2", mine}, {3, 30, "d3", mine}}, 1},
		{"only by chance", []row{{2, 20, "d2", mine}}, -1},
	} {
		path := newPath(t)
		s := mustOpen(t, path, Options{})
		for _, r := range c.rows {
			number := "NULL"
			if r.judged != nil {
				number = fmt.Sprint(r.judged)
			}
			execRaw(t, path, fmt.Sprintf(`INSERT INTO events (decision_id, at, rpc, tenant, tool, session_id, arguments_digest, rest, judged)
				VALUES ('%s', %d, 'validate', 'acme', 'review_status', 'session-1', '%s', '{"receipt_id":"r%d"}', %s)`,
				audittest.ID(r.n), base.Add(time.Duration(r.seconds)*time.Second).UnixNano(), r.digest, r.n, number))
		}
		got, err := s.Latest(t.Context(), asked)
		want := audit.Newest{DecisionID: audittest.ID(max(c.want, 0)), ReceiptID: fmt.Sprint("r", c.want)}
		if c.want < 0 && !errors.Is(err, audit.ErrNotFound) || c.want >= 0 && (err != nil || got != want) {
			t.Errorf("%s: Latest = %+v, %v; want %d", c.name, got, err, c.want)
		}
		closeStore(t, s)
	}
}

// Judgements of one session lie together, those of one call have one number, and nothing
// else has one.
func TestJudgedBy(t *testing.T) {
	rec := audittest.Record(1, func(r *audit.Record) { r.ArgumentsDigest = "d1" })
	first, _ := encode(rec).judged.(int64)
	seen := map[int64]bool{first: true}
	for _, c := range []struct {
		name    string
		edit    func(*audit.Record)
		same    bool // the number
		session bool // lies with the first
	}{
		{"another request", func(r *audit.Record) { r.RequestID, r.DecisionID = "other", audittest.ID(2) }, true, true},
		{"another tool", func(r *audit.Record) { r.Tool = "other" }, false, true},
		{"other arguments", func(r *audit.Record) { r.ArgumentsDigest = "d2" }, false, true},
		{"no arguments", func(r *audit.Record) { r.ArgumentsDigest = "" }, false, true},
		{"another session", func(r *audit.Record) { r.SessionID = "session-2" }, false, false},
		{"another tenant", func(r *audit.Record) { r.Tenant = "other" }, false, false},
		{"the border between names", func(r *audit.Record) { r.Tenant, r.SessionID = "acmes", "ession-1" }, false, false},
	} {
		other := rec
		c.edit(&other)
		got, ok := encode(other).judged.(int64)
		if !ok || (got == first) != c.same || (got>>40 == first>>40) != c.session || seen[got] != c.same {
			t.Errorf("%s: %x beside %x", c.name, got, first)
		}
		seen[got] = true
	}
	for _, edit := range []func(*audit.Record){
		func(r *audit.Record) { r.RPC = "authorize" }, func(r *audit.Record) { r.RPC = "" }, func(r *audit.Record) { r.SessionID = "" },
	} {
		other := rec
		edit(&other)
		if got := encode(other).judged; got != nil {
			t.Errorf("%+v has the number %v", other, got)
		}
	}
}

// A damaged judgement is said to be damaged, and a tail goes on after it.
func TestDamagedLatest(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	defer closeStore(t, s)
	for n := range 3 {
		if err := appendRecord(t.Context(), s, audittest.Record(n)); err != nil {
			t.Fatal(err)
		}
	}
	judged := audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status"}
	for n, want := range map[int]error{1: nil, 2: audit.ErrDamaged} {
		execRaw(t, path, fmt.Sprintf(`UPDATE events SET rest = '{' WHERE decision_id = '%s'`, audittest.ID(n)))
		if _, err := s.Latest(t.Context(), judged); !errors.Is(err, want) {
			t.Errorf("Latest with record %d damaged = %v, want %v", n, err, want)
		}
		execRaw(t, path, fmt.Sprintf(`UPDATE events SET rest = '{}' WHERE decision_id = '%s'`, audittest.ID(n)))
	}
	execRaw(t, path, fmt.Sprintf(`UPDATE events SET rest = '{' WHERE decision_id = '%s'`, audittest.ID(1)))
	mark, met := markToken(0), 0
	for range 3 {
		records, next, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, mark, 1)
		if err != nil || next == mark {
			t.Fatalf("Tail = %q, %v", next, err)
		}
		mark, met = next, met+len(records)
	}
	if met != 2 {
		t.Errorf("met %d records, want the 2 that can be read", met)
	}
}
