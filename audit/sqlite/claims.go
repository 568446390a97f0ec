package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// job is one entry on its way to the disk.
type job struct {
	row      row
	uses     audit.Uses
	original *audit.Original
	size     int64 // in bytes, as the queue is bounded
	outcome  audit.Outcome
	done     chan result // of capacity 1: the writer never waits for a caller
}

// result is what a caller is told.
type result struct {
	outcome audit.Outcome
	err     error
}

// claimSize is about what a claim takes in memory.
const claimSize = 128

// newJob encodes an entry. The memo, the claims and the original are still the caller's.
func newJob(e audit.Entry) *job {
	j := &job{row: encode(e.Record), uses: e.Uses, original: e.Original, done: make(chan result, 1)}
	j.size = j.row.size() + int64(len(e.Uses.Memo)+len(e.Uses.Claims)*claimSize)
	if e.Original != nil {
		j.size += int64(len(e.Original.Sealed))
	}
	return j
}

// own takes copies of what is the caller's, who may leave before the writer comes.
func (j *job) own() {
	j.uses.Memo = bytes.Clone(j.uses.Memo)
	j.uses.Claims = append([]audit.Claim(nil), j.uses.Claims...)
	if j.original != nil {
		j.original = &audit.Original{Sealed: bytes.Clone(j.original.Sealed), KeepUntil: j.original.KeepUntil}
	}
}

// statements are those of the writer.
type statements struct {
	insert, known, recall, remember, used, use, keep *sql.Stmt
}

func (s *statements) all() []*(*sql.Stmt) {
	return []*(*sql.Stmt){&s.insert, &s.known, &s.recall, &s.remember, &s.used, &s.use, &s.keep}
}

// prepare prepares them all; what it had prepared before an error is in s.
func prepare(ctx context.Context, db *sql.DB) (s statements, err error) {
	texts := [...]string{insertSQL, knownSQL, recallSQL, rememberSQL, usedSQL, useSQL, keepSQL}
	for i, p := range s.all() {
		if *p, err = db.PrepareContext(ctx, texts[i]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// in returns the statements within a transaction.
func (s *statements) in(tx *sql.Tx) *statements {
	within := *s
	for _, p := range within.all() {
		*p = tx.Stmt(*p)
	}
	return &within
}

func (s *statements) close() error {
	var errs []error
	for _, p := range s.all() {
		if *p != nil {
			errs = append(errs, (*p).Close())
		}
	}
	return errors.Join(errs...)
}

// judge says what becomes of an entry, by reading alone: an entry that is refused leaves
// nothing to undo. Nobody else writes between this and write.
func (s *statements) judge(j *job) (audit.Outcome, error) {
	if j.uses.Request == "" && len(j.uses.Claims) == 0 {
		return audit.Outcome{}, nil
	}
	var one int
	switch err := s.known.QueryRow(j.row.decisionID).Scan(&one); {
	case err == nil:
		return audit.Outcome{}, nil // the first one stays, and used what it used
	case !errors.Is(err, sql.ErrNoRows):
		return audit.Outcome{}, fmt.Errorf("look up: %w", err)
	}
	if j.uses.Request != "" {
		memo, err := recall(s.recall.QueryRow(keyBytes(j.uses.Request), j.row.at))
		if err == nil {
			return audit.Outcome{Repeated: true, Memo: memo}, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return audit.Outcome{}, fmt.Errorf("recall: %w", err)
		}
	}
	var o audit.Outcome
	for i, c := range j.uses.Claims {
		used := int64(0)
		if err := s.used.QueryRow(keyBytes(c.Key), j.row.at).Scan(&used); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return audit.Outcome{}, fmt.Errorf("count: %w", err)
		}
		if used >= int64(c.Limit) {
			o.Short = append(o.Short, i)
		}
	}
	return o, nil
}

// write writes an entry that judge let through, unless its id is there already.
func (s *statements) write(j *job) (written bool, err error) {
	done, err := s.insert.Exec(j.row.args()...)
	if err != nil {
		return false, fmt.Errorf("insert: %w", err)
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	if j.uses.Request != "" {
		if _, err := s.remember.Exec(keyBytes(j.uses.Request), j.uses.Until.UnixNano(), blob(j.uses.Memo)); err != nil {
			return false, fmt.Errorf("remember: %w", err)
		}
	}
	for _, c := range j.uses.Claims {
		if _, err := s.use.Exec(keyBytes(c.Key), c.Until.UnixNano(), j.row.at); err != nil {
			return false, fmt.Errorf("use: %w", err)
		}
	}
	if j.original != nil {
		seq, err := done.LastInsertId()
		if err != nil {
			return false, fmt.Errorf("insert: %w", err)
		}
		if _, err := s.keep.Exec(seq, j.original.KeepUntil.UnixNano(), blob(j.original.Sealed)); err != nil {
			return false, fmt.Errorf("keep: %w", err)
		}
	}
	return true, nil
}

// Recall implements [audit.Store].
func (s *Store) Recall(ctx context.Context, request audit.Key, now time.Time) ([]byte, error) {
	memo, err := recall(s.read.QueryRowContext(ctx, recallSQL, keyBytes(request), nanos(now)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("audit/sqlite: recall: %w", audit.ErrNotFound)
	}
	if err != nil {
		return nil, s.readError(ctx, "recall", err)
	}
	return memo, nil
}

// recall reads a memo into bytes of its own.
func recall(r *sql.Row) (memo []byte, err error) {
	err = r.Scan(&memo)
	return memo, err
}

// keyBytes is how a key is stored: half its size. What is no key has none of 32 bytes and
// so is not found.
func keyBytes(k audit.Key) []byte {
	b, err := hex.DecodeString(string(k))
	if err != nil || hex.EncodeToString(b) != string(k) {
		return []byte{}
	}
	return b
}

// blob is b, never nil: no bytes are not NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
