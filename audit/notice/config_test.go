package notice

import (
	"testing"
	"time"
)

// http:// reaches the same machine only, whatever a name resolves to.
func TestOnlyLoopback(t *testing.T) {
	for _, tt := range []struct {
		line, address string
		allowed       bool
	}{
		{"IPv4", "127.0.0.1:80", true},
		{"another of the same", "127.8.9.1:80", true},
		{"IPv6", "[::1]:80", true},
		{"mapped", "[::ffff:127.0.0.1]:80", true},
		{"another machine", "192.0.2.1:80", false},
		{"another machine, mapped", "[::ffff:192.0.2.1]:80", false},
		{"link-local", "[fe80::1]:80", false},
		{"any", "0.0.0.0:80", false},
		{"a name", "localhost:80", false},
		{"nothing", "", false},
	} {
		t.Run(tt.line, func(t *testing.T) {
			if err := onlyLoopback(t.Context(), "tcp", tt.address, nil); (err == nil) != tt.allowed {
				t.Error(err)
			}
		})
	}
}

// The delay doubles up to its bound, less up to a half; what a receiver asks for counts
// where it is longer, up to a bound of ours.
func TestBackoff(t *testing.T) {
	c := Config{Backoff: time.Second, MaxBackoff: 10 * time.Second}
	for _, row := range []struct {
		attempt    int
		retryAfter time.Duration
		low, high  time.Duration
	}{
		{1, 0, time.Second / 2, time.Second},
		{2, 0, time.Second, 2 * time.Second},
		{3, time.Nanosecond, 2 * time.Second, 4 * time.Second},
		{5, 0, 5 * time.Second, 10 * time.Second},
		{100, 0, 5 * time.Second, 10 * time.Second},
		{1, 7 * time.Second, 7 * time.Second, 7 * time.Second},
		{100, maxRetryAfter, maxRetryAfter, maxRetryAfter},
		{1, 1 << 30 * time.Second, maxRetryAfter, maxRetryAfter},
	} {
		for range 20 {
			if got := c.backoff(row.attempt, row.retryAfter); got < row.low || got > row.high {
				t.Errorf("after attempt %d, asked for %s: %s, want %s to %s", row.attempt, row.retryAfter, got, row.low, row.high)
			}
		}
	}
}
