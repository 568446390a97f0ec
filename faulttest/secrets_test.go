package faulttest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hallmark-gate/hallmark/audit/seal"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
	"github.com/hallmark-gate/hallmark/receipt"
)

// planted is a marker on its way through the service.
type planted struct {
	marker string
	where  string   // field and form, or the kind of reply
	rule   string   // what allows
	seen   []string // sinks that may show it
	id     string   // of the decision; "" where there is none
	kept   bool     // the original must hold it
}

// secrets is the test: what was planted, and what was written.
type secrets struct {
	sinks
	p        *process
	planted  []planted
	identity *seal.Identities // the operator's
}

// newMarker returns 24 characters that nothing else holds, and that every pattern of a
// field takes.
func newMarker() string {
	b := make([]byte, 11)
	_, _ = rand.Read(b)
	return "fa" + hex.EncodeToString(b)
}

// B11, A17: nothing of a payload, an argument, a token or a header is in anything that the
// service writes, in whatever field it comes and however the call ends; what may be seen
// is listed, with the reason, in fields and in the replies.
func TestSecrets(t *testing.T) {
	onStores(t, func(t *testing.T, store place) {
		s := &secrets{}
		since := time.Now().Add(-time.Second)
		s.start(t, store)
		s.plantFields(t)
		s.plantReplies(t)
		s.plantHeaders(t)
		s.plantTokens(t)
		s.probe(t, s.p)
		record := s.events(t, s.p, since)
		s.openOriginals(t, record, store)
		s.p.stop(t) // notices that wait are sent
		s.add(inLog, readFile(t, s.p.Log))
		s.files(t, store.data)
		if store.dsn != "" {
			s.rows(t, store.dsn)
		}
		s.judge(t)
	})
}

// start runs a service with everything on that could write something.
func (s *secrets) start(t *testing.T, store place) {
	t.Helper()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	identity, recipient, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if s.identity, err = seal.ParseIdentities([]byte(identity)); err != nil {
		t.Fatal(err)
	}
	_, public, err := receipt.NewSigner("bea@example.test", time.Now().Truncate(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	keys := file("public.json", string(public))
	s.p = start(t, store, "--contracts", "../contracts", "--policies", "../policies",
		"--recipients", file("recipients", recipient), "--approvers", keys, "--grant-issuers", "bea@example.test="+keys,
		"--notice-url", s.receiver(t).URL, "--notice-secret-file", file("secret", strings.Repeat("s", 32)))
}

// call makes a call and keeps what came back, by sink.
func (s *secrets) call(t *testing.T, m proto.Message, md metadata.MD) (id string, out proto.Message) {
	t.Helper()
	ctx, cancel := outside.Guard()
	defer cancel()
	ctx = metadata.NewOutgoingContext(ctx, md)
	var header, trailer metadata.MD
	with := []grpc.CallOption{grpc.Header(&header), grpc.Trailer(&trailer)}
	var err error
	switch m := m.(type) {
	case *hallmarkv1.ValidateRequest:
		out, err = s.p.gate.Validate(ctx, m, with...)
	case *hallmarkv1.AuthorizeRequest:
		out, err = s.p.gate.Authorize(ctx, m, with...)
	case *hallmarkv1.RedeemRequest:
		out, err = s.p.gate.Redeem(ctx, m, with...)
	}
	s.add(inStatus, []byte(fmt.Sprint(header, trailer)))
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("a call hangs: %v", err)
		}
		s.add(inStatus, []byte(prototext.Format(status.Convert(err).Proto())))
		return "", nil
	}
	s.keep(out)
	if ids := header.Get("hallmark-decision-id"); len(ids) == 1 {
		id = ids[0]
	}
	return id, out
}

// keep keeps what refuses of a reply; what is accepted is for the agent to see.
func (s *secrets) keep(m proto.Message) {
	m = proto.Clone(m)
	var result *hallmarkv1.ToolResult
	var shown string
	switch m := m.(type) {
	case *hallmarkv1.ValidateResponse:
		if m.GetResult().GetFailure() == nil {
			return
		}
		result, shown, m.Result, m.ModelPayload = m.GetResult(), m.GetModelPayload(), nil, ""
	case *hallmarkv1.AuthorizeResponse:
		if m.GetDecision() == hallmarkv1.Decision_DECISION_ALLOW {
			m.ArgumentsJson, m.Permit = "", ""
		}
		result, shown, m.Result, m.ModelPayload = m.GetResult(), m.GetModelPayload(), nil, ""
	}
	s.add(inAgent, []byte(protojson.Format(result)), []byte(shown))
	s.add(inReply, []byte(protojson.Format(m)))
}

