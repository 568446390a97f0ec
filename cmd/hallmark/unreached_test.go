package main

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Whoever gets no answer hears why and what to look at, and what a service answered stays
// its own.
func TestCallFailed(t *testing.T) {
	desc := func(cause string) string { return `connection error: desc = "` + cause + `"` }
	for _, row := range []struct {
		line    string
		code    codes.Code
		message string
		want    string
	}{
		{"nobody there", codes.Unavailable, desc("transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"), "nobody answers at h:1 (dial tcp 127.0.0.1:1: connect: connection refused); see whether"},
		{"nobody there, waited for", codes.Unavailable, "last " + desc("transport: Error while dialing: dial tcp: i/o timeout"), "nobody answers at h:1 (dial tcp: i/o timeout)"},
		{"no such name", codes.Unavailable, "name resolver error: produced zero addresses", "no machine is found under the name in h:1"},
		{"no such name, said by DNS", codes.Unavailable, `name resolver error: dns: A record lookup error: lookup h: no such host`, "no machine is found"},
		{"another authority", codes.Unavailable, desc("transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority"), "--ca names those that are"},
		{"another name", codes.Unavailable, desc(`transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate is valid for a, not b`), "(it is valid for a, not b); --server-name"},
		{"an expired one", codes.Unavailable, desc("transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026"), "TLS with h:1 failed (tls: failed to verify certificate: x509: certificate has expired"},
		{"no TLS there", codes.Unavailable, desc("transport: authentication handshake failed: tls: first record does not look like a TLS handshake"), "does not speak TLS"},
		{"no certificate given", codes.Unavailable, desc("error reading server preface: remote error: tls: certificate required"), "lets nobody in without a certificate"},
		{"a certificate that is refused", codes.Unavailable, desc("error reading server preface: remote error: tls: expired certificate"), "refuses the certificate of --cert (tls: expired certificate)"},
		{"the port of probes", codes.Unavailable, desc("error reading server preface: http2: failed reading the frame payload: http2: frame too large, note that the frame header looked like an HTTP/1.1 header"), "is HTTP and no gRPC"},
		{"TLS there alone", codes.Unavailable, desc("error reading server preface: EOF"), "ends them at once (EOF); where it serves with TLS"},
		{"a connection that broke", codes.Unavailable, "write tcp 127.0.0.1:1->127.0.0.1:2: write: broken pipe", "the connection to h:1 broke (write tcp"},
		{"one that broke while reading", codes.Unavailable, "error reading from server: EOF", "the connection to h:1 broke (error reading from server: EOF)"},
		{"a cause that draws", codes.Unavailable, desc("transport: Error while dialing: \\x1b[31m\u202e"), `(\u{001B}[31m\u{202E})`},
		{"a cause that cannot be unquoted", codes.Unavailable, `connection error: desc = "\q Error while dialing: x`, "nobody answers at h:1 (x)"},
		{"no time", codes.DeadlineExceeded, "context deadline exceeded", "no answer from h:1 in time"},
		{"interrupted", codes.Canceled, "context canceled", "interrupted before h:1 answered"},
		{"answered", codes.Unavailable, "the audit store is not available", "h:1 answered Unavailable: the audit store is not available"},
		{"answered late", codes.DeadlineExceeded, "the deadline has passed", "h:1 answered DeadlineExceeded: the deadline has passed"},
		{"answered with a word of transports", codes.Unavailable, "transports are closed", "h:1 answered Unavailable: transports are closed"},
		{"refused", codes.PermissionDenied, "connection error: x", "h:1 answered PermissionDenied: connection error: x"},
	} {
		got := callFailed("h:1", status.Error(row.code, row.message)).Error()
		if !strings.Contains(got, row.want) || strings.ContainsFunc(got, hidden) || strings.Contains(got, "desc =") {
			t.Errorf("%s: %q, want %q in it", row.line, got, row.want)
		}
	}
	if got := callFailed("h\u202e:1", errors.New("x\x1b")).Error(); strings.ContainsFunc(got, hidden) {
		t.Errorf("%q", got)
	}
}
