package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// fill makes rows without going through the store: 40 tools, 500 sessions, 100
// tenants, few failures.
const fill = `INSERT INTO events (decision_id, at, rpc, tenant, tool, request_id, session_id, arguments_digest,
	failure_code, reason, decision, delivered, rest)
SELECT gen_random_uuid(), 1700000000000000000 + n * 1000000::bigint, 'validate', 'tenant-' || n % 100, 'tool-' || n % 40, 'req.' || n,
	'session-' || n / 100, md5((n % 1000)::text), CASE WHEN n % 50 = 0 THEN 'INVALID_RESPONSE' ELSE '' END,
	CASE WHEN n % 50 = 0 THEN 'SCHEMA' ELSE '' END, '', CASE WHEN n % 3 = 0 THEN '' ELSE 'trusted' END, '{}'
FROM generate_series(1, 50000) AS n`

// The main questions go along their indexes, whatever is asked for.
func TestPlans(t *testing.T) {
	dsn := database(t, server(t))
	s := mustOpen(t, dsn, Options{Readers: 1})
	execute(t, dsn, fill)
	execute(t, dsn, `ANALYZE events`)
	list := func(scope audit.Scope, f audit.Filter) query {
		q := query{order: newestFirst}
		q.scope(scope)
		q.filter(f)
		return q
	}
	all := audit.AllTenants()
	after := list(all, audit.Filter{})
	after.and(`at <= 1700000010000000000 AND (at, decision_id) < (1700000010000000000, '00000000-0000-0000-0000-000000000000'::uuid)`)
	var tail query
	mark{xid: 3, seq: 40000}.where(&tail)
	for _, c := range []struct {
		name, index string
		sql         string
		args        []any
	}{
		plan("newest", "events_at", list(all, audit.Filter{})),
		plan("next page", "events_at", after),
		plan("tenant", "events_tenant", list(audit.OnlyTenants("tenant-3"), audit.Filter{})),
		plan("tenants", "events_", list(audit.OnlyTenants("tenant-3", "tenant-4"), audit.Filter{})),
		plan("tool", "events_tool", list(all, audit.Filter{Tool: "tool-7"})),
		plan("request", "events_request_id", list(all, audit.Filter{RequestID: "req.77"})),
		plan("session", "events_session_id", list(all, audit.Filter{SessionID: "session-7"})),
		plan("failure", "events_failure_code", list(all, audit.Filter{FailureCode: "INVALID_RESPONSE"})),
		plan("reason", "events_reason", list(all, audit.Filter{Reason: "SCHEMA"})),
		{"latest", "events_latest", latestSQL, []any{"session-7", "tool-3", "x", "tenant-3"}},
		{"delivered", "events_delivered", deliveredSQL, []any{"session-7", "tenant-3", 1001}},
		{"tail", "events_written", `SELECT xid, seq FROM events WHERE ` + strings.Join(tail.where, ` AND `) + ` ORDER BY xid, seq LIMIT 5000`, tail.args},
		{"purge", "events_at", purgeEventsSQL, []any{int64(0), int64(1700000000000000000), int64(1000)}},
	} {
		rows, err := s.read.Query(t.Context(), `EXPLAIN `+c.sql, c.args...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, c.index) || strings.Contains(text, "Seq Scan on events") {
			t.Errorf("%s: the plan does not use %s:\n%s", c.name, c.index, text)
		}
		if c.index == "events_at" && c.name != "purge" && strings.Contains(text, "Sort") {
			t.Errorf("%s: the index is in order, and yet the plan sorts:\n%s", c.name, text)
		}
	}
	closeStore(t, s)
}

func plan(name, index string, q query) struct {
	name, index string
	sql         string
	args        []any
} {
	return struct {
		name, index string
		sql         string
		args        []any
	}{name, index, q.sql(51), q.args}
}

// A damaged row is named and hides no other; a reader out of its scope hears nothing.
func TestDamaged(t *testing.T) {
	dsn := database(t, server(t))
	s := mustOpen(t, dsn, Options{})
	start := mustMark(t, s, "")
	for n := range 6 {
		if err := appendRecord(t.Context(), s, audittest.Record(n)); err != nil {
			t.Fatal(err)
		}
	}
	damage := map[int]string{1: `[]`, 2: `{"attempt": "x"}`, 3: `{"caller": "` + strings.Repeat("x", 300_000) + `"}`, 4: `"text"`}
	for n, rest := range damage {
		execute(t, dsn, fmt.Sprintf(`UPDATE events SET rest = '%s' WHERE decision_id = '%s'`, rest, audittest.ID(n)))
	}
	records, _, err := s.List(t.Context(), audit.AllTenants(), audit.Filter{}, 10, "")
	if len(records) != 2 || !errors.Is(err, audit.ErrDamaged) {
		t.Errorf("List = %d records, %v", len(records), err)
	}
	for n := range damage {
		if err == nil || !strings.Contains(err.Error(), audittest.ID(n)) {
			t.Errorf("%d is not named: %v", n, err)
		}
		if _, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(n)); !errors.Is(err, audit.ErrDamaged) {
			t.Errorf("Get(%d) = %v", n, err)
		}
		if _, err := s.Get(t.Context(), audit.OnlyTenants("other"), audittest.ID(n)); !errors.Is(err, audit.ErrNotFound) {
			t.Errorf("Get(%d) out of scope = %v", n, err)
		}
	}
	if got, _ := tailAll(t, s, start); len(got) != 2 {
		t.Errorf("Tail met %v", got)
	}
	closeStore(t, s)
}
