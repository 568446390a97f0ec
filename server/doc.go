// Package server is the RPC edge of Hallmark: the only package that knows gRPC and the
// generated code. Behind it stands the gate, which knows neither.
//
// # Terms
//
// A call is one RPC. Every call has a decision id, a UUIDv7 (RFC 9562, 5.7) that is in
// the response header [DecisionIDHeader] whatever the outcome, in the log and, where
// something was judged, in the audit record. An outcome that the tool's bytes caused is
// never an error status: it is a Failure inside an OK reply. A status other than OK
// says that the call was malformed, that the caller may not, or that we failed.
//
// # What it defends against
//
//   - Payloads in places that keep them: no log line, status message, header or panic
//     report holds a value of a request. Errors become statuses in one function whose
//     default is a fixed sentence; texts of libraries do not pass it.
//   - Messages that break the transport after the work was done: every string of a reply
//     is made valid UTF-8 before it is marshalled. A request that cannot be unmarshalled
//     is INVALID_ARGUMENT, not INTERNAL: it is the caller's fault.
//   - One call that costs others: a panic costs the call that it happened in; a message
//     above [MaxReceiveBytes] is refused before it is in memory; headers, streams and the
//     age of connections are bounded.
//   - Anyone: beyond loopback TLS 1.3 with the client's certificate says who calls, a
//     file says what that identity may, and both are known before a request is read.
//   - More than there is room for: calls and bytes in flight are bounded in all and for
//     each identity before anything is read; one above is refused with a time to return.
//     Who sends slowly, or connects and says nothing, is cut off. Probes are never
//     refused.
//   - Work for nobody: a call whose deadline has passed is refused before it is read.
//   - Replies without a record: where the audit store cannot take the record the call is
//     UNAVAILABLE and carries nothing of the result (D4).
//   - A weaker mode in silence: contracts that fail their own cases, policies that this
//     version cannot enforce, unknown settings, and an address beyond loopback without
//     consent each stop the start.
//   - A reload of half an exchange, of the old content, or of a broken set: what decides
//     is the digest of the whole directory, found twice at one place; it is loaded and
//     tried beside the calls and published whole, or refused and told, and then what
//     served goes on. Events of the file system only say when to look.
//
// # Life
//
// [New] composes everything from a [Config] and [Deps]; [App.Run] serves until its
// context ends, then says NOT_SERVING, waits, drains, and releases what it opened: what
// serves in reverse order, then the store, which alone can make it fail, then what tells
// others, each with a time of its own.
package server
