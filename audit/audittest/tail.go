package audittest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// mustMark marks the end of what is durable.
func mustMark(t *testing.T, store audit.Store) string {
	t.Helper()
	mark, err := store.Mark(t.Context(), audit.AllTenants(), "")
	if err != nil || mark == "" {
		t.Fatalf("Mark = %q, %v", mark, err)
	}
	return mark
}

// tailStep reads what follows a mark once.
func tailStep(t *testing.T, store audit.Store, scope audit.Scope, filter audit.Filter, mark string, limit int) (ids []string, next string) {
	t.Helper()
	records, next, err := store.Tail(t.Context(), scope, filter, mark, limit)
	if err != nil || len(records) > limit || next == "" {
		t.Fatalf("Tail of %d = %d records, %q, %v", limit, len(records), next, err)
	}
	if len(next) > audit.MaxPageToken {
		t.Fatalf("mark has %d bytes, more than %d", len(next), audit.MaxPageToken)
	}
	for _, r := range records {
		ids = append(ids, r.DecisionID)
	}
	return ids, next
}

// tail goes on from mark to mark until nothing follows. A store may look at a part and
// find nothing in it, so that one empty answer is not the end.
func tail(t *testing.T, store audit.Store, scope audit.Scope, filter audit.Filter, mark string, limit int) (ids []string, next string) {
	t.Helper()
	for empty := 0; empty < 10; {
		step, next := tailStep(t, store, scope, filter, mark, limit)
		ids = append(ids, step...)
		if len(step) > 0 {
			empty = 0
		} else {
			empty++
			if next == mark {
				break
			}
		}
		mark = next
	}
	return ids, mark
}

// Records come in the order of writing, whatever their time and id, from each mark on.
func (s *suite) testTailOrder(t *testing.T) {
	store := s.fresh(t)
	start := mustMark(t, store)
	if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, start, 10); len(got) != 0 {
		t.Errorf("Tail of an empty store = %v", got)
	}
	order := []int{5, 3, 9, 1, 7, 2, 8, 0, 6, 4}
	want := ids(order...)
	marks := []string{start}
	for _, n := range order {
		mustAppend(t, store, Record(n, func(r *audit.Record) { r.At = epoch.Add(time.Duration(n%3) * time.Hour) }))
		mustAppend(t, store, Record(order[0])) // what is there already is not written again
		marks = append(marks, mustMark(t, store))
	}
	for i, mark := range marks {
		for _, limit := range []int{1, 3, len(order), audit.MaxPageSize} {
			if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, mark, limit); !slices.Equal(got, want[i:]) {
				t.Errorf("after %d records, %d at a time:\n got %v\nwant %v", i, limit, got, want[i:])
			}
		}
	}
	// From a record on, and from the mark after each step.
	for i, id := range want {
		mark, err := store.Mark(t.Context(), audit.OnlyTenants("acme"), id)
		if err != nil {
			t.Fatalf("Mark(%s): %v", id, err)
		}
		if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, mark, 2); !slices.Equal(got, want[i+1:]) {
			t.Errorf("after record %d:\n got %v\nwant %v", i, got, want[i+1:])
		}
	}
	// The end stays the end until something is written; a mark can be used again.
	_, end := tail(t, store, audit.AllTenants(), audit.Filter{}, start, 4)
	for range 3 {
		if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, end, 4); len(got) != 0 {
			t.Errorf("Tail at the end = %v", got)
		}
	}
	mustAppend(t, store, Record(20))
	for range 3 {
		if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, end, 4); !slices.Equal(got, ids(20)) {
			t.Errorf("Tail after the end = %v", got)
		}
	}
	// The whole record, as it is elsewhere.
	mark := mustMark(t, store)
	mustAppend(t, store, Full(30))
	records, _, err := store.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, mark, 1)
	if err != nil || len(records) != 1 || !reflect.DeepEqual(records[0], Full(30)) {
		t.Errorf("Tail: %v\n got %+v", err, records)
	}
}

