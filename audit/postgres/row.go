package postgres

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/rows"
)

// row is a record as the table holds it.
type row struct {
	rows.Row
	id [16]byte // of what is written: DecisionID

	// Only of rows that were read.
	xid uint64
	seq int64
}

// encode sanitizes and encodes a record that Check let pass. Only a fault of our own makes
// it fail.
func encode(rec audit.Record) (row, error) {
	rec.Sanitize()
	r := row{Row: rows.Encode(rec)}
	if n, err := hex.Decode(r.id[:], []byte(strings.ReplaceAll(rec.DecisionID, "-", ""))); err != nil || n != len(r.id) {
		return row{}, errors.New("encode: the id")
	}
	return r, nil
}

// scan is the destination of a row of selectSQL.
func (r *row) scan() []any {
	dst := []any{&r.DecisionID, &r.At, &r.xid, &r.seq}
	for i := range r.Columns {
		dst = append(dst, &r.Columns[i])
	}
	return append(dst, &r.Rest)
}
