package validators

import (
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// FuzzCommand: whatever is accepted is the whole output, spelled out again. A16
func FuzzCommand(f *testing.F) {
	reader, fault := readerOf(&contract.Contract{Result: contract.Result{Command: &contract.Command{
		Pattern: `^revision=(?P<revision>[^ ]*) count=(?P<count>.*)\n?$`,
		Convert: map[string]string{"count": contract.ConvertNumber},
	}}})
	if fault != nil {
		f.Fatal(fault)
	}
	for _, seed := range []string{
		"revision=4f2a9c1 count=3\n", "revision= count=-0.5e+7", "revision=a\"b\\ count=007", "revision=\u2028 count=1e999",
		"banner\nrevision=a count=1", "revision=a count=1\n\n", "revision=\xff count=1", "", "revision=a count=1,\"x\":2",
	} {
		f.Add([]byte(seed))
	}
	limits := strictjson.Ceilings()
	limits.MaxBytes, limits.MaxStringChars = 256, 64
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, refused := reader.Read(raw, limits)
		if refused != nil {
			if refused.Layer == "" || refused.Reason == "" || refused.Detail == "" {
				t.Fatalf("an empty refusal: %+v", refused)
			}
			return
		}
		again := "revision=" + v.Member("revision").Text() + " count=" + v.Member("count").Digits()
		if s := string(raw); s != again && s != again+"\n" {
			t.Fatalf("%q was read as %q", s, again)
		}
	})
}

// FuzzFraming: what is judged is a part of the reply that no failure is reported
// beside, and every refusal has a place in it.
func FuzzFraming(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":1},"isError":false,"resultType":"complete"}`,
		`{"isError":true,"content":[{"type":"text","text":"\u001b[31m"},{"type":"image"}]}`,
		`{"jsonrpc":"2.0","id":7,"result":{"structuredContent":[1]}}`,
		`{"jsonrpc":"2.0","id":"7","error":{"code":-32602,"message":"m","data":null}}`,
		`{"tool":"t","request_id":"req.A1b2C3d4","outcome":"success","data":null}`,
		`{"tool":"t","request_id":"req.A1b2C3d4","outcome":"failure","error":{"code":"NOT_FOUND","retryable":true}}`,
		`[]`, `null`, `{"content":[0,0,0,0,0,0,0],"a~/b":1}`,
	} {
		f.Add(seed, "7")
	}
	framings := map[contract.Framing]framing{}
	for _, kind := range []contract.Framing{contract.FramingPayload, contract.FramingEnvelope, contract.FramingMCP, contract.FramingJSONRPC} {
		framings[kind] = framingOf(&contract.Contract{Tool: "t", Result: contract.Result{
			Framing: kind, DisplayText: 8, FailureCodes: []contract.FailureCode{contract.NotFound},
		}})
	}
	f.Fuzz(func(t *testing.T, raw, callID string) {
		v, err := strictjson.Parse([]byte(raw), strictjson.Ceilings())
		if err != nil {
			return
		}
		for kind, take := range framings {
			framed, verdict := take.unframe(v, Request{RequestID: "req.A1b2C3d4", CallID: callID})
			if verdict != nil {
				checkRefusal(t, kind, *verdict)
				continue
			}
			at := kind.Payload()
			if !framed.payload.Exists() || framed.payload != v.At(at) || framed.under.String() != at.String() {
				t.Fatalf("%s: the payload of %s is elsewhere", kind, raw)
			}
			if v.Member("isError").IsTrue() && kind == contract.FramingMCP || v.Member("error").Exists() && kind == contract.FramingJSONRPC {
				t.Fatalf("%s: a failure is judged as a success: %s", kind, raw)
			}
			if kind == contract.FramingJSONRPC && framed.foreign == nil && (callID == "" || !v.Member("id").Exists()) {
				t.Fatalf("bound to no call: %s", raw)
			}
		}
	})
}

func checkRefusal(t *testing.T, kind contract.Framing, v Verdict) {
	t.Helper()
	if v.Accepted || v.Code == "" || len(v.Rejections) == 0 || len(v.Rejections) > MaxRejections {
		t.Fatalf("%s: %+v", kind, v)
	}
	for _, r := range v.Rejections {
		if _, err := strictjson.ParsePointer(r.At); err != nil || r.Layer == "" || r.Reason == "" {
			t.Fatalf("%s: %+v", kind, r)
		}
	}
	if reported := v.Rejections[0].Reason == contract.ReasonToolReported; !reported && v.Display != nil {
		t.Fatalf("%s: shown of what the tool did not report: %+v", kind, v)
	}
	if v.Display != nil && len([]rune(v.Display.Content)) > 8 {
		t.Fatalf("%s: more is shown than allowed: %q", kind, v.Display.Content)
	}
}
