package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// questions are what the service itself asks of a store.
var questions = map[string]func(ctx context.Context, s *Store) error{
	"latest": func(ctx context.Context, s *Store) error {
		_, err := s.Latest(ctx, audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status"})
		return err
	},
	"delivered": func(ctx context.Context, s *Store) error {
		_, err := s.Delivered(ctx, "acme", "session-1")
		return err
	},
	"recall": func(ctx context.Context, s *Store) error {
		_, err := s.Recall(ctx, audit.KeyOf("request", "1"), farAway.Add(-time.Hour))
		return err
	},
}

// asked is a store in which every question has an answer.
func asked(t *testing.T, opts Options) *Store {
	t.Helper()
	s := mustOpen(t, newPath(t), opts)
	e := requested(audit.Entry{Record: audittest.Record(1)}, "1", "memo")
	if o, err := s.Append(t.Context(), e); err != nil || !o.Written() {
		t.Fatalf("Append = %+v, %v", o, err)
	}
	return s
}

// Many ask at once, more than there are connections, until the store is closed under
// them: each gets its answer or is told.
func TestLookupsClose(t *testing.T) {
	s := asked(t, Options{Readers: 2})
	var answers, refused atomic.Int64
	var wg sync.WaitGroup
	for name, ask := range questions {
		for range 8 {
			wg.Go(func() {
				for {
					switch err := ask(t.Context(), s); {
					case err == nil:
						answers.Add(1)
					case errors.Is(err, audit.ErrClosed) && errors.Is(err, audit.ErrUnavailable):
						refused.Add(1)
						return
					default:
						t.Errorf("%s = %v", name, err)
						return
					}
				}
			})
		}
	}
	for answers.Load() < 100 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	closeStore(t, s)
	wg.Wait()
	if refused.Load() != int64(8*len(questions)) || len(s.lookups.idle) != 0 {
		t.Errorf("%d were told of the end, %d connections are left", refused.Load(), len(s.lookups.idle))
	}
}

// Who waits for a connection stops when its context ends.
func TestLookupsWait(t *testing.T) {
	s := asked(t, Options{Readers: 1})
	defer closeStore(t, s)
	held, err := s.lookups.take(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range questions {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := ask(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s = %v", name, err)
		}
		cancel()
		if err := ask(ctx, s); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s, over before = %v", name, err)
		}
	}
	s.lookups.put(held, true) // it was never opened
	for name, ask := range questions {
		if err := ask(t.Context(), s); err != nil {
			t.Errorf("%s afterwards = %v", name, err)
		}
	}
	if n := len(s.lookups.idle); n != 1 {
		t.Errorf("%d connections are idle, want 1", n)
	}
}

// A failure is told, and the next question gets a connection of its own.
func TestLookupsRecover(t *testing.T) {
	s := asked(t, Options{})
	defer closeStore(t, s)
	for name, spoil := range map[string][2]string{
		"latest":    {`DROP INDEX events_judged`, `CREATE INDEX events_judged ON events (judged, at) WHERE judged IS NOT NULL`},
		"delivered": {`ALTER TABLE events RENAME COLUMN delivered TO gone`, `ALTER TABLE events RENAME COLUMN gone TO delivered`},
		"recall":    {`ALTER TABLE memos RENAME TO gone`, `ALTER TABLE gone RENAME TO memos`},
	} {
		for round, statement := range spoil {
			execRaw(t, s.path, statement)
			err := questions[name](t.Context(), s)
			if wantErr := round == 0; (err != nil) != wantErr || wantErr && !errors.Is(err, audit.ErrUnavailable) {
				t.Errorf("%s after %s = %v", name, statement, err)
			}
		}
	}
	if got := fmt.Sprint(len(s.lookups.idle), len(s.lookups.turns)); got != "1 0" {
		t.Errorf("idle connections and turns: %s, want 1 0", got)
	}
}
