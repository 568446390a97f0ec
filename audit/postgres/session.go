package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
)

// Recall implements [audit.Store].
func (s *Store) Recall(ctx context.Context, request audit.Key, now time.Time) ([]byte, error) {
	var memo []byte
	if !valid(request) && ctx.Err() == nil && !s.isClosed() {
		return nil, fmt.Errorf("audit/postgres: recall: %w", audit.ErrNotFound)
	}
	err := s.read.QueryRow(ctx, `SELECT memo FROM requests WHERE key = $1 AND until > $2`, raw(request), nanos(now)).Scan(&memo)
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
		decisionID, nanos(now)).Scan(&o.Sealed, &until)
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
func (s *Store) Latest(ctx context.Context, j audit.Judged) (audit.Record, error) {
	j = j.Sanitized()
	if j.SessionID == "" && ctx.Err() == nil && !s.isClosed() {
		return audit.Record{}, fmt.Errorf("audit/postgres: latest: %w", audit.ErrNotFound)
	}
	q := latest(j)
	var found row
	if err := s.read.QueryRow(ctx, q.sql(1), q.args...).Scan(found.scan()...); err != nil {
		return audit.Record{}, s.oneError(ctx, "latest", err)
	}
	return found.decode()
}

// latest asks for what Latest returns. Of the two conditions on the session the second is
// there for the index.
func latest(j audit.Judged) query {
	q := query{order: newestFirst}
	q.and(`rpc = 'validate' AND session_id = ` + q.arg(j.SessionID) + ` AND session_id <> ''`)
	q.and(`tool = ` + q.arg(j.Tool) + ` AND arguments_digest = ` + q.arg(j.ArgumentsDigest) + ` AND tenant = ` + q.arg(j.Tenant))
	return q
}

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
	rows, _ := s.read.Query(ctx, deliveredSQL, f.SessionID, f.Tenant, audit.MaxDeliveries+1) //nolint:errcheck // see above
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[audit.Delivery])
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
