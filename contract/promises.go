package contract

import (
	"slices"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// FieldsIn returns the indexes of the agent fields that a projected value has.
func (c *Contract) FieldsIn(projected []byte) []int {
	v, err := strictjson.Parse(projected, strictjson.Ceilings())
	if err != nil {
		return nil
	}
	var found []int
	for i, at := range c.Result.AgentFields {
		if !v.All(at, func(strictjson.Value) bool { return false }) {
			found = append(found, i)
		}
	}
	return found
}

// ReportableCodes returns the failure codes that replies of this contract can lead to:
// what the framing may report, NOT_FOUND where a status means it, and the service's
// own for a broken reply and for none.
func (c *Contract) ReportableCodes() []FailureCode {
	var out []FailureCode
	for _, code := range FailureCodes() {
		if c.canReport(code) {
			out = append(out, code)
		}
	}
	return out
}

func (c *Contract) canReport(code FailureCode) bool {
	if slices.Contains(c.Result.reportedCodes(), code) {
		return true
	}
	unknownOutcome := c.Effect == SideEffect && !c.Idempotent
	switch code {
	case InvalidResponse:
		return !unknownOutcome
	case UpstreamUnavailable:
		return true
	case OutcomeUnknown:
		return unknownOutcome
	case NotFound:
		return len(c.Result.NotFoundHTTP) > 0
	}
	return false
}

// reportedCodes are the codes with which the tool itself may report a failure.
func (r *Result) reportedCodes() []FailureCode {
	switch r.Framing {
	case FramingEnvelope:
		return r.FailureCodes
	case FramingMCP:
		return []FailureCode{ToolFailed}
	case FramingJSONRPC:
		return []FailureCode{ToolFailed, InvalidArguments}
	}
	return nil
}
