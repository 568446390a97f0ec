package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Format names the container and its version.
const Format = "hallmark-original/1"

// Header says which judgement an original belongs to, and all that judging it again
// needs. It is plain data; the names in its tags are those of the file. Sources come
// without user info, query and fragment, commands without their arguments: cleaning them
// is the duty of the caller, as for the audit record.
type Header struct {
	// Format is [Format]; Seal sets it.
	Format string `json:"format"`
	// DecisionID is the id of the judgement and of its audit record.
	DecisionID string `json:"decision_id"`
	// At is when it was judged; Seal writes it in UTC, as every time here.
	At time.Time `json:"at"`
	// Tool is the contract's name of the tool, or what was asked for where none has it.
	Tool string `json:"tool"`
	// ContractVersion is the version that judged; 0 where none did.
	ContractVersion uint32 `json:"contract_version,omitzero"`
	// ContractDigest is the digest of that contract.
	ContractDigest string `json:"contract_digest,omitzero"`
	// Caller is who reported the reply.
	Caller Caller `json:"caller,omitzero"`
	// Request is the outstanding request.
	Request Request `json:"request"`
	// Upstream is how the reply came.
	Upstream Upstream `json:"upstream,omitzero"`
	// Evidence are the facts that checks could use.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Redacted lists what was redacted before sealing, sorted; none is nothing.
	// [Header.Redact] sets it.
	Redacted []Kind `json:"redacted,omitempty"`
	// OriginalBytes is the size of what was received, before it was redacted or cut.
	OriginalBytes uint64 `json:"original_bytes"`
	// Cut says that the original was longer than [MaxOriginal] and is kept up to there:
	// no replay can judge it.
	Cut bool `json:"cut,omitzero"`
	// RequestLeftOut says that the arguments and the evidence were left out, since the
	// header would have exceeded [MaxHeader].
	RequestLeftOut bool `json:"request_left_out,omitzero"`
	// Bytes is the size of what follows the header; Seal sets it.
	Bytes uint64 `json:"bytes"`
}

// Caller is who reported a reply, as far as judging looks at it.
type Caller struct {
	Tenant string `json:"tenant,omitzero"`
	Name   string `json:"name,omitzero"`
	// RawReader says that the caller had the role raw_reader.
	RawReader bool `json:"raw_reader,omitzero"`
}

// Request is an outstanding request.
type Request struct {
	// Tool is the name as the caller gave it.
	Tool string `json:"tool"`
	// ContractVersion is the version that was asked for; 0 is the current one.
	ContractVersion uint32 `json:"contract_version,omitzero"`
	RequestID       string `json:"request_id"`
	// ArgumentsJSON is the object that the tool was called with; "" means none given.
	ArgumentsJSON string `json:"arguments_json,omitzero"`
	SessionID     string `json:"session_id,omitzero"`
	// CallID is the framework's own id of the call, which a response of JSON-RPC repeats.
	CallID string `json:"call_id,omitzero"`
	// Attempt is the attempt that was judged, from 1: what the caller said, or what the
	// service had counted, whichever is more.
	Attempt        uint32    `json:"attempt,omitzero"`
	IssuedAt       time.Time `json:"issued_at,omitzero"`
	FirstAttemptAt time.Time `json:"first_attempt_at,omitzero"`
}

// Upstream is how a reply was obtained.
type Upstream struct {
	// Source is an endpoint without user info, query and fragment, or a command's name.
	Source       string        `json:"source,omitzero"`
	MediaType    string        `json:"media_type,omitzero"` // as declared
	Adapter      string        `json:"adapter,omitzero"`
	Status       Status        `json:"status,omitzero"`
	Redirects    uint32        `json:"redirects,omitzero"`
	Reserialized bool          `json:"reserialized,omitzero"`
	RetryAfter   time.Duration `json:"retry_after_ns,omitzero"` // nanoseconds
	// RawSource says that the source of a page was asked for.
	RawSource bool `json:"raw_source,omitzero"`
}

// Status is how the other side, or the way to it, said that a call went. The zero Status
// is the absent one, which means success.
type Status struct {
	Kind StatusKind `json:"kind,omitzero"`
	// Code is that of HTTP, of an exit, of JSON-RPC or of gRPC.
	Code int32 `json:"code,omitzero"`
	// Transport is the wire's name of a transport error, "TIMEOUT" for example.
	Transport string `json:"transport,omitzero"`
}

