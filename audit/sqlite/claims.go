package sqlite

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"

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
	j.size = j.row.Size() + int64(len(e.Uses.Memo)+len(e.Uses.Claims)*claimSize)
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

// plain reports whether the entry is a record and nothing else: it is then written whatever
// the others of its batch use.
func (j *job) plain() bool {
	return j.uses.Request == "" && len(j.uses.Claims) == 0 && j.original == nil
}

// rowsAtOnce is the number of records that one statement writes where so many plain ones
// follow each other. More bring little.
const rowsAtOnce = 8

// statements are those of the writer, on its connection.
type statements struct {
	conn                                     driver.Conn
	begin, commit, rollback                  *statement
	insert, insertRows                       *statement
	known, recall, remember, used, use, keep *statement
	values                                   []driver.Value // room for those of insert
}

func (s *statements) all() []of {
	return []of{
		{&s.begin, `BEGIN IMMEDIATE`},
		{&s.commit, `COMMIT`},
		{&s.rollback, `ROLLBACK`},
		{&s.insert, insertSQL(1)},
		{&s.insertRows, insertSQL(rowsAtOnce)},
		{&s.known, knownSQL},
		{&s.recall, recallSQL},
		{&s.remember, rememberSQL},
		{&s.used, usedSQL},
		{&s.use, useSQL},
		{&s.keep, keepSQL},
	}
}

// on prepares the statements, unless they are prepared on that connection.
func (s *statements) on(c driver.Conn) error {
	if s.conn == c {
		return nil
	}
	if err := s.close(); err != nil {
		return err
	}
	if err := prepareAll(c, s.all()); err != nil {
		return errors.Join(err, s.close())
	}
	s.conn = c
	return nil
}

// close closes the statements; their connection must still be open.
func (s *statements) close() error {
	err := closeAll(s.all())
	*s = statements{}
	return err
}

// inTx runs f in one transaction. After an error the connection must be thrown away.
func (s *statements) inTx(f func() error) error {
	if _, err := s.begin.exec(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := f(); err != nil {
		_, _ = s.rollback.exec() // SQLite may have done so already
		return err
	}
	if _, err := s.commit.exec(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// writeBatch decides the entries of a batch one after another, each with what those before
// it used, and writes them.
func (s *statements) writeBatch(batch []*job) error {
	for rest := batch; len(rest) > 0; {
		n := 0
		for n < len(rest) && rest[n].plain() {
			n++
		}
		var err error
		if n > 0 {
			err = s.writePlain(rest[:n])
		} else {
			n, err = 1, s.judgeAndWrite(rest[0])
		}
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// writePlain writes plain entries, except those whose id is there already.
func (s *statements) writePlain(jobs []*job) error {
	for len(jobs) > 0 {
		n, insert := 1, s.insert
		if len(jobs) >= rowsAtOnce {
			n, insert = rowsAtOnce, s.insertRows
		}
		if _, _, err := s.writeRows(insert, jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// writeRows writes the records of as many entries as insert takes. seq is that of the last
// one, if it was written.
func (s *statements) writeRows(insert *statement, jobs []*job) (seq int64, wrote bool, err error) {
	s.values = s.values[:0]
	for _, j := range jobs {
		s.values = j.row.appendArgs(s.values)
	}
	defer clear(s.values) // keep no record alive while idle
	done, err := insert.exec(s.values...)
	if err != nil {
		return 0, false, fmt.Errorf("insert: %w", err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return 0, false, fmt.Errorf("insert: %w", err)
	}
	if seq, err = done.LastInsertId(); err != nil {
		return 0, false, fmt.Errorf("insert: %w", err)
	}
	return seq, n > 0, nil
}

// judgeAndWrite writes an entry if it may be.
func (s *statements) judgeAndWrite(j *job) (err error) {
	if j.outcome, err = s.judge(j); err != nil || !j.outcome.Written() {
		return err
	}
	return s.write(j)
}

// judge says what becomes of an entry, by reading alone: an entry that is refused leaves
// nothing to undo. Nobody else writes between this and write.
func (s *statements) judge(j *job) (audit.Outcome, error) {
	if j.uses.Request == "" && len(j.uses.Claims) == 0 {
		return audit.Outcome{}, nil
	}
	switch row, err := s.known.one(j.row.DecisionID); {
	case err != nil:
		return audit.Outcome{}, fmt.Errorf("look up: %w", err)
	case row != nil:
		return audit.Outcome{}, nil // the first one stays, and used what it used
	}
	if j.uses.Request != "" {
		memo, found, err := recall(s.recall, j.uses.Request, j.row.At)
		if err != nil {
			return audit.Outcome{}, fmt.Errorf("recall: %w", err)
		}
		if found {
			return audit.Outcome{Repeated: true, Memo: memo}, nil
		}
	}
	var o audit.Outcome
	for i, c := range j.uses.Claims {
		row, err := s.used.one(keyBytes(c.Key), j.row.At)
		if err != nil {
			return audit.Outcome{}, fmt.Errorf("count: %w", err)
		}
		used := int64(0)
		if row != nil {
			used, _ = row[0].(int64) // the table holds nothing else
		}
		if used >= int64(c.Limit) {
			o.Short = append(o.Short, i)
		}
	}
	return o, nil
}

// write writes an entry that judge let through, unless its id is there already.
func (s *statements) write(j *job) error {
	seq, written, err := s.writeRows(s.insert, []*job{j})
	if err != nil || !written {
		return err
	}
	if j.uses.Request != "" {
		if _, err := s.remember.exec(keyBytes(j.uses.Request), j.uses.Until.UnixNano(), blob(j.uses.Memo)); err != nil {
			return fmt.Errorf("remember: %w", err)
		}
	}
	for _, c := range j.uses.Claims {
		if _, err := s.use.exec(keyBytes(c.Key), c.Until.UnixNano(), j.row.At); err != nil {
			return fmt.Errorf("use: %w", err)
		}
	}
	if j.original != nil {
		if _, err := s.keep.exec(seq, j.original.KeepUntil.UnixNano(), blob(j.original.Sealed)); err != nil {
			return fmt.Errorf("keep: %w", err)
		}
	}
	return nil
}

// recall reads a memo into bytes of its own.
func recall(s *statement, request audit.Key, now int64) (memo []byte, found bool, err error) {
	row, err := s.one(keyBytes(request), now)
	if err != nil || row == nil {
		return nil, false, err
	}
	memo, _ = row[0].([]byte) // the table holds nothing else
	return memo, true, nil
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
