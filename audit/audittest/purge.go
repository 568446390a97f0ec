package audittest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

func (s *suite) testOriginal(t *testing.T) {
	store := s.fresh(t)
	end := epoch.Add(time.Minute)
	kept := original(entry(1), "\x00age\xff\n")
	kept.Original.KeepUntil = end.In(time.FixedZone("x", 3600))
	wantWritten(t, store, kept)
	wantWritten(t, store, entry(2))
	other := original(entry(3), "other")
	other.Record.Tenant = ""
	wantWritten(t, store, other)
	for _, c := range []struct {
		name  string
		scope audit.Scope
		id    string
		now   time.Time
		found bool
	}{
		{"in scope", audit.OnlyTenants("acme"), ID(1), epoch, true},
		{"of several", audit.OnlyTenants("other", "acme"), ID(1), epoch, true},
		{"of all", audit.AllTenants(), ID(1), epoch, true},
		{"just before its end", audit.AllTenants(), ID(1), end.Add(-1), true},
		{"at its end", audit.AllTenants(), ID(1), end, false},
		{"long after", audit.AllTenants(), ID(1), end.AddDate(100, 0, 0), false},
		{"out of scope", audit.OnlyTenants("other"), ID(1), epoch, false},
		{"of nobody", audit.Scope{}, ID(1), epoch, false},
		{"of no tenant, by all", audit.AllTenants(), ID(3), epoch, true},
		{"of no tenant, by one", audit.OnlyTenants("acme", ""), ID(3), epoch, false},
		{"none was kept", audit.AllTenants(), ID(2), epoch, false},
		{"no record", audit.AllTenants(), ID(4), epoch, false},
		{"no id", audit.AllTenants(), "'; DROP TABLE originals; --\x00", epoch, false},
	} {
		got, err := store.Original(t.Context(), c.scope, c.id, c.now)
		switch {
		case c.found && (err != nil || len(got.Sealed) == 0 || got.KeepUntil.Location() != time.UTC):
			t.Errorf("%s: Original = %q until %s, %v", c.name, got.Sealed, got.KeepUntil, err)
		case !c.found && (!errors.Is(err, audit.ErrNotFound) || len(got.Sealed) > 0):
			t.Errorf("%s: Original = %q, %v; want ErrNotFound", c.name, got.Sealed, err)
		}
	}
}

// wantPurged purges and fails unless so much was removed.
func wantPurged(t *testing.T, store audit.Store, p audit.Purge, want audit.Purged) {
	t.Helper()
	if got, err := store.Purge(t.Context(), p); err != nil || got != want {
		t.Errorf("Purge(%s, %s) = %+v, %v; want %+v", p.Now, p.EventsBefore, got, err, want)
	}
}

