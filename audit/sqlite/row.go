package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

// row is a record as the table holds it; NULL stands for the empty string.
type row struct {
	rows.Row
	seq    int64        // of what was read; 0 before it is written
	judged driver.Value // of what is written: judgedBy or nil
}

// encode sanitizes and encodes a record.
func encode(rec audit.Record) row {
	rec.Sanitize()
	r := row{Row: rows.Encode(rec)}
	if rec.RPC == "validate" && rec.SessionID != "" {
		r.judged = judgedBy(audit.Judged{
			Tenant: rec.Tenant, SessionID: rec.SessionID, Tool: rec.Tool, ArgumentsDigest: rec.ArgumentsDigest,
		})
	}
	return r
}

// scan is the destination of a row of columnsSQL.
func (r *row) scan() []any {
	dst := []any{&r.seq, &r.DecisionID, &r.At}
	for i := range r.Columns {
		dst = append(dst, (*nullable)(&r.Columns[i]))
	}
	return append(dst, &r.Rest)
}

// appendArgs adds the parameters of a row of insertSQL.
func (r *row) appendArgs(args []driver.Value) []driver.Value {
	args = append(args, r.DecisionID, r.At)
	for i := range r.Columns {
		args = append(args, null(r.Columns[i]))
	}
	return append(args, r.Rest, r.judged)
}

// judgedBy is the number by which Latest finds a sanitized judgement: that of its session,
// so that the judgements of a session lie together, and below it that of the call in this
// session. Few have the same number by chance; whoever looks for two that have needs about 2^40 tries
// for each, and makes the answers of their own session slower, not wrong.
func judgedBy(j audit.Judged) int64 {
	const bitsOfCall = 40
	session, call := number(j.Tenant, j.SessionID), number(j.Tool, j.ArgumentsDigest, j.Tenant, j.SessionID)
	return int64(session>>bitsOfCall<<bitsOfCall | call>>(64-bitsOfCall)) //nolint:gosec // the bits, not the number
}

// number is the beginning of a digest of sanitized strings, which hold no NUL.
func number(of ...string) uint64 {
	var room [512]byte
	text := room[:0]
	for _, s := range of {
		text = append(append(text, s...), 0)
	}
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}

// null is how a string is stored: NULL stands for the empty one.
func null(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

// nullable is how a string is read back.
type nullable string

// Scan implements [sql.Scanner].
func (n *nullable) Scan(v any) error {
	var s sql.NullString
	err := s.Scan(v)
	*n = nullable(s.String)
	return err
}
