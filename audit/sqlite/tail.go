package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/internal/base64url"
)

// The order of writing is events.seq: there is one writer at a time, so that a smaller
// seq is never committed after a larger one.

const (
	// lastSQL is the last place that was ever given out, also where its row is gone.
	lastSQL = `SELECT max(
	ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name = 'events'), 0),
	ifnull((SELECT max(seq) FROM events), 0))`
	// nextSQL is the first row after a place.
	nextSQL = `SELECT min(seq) FROM events WHERE seq > ?`
	// tailWindow bounds the rows that one Tail looks at, however few pass the filter.
	tailWindow = 10_000
)

// Mark implements [audit.Store].
func (s *Store) Mark(ctx context.Context, scope audit.Scope, decisionID string) (string, error) {
	var seq int64
	var tenant sql.NullString
	var err error
	if decisionID == "" {
		err = s.read.QueryRowContext(ctx, lastSQL).Scan(&seq)
	} else {
		err = s.read.QueryRowContext(ctx, `SELECT seq, tenant FROM events WHERE decision_id = ?`, decisionID).Scan(&seq, &tenant)
		if errors.Is(err, sql.ErrNoRows) || (err == nil && !scope.Sees(tenant.String)) {
			return "", fmt.Errorf("audit/sqlite: mark: %w", audit.ErrNotFound)
		}
	}
	if err != nil {
		return "", s.readError(ctx, "mark", err)
	}
	return markToken(seq), nil
}

// Tail implements [audit.Store].
func (s *Store) Tail(ctx context.Context, scope audit.Scope, filter audit.Filter, mark string, limit int) ([]audit.Record, string, error) {
	after, err := parseMark(mark)
	if err != nil {
		return nil, "", fmt.Errorf("audit/sqlite: tail: %w", err)
	}
	tx, err := s.read.BeginTx(ctx, nil) // for one view of all that follows
	if err != nil {
		return nil, "", s.readError(ctx, "tail", err)
	}
	defer tx.Rollback() //nolint:errcheck // it wrote nothing
	var last int64
	var first sql.NullInt64
	if err := tx.QueryRowContext(ctx, lastSQL).Scan(&last); err != nil {
		return nil, "", s.readError(ctx, "tail", err)
	}
	if after > last { // of another file, or of this one before a backup was restored
		return nil, "", fmt.Errorf("audit/sqlite: tail: %w: it lies after the last record", audit.ErrBadPageToken)
	}
	if err := tx.QueryRowContext(ctx, nextSQL, after).Scan(&first); err != nil {
		return nil, "", s.readError(ctx, "tail", err)
	}
	if !first.Valid {
		return nil, markToken(last), nil
	}
	until := min(last, first.Int64+tailWindow-1)

	q := tailQuery(scope, filter.Sanitized(), after, until)
	limit = min(max(limit, 1), audit.MaxPageSize)
	found, err := tx.QueryContext(ctx, q.tail(), append(q.args, limit+1)...)
	if err != nil {
		return nil, "", s.readError(ctx, "tail", err)
	}
	p, err := readPage(found, limit)
	if err != nil {
		return nil, "", s.readError(ctx, "tail", err)
	}
	if p.More {
		until = p.seq
	}
	return p.Records, markToken(until), nil
}

// tailQuery selects what lies after one place, up to another.
func tailQuery(scope audit.Scope, filter audit.Filter, after, until int64) *query {
	var q query
	q.and(`seq > ? AND seq <= ?`, after, until)
	q.scope(scope)
	q.filter(filter)
	return &q
}

// tail is the statement in the order of writing; its last parameter is the limit. It goes
// along seq, within the window, and never along what a filter names.
func (q *query) tail() string {
	return columnsSQL + ` NOT INDEXED` + q.conditions() + ` ORDER BY seq LIMIT ?`
}

// markVersion is the first byte of a mark, markSize its size: that and a seq. No page
// token is as short.
const (
	markVersion = 1
	markSize    = 1 + 8
)

// markToken writes the place after seq.
func markToken(seq int64) string {
	buf := binary.BigEndian.AppendUint64([]byte{markVersion}, uint64(seq)) //nolint:gosec // never negative
	return base64url.Encode(buf)
}

// parseMark reads what markToken wrote. The error matches [audit.ErrBadPageToken] and
// repeats nothing of the mark.
func parseMark(mark string) (seq int64, err error) {
	if len(mark) > audit.MaxPageToken {
		return 0, fmt.Errorf("%w: it is longer than %d bytes", audit.ErrBadPageToken, audit.MaxPageToken)
	}
	buf, ok := base64url.Decode(mark)
	if !ok || len(buf) != markSize || buf[0] != markVersion {
		return 0, fmt.Errorf("%w: it is no mark of this store", audit.ErrBadPageToken)
	}
	n := binary.BigEndian.Uint64(buf[1:])
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("%w: it is no mark of this store", audit.ErrBadPageToken)
	}
	return int64(n), nil //nolint:gosec // checked
}
