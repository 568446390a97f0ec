package server

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// listed are the identities of most tests.
const listed = `
identities:
  - {name: op, san: "spiffe://example.test/operator", tenant: ops, roles: [operator], tenants: [ops, red]}
  - {name: agent, san: "spiffe://example.test/agent", tenant: red, roles: [orchestrator, raw_reader], may_grant: true}
  - {name: web, san: "dns:adapter.example.test", tenant: red, roles: [adapter], tools: [review_status]}
  - {name: runner, san: "spiffe://example.test/runner", tenant: blue, roles: [executor]}
  - {name: reader, san: "dns:reader.example.test", tenant: blue, roles: [raw_reader]}
  - {name: blue-op, san: "dns:blue-op.example.test", tenant: blue, roles: [operator, adapter]}
proxies: ["spiffe://example.test/mesh", "dns:proxy.example.test"]
`

// methods are those that the table is about, called with a message that is well-formed.
func methods() map[string]func(context.Context, *grpc.ClientConn) error {
	return map[string]func(context.Context, *grpc.ClientConn) error{
		"health": func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := healthv1.NewHealthClient(c).Check(ctx, &healthv1.HealthCheckRequest{})
			return err
		},
		"unknown": func(ctx context.Context, c *grpc.ClientConn) error {
			return c.Invoke(ctx, "/hallmark.v1.GateService/Nothing", &healthv1.HealthCheckRequest{}, &healthv1.HealthCheckResponse{})
		},
		"validate": func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := hallmarkv1.NewGateServiceClient(c).Validate(ctx, call("review_status", []byte(accepted)))
			return err
		},
		"contracts": func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := hallmarkv1.NewContractServiceClient(c).ListContracts(ctx, &hallmarkv1.ListContractsRequest{})
			return err
		},
		"keys": func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := hallmarkv1.NewContractServiceClient(c).GetKeys(ctx, &hallmarkv1.GetKeysRequest{})
			return err
		},
		"audit": func(ctx context.Context, c *grpc.ClientConn) error {
			_, err := hallmarkv1.NewAuditServiceClient(c).ListEvents(ctx, &hallmarkv1.ListEventsRequest{})
			return err
		},
	}
}

