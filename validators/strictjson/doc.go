// Package strictjson reads bytes into one JSON value and refuses everything that two
// readers could understand differently.
//
// # What is accepted
//
// One value of RFC 8259 under the restrictions of RFC 7493 (I-JSON): valid UTF-8, no
// byte order mark, no lone surrogate escape, no duplicate member name, nothing but
// white space after the value. Names are compared after unescaping, byte for byte;
// nothing is normalised and nothing is folded. Noncharacters, which RFC 7493 section 2.1
// excludes too, are left to the caller's rules for text: refusing them here would
// refuse text that RFC 8259 readers agree about.
//
// # Limits
//
// [Limits] bound bytes, depth, items, string and name lengths, number lengths and
// magnitudes. They are checked while reading, before a node is added to the tree.
//
// Whatever the input, [Parse] allocates at most 40 bytes for each of its bytes and 4 KiB
// (256 for each byte where MaxDepth is far beyond that of [Ceilings]), kept or not; the
// tree itself takes 24 bytes a value beside a copy of the input, and 12 for each text
// that is written with escapes beside the text. Time is linear in the
// length, duplicate detection included. Parse does not recurse; [Equal] and
// [AppendCanonical] do, once for each level, which MaxDepth bounds. The tests measure
// all of this.
//
// # Which fault is reported
//
// A limit comes first, the one that is exceeded earliest. Then the earliest of bad
// encoding, bad syntax and a duplicate name. To find a limit that is exceeded after a
// duplicate name or after bad encoding the reader goes on to the end of the value;
// after a fault of the grammar nothing that follows has a meaning, and it stops there.
// [Error] carries the reason, the byte offset and the JSON Pointer (RFC 6901), which
// says where the reader stood and of a duplicate its name; it never carries a string
// value.
//
// # The tree
//
// A [Value] is a small handle into an immutable tree. Numbers keep their digits and
// strings their source tokens, so that what is written out again is what came in.
// Values are safe for concurrent use. [Parse] copies its input: the caller keeps its
// bytes and may change them.
package strictjson
