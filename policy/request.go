package policy

import (
	"time"

	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Request is one proposed call and all that is known about it. Whoever fills it in has
// verified every signature, tenant, session and expiry; nothing here is a token. Decide
// only reads it. The zero Request is denied.
type Request struct {
	Tool Tool
	// Arguments is the object that the tool is to be called with, judged by its schema.
	Arguments strictjson.Value
	// Principal is the user for whom the call is made, as the caller knows it.
	Principal string
	Grants    []Grant
	// MayGrant says that the caller's own grants count, those without an issuer.
	MayGrant bool
	Evidence []Evidence
	// EvidenceRefused says that evidence was presented that could not be verified; where
	// a requirement has nothing else, its reason is then EVIDENCE_INVALID.
	EvidenceRefused bool
	Sources         Sources
	Approval        Approval
	// Now is when the decision is made. At the zero time every grant is over and all
	// evidence is stale.
	Now time.Time
	// Skew is how far in the future an observation may seem to be, since clocks differ.
	Skew time.Duration
}

// Tool is what the contract says about the tool that is called. The zero Tool is one
// that no contract has.
type Tool struct {
	// Name is the contract's name of it, whatever alias the call used.
	Name string
	// Aliases are its other exact names; grants and rules may use them.
	Aliases []string
	// ReadOnly says that the tool has no side effect.
	ReadOnly bool
	// RequiresGrant says that although it only reads it needs a grant: the contract has
	// requires_grant, or egress: granted.
	RequiresGrant bool
	Scopes        []Scope
	Requires      []EvidenceRule
}

// is reports whether name is one of the tool's names, byte for byte.
func (t *Tool) is(name string) bool {
	if name == t.Name {
		return true
	}
	for _, a := range t.Aliases {
		if name == a {
			return true
		}
	}
	return false
}

// Grant is one permission of a user's task. The zero Grant covers nothing.
type Grant struct {
	ID string
	// Issuer is who signed it; "" is the caller itself, whose grants count only where
	// [Request.MayGrant] is set.
	Issuer string
	// Tool is a name of one tool, byte for byte.
	Tool   string
	Scopes []Allowed
	// NotAfter is exclusive; the zero time has passed.
	NotAfter time.Time
	// MaxUses is the number of calls that it is good for; 0 is none. How many there
	// were is not known here: whoever makes the call possible counts it.
	MaxUses uint32
	// Unlimited stands instead of MaxUses; a grant with both covers nothing.
	Unlimited bool
}

// Allowed is what a grant says about one scope. A scope of which a grant says nothing,
// or says it twice, is not covered; what it says about a scope that the contract does
// not have covers nothing.
type Allowed struct {
	Scope string
	// Values are the grant's values, as the scope's type has them. An empty list covers
	// nothing, and so does a malformed value.
	Values []string
	// Any allows every well-formed value. With Values beside it, it covers nothing.
	Any bool
}

// EvidenceRule asks for a fact that was validated before the call. It is only read.
type EvidenceRule struct {
	Tool string
	// Versions of the tool's contract that count beside the current one.
	Versions []int
	// MaxAge is how long ago the observation may be, both ends included; 0 means that
	// its age does not matter.
	MaxAge time.Duration
	// Match binds the evidence to the call. All must hold; an empty Match matches
	// nothing.
	Match []Match
	// When must hold of the evidence's data; nil always does. [CompileEvidence] makes it.
	When *condition.Program
	// From are the callers of Validate that count; empty means every one.
	From []string
	// Reusable evidence may serve many side effects; other evidence is used up by one.
	Reusable bool
}

// Match says that the value at Evidence, in the data of the evidence or in the
// arguments that it was got with, equals the argument at Argument. Where both have one
// both must be equal.
type Match struct{ Evidence, Argument strictjson.Pointer }

// Evidence is one verified fact of the same tenant and session.
type Evidence struct {
	ID      string
	Tool    string // the contract's name of it
	Version int
	// Current says that it was judged under the contract that is current now.
	Current bool
	// Caller is who reported it.
	Caller    string
	Arguments strictjson.Value // those that its tool was called with
	Data      strictjson.Value // absent where only the fact that it passed is kept
	// ObservedAt is the zero time where the data has no time; its age is then unknown.
	ObservedAt time.Time
	// Newest says that there is no later judgement, of whatever outcome, of this tool
	// with these arguments in the session.
	Newest bool
}

// Sources is what was delivered to the session so far. The zero Sources are unknown,
// which refuses wherever a rule reads them.
type Sources struct {
	// Known says that List is complete: there is a session, and the store answered.
	Known bool
	List  []Source
}

// Source is a tool whose output was delivered to the session.
type Source struct {
	Tool  string
	Trust string // trusted or untrusted
}

// Approval is what is known about the approval that a call came with.
type Approval uint8

// The approvals. Any other value counts as invalid.
const (
	NoApproval      Approval = iota // none came
	Approved                        // a person who may approve said yes to this very call
	ApprovalRefused                 // or said no
	ApprovalInvalid                 // it is forged, expired, used, or for another call
)