// C: who may call what, by real certificates.
func TestIdentities(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	_, tls := a.withTLS(t, listed)
	s := start(t, tls)
	const (
		ok     = codes.OK
		denied = codes.PermissionDenied
		none   = codes.Unimplemented
		down   = codes.Unavailable
	)
	type want map[string]codes.Code
	all := func(c codes.Code) want {
		return want{"health": c, "unknown": c, "validate": c, "contracts": c, "keys": c, "audit": c}
	}
	clientOnly := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	for _, c := range []struct {
		line      string
		by        *authority
		sans      []string
		edit      func(*x509.Certificate)
		forwarded []string
		want      want
	}{
		{line: "no certificate", want: all(down)},
		{line: "another authority", by: stranger, sans: []string{"spiffe://example.test/agent"}, want: all(down)},
		{line: "expired", by: a, sans: []string{"spiffe://example.test/agent"}, edit: expired, want: all(down)},
		{line: "not for clients", by: a, sans: []string{"spiffe://example.test/agent"}, edit: clientOnly, want: all(down)},
		{
			line: "operator", by: a, sans: []string{"spiffe://example.test/operator"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": ok, "keys": ok, "audit": ok},
		},
		{
			line: "orchestrator", by: a, sans: []string{"spiffe://example.test/agent"},
			want: want{"health": ok, "unknown": none, "validate": ok, "contracts": ok, "keys": ok, "audit": denied},
		},
		{
			line: "adapter by DNS, whatever the case", by: a, sans: []string{"dns:Adapter.Example.Test"},
			want: want{"health": ok, "unknown": none, "validate": ok, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "executor", by: a, sans: []string{"spiffe://example.test/runner"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": ok, "audit": denied},
		},
		{
			line: "raw_reader alone", by: a, sans: []string{"dns:reader.example.test"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "two roles", by: a, sans: []string{"dns:blue-op.example.test"},
			want: want{"health": ok, "unknown": none, "validate": ok, "contracts": ok, "keys": ok, "audit": ok},
		},
		{
			line: "nobody; the common name does not count", by: a, sans: []string{"dns:other.example.test"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "no name at all", by: a,
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "a prefix of a path", by: a, sans: []string{"spiffe://example.test/agent/x"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "an escaped path", by: a, sans: []string{"spiffe://example.test/%61gent"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "a wildcard", by: a, sans: []string{"dns:*.example.test"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "an identity and another name", by: a, sans: []string{"spiffe://example.test/agent", "dns:other.example.test"},
			want: want{"health": ok, "unknown": none, "validate": ok, "contracts": ok, "keys": ok, "audit": denied},
		},
		{line: "two identities", by: a, sans: []string{"spiffe://example.test/agent", "dns:adapter.example.test"}, want: all(denied)},
		{line: "an identity and a proxy", by: a, sans: []string{"spiffe://example.test/agent", "dns:proxy.example.test"}, want: all(denied)},
		{line: "two SPIFFE IDs", by: a, sans: []string{"spiffe://example.test/agent", "spiffe://example.test/other"}, want: all(denied)},
		{
			line: "forwarded by an identity", by: a, sans: []string{"spiffe://example.test/agent"},
			forwarded: []string{"spiffe://example.test/operator"}, want: all(denied),
		},
		{
			line: "its own name forwarded", by: a, sans: []string{"spiffe://example.test/agent"},
			forwarded: []string{"spiffe://example.test/agent"}, want: all(denied),
		},
		{
			line: "forwarded by nobody", by: a, sans: []string{"dns:other.example.test"},
			forwarded: []string{"spiffe://example.test/operator"}, want: all(denied),
		},
		{
			line: "forwarded by a proxy", by: a, sans: []string{"spiffe://example.test/mesh"}, forwarded: []string{"spiffe://example.test/operator"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": ok, "keys": ok, "audit": ok},
		},
		{
			line: "a DNS name forwarded by a proxy", by: a, sans: []string{"dns:proxy.example.test"}, forwarded: []string{"dns:adapter.example.test"},
			want: want{"health": ok, "unknown": none, "validate": ok, "contracts": denied, "keys": denied, "audit": denied},
		},
		{
			line: "a proxy for itself", by: a, sans: []string{"spiffe://example.test/mesh"},
			want: want{"health": ok, "unknown": none, "validate": denied, "contracts": denied, "keys": denied, "audit": denied},
		},
		{line: "a proxy for nobody", by: a, sans: []string{"dns:proxy.example.test"}, forwarded: []string{""}, want: all(denied)},
		{line: "a proxy for a proxy", by: a, sans: []string{"dns:proxy.example.test"}, forwarded: []string{"spiffe://example.test/mesh"}, want: all(denied)},
		{line: "a proxy for a name", by: a, sans: []string{"dns:proxy.example.test"}, forwarded: []string{"agent"}, want: all(denied)},
		{
			line: "a proxy for two", by: a, sans: []string{"dns:proxy.example.test"}, want: all(denied),
			forwarded: []string{"spiffe://example.test/agent", "spiffe://example.test/operator"},
		},
	} {
		t.Run(c.line, func(t *testing.T) {
			var p pair
			if c.by != nil {
				edit := c.edit
				if edit == nil {
					edit = func(*x509.Certificate) {}
				}
				p = c.by.issue(t, c.sans, edit)
			}
			conn := s.as(t, a.client(t, p))
			for name, do := range methods() {
				ctx := ctxFor(t)
				for _, f := range c.forwarded {
					ctx = metadata.AppendToOutgoingContext(ctx, ForwardedIdentityHeader, f)
				}
				if err := do(ctx, conn); status.Code(err) != c.want[name] {
					t.Errorf("%s: %v, want %s", name, err, c.want[name])
				}
			}
		})
	}
	if _, body := get(t, s.ops+"/metrics"); !strings.Contains(body, `hallmark_access_denied_total{reason="ambiguous"} 18`) || strings.Contains(body, "hallmark_tls_handshakes_failed_total 0\n") {
		t.Error("what was refused is not counted")
	}
}

// In plaintext there is nobody who could forward.
func TestForwardedInPlaintext(t *testing.T) {
	s := start(t)
	ctx := metadata.AppendToOutgoingContext(ctxFor(t), ForwardedIdentityHeader, "spiffe://example.test/agent")
	for name, do := range methods() {
		if err := do(ctx, s.conn); status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A client that speaks no TLS, or an older one, gets nothing.
func TestNoPlaintextBesideTLS(t *testing.T) {
	a := newAuthority(t)
	_, tls := a.withTLS(t, listed)
	s := start(t, tls)
	for name, do := range methods() {
		if err := do(ctxFor(t), s.as(t, insecure.NewCredentials())); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Permitted tools count by the contract's own name; what no contract has is not a
// matter of permission. Records are those of the operator's tenants.
func TestToolsAndTenants(t *testing.T) {
	a := newAuthority(t)
	_, tls := a.withTLS(t, strings.Replace(listed, "proxies:",
		`  - {name: narrow, san: "spiffe://example.test/narrow", tenant: green, roles: [orchestrator], tools: [review_status]}`+"\nproxies:", 1))
	s := start(t, tls)
	web := hallmarkv1.NewGateServiceClient(s.as(t, a.client(t, a.issue(t, []string{"dns:adapter.example.test"}))))
	for tool, want := range map[string]codes.Code{
		"review_status": codes.OK, "job_status": codes.PermissionDenied, "no_such_tool": codes.OK, "": codes.OK, "REVIEW_STATUS": codes.OK,
	} {
		if _, err := web.Validate(ctxFor(t), call(tool, []byte(accepted))); status.Code(err) != want {
			t.Errorf("%q: %v, want %s", tool, err, want)
		}
	}
	// The orchestrator's tools bound what it may ask permission for, too.
	agent := hallmarkv1.NewGateServiceClient(s.as(t, a.client(t, a.issue(t, []string{"spiffe://example.test/narrow"}))))
	for tool, want := range map[string]codes.Code{"review_status": codes.OK, "mail_send": codes.PermissionDenied, "no_such_tool": codes.OK} {
		_, err := agent.Authorize(ctxFor(t), &hallmarkv1.AuthorizeRequest{
			Call:    &hallmarkv1.ProposedCall{Tool: tool, RequestId: requestID, SessionId: "s1", Principal: "user-1"},
			Payload: &hallmarkv1.AuthorizeRequest_Raw{Raw: []byte(`{}`)},
		})
		if status.Code(err) != want {
			t.Errorf("Authorize %q: %v, want %s", tool, err, want)
		}
	}
	blue := hallmarkv1.NewGateServiceClient(s.as(t, a.client(t, a.issue(t, []string{"dns:blue-op.example.test"}))))
	reply, err := blue.Validate(ctxFor(t), call("review_status", []byte(`{"a":1}`)))
	if err != nil || reply.GetRejection() == nil {
		t.Errorf("an operator sees no reason: %v, %v", reply, err)
	}
	list, err := s.audit.ListEvents(ctxFor(t), &hallmarkv1.ListEventsRequest{})
	if err != nil || len(list.GetEvents()) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, e := range list.GetEvents() {
		if e.GetTenant() != "red" || e.GetCaller() != "web" {
			t.Errorf("event of %s in %s", e.GetCaller(), e.GetTenant())
		}
	}
	_, err = s.audit.GetEvent(ctxFor(t), &hallmarkv1.GetEventRequest{DecisionId: reply.GetDecisionId()})
	wantCode(t, err, codes.NotFound)
}

// An alias is the tool that it stands for, on both sides of the question.
func TestPermittedAlias(t *testing.T) {
	dir := copyTree(t, shipped)
	replaceIn(t, filepath.Join(dir, "review_status/v1/contract.yaml"), "tool: review_status\n", "tool: review_status\naliases: [reviews.status]\n")
	with := newSetup(t)
	set, err := with.deps.Loader.LoadDir(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line  string
		tools []string
		used  string
		want  bool
	}{
		{"all", nil, "review_status", true},
		{"none", []string{}, "review_status", false},
		{"its name", []string{"review_status"}, "review_status", true},
		{"its alias, by the name", []string{"review_status"}, "reviews.status", true},
		{"the alias is no permission", []string{"reviews.status"}, "reviews.status", false},
		{"another", []string{"job_status"}, "reviews.status", false},
		{"what no contract has", []string{"job_status"}, "nothing", true},
		{"letter by letter", []string{"Review_status"}, "review_status", false},
	} {
		id := &identity{Caller: gate.Caller{Tools: c.tools}}
		if got := id.mayUse(set, c.used); got != c.want {
			t.Errorf("%s: %t", c.line, got)
		}
	}
	if (&identity{Caller: gate.Caller{Tools: []string{"job_status"}}}).mayUse(nil, "job_status") != true {
		t.Error("without a set the gate answers, not the guard")
	}
}

// A connection does not carry a certificate beyond its end.
func TestCertificateEndsOnAConnection(t *testing.T) {
	a := newAuthority(t)
	_, tls := a.withTLS(t, listed)
	clock := &movedClock{}
	s := start(t, tls, func(s *setup) { s.deps.Clock = clock.now })
	conn := s.as(t, a.client(t, a.issue(t, []string{"spiffe://example.test/agent"})))
	do := methods()["validate"]
	if err := do(ctxFor(t), conn); err != nil {
		t.Fatal(err)
	}
	clock.add(2 * time.Hour)
	if err := do(ctxFor(t), conn); status.Code(err) != codes.Unauthenticated {
		t.Errorf("after the end: %v", err)
	}
}

var oidSAN = asn1.ObjectIdentifier{2, 5, 29, 17}

// rawSAN replaces the names of a certificate by others, as they are.
func rawSAN(t *testing.T, names ...asn1.RawValue) func(*x509.Certificate) {
	t.Helper()
	value, err := asn1.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *x509.Certificate) {
		c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: oidSAN, Value: value})
	}
}

// A URI that only reads the same after it was parsed is not the identity's.
func TestSANsAreExact(t *testing.T) {
	a := newAuthority(t)
	_, tls := a.withTLS(t, listed)
	s := start(t, tls)
	for _, uri := range []string{
		"SPIFFE://example.test/agent", "spiffe://EXAMPLE.test/agent", "spiffe://example.test/agent#", "spiffe://example.test/agent?",
		"spiffe://example.test/agent/", "spiffe://example.test//agent", "spiffe://x@example.test/agent", "spiffe://example.test:/agent",
		"spiffe://example.test:443/agent", "https://example.test/agent", "spiffe://example.test/./agent",
		"dns:adapter.example.test", "uri:spiffe://example.test/agent",
	} {
		p := a.issue(t, nil, rawSAN(t, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: []byte(uri)}))
		err := methods()["validate"](ctxFor(t), s.as(t, a.client(t, p)))
		if code := status.Code(err); code != codes.PermissionDenied && code != codes.Unavailable {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