// bases are the requests whose fields are changed one by one: accepted and refused ones.
func (s *secrets) bases(t *testing.T) []proto.Message {
	t.Helper()
	validate := func(raw string) *hallmarkv1.ValidateRequest {
		return &hallmarkv1.ValidateRequest{
			Request:  &hallmarkv1.OutstandingRequest{Tool: "deploy_status", RequestId: "req.secrets1", SessionId: "secrets", ArgumentsJson: ofDeploy},
			Payload:  &hallmarkv1.ValidateRequest_RawText{RawText: raw},
			Upstream: via("application/json"),
		}
	}
	authorize := func(request, arguments string) *hallmarkv1.AuthorizeRequest {
		return &hallmarkv1.AuthorizeRequest{
			Call:    &hallmarkv1.ProposedCall{Tool: "deploy", RequestId: request, SessionId: "secrets", Principal: "ana@example.test"},
			Payload: &hallmarkv1.AuthorizeRequest_RawText{RawText: arguments},
			Grants: []*hallmarkv1.Grant{{
				Id: "g1", Tool: "deploy", NotAfter: timestamppb.New(time.Now().Add(time.Hour)),
				Scopes: []*hallmarkv1.Scope{{Name: "environment", Allowed: &hallmarkv1.Scope_Values{
					Values: &hallmarkv1.Values{Values: []string{"staging", "production"}},
				}}},
				Uses: &hallmarkv1.Grant_UnlimitedUses{UnlimitedUses: true},
			}},
		}
	}
	first := authorize("req.secrets2", stagingArguments)
	_, out := s.call(t, first, nil)
	permit := out.(*hallmarkv1.AuthorizeResponse).GetPermit()
	if permit == "" {
		t.Fatalf("no permit: %v", out)
	}
	production := strings.Replace(stagingArguments, "staging", "production", 1)
	return []proto.Message{
		validate(deployed), validate(strings.Replace(deployed, "healthy", "unheard-of", 1)),
		first, authorize("req.secrets3", production),
		&hallmarkv1.RedeemRequest{Permit: permit, Arguments: []byte(stagingArguments), Audience: "deploy"},
	}
}

// planting is a marker and the request that holds it.
type planting struct {
	planted
	request proto.Message
}

// make makes the calls, side by side: each waits for the disk.
func (s *secrets) make(t *testing.T, all []planting) {
	t.Helper()
	next := make(chan *planting)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for p := range next {
				p.id, _ = s.call(t, p.request, nil)
			}
		})
	}
	for i := range all {
		next <- &all[i]
	}
	close(next)
	wg.Wait()
	for _, p := range all {
		s.planted = append(s.planted, p.planted)
	}
}

// plantFields plants a marker into every field of every request, in every form.
func (s *secrets) plantFields(t *testing.T) {
	t.Helper()
	var all []planting
	for n, base := range s.bases(t) {
		d := base.ProtoReflect().Descriptor()
		for _, to := range paths(t, d, nil) {
			name := fmt.Sprintf("%s.%s", d.Name(), to)
			row := fields[name]
			for i, f := range append(slices.Clone(everywhere), row.forms...) {
				p := planting{request: proto.Clone(base), planted: planted{
					marker: newMarker(), where: fmt.Sprintf("%s, %s, base %d", name, f.name, n), rule: name + ", " + f.name, seen: f.seen,
				}}
				if i < len(everywhere) {
					p.rule, p.seen = name, row.seen
				}
				if r, ok := p.request.(*hallmarkv1.AuthorizeRequest); ok {
					r.Call.RequestId = fmt.Sprintf("req.secrets.%d", len(all)) // no repeat of another
				}
				plant(p.request.ProtoReflect(), to, f.value(p.marker))
				all = append(all, p)
			}
		}
	}
	s.make(t, all)
}

// payloadRequest is the id of the requests of all replies.
const payloadRequest = "req.payload1"

// plantReplies lets tools return markers.
func (s *secrets) plantReplies(t *testing.T) {
	t.Helper()
	var all []planting
	for _, r := range append(jsonReplies(), textReplies()...) {
		p := planting{planted: planted{marker: newMarker(), where: r.tool + ", " + r.name, rule: r.tool + ", " + r.name, seen: r.seen, kept: r.kept}}
		p.request = &hallmarkv1.ValidateRequest{
			Request: &hallmarkv1.OutstandingRequest{Tool: r.tool, RequestId: payloadRequest, SessionId: "secrets", ArgumentsJson: r.args},
			Payload: &hallmarkv1.ValidateRequest_Raw{Raw: []byte(r.raw(p.marker))}, Upstream: r.up,
		}
		all = append(all, p)
	}
	s.make(t, all)
	for _, p := range all {
		if p.id == "" {
			t.Errorf("%s: the call was refused as such", p.where)
		}
	}
}

