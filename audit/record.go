package audit

import (
	"fmt"
	"time"
)

// Record is one judgement, field for field the message Event of the wire unless a field
// says otherwise. It never holds a value of the payload. Enums are the wire's names without their prefix ("SCHEMA",
// "DUPLICATE_NAME", "INVALID_RESPONSE", "ALLOW"); the empty string is the unspecified
// value. Digests are lowercase hex SHA-256 unless the field says otherwise.
//
// A Record is plain data: it may be read by many goroutines, and copies share their
// slices and the map. A store never changes or keeps what a caller's copy points to.
type Record struct {
	// DecisionID is the id of the judgement, a UUIDv7 in its lowercase form with hyphens
	// (RFC 9562, 4). It is the key of the record.
	DecisionID string `json:"-"`
	// At is when the judgement was made, kept to the nanosecond, in UTC when read back.
	At time.Time `json:"-"`
	// RPC is "validate", "authorize" or "redeem".
	RPC string `json:"-"`
	// Tenant is who the caller belongs to. The empty string is for calls whose tenant is
	// not known; only a reader of all tenants sees those.
	Tenant string `json:"-"`
	// Caller is the caller as authenticated.
	Caller string `json:"caller,omitzero"`
	// Tool is the name as the caller gave it; it may be no tool's name at all.
	Tool string `json:"-"`
	// ContractVersion is the version of the contract that judged; 0 where none did.
	ContractVersion uint32 `json:"contract_version,omitzero"`
	// ContractDigest is the digest of that contract.
	ContractDigest string `json:"contract_digest,omitzero"`
	// ContractsDigest is the digest of the published set.
	ContractsDigest string `json:"contracts_digest,omitzero"`
	// Owner is the connector's owner, as the contract names it.
	Owner string `json:"owner,omitzero"`
	// RequestID is the caller's id of the outstanding request.
	RequestID string `json:"-"`
	// SessionID is the caller's id of the agent's session.
	SessionID string `json:"-"`
	// CallIDDigest is the digest of the framework's own id of the call.
	CallIDDigest string `json:"call_id_digest,omitzero"`
	// Principal is the user for whom the call is made, as the caller knows it.
	Principal string `json:"principal,omitzero"`
	// ArgumentsDigest is the digest of the canonical arguments. Stores find by it.
	ArgumentsDigest string `json:"-"`
	// Source is an endpoint without user info, query and fragment, or a command's name.
	Source string `json:"source,omitzero"`
	// Adapter is the caller's name and version of what fetched the reply.
	Adapter string `json:"adapter,omitzero"`
	// MediaType is the media type of the reply.
	MediaType string `json:"media_type,omitzero"`
	// UpstreamStatus is "http 503", "exit 1", "timeout" and the like.
	UpstreamStatus string `json:"upstream_status,omitzero"`
	// Reserialized says that the bytes were not those that upstream sent.
	Reserialized bool `json:"reserialized,omitzero"`
	// RawBytes is the size of the judged bytes.
	RawBytes uint64 `json:"raw_bytes,omitzero"`
	// RawDigest is the digest of the original, or an HMAC under the audit key where the
	// contract redacts.
	RawDigest string `json:"raw_digest,omitzero"`
	// OutputBytes is the size of what was handed on.
	OutputBytes uint64 `json:"output_bytes,omitzero"`
	// Truncated says that the output was cut by the contract's limits.
	Truncated bool `json:"truncated,omitzero"`
	// OriginalKept says that the original was sealed and kept.
	OriginalKept bool `json:"original_kept,omitzero"`
	// FailureCode is what the agent was told; empty where the result was handed on.
	FailureCode string `json:"-"`
	// Rejection is the first refusal; its zero value stands for none.
	Rejection Rejection `json:"rejection,omitzero"`
	// MoreRejections are the ones after the first.
	MoreRejections []Rejection `json:"more_rejections,omitempty"`
	// Decision is "DENY", "ALLOW" or "NEEDS_APPROVAL"; empty for other calls.
	Decision string `json:"-"`
	// Delivered is "trusted" or "untrusted" where outside content was handed on, a tool's
	// own words about a failure included; "" where nothing was. It is not in the Event.
	Delivered string `json:"-"`
	// Reasons explain the decision.
	Reasons []Reason `json:"reasons,omitempty"`
	// GrantIDs are the grants that covered the call.
	GrantIDs []string `json:"grant_ids,omitempty"`
	// EvidenceIDs are the receipts that were used.
	EvidenceIDs []string `json:"evidence_ids,omitempty"`
	// ReceiptID is the id of the receipt that was issued.
	ReceiptID string `json:"receipt_id,omitzero"`
	// PermitID is the id of the permit that was issued or redeemed.
	PermitID string `json:"permit_id,omitzero"`
	// Signals are counts of what monitoring should know.
	Signals map[string]uint64 `json:"signals,omitempty"`
	// Attempt is the number of the attempt, from 1; 0 where it is not known.
	Attempt uint32 `json:"attempt,omitzero"`
	// Duration is how long the judgement took, stored in nanoseconds.
	Duration time.Duration `json:"duration_ns,omitzero"`
	// Approver is who answered the challenge, as the owner of the key is named.
	Approver string `json:"approver,omitzero"`
	// ChallengeID is the challenge that was asked or answered.
	ChallengeID string `json:"challenge_id,omitzero"`
	// GrantIssuer is who signed the grant that was used; empty where it was the caller's own.
	GrantIssuer string `json:"grant_issuer,omitzero"`
}

