package server

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/validators"
)

// walk checks one enum both ways and returns its names.
func walk[E wireEnum](t *testing.T) []string {
	t.Helper()
	var names []string
	values := E(0).Descriptor().Values()
	for i := range values.Len() {
		v := E(values.Get(i).Number())
		name, ok := fromWire[string](v)
		if !ok || (name == "") != (v == 0) || strings.Contains(name, "UNSPECIFIED") {
			t.Errorf("%s is named %q", values.Get(i).Name(), name)
		}
		if back, ok := toWire[E](name); !ok || back != v {
			t.Errorf("%q leads to %v, not %v", name, back, v)
		}
		if v != 0 {
			names = append(names, name)
		}
	}
	for _, unknown := range []string{"UNSPECIFIED", "NO_SUCH_NAME", "invalid_response", "\xff", " "} {
		if v, ok := toWire[E](unknown); ok || v != 0 {
			t.Errorf("%q leads to %v", unknown, v)
		}
	}
	if name, ok := fromWire[string](E(9999)); ok || name != "" {
		t.Errorf("9999 is named %q", name)
	}
	return names
}

// No value of any enum lacks a name, and our vocabulary is the wire's.
func TestEveryEnumValue(t *testing.T) {
	walked := map[protoreflect.FullName][]string{
		"hallmark.v1.FailureCode":     walk[hallmarkv1.FailureCode](t),
		"hallmark.v1.Layer":           walk[hallmarkv1.Layer](t),
		"hallmark.v1.RejectionReason": walk[hallmarkv1.RejectionReason](t),
		"hallmark.v1.TransportError":  walk[hallmarkv1.TransportError](t),
		"hallmark.v1.Decision":        walk[hallmarkv1.Decision](t),
		"hallmark.v1.ReasonCode":      walk[hallmarkv1.ReasonCode](t),
		"hallmark.v1.Trust":           walk[hallmarkv1.Trust](t),
		"hallmark.v1.Effect":          walk[hallmarkv1.Effect](t),
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("hallmark.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Enums().Len() {
			if _, ok := walked[file.Enums().Get(i).FullName()]; !ok {
				t.Errorf("%s is not walked", file.Enums().Get(i).FullName())
			}
		}
		return true
	})
	for name, ours := range map[protoreflect.FullName][]string{
		"hallmark.v1.FailureCode":     plain(contract.FailureCodes()),
		"hallmark.v1.Layer":           plain(contract.Layers()),
		"hallmark.v1.RejectionReason": plain(contract.Reasons()),
		"hallmark.v1.TransportError":  plain(contract.TransportErrors()),
	} {
		if !slices.Equal(ours, walked[name]) {
			t.Errorf("%s: ours %q, the wire's %q", name, ours, walked[name])
		}
	}
}

func plain[N ~string](in []N) []string {
	out := make([]string, len(in))
	for i, n := range in {
		out[i] = string(n)
	}
	return out
}

// Every field of a request reaches the gate.
func TestCallFromWire(t *testing.T) {
	issued, first := time.Unix(1000, 5).UTC(), time.Unix(900, 0).UTC()
	req := &hallmarkv1.ValidateRequest{
		Request: &hallmarkv1.OutstandingRequest{
			Tool: "a", RequestId: "b", ContractVersion: 2, ArgumentsJson: "c", IssuedAt: timestamppb.New(issued),
			Attempt: 3, FirstAttemptAt: timestamppb.New(first), SessionId: "d", CallId: "e",
		},
		Payload: &hallmarkv1.ValidateRequest_RawText{RawText: "ж"},
		Upstream: &hallmarkv1.Upstream{
			Source: "f", MediaType: "g", Redirects: 4, Adapter: "h", Reserialized: true, RetryAfter: durationpb.New(time.Second),
			ReceivedAt: timestamppb.New(issued), Status: &hallmarkv1.Upstream_HttpStatus{HttpStatus: 503},
		},
	}
	want := gate.Call{
		Raw: []byte("ж"),
		Request: gate.Request{
			Tool: "a", RequestID: "b", ContractVersion: 2, ArgumentsJSON: "c", SessionID: "d", CallID: "e",
			Attempt: 3, IssuedAt: issued, FirstAttemptAt: first,
		},
		Upstream: gate.Upstream{
			Source: "f", MediaType: "g", Adapter: "h", Redirects: 4, Reserialized: true, RetryAfter: time.Second,
			Status: gate.Status{Kind: gate.StatusHTTP, Code: 503},
		},
	}
	if got, err := callFromWire(req); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	// Large numbers do not become negative where an int has 32 bits.
	req.Request.Attempt = 1<<32 - 1
	if got, err := callFromWire(req); err != nil || got.Request.Attempt != 1<<31-1 {
		t.Errorf("attempt %d, %v", got.Request.Attempt, err)
	}
}

