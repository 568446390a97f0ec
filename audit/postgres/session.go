package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

// Recall implements [audit.Store].
func (s *Store) Recall(ctx context.Context, request audit.Key, now time.Time) ([]byte, error) {
	var memo []byte
	if !valid(request) && ctx.Err() == nil && !s.isClosed() {
		return nil, fmt.Errorf("audit/postgres: recall: %w", audit.ErrNotFound)
	}
	err := s.look.QueryRow(ctx, `SELECT memo FROM requests WHERE key = $1 AND until > $2`, raw(request), rows.Nanos(now)).Scan(&memo)
	return memo, s.oneError(ctx, "recall", err)
}

// Original implements [audit.Store].
func (s *Store) Original(ctx context.Context, scope audit.Scope, decisionID string, now time.Time) (audit.Original, error) {
	if _, err := s.find(ctx, "original", scope, decisionID); err != nil {
		return audit.Original{}, err
	}
	var o audit.Original
	var until int64
	err := s.read.QueryRow(ctx, `SELECT sealed, keep_until FROM originals WHERE decision_id = $1 AND keep_until > $2`,
		decisionID, rows.Nanos(now)).Scan(&o.Sealed, &until)
	o.KeepUntil = time.Unix(0, until).UTC()
	if err != nil {
		return audit.Original{}, s.oneError(ctx, "original", err)
	}
	return o, nil
}

// oneError gives an error its cause where one row was asked for.
func (s *Store) oneError(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("audit/postgres: %s: %w", what, audit.ErrNotFound)
	default:
		return s.readError(ctx, what, err)
	}
}

// Latest implements [audit.Store].
func (s *Store) Latest(ctx context.Context, j audit.Judged) (audit.Newest, error) {
	j = j.Sanitized()
	if j.SessionID == "" && ctx.Err() == nil && !s.isClosed() {
		return audit.Newest{}, fmt.Errorf("audit/postgres: latest: %w", audit.ErrNotFound)
	}
	var id, rest string
	if err := s.look.QueryRow(ctx, latestSQL, j.SessionID, j.Tool, j.ArgumentsDigest, j.Tenant).Scan(&id, &rest); err != nil {
		return audit.Newest{}, s.oneError(ctx, "latest", err)
	}
	return rows.Newest(id, rest)
}

// latestSQL goes along events_latest. Of the two conditions on the session the second is
// there for the index.
const latestSQL = `SELECT decision_id::text, CASE WHEN octet_length(rest::text) <= 4 * 65536 THEN rest::text ELSE '' END FROM events
	WHERE rpc = 'validate' AND session_id = $1 AND session_id <> '' AND tool = $2 AND arguments_digest = $3 AND tenant = $4
	ORDER BY ` + newestFirst + ` LIMIT 1`

// deliveredSQL steps from each tool to the next along its index: the cost is that of what
// it finds, however often a tool was delivered.
const deliveredSQL = `WITH RECURSIVE found AS (
	(SELECT tool, delivered FROM events
	WHERE rpc = 'validate' AND session_id = $1 AND tenant = $2 AND delivered <> '' AND session_id <> ''
	ORDER BY tool, delivered LIMIT 1)
	UNION ALL
	SELECT later.* FROM found, LATERAL (
		SELECT e.tool, e.delivered FROM events e
		WHERE e.rpc = 'validate' AND e.session_id = $1 AND e.tenant = $2 AND e.delivered <> '' AND e.session_id <> ''
			AND (e.tool, e.delivered) > (found.tool, found.delivered)
		ORDER BY e.tool, e.delivered LIMIT 1) later
) SELECT tool, delivered FROM found LIMIT $3`

// Delivered implements [audit.Store].
func (s *Store) Delivered(ctx context.Context, tenant, sessionID string) ([]audit.Delivery, error) {
	f := audit.Filter{Tenant: tenant, SessionID: sessionID}.Sanitized()
	if f.SessionID == "" && ctx.Err() == nil && !s.isClosed() {
		return nil, nil
	}
	// An error of Query comes again from the rows.
	list, _ := s.look.Query(ctx, deliveredSQL, f.SessionID, f.Tenant, audit.MaxDeliveries+1) //nolint:errcheck // see above
	found, err := pgx.CollectRows(list, pgx.RowToStructByPos[audit.Delivery])
	switch {
	case err != nil:
		return nil, s.readError(ctx, "delivered", err)
	case len(found) > audit.MaxDeliveries:
		return nil, fmt.Errorf("audit/postgres: delivered: %w: the session has more than %d", audit.ErrUnavailable, audit.MaxDeliveries)
	case len(found) == 0:
		return nil, nil
	}
	return found, nil
}
