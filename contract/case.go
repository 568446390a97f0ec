package contract

import (
	"iter"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Case is one executable example of a contract: a reply (or the lack of one) and the
// verdict that it must get (A22).
type Case struct {
	File string // path relative to the contract's folder
	Why  string
	// Now is the clock of the case; zero where no check looks at time.
	Now      time.Time
	Request  CaseRequest
	Evidence []CaseEvidence
	Upstream CaseUpstream
	// Raw is the reply's bytes; nil where there is none.
	Raw  []byte
	Want Want
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

// Want is the verdict that a case must get: a failure, data, or a text.
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
