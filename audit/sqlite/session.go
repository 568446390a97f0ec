package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

// latestSQL finds the newest of what has the number ?5 and is what is asked for, and the
// newest of what was written without numbers: two rows at most. IS finds NULL too.
const (
	latestSQL = `SELECT * FROM (` + newestSQL + ` INDEXED BY events_judged WHERE judged = ?5` + isJudged + `)
	UNION ALL SELECT * FROM (` + newestSQL + ` INDEXED BY events_latest WHERE judged IS NULL` + isJudged + `)`

	newestSQL = `SELECT at, decision_id, iif(octet_length(rest) <= 4 * 65536, rest, '') FROM events`
	isJudged  = ` AND rpc = 'validate' AND session_id = ?1 AND tenant IS ?2 AND tool IS ?3 AND arguments_digest IS ?4
	ORDER BY at DESC, decision_id DESC LIMIT 1`
)

// newest is a row of latestSQL.
type newest struct {
	at   int64
	id   string // "" for no row
	rest string
}

// Latest implements [audit.Store].
func (s *Store) Latest(ctx context.Context, j audit.Judged) (audit.Newest, error) {
	j = j.Sanitized()
	var found newest
	err := s.look(ctx, func(l *lookup) error {
		return l.latest.each(func(row []driver.Value) {
			at, _ := row[0].(int64)
			id, _ := row[1].(string)
			rest, _ := row[2].(string)
			if cmp.Or(cmp.Compare(at, found.at), strings.Compare(id, found.id)) > 0 || found.id == "" {
				found = newest{at, id, rest}
			}
		}, j.SessionID, null(j.Tenant), null(j.Tool), null(j.ArgumentsDigest), judgedBy(j))
	})
	switch {
	case err != nil:
		return audit.Newest{}, s.readError(ctx, "latest", err)
	case found.id == "": // which is also so for the session "": none is stored
		return audit.Newest{}, fmt.Errorf("audit/sqlite: latest: %w", audit.ErrNotFound)
	}
	return rows.Newest(found.id, found.rest)
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
	var list []audit.Delivery
	err := s.look(ctx, func(l *lookup) error {
		return l.delivered.each(func(row []driver.Value) {
			delivery, _ := row[0].(string)
			trust, tool, _ := strings.Cut(delivery, "/")
			list = append(list, audit.Delivery{Tool: tool, Trust: trust})
		}, f.SessionID, null(f.Tenant), int64(audit.MaxDeliveries+1))
	})
	if err != nil {
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

// Recall implements [audit.Store].
func (s *Store) Recall(ctx context.Context, request audit.Key, now time.Time) (memo []byte, err error) {
	found := false
	err = s.look(ctx, func(l *lookup) error {
		memo, found, err = recall(l.recall, request, rows.Nanos(now))
		return err
	})
	switch {
	case err != nil:
		return nil, s.readError(ctx, "recall", err)
	case !found:
		return nil, fmt.Errorf("audit/sqlite: recall: %w", audit.ErrNotFound)
	}
	return memo, nil
}
