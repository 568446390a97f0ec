// Package audittest is the contract of [audit.Store] as tests. Every store runs the whole
// suite from its own tests; what a store cannot offer to the suite is skipped by name,
// never in silence.
package audittest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// Option gives the suite something that not every store can offer.
type Option func(*suite)

// WithReopen gives the suite a way to open the data of a store that it has closed, as
// after a restart. reopen gets the closed store; the suite closes the new one.
func WithReopen(reopen func(t *testing.T, closed audit.Store) audit.Store) Option {
	return func(s *suite) { s.reopen = reopen }
}

// WithBlocked gives the suite a store whose writes do not come to an end until release
// is called (at most once), and the number of records at most that it takes meanwhile,
// those that are being written included. The suite closes the store.
func WithBlocked(open func(t *testing.T) (store audit.Store, atMost int, release func())) Option {
	return func(s *suite) { s.blocked = open }
}

// WithSecond gives the suite another store on the data of one that is open, as of
// another replica. second gets the open store; the suite closes the new one first.
func WithSecond(second func(t *testing.T, first audit.Store) audit.Store) Option {
	return func(s *suite) { s.second = second }
}

// WithRounds sets how often the suite repeats a race; 100 unless set, 5 under -short.
func WithRounds(n int) Option {
	return func(s *suite) { s.rounds = n }
}

type suite struct {
	openFresh func(t *testing.T) audit.Store
	second    func(t *testing.T, first audit.Store) audit.Store
	rounds    int
	reopen    func(t *testing.T, closed audit.Store) audit.Store
	blocked   func(t *testing.T) (audit.Store, int, func())
}

// TestStore runs the suite. open returns a new, empty store each time; the suite closes
// it. Subtests run one after another and take some seconds together.
func TestStore(t *testing.T, open func(t *testing.T) audit.Store, opts ...Option) {
	s := &suite{openFresh: open, rounds: 100}
	if testing.Short() {
		s.rounds = 5
	}
	for _, opt := range opts {
		opt(s)
	}
	for _, c := range slices.Concat(s.ofRecords(), s.ofUses()) {
		t.Run(c.name, c.run)
	}
}

// test is a part of the suite.
type test struct {
	name string
	run  func(t *testing.T)
}

// ofRecords are about records alone and the life of a store.
func (s *suite) ofRecords() []test {
	return []test{
		{"empty", s.testEmpty},
		{"round trip", s.testRoundTrip},
		{"idempotent", s.testIdempotent},
		{"invalid record", s.testInvalid},
		{"hostile strings", s.testHostile},
		{"ownership", s.testOwnership},
		{"order", s.testOrder},
		{"page sizes", s.testPageSizes},
		{"page bytes", s.testPageBytes},
		{"page tokens", s.testTokens},
		{"paging under writes", s.testPagingUnderWrites},
		{"filters", s.testFilters},
		{"scopes", s.testScopes},
		{"many writers", s.testManyWriters},
		{"context over", s.testContextOver},
		{"blocked: queue full", s.testQueueFull},
		{"blocked: waiting ends", s.testWaitingEnds},
		{"close", s.testClose},
		{"reopen: durable", s.testReopen},
		{"reopen: close flushes", s.testCloseFlushes},
		{"reopen: uses and originals", s.testReopenUses},
	}
}

// ofUses are about what else an entry leaves, and what the service asks a store.
func (s *suite) ofUses() []test {
	return []test{
		{"entry: invalid", s.testEntryInvalid},
		{"entry: bounds", s.testEntryBounds},
		{"entry: ownership", s.testEntryOwnership},
		{"entry: idempotent", s.testEntryIdempotent},
		{"repeat", s.testRepeat},
		{"repeat: over", s.testRepeatOver},
		{"repeat: hostile memos", s.testHostileMemos},
		{"claims: limit", s.testClaimLimit},
		{"claims: all or nothing", s.testClaimsTogether},
		{"claims: over", s.testClaimsOver},
		{"claims: time and tenant", s.testClaimsOfAll},
		{"race: one claim", s.testRaceOneClaim},
		{"race: three uses", s.testRaceThreeUses},
		{"race: crosswise", s.testRaceCrosswise},
		{"race: one request", s.testRaceOneRequest},
		{"race: one id", s.testRaceOneID},
		{"race: two stores", s.testRaceTwoStores},
		{"latest", s.testLatest},
		{"latest: hostile names", s.testLatestHostile},
		{"delivered", s.testDelivered},
		{"delivered: too many", s.testDeliveredTooMany},
		{"tail: order of writing", s.testTailOrder},
		{"tail: filters and scopes", s.testTailFilters},
		{"tail: marks", s.testMarks},
		{"tail: page bytes", s.testTailBytes},
		{"tail: under writes", s.testTailUnderWrites},
		{"tail: two stores", s.testTailTwoStores},
		{"original", s.testOriginal},
		{"purge: events", s.testPurgeEvents},
		{"purge: originals", s.testPurgeOriginals},
		{"purge: claims and memos", s.testPurgeUses},
		{"purge: nothing", s.testPurgeNothing},
		{"purge: many", s.testPurgeMany},
		{"purge: cut short", s.testPurgeCutShort},
		{"purge: under writes", s.testPurgeUnderWrites},
		{"purge: tail", s.testPurgeTail},
	}
}

