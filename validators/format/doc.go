// Package format holds strict parsers for every format of JSON Schema 2020-12
// (validation vocabulary, section 7.3). Whoever needs to know whether a string
// is a date-time, an e-mail address or a host name asks here, so that a schema,
// a semantic check and a policy can never disagree about it.
//
// # Terms
//
// A format is a named set of strings. A check decides membership of the whole
// string: leading or trailing white space, a final newline, a NUL byte are
// never ignored. A string that is not valid UTF-8 conforms to nothing. Digits
// are ASCII digits.
//
// # What each format means
//
//	date, time, date-time   RFC 3339 section 5.6; T and Z in either case; a real
//	                        calendar day; offset hours 00-23, minutes 00-59; :60
//	                        only at 23:59:60 UTC, and with a date only on the
//	                        last day of a UTC month (section 5.7)
//	duration                RFC 3339 appendix A, upper-case letters
//	email, idn-email        RFC 5321 section 4.1.2 Mailbox, RFC 6531 section 3.3
//	hostname, idn-hostname  RFC 1123 section 2.1; RFC 5890 2.3.2; RFC 5891 4.2.3
//	                        and 5.4; RFC 5892 with appendix A; RFC 5893 section 2
//	ipv4, ipv6              RFC 2673 section 3.2 dotted-quad; RFC 4291 section 2.2
//	uri, uri-reference      RFC 3986 appendix A
//	iri, iri-reference      RFC 3987 section 2.2
//	uri-template            RFC 6570 section 2, with an apostrophe in literals
//	json-pointer            RFC 6901 section 3
//	relative-json-pointer   draft-bhutton-relative-json-pointer-00 section 3
//	regex                   ECMA-262 (2025) section 22.2.1, with the u flag and
//	                        without annex B, as the specification asks
//	uuid                    RFC 4122 section 3, any version and variant
//
// # Stricter than the grammar, on purpose
//
//   - A host name whose last label is all digits is refused: it is an IPv4
//     address in some notation, never a name (RFC 1123 section 2.1).
//   - No trailing dot, and at most 253 octets in A-label form.
//   - An empty quoted local part (`""@example.test`) is refused, and no tag but
//     IPv6 is known in an address literal.
//   - The reserved operators of URI templates (= , ! @ |) are refused.
//
// # As wide as the grammar, which may surprise
//
//   - email and idn-email allow quoted local parts and address literals, and
//     idn-email any character outside ASCII in a local part, C1 controls
//     included (RFC 6531 section 3.3): such text is for checks, not for display.
//   - The domain of an idn-email need not be in NFC; its composed form is judged.
//   - hostname allows hyphens in the third and fourth place of a label that is
//     no A-label, as names in use have them.
//   - A second fraction may have any number of digits.
//
// # What it defends against
//
// Offsets of a day that move an instant (`+24:00`), seconds that do not exist,
// header injection through a quoted local part, look-alike and re-ordering host
// names, addresses in notations that only some parsers read, and input built to
// make a parser slow: no check backtracks or recurses, all take time linear in
// the string and read at most [MaxBytes] of it. No check panics.
//
// Scope types of a policy have narrower rules of their own; a conforming e-mail
// address or host name is a well-formed one, not an allowed one.
package format
