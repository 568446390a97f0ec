package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// mustOpen opens a store in a new directory.
func mustOpen(t testing.TB, path string, opts Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

// appendRecord appends a record that uses nothing.
func appendRecord(ctx context.Context, s *Store, rec audit.Record) error {
	_, err := s.Append(ctx, audit.Entry{Record: rec})
	return err
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "audit.db") }

// A17 A21 B11 D4: the contract of every store.
func TestStore(t *testing.T) {
	// SQLite polls for the lock of another service, so that on a loaded machine one of two
	// that write without a pause may wait long.
	patient := Options{BusyTimeout: time.Minute}
	audittest.TestStore(t,
		func(t *testing.T) audit.Store { return mustOpen(t, newPath(t), patient) },
		audittest.WithReopen(func(t *testing.T, closed audit.Store) audit.Store {
			return mustOpen(t, closed.(*Store).path, Options{})
		}),
		audittest.WithSecond(func(t *testing.T, first audit.Store) audit.Store {
			return mustOpen(t, first.(*Store).path, patient)
		}),
		audittest.WithBlocked(func(t *testing.T) (audit.Store, int, func()) {
			const queue = 8
			s := mustOpen(t, newPath(t), Options{QueueRecords: queue, BusyTimeout: time.Minute})
			return s, queue + maxBatch, lock(t, s)
		}),
	)
}

// lock takes the write lock of the store's file, as another process would, until unlock.
func lock(t *testing.T, s *Store) (unlock func()) {
	t.Helper()
	db, err := s.connect(1, "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
