package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hallmark-gate/hallmark/audit"
)

// answering is a store whose Append and Ready answer as told.
type answering struct {
	audit.Store
	outcome audit.Outcome
	err     error
	ready   error
	seen    func()
}

func (s *answering) Append(context.Context, audit.Entry) (audit.Outcome, error) {
	s.seen()
	return s.outcome, s.err
}

func (s *answering) Ready(context.Context) error { return s.ready }

// Every answer of the store is counted under its word, passed on as it is, and waited for
// by one record.
func TestMeasuredStore(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		line    string
		ctx     context.Context
		outcome audit.Outcome
		err     error
		want    string
	}{
		{"a record", context.Background(), audit.Outcome{}, nil, "written"},
		{"a repeat", context.Background(), audit.Outcome{Repeated: true}, nil, "repeated"},
		{"nothing left", context.Background(), audit.Outcome{Short: []int{0}}, nil, "spent"},
		{"no room in the queue", context.Background(), audit.Outcome{}, errors.Join(audit.ErrFull), "full"},
		{"no room, and the caller has gone", ended, audit.Outcome{}, audit.ErrFull, "full"},
		{"the caller has gone", ended, audit.Outcome{}, context.Canceled, "left"},
		{"a disk that failed", context.Background(), audit.Outcome{}, audit.ErrUnavailable, "failed"},
	} {
		store := &answering{outcome: c.outcome, err: c.err, ready: c.err}
		m := newMeasuredStore(store)
		store.seen = func() {
			if n := m.waiting.Load(); n != 1 {
				t.Errorf("%s: %d records wait", c.line, n)
			}
		}
		o, err := m.Append(c.ctx, audit.Entry{})
		if !errors.Is(err, c.err) || o.Repeated != c.outcome.Repeated || len(o.Short) != len(c.outcome.Short) {
			t.Errorf("%s: %+v, %v", c.line, o, err)
		}
		ready := "1"
		if c.err != nil {
			ready = "0"
		}
		page := httptest.NewRecorder()
		registry := prometheus.NewRegistry()
		registry.MustRegister(m)
		metricsPage(registry).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		for _, line := range []string{
			`hallmark_audit_append_duration_seconds_count{result="` + c.want + `"} 1`,
			"hallmark_audit_waiting_records 0", "hallmark_audit_ready " + ready,
		} {
			if body := page.Body.String(); !strings.Contains(body, line+"\n") || strings.Count(body, "_count{") != 1 {
				t.Errorf("%s: %s is not in\n%s", c.line, line, body)
			}
		}
	}
}