// StatusKind says which protocol a [Status] is of.
type StatusKind string

// The kinds of status.
const (
	StatusAbsent    StatusKind = ""
	StatusHTTP      StatusKind = "http"
	StatusExit      StatusKind = "exit"
	StatusTransport StatusKind = "transport"
	StatusJSONRPC   StatusKind = "jsonrpc"
	StatusGRPC      StatusKind = "grpc"
	StatusRaised    StatusKind = "raised" // an in-process tool raised an exception
)

// statusKinds are all of them.
var statusKinds = []StatusKind{StatusAbsent, StatusHTTP, StatusExit, StatusTransport, StatusJSONRPC, StatusGRPC, StatusRaised}

// Evidence is one result that was validated before, as the checks saw it.
type Evidence struct {
	Tool          string    `json:"tool"`
	Version       uint32    `json:"version,omitzero"`
	ArgumentsJSON string    `json:"arguments_json,omitzero"`
	DataJSON      string    `json:"data_json,omitzero"`
	ObservedAt    time.Time `json:"observed_at,omitzero"`
}

// MaxHeader is the largest size of a header in bytes, its LF included.
const MaxHeader = 1 << 20

var errHeader = errors.New("seal: the header cannot be written: a time outside the years 0 to 9999, a kind that is none, or names beyond every bound")

// line writes the header as one line with its LF, complete with what Seal sets.
func (h Header) line() ([]byte, error) {
	// Escapes make text longer, never shorter: what is surely too long is not written.
	size := len(h.Request.ArgumentsJSON)
	for _, e := range h.Evidence {
		size += len(e.ArgumentsJSON) + len(e.DataJSON)
	}
	if size < MaxHeader {
		if line, err := h.encode(); err != nil || len(line) <= MaxHeader {
			return line, err
		}
	}
	h.Request.ArgumentsJSON, h.Evidence, h.RequestLeftOut = "", nil, true
	line, err := h.encode()
	if err != nil || len(line) > MaxHeader {
		return nil, errHeader
	}
	return line, nil
}

// encode writes the header in its one spelling.
func (h Header) encode() ([]byte, error) {
	h.At, h.Request.IssuedAt, h.Request.FirstAttemptAt = h.At.UTC(), h.Request.IssuedAt.UTC(), h.Request.FirstAttemptAt.UTC()
	h.Evidence = slices.Clone(h.Evidence)
	for i := range h.Evidence {
		h.Evidence[i].ObservedAt = h.Evidence[i].ObservedAt.UTC()
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if !h.known() || e.Encode(h) != nil {
		return nil, errHeader
	}
	// Invalid UTF-8 becomes an escape of U+FFFD at first, which is not how the header
	// would be written again.
	if bytes.Contains(out.Bytes(), []byte(`\ufffd`)) {
		var valid Header
		if err := json.Unmarshal(out.Bytes(), &valid); err != nil {
			return nil, errHeader
		}
		out.Reset()
		if err := e.Encode(valid); err != nil {
			return nil, errHeader
		}
	}
	return out.Bytes(), nil
}

// known reports whether all words of the header are of this version.
func (h Header) known() bool {
	sorted := slices.IsSorted(h.Redacted) && len(slices.Compact(slices.Clone(h.Redacted))) == len(h.Redacted)
	return sorted && slices.Contains(statusKinds, h.Upstream.Status.Kind) &&
		!slices.ContainsFunc(h.Redacted, func(k Kind) bool { return !slices.Contains(Kinds(), k) })
}

// readHeader reads a line with its LF. What it returns would be written as exactly this
// line, so that unknown, repeated and misspelled members are refused with one comparison.
func readHeader(line []byte) (Header, error) {
	var h Header
	if json.Unmarshal(line, &h) != nil || h.Format != Format {
		return Header{}, fmt.Errorf("%w: its header is not of the format %s", ErrFormat, Format)
	}
	again, err := h.encode()
	if err != nil || !bytes.Equal(again, line) {
		return Header{}, fmt.Errorf("%w: its header has members or spellings that this version does not know", ErrFormat)
	}
	return h, nil
}
