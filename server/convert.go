package server

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// callFromWire makes the gate's call of a request that passed the rules of the API. The
// call shares the payload's bytes with the request. The error is a [*gate.CallError].
func callFromWire(req *hallmarkv1.ValidateRequest) (gate.Call, error) {
	r, u := req.GetRequest(), req.GetUpstream()
	call := gate.Call{
		Raw: rawFromWire(req),
		Request: gate.Request{
			Tool: r.GetTool(), RequestID: r.GetRequestId(), ContractVersion: intOf(r.GetContractVersion()),
			ArgumentsJSON: r.GetArgumentsJson(), SessionID: r.GetSessionId(), CallID: r.GetCallId(),
			Attempt: intOf(r.GetAttempt()), Evidence: r.GetEvidence(),
		},
		Upstream: gate.Upstream{
			Source: u.GetSource(), MediaType: u.GetMediaType(), Adapter: u.GetAdapter(),
			Redirects: intOf(u.GetRedirects()), Reserialized: u.GetReserialized(),
			RawSource: u.GetRawSource(),
		},
	}
	var err error
	if call.Request.IssuedAt, err = timeFromWire("request.issued_at", r.GetIssuedAt()); err != nil {
		return gate.Call{}, err
	}
	if call.Request.FirstAttemptAt, err = timeFromWire("request.first_attempt_at", r.GetFirstAttemptAt()); err != nil {
		return gate.Call{}, err
	}
	if _, err = timeFromWire("upstream.received_at", u.GetReceivedAt()); err != nil {
		return gate.Call{}, err
	}
	if after := u.GetRetryAfter(); after != nil {
		if after.CheckValid() != nil || after.AsDuration() < 0 {
			return gate.Call{}, &gate.CallError{Field: "upstream.retry_after", Detail: "is not a duration from 0 on"}
		}
		call.Upstream.RetryAfter = after.AsDuration()
	}
	call.Upstream.Status, err = statusFromWire(u)
	return call, err
}

// rawFromWire returns the payload: nil where there is none, and never nil where it is
// empty.
func rawFromWire(req *hallmarkv1.ValidateRequest) []byte {
	switch p := req.GetPayload().(type) {
	case *hallmarkv1.ValidateRequest_Raw:
		if p.Raw == nil {
			return []byte{}
		}
		return p.Raw
	case *hallmarkv1.ValidateRequest_RawText:
		return []byte(p.RawText)
	}
	return nil
}

// statusFromWire returns how the reply came; nothing set is success. A member of the
// oneof that this code does not know cannot be success.
func statusFromWire(u *hallmarkv1.Upstream) (gate.Status, error) {
	switch s := u.GetStatus().(type) {
	case nil:
		return gate.Status{}, nil
	case *hallmarkv1.Upstream_HttpStatus:
		return gate.Status{Kind: gate.StatusHTTP, Code: intOf(s.HttpStatus)}, nil
	case *hallmarkv1.Upstream_ExitCode:
		return gate.Status{Kind: gate.StatusExit, Code: int(s.ExitCode)}, nil
	case *hallmarkv1.Upstream_JsonrpcError:
		return gate.Status{Kind: gate.StatusJSONRPC, Code: int(s.JsonrpcError)}, nil
	case *hallmarkv1.Upstream_GrpcStatus:
		return gate.Status{Kind: gate.StatusGRPC, Code: intOf(s.GrpcStatus)}, nil
	case *hallmarkv1.Upstream_ToolRaised:
		return gate.Status{Kind: gate.StatusRaised}, nil
	case *hallmarkv1.Upstream_TransportError:
		if name, known := fromWire[contract.TransportError](s.TransportError); known && name != "" {
			return gate.Status{Kind: gate.StatusTransport, Transport: name}, nil
		}
	}
	return gate.Status{}, &gate.CallError{Field: "upstream.status", Detail: "is of a kind that this version does not know"}
}

// timeFromWire returns the zero time where there is none.
func timeFromWire(field string, t *timestamppb.Timestamp) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	if t.CheckValid() != nil {
		return time.Time{}, &gate.CallError{Field: field, Detail: "is not a time between the years 1 and 9999"}
	}
	return t.AsTime(), nil
}

