package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

// A rest that no version of the service can have written is not loaded at all.
const selectSQL = `SELECT decision_id::text, at, xid, seq,
	` + rows.Names + `, CASE WHEN octet_length(rest::text) <= 4 * 65536 THEN rest::text ELSE '' END FROM events`

// newestFirst names the table: decision_id alone would be the text of selectSQL, which no
// index is ordered by.
const newestFirst = `at DESC, events.decision_id DESC`

// Get implements [audit.Store].
func (s *Store) Get(ctx context.Context, scope audit.Scope, decisionID string) (audit.Record, error) {
	r, err := s.find(ctx, "get", scope, decisionID)
	if err != nil {
		return audit.Record{}, err
	}
	return r.Decode()
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
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return r, missing
	case err != nil:
		return r, s.readError(ctx, what, err)
	case !scope.Sees(r.Tenant()):
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
	pageSize = rows.PageSize(pageSize)
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
	return p.Records, p.Next(scope, filter), errors.Join(p.Damage...)
}

// page is what one read of the table gave.
type page struct {
	rows.Page
	last mark // after the last row that was looked at
}

// page reads at most size rows.
func (s *Store) page(ctx context.Context, q *query, size int) (page, error) {
	found, err := s.read.Query(ctx, q.sql(size+1), q.args...)
	if err != nil {
		return page{}, err
	}
	defer found.Close()
	var p page
	for found.Next() {
		var r row
		if err := found.Scan(r.scan()...); err != nil {
			return page{}, err // its place is not known, so nothing after it is either
		}
		if !p.Add(&r.Row, size) {
			break
		}
		p.last = mark{xid: r.xid, seq: r.seq}
	}
	found.Close() // what was left out is read and dropped
	return p, found.Err()
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
		q.and(`at >= ` + q.arg(rows.Nanos(f.Since)))
	}
	if !f.Until.IsZero() {
		q.and(`at < ` + q.arg(rows.Nanos(f.Until)))
	}
	for column, value := range rows.Equal(f) {
		q.and(column + ` = ` + q.arg(value))
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
