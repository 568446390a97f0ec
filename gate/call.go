package gate

import (
	"fmt"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Caller is who calls, as the transport authenticated it. The zero Caller has no
// tenant and may do nothing.
type Caller struct {
	Tenant string
	Name   string
	// Operator may see why something was refused.
	Operator bool
	// MayGrant says that the grants which the caller presents in its own name count (B8).
	MayGrant bool
	// RawReader may ask for the source of a page, where its contract allows it (B6).
	RawReader bool
	// Tools are the contracts' names of the tools that the caller may use; nil: all. The
	// caller's owner keeps the slice, and nobody changes it.
	Tools []string
}

// Call is one reply that a tool gave, and the request that it must belong to. The
// caller keeps ownership of Raw and does not change it during the call.
type Call struct {
	Request  Request
	Upstream Upstream
	// Raw are exactly the bytes received; nil means that there is no payload, which is
	// not the same as an empty one.
	Raw []byte
}

// Request is the outstanding request of a reply.
type Request struct {
	Tool            string
	RequestID       string
	ContractVersion int // 0: the current one
	// ArgumentsJSON is the JSON object that the tool was called with; "" means none.
	ArgumentsJSON  string
	SessionID      string
	CallID         string // the framework's own id; never shown
	Attempt        int    // from 1; 0 counts as 1
	IssuedAt       time.Time
	FirstAttemptAt time.Time // zero: IssuedAt
	// Evidence are receipts of earlier results, as the caller presents them.
	Evidence []string
}

// Upstream is how a reply was obtained, as the caller saw it.
type Upstream struct {
	Source       string // endpoint or command line
	MediaType    string // as declared, parameters included; "": the contract's only one
	Adapter      string
	Status       Status
	Redirects    int
	Reserialized bool
	RetryAfter   time.Duration // 0: nothing was asked for
	// RawSource asks for the source of a page in place of its visible text.
	RawSource bool
}

// StatusKind says which protocol a [Status] is of.
type StatusKind uint8

// The kinds of status. The zero value is the absent status, which means success.
const (
	StatusAbsent StatusKind = iota
	StatusHTTP
	StatusExit
	StatusTransport
	StatusJSONRPC
	StatusGRPC
	StatusRaised // an in-process tool raised an exception
)

// Status is how the other side, or the way to it, said that a call went.
type Status struct {
	Kind      StatusKind
	Code      int                     // of HTTP, an exit, JSON-RPC or gRPC
	Transport contract.TransportError // of StatusTransport
}

// succeeded reports whether the status leaves room for a usable reply.
func (s Status) succeeded() bool {
	switch s.Kind {
	case StatusAbsent:
		return true
	case StatusHTTP:
		return s.Code >= 200 && s.Code <= 299
	case StatusExit, StatusGRPC:
		return s.Code == 0
	}
	return false
}

// CallError says that the call itself is malformed: a fault of the caller, not of the
// reply (INVALID_ARGUMENT on the wire).
type CallError struct {
	Field  string // path of the field in the API's message
	Detail string // a sentence of our own, without any value
}

// Error returns field and detail.
func (e *CallError) Error() string { return fmt.Sprintf("gate: %s: %s", e.Field, e.Detail) }

// prepared is a call whose own form has been checked.
type prepared struct {
	Call
	arguments strictjson.Value // absent where none were given
	// argumentsDigest is that of the canonical arguments; "" where none were given, or
	// where they have no canonical form.
	argumentsDigest string
}

// prepare checks the form of a call.
func prepare(call Call) (prepared, error) {
	p := prepared{Call: call}
	if call.Raw == nil && call.Upstream.Status.succeeded() {
		return prepared{}, &CallError{"payload", "is missing, though nothing in upstream.status says that there is no usable reply"}
	}
	if call.Request.ArgumentsJSON == "" {
		return p, nil
	}
	v, err := strictjson.ParseString(call.Request.ArgumentsJSON, strictjson.Ceilings())
	if err != nil {
		return prepared{}, &CallError{"request.arguments_json", "is not one strict JSON value: " + readerDetail(err)}
	}
	if v.Kind() != strictjson.Object {
		return prepared{}, &CallError{"request.arguments_json", "is not a JSON object"}
	}
	p.arguments = v
	if canonical, err := strictjson.AppendCanonical(make([]byte, 0, len(call.Request.ArgumentsJSON)), v, strictjson.KeepBigNumbers); err == nil {
		p.argumentsDigest = digest(canonical)
	}
	return p, nil
}

// readerDetail describes a refusal of the strict reader without any of its input.
func readerDetail(err error) string {
	if e, ok := err.(*strictjson.Error); ok { //nolint:errorlint // Parse returns it unwrapped
		return fmt.Sprintf("%s at byte %d (%s)", e.Reason, e.Offset, e.Detail)
	}
	return "unreadable"
}
