// Package contract reads what tools promised.
//
// A contract is a folder: contract.yaml, the JSON Schemas (draft 2020-12) it names and
// its cases. [Load] parses a directory of them strictly, lints them, and returns every
// fault of every file at once, each with file, line and column. The package says what
// was promised and knows no engine that could judge bytes by it: no JSON Schema
// evaluator, no expression language. It also owns the vocabulary in which verdicts and
// decisions are written, since cases name them: [FailureCode], [Layer], [Reason],
// [Decisions], [ReasonCodes].
//
// The rules that a deployment adds, its policies, stand in a directory of their own; they
// are read, linted against the tools and covered by the digest together with the
// contracts: [TakeSnapshot], [Policy].
//
// # YAML
//
// The files are YAML of which nothing is left to a reader's taste: one document of
// UTF-8 without a byte order mark or control characters; no anchors, aliases, merge
// keys or tags; no key that is unknown, repeated or not a scalar. A value has the type
// that JSON would give it. Plain true, false and null are those literals; a plain
// scalar in the grammar of a JSON number (RFC 8259 section 6) is a number and keeps
// its digits; a value that is left out is null; everything else is a string, what YAML
// 1.1 reads as something else included: 010, 0x1f, 1_000, ~, yes, 2026-01-15. Where a
// string is expected, a number or a literal must be quoted.
//
// # Two versions
//
// [Compare] lists what differs between two contracts, each change as [Breaking],
// [Additive] or [Safe]; docs/contracts-compat.md says which is which and why. Schemas
// are compared by what they mean; what cannot be compared exactly is breaking.
//
// # What it defends against
//
// Whoever can write contracts decides what agents see, so their content is trusted;
// their mistakes are not. A misspelt or repeated key, a value of the wrong type, a
// limit that widens, a file that nothing reads, a promise that no case proves: each
// would otherwise be a rule that silently does not apply. Files that are damaged or
// too large cost bounded time and memory, and messages show at most a few words of a
// file and no value of a case's payload. What was linted is what is served: files are
// read once and kept.
package contract
