package server

import (
	"slices"
	"strings"
	"testing"
)

// A variable that is misspelt is named, with what may be meant; what orchestrators and
// tests set is not, and no value ever is.
func TestUnknownVariables(t *testing.T) {
	for _, row := range []struct {
		line    string
		environ []string
		want    []string
	}{
		{"nothing", nil, nil},
		{"settings", []string{"HALLMARK_LISTEN=x", "HALLMARK_RECIPIENTS=x", "PATH=x"}, nil},
		{"a letter less", []string{"HALLMARK_RECIPIENT=x"}, []string{"HALLMARK_RECIPIENT (did you mean HALLMARK_RECIPIENTS?)"}},
		{"a word less", []string{"HALLMARK_DSN=x"}, []string{"HALLMARK_DSN (did you mean HALLMARK_AUDIT_DSN?)"}},
		{"a word more", []string{"HALLMARK_TLS_CERT_FILE=x"}, []string{"HALLMARK_TLS_CERT_FILE (did you mean HALLMARK_TLS_CERT?)"}},
		{"words exchanged", []string{"HALLMARK_LISTEN_OPS=x"}, []string{"HALLMARK_LISTEN_OPS (did you mean HALLMARK_OPS_LISTEN?)"}},
		{"two that may be meant", []string{"HALLMARK_AUDIT=x"}, []string{"HALLMARK_AUDIT"}},
		{"none is close", []string{"HALLMARK_COLOUR_SCHEME=x"}, []string{"HALLMARK_COLOUR_SCHEME"}},
		{"several, sorted, once", []string{"HALLMARK_B_B_B=x", "HALLMARK_A_A_A=x", "HALLMARK_A_A_A=y"}, []string{"HALLMARK_A_A_A", "HALLMARK_B_B_B"}},
		{"empty is not set", []string{"HALLMARK_RECIPIENT="}, nil},
		{"an empty rest", []string{"HALLMARK_=x"}, []string{"HALLMARK_"}},
		{"other prefixes", []string{"XHALLMARK_RECIPIENT=x", "hallmark_recipient=x", "HALLMARK=x"}, nil},
		{
			"a Service of Kubernetes",
			[]string{
				"HALLMARK_SERVICE_HOST=x", "HALLMARK_SERVICE_PORT=x", "HALLMARK_SERVICE_PORT_GRPC=x", "HALLMARK_PORT=tcp://192.0.2.1:7443",
				"HALLMARK_PORT_7443_TCP=x", "HALLMARK_PORT_7443_TCP_PROTO=x", "HALLMARK_PORT_7443_TCP_PORT=x", "HALLMARK_PORT_7443_TCP_ADDR=x",
			},
			nil,
		},
		{"another Service", []string{"HALLMARK_OPS_SERVICE_HOST=x", "HALLMARK_OPS_PORT=x", "HALLMARK_OPS_PORT_7444_TCP_ADDR=x"}, nil},
		{"no Service without a host", []string{"HALLMARK_OPS_PORT=x"}, []string{"HALLMARK_OPS_PORT"}},
		{"only like a Service", []string{"HALLMARK_PORTS=x", "HALLMARK_PORT_GRPC=x"}, []string{"HALLMARK_PORTS", "HALLMARK_PORT_GRPC"}},
		{"of tests", []string{"HALLMARK_TEST_POSTGRES=x", "HALLMARK_SHARED=x", "HALLMARK_REQUIRE_SHARED=1"}, nil},
	} {
		t.Run(row.line, func(t *testing.T) {
			if got := UnknownVariables(row.environ); !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
	if got := UnknownVariables([]string{"HALLMARK_AUDIT_DNS=hunter2"}); len(got) != 1 || strings.Contains(got[0], "hunter2") {
		t.Errorf("%q", got)
	}
	c := DefaultConfig()
	for _, f := range c.Fields() { // each with a letter more
		if got := UnknownVariables([]string{f.Env + "Z=x"}); len(got) != 1 || !strings.Contains(got[0], f.Env+"?") {
			t.Errorf("%s: %q", f.Env, got)
		}
	}
}
