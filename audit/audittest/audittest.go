// Package audittest is the contract of [audit.Store] as tests. Every store runs the whole
// suite from its own tests; what a store cannot offer to the suite is skipped by name,
// never in silence.
package audittest

import (
	"context"
	"fmt"
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

type suite struct {
	openFresh func(t *testing.T) audit.Store
	reopen    func(t *testing.T, closed audit.Store) audit.Store
	blocked   func(t *testing.T) (audit.Store, int, func())
}

// TestStore runs the suite. open returns a new, empty store each time; the suite closes
// it. Subtests run one after another and take a few seconds together.
func TestStore(t *testing.T, open func(t *testing.T) audit.Store, opts ...Option) {
	s := &suite{openFresh: open}
	for _, opt := range opts {
		opt(s)
	}
	for _, c := range []struct {
		name string
		run  func(t *testing.T)
	}{
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
	} {
		t.Run(c.name, c.run)
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

func mustAppend(t *testing.T, store audit.Store, records ...audit.Record) {
	t.Helper()
	for _, r := range records {
		if err := store.Append(t.Context(), r); err != nil {
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
