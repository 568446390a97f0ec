package server

import (
	"strings"
	"testing"
	"time"
)

// D8, A10: a vendor's addition reaches no agent and no log, is counted in every event
// and said once in the log.
func TestDroppedMembersAreLogged(t *testing.T) {
	s := start(t, func(s *setup) {
		s.deps.Clock = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	})
	req := call("vendor_review", []byte(`{"number":1042,"MARKER1":"MARKER2","review":{"state":"APPROVED","user":{"login":"ana","MARKER3":{}}}}`))
	req.Request.ArgumentsJson = `{"change_id":"CR-1042"}`
	for range 2 {
		reply, err := s.gate.Validate(ctxFor(t), req)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := reply.GetResult().GetData().GetJson(), `{"change_id":"CR-1042","decision":"approved","reviewed_by":"ana"}`; got != want {
			t.Errorf("data %s, want %s", got, want)
		}
		if strings.Contains(reply.String(), "MARKER") {
			t.Errorf("reply %v", reply)
		}
		if got := s.event(t, reply.GetDecisionId()).GetSignals()["unnamed_members"]; got != 2 {
			t.Errorf("%d dropped members in the event", got)
		}
	}
	log := s.log.String()
	if strings.Count(log, `"tool":"vendor_review","version":1,"owner":"review-platform","contract_digest":"`) != 1 || !strings.Contains(log, `"dropped":2`) || strings.Contains(log, "MARKER") {
		t.Errorf("log:\n%s", log)
	}
}
