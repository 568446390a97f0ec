package policy

// Decision is the answer to a [Request]. The zero Decision is DENY.
type Decision struct {
	Effect Effect
	// Reasons are all that speak for the effect, in an order that depends on nothing but
	// the request's content. Only the zero Decision has none.
	Reasons []Reason
	// Grants are the grants that cover the call, each alone: those for unlimited uses
	// first, then by their end, then by id and issuer. They point into Request.Grants.
	// Empty where the effect is DENY and where no grant is needed.
	Grants []*Grant
	// Evidence are the ids of the evidence that the decision rests on, and Consumed those
	// that a side effect uses up. Empty where the effect is DENY.
	Evidence []string
	Consumed []string
	// Obligations are what the executor must do, sorted. Empty where the effect is DENY.
	Obligations []Obligation
}

// Effect is what a decision comes to. Whatever is not Allow refuses.
type Effect uint8

// The effects.
const (
	Deny Effect = iota
	NeedsApproval
	Allow
)

// String returns the effect's name as the wire API spells it.
func (e Effect) String() string {
	switch e {
	case NeedsApproval:
		return "NEEDS_APPROVAL"
	case Allow:
		return "ALLOW"
	}
	return "DENY"
}

// Obligation is something that only the executor can do.
type Obligation string

// The obligations.
const (
	// NoRedirects: a url was compared; where it redirects to was not.
	NoRedirects Obligation = "no-redirects"
	// OpenBeneath: a path was compared as text; links in it must not lead elsewhere
	// (openat2 with RESOLVE_BENEATH, Go's os.Root).
	OpenBeneath Obligation = "open-beneath"
	// PublicAddress: the host's name must not resolve to an address of an inner network.
	PublicAddress Obligation = "public-address"
)

// Reason is one reason of a decision. It holds names of grants, contracts and policies
// and no value of an argument. All but Policy may be shown to an agent.
type Reason struct {
	Code     Code
	GrantID  string
	Scope    string // name of the contract's scope
	Argument string // JSON Pointer, as the contract has it
	// RequiredTool is the tool whose fresh result is needed.
	RequiredTool string
	// Keyword of the schema that refused an argument; Decide never sets it.
	Keyword string
	// Policy is the name of the deployment's rule, for operators.
	Policy string
}

// Code says what kind of reason it is, by its name on the wire.
type Code string

// The codes. Decide gives those up to Granted; the others are for who reads arguments,
// claims grants and evidence, and signs permits.
const (
	UnknownTool      Code = "UNKNOWN_TOOL"
	InvalidArguments Code = "INVALID_ARGUMENTS"
	NoGrant          Code = "NO_GRANT"
	OutOfScope       Code = "OUT_OF_SCOPE"
	GrantExpired     Code = "GRANT_EXPIRED"
	GrantExhausted   Code = "GRANT_EXHAUSTED"
	EvidenceMissing  Code = "EVIDENCE_MISSING"
	EvidenceStale    Code = "EVIDENCE_STALE"
	EvidenceMismatch Code = "EVIDENCE_MISMATCH"
	EvidenceInvalid  Code = "EVIDENCE_INVALID"
	Forbidden        Code = "FORBIDDEN"
	NeedsPerson      Code = "APPROVAL_REQUIRED"
	InvalidApproval  Code = "APPROVAL_INVALID"
	RefusedByPerson  Code = "APPROVAL_REFUSED"
	ConditionError   Code = "CONDITION_ERROR"
	OnlyReads        Code = "READ_ONLY"
	Granted          Code = "GRANTED"

	Replayed       Code = "REPLAYED"
	UnknownVersion Code = "UNKNOWN_VERSION"
	PermitInvalid  Code = "PERMIT_INVALID"
)

// The codes of [Failure], by their names on the wire.
const (
	failInvalidArguments = "INVALID_ARGUMENTS"
	failUnknownTool      = "UNKNOWN_TOOL"
	failEvidence         = "EVIDENCE_REQUIRED"
	failApproval         = "APPROVAL_REQUIRED"
	failNotAuthorized    = "NOT_AUTHORIZED"
)

// Failure returns the failure code that tells an agent what could help, by its name on
// the wire, and "" for Allow. EVIDENCE_REQUIRED and APPROVAL_REQUIRED are said only
// where nothing else is in the way: an agent that fetches evidence for a call that no
// grant covers has been sent on an errand.
func Failure(effect Effect, reasons []Reason) string {
	if effect == Allow {
		return ""
	}
	other, evidence, approval := false, false, false
	for _, r := range reasons {
		switch r.Code {
		case InvalidArguments:
			return failInvalidArguments
		case UnknownTool:
			return failUnknownTool
		case EvidenceMissing, EvidenceStale, EvidenceMismatch, EvidenceInvalid:
			evidence = true
		case Replayed:
			// Evidence that was used up can be had anew; nothing else that was can.
			evidence, other = evidence || r.RequiredTool != "", other || r.RequiredTool == ""
		case NeedsPerson:
			approval = true
		default:
			other = true
		}
	}
	switch {
	case other:
		return failNotAuthorized
	case evidence:
		return failEvidence
	case approval:
		return failApproval
	}
	return failNotAuthorized
}
