// Package audit says what operators may know about every judgement, and what a store of
// such records must promise.
//
// # Terms
//
// A [Record] describes one judgement: one call of Validate, Authorize or Redeem. It holds
// names, digests, places and counts, never a value of the payload that was judged.
// A record is durable when it survives the end of the process (SIGKILL included) and, as
// far as the disk keeps its own promises, a loss of power. A [Store] keeps records;
// [Store.Append] returns nil only for a durable record, so that a caller which sends its
// reply after Append has no reply without a record. A store that cannot keep a record
// says so and the call fails closed: an audit that cannot fail a call is no audit.
//
// A [Scope] is the set of tenants that a reader is responsible for. Every read takes one;
// its zero value sees nothing.
//
// # What it defends against
//
//   - Text of outside systems that breaks the write or a later reader: [Record.Sanitize]
//     makes every string valid UTF-8 (RFC 3629) without NUL, so that neither protobuf,
//     PostgreSQL nor a C reader refuses a record after the work was done. It never fails.
//   - Text that floods the store: every string and the record as a whole are bounded
//     ([MaxRecordBytes]), and what was cut is counted in the record ([SignalCut]).
//   - One record that becomes two for a reader of lines: records are stored as JSON
//     (RFC 8259) whose strings escape control characters, U+2028 and U+2029.
//   - Readers of one tenant that try tokens or ids of another: the scope is applied to
//     every row that is read, whatever the page token or the id says, and a record out of
//     scope is not found, just like one that does not exist.
//   - A slow or dead disk: the queue of a store is bounded and refuses at once when full.
//
// Escaping for a terminal is the duty of whoever prints a record: control characters
// other than NUL are kept as they came.
//
// # Stores
//
// Every store passes the suite in the package audittest. Package sqlite is the embedded
// one. Records are stored under the JSON names of [Record]; names are only ever added, and
// a reader ignores names that it does not know, so that two versions of the service can
// share a store during an upgrade.
package audit
