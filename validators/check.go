package validators

import (
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Facts are all that a check may look at. The zero value of any part is what an absent
// one looks like, and makes every check that reads it refuse.
type Facts struct {
	Result   strictjson.Value // the payload, schema-valid
	Request  Request          // the outstanding request
	Evidence []Evidence       // verified before; what did not verify is not here
	Now      time.Time        // the clock of this judgement
	Arrival  Arrival          // how the reply came
	// Watch takes the time that the parts of judging took; nil where nobody asks. No check
	// looks at it.
	Watch *stages.Watch
}

// Request is the call whose result is being judged.
type Request struct {
	Tool      string // canonical name
	RequestID string
	SessionID string
	CallID    string           // the framework's own id of the call; "" where none is known
	Arguments strictjson.Value // an object; absent where the caller sent none
	Attempt   int              // from 1
	IssuedAt  time.Time
}

// Evidence is an earlier, verified result.
type Evidence struct {
	Tool       string // canonical name
	Version    int
	Arguments  strictjson.Value
	Data       strictjson.Value
	ObservedAt time.Time
}

// CheckFailure says why a check refused. It holds no value of the payload.
type CheckFailure struct {
	Reason contract.Reason
	At     strictjson.Pointer // relative to the payload; empty means the whole
	Detail string             // a sentence of our own
}

// Check is one compiled check. It is pure, immutable and safe for concurrent use: the
// same facts get the same answer, and it never blocks.
type Check interface {
	// Check returns nil where the facts pass.
	Check(f Facts) *CheckFailure
}

// Freshness is implemented by a check that bounds how long a result stays usable.
type Freshness interface {
	// ObservedAt is the instant that the result says it was observed at; ok is false
	// where it says none that can be understood.
	ObservedAt(f Facts) (at time.Time, ok bool)
	// FreshUntil is the end of the window, exclusive for whoever uses the result; ok as
	// for ObservedAt.
	FreshUntil(f Facts) (until time.Time, ok bool)
}

// CheckContext is what a kind of check may use while it compiles.
type CheckContext struct {
	With  strictjson.Value  // the parameters, an object
	Files map[string][]byte // files of the contract's folder, by slash-separated path; only read
	// Result and Arguments are the shapes of the payload and of the request's
	// arguments. nil means that nothing is known.
	Result    *condition.Shape
	Arguments *condition.Shape
}

// CheckKind makes checks out of parameters.
type CheckKind struct {
	Use string // the name in contracts
	// Compile decodes the parameters strictly. The error is a [*ParameterError].
	Compile func(CheckContext) (Check, error)
}

// ParameterError is a fault in the parameters of one check, found at load.
type ParameterError struct {
	Parameter string // its name; "" where the parameters as a whole are at fault
	Message   string // what is wrong
	Cure      string // what to do about it
}

// Error returns "parameter: message (cure)".
func (e *ParameterError) Error() string {
	var b strings.Builder
	if e.Parameter != "" {
		b.WriteString(e.Parameter + ": ")
	}
	b.WriteString(e.Message)
	if e.Cure != "" {
		b.WriteString(" (" + e.Cure + ")")
	}
	return b.String()
}