// An absent payload is nil and an empty one is not, however it was made.
func TestRawFromWire(t *testing.T) {
	for name, c := range map[string]struct {
		req    *hallmarkv1.ValidateRequest
		absent bool
	}{
		"no request":     {nil, true},
		"absent":         {&hallmarkv1.ValidateRequest{}, true},
		"nil raw":        {&hallmarkv1.ValidateRequest{Payload: &hallmarkv1.ValidateRequest_Raw{}}, false},
		"empty raw":      {&hallmarkv1.ValidateRequest{Payload: &hallmarkv1.ValidateRequest_Raw{Raw: []byte{}}}, false},
		"empty raw_text": {&hallmarkv1.ValidateRequest{Payload: &hallmarkv1.ValidateRequest_RawText{}}, false},
	} {
		if raw := rawFromWire(c.req); (raw == nil) != c.absent || len(raw) != 0 {
			t.Errorf("%s: %v", name, raw)
		}
	}
}

// Every status of the wire is one of the gate's, and none of them is success by
// accident.
func TestStatusFromWire(t *testing.T) {
	for _, c := range []struct {
		in   *hallmarkv1.Upstream
		want gate.Status
	}{
		{nil, gate.Status{}},
		{&hallmarkv1.Upstream{}, gate.Status{}},
		{&hallmarkv1.Upstream{Status: &hallmarkv1.Upstream_HttpStatus{}}, gate.Status{Kind: gate.StatusHTTP}},
		{&hallmarkv1.Upstream{Status: &hallmarkv1.Upstream_ExitCode{ExitCode: -9}}, gate.Status{Kind: gate.StatusExit, Code: -9}},
		{&hallmarkv1.Upstream{Status: &hallmarkv1.Upstream_JsonrpcError{JsonrpcError: -32602}}, gate.Status{Kind: gate.StatusJSONRPC, Code: -32602}},
		{&hallmarkv1.Upstream{Status: &hallmarkv1.Upstream_GrpcStatus{GrpcStatus: 14}}, gate.Status{Kind: gate.StatusGRPC, Code: 14}},
		{&hallmarkv1.Upstream{Status: &hallmarkv1.Upstream_ToolRaised{ToolRaised: true}}, gate.Status{Kind: gate.StatusRaised}},
		{
			&hallmarkv1.Upstream{Status: &hallmarkv1.Upstream_TransportError{TransportError: hallmarkv1.TransportError_TRANSPORT_ERROR_TLS}},
			gate.Status{Kind: gate.StatusTransport, Transport: contract.TransportTLS},
		},
	} {
		if got, err := statusFromWire(c.in); err != nil || got != c.want {
			t.Errorf("%v: %+v, %v", c.in, got, err)
		}
	}
	oneof := (&hallmarkv1.Upstream{}).ProtoReflect().Descriptor().Oneofs().ByName("status")
	for i := range oneof.Fields().Len() {
		m := &hallmarkv1.Upstream{}
		m.ProtoReflect().Set(oneof.Fields().Get(i), m.ProtoReflect().NewField(oneof.Fields().Get(i)))
		if got, err := statusFromWire(m); err == nil && got == (gate.Status{}) {
			t.Errorf("%s is taken for no status", oneof.Fields().Get(i).Name())
		}
	}
}

// A result that says nothing, or two things, is a refusal.
func TestDisplayTextToWire(t *testing.T) { // A7
	f := resultToWire(gate.ToolResult{Failure: &gate.Failure{
		Code: contract.ToolFailed, DisplayText: &gate.Text{Content: "no index\xff", Truncated: true, Normalization: "NFC"},
	}}).GetFailure()
	shown := f.GetDisplayText()
	if shown.GetContent() != "no index\uFFFD" || !shown.GetTruncated() || shown.GetNormalization() != "NFC" || len(shown.GetLinks()) > 0 {
		t.Errorf("%v", shown)
	}
	if resultToWire(gate.ToolResult{Failure: &gate.Failure{Code: contract.ToolFailed}}).GetFailure().DisplayText != nil {
		t.Error("display text of a failure that has none")
	}
}

func TestResultFailsClosed(t *testing.T) {
	data := &gate.Data{JSON: "{}"}
	for name, r := range map[string]gate.ToolResult{
		"nothing":      {},
		"both":         {Data: data, Failure: &gate.Failure{Code: contract.InvalidResponse}},
		"unknown code": {Failure: &gate.Failure{Code: "NEVER_HEARD"}},
		"no code":      {Failure: &gate.Failure{}},
	} {
		f := resultToWire(r).GetFailure()
		if f.GetCode() != hallmarkv1.FailureCode_FAILURE_CODE_INVALID_RESPONSE || f.Retryable == nil || *f.Retryable {
			t.Errorf("%s: %v", name, f)
		}
	}
	if got := resultToWire(gate.ToolResult{Data: data}); got.GetData().GetJson() != "{}" || got.GetFreshUntil() != nil {
		t.Errorf("data: %v", got)
	}
	if got := resultToWire(gate.ToolResult{Provenance: gate.Provenance{Trusted: true}}); got.GetProvenance().GetTrust() != hallmarkv1.Trust_TRUST_TRUSTED {
		t.Errorf("trust: %v", got)
	}
}

