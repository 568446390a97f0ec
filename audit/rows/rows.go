// Package rows is what the stores that keep records in tables have in common: which fields
// of a record have columns of their own, what the rest is, and what a page is.
package rows

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// Names are the text columns, in the order of [Row.Columns], as SQL lists them.
const Names = `rpc, tenant, tool, request_id, session_id, failure_code, reason, decision, arguments_digest, delivered`

// Count is the number of text columns.
const Count = 10

// Row is a record as a table holds it.
type Row struct {
	DecisionID string
	At         int64         // nanoseconds since 1970
	Columns    [Count]string // "" for a field that is not set
	// Rest is everything else, as JSON; "" where it is larger than any version of the
	// service can have written, and was not read.
	Rest string
}

// fields are the places of the text columns in a record, in the order of Names.
func fields(rec *audit.Record) [Count]*string {
	return [...]*string{
		&rec.RPC, &rec.Tenant, &rec.Tool, &rec.RequestID, &rec.SessionID,
		&rec.FailureCode, &rec.Rejection.Reason, &rec.Decision, &rec.ArgumentsDigest, &rec.Delivered,
	}
}

// usualRest is the size in bytes that the JSON of nearly every record stays within.
const usualRest = 1024

// Encode makes the row of a sanitized record. Its time is within what
// [audit.Record.Check] lets pass.
func Encode(rec audit.Record) Row {
	r := Row{DecisionID: rec.DecisionID, At: rec.At.UnixNano()}
	for i, p := range fields(&rec) {
		r.Columns[i] = *p
	}
	rec.Rejection.Reason = "" // it has a column
	var room [usualRest]byte
	r.Rest = string(rec.AppendJSON(room[:0]))
	return r
}

// Decode makes the record of a row. Names that this version does not know are ignored; a
// record is sanitized again, since other hands may have been at the table. The error
// matches [audit.ErrDamaged].
func (r *Row) Decode() (audit.Record, error) {
	switch text := strings.TrimLeft(r.Rest, " \t\r\n"); {
	case r.Rest == "":
		return audit.Record{}, damaged(r.DecisionID, "its JSON is too large")
	case !strings.HasPrefix(text, "{"):
		return audit.Record{}, damaged(r.DecisionID, "its JSON is no object")
	}
	var rec audit.Record
	if err := json.Unmarshal([]byte(r.Rest), &rec); err != nil {
		return audit.Record{}, damaged(r.DecisionID, "its JSON cannot be read")
	}
	rec.DecisionID = r.DecisionID
	rec.At = time.Unix(0, r.At).UTC()
	for i, p := range fields(&rec) {
		*p = r.Columns[i]
	}
	rec.Sanitize()
	return rec, nil
}

// Newest reads what [audit.Store.Latest] answers of a row: its id and its rest, "" where it
// was read without. The error matches [audit.ErrDamaged].
func Newest(decisionID, rest string) (audit.Newest, error) {
	n := audit.Newest{DecisionID: decisionID}
	if rest == "" {
		return audit.Newest{}, damaged(decisionID, "its JSON is too large")
	}
	if err := n.ReadJSON(rest); err != nil {
		return audit.Newest{}, damaged(decisionID, "its JSON cannot be read")
	}
	return n, nil
}

// damaged names a row; it quotes the id because a damaged one may hold anything.
func damaged(id, why string) error {
	const longest = 64
	return fmt.Errorf("%w: %.*q: %s", audit.ErrDamaged, longest, id, why)
}

// Tenant is whose record it is.
func (r *Row) Tenant() string { return r.Columns[1] }

// Size is the number of bytes that the row's strings take in memory and on disk.
func (r *Row) Size() int64 {
	n := len(r.DecisionID) + len(r.Rest)
	for i := range r.Columns {
		n += len(r.Columns[i])
	}
	return int64(n)
}

// Page is what one read of a table gave.
type Page struct {
	Records []audit.Record
	// More says that a row was left out.
	More bool
	// Damage holds an error for each row that cannot be read.
	Damage []error

	seen  int
	bytes int64
	last  audit.Cursor
}

// Add adds a row; false where the page has size rows already, or would exceed
// [audit.MaxPageBytes] with more than one.
func (p *Page) Add(r *Row, size int) bool {
	if p.seen == size || p.seen > 0 && p.bytes+r.Size() > audit.MaxPageBytes {
		p.More = true
		return false
	}
	p.seen++
	p.bytes += r.Size()
	p.last = audit.Cursor{At: time.Unix(0, r.At), DecisionID: r.DecisionID}
	rec, err := r.Decode()
	if err != nil {
		p.Damage = append(p.Damage, err)
		return true
	}
	p.Records = append(p.Records, rec)
	return true
}

// Next is the token of the page after this one; "" where there is none.
func (p *Page) Next(scope audit.Scope, filter audit.Filter) string {
	if !p.More {
		return ""
	}
	return p.last.Token(scope, filter)
}

// PageSize is the number of records of a page for which a reader asks.
func PageSize(asked int) int {
	if asked <= 0 {
		asked = audit.DefaultPageSize
	}
	return min(asked, audit.MaxPageSize)
}

// Equal yields the columns that must have a value for a filter to let a row pass.
func Equal(f audit.Filter) iter.Seq2[string, string] {
	return func(yield func(column, value string) bool) {
		for _, c := range [...]struct{ column, value string }{
			{"request_id", f.RequestID},
			{"session_id", f.SessionID},
			{"tool", f.Tool},
			{"reason", f.Reason},
			{"failure_code", f.FailureCode},
			{"rpc", f.RPC},
			{"decision", f.Decision},
			{"tenant", f.Tenant},
		} {
			if c.value != "" && !yield(c.column, c.value) {
				return
			}
		}
	}
}

// Nanos is t in nanoseconds since 1970, or the nearest number of 64 bits.
func Nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	default:
		return t.UnixNano()
	}
}
