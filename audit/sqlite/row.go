package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// row is a record as the table holds it.
type row struct {
	seq        int64 // of what was read; 0 before it is written
	decisionID string
	at         int64
	judged     driver.Value // of what is written: judgedBy or nil
	columns    [columnCount]sql.NullString
	rest       sql.NullString
}

// columnCount is the number of nullable columns: rpc to delivered.
const columnCount = 10

// fields are the places of the nullable columns in a record, in the table's order.
func fields(rec *audit.Record) [columnCount]*string {
	return [...]*string{
		&rec.RPC, &rec.Tenant, &rec.Tool, &rec.RequestID, &rec.SessionID,
		&rec.FailureCode, &rec.Rejection.Reason, &rec.Decision, &rec.ArgumentsDigest, &rec.Delivered,
	}
}

// usualRest is the size in bytes that the JSON of nearly every record stays within.
const usualRest = 1024

// encode sanitizes and encodes a record.
func encode(rec audit.Record) row {
	rec.Sanitize()
	r := row{decisionID: rec.DecisionID, at: rec.At.UnixNano()}
	for i, p := range fields(&rec) {
		r.columns[i] = sql.NullString{String: *p, Valid: *p != ""}
	}
	if rec.RPC == "validate" && rec.SessionID != "" {
		r.judged = judgedBy(audit.Judged{
			Tenant: rec.Tenant, SessionID: rec.SessionID, Tool: rec.Tool, ArgumentsDigest: rec.ArgumentsDigest,
		})
	}
	rec.Rejection.Reason = "" // it has a column
	var room [usualRest]byte
	rest := string(rec.AppendJSON(room[:0]))
	r.rest = sql.NullString{String: rest, Valid: true}
	return r
}

// decode makes the record of a row. Names that this version does not know are ignored; a
// record is sanitized again, since the file may have been changed by other hands.
func (r *row) decode() (audit.Record, error) {
	if !r.rest.Valid {
		return audit.Record{}, damaged(r.decisionID, "its JSON is too large")
	}
	if !strings.HasPrefix(r.rest.String, "{") {
		return audit.Record{}, damaged(r.decisionID, "its JSON is no object")
	}
	var rec audit.Record
	if err := json.Unmarshal([]byte(r.rest.String), &rec); err != nil {
		return audit.Record{}, damaged(r.decisionID, "its JSON cannot be read")
	}
	rec.DecisionID = r.decisionID
	rec.At = time.Unix(0, r.at).UTC()
	for i, p := range fields(&rec) {
		*p = r.columns[i].String
	}
	rec.Sanitize()
	return rec, nil
}

// damaged names a row; it quotes the id because a damaged one may hold anything.
func damaged(id, why string) error {
	const longest = 64
	return fmt.Errorf("audit/sqlite: %w: %.*q: %s", audit.ErrDamaged, longest, id, why)
}

// size is the number of bytes that the row's strings take in memory and on disk.
func (r *row) size() int64 {
	n := len(r.decisionID) + len(r.rest.String)
	for i := range r.columns {
		n += len(r.columns[i].String)
	}
	return int64(n)
}

// scan is the destination of a row of columnsSQL.
func (r *row) scan() []any {
	dst := []any{&r.seq, &r.decisionID, &r.at}
	for i := range r.columns {
		dst = append(dst, &r.columns[i])
	}
	return append(dst, &r.rest)
}

// appendArgs adds the parameters of a row of insertSQL.
func (r *row) appendArgs(args []driver.Value) []driver.Value {
	args = append(args, r.decisionID, r.at)
	for i := range r.columns {
		args = append(args, null(r.columns[i].String))
	}
	return append(args, r.rest.String, r.judged)
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
