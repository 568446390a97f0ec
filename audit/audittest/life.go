package audittest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// atOnce is long for anything that must not wait, and short for a hung test.
const atOnce = 5 * time.Second

func (s *suite) testManyWriters(t *testing.T) {
	store := s.fresh(t)
	const writers, each = 64, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := w*each + i
				if err := appendRecord(t.Context(), store, Record(n)); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				// Confirmed means visible, to everyone, at once.
				if _, err := store.Get(t.Context(), audit.OnlyTenants("acme"), ID(n)); err != nil {
					t.Errorf("Get after Append: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 500); len(got) != writers*each {
		t.Errorf("walk met %d of %d records", len(got), writers*each)
	}
}

// everyCall makes each call that reads or writes once and returns their errors.
func everyCall(ctx context.Context, store audit.Store, mark string) map[string]error {
	errs := map[string]error{"Append": appendRecord(ctx, store, Record(2))}
	_, errs["Recall"] = store.Recall(ctx, audit.KeyOf("request", "1"), epoch)
	_, errs["Latest"] = store.Latest(ctx, audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status"})
	_, errs["Delivered"] = store.Delivered(ctx, "acme", "session-1")
	_, errs["Get"] = store.Get(ctx, audit.AllTenants(), ID(1))
	_, _, errs["List"] = store.List(ctx, audit.AllTenants(), audit.Filter{}, 1, "")
	_, errs["Mark"] = store.Mark(ctx, audit.AllTenants(), "")
	_, _, errs["Tail"] = store.Tail(ctx, audit.AllTenants(), audit.Filter{}, mark, 1)
	_, errs["Original"] = store.Original(ctx, audit.AllTenants(), ID(1), epoch)
	_, errs["Purge"] = store.Purge(ctx, audit.Purge{Now: epoch, EventsBefore: epoch})
	return errs
}

func (s *suite) testContextOver(t *testing.T) {
	store := s.fresh(t)
	mustAppend(t, store, Record(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range everyCall(ctx, store, mustMark(t, store)) {
		if !errors.Is(err, context.Canceled) || errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("%s with a context that is over = %v, want context.Canceled alone", name, err)
		}
	}
	if err := store.Ready(t.Context()); err != nil {
		t.Errorf("Ready after contexts were over: %v", err)
	}
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 5); !slices.Equal(got, ids(1)) {
		t.Errorf("List = %v", got)
	}
}

func (s *suite) testQueueFull(t *testing.T) {
	store, atMost, release := s.openBlocked(t)
	var confirmed sync.Map
	var accepted atomic.Int64
	var wg sync.WaitGroup
	full := make(chan struct{}, atMost+50)
	for n := range atMost + 50 {
		wg.Go(func() {
			start := time.Now()
			accepted.Add(1)
			err := appendRecord(t.Context(), store, Record(n))
			switch {
			case err == nil:
				confirmed.Store(n, true)
			case errors.Is(err, audit.ErrFull):
				accepted.Add(-1)
				if took := time.Since(start); took > atOnce {
					t.Errorf("ErrFull took %s", took)
				}
				full <- struct{}{}
			default:
				t.Errorf("Append = %v, want nil or ErrFull", err)
			}
		})
	}
	for range 50 { // all that is more than the bound is refused while the writer stands
		select {
		case <-full:
		case <-time.After(2 * atOnce):
			t.Fatal("the queue takes more than its bound, or waits instead of refusing")
		}
	}
	release()
	wg.Wait()
	if n := accepted.Load(); n == 0 || n > int64(atMost) {
		t.Errorf("%d records were taken, want 1 to %d", n, atMost)
	}
	got := walk(t, store, audit.AllTenants(), audit.Filter{}, 500)
	if int64(len(got)) != accepted.Load() {
		t.Errorf("%d records are there, %d were confirmed", len(got), accepted.Load())
	}
	confirmed.Range(func(n, _ any) bool {
		if !slices.Contains(got, ID(n.(int))) {
			t.Errorf("record %d was confirmed and is not there", n)
		}
		return true
	})
	// There is room again.
	mustAppend(t, store, Record(1_000_000))
}

func (s *suite) testWaitingEnds(t *testing.T) {
	store, _, release := s.openBlocked(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := appendRecord(ctx, store, Record(1))
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Append = %v, want DeadlineExceeded alone", err)
	}
	if err := store.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close = %v, want DeadlineExceeded", err)
	}
	if took := time.Since(start); took > atOnce {
		t.Errorf("waiting went on for %s after the context's end", took)
	}
	release()
}

func (s *suite) testClose(t *testing.T) {
	store := s.openFresh(t)
	mustAppend(t, store, Record(1))
	mark := mustMark(t, store)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := store.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // what is done is done, whatever the context says
		if err := store.Close(over); err != nil {
			t.Fatalf("Close again: %v", err)
		}
	}
	calls := everyCall(t.Context(), store, mark)
	calls["Ready"] = store.Ready(t.Context())
	for name, err := range calls {
		if !errors.Is(err, audit.ErrUnavailable) || !errors.Is(err, audit.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrUnavailable because of ErrClosed", name, err)
		}
	}
}

func (s *suite) testReopen(t *testing.T) {
	s.needReopen(t)
	store := s.openFresh(t)
	for round := range 3 {
		for n := range 20 {
			mustAppend(t, store, Record(round*20+n))
		}
		if err := store.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
		store = s.reopen(t, store)
		if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 500); len(got) != (round+1)*20 {
			t.Errorf("round %d: %d records after reopening", round, len(got))
		}
		mustAppend(t, store, Record(0)) // still known
	}
	closeLater(t, store)
}

// Whatever Append confirmed while the store was being closed is there afterwards.
func (s *suite) testCloseFlushes(t *testing.T) {
	s.needReopen(t)
	store := s.openFresh(t)
	const writers = 32
	confirmed := make([][]string, writers)
	var wg sync.WaitGroup
	started := make(chan struct{}, writers)
	for w := range writers {
		wg.Go(func() {
			for n := w; ; n += writers {
				err := appendRecord(t.Context(), store, Record(n))
				if err != nil {
					if !errors.Is(err, audit.ErrClosed) && !errors.Is(err, audit.ErrFull) {
						t.Errorf("Append while closing = %v", err)
					}
					return
				}
				if len(confirmed[w]) == 0 {
					started <- struct{}{}
				}
				confirmed[w] = append(confirmed[w], ID(n))
			}
		})
	}
	for range writers {
		<-started
	}
	if err := store.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
	store = s.reopen(t, store)
	closeLater(t, store)
	got := map[string]bool{}
	for _, id := range walk(t, store, audit.AllTenants(), audit.Filter{}, 500) {
		got[id] = true
	}
	for _, list := range confirmed {
		for _, id := range list {
			if !got[id] {
				t.Errorf("%s was confirmed and is not there", id)
			}
		}
	}
}
