package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
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
	if !scope.Sees(r.Tenant()) {
		return audit.Record{}, fmt.Errorf("audit/sqlite: get: %w", audit.ErrNotFound)
	}
	return r.Decode()
}

// List implements [audit.Store].
func (s *Store) List(ctx context.Context, scope audit.Scope, filter audit.Filter, pageSize int, pageToken string) ([]audit.Record, string, error) {
	pageSize = rows.PageSize(pageSize)
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
	found, err := s.read.QueryContext(within, q.String(), append(q.args, pageSize+1)...)
	if err != nil {
		return nil, "", s.readError(ctx, "list", err)
	}
	p, err := readPage(found, pageSize)
	if err != nil {
		return nil, "", s.readError(ctx, "list", err)
	}
	return p.Records, p.Next(scope, filter), errors.Join(p.Damage...)
}

// page is what one read of the table gave.
type page struct {
	rows.Page
	seq int64 // of the last row that was looked at
}

// readPage reads at most size rows and closes what they come from.
func readPage(found *sql.Rows, size int) (page, error) {
	defer found.Close() //nolint:errcheck // found.Err is read below
	var p page
	for found.Next() {
		var r row
		if err := found.Scan(r.scan()...); err != nil {
			return page{}, err // its place is not known, so nothing after it is either
		}
		if !p.Add(&r.Row, size) {
			break
		}
		p.seq = r.seq
	}
	if err := found.Err(); err != nil {
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
		q.and(`at >= ?`, rows.Nanos(f.Since))
	}
	// A bound is always there: without one SQLite believes that reading and sorting the
	// whole table is cheaper than walking along the time.
	until := int64(math.MaxInt64)
	if !f.Until.IsZero() {
		until = rows.Nanos(f.Until)
	}
	q.and(`at < ?`, until)
	for column, value := range rows.Equal(f) {
		q.and(column+` = ?`, value)
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
