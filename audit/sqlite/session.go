package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/audit"
)

// latestSQL goes along events_latest; IS finds NULL too.
const latestSQL = columnsSQL + ` WHERE rpc = 'validate' AND session_id = ? AND tenant IS ? AND tool IS ? AND arguments_digest IS ?
	ORDER BY at DESC, decision_id DESC LIMIT 1`

// Latest implements [audit.Store].
func (s *Store) Latest(ctx context.Context, j audit.Judged) (audit.Record, error) {
	j = j.Sanitized()
	var r row
	err := s.latest.QueryRowContext(ctx, j.SessionID, null(j.Tenant), null(j.Tool), null(j.ArgumentsDigest)).Scan(r.scan()...)
	if errors.Is(err, sql.ErrNoRows) { // which is also so for the session "": none is stored
		return audit.Record{}, fmt.Errorf("audit/sqlite: latest: %w", audit.ErrNotFound)
	}
	if err != nil {
		return audit.Record{}, s.readError(ctx, "latest", err)
	}
	return r.decode()
}

// deliveredSQL jumps along events_delivered from one delivery to the next, so that its
// cost is that of the answer, however long the session.
const deliveredSQL = `WITH RECURSIVE found (delivery) AS (
	SELECT (SELECT delivered || '/' || ifnull(tool, '') FROM events
		WHERE rpc = 'validate' AND session_id = ?1 AND tenant IS ?2 AND delivered IS NOT NULL
		ORDER BY delivered || '/' || ifnull(tool, '') LIMIT 1)
	UNION ALL
	SELECT (SELECT delivered || '/' || ifnull(tool, '') FROM events
		WHERE rpc = 'validate' AND session_id = ?1 AND tenant IS ?2 AND delivered IS NOT NULL
			AND delivered || '/' || ifnull(tool, '') > found.delivery
		ORDER BY delivered || '/' || ifnull(tool, '') LIMIT 1)
	FROM found WHERE found.delivery IS NOT NULL
)
SELECT delivery FROM found WHERE delivery IS NOT NULL LIMIT ?3`

// Delivered implements [audit.Store].
func (s *Store) Delivered(ctx context.Context, tenant, sessionID string) ([]audit.Delivery, error) {
	f := audit.Filter{Tenant: tenant, SessionID: sessionID}.Sanitized()
	rows, err := s.delivered.QueryContext(ctx, f.SessionID, null(f.Tenant), audit.MaxDeliveries+1)
	if err != nil {
		return nil, s.readError(ctx, "delivered", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err is read below
	var list []audit.Delivery
	for rows.Next() {
		var delivery string
		if err := rows.Scan(&delivery); err != nil {
			return nil, s.readError(ctx, "delivered", err)
		}
		trust, tool, _ := strings.Cut(delivery, "/")
		list = append(list, audit.Delivery{Tool: tool, Trust: trust})
	}
	if err := rows.Err(); err != nil {
		return nil, s.readError(ctx, "delivered", err)
	}
	if len(list) > audit.MaxDeliveries {
		return nil, fmt.Errorf("audit/sqlite: delivered: %w: more than %d tools in the session", audit.ErrUnavailable, audit.MaxDeliveries)
	}
	slices.SortFunc(list, func(a, b audit.Delivery) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(a.Trust, b.Trust))
	})
	return list, nil
}

// null is how a string is stored: NULL stands for the empty one.
func null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
