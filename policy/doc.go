// Package policy decides whether one proposed call of a tool may be made.
//
// # Terms
//
// A contract's [Scope] names arguments of a tool and the type of what stands there. A
// [Grant] is one permission of a user's task: one tool, the values that each scope may
// have, an end. [Evidence] is a fact that passed validation before, verified and plain.
// A [Rule] is a policy of the deployment: it forbids, or it asks for more. [Decide] puts
// them together. It is a pure and total function: no I/O, no randomness, no clock but
// [Request.Now] (a condition that runs for seconds is ended, and that refuses); the zero
// [Decision], and everything that is not known, is DENY.
//
// # How a decision comes about
//
//  1. A tool without a name is DENY UNKNOWN_TOOL, arguments that are no object are DENY
//     INVALID_ARGUMENTS; nothing else can be said about either.
//  2. A tool that only reads needs no grant, unless its contract asks for one.
//  3. Otherwise some one grant must name the tool, be in time and cover every value of
//     every scope. The scopes of two grants are not added together.
//  4. Each [EvidenceRule] needs one piece of evidence about this very call that is the
//     newest of its kind and not too old.
//  5. Rules forbid, or ask for evidence and approval. A condition that has no answer
//     refuses, whatever the rule would have said.
//  6. DENY outranks NEEDS_APPROVAL, which outranks ALLOW.
//
// Everything is evaluated, so that the reasons of a refusal are complete. They depend
// neither on the order of grants, evidence and rules nor on any argument that no scope,
// match or condition names, and they hold no value of an argument.
//
// # Scope types
//
// Each type has one canonical form, made by one function that reads both the arguments
// and the values of grants. What has none is malformed: in an argument it refuses the
// call, even under [Allowed.Any]; as a value of a grant it covers nothing. Nothing is
// cleaned, decoded or resolved into a form that would be allowed.
//
//	string  byte for byte
//	enum    a string that the contract's schema lists, byte for byte
//	email   a@example.test, or @example.test for that domain only. RFC 5322 addr-spec
//	        with a local part of [A-Za-z0-9._+'-] in dot-atom form that begins with
//	        neither - nor .; local parts compare exactly, domains as host, but without
//	        a trailing dot, which no addr-spec has
//	host    RFC 1123 names in any case, with or without one trailing dot; no implicit
//	        subdomains; A-labels are valid ones (RFC 5891) and match as written. IPv6
//	        addresses and whatever inet_aton(3) takes for an IPv4 address (decimal,
//	        octal, hexadecimal, short) match byte for byte only
//	url     scheme://host[:port][/path][?query][#fragment] of RFC 3986. A value whose
//	        path ends in "/" and that has neither query nor fragment covers what is
//	        below; query and fragment are equal or absent on both sides. Refused are
//	        user information, empty and dot segments, ";" and percent-encoded dots,
//	        slashes, delimiters, percent signs, control and non-ASCII octets in the
//	        path, and in the whole every octet that RFC 3986 does not know
//	path    absolute, segment by segment; a value that ends in "/" covers itself, with
//	        or without the slash, and what is below. Refused are empty and dot
//	        segments, "~", "%", backslash, control characters and what is not in NFC.
//	        Lexical only: see [OpenBeneath]
//	number  low..high, low.. or ..high, exact decimals, both ends included
//	time    start/end of RFC 3339 date-times in upper case with at most nine digits of
//	        a fraction, the end excluded; leap seconds are refused
//
// Conditions of rules see the values of email, host, url, path and time in one spelling,
// so that none that a grant takes for the same gets past a rule: domains and hosts in
// lower case without a trailing dot, URLs without their default port and with no escape
// of a letter, paths without a slash at the end (but the root), instants in UTC.
//
// # What it defends against
//
// A model that was talked into a call, and text of any tool that pretends to be a
// permission: nothing in arguments or evidence adds to what grants and rules say.
// Spellings that two parsers read differently. Arguments built to make a decision slow:
// time is linear in the arguments and in the values of the grants, with at most
// [MaxScopeValues] values compared.
package policy
