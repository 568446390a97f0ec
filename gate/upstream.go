package gate

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

// arrival is what the way of a reply says before a byte of it is looked at: nothing
// (the zero arrival), or a refusal.
type arrival struct {
	code       contract.FailureCode
	rejection  validators.Rejection
	neverRetry bool // whatever the contract's retry rules say
	definite   bool // the other side refused: nothing was done
}

// arrive maps how a reply came to a refusal, in the order transport, status, redirects,
// media type; last what the caller asks for beyond the reply.
func arrive(c *contract.Contract, caller Caller, u Upstream) (arrival, bool) {
	if a, refused := arriveStatus(c, u.Status); refused {
		return a, true
	}
	if most := c.Result.MaxRedirects(); u.Redirects > most {
		return refuseArrival(contract.InvalidResponse, contract.ReasonRedirects,
			fmt.Sprintf("redirected %d times, allowed are %d", u.Redirects, most)), true
	}
	if detail := mediaTypeFault(c.Result.MediaTypes, u.MediaType); detail != "" {
		return refuseArrival(contract.InvalidResponse, contract.ReasonMediaType, detail), true
	}
	if u.RawSource {
		return arriveRaw(c, caller)
	}
	return arrival{}, false
}

// arriveRaw refuses the source of a page (B6) to whoever may not have it: the contract
// must allow it, and the caller have the role. It is a decision about a permission, so
// that it is made before anything looks at the reply, and no retry changes it.
func arriveRaw(c *contract.Contract, caller Caller) (arrival, bool) {
	detail := ""
	switch {
	case c.Result.Text == nil || !c.Result.Text.RawSource:
		detail = "the source is asked for, and the contract does not allow it"
	case !caller.RawReader:
		detail = "the source is asked for, and the caller has not the role raw_reader"
	default:
		return arrival{}, false
	}
	return arrival{code: contract.NotAuthorized, neverRetry: true, rejection: validators.Rejection{
		Layer: contract.LayerPolicy, Reason: contract.ReasonCheck, Check: contract.CheckRawSource, Detail: detail,
	}}, true
}

func refuseArrival(code contract.FailureCode, reason contract.Reason, detail string) arrival {
	return arrival{code: code, rejection: validators.Rejection{
		Layer: contract.LayerTransport, Reason: reason, Detail: detail,
	}}
}

func arriveStatus(c *contract.Contract, s Status) (arrival, bool) {
	if arrives(c, s) {
		return arrival{}, false
	}
	if s.Kind == StatusTransport {
		return arriveTransport(s.Transport), true
	}
	code := statusCode(c, s)
	a := refuseArrival(code, contract.ReasonUpstreamStatus, "the other side did not report success")
	a.neverRetry = code == contract.NotAuthorized
	a.definite = code == contract.NotAuthorized || code == contract.NotFound || code == contract.InvalidArguments
	return a, true
}

// arrives reports whether a reply with this status is judged at all. A command's
// contract says with which exit codes its output is usable.
func arrives(c *contract.Contract, s Status) bool {
	if command := c.Result.Command; command != nil && s.Kind == StatusExit {
		return slices.Contains(command.ExitCodes, s.Code)
	}
	return s.succeeded()
}

// arriveTransport maps the lack of a reply. CONNECT alone proves that nothing left.
func arriveTransport(t contract.TransportError) arrival {
	if t == contract.TransportTooLarge {
		a := refuseArrival(contract.InvalidResponse, contract.ReasonByteLimit, "the reply exceeded the caller's own limit")
		a.rejection.Layer = contract.LayerLimits
		return a
	}
	a := refuseArrival(contract.UpstreamUnavailable, contract.ReasonUpstreamTransport, "no reply: "+strings.ToLower(string(t)))
	a.neverRetry = t == contract.TransportCancelled
	a.definite = t == contract.TransportConnect
	return a
}

// statusCode maps a status that is no success to what the agent is told.
func statusCode(c *contract.Contract, s Status) contract.FailureCode {
	switch s.Kind {
	case StatusHTTP:
		return httpCode(c, s.Code)
	case StatusGRPC:
		return grpcCode(s.Code)
	case StatusRaised:
		return contract.ToolFailed
	case StatusJSONRPC:
		if s.Code == invalidParams {
			return contract.InvalidArguments
		}
		return contract.ToolFailed
	}
	return contract.InvalidResponse
}

// invalidParams is JSON-RPC 2.0's code for arguments that the method does not take.
const invalidParams = -32602

func httpCode(c *contract.Contract, status int) contract.FailureCode {
	switch {
	case slices.Contains(c.Result.NotFoundHTTP, status):
		return contract.NotFound
	case status == 408 || status == 429 || (status >= 500 && status <= 599):
		return contract.UpstreamUnavailable
	case status == 401 || status == 403:
		return contract.NotAuthorized
	}
	return contract.InvalidResponse
}

func grpcCode(status int) contract.FailureCode {
	switch status {
	case 4, 8, 14: // DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE
		return contract.UpstreamUnavailable
	case 5: // NOT_FOUND
		return contract.NotFound
	case 7, 16: // PERMISSION_DENIED, UNAUTHENTICATED
		return contract.NotAuthorized
	}
	return contract.InvalidResponse
}

// mediaTypeFault returns what is wrong with a declared media type, or "".
func mediaTypeFault(allowed []string, declared string) string {
	if declared == "" {
		if len(allowed) == 1 {
			return ""
		}
		return "no media type is declared, and the contract has several"
	}
	if slices.Contains(allowed, declared) { // as it is mostly written; parsing costs more
		return ""
	}
	base, _, err := mime.ParseMediaType(declared)
	if err != nil {
		return "the declared media type is malformed"
	}
	if !slices.Contains(allowed, base) {
		return "the contract does not have the declared media type"
	}
	return ""
}

// mediaType returns the media type of a reply as the contract spells it.
func mediaType(allowed []string, declared string) string {
	if slices.Contains(allowed, declared) {
		return declared
	}
	if base, _, err := mime.ParseMediaType(declared); err == nil && slices.Contains(allowed, base) {
		return base
	}
	if len(allowed) == 1 {
		return allowed[0]
	}
	return ""
}

// String names the status for operators: "http 503", "exit 1", "timeout"; "" where it
// is absent.
func (s Status) String() string {
	switch s.Kind {
	case StatusHTTP:
		return fmt.Sprintf("http %d", s.Code)
	case StatusExit:
		return fmt.Sprintf("exit %d", s.Code)
	case StatusGRPC:
		return fmt.Sprintf("grpc %d", s.Code)
	case StatusJSONRPC:
		return fmt.Sprintf("jsonrpc %d", s.Code)
	case StatusTransport:
		return strings.ToLower(string(s.Transport))
	case StatusRaised:
		return "raised"
	}
	return ""
}
