package postgres

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

const (
	// What has an event already keeps its first original: kept follows written.
	insertSQL = `WITH written AS (
	INSERT INTO events (decision_id, at, ` + rows.Names + `, rest)
	SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
		$9::text[], $10::text[], $11::text[], $12::text[], $13::json[])
	ON CONFLICT (decision_id) DO NOTHING
	RETURNING decision_id
), kept AS (
	INSERT INTO originals (decision_id, keep_until, sealed)
	SELECT o.* FROM unnest($14::uuid[], $15::bigint[], $16::bytea[]) AS o (decision_id, keep_until, sealed)
	JOIN written USING (decision_id)
)
SELECT count(*) FROM written`

	probeWriteSQL  = `INSERT INTO probe (room) VALUES (convert_to(repeat('x', $1), 'UTF8')) RETURNING id`
	probeRemoveSQL = `DELETE FROM probe WHERE id = $1`
)

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// writePlain writes entries that use nothing up: one statement, which is a transaction.
func writePlain(ctx context.Context, c *conn, batch []*job) ([]audit.Outcome, error) {
	distinct := firsts(batch)
	written, err := insert(ctx, c, distinct)
	if err != nil {
		return nil, err
	}
	if written < int64(len(distinct)) {
		// An id was there. The commit that brought it may have been cut off before the
		// standbys confirmed it; one that comes after it is waited for.
		return nil, probe(ctx, c)
	}
	return nil, nil
}

// insert adds jobs of different ids and returns how many were new. They are written in the
// order of their ids, so that no two transactions wait for each other.
func insert(ctx context.Context, q querier, jobs []*job) (written int64, err error) {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b *job) int { return bytes.Compare(a.row.id[:], b.row.id[:]) })
	ids, ats, rests := make([][16]byte, len(jobs)), make([]int64, len(jobs)), make([]string, len(jobs))
	var columns [rows.Count][]string
	for c := range columns {
		columns[c] = make([]string, len(jobs))
	}
	keptIDs, keptUntil, sealed := [][16]byte{}, []int64{}, [][]byte{}
	for i, j := range jobs {
		ids[i], ats[i], rests[i] = j.row.id, j.row.At, j.row.Rest
		for c := range columns {
			columns[c][i] = j.row.Columns[c]
		}
		if o := j.original; o != nil {
			keptIDs = append(keptIDs, j.row.id)
			keptUntil = append(keptUntil, o.KeepUntil.UnixNano())
			sealed = append(sealed, notNull(o.Sealed))
		}
	}
	args := []any{ids, ats}
	for c := range columns {
		args = append(args, columns[c])
	}
	args = append(args, rests, keptIDs, keptUntil, sealed)
	err = q.QueryRow(ctx, insertSQL, args...).Scan(&written)
	return written, err
}

// firsts returns the first job of each id, in their order.
func firsts(batch []*job) []*job {
	seen := make(map[[16]byte]bool, len(batch))
	out := make([]*job, 0, len(batch))
	for _, j := range batch {
		if !seen[j.row.id] {
			seen[j.row.id] = true
			out = append(out, j)
		}
	}
	return out
}

// notNull keeps an empty value from becoming NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
