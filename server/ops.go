package server

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/gate"
)

// maxOpsConnections bounds who asks at one time: a few probes and scrapers.
const maxOpsConnections = 256

// newOps returns the HTTP server of probes: /livez while the process runs, /readyz
// while calls can be answered, each with lines for people, /metrics, and the public keys
// under /.well-known/jwks.json.
func newOps(h *health, metrics, keys http.Handler, log *slog.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		writeProbe(w, http.StatusOK, "live\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusOK
		var lines strings.Builder
		for _, s := range h.subsystems(r.Context()) {
			if s.err != nil {
				code = http.StatusServiceUnavailable
				fmt.Fprintf(&lines, "%s: not ready: %s\n", s.name, oneLine(s.err.Error()))
				continue
			}
			if s.concern != "" {
				fmt.Fprintf(&lines, "%s: %s\n", s.name, oneLine(s.concern))
				continue
			}
			fmt.Fprintln(&lines, strings.TrimSuffix(s.name+": ready "+s.detail, " "))
		}
		writeProbe(w, code, lines.String())
	})
	mux.Handle("GET /metrics", metrics)
	mux.Handle("GET /.well-known/jwks.json", keys)
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

func writeProbe(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text))
}

// oneLine keeps a cause from looking like several lines of a report.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// jwks serves the keys that verify permits and signed receipts (RFC 7517) to this machine
// alone: whoever takes keys over an open network takes anybody's keys.
func jwks(g *gate.Gate) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !mayServeKeys(local, r.TLS != nil) {
			writeProbe(w, http.StatusForbidden, "keys are served on loopback only; use GetKeys over TLS\n")
			return
		}
		w.Header().Set("Content-Type", "application/jwk-set+json")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(g.PublicKeys())
	})
}
