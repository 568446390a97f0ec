package gate

import (
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
)

func TestCleanSource(t *testing.T) { // B1, B11
	for _, row := range []struct {
		line, in   string
		redirected bool
		want       string
	}{
		{"host and path", "https://ci.example.test/runs/1", false, "https://ci.example.test/runs/1"},
		{"query and fragment go", "https://ci.example.test/a?token=SECRET#SECRET", false, "https://ci.example.test/a"},
		{"user info goes", "https://user:SECRET@ci.example.test/a", false, "https://ci.example.test/a"},
		{"an at sign too many", "https://user:SECRET@x@ci.example.test/a", false, "https://ci.example.test/a"},
		{"a slash in the password leaves the authority in doubt", "https://user:SEC/RET@ci.example.test/a", false, "https://"},
		{"a hash in the password", "https://alice:SEC#RET@ci.example.test/x", false, "https://"},
		{"a question mark in the password", "https://alice:SEC?RET@ci.example.test/x", false, "https://"},
		{"a backslash in the password", `https://alice:SEC\RET@ci.example.test/x`, false, "https://"},
		{"an at sign in a path", "https://registry.example.test:8443/@scope/name", false, "https://registry.example.test:8443"},
		{"an endpoint without its scheme is no command", "hooks.example.test/services/SECRET", false, ""},
		{"query without a path", "https://ci.example.test?token=SECRET", false, "https://ci.example.test"},
		{"fragment before the slash", "https://ci.example.test#SECRET/a", false, "https://ci.example.test"},
		{"the path of a redirected request is another's", "https://ci.example.test/runs/1", true, "https://ci.example.test"},
		{"a command keeps its name", "/usr/bin/kubectl get pods --token=SECRET", false, "kubectl"},
		{"a command in a tab", "git\tclone SECRET", false, "git"},
		{"no command at all", "", false, ""},
		{"an assignment before the command may be a secret", "TOKEN=SECRET kubectl", false, ""},
		{"only ASCII", "https://пример.example.test/\u202epath", false, "https://??????.example.test/?path"},
		{"cut", "https://h/" + strings.Repeat("a", 500), false, "https://h/" + strings.Repeat("a", 118)},
	} {
		t.Run(row.line, func(t *testing.T) {
			if got := cleanSource(row.in, row.redirected); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func FuzzCleanSource(f *testing.F) {
	f.Add("https://user:SECRET@ci.example.test/a?b#c", true)
	f.Add("/bin/sh -c x", false)
	f.Fuzz(func(t *testing.T, in string, redirected bool) {
		out := cleanSource(in, redirected)
		if len(out) > maxSource || strings.ContainsAny(out, "#@") {
			t.Errorf("%q", out)
		}
		for _, r := range out {
			if r <= ' ' || r >= 0x7F {
				t.Errorf("%q holds %q", out, r)
			}
		}
	})
}

func TestTrusted(t *testing.T) { // B1, B13
	config := contract.Trust{Trusted: true, Sources: []string{"https://intra.example.test/"}, Callers: []string{"adapter-1"}}
	for _, row := range []struct {
		line      string
		trust     contract.Trust
		caller    string
		source    string
		redirects int
		want      bool
	}{
		{"source and caller listed", config, "adapter-1", "https://intra.example.test/a", 0, true},
		{"another caller", config, "adapter-2", "https://intra.example.test/a", 0, false},
		{"another source", config, "adapter-1", "https://intra.example.test.evil.example.test/a", 0, false},
		{"a longer host", contract.Trust{Trusted: true, Sources: []string{"https://intra.example.test"}, Callers: []string{"adapter-1"}}, "adapter-1", "https://intra.example.test.evil.example.test/a", 0, false},
		{"user info", contract.Trust{Trusted: true, Sources: []string{"https://intra.example.test"}, Callers: []string{"adapter-1"}}, "adapter-1", "https://intra.example.test@evil.example.test/", 0, false},
		{"not configured", contract.Trust{Sources: config.Sources, Callers: config.Callers}, "adapter-1", "https://intra.example.test/a", 0, false},
		{"an empty prefix trusts nothing", contract.Trust{Trusted: true, Sources: []string{""}, Callers: config.Callers}, "adapter-1", "https://x.example.test/", 0, false},
		{"redirected", config, "adapter-1", "https://intra.example.test/a", 1, false},
		{"dot segments", config, "adapter-1", "https://intra.example.test/a/../b", 0, false},
		{"encoded dots", config, "adapter-1", "https://intra.example.test/%2e%2E/b", 0, false},
		{"a prefix without a host", contract.Trust{Trusted: true, Sources: []string{"https://"}, Callers: config.Callers}, "adapter-1", "https://x.example.test/", 0, false},
		{"a prefix of a word", contract.Trust{Trusted: true, Sources: []string{"h", "/"}, Callers: config.Callers}, "adapter-1", "https://x.example.test/", 0, false},
		{"a command", contract.Trust{Trusted: true, Sources: []string{"kubectl"}, Callers: config.Callers}, "adapter-1", "/usr/bin/kubectl get pods", 0, true},
		{"another command", contract.Trust{Trusted: true, Sources: []string{"kubectl"}, Callers: config.Callers}, "adapter-1", "kubectl-evil get pods", 0, false},
		{"no source", config, "adapter-1", "", 0, false},
	} {
		t.Run(row.line, func(t *testing.T) {
			if got := trusted(row.trust, Caller{Name: row.caller}, Upstream{Source: row.source, Redirects: row.redirects}); got != row.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
