package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// callFailed turns the status of a failed call into one sentence: what the service
// answered, or why nobody did and what to look at.
func callFailed(addr string, err error) error {
	s := status.Convert(err)
	at, said := printable(addr), printable(s.Message())
	switch s.Code() {
	case codes.Unavailable:
		if why := unreached(at, s.Message()); why != "" {
			return errors.New(why)
		}
	case codes.DeadlineExceeded:
		if strings.Contains(said, context.DeadlineExceeded.Error()) || strings.Contains(said, "stream terminated") {
			return fmt.Errorf("no answer from %s in time; see whether the service runs there and what its log says", at)
		}
	case codes.Canceled:
		if strings.Contains(said, context.Canceled.Error()) {
			return fmt.Errorf("interrupted before %s answered", at)
		}
	}
	return fmt.Errorf("%s answered %s: %s", at, s.Code(), said)
}

// ofTransport begins what the client's own transport says, and no service.
var ofTransport = regexp.MustCompile(`^(connection error|name resolver error|last connection error|transport|closing transport|error reading from server|write tcp|read tcp)\b`)

// described is a cause within what the transport says; as Go quotes it.
var described = regexp.MustCompile(`desc = ("(?:[^"\\]|\\.)*")`)

// unreached says why a connection was not made, and what to look at; "" where it was and
// somebody answered.
func unreached(at, message string) string {
	if !ofTransport.MatchString(message) {
		return ""
	}
	cause := message
	if found := described.FindStringSubmatch(message); found != nil {
		if text, err := strconv.Unquote(found[1]); err == nil {
			cause = text
		}
	}
	for _, way := range ways() {
		if _, rest, is := strings.Cut(cause, way.has); is {
			what := printable(strings.TrimSpace(strings.TrimPrefix(rest, ":")))
			return strings.NewReplacer("ADDR", at, "CAUSE", what).Replace(way.says)
		}
	}
	return fmt.Sprintf("the connection to %s broke (%s); where it serves with TLS it may have refused the certificate, or there was none: see --cert and --key", at, printable(cause))
}

// way is one in which connections fail: what the transport says then, and what we do, with
// the service's address and with what comes after the former.
type way struct{ has, says string }

// ways are looked through in their order.
func ways() []way {
	return []way{
		{"name resolver error", "no machine is found under the name in ADDR; see whether --addr is spelt right"},
		{"Error while dialing", "nobody answers at ADDR (CAUSE); see whether the service runs there, and whether --addr is where it listens"},
		{"first record does not look like a TLS handshake", "what answers at ADDR does not speak TLS; leave out --ca, --cert, --key and --server-name, or see whether --addr is right"},
		{"x509: certificate signed by unknown authority", "the certificate of ADDR is of an authority that is not trusted here; --ca names those that are"},
		{"x509: cannot validate certificate", "the certificate of ADDR is for another name (cannot validate certificate CAUSE); --server-name says which it has"},
		{"x509: certificate is valid for", "the certificate of ADDR is for another name (it is valid for CAUSE); --server-name says which it has"},
		{"authentication handshake failed", "TLS with ADDR failed (CAUSE); see --ca, --cert, --key and --server-name, and the log of the service"},
		{"tls: certificate required", "ADDR lets nobody in without a certificate; give yours with --cert and --key"},
		{"remote error", "ADDR refuses the certificate of --cert (CAUSE); it has to be of an authority that the service's --tls-client-ca names"},
		{"looked like an HTTP/1.1 header", "what answers at ADDR is HTTP and no gRPC; --addr is where the service listens, not its --ops-listen"},
		{"error reading server preface", "ADDR takes connections and ends them at once (CAUSE); where it serves with TLS, give --ca, --cert and --key"},
	}
}
