package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/internal/base64url"
)

// mark is a place in the order of writing, after a row of that transaction and number.
type mark struct {
	xid uint64
	seq int64
	// A mark for what is durable now is more than a place: transactions that run then are
	// after it, and those beside them that have ended are before it. next is the first
	// transaction that had not begun; of those before it only the ones in open, ascending,
	// are after the mark. 0 where all after the place are.
	next uint64
	open []uint64
}

const (
	markVersion = 1
	markHead    = 1 + 8 + 8 + 8
	markSum     = 4
	maxMarkSize = audit.MaxPageToken * 3 / 4
)

// token writes a mark, and reports whether it has room for it.
func (m mark) token() (string, bool) {
	buf := append(make([]byte, 0, maxMarkSize), markVersion)
	buf = binary.BigEndian.AppendUint64(buf, m.xid)
	buf = binary.BigEndian.AppendUint64(buf, uint64(m.seq)) //nolint:gosec // the bits, not the number
	buf = binary.BigEndian.AppendUint64(buf, m.next)
	last := uint64(0)
	for _, xid := range m.open {
		buf = binary.AppendUvarint(buf, xid-max(last, m.xid))
		last = xid
	}
	buf = append(buf, checksum(buf)...)
	return base64url.Encode(buf), len(buf) <= maxMarkSize
}

// checksum tells a mistaken reader of what is no mark; it protects nothing.
func checksum(head []byte) []byte {
	sum := sha256.Sum256(head)
	return sum[:markSum]
}

// parseMark reads what token wrote.
func parseMark(token string) (mark, error) {
	bad := fmt.Errorf("%w: it is no mark of this service", audit.ErrBadPageToken)
	if len(token) > audit.MaxPageToken {
		return mark{}, bad
	}
	buf, ok := base64url.Decode(token)
	if !ok || len(buf) < markHead+markSum || buf[0] != markVersion {
		return mark{}, bad
	}
	buf, sum := buf[:len(buf)-markSum], buf[len(buf)-markSum:]
	if !bytes.Equal(sum, checksum(buf)) {
		return mark{}, bad
	}
	m := mark{
		xid:  binary.BigEndian.Uint64(buf[1:]),
		seq:  int64(binary.BigEndian.Uint64(buf[9:])), //nolint:gosec // the bits, not the number
		next: binary.BigEndian.Uint64(buf[17:]),
	}
	last := m.xid
	for rest := buf[markHead:]; len(rest) > 0; {
		step, n := binary.Uvarint(rest)
		if n <= 0 || step > m.next || last > m.next-step { // a sum that cannot wrap around
			return mark{}, bad
		}
		last += step
		m.open = append(m.open, last)
		rest = rest[n:]
	}
	if m.xid > math.MaxInt64 || m.next > math.MaxInt64 || m.seq < 0 {
		return mark{}, bad
	}
	return m, nil
}

// passed returns the mark after a row that follows it.
func (m mark) passed(xid uint64, seq int64) mark {
	m.xid, m.seq = xid, seq
	m.open = slices.DeleteFunc(slices.Clone(m.open), func(x uint64) bool { return x < xid })
	if xid >= m.next {
		m.next, m.open = 0, nil
	}
	return m
}

// where keeps to what comes after the mark and can no longer change.
func (m mark) where(q *query) {
	q.and(`(xid, seq) > (` + q.arg(m.xid) + `::xid8, ` + q.arg(m.seq) + `::bigint) AND xid < pg_snapshot_xmin(pg_current_snapshot())`)
	if m.next != 0 {
		q.and(`(xid >= ` + q.arg(m.next) + `::xid8 OR xid = ANY (` + q.arg(m.open) + `::xid8[]))`)
	}
}

// Mark implements [audit.Store].
func (s *Store) Mark(ctx context.Context, scope audit.Scope, decisionID string) (string, error) {
	var m mark
	if decisionID != "" {
		r, err := s.find(ctx, "mark", scope, decisionID)
		if err != nil {
			return "", err
		}
		m = mark{xid: r.xid, seq: r.seq}
	} else {
		var snapshot string
		if err := s.read.QueryRow(ctx, `SELECT pg_current_snapshot()::text`).Scan(&snapshot); err != nil {
			return "", s.readError(ctx, "mark", err)
		}
		var err error
		if m, err = now(snapshot); err != nil {
			return "", s.readError(ctx, "mark", err)
		}
	}
	token, fits := m.token()
	if !fits {
		// Too many transactions run to name them. Those that ended after the oldest of them
		// began are met again, which is better than to miss one.
		token, _ = mark{xid: m.xid, seq: m.seq}.token()
	}
	return token, nil
}

