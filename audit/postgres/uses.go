package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
)

// Rows are made before they are locked, so that there is something to lock. One that was
// only made for that is over since 1970 or used 0 times, and is removed again.
const (
	makeRequestsSQL = `INSERT INTO requests (key, until, memo)
	SELECT key, 0, '' FROM unnest($1::bytea[]) AS k (key) ON CONFLICT (key) DO NOTHING`
	lockRequestsSQL = `SELECT key, until, memo FROM requests WHERE key = ANY ($1) ORDER BY key FOR UPDATE`
	makeClaimsSQL   = `INSERT INTO claims (key, until, used)
	SELECT key, 0, 0 FROM unnest($1::bytea[]) AS k (key) ON CONFLICT (key) DO NOTHING`
	lockClaimsSQL = `SELECT key, until, used FROM claims WHERE key = ANY ($1) ORDER BY key FOR UPDATE`
	knownSQL      = `SELECT decision_id FROM events WHERE decision_id = ANY ($1::uuid[])`

	setRequestsSQL = `UPDATE requests r SET until = n.until, memo = n.memo
	FROM unnest($1::bytea[], $2::bigint[], $3::bytea[]) AS n (key, until, memo) WHERE r.key = n.key`
	setClaimsSQL = `UPDATE claims c SET until = n.until, used = n.used
	FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS n (key, until, used) WHERE c.key = n.key`
	dropRequestsSQL = `DELETE FROM requests WHERE key = ANY ($1)`
	dropClaimsSQL   = `DELETE FROM claims WHERE key = ANY ($1)`
)

// request and claim are rows whose lock is held.
type request struct {
	until   int64
	memo    []byte
	changed bool
}

type claim struct {
	until, used int64
	changed     bool
}

// ledger is what a transaction holds locked, and what it has decided.
type ledger struct {
	known    map[[16]byte]bool // ids that have an event
	requests map[audit.Key]*request
	claims   map[audit.Key]*claim

	outcomes []audit.Outcome
	written  []*job
	repeats  bool // an id was known before the transaction
}

// writeUses writes entries that use something up.
func writeUses(ctx context.Context, c *conn, batch []*job) ([]audit.Outcome, error) {
	tx, err := c.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after Commit it says so; else the connection is thrown away
	l, err := lock(ctx, tx, batch)
	if err != nil {
		return nil, err
	}
	for _, j := range batch {
		l.decide(j)
	}
	if len(l.written) == 0 {
		if err := tx.Rollback(ctx); err != nil || !l.repeats {
			return l.outcomes, err
		}
		return l.outcomes, probe(ctx, c) // see writePlain
	}
	n, err := insert(ctx, tx, l.written)
	if err != nil {
		return nil, err
	}
	if n < int64(len(l.written)) {
		return nil, errRaced // the same id came to another replica meanwhile
	}
	if err := l.settle(ctx, tx); err != nil {
		return nil, err
	}
	return l.outcomes, tx.Commit(ctx)
}

