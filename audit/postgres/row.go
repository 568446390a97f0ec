package postgres

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// row is a record as the table holds it.
type row struct {
	id      [16]byte // of decision_id
	at      int64
	columns [columnCount]string
	rest    string

	// Only of rows that were read.
	decisionID string
	xid        uint64
	seq        int64
	readable   *string // rest; nil where it is too large to be one of ours
}

// columnCount is the number of text columns: rpc to delivered.
const columnCount = 10

// fields are the places of the text columns in a record, in the table's order.
func fields(rec *audit.Record) [columnCount]*string {
	return [...]*string{
		&rec.RPC, &rec.Tenant, &rec.Tool, &rec.RequestID, &rec.SessionID, &rec.ArgumentsDigest,
		&rec.FailureCode, &rec.Rejection.Reason, &rec.Decision, &rec.Delivered,
	}
}

// usualRest is the size in bytes that the JSON of nearly every record stays within.
const usualRest = 1024

// encode sanitizes and encodes a record that Check let pass. Only a fault of our own makes
// it fail.
func encode(rec audit.Record) (row, error) {
	rec.Sanitize()
	r := row{at: rec.At.UnixNano()}
	if n, err := hex.Decode(r.id[:], []byte(strings.ReplaceAll(rec.DecisionID, "-", ""))); err != nil || n != len(r.id) {
		return row{}, fmt.Errorf("encode: the id")
	}
	for i, p := range fields(&rec) {
		r.columns[i] = *p
	}
	rec.Rejection.Reason = "" // it has a column
	var room [usualRest]byte
	r.rest = string(rec.AppendJSON(room[:0]))
	return r, nil
}

// decode makes the record of a row. Names that this version does not know are ignored; a
// record is sanitized again, since other hands may have been at the table.
func (r *row) decode() (audit.Record, error) {
	if r.readable == nil {
		return audit.Record{}, damaged(r.decisionID, "its JSON is too large")
	}
	if !strings.HasPrefix(strings.TrimLeft(*r.readable, " \t\r\n"), "{") {
		return audit.Record{}, damaged(r.decisionID, "its JSON is no object")
	}
	var rec audit.Record
	if err := json.Unmarshal([]byte(*r.readable), &rec); err != nil {
		return audit.Record{}, damaged(r.decisionID, "its JSON cannot be read")
	}
	rec.DecisionID = r.decisionID
	rec.At = time.Unix(0, r.at).UTC()
	for i, p := range fields(&rec) {
		*p = r.columns[i]
	}
	rec.Sanitize()
	return rec, nil
}

// damaged names a row; it quotes the id because a damaged one may hold anything.
func damaged(id, why string) error {
	const longest = 64
	return fmt.Errorf("audit/postgres: %w: %.*q: %s", audit.ErrDamaged, longest, id, why)
}

// size is the number of bytes that the row's strings take in memory.
func (r *row) size() int64 {
	const id = 36
	n := id + len(r.rest)
	if r.readable != nil {
		n += len(*r.readable)
	}
	for i := range r.columns {
		n += len(r.columns[i])
	}
	return int64(n)
}

// scan is the destination of a row of selectSQL.
func (r *row) scan() []any {
	dst := []any{&r.decisionID, &r.at, &r.xid, &r.seq}
	for i := range r.columns {
		dst = append(dst, &r.columns[i])
	}
	return append(dst, &r.readable)
}
