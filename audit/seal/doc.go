// Package seal keeps originals for operators, and only for them (A17, A21, B11).
//
// # Terms
//
// An original is the bytes that a tool replied with, as they came. A recipient is the
// public half of an operator's age key (age-encryption.org/v1, X25519), an identity is
// its secret half. The service holds recipients only: it seals and can never open.
//
// A sealed original is one binary age file. Its plaintext is a container of two parts: a
// [Header] as one line of JSON, and the original after the line feed. The header says
// what a replay needs (the outstanding request, how the reply came, who reported it), so
// that an operator can judge the reply again, long after, with other contracts.
//
// # What it defends against
//
//   - Somebody who reads the service's disk, memory dump or backups later: there is no
//     secret to find. What is being judged right now is in memory, as it must be.
//   - Personal data and credentials in what is kept: [Header.Redact] before
//     [Recipients.Seal], where a contract asks for it. [Redact] says what it finds.
//   - Files that were changed or cut: age authenticates every byte, and [Open] gives
//     nothing before the last one was checked. It does not say who sealed a file:
//     whoever knows a recipient can make one. Where that matters, compare what was opened
//     with the digest in the audit record.
//   - Files made to exhaust a reader: the size, the number of recipients and the header
//     are bounded before any work is done in proportion to them.
//
// No error of this package holds a byte of an original, of a header or of a key.
//
// # Strictness
//
// A header has one spelling: [Open] writes again what it read and refuses a line that
// differs, and with it unknown and repeated members. A version that needs other members
// uses another [Format].
package seal