func (s *suite) testTailFilters(t *testing.T) {
	store := s.fresh(t)
	start := mustMark(t, store)
	for n := range 60 {
		mustAppend(t, store, Record(60-n, func(r *audit.Record) {
			r.Tenant = []string{"acme", "other", ""}[n%3]
			r.Tool = []string{"a", "b"}[n%2]
			if n == 59 {
				r.Rejection.Reason, r.FailureCode, r.Decision = "SCHEMA", "INVALID_RESPONSE", "DENY"
				r.RPC, r.RequestID, r.SessionID = "authorize", "req.last", "session-9"
			}
		}))
	}
	all := func(keep func(n int) bool) (out []string) {
		for n := range 60 {
			if keep(n) {
				out = append(out, ID(60-n))
			}
		}
		return out
	}
	last := func(n int) bool { return n == 59 }
	for _, c := range []struct {
		name   string
		scope  audit.Scope
		filter audit.Filter
		keep   func(n int) bool
	}{
		{"all", audit.AllTenants(), audit.Filter{}, func(int) bool { return true }},
		{"nobody", audit.Scope{}, audit.Filter{}, func(int) bool { return false }},
		{"one tenant", audit.OnlyTenants("acme"), audit.Filter{}, func(n int) bool { return n%3 == 0 }},
		{"two tenants", audit.OnlyTenants("acme", "other"), audit.Filter{}, func(n int) bool { return n%3 != 2 }},
		{"tenant of the filter", audit.AllTenants(), audit.Filter{Tenant: "other"}, func(n int) bool { return n%3 == 1 }},
		{"filter does not widen", audit.OnlyTenants("acme"), audit.Filter{Tenant: "other"}, func(int) bool { return false }},
		{"tool", audit.AllTenants(), audit.Filter{Tool: "b"}, func(n int) bool { return n%2 == 1 }},
		{"tool in scope", audit.OnlyTenants("acme"), audit.Filter{Tool: "b"}, func(n int) bool { return n%6 == 3 }},
		{"since", audit.AllTenants(), audit.Filter{Since: Record(30).At}, func(n int) bool { return 60-n >= 30 }},
		{"until", audit.AllTenants(), audit.Filter{Until: Record(30).At}, func(n int) bool { return 60-n < 30 }},
		{"reason", audit.AllTenants(), audit.Filter{Reason: "SCHEMA"}, last},
		{"failure code", audit.AllTenants(), audit.Filter{FailureCode: "INVALID_RESPONSE"}, last},
		{"decision", audit.AllTenants(), audit.Filter{Decision: "DENY"}, last},
		{"rpc", audit.AllTenants(), audit.Filter{RPC: "authorize"}, last},
		{"request id", audit.AllTenants(), audit.Filter{RequestID: "req.last"}, last},
		{"session id", audit.AllTenants(), audit.Filter{SessionID: "session-9"}, last},
		{"no such", audit.AllTenants(), audit.Filter{Tool: "c"}, func(int) bool { return false }},
	} {
		for _, limit := range []int{1, 7, 100} {
			got, end := tail(t, store, c.scope, c.filter, start, limit)
			if !slices.Equal(got, all(c.keep)) {
				t.Errorf("%s, %d at a time:\n got %v\nwant %v", c.name, limit, got, all(c.keep))
			}
			// What did not pass was looked at, and is not looked at again.
			if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, end, limit); len(got) != 0 {
				t.Errorf("%s: after the end = %v", c.name, got)
			}
		}
	}
}

func (s *suite) testMarks(t *testing.T) {
	store := s.fresh(t)
	mustAppend(t, store, Record(1), Record(2, func(r *audit.Record) { r.Tenant = "other" }))
	for _, c := range []struct {
		name  string
		scope audit.Scope
		id    string
		found bool
	}{
		{"in scope", audit.OnlyTenants("acme"), ID(1), true},
		{"of all", audit.AllTenants(), ID(2), true},
		{"out of scope", audit.OnlyTenants("acme"), ID(2), false},
		{"of nobody", audit.Scope{}, ID(1), false},
		{"absent", audit.AllTenants(), ID(3), false},
		{"no id", audit.AllTenants(), "'; DROP TABLE events; --", false},
		{"garbage", audit.AllTenants(), "\x00\xff", false},
	} {
		mark, err := store.Mark(t.Context(), c.scope, c.id)
		if c.found != (err == nil) || (!c.found && (!errors.Is(err, audit.ErrNotFound) || mark != "")) {
			t.Errorf("%s: Mark = %q, %v", c.name, mark, err)
		}
	}
	if _, err := store.Mark(t.Context(), audit.Scope{}, ""); err != nil { // it says nothing of any record
		t.Errorf("Mark of the end by nobody: %v", err)
	}
	mark := mustMark(t, store)
	_, page, err := store.List(t.Context(), audit.AllTenants(), audit.Filter{}, 1, "")
	if err != nil || page == "" {
		t.Fatalf("List: %q, %v", page, err)
	}
	for name, bad := range map[string]string{
		"empty": "", "garbage": "garbage", "not base64": "\x00\xff", "a byte more": mark + "A", "a byte less": mark[1:],
		"large": strings.Repeat("A", 1<<20), "a decision id": ID(1), "a page token": page, "a number": "1",
	} {
		records, next, err := store.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, bad, 10)
		if !errors.Is(err, audit.ErrBadPageToken) || len(records) > 0 || next != "" {
			t.Errorf("%s: Tail = %d records, %q, %v; want ErrBadPageToken", name, len(records), next, err)
		}
	}
}

