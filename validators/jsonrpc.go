package validators

import (
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// response is the framing of JSON-RPC 2.0 section 5 around a CallToolResult:
//
//	{"jsonrpc": "2.0", "id", "result"}
//	{"jsonrpc": "2.0", "id", "error": {"code", "message", "data"?}}
//
// Its id must be the one with which the tool was called, in type and in value: 1 is
// not "1". Of an error nothing goes on but its message, where the contract lets people
// see some of it.
type response struct{ result callResult }

// otherCall is the rejection of a response to another call, or to nobody knows which.
var otherCall = Rejection{
	Layer: contract.LayerSemantic, Reason: contract.ReasonBinding, Check: "id",
	At: "/id", Detail: "the response's id is not that of the call",
}

func (f response) unframe(v strictjson.Value, r Request) (frame, *Verdict) {
	s := shape{name: "jsonrpc"}
	f.check(&s, v)
	if refused := s.refusal(); refused != nil {
		return frame{}, refused
	}
	framed, failed := f.open(v)
	switch {
	case isID(v.Member("id"), r.CallID):
	case failed == nil:
		framed.foreign = &otherCall
	default:
		// A failure of another call is none of ours (A6), whatever it says.
		refused := Refuse(otherCall)
		failed = &refused
	}
	return framed, failed
}

func (f response) open(v strictjson.Value) (frame, *Verdict) {
	if result := v.Member("result"); result.Exists() {
		return f.result.open(result, strictjson.Pointer{"result"})
	}
	fault := v.Member("error")
	code := contract.ToolFailed
	if n, _ := fault.Member("code").Decimal().Int64(); n == invalidParams {
		code = contract.InvalidArguments
	}
	failed := reported(code, "/error/code", "the response reports an error")
	failed.show([]string{fault.Member("message").Text()}, f.result.display)
	return frame{}, &failed
}

// invalidParams is JSON-RPC's code for arguments that the method does not take.
const invalidParams = -32602

func (f response) check(s *shape, v strictjson.Value) {
	if !s.is(v, strictjson.Object, "") {
		return
	}
	s.refuseOthers(v, "", "jsonrpc", "id", "result", "error")
	s.require(v, "", "jsonrpc")
	if version := v.Member("jsonrpc"); version.Exists() && version.Text() != "2.0" {
		s.fault("/jsonrpc", "const", version.Offset())
	}
	result, fault := v.Member("result"), v.Member("error")
	switch {
	case result.Exists() && fault.Exists():
		s.fault("/error", "additionalProperties", fault.Offset())
	case result.Exists():
		f.result.check(s, result, "/result")
	case fault.Exists():
		f.checkError(s, fault)
	default:
		s.require(v, "", "result")
	}
}

func (f response) checkError(s *shape, v strictjson.Value) {
	if !s.is(v, strictjson.Object, "/error") {
		return
	}
	s.refuseOthers(v, "/error", "code", "message", "data")
	s.require(v, "/error", "code", "message")
	code := v.Member("code")
	if s.is(code, strictjson.Number, "/error/code") && !code.Decimal().IsInteger() {
		s.fault("/error/code", "type", code.Offset())
	}
	s.is(v.Member("message"), strictjson.String, "/error/message")
}

// isID reports whether a response's id is the one that the caller names. A name that
// is itself a JSON number or a JSON string literal means that value; any other means a
// string. Without a name nothing is bound.
func isID(id strictjson.Value, callID string) bool {
	if callID == "" || !id.Exists() {
		return false
	}
	want, err := strictjson.Parse([]byte(callID), strictjson.Ceilings())
	whole := err == nil && want.Offset() == 0 && want.End() == len(callID)
	if whole && (want.Kind() == strictjson.Number || want.Kind() == strictjson.String) {
		return strictjson.Equal(want, id)
	}
	return id.Kind() == strictjson.String && id.Text() == callID
}
