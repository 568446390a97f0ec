package server

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// collector is an OTLP receiver that keeps what it gets.
type collector struct {
	mu  sync.Mutex
	got map[string]string // by path
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			return
		}
		body = unzipped
	}
	content, _ := io.ReadAll(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got[r.URL.Path] += string(content)
}

// Traces and metrics go where the standard variables say, with the decision id and
// nothing of a call.
func TestTelemetry(t *testing.T) {
	c := &collector{got: map[string]string{}}
	receiver := httptest.NewServer(c)
	defer receiver.Close()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.URL}
	for k, v := range env {
		t.Setenv(k, v) // the exporters read it themselves
	}
	s := start(t, func(s *setup) { s.deps.Getenv = func(name string) string { return env[name] } })
	reply, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(strings.Replace(accepted, "Ana", "SECRET", 1))))
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	if err := <-s.ended; err != nil { // closed: whoever asks again gets nil
		t.Fatal(err)
	}
	traces, metrics := c.got["/v1/traces"], c.got["/v1/metrics"]
	for _, want := range []string{"hallmark.v1.GateService/Validate", "hallmark.decision_id", reply.GetDecisionId(), "service.name"} {
		if !strings.Contains(traces, want) {
			t.Errorf("%s is not in the traces", want)
		}
	}
	if !strings.Contains(metrics, "hallmark_calls_total") {
		t.Error("the metrics are not there")
	}
	if all := traces + metrics; strings.Contains(all, "SECRET") || strings.Contains(all, requestID) {
		t.Error("something of the call is in what was sent")
	}
}

func TestTelemetryAsksFirst(t *testing.T) {
	for _, row := range []struct {
		line  string
		env   map[string]string
		stops int
		fault bool
	}{
		{"nothing", nil, 0, false},
		{"switched off", map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, 0, false},
		{"traces only", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, 1, false},
		{"metrics only", map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1"}, 1, false},
		{"by gRPC", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, 0, true},
		{"none of one", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, 1, false},
		{"another exporter", map[string]string{"OTEL_TRACES_EXPORTER": "console"}, 0, true},
		{"another protocol", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, 0, true},
	} {
		t.Run(row.line, func(t *testing.T) {
			got, err := newTelemetry(context.Background(), func(name string) string { return row.env[name] }, prometheus.NewRegistry(), discard())
			if (err != nil) != row.fault || len(got.stops) != row.stops {
				t.Errorf("%d, %v", len(got.stops), err)
			}
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			_ = got.stop(ended) // nobody listens
		})
	}
}
