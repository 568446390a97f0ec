package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
)

// A rest that no version of the service can have written is not loaded at all.
const selectSQL = `SELECT decision_id::text, at, xid, seq,
	rpc, tenant, tool, request_id, session_id, arguments_digest, failure_code, reason, decision, delivered,
	CASE WHEN octet_length(rest::text) <= 4 * 65536 THEN rest::text END FROM events`

// newestFirst names the table: decision_id alone would be the text of selectSQL, which no
// index is ordered by.
const newestFirst = `at DESC, events.decision_id DESC`

// Get implements [audit.Store].
func (s *Store) Get(ctx context.Context, scope audit.Scope, decisionID string) (audit.Record, error) {
	r, err := s.find(ctx, "get", scope, decisionID)
	if err != nil {
		return audit.Record{}, err
	}
	return r.decode()
}

// find returns the row with an id within scope. The scope comes before the damage: whose
// row it is decides who hears of it.
func (s *Store) find(ctx context.Context, what string, scope audit.Scope, decisionID string) (row, error) {
	missing := fmt.Errorf("audit/postgres: %s: %w", what, audit.ErrNotFound)
	var r row
	if !isID(decisionID) {
		if ctx.Err() != nil || s.isClosed() {
			return r, s.readError(ctx, what, missing)
		}
		return r, missing
	}
	err := s.read.QueryRow(ctx, selectSQL+` WHERE decision_id = $1`, decisionID).Scan(r.scan()...)
	const tenant = 1
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return r, missing
	case err != nil:
		return r, s.readError(ctx, what, err)
	case !scope.Sees(r.columns[tenant]):
		return r, missing
	}
	return r, nil
}

// isID reports whether a record can have the id: what the type uuid takes is more.
func isID(id string) bool {
	r := audit.Record{DecisionID: id, At: time.Unix(0, 0)}
	return r.Check() == nil
}

// List implements [audit.Store].
func (s *Store) List(ctx context.Context, scope audit.Scope, filter audit.Filter, pageSize int, pageToken string) ([]audit.Record, string, error) {
	if pageSize <= 0 {
		pageSize = audit.DefaultPageSize
	}
	pageSize = min(pageSize, audit.MaxPageSize)
	filter = filter.Sanitized()

	q := query{order: newestFirst}
	q.scope(scope)
	q.filter(filter)
	if pageToken != "" {
		c, err := audit.ParseCursor(pageToken, scope, filter)
		if err != nil {
			return nil, "", fmt.Errorf("audit/postgres: list: %w", err)
		}
		// The first term is for the indexes that end with at.
		at := q.arg(c.At.UnixNano())
		q.and(`at <= ` + at + ` AND (at, decision_id) < (` + at + `, ` + q.arg(c.DecisionID) + `::uuid)`)
	}
	p, err := s.page(ctx, &q, pageSize)
	if err != nil {
		return nil, "", s.readError(ctx, "list", err)
	}
	next := ""
	if p.more {
		next = audit.Cursor{At: time.Unix(0, p.last.at), DecisionID: p.last.decisionID}.Token(scope, filter)
	}
	return p.records, next, errors.Join(p.damage...)
}

// page is what one read of the table gave.
type page struct {
	records []audit.Record
	last    row // that was looked at
	more    bool
	damage  []error // one for each row that cannot be read
}

// page reads at most size rows and at most MaxPageBytes of them, but one at least.
func (s *Store) page(ctx context.Context, q *query, size int) (page, error) {
	rows, err := s.read.Query(ctx, q.sql(size+1), q.args...)
	if err != nil {
		return page{}, err
	}
	defer rows.Close()
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
		p.last = r
		rec, err := r.decode()
		if err != nil {
			p.damage = append(p.damage, err)
			continue
		}
		p.records = append(p.records, rec)
	}
	rows.Close() // what was left out is read and dropped
	return p, rows.Err()
}

// query is a SELECT of rows in the making.
type query struct {
	where []string
	args  []any
	order string
}

func (q *query) and(condition string) { q.where = append(q.where, condition) }

// arg adds an argument and returns its place.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// scope keeps to the tenants of the reader.
func (q *query) scope(scope audit.Scope) {
	if scope.All() {
		return
	}
	switch tenants := scope.Tenants(); len(tenants) {
	case 0:
		q.and(`false`)
	case 1:
		q.and(`tenant = ` + q.arg(tenants[0]))
	default: // one argument however many there are
		q.and(`tenant = ANY (` + q.arg(tenants) + `::text[])`)
	}
}

func (q *query) filter(f audit.Filter) {
	if !f.Since.IsZero() {
		q.and(`at >= ` + q.arg(nanos(f.Since)))
	}
	if !f.Until.IsZero() {
		q.and(`at < ` + q.arg(nanos(f.Until)))
	}
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
			q.and(c.column + ` = ` + q.arg(c.value))
		}
	}
}

// sql is the statement for at most limit rows.
func (q *query) sql(limit int) string {
	where := ""
	if len(q.where) > 0 {
		where = ` WHERE ` + strings.Join(q.where, ` AND `)
	}
	return selectSQL + where + ` ORDER BY ` + q.order + ` LIMIT ` + strconv.Itoa(limit)
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
