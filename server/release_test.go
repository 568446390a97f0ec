package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
)

// silent is an address where connections are taken and nothing is ever answered.
func silent(t *testing.T) string {
	t.Helper()
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}))
	t.Cleanup(func() { close(gone); s.Close() })
	return s.URL
}

// Whoever is told of what happened and does not listen changes nothing of a clean end: it
// is said, and the store has its time.
func TestEndWithNobodyListening(t *testing.T) {
	for _, where := range []struct {
		line string
		url  func(*testing.T) string
	}{
		{"nobody there", func(*testing.T) string { return "http://127.0.0.1:1" }},
		{"never an answer", silent},
	} {
		t.Run(where.line, func(t *testing.T) {
			url := where.url(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url) // the exporters read it themselves
			var left time.Duration
			s := start(t, func(s *setup) {
				s.deps.Getenv = os.Getenv
				s.cfg.NoticeURL, s.cfg.NoticeSecretFile = url, filepath.Join(t.TempDir(), "secret")
				write(t, s.cfg.NoticeSecretFile, strings.Repeat("s", 32))
				s.deps.OpenStore = func(ctx context.Context, dir string) (audit.Store, error) {
					store, err := openSQLite(ctx, dir)
					return &timedStore{store, &left}, err
				}
			})
			if _, err := s.gate.Validate(ctxFor(t), call("review_status", []byte("{"))); err != nil {
				t.Fatal(err)
			}
			s.stop()
			if err := <-s.ended; err != nil {
				t.Errorf("Run: %v", err)
			}
			if left < storeTimeout-time.Second {
				t.Errorf("the store had %s of its %s", left, storeTimeout)
			}
			told := map[any]bool{}
			for _, line := range s.log.lines(t, "not all was sent before the end") {
				told[line["what"]] = line["level"] == "WARN"
			}
			if !told["telemetry"] || !told["notices"] || len(s.log.lines(t, "not released")) > 0 {
				t.Errorf("log:\n%s", s.log)
			}
		})
	}
}

// timedStore notes how much time it gets to close.
type timedStore struct {
	audit.Store
	left *time.Duration
}

func (s *timedStore) Close(ctx context.Context) error {
	if at, bounded := ctx.Deadline(); bounded {
		*s.left = time.Until(at)
	}
	return s.Store.Close(ctx)
}

