// Package schema compiles JSON Schema 2020-12 and applies it to values of package
// strictjson, within a budget of work.
//
// # Terms
//
// A location is one schema or subschema in a file, named by the file and a JSON
// Pointer (RFC 6901). A visit is the application of one location to one value. A
// location applies in place where it judges the same value as the location that
// names it: $ref, allOf, anyOf, oneOf, not, if/then/else, dependentSchemas.
//
// # Who does what
//
// github.com/santhosh-tekuri/jsonschema/v6 reads schemas: dialect and vocabularies,
// $id, anchors and references, the check against the metaschema. Applying a compiled
// schema is done here, on the library's compiled form, because the library's own
// Validate takes no deadline and no budget, keeps one error for every failing value,
// misplaces failures of propertyNames and can be made to do quadratic work by
// colliding items of uniqueItems. The library remains the oracle of this package's
// tests: both must agree on every row of the public suites and under fuzzing.
//
// # What it defends against
//
//   - A schema cannot make anything be opened: a reference resolves among the given
//     files, [Options.Remotes] and the metaschemas that the library embeds.
//   - The dialect is 2020-12 (JSON Schema Core section 8.1.1), never assumed from and
//     never switched by a document; metaschemas of one's own are followed where they
//     are built on 2020-12.
//   - Work is counted while it is done. When the budget is spent or the context ends,
//     evaluation stops with [ErrBudget] and frees the processor; nothing is left
//     running.
//   - Memory is bounded by a small multiple of the input, most of it for uniqueItems:
//     at most [MaxFailures] failures are kept, whatever fails.
//   - A [Failure] and an error carry places and keywords, no value of the instance and
//     no byte of a file that is not part of the schema.
//   - Equality (const, enum, uniqueItems) and multipleOf are exact, on decimal digits;
//     lengths are code points (RFC 8259 section 7, JSON Schema Validation section 6.3).
//   - Patterns are those of RE2 and run in time linear in the string; one that RE2 does
//     not know is refused when the schema is compiled.
package schema
