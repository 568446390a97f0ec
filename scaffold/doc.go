// Package scaffold writes the first draft of a contract from what a vendor publishes:
// a JSON Schema, an operation of an OpenAPI document, or a tool of an MCP tools/list.
//
// # What a draft is
//
// The draft is a contract folder: contract.yaml, the schemas of the payload and of the
// arguments, and every obligatory case. It is strict where the source is not: objects
// are closed, what reaches the agent is bounded, free maps are refused, strings are
// machine values or declared text; a reply without a schema is a text. Sources leave much open that a contract must say.
// Where a draft cannot know, it proposes and asks:
//
//   - "x-question" beside a place of a schema, on a line of its own;
//   - a comment line "# QUESTION n: …" above a proposal of contract.yaml;
//   - a value "QUESTION: …" where there is nothing to propose.
//
// Package contract refuses all three, so a draft is never served before a person has
// answered. Answering is correcting the value and deleting the question. The same
// source and options give the same bytes.
//
// # Terms
//
// A member is given where agent_fields names it. What is required and not given stands
// in not_given. Keywords that JSON Schema 2020-12 does not know, a vendor's own and
// those of OpenAPI, are dropped and listed in [Draft.Notes].
//
// # What it defends against
//
// Sources come from outside. They are read as strict JSON where they are JSON; no
// reference leads out of the given bytes; work is bounded by the number of subschemas
// that are looked at; nothing in a source makes a file be written anywhere but in the
// contract's folder, whose name is derived from the tool's and holds no separator. A
// source's hints about itself (MCP's readOnlyHint) become questions, never answers.
package scaffold