// epoch is the time of the record with number 0.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ID returns the UUIDv7 of the record with number n, 0 or more; ids ascend with n.
func ID(n int) string {
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", 0x0195_0000+n>>16, n&0xffff, n)
}

// Record returns a small valid record with number n, one millisecond after the one
// before, after the edits in their order.
func Record(n int, edits ...func(*audit.Record)) audit.Record {
	r := audit.Record{
		DecisionID: ID(n),
		At:         epoch.Add(time.Duration(n) * time.Millisecond),
		RPC:        "validate",
		Tenant:     "acme",
		Tool:       "review_status",
		RequestID:  fmt.Sprintf("req.%08d", n),
		SessionID:  "session-1",
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// fresh opens an empty store and closes it at the end of the test.
func (s *suite) fresh(t *testing.T) audit.Store {
	t.Helper()
	store := s.openFresh(t)
	closeLater(t, store)
	return store
}

func closeLater(t *testing.T, store audit.Store) {
	t.Helper()
	t.Cleanup(func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// needReopen skips, by name, where the store's tests gave no way to open it again.
func (s *suite) needReopen(t *testing.T) {
	t.Helper()
	if s.reopen == nil {
		t.Skip("skipped: this store's tests pass no audittest.WithReopen")
	}
}

// openBlocked skips, by name, where the store's tests gave no blocked store.
func (s *suite) openBlocked(t *testing.T) (store audit.Store, atMost int, release func()) {
	t.Helper()
	if s.blocked == nil {
		t.Skip("skipped: this store's tests pass no audittest.WithBlocked")
	}
	store, atMost, release = s.blocked(t)
	closeLater(t, store)
	return store, atMost, release
}

// openSecond skips, by name, where the store's tests gave no way to open it twice.
func (s *suite) openSecond(t *testing.T, first audit.Store) audit.Store {
	t.Helper()
	if s.second == nil {
		t.Skip("skipped: this store's tests pass no audittest.WithSecond")
	}
	store := s.second(t, first)
	closeLater(t, store)
	return store
}

// appendRecord appends a record that uses nothing; it is always written.
func appendRecord(ctx context.Context, store audit.Store, r audit.Record) error {
	o, err := store.Append(ctx, audit.Entry{Record: r})
	if err == nil && !reflect.DeepEqual(o, audit.Outcome{}) {
		return fmt.Errorf("outcome %+v of a record that uses nothing", o)
	}
	return err
}

func mustAppend(t *testing.T, store audit.Store, records ...audit.Record) {
	t.Helper()
	for _, r := range records {
		if err := appendRecord(t.Context(), store, r); err != nil {
			t.Fatalf("Append(%s): %v", r.DecisionID, err)
		}
	}
}

// walk reads all pages and returns the ids in their order.
func walk(t *testing.T, store audit.Store, scope audit.Scope, filter audit.Filter, size int) []string {
	t.Helper()
	var ids []string
	token := ""
	for {
		records, next, err := store.List(t.Context(), scope, filter, size, token)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, r := range records {
			ids = append(ids, r.DecisionID)
		}
		if next == "" {
			return ids
		}
		if len(next) > audit.MaxPageToken {
			t.Fatalf("page token has %d bytes, more than %d", len(next), audit.MaxPageToken)
		}
		if next == token {
			t.Fatal("a page token leads to the same page again")
		}
		token = next
	}
}

// ids returns the ids of these numbers.
func ids(numbers ...int) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, ID(n))
	}
	return out
}
