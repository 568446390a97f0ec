package notice

import "testing"

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
