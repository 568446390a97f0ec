package notice_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit/notice"
)

// What is tried again, and what is not.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		line   string
		status int
		again  bool
	}{
		{"created", 201, true}, // taken with the first call
		{"internal error", 500, true},
		{"unavailable", 503, true},
		{"timeout", 408, true},
		{"too early", 425, true},
		{"too many", 429, true},
		{"bad request", 400, false},
		{"gone", 410, false},
		{"redirect", 302, false},
		{"redirect of the body", 307, false},
		{"not modified", 304, false},
	} {
		t.Run(tt.line, func(t *testing.T) {
			r := newReceiver(t, func(call int, w http.ResponseWriter, _ *http.Request) bool {
				if call > 2 || tt.status == 201 {
					return false
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				return true
			})
			n, j := start(t, fast(r.URL))
			n.Observe(rejected(1, "job_status", "SCHEMA", "SCHEMA"))
			eventually(t, "an end", func() bool { s := n.Stats(); return s.Pending == 0 })
			got, calls := r.got()
			s := n.Stats()
			if tt.again && (len(got) != 1 || s.Delivered != 1 || s.Failed != 0 || calls != int(s.Attempts)) {
				t.Errorf("%d calls, %+v", calls, s)
			}
			if !tt.again && (len(got) != 0 || calls != 1 || s.Failed != 1) {
				t.Errorf("%d calls, %+v", calls, s)
			}
			if log := j.String(); tt.again != (log == "") || strings.Contains(log, "sesame") || strings.Contains(log, "hook") {
				t.Error(log)
			}
		})
	}
}

// Attempts end.
func TestAttemptsEnd(t *testing.T) {
	r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return true
	})
	cfg := fast(r.URL)
	cfg.Attempts = 4
	n, j := start(t, cfg)
	n.Observe(rejected(1, "job_status", "SCHEMA", "SCHEMA"))
	eventually(t, "an end", func() bool { return n.Stats().Pending == 0 })
	if s := n.Stats(); s != (notice.Stats{Failed: 1, Attempts: 4}) {
		t.Errorf("%+v", s)
	}
	if log := j.String(); !strings.Contains(log, `"cause":"status 500"`) || !strings.Contains(log, `"attempts":4`) {
		t.Error(log)
	}
	if err := closeInTime(t, n, guard); err != nil { // it was lost before, and said
		t.Error(err)
	}
}

// Retry-After is honoured, in both of its forms.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		line  string
		value func() string
		least time.Duration
	}{
		{"seconds", func() string { return "1" }, time.Second},
		{"a date", func() string { return time.Now().Add(2500 * time.Millisecond).UTC().Format(http.TimeFormat) }, time.Second},
		{"a word", func() string { return "later" }, 0},
		{"negative", func() string { return "-5" }, 0},
		{"the past", func() string { return "Thu, 01 Jan 1970 00:00:00 GMT" }, 0},
	} {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			var first time.Time
			r := newReceiver(t, func(call int, w http.ResponseWriter, _ *http.Request) bool {
				if call > 1 {
					return false
				}
				first = time.Now()
				w.Header().Set("Retry-After", tt.value())
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			})
			n, _ := start(t, fast(r.URL))
			n.Observe(rejected(1, "job_status", "SCHEMA", "SCHEMA"))
			eventually(t, "a notice", func() bool { return n.Stats().Delivered == 1 })
			if waited := time.Since(first); waited < tt.least {
				t.Errorf("waited %v", waited)
			}
		})
	}
}

// A receiver that hangs costs its own notices and nobody's call.
func TestHang(t *testing.T) {
	r := newReceiver(t, func(call int, _ http.ResponseWriter, r *http.Request) bool {
		if call > 1 {
			return false
		}
		<-r.Context().Done()
		return true
	})
	cfg := fast(r.URL)
	cfg.Timeout = 300 * time.Millisecond
	n, _ := start(t, cfg)
	n.Observe(rejected(1, "job_status", "SCHEMA", "SCHEMA"))
	eventually(t, "an attempt", func() bool { return n.Stats().Attempts == 1 })
	began := time.Now()
	for i := range 1000 {
		n.Observe(rejected(i, "deploy_status", "SCHEMA", "SCHEMA"))
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("observing took %v", took)
	}
	eventually(t, "both", func() bool { return n.Stats().Delivered == 2 })
}

// An answer that never ends is not read to its end.
func TestEndlessAnswer(t *testing.T) {
	r := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) bool {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				break
			}
		}
		return true
	})
	n, _ := start(t, fast(r.URL))
	n.Observe(rejected(1, "job_status", "SCHEMA", "SCHEMA"))
	eventually(t, "an end", func() bool { return n.Stats().Delivered == 1 })
}

