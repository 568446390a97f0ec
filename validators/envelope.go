package validators

import (
	"slices"
	"sort"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// frame is a reply with its framing taken off.
type frame struct {
	payload strictjson.Value
	// under is where the payload stands in the received bytes; empty where an adapter
	// made it.
	under strictjson.Pointer
	// adapted is true where an adapter made the payload.
	adapted bool
	// otherRequest is true where the envelope names another request than ours. It is
	// refused with the semantic checks, after the schema.
	otherRequest bool
}

// otherRequest is the rejection of an envelope that answers somebody else.
var otherRequest = Rejection{
	Layer: contract.LayerSemantic, Reason: contract.ReasonBinding, Check: "request_id",
	At: "/request_id", Detail: "the envelope names another request",
}

// unframe takes the framing off. A verdict, where there is one, is final: the framing
// is broken, or it reports a failure.
func (t *Tool) unframe(v strictjson.Value, requestID string) (frame, *Verdict) {
	if t.Contract.Result.Framing != contract.FramingEnvelope {
		return frame{payload: v}, nil
	}
	e := envelope{tool: t.Contract.Tool, codes: t.Contract.Result.FailureCodes}
	e.check(v)
	if len(e.faults) > 0 {
		sort.SliceStable(e.faults, func(i, j int) bool { return e.faults[i].Offset < e.faults[j].Offset })
		for i := range e.faults {
			e.faults[i].Offset = 0
		}
		refused := Refuse(e.faults...)
		return frame{}, &refused
	}
	other := v.Member("request_id").Text() != requestID
	if v.Member("outcome").Text() == "success" {
		return frame{payload: v.Member("data"), under: strictjson.Pointer{"data"}, otherRequest: other}, nil
	}
	// A failure that belongs to another request is none of ours (A6), whatever it says.
	refused := Refuse(otherRequest)
	if !other {
		refused = Verdict{
			Code: contract.FailureCode(v.Member("error").Member("code").Text()),
			Rejections: []Rejection{{
				Layer: contract.LayerTransport, Reason: contract.ReasonToolReported,
				At: "/error/code", Detail: "the envelope reports a failure",
			}},
		}
	}
	return frame{}, &refused
}

// envelope checks the two exclusive shapes of A4:
//
//	{"tool", "request_id", "outcome": "success", "data"}
//	{"tool", "request_id", "outcome": "failure", "error": {"code", "retryable"}}
//
// It reports the shape that outcome chooses. The value of data is left to the
// contract's schema.
type envelope struct {
	tool   string
	codes  []contract.FailureCode
	faults []Rejection // Offset holds the place by which they are ordered
}

func (e *envelope) check(v strictjson.Value) {
	if v.Kind() != strictjson.Object {
		e.fault("", "type", v.Offset())
		return
	}
	outcome := v.Member("outcome")
	body := ""
	switch outcome.Text() {
	case "success":
		body = "data"
	case "failure":
		body = "error"
	}
	known := []string{"tool", "request_id", "outcome", body}
	if body == "" {
		known = []string{"tool", "request_id", "outcome", "data", "error"}
		if outcome.Exists() {
			e.fault("/outcome", "enum", outcome.Offset())
		}
	}
	e.refuseOthers(v, "", known...)
	for _, name := range known {
		if body != "" || (name != "data" && name != "error") {
			e.require(v, "", name)
		}
	}
	if tool := v.Member("tool"); tool.Exists() && tool.Text() != e.tool {
		e.fault("/tool", "const", tool.Offset())
	}
	if id := v.Member("request_id"); id.Exists() && !isRequestID(id) {
		e.fault("/request_id", "pattern", id.Offset())
	}
	if body == "error" {
		e.checkError(v.Member("error"))
	}
}

func (e *envelope) checkError(v strictjson.Value) {
	if !v.Exists() {
		return
	}
	if v.Kind() != strictjson.Object {
		e.fault("/error", "type", v.Offset())
		return
	}
	e.refuseOthers(v, "/error", "code", "retryable")
	e.require(v, "/error", "code")
	e.require(v, "/error", "retryable")
	if code := v.Member("code"); code.Exists() && !slices.Contains(e.codes, contract.FailureCode(code.Text())) {
		e.fault("/error/code", "enum", code.Offset())
	}
	if r := v.Member("retryable"); r.Exists() && r.Kind() != strictjson.Bool {
		e.fault("/error/retryable", "type", r.Offset())
	}
}

// refuseOthers notes the first members that are not known; more than can be reported
// are not collected.
func (e *envelope) refuseOthers(v strictjson.Value, under string, known ...string) {
	noted := 0
	for name, m := range v.Members() {
		if slices.Contains(known, name) {
			continue
		}
		if noted++; noted > MaxRejections {
			return
		}
		e.fault(under+shownPointer(strictjson.Pointer{name}), "additionalProperties", m.Offset())
	}
}

// require notes a missing member; its place is where the object ends without it.
func (e *envelope) require(v strictjson.Value, under, name string) {
	if !v.Member(name).Exists() {
		e.fault(under+"/"+name, "required", v.End())
	}
}

func (e *envelope) fault(at, keyword string, order int) {
	e.faults = append(e.faults, Rejection{
		Layer: contract.LayerSchema, Reason: contract.ReasonSchema,
		At: at, Keyword: keyword, SchemaPath: "envelope",
		Detail: "the envelope has not the promised shape", Offset: order,
	})
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
