// Package notice tells the owner of a connector, by a webhook, that replies no longer fit
// its contract (A18, A19): what SYNTAX, ADAPTER or SCHEMA refused, and replies of which
// members that nobody knows were dropped (D8).
//
// # Terms
//
// A [Notice] is one message. Judgements of one tool, version, layer and reason, by one
// contract, are one notice while its window is open: it says how many there were, when the
// first and the last one was, and the decision id of the first, by which an operator
// finds the record. A [Notifier] observes records and posts notices to one receiver, which
// gives them to the owners that they name.
//
// # What it promises
//
//   - [Notifier.Observe] never waits for the network: it counts. Everything that is kept
//     is bounded, and what finds no room is counted ([Stats]).
//   - A notice holds names and numbers that the contract or this service chose: no
//     payload, no pointer into one, no source, no tenant, nothing that a caller wrote.
//   - A notice is sent until it was taken or the attempts end: 2xx takes it; 408, 425,
//     429, 5xx and silence are tried again, after a delay that doubles, with jitter, or
//     after what Retry-After asks for; any other answer, a redirect too, ends it. Records
//     are the truth; a lost notice is counted and logged.
//   - It may arrive twice, where an answer got lost. Receivers tell by decision_id and
//     reason together.
//
// # How receivers know that it is genuine
//
// Each attempt carries a header
//
//	Hallmark-Signature: t=1768478400,v1=HEX
//
// where t is the time of the attempt, in Unix seconds, and HEX the HMAC-SHA-256 (RFC 2104)
// of t, a full stop and the body, byte for byte, under the shared secret. [Verify] checks
// it; t makes an old message useless to who recorded it. The way is TLS, except to the
// same machine.
package notice
