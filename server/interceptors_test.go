package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// transport is a grpc.ServerTransportStream that only keeps headers.
type transport struct{ header metadata.MD }

func (s *transport) Method() string { return "/x.Y/Z" }
func (s *transport) SetHeader(md metadata.MD) error {
	s.header = metadata.Join(s.header, md)
	return nil
}
func (s *transport) SendHeader(metadata.MD) error { return nil }
func (s *transport) SetTrailer(metadata.MD) error { return nil }

func withTransport(ctx context.Context) context.Context {
	return grpc.NewContextWithServerTransportStream(ctx, &transport{})
}

// Habit 11: the order is checked when the chain is built.
func TestChainOrder(t *testing.T) {
	f, err := newForm()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newChain(discard(), inPlaintext(t).guard, inPlaintext(t).lanes, f)
	if err != nil {
		t.Fatal(err)
	}
	if err := c[1:].check(); err == nil {
		t.Error("a chain without its first step is accepted")
	}
	for i := range len(c) - 1 {
		swapped := slices.Clone(c)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		if err := swapped.check(); err == nil {
			t.Errorf("%s before %s is accepted", swapped[i].name, swapped[i+1].name)
		}
		idle := slices.Clone(c)
		idle[i] = interceptor{name: idle[i].name}
		if err := idle.check(); err == nil {
			t.Errorf("a %s that does nothing is accepted", idle[i].name)
		}
	}
}

// Unary and streaming calls go through the same steps in the same order.
func TestChainParity(t *testing.T) {
	var trace []string
	var c chain
	for _, name := range chainOrder() {
		c = append(c, interceptor{
			name: name,
			around: func(ctx context.Context, method string, next func(context.Context) error) error {
				trace = append(trace, "in "+name+" "+method)
				err := next(context.WithValue(ctx, decisionIDKey{}, name))
				trace = append(trace, "out "+name+" "+err.Error())
				return err
			},
			received: func(any) error { trace = append(trace, "received "+name); return nil },
		})
	}
	end := errors.New("end")
	unary := c.unary("/a/b", func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		if id := decisionID(ctx); id != "form" {
			t.Errorf("unary: the context is that of %q", id)
		}
		return nil, errors.Join(decode(&healthv1.HealthCheckRequest{}), end)
	})
	_, err := unary(nil, context.Background(), func(any) error { return nil }, nil)
	if !errors.Is(err, end) {
		t.Error(err)
	}
	inUnary := trace
	trace = nil
	err = c.stream("/a/b", func(_ any, ss grpc.ServerStream) error {
		if id := decisionID(ss.Context()); id != "form" {
			t.Errorf("stream: the context is that of %q", id)
		}
		return errors.Join(ss.RecvMsg(&healthv1.HealthCheckRequest{}), end)
	})(nil, &emptyStream{})
	if !errors.Is(err, end) {
		t.Error(err)
	}
	if !slices.Equal(inUnary, trace) || len(trace) != 3*len(c) {
		t.Errorf("unary %q\nstream %q", inUnary, trace)
	}
}

type emptyStream struct{ grpc.ServerStream }

func (*emptyStream) Context() context.Context { return context.Background() }
func (*emptyStream) RecvMsg(any) error        { return nil }

// rawCodec sends bytes as they are.
type rawCodec struct{ encoding.CodecV2 }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }
func (rawCodec) Name() string                         { return "proto" }