// now reads PostgreSQL's text of a snapshot, xmin:xmax:xip,…: all before xmin has ended,
// nothing from xmax on had begun, and between them the list was running.
func now(snapshot string) (mark, error) {
	parts := strings.Split(snapshot, ":")
	if len(parts) != 3 {
		return mark{}, fmt.Errorf("snapshot %q", snapshot)
	}
	xmin, err := strconv.ParseUint(parts[0], 10, 63)
	if err != nil {
		return mark{}, err
	}
	m := mark{xid: xmin, seq: 0}
	if m.next, err = strconv.ParseUint(parts[1], 10, 63); err != nil {
		return mark{}, err
	}
	for word := range strings.SplitSeq(parts[2], ",") {
		if word == "" {
			continue
		}
		xid, err := strconv.ParseUint(word, 10, 63)
		if err != nil {
			return mark{}, err
		}
		m.open = append(m.open, xid)
	}
	slices.Sort(m.open)
	return m, nil
}

const (
	// window is the number of rows that one statement of a tail looks at.
	window = 5000
	// A tail that sees only rows of transactions that may still be overtaken waits for
	// those before them, so long and so often.
	tailPatience = time.Second
	tailLook     = 5 * time.Millisecond
)

// Tail implements [audit.Store].
func (s *Store) Tail(ctx context.Context, scope audit.Scope, filter audit.Filter, token string, limit int) ([]audit.Record, string, error) {
	m, err := parseMark(token)
	if err != nil {
		return nil, "", fmt.Errorf("audit/postgres: tail: %w", err)
	}
	limit = min(max(limit, 1), audit.MaxPageSize)
	filter = filter.Sanitized()
	patience := time.NewTimer(tailPatience)
	defer patience.Stop()
	for {
		end, found, err := s.windowEnd(ctx, m)
		if err != nil {
			return nil, "", s.readError(ctx, "tail", err)
		}
		if found {
			records, next, err := s.tailWindow(ctx, scope, filter, m, end, limit)
			if err != nil {
				return nil, "", s.readError(ctx, "tail", err)
			}
			if m = next; len(records) == 0 {
				continue // nothing for this reader there
			}
			token, _ := m.token() // it names no more than the one before
			return records, token, nil
		}
		soon, err := s.soon(ctx, m)
		if err != nil {
			return nil, "", err
		}
		if soon {
			select {
			case <-ctx.Done():
				return nil, "", s.readError(ctx, "tail", ctx.Err())
			case <-time.After(tailLook):
				continue
			case <-patience.C:
			}
		}
		token, _ := m.token()
		return nil, token, nil
	}
}

// windowEnd finds the last row of the next ones after a mark.
func (s *Store) windowEnd(ctx context.Context, m mark) (end mark, found bool, err error) {
	var q query
	m.where(&q)
	rows, _ := s.read.Query(ctx, `SELECT xid, seq FROM (SELECT xid, seq FROM events WHERE `+strings.Join(q.where, ` AND `)+
		` ORDER BY xid, seq LIMIT `+strconv.Itoa(window)+`) w ORDER BY xid DESC, seq DESC LIMIT 1`, q.args...) //nolint:errcheck // it comes again from the rows
	defer rows.Close()
	if found = rows.Next(); found {
		if err := rows.Scan(&end.xid, &end.seq); err != nil {
			return mark{}, false, err
		}
	}
	rows.Close()
	return end, found, rows.Err()
}

// tailWindow reads what a reader may see of a window, and where it came to.
func (s *Store) tailWindow(ctx context.Context, scope audit.Scope, filter audit.Filter, from, end mark, limit int) ([]audit.Record, mark, error) {
	q := query{order: `xid, seq`}
	from.where(&q)
	q.and(`(xid, seq) <= (` + q.arg(end.xid) + `::xid8, ` + q.arg(end.seq) + `::bigint)`)
	q.scope(scope)
	q.filter(filter)
	p, err := s.page(ctx, &q, limit)
	if err != nil {
		return nil, mark{}, err
	}
	if p.More {
		return p.Records, from.passed(p.last.xid, p.last.seq), nil
	}
	return p.Records, from.passed(end.xid, end.seq), nil
}

// soon reports whether rows are there that wait for a transaction before them. It refuses
// a mark that no past of this server has.
func (s *Store) soon(ctx context.Context, m mark) (bool, error) {
	var waiting, future bool
	q := query{}
	next, xid := q.arg(max(m.next, m.xid)), q.arg(m.xid)
	err := s.read.QueryRow(ctx, `SELECT EXISTS (SELECT FROM events WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) AND xid >= `+next+`::xid8
		AND (xid, seq) > (`+xid+`::xid8, `+q.arg(m.seq)+`::bigint)),
		`+next+`::xid8 > pg_snapshot_xmax(pg_current_snapshot())`, q.args...).Scan(&waiting, &future)
	switch {
	case err != nil:
		return false, s.readError(ctx, "tail", err)
	case future:
		return false, fmt.Errorf("audit/postgres: tail: %w: it is of another server", audit.ErrBadPageToken)
	}
	return waiting, nil
}
