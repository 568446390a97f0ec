package sqlite

import (
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// No list reads the whole table or sorts more than the rows of one nanosecond.
func TestQueryPlans(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	defer closeStore(t, s)
	one, some := audit.OnlyTenants("acme"), audit.OnlyTenants("acme", "other")
	for _, c := range []struct {
		name   string
		scope  audit.Scope
		filter audit.Filter
		index  string
	}{
		{"all", audit.AllTenants(), audit.Filter{}, "events_at"},
		{"some tenants", some, audit.Filter{}, "events_"},
		{"one tenant", one, audit.Filter{}, "events_tenant"},
		{"tool", audit.AllTenants(), audit.Filter{Tool: "x"}, "events_tool"},
		{"request id", audit.AllTenants(), audit.Filter{RequestID: "x"}, "events_request_id"},
		{"session id", audit.AllTenants(), audit.Filter{SessionID: "x"}, "events_session_id"},
		{"reason", audit.AllTenants(), audit.Filter{Reason: "x"}, "events_reason"},
		{"failure code", audit.AllTenants(), audit.Filter{FailureCode: "x"}, "events_failure_code"},
		{"rpc", audit.AllTenants(), audit.Filter{RPC: "x"}, "events_at"},
	} {
		for _, paged := range []bool{false, true} {
			var q query
			q.scope(c.scope)
			q.filter(c.filter)
			if paged {
				q.after(audit.Cursor{At: audittest.Record(1).At, DecisionID: audittest.ID(1)})
			}
			plan := explainPlan(t, s, q.String(), append(q.args, 51)...)
			if !strings.Contains(plan, "USING INDEX "+c.index) || strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") {
				t.Errorf("%s, paged %t:\n%s\nwant %s and no full sort", c.name, paged, plan, c.index)
			}
		}
	}
}

// What the service itself asks for at every call is one search of one index.
func TestSearchPlans(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	defer closeStore(t, s)
	some, filter := audit.OnlyTenants("acme", "other"), audit.Filter{Tool: "x", SessionID: "x", Tenant: "acme"}
	tail := tailQuery(some, filter, 5, 10)
	original := query{}
	original.and(`decision_id = ? AND keep_until > ?`, audittest.ID(1), 0)
	original.scope(some)
	for _, c := range []struct {
		name, statement string
		args            []any
		want            []string
	}{
		{"latest", latestSQL, []any{"s", "t", "x", "d", 1}, []string{
			"INDEX events_judged (judged=?)", "INDEX events_latest (tenant=? AND session_id=? AND tool=? AND arguments_digest=?)",
		}},
		{"latest, no arguments", latestSQL, []any{"s", nil, nil, nil, 1}, []string{
			"INDEX events_judged (judged=?)", "INDEX events_latest (tenant=? AND session_id=? AND tool=? AND arguments_digest=?)",
		}},
		{"delivered", deliveredSQL, []any{"s", "t", 10}, []string{
			"INDEX events_delivered (tenant=? AND session_id=?)", "INDEX events_delivered (tenant=? AND session_id=? AND <expr>>?)",
		}},
		{"tail", tail.tail(), append(tail.args, 51), []string{"USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}},
		{"tail, next", nextSQL, []any{5}, []string{"USING INTEGER PRIMARY KEY (rowid>?)"}},
		{"recall", recallSQL, []any{[]byte{}, 0}, []string{"SEARCH memos USING INDEX"}},
		{"known", knownSQL, []any{""}, []string{"SEARCH events USING COVERING INDEX"}},
		{"used", usedSQL, []any{[]byte{}, 0}, []string{"SEARCH claims USING PRIMARY KEY"}},
		{"original", originalSQL + original.conditions(), original.args, []string{"SEARCH events USING INDEX", "SEARCH originals USING INTEGER PRIMARY KEY"}},
		{"purge, oldest", oldestSQL, []any{0, 500}, []string{"events_at (at<?)", "SEARCH originals USING INTEGER PRIMARY KEY"}},
	} {
		plan := explainPlan(t, s, c.statement, c.args...)
		for _, want := range c.want {
			if !strings.Contains(plan, want) {
				t.Errorf("%s:\n%s\nwant %s", c.name, plan, want)
			}
		}
		if strings.Contains(plan, "B-TREE FOR ORDER BY") || strings.Contains(plan, "SCAN events") || strings.Contains(plan, "SCAN originals") {
			t.Errorf("%s:\n%s\nwant no scan and no full sort", c.name, plan)
		}
	}
}

func explainPlan(t *testing.T, s *Store, statement string, args ...any) string {
	t.Helper()
	rows, err := s.read.Query("EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var a, b, c int
		var detail string
		if err := rows.Scan(&a, &b, &c, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
