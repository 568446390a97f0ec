package contract

import "slices"

// FailureCode is the one word that an agent learns about a refusal (A7). The zero
// value is no failure at all and never leaves the service.
type FailureCode string

// The failure codes, as the wire API names them.
const (
	InvalidResponse     FailureCode = "INVALID_RESPONSE"
	NotFound            FailureCode = "NOT_FOUND"
	UpstreamUnavailable FailureCode = "UPSTREAM_UNAVAILABLE"
	ToolFailed          FailureCode = "TOOL_FAILED"
	NotAuthorized       FailureCode = "NOT_AUTHORIZED"
	InvalidArguments    FailureCode = "INVALID_ARGUMENTS"
	UnknownTool         FailureCode = "UNKNOWN_TOOL"
	EvidenceRequired    FailureCode = "EVIDENCE_REQUIRED"
	ApprovalRequired    FailureCode = "APPROVAL_REQUIRED"
	OutcomeUnknown      FailureCode = "OUTCOME_UNKNOWN"
)

// FailureCodes returns every failure code in the order of the wire API.
func FailureCodes() []FailureCode {
	return []FailureCode{
		InvalidResponse, NotFound, UpstreamUnavailable, ToolFailed, NotAuthorized,
		InvalidArguments, UnknownTool, EvidenceRequired, ApprovalRequired, OutcomeUnknown,
	}
}

// Known reports whether c is one of [FailureCodes].
func (c FailureCode) Known() bool { return slices.Contains(FailureCodes(), c) }

// Layer is the stage that refused (A14: a rejection says which layer refused).
type Layer string

// The layers, in the order in which they judge.
const (
	LayerTransport Layer = "TRANSPORT"
	LayerLimits    Layer = "LIMITS"
	LayerSyntax    Layer = "SYNTAX"
	LayerAdapter   Layer = "ADAPTER"
	LayerSchema    Layer = "SCHEMA"
	LayerSemantic  Layer = "SEMANTIC"
	LayerText      Layer = "TEXT"
	LayerPolicy    Layer = "POLICY"
	LayerInternal  Layer = "INTERNAL"
)

// Layers returns every layer in the order of the wire API.
func Layers() []Layer {
	return []Layer{
		LayerTransport, LayerLimits, LayerSyntax, LayerAdapter, LayerSchema,
		LayerSemantic, LayerText, LayerPolicy, LayerInternal,
	}
}

// Reason is why a result was refused, for operators (A17).
type Reason string

// The reasons, as the wire API names them.
const (
	ReasonByteLimit         Reason = "BYTE_LIMIT"
	ReasonDepthLimit        Reason = "DEPTH_LIMIT"
	ReasonItemLimit         Reason = "ITEM_LIMIT"
	ReasonStringLimit       Reason = "STRING_LIMIT"
	ReasonNumberLimit       Reason = "NUMBER_LIMIT"
	ReasonEncoding          Reason = "ENCODING"
	ReasonJSONSyntax        Reason = "JSON_SYNTAX"
	ReasonDuplicateName     Reason = "DUPLICATE_NAME"
	ReasonSchema            Reason = "SCHEMA"
	ReasonBinding           Reason = "BINDING"
	ReasonFreshness         Reason = "FRESHNESS"
	ReasonSignature         Reason = "SIGNATURE"
	ReasonCheck             Reason = "CHECK"
	ReasonUnknownTool       Reason = "UNKNOWN_TOOL"
	ReasonUnknownVersion    Reason = "UNKNOWN_VERSION"
	ReasonMediaType         Reason = "MEDIA_TYPE"
	ReasonRedirects         Reason = "REDIRECTS"
	ReasonHTMLLimit         Reason = "HTML_LIMIT"
	ReasonAdapter           Reason = "ADAPTER"
	ReasonCommandOutput     Reason = "COMMAND_OUTPUT"
	ReasonUpstreamStatus    Reason = "UPSTREAM_STATUS"
	ReasonUpstreamTransport Reason = "UPSTREAM_TRANSPORT"
	ReasonToolReported      Reason = "TOOL_REPORTED"
	ReasonEvaluationBudget  Reason = "EVALUATION_BUDGET"
	ReasonCharacter         Reason = "CHARACTER"
	ReasonMCPResult         Reason = "MCP_RESULT"
)

// Reasons returns every reason in the order of the wire API.
func Reasons() []Reason {
	return []Reason{
		ReasonByteLimit, ReasonDepthLimit, ReasonItemLimit, ReasonStringLimit,
		ReasonNumberLimit, ReasonEncoding, ReasonJSONSyntax, ReasonDuplicateName,
		ReasonSchema, ReasonBinding, ReasonFreshness, ReasonSignature, ReasonCheck,
		ReasonUnknownTool, ReasonUnknownVersion, ReasonMediaType, ReasonRedirects,
		ReasonHTMLLimit, ReasonAdapter, ReasonCommandOutput, ReasonUpstreamStatus,
		ReasonUpstreamTransport, ReasonToolReported, ReasonEvaluationBudget,
		ReasonCharacter, ReasonMCPResult,
	}
}

// Decisions returns every decision about a call, as the wire API names them.
func Decisions() []string { return []string{"DENY", decisionAllow, "NEEDS_APPROVAL"} }

// decisionAllow is the decision that refuses nothing.
const decisionAllow = "ALLOW"

// ReasonCodes returns the code of every reason of a decision in the order of the wire
// API.
func ReasonCodes() []string {
	return []string{
		"UNKNOWN_TOOL", "INVALID_ARGUMENTS", "NO_GRANT", "OUT_OF_SCOPE", "GRANT_EXPIRED",
		"GRANT_EXHAUSTED", "EVIDENCE_MISSING", "EVIDENCE_STALE", "EVIDENCE_MISMATCH",
		"EVIDENCE_INVALID", "FORBIDDEN", "APPROVAL_REQUIRED", "APPROVAL_INVALID", "REPLAYED",
		"CONDITION_ERROR", "READ_ONLY", "GRANTED", "APPROVAL_REFUSED", "UNKNOWN_VERSION",
		"PERMIT_INVALID",
	}
}

// refusals are the failure codes of a call that is not allowed.
func refusals() []FailureCode {
	return []FailureCode{NotAuthorized, InvalidArguments, UnknownTool, EvidenceRequired, ApprovalRequired}
}

// CheckRawSource names, in a rejection, the check of who may read sources (B6).
const CheckRawSource = "raw_source"

// TransportError is how a caller saw that there was no reply.
type TransportError string

// The transport errors, as the wire API names them.
const (
	TransportTimeout   TransportError = "TIMEOUT"
	TransportConnect   TransportError = "CONNECT"
	TransportTLS       TransportError = "TLS"
	TransportCancelled TransportError = "CANCELLED"
	TransportOther     TransportError = "OTHER"
	TransportTooLarge  TransportError = "TOO_LARGE"
)

// TransportErrors returns every transport error in the order of the wire API.
func TransportErrors() []TransportError {
	return []TransportError{
		TransportTimeout, TransportConnect, TransportTLS, TransportCancelled,
		TransportOther, TransportTooLarge,
	}
}