// Every reply and every error names the call.
func TestDecisionIDEverywhere(t *testing.T) {
	s := start(t)
	seen := map[string]bool{}
	notUTF8 := append([]byte{0x0a, 0x04, 0x0a, 0x02}, 0xe9, 0xff) // case 154: request.tool
	for _, c := range []struct {
		name, method string
		message      []byte
		code         codes.Code
	}{
		{"accepted", hallmarkv1.GateService_Validate_FullMethodName, marshal(t, call("review_status", []byte(accepted))), codes.OK},
		{"refused by a rule", hallmarkv1.GateService_Validate_FullMethodName, nil, codes.InvalidArgument},
		{"refused by the gate", hallmarkv1.GateService_Validate_FullMethodName, marshal(t, call("review_status", nil)), codes.InvalidArgument},
		{"not UTF-8", hallmarkv1.GateService_Validate_FullMethodName, notUTF8, codes.InvalidArgument},
		{"no protobuf", hallmarkv1.GateService_Validate_FullMethodName, []byte{0xff}, codes.InvalidArgument},
		{"too large", hallmarkv1.GateService_Validate_FullMethodName, make([]byte, MaxReceiveBytes+1), codes.ResourceExhausted},
		{"unknown original", hallmarkv1.AuditService_GetOriginal_FullMethodName, marshal(t, &hallmarkv1.GetOriginalRequest{DecisionId: "0195000a-0001-7000-8000-00000000000a"}), codes.NotFound},
		{"a call without a request", hallmarkv1.GateService_Authorize_FullMethodName, nil, codes.InvalidArgument},
		{"unknown event", hallmarkv1.AuditService_GetEvent_FullMethodName, marshal(t, &hallmarkv1.GetEventRequest{DecisionId: "0195000a-0001-7000-8000-00000000000a"}), codes.NotFound},
		{"unknown method", "/hallmark.v1.GateService/FAKE-SECRET-123", nil, codes.Unimplemented},
		{"unknown service", "/FAKE-SECRET-123/Validate", nil, codes.Unimplemented},
		{"health", healthv1.Health_Check_FullMethodName, nil, codes.OK},
		{"health of nobody", healthv1.Health_Check_FullMethodName, marshal(t, &healthv1.HealthCheckRequest{Service: "FAKE-SECRET-123"}), codes.NotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			var header metadata.MD
			err := s.conn.Invoke(ctxFor(t), c.method, c.message, nil, grpc.Header(&header), grpc.ForceCodecV2(rawCodec{}))
			wantCode(t, err, c.code)
			id := onlyID(t, header)
			if seen[id] {
				t.Errorf("the id %s is used twice", id)
			}
			seen[id] = true
			if strings.Contains(status.Convert(err).Message(), "FAKE-SECRET-123") {
				t.Errorf("message %q", status.Convert(err).Message())
			}
			s.logged(t, id, c.code)
		})
	}
	watch, err := s.health.Watch(ctxFor(t), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	header, err := watch.Header()
	if err != nil {
		t.Fatal(err)
	}
	onlyID(t, header)
	if strings.Contains(s.log.String(), "FAKE-SECRET-123") {
		t.Error("the log holds the caller's words")
	}
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Streams keep the rules of the API too.
func TestStreamIsJudged(t *testing.T) {
	s := start(t)
	stream, err := s.conn.NewStream(ctxFor(t), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, healthv1.Health_Watch_FullMethodName, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg([]byte{0xff}); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	wantCode(t, stream.RecvMsg(nil), codes.InvalidArgument)
}

// B11, cases 152 and 154: a marker in every place that a caller can fill appears in no
// log line, no status and no header.
func TestMarker(t *testing.T) {
	const marker = "MARKER-zq5x"
	s := start(t, func(s *setup) {
		if err := s.registry.RegisterReader("list_runs", 1, panickyReader{}); err != nil {
			t.Fatal(err)
		}
	})
	for _, raw := range []string{
		marker, `"` + marker + `"`, `{"` + marker + `":1,"` + marker + `":2}`, `{"a":"` + marker, marker + "\xff", "\xef\xbb\xbf" + marker,
		strings.Repeat(`{"`+marker+`":`, 100), `<html>` + marker, `{"tool":"` + marker + `"}`,
		`{"tool":"review_status","request_id":"` + requestID + `","outcome":"failure","error":{"code":"` + marker + `","retryable":true}}`,
		`{"tool":"review_status","request_id":"` + requestID + `","outcome":"success","data":{"change_id":"` + marker + `","decision":"` + marker + `","reviewed_by":"x"}}`,
		`{"tool":"review_status","request_id":"` + marker + `","outcome":"success","data":{}}`,
		strings.Replace(accepted, "Ana", marker, 1), "PANIC-NOW" + marker, `{"n":1` + strings.Repeat("0", 4000) + `,"` + marker + `":1}`,
	} {
		for _, tool := range []string{"review_status", "list_runs", marker} {
			for _, text := range []bool{false, true} {
				for _, edit := range markers(marker) {
					req := call(tool, []byte(raw))
					if text {
						req.Payload = &hallmarkv1.ValidateRequest_RawText{RawText: strings.ToValidUTF8(raw, "")}
					}
					edit(req)
					var header, trailer metadata.MD
					_, err := s.gate.Validate(ctxFor(t), req, grpc.Header(&header), grpc.Trailer(&trailer))
					for where, text := range map[string]string{
						"status": protojson.Format(status.Convert(err).Proto()), "metadata": strings.Join(append(flat(header), flat(trailer)...), " "),
					} {
						if strings.Contains(text, marker) {
							t.Fatalf("%s of %q holds the marker: %s", where, raw, text)
						}
					}
				}
			}
		}
	}
	for _, req := range []*hallmarkv1.ListEventsRequest{
		{PageToken: marker}, {Filter: &hallmarkv1.EventFilter{Rpc: marker}}, {Filter: &hallmarkv1.EventFilter{Tool: marker, Tenant: marker}},
	} {
		_, err := s.audit.ListEvents(ctxFor(t), req)
		if strings.Contains(protojson.Format(status.Convert(err).Proto()), marker) {
			t.Errorf("%v", err)
		}
	}
	_, err := s.audit.GetEvent(ctxFor(t), &hallmarkv1.GetEventRequest{DecisionId: marker})
	wantCode(t, err, codes.InvalidArgument)
	if log := s.log.String(); strings.Contains(log, marker) || strings.Contains(log, "zq5x") {
		t.Error("the log holds the marker")
	}
	if _, body := get(t, s.ops+"/metrics"); strings.Contains(body, "zq5x") {
		t.Error("the metrics hold the marker")
	}
}

// markers returns edits that plant the marker, each in another field.
func markers(marker string) []func(*hallmarkv1.ValidateRequest) {
	return []func(*hallmarkv1.ValidateRequest){
		func(*hallmarkv1.ValidateRequest) {},
		func(r *hallmarkv1.ValidateRequest) { r.Request.RequestId = marker },
		func(r *hallmarkv1.ValidateRequest) { r.Request.RequestId = marker + " " },
		func(r *hallmarkv1.ValidateRequest) { r.Request.SessionId = marker },
		func(r *hallmarkv1.ValidateRequest) { r.Request.SessionId = marker + "?" },
		func(r *hallmarkv1.ValidateRequest) { r.Request.CallId = marker },
		func(r *hallmarkv1.ValidateRequest) { r.Request.ArgumentsJson = `{"` + marker + `":"` + marker + `"}` },
		func(r *hallmarkv1.ValidateRequest) { r.Request.ArgumentsJson = `{"` + marker + `":` + marker },
		func(r *hallmarkv1.ValidateRequest) { r.Request.Evidence = []string{marker} },
		func(r *hallmarkv1.ValidateRequest) {
			r.Upstream.Source = "https://" + marker + "@x.example.test/" + marker
		},
		func(r *hallmarkv1.ValidateRequest) { r.Upstream.MediaType = marker },
		func(r *hallmarkv1.ValidateRequest) { r.Upstream.Adapter = marker },
		func(r *hallmarkv1.ValidateRequest) { r.Upstream.Adapter = marker + "?" },
	}
}

// Reflection lists the services, so that grpcurl needs no files.
func TestReflection(t *testing.T) {
	s := start(t)
	stream, err := reflectionv1.NewServerReflectionClient(s.conn).ServerReflectionInfo(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	ask := &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{ListServices: "*"}}
	if err := stream.Send(ask); err != nil {
		t.Fatal(err)
	}
	reply, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, service := range reply.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	for _, want := range []string{"hallmark.v1.GateService", "hallmark.v1.ContractService", "hallmark.v1.AuditService", "grpc.health.v1.Health"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing in %q", want, names)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
