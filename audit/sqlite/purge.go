package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

// A purge goes through the writer in steps, each a transaction of its own between two
// batches: what waits to be written waits for one step at most.
const (
	// stepRows is the number of rows that a step removes at most.
	stepRows = 500
	// stepOriginals is the number of originals that a step removes at most; each may have
	// audit.MaxOriginalBytes.
	stepOriginals = 8
)

// originalSQL finds an original by its event. What is larger than any that the service
// keeps is not looked at.
const originalSQL = `SELECT keep_until, sealed FROM events JOIN originals ON event = seq`

// Original implements [audit.Store].
func (s *Store) Original(ctx context.Context, scope audit.Scope, decisionID string, now time.Time) (audit.Original, error) {
	var q query
	q.and(`decision_id = ? AND keep_until > ? AND octet_length(sealed) <= ?`, decisionID, rows.Nanos(now), audit.MaxOriginalBytes)
	q.scope(scope)
	var keepUntil int64
	var sealed []byte
	err := s.read.QueryRowContext(ctx, originalSQL+q.conditions(), q.args...).Scan(&keepUntil, &sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return audit.Original{}, fmt.Errorf("audit/sqlite: original: %w", audit.ErrNotFound)
	}
	if err != nil {
		return audit.Original{}, s.readError(ctx, "original", err)
	}
	return audit.Original{Sealed: sealed, KeepUntil: time.Unix(0, keepUntil).UTC()}, nil
}

// step is a part of a purge on its way to the writer.
type step struct {
	remove func(*sql.Tx, audit.Purge) (removed audit.Purged, more bool, err error)
	purge  audit.Purge
	done   chan stepped // of capacity 1: the writer never waits for a caller
}

// stepped is what became of a step.
type stepped struct {
	removed audit.Purged
	more    bool // there may be more of the kind
	err     error
}

// Purge implements [audit.Store]. What is removed leaves room in the file that later
// records fill; the file does not shrink.
func (s *Store) Purge(ctx context.Context, p audit.Purge) (audit.Purged, error) {
	var sum audit.Purged
	for _, remove := range [...]func(*sql.Tx, audit.Purge) (audit.Purged, bool, error){
		removeOriginals, removeClaims, removeMemos, removeEvents,
	} {
		for more := true; more; {
			r := s.step(ctx, &step{remove: remove, purge: p, done: make(chan stepped, 1)})
			if r.err != nil {
				return sum, r.err
			}
			sum.Events += r.removed.Events
			sum.Originals += r.removed.Originals
			sum.Claims += r.removed.Claims
			sum.Memos += r.removed.Memos
			more = r.more
		}
	}
	return sum, nil
}

// step hands a step to the writer and waits for it.
func (s *Store) step(ctx context.Context, st *step) stepped {
	if err := ctx.Err(); err != nil {
		return stepped{err: fmt.Errorf("audit/sqlite: purge: %w", err)}
	}
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return stepped{err: fmt.Errorf("audit/sqlite: purge: %w: %w", audit.ErrUnavailable, audit.ErrClosed)}
	}
	select {
	case s.steps <- st:
	case <-s.done:
		return stepped{err: fmt.Errorf("audit/sqlite: purge: %w: %w", audit.ErrUnavailable, audit.ErrClosed)}
	case <-ctx.Done():
		return stepped{err: fmt.Errorf("audit/sqlite: purge: %w", ctx.Err())}
	}
	select {
	case r := <-st.done:
		return r
	case <-ctx.Done():
		select {
		case r := <-st.done: // both came at once: what is known is worth more
			return r
		default:
		}
		return stepped{err: fmt.Errorf("audit/sqlite: purge: the last step may or may not be done: %w", ctx.Err())}
	}
}

// purge takes a step, on the writer. While the store cannot write it takes none: to free
// room on a full disk takes room, and the writer's probes say when there is some.
func (s *Store) purge(st *step) (r stepped) {
	if err := s.failure.Load(); err != nil {
		return stepped{err: *err}
	}
	err := s.attempt(func() error {
		tx, err := s.write.BeginTx(context.Background(), nil)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		if r.removed, r.more, err = st.remove(tx, st.purge); err != nil {
			_ = tx.Rollback() // the connection is thrown away in any case
			return err
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		return nil
	})
	if err != nil {
		return stepped{err: err}
	}
	return r
}

func removeOriginals(tx *sql.Tx, p audit.Purge) (audit.Purged, bool, error) {
	n, err := remove(tx, `DELETE FROM originals WHERE event IN
		(SELECT event FROM originals WHERE keep_until <= ? ORDER BY keep_until LIMIT ?)`, rows.Nanos(p.Now), stepOriginals)
	return audit.Purged{Originals: n}, n == stepOriginals, err
}

func removeClaims(tx *sql.Tx, p audit.Purge) (audit.Purged, bool, error) {
	n, err := remove(tx, `DELETE FROM claims WHERE key IN
		(SELECT key FROM claims WHERE until <= ? ORDER BY until LIMIT ?)`, rows.Nanos(p.Now.Add(-audit.ClaimGrace)), stepRows)
	return audit.Purged{Claims: n}, n == stepRows, err
}

func removeMemos(tx *sql.Tx, p audit.Purge) (audit.Purged, bool, error) {
	n, err := remove(tx, `DELETE FROM memos WHERE rowid IN
		(SELECT rowid FROM memos WHERE until <= ? ORDER BY until LIMIT ?)`, rows.Nanos(p.Now.Add(-audit.ClaimGrace)), stepRows)
	return audit.Purged{Memos: n}, n == stepRows, err
}

// oldestSQL lists the oldest events and whether each has an original.
const oldestSQL = `SELECT seq, event IS NOT NULL FROM events LEFT JOIN originals ON event = seq
	WHERE at < ? ORDER BY at LIMIT ?`

// removeEvents removes the oldest events with their originals, as far as a step goes.
func removeEvents(tx *sql.Tx, p audit.Purge) (audit.Purged, bool, error) {
	if p.EventsBefore.IsZero() {
		return audit.Purged{}, false, nil
	}
	events, more, err := oldest(tx, p.EventsBefore)
	if err != nil || len(events) == 0 {
		return audit.Purged{}, false, err
	}
	list, err := json.Marshal(events)
	if err != nil {
		return audit.Purged{}, false, err
	}
	var removed audit.Purged
	removed.Originals, err = remove(tx, `DELETE FROM originals WHERE event IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return audit.Purged{}, false, err
	}
	removed.Events, err = remove(tx, `DELETE FROM events WHERE seq IN (SELECT value FROM json_each(?))`, string(list))
	return removed, more, err
}

// oldest returns the events of one step and whether there may be more.
func oldest(tx *sql.Tx, before time.Time) (events []int64, more bool, err error) {
	found, err := tx.Query(oldestSQL, rows.Nanos(before), stepRows)
	if err != nil {
		return nil, false, fmt.Errorf("purge: %w", err)
	}
	defer found.Close() //nolint:errcheck // found.Err is read below
	originals := 0
	for found.Next() {
		var seq int64
		var hasOriginal bool
		if err := found.Scan(&seq, &hasOriginal); err != nil {
			return nil, false, fmt.Errorf("purge: %w", err)
		}
		if hasOriginal {
			if originals == stepOriginals {
				return events, true, nil
			}
			originals++
		}
		events = append(events, seq)
	}
	return events, len(events) == stepRows, found.Err()
}

// remove runs a DELETE and returns the number of rows that it removed.
func remove(tx *sql.Tx, statement string, args ...any) (int64, error) {
	done, err := tx.Exec(statement, args...)
	if err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}
	return done.RowsAffected()
}