// Close while an attempt hangs ends with its context, says what was lost, and again.
func TestCloseWhilePending(t *testing.T) {
	r := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	})
	n, j := start(t, fast(r.URL))
	for _, tool := range []string{"a", "b", "c"} {
		n.Observe(rejected(1, tool, "SCHEMA", "SCHEMA"))
	}
	eventually(t, "an attempt", func() bool { return n.Stats().Attempts == 1 })
	err := closeInTime(t, n, 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "3 notices were not delivered") {
		t.Error(err)
	}
	if again := n.Close(context.Background()); again == nil || again.Error() != err.Error() {
		t.Error(again)
	}
	if s := n.Stats(); s.Pending != 0 || s.Failed != 3 || s.Attempts != 1 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(j.String(), "given up at the end") {
		t.Error(j.String())
	}
}

// Close ends a long delay between attempts with a last one.
func TestCloseDuringBackoff(t *testing.T) {
	r := newReceiver(t, func(call int, w http.ResponseWriter, _ *http.Request) bool {
		if call > 1 {
			return false
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	n, _ := start(t, fast(r.URL))
	n.Observe(rejected(1, "job_status", "SCHEMA", "SCHEMA"))
	eventually(t, "an attempt", func() bool { _, calls := r.got(); return calls == 1 })
	if err := closeInTime(t, n, guard); err != nil {
		t.Error(err)
	}
	if s := n.Stats(); s != (notice.Stats{Delivered: 1, Attempts: 2}) {
		t.Errorf("%+v", s)
	}
}

// With a receiver that is gone Close does not try every notice in turn.
func TestCloseWithNobodyThere(t *testing.T) {
	r := newReceiver(t, nil)
	cfg := fast(r.URL)
	cfg.Window = time.Hour
	n, j := start(t, cfg)
	r.Close()
	for _, tool := range []string{"a", "b", "c"} {
		n.Observe(rejected(1, tool, "SCHEMA", "SCHEMA"))
	}
	if err := n.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "3 notices") {
		t.Error(err)
	}
	if s := n.Stats(); s.Attempts != 1 || s.Failed != 3 {
		t.Errorf("%+v", s)
	}
	if log := j.String(); strings.Contains(log, "sesame") || !strings.Contains(log, "refused") {
		t.Error(log)
	}
}

// The way is TLS, with a certificate that one of the roots vouches for.
func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	for _, tt := range []struct {
		line string
		pool *x509.CertPool
		want notice.Stats
	}{
		{"a known root", roots, notice.Stats{Delivered: 1, Attempts: 1}},
		{"no root", x509.NewCertPool(), notice.Stats{Failed: 1, Attempts: 1}},
	} {
		t.Run(tt.line, func(t *testing.T) {
			cfg := fast(server.URL)
			cfg.Roots, cfg.Attempts = tt.pool, 1
			n, _ := start(t, cfg)
			n.Observe(rejected(1, "job_status", "SCHEMA", "SCHEMA"))
			eventually(t, "an end", func() bool { return n.Stats().Pending == 0 })
			if s := n.Stats(); s != tt.want {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	const url = "https://hooks.example.test/sesame"
	for _, tt := range []struct {
		line string
		cfg  notice.Config
		want string
	}{
		{"https", notice.Config{URL: url, Secret: secret}, ""},
		{"loopback", notice.Config{URL: "http://127.0.0.1:1/sesame", Secret: secret}, ""},
		{"loopback of IPv6", notice.Config{URL: "http://[::1]:1/sesame", Secret: secret}, ""},
		{"localhost", notice.Config{URL: "http://localhost:1/sesame", Secret: secret}, ""},
		{"http", notice.Config{URL: "http://hooks.example.test/sesame", Secret: secret}, "must begin with https://"},
		{"a name that only begins like it", notice.Config{URL: "http://localhost.example.test/sesame", Secret: secret}, "must begin with https://"},
		{"another address", notice.Config{URL: "http://192.0.2.1/sesame", Secret: secret}, "must begin with https://"},
		{"another scheme", notice.Config{URL: "file:///sesame", Secret: secret}, "is no absolute URL"},
		{"a path", notice.Config{URL: "/sesame", Secret: secret}, "is no absolute URL"},
		{"nothing", notice.Config{Secret: secret}, "is no absolute URL"},
		{"no URL", notice.Config{URL: "https://exa mple/\x00sesame", Secret: secret}, "is no absolute URL"},
		{"user info", notice.Config{URL: "https://u:sesame@hooks.example.test/", Secret: secret}, "no user info"},
		{"a fragment", notice.Config{URL: url + "#x", Secret: secret}, "no fragment"},
		{"no secret", notice.Config{URL: url}, "secret: must have at least 16 bytes"},
		{"a short secret", notice.Config{URL: url, Secret: []byte("sesame")}, "secret: must have at least 16 bytes"},
		{"negative", notice.Config{URL: url, Secret: secret, Window: -1}, "window: must be from 0 to 24h"},
		{"too long", notice.Config{URL: url, Secret: secret, MaxBackoff: 25 * time.Hour}, "max_backoff: must be from 0 to 24h"},
		{"too many", notice.Config{URL: url, Secret: secret, Pending: 10_001}, "pending must be"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			n, err := notice.New(tt.cfg, slog.New(slog.DiscardHandler), nil)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := n.Close(context.Background()); err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "sesame") {
				t.Error(err)
			}
		})
	}
}
