package contract

import (
	"iter"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Case is one executable example of a contract (A22): a reply, or the lack of one, and
// the verdict that it must get, or a proposed call and the decision about it.
type Case struct {
	File string // path relative to the contract's folder
	Why  string
	// Now is the clock of the case; zero where nothing in it looks at time.
	Now      time.Time
	Request  CaseRequest
	Evidence []CaseEvidence
	Upstream CaseUpstream
	// Raw is the reply's bytes; nil where there is none.
	Raw  []byte
	Want Want

	// Call is not nil where the case asks for a decision about a call; Raw, Upstream and
	// Request are then empty. The members below it are empty in every other case.
	Call   *CaseCall
	Grants []CaseGrant
	// Policies are the rules of the file that the case names, sorted by name; nil where
	// it names none.
	Policies []Policy
	Sources  []CaseSource // what was delivered to the session
	Approval string       // "" for none, approve or reject
}

// CaseRequest is the outstanding request of a case.
type CaseRequest struct {
	RequestID string // made up by the runner where the case names none
	SessionID string
	CallID    string
	// Arguments is the JSON text of the argument object; "" means none.
	Arguments      string
	Attempt        int
	IssuedAt       time.Time
	FirstAttemptAt time.Time
}

// CaseEvidence is a fact that the case takes as already validated.
type CaseEvidence struct {
	Tool       string
	Version    int
	Arguments  strictjson.Value
	Data       strictjson.Value
	ObservedAt time.Time
}

// CaseCall is a call that is proposed to the contract's tool.
type CaseCall struct {
	Raw       []byte // the arguments as they come; never nil
	Principal string
	SessionID string
	RequestID string // made up by the runner where the case names none
}

// CaseGrant is one permission of the user's task.
type CaseGrant struct {
	ID     string // grant-N, N from 1, where the case names none
	Issuer string // "" is the caller itself
	Tool   string // the contract's where the case names none
	Scopes []CaseScope
	// NotAfter is exclusive; zero where the case leaves it out.
	NotAfter time.Time
	// MaxUses is the number of calls that it is good for; 0 beside Unlimited.
	MaxUses   uint32
	Unlimited bool
}

// CaseScope is what a grant says about one scope: either Values, not nil then, or Any.
type CaseScope struct {
	Name   string
	Values []string
	Any    bool
}

// CaseSource is a tool whose output was delivered to the session.
type CaseSource struct {
	Tool  string
	Trust string // trusted or untrusted
}

// CaseUpstream is how the reply of a case came. At most one of the status members is
// set.
type CaseUpstream struct {
	Source         string
	MediaType      string
	Adapter        string
	Redirects      int
	RetryAfter     time.Duration
	HTTPStatus     *int
	ExitCode       *int
	GRPCStatus     *int
	JSONRPCError   *int
	TransportError TransportError
	ToolRaised     bool
	RawSource      bool // the source of a page is asked for
}

// Want is the verdict that a case must get: a failure, data, or a text; of a case about
// a call, a decision.
type Want struct {
	// Failure is the code that the agent must see; "" where the case is accepted.
	Failure   FailureCode
	Retryable *bool // nil: not looked at
	Layer     Layer
	Reason    Reason
	At        *string // JSON Pointer; nil: not looked at
	Check     string  // name of the semantic check; "": not looked at
	// DisplayText is what people may be shown of the tool's own message, "" for nothing;
	// nil: not looked at.
	DisplayText *string
	// Data is what the agent must get, compared as JSON values with equal digits of
	// numbers; absent where the case is refused.
	Data          strictjson.Value
	UntrustedText []string // nil: not looked at
	Truncated     *bool
	// Text is the content that the agent must get, exactly; nil where none is wanted.
	Text          *string
	Title         *string    // nil: not looked at
	Links         []WantLink // nil: not looked at
	Normalization string     // NFKC or NFC; "": not looked at

	// Decision is ALLOW, DENY or NEEDS_APPROVAL; "" where the case is about a reply. Where
	// it is set, Failure, At and the members below are all that can be.
	Decision string
	Reasons  []string // codes of the decision, see ReasonCodes; nil: not looked at
	// Keyword is the one of the schema that refused an argument; "": not looked at.
	Keyword string
	// ArgumentsJSON are the arguments as they are to be executed, byte for byte; nil: not
	// looked at.
	ArgumentsJSON *string
	Obligations   []string // of the executor; nil: not looked at

	// Line and Column are where want stands in the case's file, from 1.
	Line, Column int
}

// WantLink is a link that goes with a text.
type WantLink struct{ Text, Href string }

// SameData reports whether a compact JSON value is the wanted one: members in any
// order, numbers with the same digits.
func (w Want) SameData(got []byte) bool {
	v, err := strictjson.Parse(got, strictjson.Ceilings())
	return err == nil && w.Data.Exists() && sameDigits(w.Data, v)
}

// DataText returns the wanted data as compact JSON; "" where none is wanted.
func (w Want) DataText() string { return string(strictjson.AppendJSON(nil, w.Data)) }

// sameDigits is JSON equality in which 1.0 is not 1.
func sameDigits(a, b strictjson.Value) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case strictjson.Number:
		return a.Digits() == b.Digits()
	case strictjson.Array:
		next, stop := iter.Pull2(b.Elements())
		defer stop()
		for _, e := range a.Elements() {
			if _, other, _ := next(); !sameDigits(e, other) {
				return false
			}
		}
		return true
	case strictjson.Object:
		for name, m := range a.Members() {
			if other := b.Member(name); !other.Exists() || !sameDigits(m, other) {
				return false
			}
		}
		return true
	}
	return strictjson.Equal(a, b)
}