func (s *suite) testPurgeEvents(t *testing.T) {
	store := s.fresh(t)
	for n := range 10 {
		wantWritten(t, store, original(request(entry(n, claim(fmt.Sprint(n), 1)), fmt.Sprint(n), "memo"), "sealed"))
	}
	wantPurged(t, store, audit.Purge{Now: epoch}, audit.Purged{}) // the zero time removes none
	wantPurged(t, store, audit.Purge{Now: epoch, EventsBefore: epoch}, audit.Purged{})
	// Before is exclusive; an original goes with its event.
	wantPurged(t, store, audit.Purge{Now: epoch, EventsBefore: Record(4).At}, audit.Purged{Events: 4, Originals: 4})
	wantPurged(t, store, audit.Purge{Now: epoch, EventsBefore: Record(4).At.Add(1)}, audit.Purged{Events: 1, Originals: 1})
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 3); !slices.Equal(got, ids(9, 8, 7, 6, 5)) {
		t.Errorf("List = %v", got)
	}
	for n := range 10 {
		wantOriginal(t, store, original(entry(n), "sealed"), n >= 5)
		if n < 5 {
			wantNothing(t, store, entry(n))
		}
		// Uses have ends of their own.
		wantShort(t, store, entry(100+n, claim(fmt.Sprint(n), 1)), 0)
		wantMemo(t, store, audit.KeyOf("request", fmt.Sprint(n)), epoch, "memo")
	}
	// The newest judgement is one that is left, and a purged id may come again.
	wantLatest(t, store, audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status"}, 9)
	wantPurged(t, store, audit.Purge{Now: epoch, EventsBefore: never}, audit.Purged{Events: 5, Originals: 5})
	wantLatest(t, store, audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status"}, -1)
	wantWritten(t, store, original(entry(1), "again"))
}

func (s *suite) testPurgeOriginals(t *testing.T) {
	store := s.fresh(t)
	end := epoch.Add(time.Minute)
	for n := range 6 {
		e := original(entry(n), "sealed")
		e.Original.KeepUntil = end.Add(time.Duration(n))
		wantWritten(t, store, e)
	}
	wantPurged(t, store, audit.Purge{Now: end.Add(-1)}, audit.Purged{})
	wantPurged(t, store, audit.Purge{Now: end.Add(2)}, audit.Purged{Originals: 3})
	for n := range 6 {
		if _, err := store.Original(t.Context(), audit.AllTenants(), ID(n), epoch); (err == nil) != (n >= 3) {
			t.Errorf("Original %d = %v", n, err)
		}
		if _, err := store.Get(t.Context(), audit.AllTenants(), ID(n)); err != nil { // its record stays
			t.Errorf("Get %d = %v", n, err)
		}
	}
	wantPurged(t, store, audit.Purge{Now: never, EventsBefore: Record(4).At}, audit.Purged{Events: 4, Originals: 3})
}

// Claims and memos are kept for ClaimGrace after their end, for replicas whose clock is
// behind, and no longer.
func (s *suite) testPurgeUses(t *testing.T) {
	store := s.fresh(t)
	end := epoch.Add(time.Minute)
	short := func(n int, name string) audit.Entry {
		e := request(entry(n, claim(name, 1)), name, "memo "+name)
		e.Uses.Until, e.Uses.Claims[0].Until = end, end
		return e
	}
	wantWritten(t, store, short(1, "a"))
	wantWritten(t, store, short(2, "prolonged"))
	wantWritten(t, store, entry(3, claim("prolonged", 2)))
	wantWritten(t, store, request(entry(4, claim("long", 1)), "long", "memo"))
	for _, now := range []time.Time{{}, epoch, end, end.Add(audit.ClaimGrace - 1)} {
		wantPurged(t, store, audit.Purge{Now: now}, audit.Purged{})
		wantShort(t, store, entry(10, claim("a", 1)), 0)
		wantRepeated(t, store, short(10, "a"), "memo a")
	}
	wantPurged(t, store, audit.Purge{Now: end.Add(audit.ClaimGrace)}, audit.Purged{Claims: 1, Memos: 2})
	wantMemo(t, store, audit.KeyOf("request", "a"), epoch, "")
	wantWritten(t, store, short(10, "a")) // nothing knows of it any more
	wantShort(t, store, entry(11, claim("prolonged", 2)), 0)
	wantShort(t, store, entry(11, claim("long", 1)), 0)
	wantMemo(t, store, audit.KeyOf("request", "long"), epoch, "memo")
	wantPurged(t, store, audit.Purge{Now: never.Add(audit.ClaimGrace - 1)}, audit.Purged{Claims: 1, Memos: 1})
	wantPurged(t, store, audit.Purge{Now: never.Add(audit.ClaimGrace)}, audit.Purged{Claims: 2, Memos: 1})
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 10); !slices.Equal(got, ids(10, 4, 3, 2, 1)) {
		t.Errorf("List = %v: the records were to stay", got)
	}
}

func (s *suite) testPurgeNothing(t *testing.T) {
	store := s.fresh(t)
	far := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, p := range []audit.Purge{{}, {Now: epoch}, {Now: far}, {Now: far, EventsBefore: far}, {EventsBefore: far}} {
		wantPurged(t, store, p, audit.Purged{})
	}
	wantWritten(t, store, original(request(entry(1, claim("a", 1)), "1", "memo"), "sealed"))
	wantPurged(t, store, audit.Purge{}, audit.Purged{})
	wantPurged(t, store, audit.Purge{Now: far, EventsBefore: far}, audit.Purged{Events: 1, Originals: 1, Claims: 1, Memos: 1})
}

// manyEntries is the number of entries of appendMany; it takes several steps to remove as
// many, whatever a store's step is.
const manyEntries = 1700

