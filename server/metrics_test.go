package server

import (
	"net/http"
	"strings"
	"testing"
)

// What was judged is counted by fixed words; nothing of a payload is a label. B12
func TestCallMetrics(t *testing.T) {
	s := start(t)
	for _, raw := range []string{
		accepted,
		strings.Replace(accepted, "Ana", `Ana\u202e`, 1),
		`{"SECRET":1,"SECRET":2}`,
	} {
		if _, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(raw))); err != nil {
			t.Fatal(err)
		}
	}
	code, body := get(t, s.ops+"/metrics")
	for _, line := range []string{
		`hallmark_calls_total{failure_code="",layer="",reason="",rpc="validate"} 2`,
		`hallmark_calls_total{failure_code="INVALID_RESPONSE",layer="SYNTAX",reason="DUPLICATE_NAME",rpc="validate"} 1`,
		`hallmark_signals_total{signal="removed.bidi_control"} 1`,
		`hallmark_connector_faults_total{owner="review-platform",reason="DUPLICATE_NAME",tool="review_status",version="1"} 1`,
		`hallmark_stage_duration_seconds_count{rpc="validate",stage="read"} 3`,
		`hallmark_stage_duration_seconds_count{rpc="validate",stage="schema"} 2`,
		`hallmark_stage_duration_seconds_count{rpc="validate",stage="project"} 2`,
		`hallmark_stage_duration_seconds_count{rpc="validate",stage="record"} 3`,
		`hallmark_audit_append_duration_seconds_count{result="written"} 3`,
		`hallmark_audit_waiting_records 0`,
		`hallmark_audit_ready 1`,
	} {
		if code != http.StatusOK || !strings.Contains(body, line+"\n") {
			t.Errorf("%s is not in\n%s", line, body)
		}
	}
	if strings.Contains(body, "SECRET") {
		t.Error("a word of the call stands in the metrics")
	}
}