// Rejection is what refused, and where. Its zero value stands for no rejection.
type Rejection struct {
	// Layer is what refused: "TRANSPORT", "LIMITS", "SYNTAX", "SCHEMA" and so on.
	Layer string `json:"layer,omitzero"`
	// Reason is why: "BYTE_LIMIT", "DUPLICATE_NAME", "SCHEMA" and so on.
	Reason string `json:"reason,omitzero"`
	// InstancePath is a JSON Pointer (RFC 6901) into the judged value.
	InstancePath string `json:"instance_path,omitzero"`
	// SchemaPath is where in the contract's schema.
	SchemaPath string `json:"schema_path,omitzero"`
	// Keyword is the schema's keyword.
	Keyword string `json:"keyword,omitzero"`
	// Check is the name of the semantic check.
	Check string `json:"check,omitzero"`
	// Detail is a sentence of our own; never a value of the payload.
	Detail string `json:"detail,omitzero"`
	// Offset is the byte offset in the received bytes, from 0.
	Offset uint64 `json:"offset,omitzero"`
}

// Reason is one reason of a decision.
type Reason struct {
	// Code is the reason's code, "NO_GRANT" for example.
	Code string `json:"code,omitzero"`
	// GrantID is the grant that is spoken of.
	GrantID string `json:"grant_id,omitzero"`
	// Scope is the name of the contract's scope.
	Scope string `json:"scope,omitzero"`
	// Argument is the JSON Pointer of an argument that the contract's schema knows.
	Argument string `json:"argument,omitzero"`
	// RequiredTool is the tool whose fresh result is needed.
	RequiredTool string `json:"required_tool,omitzero"`
	// Keyword is the schema's keyword that refused an argument.
	Keyword string `json:"keyword,omitzero"`
}

// Check says whether a store can key the record: DecisionID is a lowercase UUID with
// hyphens and At lies in the years 1970 to 2261, which 64 bits of nanoseconds hold. Both
// are made by the service itself, so a failure is our own fault and no input causes it.
// The error matches [ErrInvalidRecord].
func (r *Record) Check() error {
	if !isUUID(r.DecisionID) {
		return fmt.Errorf("%w: decision id is no lowercase UUID", ErrInvalidRecord)
	}
	if !storable(r.At) {
		return fmt.Errorf("%w: time is outside 1970 to 2261", ErrInvalidRecord)
	}
	return nil
}

// storable reports whether 64 bits of nanoseconds since 1970 hold a time.
func storable(t time.Time) bool {
	y := t.UTC().Year()
	return y >= 1970 && y <= 2261
}

// isUUID reports whether s is 8-4-4-4-12 lowercase hex digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}
