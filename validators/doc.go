// Package validators judges bytes against contracts.
//
// A [Registry] turns linted contracts into a [Set]: one compiled [Tool] per tool and
// version. A Tool judges one reply, in an order that never changes (A1): the strict
// reader under the contract's limits, the framing, the adapter where there is one, the
// cleaning of declared text, the characters of machine values, the schema, the semantic
// checks, and last the projection into a new value. What it answers is a [Verdict],
// whose zero value refuses.
//
// An adapter makes a vendor's wide reply into a closed object of ours (A10), under the
// vendor's own schema: a reply that has lost what is relied on is refused (A18), and
// what the vendor has added is dropped and counted, or refused (D8). Everything behind
// it sees the new object alone.
//
// Sets are immutable and named by the digest of what they were compiled from. One
// [Published] holds the set that serves; readers take the pointer once for each
// request, so that every reply was judged by exactly one set (D12).
//
// Each leaf below this package returns its own typed error; they become rejections
// here, in one place, and none carries a value of the reply.
package validators
