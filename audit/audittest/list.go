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

func (s *suite) testOrder(t *testing.T) {
	store := s.fresh(t)
	same := func(r *audit.Record) { r.At = epoch.Add(time.Hour) }
	nano := func(r *audit.Record) { r.At = epoch.Add(time.Hour + 1) }
	// Not in order of time, and 20 to 23 at one time, where the id decides.
	mustAppend(t, store, Record(3), Record(1), Record(22, same), Record(20, same), Record(2),
		Record(23, same), Record(21, same), Record(0), Record(10, nano))
	want := ids(10, 23, 22, 21, 20, 3, 2, 1, 0)
	for size := 1; size <= len(want)+1; size++ {
		if got := walk(t, store, audit.AllTenants(), audit.Filter{}, size); !slices.Equal(got, want) {
			t.Errorf("pages of %d:\n got %v\nwant %v", size, got, want)
		}
	}
}

func (s *suite) testPageSizes(t *testing.T) {
	store := s.fresh(t)
	total := audit.MaxPageSize + 60
	appendAll(t, store, total, func(n int) audit.Record { return Record(n) })
	for _, c := range []struct{ size, want int }{
		{0, audit.DefaultPageSize},
		{-5, audit.DefaultPageSize},
		{1, 1},
		{audit.MaxPageSize, audit.MaxPageSize},
		{1 << 30, audit.MaxPageSize},
	} {
		records, next, err := store.List(t.Context(), audit.AllTenants(), audit.Filter{}, c.size, "")
		if err != nil || len(records) != c.want || next == "" {
			t.Errorf("List of %d = %d records, next %q, %v; want %d and a next", c.size, len(records), next, err, c.want)
		}
	}
	// The last page that is exactly full has no next one.
	filter := audit.Filter{Until: epoch.Add(10 * time.Millisecond)}
	if records, next, err := store.List(t.Context(), audit.AllTenants(), filter, 10, ""); len(records) != 10 || next != "" || err != nil {
		t.Errorf("last full page = %d records, next %q, %v; want 10 and no next", len(records), next, err)
	}
}

func (s *suite) testPageBytes(t *testing.T) {
	store := s.fresh(t)
	const total = 80
	appendAll(t, store, total, func(n int) audit.Record {
		r := Record(n)
		for range 32 {
			r.MoreRejections = append(r.MoreRejections, audit.Rejection{InstancePath: strings.Repeat("/x", 900)})
		}
		return r
	})
	first, next, err := store.List(t.Context(), audit.AllTenants(), audit.Filter{}, total, "")
	if err != nil || next == "" || len(first) < audit.MaxPageBytes/audit.MaxRecordBytes-1 || len(first) >= total {
		t.Errorf("List of large records = %d records, next %q, %v", len(first), next, err)
	}
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, total); len(got) != total {
		t.Errorf("walk over large records met %d of %d", len(got), total)
	}
}

func (s *suite) testTokens(t *testing.T) {
	store := s.fresh(t)
	appendAll(t, store, 5, func(n int) audit.Record { return Record(n) })
	filter := audit.Filter{Tool: "review_status"}
	_, next, err := store.List(t.Context(), audit.OnlyTenants("acme"), filter, 2, "")
	if err != nil || next == "" {
		t.Fatalf("List: %q, %v", next, err)
	}
	for _, c := range []struct {
		name, token string
		scope       audit.Scope
		filter      audit.Filter
	}{
		{"garbage", "garbage", audit.OnlyTenants("acme"), filter},
		{"one byte more", next + "A", audit.OnlyTenants("acme"), filter},
		{"one byte less", next[1:], audit.OnlyTenants("acme"), filter},
		{"not base64", "\x00\xff", audit.OnlyTenants("acme"), filter},
		{"large", strings.Repeat("A", 1<<20), audit.OnlyTenants("acme"), filter},
		{"other filter", next, audit.OnlyTenants("acme"), audit.Filter{}},
		{"other time", next, audit.OnlyTenants("acme"), audit.Filter{Tool: filter.Tool, Since: epoch}},
		{"other scope", next, audit.OnlyTenants("acme", "other"), filter},
		{"scope of all", next, audit.AllTenants(), filter},
	} {
		records, again, err := store.List(t.Context(), c.scope, c.filter, 2, c.token)
		if !errors.Is(err, audit.ErrBadPageToken) || len(records) > 0 || again != "" {
			t.Errorf("%s: List = %d records, %q, %v; want ErrBadPageToken", c.name, len(records), again, err)
		}
	}
	// A page may be asked for again, and the size may change on the way.
	for range 2 {
		records, _, err := store.List(t.Context(), audit.OnlyTenants("acme"), filter, 3, next)
		if err != nil || len(records) != 3 || records[0].DecisionID != ID(2) {
			t.Errorf("List of the next page = %d records, %v", len(records), err)
		}
	}
}

