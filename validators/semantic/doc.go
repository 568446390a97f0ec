// Package semantic holds the checks that schemas cannot make: they compare a payload
// with the outstanding request, with verified evidence and with the clock. One file
// holds one check; [Builtins] lists them, and adding one is a file and a line there.
//
//   - equals {result, argument | constant, when_given}: the member at result has exactly
//     the type and value of the argument or constant. A side that is missing is a
//     mismatch. when_given: true (only with argument) lets a request pass that did not
//     give the argument; what it loosens is that such a result is bound to nothing.
//   - fresh {field, max_age, max_skew}: field is a strict RFC 3339 date-time within
//     now-max_age ≤ field ≤ now+max_skew, both ends included. A leap second is no
//     instant of our clock and is refused.
//   - listed {result, argument} or {result, evidence: {tool, items, field, match}}: the
//     member is in the argument's list, or in the list of the newest evidence that
//     matches this request.
//   - signature {field, keys, issuers, algorithms, claims, max_age, max_skew}: field is a
//     compact JWS (RFC 7515) of a known key, issuer and age whose claims equal members
//     of the payload. max_skew is optional and zero.
//   - after {field, than: {field | argument}}: strictly later.
//   - cel {expr}: a condition over result, request, evidence and now.
//
// Parameters are decoded strictly: a parameter that is unknown, missing, ill-typed, no
// pointer, or a pointer to what the schema does not have is a [validators.ParameterError]
// with the parameter's name. Pointers are relative to the payload (result, field) or to
// the request's arguments (argument); an array element is named by its index.
// Durations have Go's syntax, are greater than zero and at most ten years.
package semantic