// The store's end is the only one that counts; what serves ends before it, in reverse
// order, and what is told after it.
func TestReleaseOrder(t *testing.T) {
	var order []string
	one := func(name string, err error) cleanup {
		return cleanup{name, func(context.Context) error { order = append(order, name); return err }}
	}
	fault := errors.New("broken")
	log := &lockedBuffer{}
	r := &releases{
		log: slog.New(slog.NewJSONHandler(log, nil)), store: one("store", nil),
		serving: []cleanup{one("first", fault), one("second", nil)}, aside: []cleanup{one("told", fault)},
	}
	if err := r.release(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(order, " "); got != "second first store told" {
		t.Errorf("order: %s", got)
	}
	if n := strings.Count(log.String(), "WARN"); n != 2 {
		t.Errorf("log:\n%s", log)
	}
	r.store = one("audit store", fault)
	if err := r.release(); !errors.Is(err, fault) || !strings.Contains(err.Error(), "releasing the audit store") {
		t.Errorf("%v", err)
	}
	if err := (&releases{log: discard()}).release(); err != nil {
		t.Errorf("nothing was opened: %v", err)
	}
}

// Who is told to stop during the start stops, and is at no fault.
func TestStopDuringTheStart(t *testing.T) {
	for _, row := range []struct {
		line string
		open func(context.CancelFunc, context.Context) (audit.Store, error)
	}{
		{"before it", nil},
		{"while the store is opened", func(stop context.CancelFunc, ctx context.Context) (audit.Store, error) {
			stop()
			return nil, ctx.Err()
		}},
	} {
		t.Run(row.line, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			log := &lockedBuffer{}
			s := newSetup(t)
			s.deps.Log = slog.New(slog.NewJSONHandler(log, nil))
			if row.open == nil {
				stop()
			} else {
				s.deps.OpenStore = func(context.Context, string) (audit.Store, error) { return row.open(stop, ctx) }
			}
			app, err := New(s.cfg, s.deps)
			if err != nil {
				t.Fatal(err)
			}
			if err := app.Run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
			if n := len(log.lines(t, "told to stop before anything was served")); n != 1 {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

// gathered is what /metrics shows of a collector.
func gathered(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	page := httptest.NewRecorder()
	metricsPage(registry).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return page.Body.String()
}

// A closed store is neither ready nor lost: the last metrics do not raise an alarm.
func TestMetricsOfAClosedStore(t *testing.T) {
	m := newMeasuredStore(&brokenStore{})
	before := gathered(t, m)
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if after := gathered(t, m); !strings.Contains(before, "hallmark_audit_ready 1") || strings.Contains(after, "hallmark_audit_ready") {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A port that is taken is said with its setting and what to do.
func TestBindFaults(t *testing.T) {
	for _, row := range []struct {
		line string
		err  error
		says string
	}{
		{"taken", syscall.EADDRINUSE, "ops-listen: h:1 is taken by another process; end that one, or name another port"},
		{"elsewhere", syscall.EADDRNOTAVAIL, "no such address"},
		{"not permitted", syscall.EACCES, "below 1024"},
		{"anything else", errors.New("odd"), "ops-listen: odd"},
	} {
		if err := bindFault("ops-listen", "h:1", &net.OpError{Err: row.err}); !strings.Contains(err.Error(), row.says) && row.line != "anything else" {
			t.Errorf("%s: %v", row.line, err)
		}
		if err := bindFault("ops-listen", "h:1", row.err); !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.line, err)
		}
	}
}

// What OpenTelemetry says of itself is a line of our log.
func TestTelemetrySpeaksThroughTheLog(t *testing.T) {
	log := &lockedBuffer{}
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
	told, err := newTelemetry(context.Background(), func(name string) string { return env[name] }, prometheus.NewRegistry(), slog.New(slog.NewJSONHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	defer func() { _ = told.stop(ended) }()
	otel.Handle(errors.New("traces export: nobody"))
	if lines := log.lines(t, "telemetry was not sent"); len(lines) != 1 || lines[0]["cause"] != "traces export: nobody" {
		t.Errorf("log:\n%s", log)
	}
}

// An address that cannot be used stops the start; nothing of it is shown.
func TestTelemetryAddresses(t *testing.T) {
	for _, row := range []struct {
		line, name, value string
		fault             bool
	}{
		{"no scheme", "OTEL_EXPORTER_OTLP_ENDPOINT", "://bad-s3cret", true},
		{"host and port", "OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", true},
		{"no host", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http:///v1/traces", true},
		{"only a port", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://:4318", true},
		{"another scheme", "OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector.example.test", true},
		{"http", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1", false},
		{"https", "OTEL_EXPORTER_OTLP_ENDPOINT", "https://[::1]:1/base", false},
	} {
		t.Run(row.line, func(t *testing.T) {
			env := func(name string) string {
				if name == row.name {
					return row.value
				}
				return ""
			}
			told, err := newTelemetry(context.Background(), env, prometheus.NewRegistry(), discard())
			if (err != nil) != row.fault || err != nil && (!strings.Contains(err.Error(), row.name+" is no address of a collector") || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("%v", err)
			}
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			_ = told.stop(ended)
		})
	}
}

// A key that is made anew is said, one that is there is not.
func TestNewAuditKeyIsSaid(t *testing.T) {
	s := newSetup(t)
	for i, want := range []int{1, 0, 1} {
		log := &lockedBuffer{}
		s.deps.Log = slog.New(slog.NewJSONHandler(log, nil))
		if _, err := New(s.cfg, s.deps); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(log.String(), "made a new audit key"); n != want {
			t.Errorf("start %d: said %d times, want %d:\n%s", i, n, want, log)
		}
		if i == 1 {
			if err := os.Remove(filepath.Join(s.cfg.Data, "keys", AuditKeyFile)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A fault in a policy names a file that exists.
func TestNamePolicies(t *testing.T) {
	contracts := t.TempDir()
	write(t, filepath.Join(contracts, "policies/v1/contract.yaml"), "")
	given := contract.Faults{{File: "policies/a/x.yaml"}, {File: "mail/v1/contract.yaml"}, {File: "policies/v1/contract.yaml"}, {File: "policies"}, {File: "policiesx.yaml"}}
	for _, row := range []struct {
		line, policies string
		want           []string
	}{
		{"a directory", "badp", []string{"badp/a/x.yaml", "mail/v1/contract.yaml", "policies/v1/contract.yaml", "policies", "policiesx.yaml"}},
		{"none", "", []string{"policies/a/x.yaml", "mail/v1/contract.yaml", "policies/v1/contract.yaml", "policies", "policiesx.yaml"}},
	} {
		named := NamePolicies(given, contracts, row.policies)
		for i, want := range row.want {
			if got := filepath.ToSlash(named[i].File); got != want {
				t.Errorf("%s: %s, want %s", row.line, got, want)
			}
		}
	}
	if given[0].File != "policies/a/x.yaml" {
		t.Error("what was given is changed")
	}
}

// What runs beside the calls is told to end and waited for, as long as there is time.
func TestBeside(t *testing.T) {
	ended := make(chan struct{})
	stop := beside(func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond)
		close(ended)
	}, "busy")
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	default:
		t.Error("nobody waited for the end")
	}

	goOn := make(chan struct{})
	defer close(goOn)
	stop = beside(func(context.Context) { <-goOn }, "busy")
	over, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := stop(over); err == nil || err.Error() != "busy" {
		t.Errorf("stop = %v", err)
	}
}