func (s *suite) testPagingUnderWrites(t *testing.T) {
	store := s.fresh(t)
	const present = 200
	// Every tenth number is there at the start; writers fill in the others meanwhile:
	// older, newer and between, some at the very time of a record that is there.
	appendAll(t, store, present, func(n int) audit.Record { return Record(n * 10) })
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := w + 1; ; n += 7 {
				select {
				case <-stop:
					return
				default:
				}
				if n%10 == 0 {
					continue
				}
				number := n % (present * 12)
				if err := appendRecord(t.Context(), store, Record(number, func(r *audit.Record) {
					if n%3 == 0 {
						r.At = r.At.Truncate(10 * time.Millisecond)
					}
				})); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	for _, size := range []int{7, 50} {
		seen := map[string]int{}
		for _, id := range walk(t, store, audit.AllTenants(), audit.Filter{}, size) {
			seen[id]++
			if seen[id] > 1 {
				t.Errorf("pages of %d: %s was met twice", size, id)
			}
		}
		for n := range present {
			if seen[ID(n*10)] != 1 {
				t.Errorf("pages of %d: %s was there at the start and not met", size, ID(n*10))
			}
		}
	}
	close(stop)
	wg.Wait()
}

func (s *suite) testFilters(t *testing.T) {
	store := s.fresh(t)
	at := func(n int) time.Time { return Record(n).At }
	mustAppend(t, store,
		Record(1, func(r *audit.Record) { r.Tool = "mail_send" }),
		Record(2, func(r *audit.Record) { r.RequestID = "req.special" }),
		Record(3, func(r *audit.Record) { r.SessionID = "session-2" }),
		Record(4, func(r *audit.Record) { r.RPC = "redeem" }),
		Record(5, func(r *audit.Record) { r.FailureCode = "INVALID_RESPONSE" }),
		Record(6, func(r *audit.Record) {
			r.Rejection = audit.Rejection{Layer: "SYNTAX", Reason: "DUPLICATE_NAME"}
			r.MoreRejections = []audit.Rejection{{Reason: "SCHEMA"}}
		}),
		Record(7, func(r *audit.Record) { r.Decision = "ALLOW" }),
		Record(8, func(r *audit.Record) { r.Tenant = "other" }),
		Record(9, func(r *audit.Record) { r.Tool = "Mail_send"; r.Decision = "DENY" }),
	)
	all := ids(9, 8, 7, 6, 5, 4, 3, 2, 1)
	for _, c := range []struct {
		name   string
		filter audit.Filter
		want   []string
	}{
		{"none", audit.Filter{}, all},
		{"since is inclusive", audit.Filter{Since: at(7)}, ids(9, 8, 7)},
		{"since, a nanosecond later", audit.Filter{Since: at(7).Add(1)}, ids(9, 8)},
		{"until is exclusive", audit.Filter{Until: at(3)}, ids(2, 1)},
		{"until, a nanosecond later", audit.Filter{Until: at(3).Add(1)}, ids(3, 2, 1)},
		{"since and until", audit.Filter{Since: at(2), Until: at(4)}, ids(3, 2)},
		{"since after until", audit.Filter{Since: at(4), Until: at(2)}, nil},
		{"far past and future", audit.Filter{Since: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, all},
		{"far future", audit.Filter{Since: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, nil},
		{"tool", audit.Filter{Tool: "mail_send"}, ids(1)},
		{"tool, no such", audit.Filter{Tool: "mail%"}, nil},
		{"request id", audit.Filter{RequestID: "req.special"}, ids(2)},
		{"session id", audit.Filter{SessionID: "session-2"}, ids(3)},
		{"rpc", audit.Filter{RPC: "redeem"}, ids(4)},
		{"failure code", audit.Filter{FailureCode: "INVALID_RESPONSE"}, ids(5)},
		{"reason", audit.Filter{Reason: "DUPLICATE_NAME"}, ids(6)},
		{"reason of a later rejection", audit.Filter{Reason: "SCHEMA"}, nil},
		{"decision", audit.Filter{Decision: "ALLOW"}, ids(7)},
		{"tenant", audit.Filter{Tenant: "other"}, ids(8)},
		{"two that hold", audit.Filter{Tool: "Mail_send", Decision: "DENY", Since: at(1)}, ids(9)},
		{"two, one fails", audit.Filter{Tool: "mail_send", Decision: "DENY"}, nil},
	} {
		for _, size := range []int{2, 50} {
			if got := walk(t, store, audit.AllTenants(), c.filter, size); !slices.Equal(got, c.want) {
				t.Errorf("%s, pages of %d:\n got %v\nwant %v", c.name, size, got, c.want)
			}
		}
	}
	// A field of the filter that this test does not know would not be proved.
	if n := reflect.TypeFor[audit.Filter]().NumField(); n != 10 {
		t.Errorf("audit.Filter has %d fields and this test knows 10", n)
	}
}

func (s *suite) testScopes(t *testing.T) {
	store := s.fresh(t)
	tenant := func(name string) func(*audit.Record) { return func(r *audit.Record) { r.Tenant = name } }
	mustAppend(t, store, Record(1, tenant("acme")), Record(2, tenant("other")), Record(3, tenant("third")),
		Record(4, tenant("")), Record(5, tenant("caf\xe9")), Record(6, tenant("ACME")))
	for _, c := range []struct {
		name   string
		scope  audit.Scope
		filter audit.Filter
		want   []string
	}{
		{"zero", audit.Scope{}, audit.Filter{}, nil},
		{"zero, with a filter", audit.Scope{}, audit.Filter{Tenant: "acme"}, nil},
		{"nobody", audit.OnlyTenants(), audit.Filter{}, nil},
		{"empty name", audit.OnlyTenants(""), audit.Filter{}, nil},
		{"one", audit.OnlyTenants("acme"), audit.Filter{}, ids(1)},
		{"two", audit.OnlyTenants("third", "acme", "acme"), audit.Filter{}, ids(3, 1)},
		{"two and the empty name", audit.OnlyTenants("third", "", "acme"), audit.Filter{}, ids(3, 1)},
		{"no such", audit.OnlyTenants("acm", "acme "), audit.Filter{}, nil},
		{"wildcard", audit.OnlyTenants("%", "*"), audit.Filter{}, nil},
		{"invalid UTF-8", audit.OnlyTenants("caf\xe9", "a"), audit.Filter{}, nil},
		{"filter narrows", audit.OnlyTenants("third", "acme"), audit.Filter{Tenant: "acme"}, ids(1)},
		{"filter does not widen", audit.OnlyTenants("acme"), audit.Filter{Tenant: "other"}, nil},
		{"all", audit.AllTenants(), audit.Filter{}, ids(6, 5, 4, 3, 2, 1)},
	} {
		if got := walk(t, store, c.scope, c.filter, 1); !slices.Equal(got, c.want) {
			t.Errorf("%s: List:\n got %v\nwant %v", c.name, got, c.want)
		}
		if c.filter != (audit.Filter{}) {
			continue
		}
		for n := 1; n <= 6; n++ {
			_, err := store.Get(t.Context(), c.scope, ID(n))
			if visible := slices.Contains(c.want, ID(n)); visible != (err == nil) || (!visible && !errors.Is(err, audit.ErrNotFound)) {
				t.Errorf("%s: Get(%d) = %v, visible %t", c.name, n, err, visible)
			}
		}
	}
	var many []string
	for n := range 5000 {
		many = append(many, fmt.Sprintf("tenant-%d", n))
	}
	if got := walk(t, store, audit.OnlyTenants(append(many, "other")...), audit.Filter{}, 10); !slices.Equal(got, ids(2)) {
		t.Errorf("many tenants: List = %v", got)
	}
}

// appendAll appends records 0 to n-1 at the same time.
func appendAll(t *testing.T, store audit.Store, n int, record func(int) audit.Record) {
	t.Helper()
	var wg sync.WaitGroup
	const callers = 64
	for w := range callers {
		wg.Go(func() {
			for i := w; i < n; i += callers {
				if err := appendRecord(t.Context(), store, record(i)); err != nil {
					t.Errorf("Append(%d): %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}