// lock makes and locks the rows of all keys of a batch, in one round trip.
func lock(ctx context.Context, tx pgx.Tx, batch []*job) (*ledger, error) {
	l := &ledger{known: map[[16]byte]bool{}, requests: map[audit.Key]*request{}, claims: map[audit.Key]*claim{}}
	ids := make([][16]byte, len(batch))
	for i, j := range batch {
		ids[i] = j.row.id
		if j.uses.Request != "" {
			l.requests[j.uses.Request] = nil
		}
		for _, c := range j.uses.Claims {
			l.claims[c.Key] = nil
		}
	}
	requests, claims := sorted(l.requests), sorted(l.claims)
	b := new(pgx.Batch)
	b.Queue(makeRequestsSQL, requests)
	b.Queue(lockRequestsSQL, requests).Query(func(rows pgx.Rows) error {
		var key []byte
		var r request
		_, err := pgx.ForEachRow(rows, []any{&key, &r.until, &r.memo}, func() error {
			l.requests[audit.Key(hex.EncodeToString(key))] = &request{until: r.until, memo: r.memo}
			return nil
		})
		return err
	})
	b.Queue(makeClaimsSQL, claims)
	b.Queue(lockClaimsSQL, claims).Query(func(rows pgx.Rows) error {
		var key []byte
		var c claim
		_, err := pgx.ForEachRow(rows, []any{&key, &c.until, &c.used}, func() error {
			l.claims[audit.Key(hex.EncodeToString(key))] = &claim{until: c.until, used: c.used}
			return nil
		})
		return err
	})
	b.Queue(knownSQL, ids).Query(func(rows pgx.Rows) error {
		var id [16]byte
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			l.known[id] = true
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	// A purge may have removed a row before it was locked.
	if slices.Contains(slices.Collect(maps.Values(l.requests)), nil) || slices.Contains(slices.Collect(maps.Values(l.claims)), nil) {
		return nil, errRaced
	}
	l.repeats = len(l.known) > 0
	return l, nil
}

// decide says what becomes of an entry and counts it if it is written.
func (l *ledger) decide(j *job) {
	short := []int(nil)
	r := l.requests[j.uses.Request] // nil for ""
	switch {
	case l.known[j.row.id]:
		l.outcomes = append(l.outcomes, audit.Outcome{})
		return
	case r != nil && r.until > j.row.At:
		l.outcomes = append(l.outcomes, audit.Outcome{Repeated: true, Memo: bytes.Clone(r.memo)})
		return
	}
	for i, c := range j.uses.Claims {
		if l.claims[c.Key].usedAt(j.row.At) >= int64(c.Limit) {
			short = append(short, i)
		}
	}
	if len(short) > 0 {
		l.outcomes = append(l.outcomes, audit.Outcome{Short: short})
		return
	}
	if r != nil {
		*r = request{until: j.uses.Until.UnixNano(), memo: j.uses.Memo, changed: true}
	}
	for _, c := range j.uses.Claims {
		l.claims[c.Key].use(j.row.At, c.Until)
	}
	l.known[j.row.id] = true
	l.written = append(l.written, j)
	l.outcomes = append(l.outcomes, audit.Outcome{})
}

// usedAt is the number of uses that count at a time, in nanoseconds.
func (c *claim) usedAt(at int64) int64 {
	if c.until <= at {
		return 0
	}
	return c.used
}

func (c *claim) use(at int64, until time.Time) {
	c.used = c.usedAt(at) + 1
	c.until = max(c.until, until.UnixNano())
	c.changed = true
}

// settle writes what decide has changed, in one round trip.
func (l *ledger) settle(ctx context.Context, tx pgx.Tx) error {
	var setRequests, dropRequests, setClaims, dropClaims [][]byte
	var untils, claimUntils, used []int64
	var memos [][]byte
	for key, r := range l.requests {
		switch {
		case r.changed:
			setRequests, untils, memos = append(setRequests, raw(key)), append(untils, r.until), append(memos, notNull(r.memo))
		case r.until == 0:
			dropRequests = append(dropRequests, raw(key))
		}
	}
	for key, c := range l.claims {
		switch {
		case c.changed:
			setClaims, claimUntils, used = append(setClaims, raw(key)), append(claimUntils, c.until), append(used, c.used)
		case c.used == 0:
			dropClaims = append(dropClaims, raw(key))
		}
	}
	b := new(pgx.Batch)
	if len(setRequests) > 0 {
		b.Queue(setRequestsSQL, setRequests, untils, memos)
	}
	if len(setClaims) > 0 {
		b.Queue(setClaimsSQL, setClaims, claimUntils, used)
	}
	if len(dropRequests) > 0 {
		b.Queue(dropRequestsSQL, dropRequests)
	}
	if len(dropClaims) > 0 {
		b.Queue(dropClaimsSQL, dropClaims)
	}
	return tx.SendBatch(ctx, b).Close()
}

// sorted returns the keys of a map as the tables hold them, ascending.
func sorted[V any](m map[audit.Key]V) [][]byte {
	out := make([][]byte, 0, len(m))
	for key := range m {
		out = append(out, raw(key))
	}
	slices.SortFunc(out, bytes.Compare)
	return out
}

// valid reports whether a key has the form of one; entries were checked before.
func valid(key audit.Key) bool {
	b, err := hex.DecodeString(string(key))
	return err == nil && len(b) == sha256.Size && hex.EncodeToString(b) == string(key)
}

// raw is a valid key as the tables hold it.
func raw(key audit.Key) []byte {
	b, _ := hex.DecodeString(string(key))
	return b
}