// timeToWire returns nil for the zero time.
func timeToWire(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// intOf converts without ever becoming negative where an int has 32 bits.
func intOf(n uint32) int { return int(min(n, math.MaxInt32)) }

// valid returns s as valid UTF-8, which strings of messages must be: marshalling a
// reply would fail after the work was done.
func valid(s string) string {
	if utf8.ValidString(s) { // several times as fast
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func validAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = valid(s)
	}
	return out
}

// replyToWire makes the message of a reply.
func replyToWire(r gate.Reply) *hallmarkv1.ValidateResponse {
	out := &hallmarkv1.ValidateResponse{
		Result: resultToWire(r.Result), ModelPayload: valid(r.ModelPayload),
		DecisionId: valid(r.DecisionID), ContractsDigest: valid(r.ContractsDigest), Receipt: valid(r.Receipt),
	}
	if r.Retry != nil {
		out.Retry = &hallmarkv1.Retry{Allowed: proto.Bool(r.Retry.Allowed), NotAfter: timeToWire(r.Retry.NotAfter)}
		if r.Retry.Allowed {
			out.Retry.AttemptsLeft = countOf(r.Retry.AttemptsLeft)
			out.Retry.Delay = durationpb.New(r.Retry.Delay)
		}
	}
	if j := r.Rejection; j != nil {
		out.Rejection = &hallmarkv1.Rejection{
			Layer: known[hallmarkv1.Layer](j.Layer), Reason: known[hallmarkv1.RejectionReason](j.Reason),
			InstancePath: valid(j.At), SchemaPath: valid(j.SchemaPath), Keyword: valid(j.Keyword),
			Check: valid(j.Check), Detail: valid(j.Detail), Offset: uint64(max(j.Offset, 0)),
		}
	}
	return out
}

// resultToWire makes the only part of a reply that an agent may see. A result with
// neither data, text nor failure, which nothing makes, is a failure.
func resultToWire(r gate.ToolResult) *hallmarkv1.ToolResult {
	out := &hallmarkv1.ToolResult{
		Tool: valid(r.Tool), RequestId: valid(r.RequestID), ContractVersion: countOf(r.ContractVersion),
		Provenance: &hallmarkv1.Provenance{
			Source: valid(r.Provenance.Source), MediaType: valid(r.Provenance.MediaType),
			Trust: hallmarkv1.Trust_TRUST_UNTRUSTED,
		},
		Constraints: &hallmarkv1.Constraints{
			TreatAsInstructions: proto.Bool(false), MayAuthorizeActions: proto.Bool(false),
		},
		ValidatedAt: timeToWire(r.ValidatedAt), FreshUntil: timeToWire(r.FreshUntil),
	}
	if r.Provenance.Trusted {
		out.Provenance.Trust = hallmarkv1.Trust_TRUST_TRUSTED
	}
	if r.Data != nil && r.Failure == nil {
		out.Outcome = &hallmarkv1.ToolResult_Data{Data: &hallmarkv1.Data{
			Json: valid(r.Data.JSON), UntrustedText: validAll(r.Data.UntrustedText), Truncated: r.Data.Truncated,
		}}
		return out
	}
	if r.Text != nil && r.Failure == nil {
		out.Outcome = &hallmarkv1.ToolResult_Text{Text: textToWire(r.Text)}
		return out
	}
	failure := gate.Failure{Code: contract.InvalidResponse}
	if r.Failure != nil {
		failure = *r.Failure
	}
	code := known[hallmarkv1.FailureCode](failure.Code)
	if code == hallmarkv1.FailureCode_FAILURE_CODE_UNSPECIFIED {
		code = hallmarkv1.FailureCode_FAILURE_CODE_INVALID_RESPONSE
	}
	out.Outcome = &hallmarkv1.ToolResult_Failure{Failure: &hallmarkv1.Failure{
		Code: code, Retryable: proto.Bool(failure.Retryable), DisplayText: textToWire(failure.DisplayText),
	}}
	return out
}

// textToWire converts outside text; nil stays nil.
func textToWire(t *gate.Text) *hallmarkv1.Text {
	if t == nil {
		return nil
	}
	out := &hallmarkv1.Text{
		Content: valid(t.Content), Truncated: t.Truncated, Normalization: valid(t.Normalization), Title: valid(t.Title),
	}
	for _, l := range t.Links {
		out.Links = append(out.Links, &hallmarkv1.Link{Text: valid(l.Text), Href: valid(l.Href)})
	}
	return out
}

// known is toWire with the unspecified value for names that the wire does not have.
func known[E wireEnum, N ~string](name N) E {
	value, _ := toWire[E](name)
	return value
}

// countOf converts a count; what is negative is 0.
func countOf(n int) uint32 {
	return uint32(min(max(int64(n), 0), math.MaxUint32)) //nolint:gosec // bounded
}
