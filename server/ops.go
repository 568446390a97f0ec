package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// newOps returns the HTTP server of probes: /livez while the process runs, /readyz
// while calls can be answered, each with lines for people, and /metrics.
func newOps(h *health, metrics http.Handler, log *slog.Logger) *http.Server {
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