// nowhere plants a marker that may be seen nowhere.
func (s *secrets) nowhere(where string) string {
	p := planted{marker: newMarker(), where: where, rule: where}
	s.planted = append(s.planted, p)
	return p.marker
}

// bytesCodec sends what is no message of any kind.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error) { return []byte(*v.(*string)), nil }
func (bytesCodec) Unmarshal([]byte, any) error   { return nil }
func (bytesCodec) Name() string                  { return "proto" }

// plantHeaders plants markers around requests: in metadata, in names of methods, in bytes
// that are no message, and in what the ops port is asked.
func (s *secrets) plantHeaders(t *testing.T) {
	t.Helper()
	md := metadata.MD{}
	for _, name := range []string{
		"authorization", "cookie", "x-api-key", "x-forwarded-for", "traceparent", "tracestate", "x-secret-bin", "hallmark-decision-id", "hallmark-tenant",
	} {
		md.Set(name, "Bearer "+s.nowhere("metadata, "+name))
	}
	for _, base := range s.bases(t) {
		s.call(t, base, md)
	}
	const validate = "/hallmark.v1.GateService/Validate"
	for method, body := range map[string]string{
		"/hallmark.v1.GateService/" + s.nowhere("the name of a method"): "",
		"/" + s.nowhere("the name of a service") + "/Validate":          "",
		validate: "\x0a\xff" + s.nowhere("bytes that are no message"),
	} {
		ctx, cancel := outside.Guard()
		var header, trailer metadata.MD
		err := s.p.conn.Invoke(ctx, method, &body, &struct{}{}, grpc.ForceCodec(bytesCodec{}), grpc.Header(&header), grpc.Trailer(&trailer))
		cancel()
		if err == nil {
			t.Errorf("%s was answered", method)
		}
		s.add(inStatus, []byte(fmt.Sprint(err, header, trailer)))
	}
	client := &http.Client{Timeout: 10 * time.Second}
	for _, path := range []string{"/readyz?token=", "/metrics?token=", "/", "/.well-known/jwks.json?"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.p.Ops+path+s.nowhere("a URL of the ops port, "+path), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+s.nowhere("a header of the ops port"))
		request.Header.Set("Cookie", "session="+s.nowhere("a cookie of the ops port"))
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
}

// plantTokens looks for the tokens that the service itself has given out.
func (s *secrets) plantTokens(t *testing.T) {
	t.Helper()
	_, out := s.call(t, &hallmarkv1.ValidateRequest{
		Request: &hallmarkv1.OutstandingRequest{
			Tool: "list_runs", RequestId: payloadRequest, SessionId: "secrets", ArgumentsJson: `{"project_id":"bluebird"}`,
		},
		Payload: &hallmarkv1.ValidateRequest_RawText{RawText: `{"project_id":"bluebird","runs":[]}`}, Upstream: via("application/json"),
	}, nil)
	s.token(t, "a receipt", out.(*hallmarkv1.ValidateResponse).GetReceipt())
	for n, base := range s.bases(t)[2:4] {
		_, out := s.call(t, base, nil)
		answer := out.(*hallmarkv1.AuthorizeResponse)
		s.token(t, []string{"a permit", "a challenge"}[n], answer.GetPermit()+answer.GetApprovalChallenge())
	}
}

// ownTokens are where tokens of the service's own may be seen: a reply that asks for an
// approval holds the challenge, and nothing else holds any.
var ownTokens = map[string][]string{"a challenge": {inReply}}

// token notes the signature of a token: whoever has it has the token.
func (s *secrets) token(t *testing.T, kind, token string) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Errorf("no token where %s should be", kind)
		return
	}
	s.planted = append(s.planted, planted{marker: parts[2], where: kind, rule: kind, seen: ownTokens[kind]})
}

// judge looks for every marker in every sink.
func (s *secrets) judge(t *testing.T) {
	t.Helper()
	unused := map[string][]string{}
	for _, p := range s.planted {
		if _, ok := unused[p.rule]; !ok {
			unused[p.rule] = p.seen
		}
		for _, sink := range s.shows(p.marker) {
			if !slices.Contains(p.seen, sink) {
				t.Errorf("%s: %s shows it", p.where, sink)
			}
			unused[p.rule] = slices.DeleteFunc(slices.Clone(unused[p.rule]), func(u string) bool { return u == sink })
		}
	}
	for rule, sinks := range unused {
		for _, sink := range sinks {
			t.Errorf("%s: %s may show it and never does: the search is wrong, or the row", rule, sink)
		}
	}
	for _, sink := range []string{inLog, inProbes, inRecord, inKeys, inNotices, inStatus, inAgent, inReply} {
		if len(s.text[sink]) == 0 {
			t.Errorf("nothing was written to %s: nothing was proved", sink)
		}
	}
	t.Logf("%d markers looked for", len(s.planted))
}