// appendMany appends entries 0 to manyEntries-1, each with a request and a claim, one of
// forty with an original.
func appendMany(t *testing.T, store audit.Store) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range racers {
		wg.Go(func() {
			for n := w; n < manyEntries; n += racers {
				e := request(entry(n, claim(fmt.Sprint(n), 1)), fmt.Sprint(n), "memo")
				if n%40 == 0 {
					e = original(e, "sealed")
				}
				if o, err := store.Append(t.Context(), e); err != nil || !o.Written() {
					t.Errorf("Append: %+v, %v", o, err)
				}
			}
		})
	}
	wg.Wait()
}

// One purge removes all that is over, in however many steps.
func (s *suite) testPurgeMany(t *testing.T) {
	const kept = 50
	before := Record(manyEntries - kept).At
	for _, c := range []struct {
		name  string
		purge audit.Purge
		want  audit.Purged
	}{
		{"events alone", audit.Purge{Now: epoch, EventsBefore: before}, audit.Purged{Events: 1650, Originals: 42}},
		{"all but events", audit.Purge{Now: never.Add(audit.ClaimGrace)}, audit.Purged{Originals: 43, Claims: 1700, Memos: 1700}},
		{"all", audit.Purge{Now: never.Add(audit.ClaimGrace), EventsBefore: before}, audit.Purged{Events: 1650, Originals: 43, Claims: 1700, Memos: 1700}},
	} {
		t.Log(c.name)
		store := s.fresh(t)
		appendMany(t, store)
		wantPurged(t, store, c.purge, c.want)
		wantPurged(t, store, c.purge, audit.Purged{})
		got := walk(t, store, audit.AllTenants(), audit.Filter{}, 500)
		if int64(len(got)) != manyEntries-c.want.Events || got[0] != ID(manyEntries-1) {
			t.Errorf("%d records are left, want %d", len(got), manyEntries-c.want.Events)
		}
	}
}

// A purge that is cut short says what it removed, and the next one goes on.
func (s *suite) testPurgeCutShort(t *testing.T) {
	store := s.fresh(t)
	appendMany(t, store)
	p := audit.Purge{Now: never.Add(audit.ClaimGrace), EventsBefore: never}
	most := audit.Purged{Events: manyEntries, Originals: 43, Claims: manyEntries, Memos: manyEntries}
	var sum audit.Purged
	for n := range 500 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*time.Millisecond)
		got, err := store.Purge(ctx, p)
		cancel()
		if err != nil && (!errors.Is(err, context.DeadlineExceeded) || errors.Is(err, audit.ErrUnavailable)) {
			t.Fatalf("Purge: %v", err)
		}
		sum.Events, sum.Originals = sum.Events+got.Events, sum.Originals+got.Originals
		sum.Claims, sum.Memos = sum.Claims+got.Claims, sum.Memos+got.Memos
		if err == nil {
			break
		}
	}
	// A step whose end the caller did not wait for is in no count.
	if sum.Events > most.Events || sum.Originals > most.Originals || sum.Claims > most.Claims || sum.Memos > most.Memos {
		t.Errorf("purges removed %+v, more than the %+v that were over", sum, most)
	}
	wantPurged(t, store, p, audit.Purged{})
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 500); len(got) != 0 {
		t.Errorf("%d records are left", len(got))
	}
}

// A purge takes nothing that is not over and holds nobody up, whatever is written
// meanwhile.
func (s *suite) testPurgeUnderWrites(t *testing.T) {
	store := s.fresh(t)
	const old, fresh = 1200, 400
	appendAll(t, store, old, func(n int) audit.Record { return Record(n) })
	after := epoch.Add(time.Hour)
	var wg sync.WaitGroup
	var removed [2]audit.Purged
	for i := range removed { // two at once, as from two replicas
		wg.Go(func() {
			for range 5 {
				got, err := store.Purge(t.Context(), audit.Purge{Now: epoch, EventsBefore: after})
				if err != nil {
					t.Errorf("Purge: %v", err)
				}
				removed[i].Events += got.Events
				removed[i].Originals += got.Originals + got.Claims + got.Memos
			}
		})
	}
	for w := range 16 {
		wg.Go(func() {
			for n := w; n < fresh; n += 16 {
				began := time.Now()
				e := at(original(request(entry(old+n, claim(fmt.Sprint(n/2), 1)), fmt.Sprint("r", n), "memo"), "sealed"), after.Add(time.Duration(n)))
				if _, err := store.Append(t.Context(), e); err != nil {
					t.Errorf("Append: %v", err)
				}
				if took := time.Since(began); took > atOnce {
					t.Errorf("Append took %s during a purge", took)
				}
			}
		})
	}
	wg.Wait()
	if got := removed[0].Events + removed[1].Events; got != old || removed[0].Originals+removed[1].Originals != 0 {
		t.Errorf("purges removed %+v, want %d events and nothing else", removed, old)
	}
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 500); len(got) != fresh/2 { // of each pair one
		t.Errorf("%d records are left, want %d", len(got), fresh/2)
	}
}