func (s *suite) testTailBytes(t *testing.T) {
	store := s.fresh(t)
	start := mustMark(t, store)
	const total = 80
	appendAll(t, store, total, func(n int) audit.Record {
		r := Record(n)
		for range 32 {
			r.MoreRejections = append(r.MoreRejections, audit.Rejection{InstancePath: strings.Repeat("/x", 900)})
		}
		return r
	})
	first, _ := tailStep(t, store, audit.AllTenants(), audit.Filter{}, start, total)
	if len(first) < audit.MaxPageBytes/audit.MaxRecordBytes-1 || len(first) >= total {
		t.Errorf("Tail of large records = %d records", len(first))
	}
	got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, start, total)
	if slices.Sort(got); len(slices.Compact(got)) != total {
		t.Errorf("Tail met %d of %d", len(got), total)
	}
}

func (s *suite) testTailUnderWrites(t *testing.T) {
	store := s.fresh(t)
	s.tailUnderWrites(t, store, store)
}

func (s *suite) testTailTwoStores(t *testing.T) {
	first := s.fresh(t)
	second := s.openSecond(t, first)
	start := mustMark(t, second)
	var want []string
	for n := range 40 { // each is durable before the next one begins
		mustAppend(t, []audit.Store{first, second}[n%2], Record(100-n))
		want = append(want, ID(100-n))
	}
	for _, store := range []audit.Store{first, second} {
		if got, _ := tail(t, store, audit.AllTenants(), audit.Filter{}, start, 7); !slices.Equal(got, want) {
			t.Errorf("Tail:\n got %v\nwant %v", got, want)
		}
	}
	s.tailUnderWrites(t, second, first, second)
}

// tailUnderWrites reads on while writers write out of the order of time: each record is
// met exactly once, and those of one writer in the order of its writing.
func (s *suite) tailUnderWrites(t *testing.T, reader audit.Store, writers ...audit.Store) {
	t.Helper()
	const callers, each, base = 16, 40, 1_000_000
	start := mustMark(t, reader)
	var wg sync.WaitGroup
	for w := range callers {
		wg.Go(func() {
			for i := range each {
				r := Record(base+w*each+i, func(r *audit.Record) { r.At = epoch.Add(time.Duration((i*7919+w)%each) * time.Second) })
				if err := appendRecord(t.Context(), writers[w%len(writers)], r); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { wg.Wait(); close(written) }()

	var met []string
	mark, over := start, false
	for {
		var step []string
		step, mark = tail(t, reader, audit.AllTenants(), audit.Filter{}, mark, 17)
		met = append(met, step...)
		if over {
			break
		}
		select {
		case <-written:
			over = true // and once more
		default:
		}
	}
	last := map[int]int{}
	for _, id := range met {
		var n int
		if _, err := fmt.Sscanf(id[24:], "%x", &n); err != nil || n < base {
			t.Fatalf("met %s, %v", id, err)
		}
		w, i := (n-base)/each, (n-base)%each
		if i != last[w] {
			t.Errorf("writer %d: met record %d, want %d", w, i, last[w])
		}
		last[w] = i + 1
	}
	if len(met) != callers*each {
		t.Errorf("met %d of %d records", len(met), callers*each)
	}
	// The same once more, all at once.
	if again, _ := tail(t, reader, audit.AllTenants(), audit.Filter{}, start, audit.MaxPageSize); !slices.Equal(again, met) {
		t.Errorf("a second walk differs: %d records, then %d", len(met), len(again))
	}
}