// filler fills plain Go values; every string is made by text.
type filler struct {
	n    int
	text func(n int) string
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text(f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(f.text(f.n)), reflect.ValueOf(uint64(f.n)))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(f.n), 0)))
			return
		}
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	default:
		panic("no filling for " + v.Type().String())
	}
}

// Every field of a record reaches the event, each its own.
func TestEveryFieldOfAnEvent(t *testing.T) {
	var r audit.Record
	f := &filler{text: func(n int) string { return fmt.Sprintf("text-%03d", n) }}
	f.fill(reflect.ValueOf(&r).Elem())
	r.FailureCode, r.Decision, r.Delivered = "NOT_FOUND", "ALLOW", "" // the last is for the gate alone
	r.Rejection.Layer, r.Rejection.Reason = "SCHEMA", "BINDING"
	for i := range r.MoreRejections {
		r.MoreRejections[i].Layer, r.MoreRejections[i].Reason = "TEXT", "CHECK"
	}
	for i := range r.Reasons {
		r.Reasons[i].Code = "GRANTED"
	}
	e := eventToWire(r)
	complete(t, e.ProtoReflect())
	text := fmt.Sprintf("%+v", r)
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" :{}[]", r) }) {
		if strings.HasPrefix(word, "text-") && !strings.Contains(e.String(), word) {
			t.Errorf("%s is lost", word)
		}
	}
	if empty := eventToWire(audit.Record{}); empty.GetRejection() != nil || empty.GetAt() != nil || empty.GetSignals() != nil {
		t.Errorf("an empty record: %v", empty)
	}
}

// complete fails the test for every field of a message that is not set.
func complete(t *testing.T, m protoreflect.Message) {
	t.Helper()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		switch {
		case !m.Has(field):
			t.Errorf("%s is not set", field.FullName())
		case field.IsList() && field.Message() != nil:
			for j := range m.Get(field).List().Len() {
				complete(t, m.Get(field).List().Get(j).Message())
			}
		case field.Message() != nil && !field.IsMap() && strings.HasPrefix(string(field.Message().FullName()), "hallmark."):
			complete(t, m.Get(field).Message())
		}
	}
}

// Case 154: no string that we emit breaks the marshalling of a reply.
func TestStringsAreValidUTF8(t *testing.T) {
	broken := &filler{text: func(int) string { return "caf\xe9" }}
	var r audit.Record
	broken.fill(reflect.ValueOf(&r).Elem())
	b, err := proto.Marshal(eventToWire(r))
	if err != nil {
		t.Errorf("event: %v", err)
	}
	if !strings.Contains(string(b), "caf\uFFFD") {
		t.Error("the text is lost")
	}
	reply := gate.Reply{
		ModelPayload: "caf\xe9", DecisionID: "caf\xe9", ContractsDigest: "caf\xe9",
		Rejection: &validators.Rejection{}, Retry: &gate.Retry{},
	}
	broken.fill(reflect.ValueOf(&reply.Result).Elem())
	broken.fill(reflect.ValueOf(reply.Rejection).Elem())
	for _, only := range []func(){func() {}, func() { reply.Result.Failure = nil }} {
		only()
		if _, err := proto.Marshal(replyToWire(reply)); err != nil {
			t.Errorf("reply: %v", err)
		}
	}
	if _, err := proto.Marshal(invalidArgument([]fieldFault{{"caf\xe9", "caf\xe9"}}).Proto()); err != nil {
		t.Errorf("status: %v", err)
	}
}

// FuzzRequest: whatever arrives is refused as malformed, or becomes a call whose reply
// can be marshalled.
func FuzzRequest(f *testing.F) {
	rules, err := newForm()
	if err != nil {
		f.Fatal(err)
	}
	for _, raw := range []string{accepted, "", "{", "\xff"} {
		b, err := proto.Marshal(call("review_status", []byte(raw)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0x0a, 0x04, 0x0a, 0x02, 0xe9, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var req hallmarkv1.ValidateRequest
		if proto.Unmarshal(b, &req) != nil {
			return
		}
		err := rules.check(&req)
		if err == nil {
			var c gate.Call
			if c, err = callFromWire(&req); err == nil {
				reply := gate.Reply{Result: gate.ToolResult{Tool: c.Request.Tool, Provenance: gate.Provenance{Source: c.Upstream.Source}}}
				if _, err := proto.Marshal(replyToWire(reply)); err != nil {
					t.Error(err)
				}
				return
			}
		}
		st := statusOf(err).Proto()
		if st.GetCode() != 3 || proto.Size(st) >= 4<<10 {
			t.Errorf("%v: %v", err, st)
		}
	})
}
