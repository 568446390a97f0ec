package semantic

import (
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

// A14: conditions see the payload, the request, the evidence and the clock.
func TestCEL(t *testing.T) {
	facts := validators.Facts{
		Result: value(t, `{"project_id":"blue","count":3,"runs":[{"run_id":"run_1"}],"at":"2026-01-15T11:59:00Z"}`),
		Request: validators.Request{
			Tool: "list_runs", RequestID: "req.1", SessionID: "s1", Attempt: 2, IssuedAt: noon.Add(-time.Second),
			Arguments: value(t, `{"project_id":"blue"}`),
		},
		Evidence: []validators.Evidence{{Tool: "job_status", Version: 3, Data: value(t, `{"state":"failed"}`), ObservedAt: noon.Add(-time.Minute)}},
		Now:      noon,
	}
	for _, row := range []struct {
		expr string
		pass bool
	}{
		{`result.runs.all(r, r.run_id.startsWith("run_"))`, true},
		{`result.runs.all(r, r.run_id.startsWith("nur_"))`, false},
		{`result.project_id == request.arguments.project_id`, true},
		{`request.tool == "list_runs" && request.request_id == "req.1" && request.session_id == "s1" && request.attempt == 2`, true},
		{`request.issued_at < now && now - request.issued_at == duration("1s")`, true},
		{`evidence.exists(e, e.tool == "job_status" && e.version == 3 && e.data.state == "failed" && e.observed_at < now)`, true},
		{`evidence[0].data.nope == "x"`, false},
		{`request.arguments.since == "x"`, false},
		{`!has(request.arguments.since)`, true},
		{`timestamp(result.at) > now - duration("5m")`, true},
		{`timestamp(result.project_id) > now`, false},
		{`result.count / (result.count - 3) == 1`, false},
		{`result.runs.all(a, result.runs.all(b, a == b))`, true},
	} {
		check, err := compile(t, "cel", validators.CheckContext{
			With:   value(t, `{"expr":`+quote(row.expr)+`}`),
			Result: shape(t, resultSchema), Arguments: shape(t, argumentSchema),
		})
		if err != nil {
			t.Errorf("%s: %v", row.expr, err)
			continue
		}
		reason := contract.ReasonCheck
		if row.pass {
			reason = ""
		}
		expect(t, check.Check(facts), reason, "")
	}
}

func TestCELWithoutClock(t *testing.T) {
	check := mustCompile(t, "cel", `{"expr":"now > timestamp('2000-01-01T00:00:00Z')"}`)
	expect(t, check.Check(validators.Facts{Result: value(t, `{}`)}), contract.ReasonCheck, "")
	check = mustCompile(t, "cel", `{"expr":"now > timestamp('2000-01-01T00:00:00Z') || true"}`)
	expect(t, check.Check(validators.Facts{Result: value(t, `{}`), Now: noon}), "", "")
}

func TestCELCostsAreBounded(t *testing.T) {
	check := mustCompile(t, "cel", `{"expr":"result.all(a, result.all(b, a == b))"}`)
	f := validators.Facts{Result: value(t, "["+strings.Repeat("0,", 99_998)+"0]"), Now: noon}
	expect(t, check.Check(f), contract.ReasonCheck, "")
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
