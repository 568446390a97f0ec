package server

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// eventToWire makes the message of a record.
func eventToWire(r audit.Record) *hallmarkv1.Event {
	out := &hallmarkv1.Event{
		DecisionId: valid(r.DecisionID), At: timeToWire(r.At), Rpc: valid(r.RPC),
		Tenant: valid(r.Tenant), Caller: valid(r.Caller),
		Tool: valid(r.Tool), ContractVersion: r.ContractVersion,
		ContractDigest: valid(r.ContractDigest), ContractsDigest: valid(r.ContractsDigest), Owner: valid(r.Owner),
		RequestId: valid(r.RequestID), SessionId: valid(r.SessionID), CallIdDigest: valid(r.CallIDDigest),
		Principal: valid(r.Principal), ArgumentsDigest: valid(r.ArgumentsDigest),
		Source: valid(r.Source), Adapter: valid(r.Adapter), MediaType: valid(r.MediaType),
		UpstreamStatus: valid(r.UpstreamStatus), Reserialized: r.Reserialized,
		RawBytes: r.RawBytes, RawDigest: valid(r.RawDigest), OutputBytes: r.OutputBytes,
		Truncated: r.Truncated, OriginalKept: r.OriginalKept,
		FailureCode: known[hallmarkv1.FailureCode](r.FailureCode),
		Decision:    known[hallmarkv1.Decision](r.Decision),
		GrantIds:    validAll(r.GrantIDs), EvidenceIds: validAll(r.EvidenceIDs),
		ReceiptId: valid(r.ReceiptID), PermitId: valid(r.PermitID),
		Approver: valid(r.Approver), ChallengeId: valid(r.ChallengeID), GrantIssuer: valid(r.GrantIssuer),
		Attempt: r.Attempt, Duration: durationpb.New(r.Duration),
	}
	if r.Rejection != (audit.Rejection{}) {
		out.Rejection = rejectionToWire(r.Rejection)
	}
	for _, j := range r.MoreRejections {
		out.MoreRejections = append(out.MoreRejections, rejectionToWire(j))
	}
	for _, reason := range r.Reasons {
		out.Reasons = append(out.Reasons, reasonToWire(reason))
	}
	if len(r.Signals) > 0 {
		out.Signals = make(map[string]uint64, len(r.Signals))
		for name, n := range r.Signals {
			out.Signals[valid(name)] = n
		}
	}
	return out
}

func rejectionToWire(r audit.Rejection) *hallmarkv1.Rejection {
	return &hallmarkv1.Rejection{
		Layer: known[hallmarkv1.Layer](r.Layer), Reason: known[hallmarkv1.RejectionReason](r.Reason),
		InstancePath: valid(r.InstancePath), SchemaPath: valid(r.SchemaPath), Keyword: valid(r.Keyword),
		Check: valid(r.Check), Detail: valid(r.Detail), Offset: r.Offset,
	}
}

func reasonToWire(r audit.Reason) *hallmarkv1.Reason {
	return &hallmarkv1.Reason{
		Code: known[hallmarkv1.ReasonCode](r.Code), GrantId: valid(r.GrantID), Scope: valid(r.Scope),
		Argument: valid(r.Argument), RequiredTool: valid(r.RequiredTool), Keyword: valid(r.Keyword),
	}
}

// filterFromWire makes the store's filter. A value that this version does not know is
// refused: an empty answer would look like "nothing happened". The error is a
// [*gate.CallError].
func filterFromWire(f *hallmarkv1.EventFilter) (audit.Filter, error) {
	out := audit.Filter{
		Tool: f.GetTool(), RequestID: f.GetRequestId(), SessionID: f.GetSessionId(),
		RPC: f.GetRpc(), Tenant: f.GetTenant(),
	}
	var err error
	if out.Since, err = timeFromWire("filter.since", f.GetSince()); err != nil {
		return audit.Filter{}, err
	}
	if out.Until, err = timeFromWire("filter.until", f.GetUntil()); err != nil {
		return audit.Filter{}, err
	}
	var ok [3]bool
	out.FailureCode, ok[0] = fromWire[string](f.GetFailureCode())
	out.Reason, ok[1] = fromWire[string](f.GetReason())
	out.Decision, ok[2] = fromWire[string](f.GetDecision())
	for i, field := range [...]string{"filter.failure_code", "filter.reason", "filter.decision"} {
		if !ok[i] {
			return audit.Filter{}, &gate.CallError{Field: field, Detail: "is a value that this version does not know"}
		}
	}
	switch out.RPC {
	case "", "validate", "authorize", "redeem":
		return out, nil
	}
	return audit.Filter{}, &gate.CallError{Field: "filter.rpc", Detail: "is none of validate, authorize, redeem"}
}
