package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// Get implements [audit.Store].
func (s *Store) Get(ctx context.Context, scope audit.Scope, decisionID string) (audit.Record, error) {
	var r row
	err := s.read.QueryRowContext(ctx, columnsSQL+` WHERE decision_id = ?`, decisionID).Scan(r.scan()...)
	if errors.Is(err, sql.ErrNoRows) {
		return audit.Record{}, fmt.Errorf("audit/sqlite: get: %w", audit.ErrNotFound)
	}
	if err != nil {
		return audit.Record{}, s.readError(ctx, "get", err)
	}
	// The scope comes before the damage: whose row it is decides who hears of it.
	const tenant = 1
	if !scope.Sees(r.columns[tenant].String) {
		return audit.Record{}, fmt.Errorf("audit/sqlite: get: %w", audit.ErrNotFound)
	}
	return r.decode()
}

// List implements [audit.Store].
func (s *Store) List(ctx context.Context, scope audit.Scope, filter audit.Filter, pageSize int, pageToken string) ([]audit.Record, string, error) {
	if pageSize <= 0 {
		pageSize = audit.DefaultPageSize
	}
	pageSize = min(pageSize, audit.MaxPageSize)
	filter = filter.Sanitized()

	var q query
	q.scope(scope)
	q.filter(filter)
	if pageToken != "" {
		c, err := audit.ParseCursor(pageToken, scope, filter)
		if err != nil {
			return nil, "", fmt.Errorf("audit/sqlite: list: %w", err)
		}
		q.after(c)
	}
	within, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	rows, err := s.read.QueryContext(within, q.String(), append(q.args, pageSize+1)...)
	if err != nil {
		return nil, "", s.readError(ctx, "list", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err is read by page
	p, err := readPage(rows, pageSize)
	if err != nil {
		return nil, "", s.readError(ctx, "list", err)
	}
	next := ""
	if p.more {
		next = p.last.Token(scope, filter)
	}
	return p.records, next, errors.Join(p.damage...)
}

// page is what one read of the table gave.
type page struct {
	records []audit.Record
	last    audit.Cursor // of the last row that was looked at
	seq     int64        // of the same row
	more    bool
	damage  []error // one for each row that cannot be read
}

// readPage reads at most size rows and at most MaxPageBytes of them, but one at least.
func readPage(rows *sql.Rows, size int) (page, error) {
	var p page
	seen, bytes := 0, int64(0)
	for rows.Next() {
		var r row
		if err := rows.Scan(r.scan()...); err != nil {
			return page{}, err // its place is not known, so nothing after it is either
		}
		if seen == size || (seen > 0 && bytes+r.size() > audit.MaxPageBytes) {
			p.more = true
			break
		}
		seen++
		bytes += r.size()
		p.last, p.seq = audit.Cursor{At: time.Unix(0, r.at), DecisionID: r.decisionID}, r.seq
		rec, err := r.decode()
		if err != nil {
			p.damage = append(p.damage, err)
			continue
		}
		p.records = append(p.records, rec)
	}
	if err := rows.Err(); err != nil {
		return page{}, err
	}
	return p, nil
}

// query is a SELECT in the making.
type query struct {
	where []string
	args  []any
}

func (q *query) and(condition string, args ...any) {
	q.where = append(q.where, condition)
	q.args = append(q.args, args...)
}

// scope keeps to the tenants of the reader.
func (q *query) scope(scope audit.Scope) {
	if scope.All() {
		return
	}
	switch tenants := scope.Tenants(); len(tenants) {
	case 0:
		q.and(`0`)
	case 1:
		q.and(`tenant = ?`, tenants[0])
	default:
		// One parameter however many tenants there are. The plus keeps SQLite from
		// reading and sorting all rows of all these tenants; it walks along the time, or
		// along another filter, instead.
		list, err := json.Marshal(tenants)
		if err != nil { // strings always marshal
			q.and(`0`)
			return
		}
		q.and(`+tenant IN (SELECT value FROM json_each(?))`, string(list))
	}
}

func (q *query) filter(f audit.Filter) {
	if !f.Since.IsZero() {
		q.and(`at >= ?`, nanos(f.Since))
	}
	// A bound is always there: without one SQLite believes that reading and sorting the
	// whole table is cheaper than walking along the time.
	until := int64(math.MaxInt64)
	if !f.Until.IsZero() {
		until = nanos(f.Until)
	}
	q.and(`at < ?`, until)
	for _, c := range [...]struct{ column, value string }{
		{"request_id", f.RequestID},
		{"session_id", f.SessionID},
		{"tool", f.Tool},
		{"reason", f.Reason},
		{"failure_code", f.FailureCode},
		{"rpc", f.RPC},
		{"decision", f.Decision},
		{"tenant", f.Tenant},
	} {
		if c.value != "" {
			q.and(c.column+` = ?`, c.value)
		}
	}
}

// after keeps to what comes after a place in the list. The first term is for the indexes,
// which end with at.
func (q *query) after(c audit.Cursor) {
	q.and(`at <= ? AND (at, decision_id) < (?, ?)`, c.At.UnixNano(), c.At.UnixNano(), c.DecisionID)
}

// String is the statement of a list; its last parameter is the limit.
func (q *query) String() string {
	return columnsSQL + q.conditions() + ` ORDER BY at DESC, decision_id DESC LIMIT ?`
}

// conditions is the WHERE clause, where there is one.
func (q *query) conditions() string {
	if len(q.where) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(q.where, ` AND `)
}

// nanos is t in nanoseconds since 1970, or the nearest number of 64 bits.
func nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	default:
		return t.UnixNano()
	}
}

// readError gives a failed read its cause: the caller's context, the closed store, or
// the disk.
func (s *Store) readError(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("audit/sqlite: %s: %w", what, ctx.Err())
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return fmt.Errorf("audit/sqlite: %s: %w: %w", what, audit.ErrUnavailable, audit.ErrClosed)
	}
	if errors.Is(err, context.DeadlineExceeded) { // ours, since it is not the caller's
		err = fmt.Errorf("it took longer than %s; narrow the filter, by time, tool or session (%w)", s.patience, err)
	}
	return fmt.Errorf("audit/sqlite: %s from %s: %w: %w", what, s.path, audit.ErrUnavailable, explain(err))
}
