package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

const (
	// Rows of one step of a purge: a step takes some ten milliseconds, and nobody waits for
	// it but another purge. Originals are large.
	purgeRows      = 1000
	purgeOriginals = 100

	// Two purges do not meet in one step; locking the rows would need the right to change
	// them.
	purgeLockSQL = `SELECT pg_advisory_xact_lock($1)`

	// The lower bound spares the next step the index entries that this one leaves behind.
	purgeEventsSQL = `WITH old AS (
	SELECT decision_id FROM events WHERE at >= $1 AND at < $2 ORDER BY at, decision_id LIMIT $3
), gone AS (
	DELETE FROM events e USING old WHERE e.decision_id = old.decision_id RETURNING e.decision_id, e.at
), originals_gone AS (
	DELETE FROM originals o USING gone WHERE o.decision_id = gone.decision_id RETURNING o.decision_id
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM originals_gone), (SELECT coalesce(max(at), $1) FROM gone)`

	purgeOriginalsSQL = `WITH old AS (
	SELECT decision_id FROM originals WHERE keep_until >= $1 AND keep_until <= $2 ORDER BY keep_until LIMIT $3
), gone AS (
	DELETE FROM originals o USING old WHERE o.decision_id = old.decision_id RETURNING o.keep_until
)
SELECT count(*), 0::bigint, coalesce(max(keep_until), $1) FROM gone`

	// Rows that a writer holds are not over, whatever they say now.
	purgeClaimsSQL = `WITH old AS (
	SELECT key FROM claims WHERE until >= $1 AND until <= $2 ORDER BY until LIMIT $3 FOR UPDATE SKIP LOCKED
), gone AS (
	DELETE FROM claims c USING old WHERE c.key = old.key RETURNING c.until
)
SELECT count(*), 0::bigint, coalesce(max(until), $1) FROM gone`

	purgeRequestsSQL = `WITH old AS (
	SELECT key FROM requests WHERE until >= $1 AND until <= $2 ORDER BY until LIMIT $3 FOR UPDATE SKIP LOCKED
), gone AS (
	DELETE FROM requests r USING old WHERE r.key = old.key RETURNING r.until
)
SELECT count(*), 0::bigint, coalesce(max(until), $1) FROM gone`

	// purgeLock is the advisory lock of a step: "HLMK" and a number.
	purgeLock = 0x484c4d4b_00000002
)

// Purge implements [audit.Store]. It has a connection of its own.
func (s *Store) Purge(ctx context.Context, p audit.Purge) (audit.Purged, error) {
	var done audit.Purged
	if ctx.Err() != nil || s.isClosed() {
		return done, s.readError(ctx, "purge", context.Canceled)
	}
	c, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return done, s.readError(ctx, "purge", err)
	}
	defer func() {
		// Nothing is in flight, and the caller's context may be over.
		_ = c.Close(context.WithoutCancel(ctx))
	}()
	over := rows.Nanos(p.Now)
	overLong := rows.Nanos(p.Now.Add(-audit.ClaimGrace))
	var none int64
	for _, step := range [...]struct {
		sql         string
		until, rows int64
		first       *int64
		second      *int64
		skip        bool
	}{
		{purgeEventsSQL, rows.Nanos(p.EventsBefore), purgeRows, &done.Events, &done.Originals, p.EventsBefore.IsZero()},
		{purgeOriginalsSQL, over, purgeOriginals, &done.Originals, &none, false},
		{purgeClaimsSQL, overLong, purgeRows, &done.Claims, &none, false},
		{purgeRequestsSQL, overLong, purgeRows, &done.Memos, &none, false},
	} {
		from := int64(math.MinInt64)
		for more := !step.skip; more; {
			var first, second int64
			if s.isClosed() {
				return done, s.readError(ctx, "purge", context.Canceled)
			}
			if first, second, from, err = purgeStep(ctx, c, step.sql, from, step.until, step.rows); err != nil {
				return done, s.readError(ctx, "purge", err)
			}
			*step.first += first
			*step.second += second
			more = first == step.rows
		}
	}
	return done, nil
}

// purgeStep removes some rows, in one transaction, and returns how many, and how far it
// came.
func purgeStep(ctx context.Context, c *pgx.Conn, sql string, from, until, rows int64) (first, second, last int64, err error) {
	tx, err := c.Begin(ctx)
	if err != nil {
		return 0, 0, from, err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after Commit it says so; else the connection is closed
	if _, err := tx.Exec(ctx, purgeLockSQL, int64(purgeLock)); err != nil {
		return 0, 0, from, err
	}
	if err := tx.QueryRow(ctx, sql, from, until, rows).Scan(&first, &second, &last); err != nil {
		return 0, 0, from, err
	}
	return first, second, last, tx.Commit(ctx)
}