// Marks outlive what they were made of, and no record hides behind an old one.
func (s *suite) testPurgeTail(t *testing.T) {
	store := s.fresh(t)
	start := mustMark(t, store)
	mustAppend(t, store, Record(1), Record(2), Record(3))
	ofTwo, err := store.Mark(t.Context(), audit.AllTenants(), ID(2))
	if err != nil {
		t.Fatal(err)
	}
	end := mustMark(t, store)
	for _, before := range []time.Time{Record(3).At, never} { // the older ones, then all
		if _, err := store.Purge(t.Context(), audit.Purge{EventsBefore: before}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Mark(t.Context(), audit.AllTenants(), ID(2)); !errors.Is(err, audit.ErrNotFound) {
		t.Errorf("Mark of what was purged = %v", err)
	}
	emptied := mustMark(t, store)
	for name, mark := range map[string]string{"the start": start, "a purged record": ofTwo, "the end": end, "the emptied store": emptied} {
		if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, mark, 2); len(got) != 0 {
			t.Errorf("after %s, with nothing left: %v", name, got)
		}
	}
	mustAppend(t, store, Record(2), Record(5), Record(4))
	for name, mark := range map[string]string{"the start": start, "a purged record": ofTwo, "the end": end, "the emptied store": emptied} {
		if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, mark, 2); !slices.Equal(got, ids(2, 5, 4)) {
			t.Errorf("after %s: %v", name, got)
		}
	}
}

func (s *suite) testReopenUses(t *testing.T) {
	s.needReopen(t)
	store := s.openFresh(t)
	start := mustMark(t, store)
	kept := original(request(entry(1, claim("a", 2), claim("b", 1)), "1", "memo\x00\xff"), "sealed\x00\xff")
	kept.Record.Delivered, kept.Record.ArgumentsDigest = "untrusted", "d1"
	wantWritten(t, store, kept)
	mid := mustMark(t, store)
	wantWritten(t, store, entry(2))
	wantPurged(t, store, audit.Purge{EventsBefore: Record(1).At}, audit.Purged{})
	for range 2 {
		if err := store.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		store = s.reopen(t, store)
		wantRepeated(t, store, request(entry(3), "1", "later"), "memo\x00\xff")
		wantShort(t, store, entry(3, claim("a", 1), claim("b", 1)), 0, 1)
		wantWritten(t, store, kept)
		wantLatest(t, store, audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status", ArgumentsDigest: "d1"}, 1)
		if list, err := store.Delivered(t.Context(), "acme", "session-1"); err != nil || len(list) != 1 {
			t.Errorf("Delivered = %v, %v", list, err)
		}
		for mark, want := range map[string][]string{start: ids(1, 2), mid: ids(2)} {
			if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, mark, 10); !slices.Equal(got, want) {
				t.Errorf("Tail = %v, want %v", got, want)
			}
		}
	}
	wantWritten(t, store, entry(4, claim("a", 2)))
	// What was removed does not come back, and its place in the order is not used again.
	end := mustMark(t, store)
	wantPurged(t, store, audit.Purge{EventsBefore: never}, audit.Purged{Events: 3, Originals: 1})
	if err := store.Close(t.Context()); err != nil {
		t.Fatalf("Close: %v", err)
	}
	store = s.reopen(t, store)
	closeLater(t, store)
	wantNothing(t, store, kept)
	wantWritten(t, store, entry(5))
	for _, mark := range []string{start, mid, end} {
		if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, mark, 10); !slices.Equal(got, ids(5)) {
			t.Errorf("Tail after a purge = %v", got)
		}
	}
}
