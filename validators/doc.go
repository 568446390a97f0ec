// Package validators judges bytes against contracts.
//
// A [Registry] turns linted contracts into a [Set]: one compiled [Tool] per tool and
// version. A Tool judges one reply, in an order that never changes (A1): the strict
// reader under the contract's limits, the framing, the adapter where there is one, the
// limit of its one list, the cleaning of declared text, the characters of machine
// values, the schema, the links, the semantic checks, and last the projection into a
// new value. What it answers is a [Verdict], whose zero value refuses.
//
// The reader makes one value of the bytes: JSON, or an object of the groups that a
// pattern finds in a command's output. A framing takes off what stands around the
// payload: nothing, the envelope of A4, a CallToolResult of MCP (2025-06-18 to
// 2026-07-28), or that inside of a JSON-RPC 2.0 response. It may answer by itself: the
// framing is broken, or the tool reports a failure, which no success schema judges and
// of which nothing goes on but a few words for people, where the contract lets it (A7).
//
// An adapter makes a vendor's wide reply into a closed object of ours (A10), under the
// vendor's own schema: a reply that has lost what is relied on is refused (A18), and
// what the vendor has added is dropped and counted, or refused (D8). Everything behind
// it sees the new object alone.
//
// A reply of kind text has no schema: the text path cleans and cuts it (package text),
// and it is refused only for a limit, its charset or its syntax. Inside of a
// CallToolResult the text blocks are the text, and resource links become inert links.
//
// Sets are immutable and named by the digest of what they were compiled from; who
// publishes one publishes it whole, so that every reply was judged by exactly one (D12).
//
// Each leaf below this package returns its own typed error; they become rejections
// here, in one place, and none carries a value of the reply.
package validators
