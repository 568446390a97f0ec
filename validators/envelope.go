package validators

import (
	"slices"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// envelope is the framing with the two exclusive shapes of A4:
//
//	{"tool", "request_id", "outcome": "success", "data"}
//	{"tool", "request_id", "outcome": "failure", "error": {"code", "retryable"}}
//
// It reports the shape that outcome chooses. The value of data is left to the
// contract's schema.
type envelope struct {
	tool  string
	codes []contract.FailureCode // that may be reported
	under strictjson.Pointer     // where data stands
}

// otherRequest is the rejection of an envelope that answers somebody else.
var otherRequest = Rejection{
	Layer: contract.LayerSemantic, Reason: contract.ReasonBinding, Check: "request_id",
	At: "/request_id", Detail: "the envelope names another request",
}

func (e envelope) unframe(v strictjson.Value, r Request) (frame, *Verdict) {
	s := shape{name: "envelope"}
	e.check(&s, v)
	if refused := s.refusal(); refused != nil {
		return frame{}, refused
	}
	var foreign *Rejection
	if v.Member("request_id").Text() != r.RequestID {
		foreign = &otherRequest
	}
	if v.Member("outcome").Text() == "success" {
		return frame{payload: v.Member("data"), under: e.under, foreign: foreign}, nil
	}
	// A failure that belongs to another request is none of ours (A6), whatever it says.
	if foreign != nil {
		refused := Refuse(*foreign)
		return frame{}, &refused
	}
	failed := reported(contract.FailureCode(v.Member("error").Member("code").Text()),
		"/error/code", "the envelope reports a failure")
	return frame{}, &failed
}

func (e envelope) check(s *shape, v strictjson.Value) {
	if !s.is(v, strictjson.Object, "") {
		return
	}
	outcome := v.Member("outcome")
	switch outcome.Text() {
	case "success":
		s.refuseOthers(v, "", "tool", "request_id", "outcome", "data")
		s.require(v, "", "tool", "request_id", "outcome", "data")
	case "failure":
		s.refuseOthers(v, "", "tool", "request_id", "outcome", "error")
		s.require(v, "", "tool", "request_id", "outcome", "error")
		e.checkError(s, v.Member("error"))
	default:
		s.refuseOthers(v, "", "tool", "request_id", "outcome", "data", "error")
		s.require(v, "", "tool", "request_id", "outcome")
		if outcome.Exists() {
			s.fault("/outcome", "enum", outcome.Offset())
		}
	}
	if tool := v.Member("tool"); tool.Exists() && tool.Text() != e.tool {
		s.fault("/tool", "const", tool.Offset())
	}
	if id := v.Member("request_id"); id.Exists() && !isRequestID(id) {
		s.fault("/request_id", "pattern", id.Offset())
	}
}

func (e envelope) checkError(s *shape, v strictjson.Value) {
	if !s.is(v, strictjson.Object, "/error") {
		return
	}
	s.refuseOthers(v, "/error", "code", "retryable")
	s.require(v, "/error", "code", "retryable")
	if code := v.Member("code"); code.Exists() && !slices.Contains(e.codes, contract.FailureCode(code.Text())) {
		s.fault("/error/code", "enum", code.Offset())
	}
	s.is(v.Member("retryable"), strictjson.Bool, "/error/retryable")
}

// isRequestID checks the form that the API gives to request ids, so that no paragraph
// fits in one (A6): ^[A-Za-z0-9][A-Za-z0-9_.:-]{7,63}$.
func isRequestID(v strictjson.Value) bool {
	id := v.Text()
	if len(id) < 8 || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		alphanumeric := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !alphanumeric && (i == 0 || c != '_' && c != '.' && c != ':' && c != '-') {
			return false
		}
	}
	return true
}
