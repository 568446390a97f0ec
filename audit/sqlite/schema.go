package sqlite

// applicationID marks the file as ours (PRAGMA application_id): "HLMK".
const applicationID = 0x484c4d4b

// migrations lead from each version of the schema to the next; the file's version
// (PRAGMA user_version) is the number of those that were applied. Published ones never
// change. A version must be readable and writable by the service before it, or say in the
// change log that it is not.
//
// The columns are what operators filter by; NULL stands for the empty string, so that
// the indexes hold only rows that have a value. Everything else is in rest, as JSON.
// Indexes end with at: lists are ordered by it, and SQLite sorts the rows of one
// nanosecond by id. Low-cardinality rpc and decision are filtered along events_at.
var migrations = [...]string{
	`
CREATE TABLE events (
	decision_id  TEXT NOT NULL PRIMARY KEY,
	at           INTEGER NOT NULL, -- nanoseconds since 1970, UTC
	rpc          TEXT,
	tenant       TEXT,
	tool         TEXT,
	request_id   TEXT,
	session_id   TEXT,
	failure_code TEXT,
	reason       TEXT,             -- of the first rejection
	decision     TEXT,
	rest         TEXT NOT NULL     -- audit.Record as JSON, less the columns
) STRICT;
CREATE INDEX events_at           ON events (at);
CREATE INDEX events_tenant       ON events (tenant, at)       WHERE tenant IS NOT NULL;
CREATE INDEX events_tool         ON events (tool, at)         WHERE tool IS NOT NULL;
CREATE INDEX events_request_id   ON events (request_id, at)   WHERE request_id IS NOT NULL;
CREATE INDEX events_session_id   ON events (session_id, at)   WHERE session_id IS NOT NULL;
CREATE INDEX events_failure_code ON events (failure_code, at) WHERE failure_code IS NOT NULL;
CREATE INDEX events_reason       ON events (reason, at)       WHERE reason IS NOT NULL;
-- Room for one largest record, written and removed to learn whether the disk takes it.
CREATE TABLE probe (
	id   INTEGER PRIMARY KEY,
	room BLOB NOT NULL
) STRICT;
`,
}

const (
	insertSQL = `INSERT INTO events
	(decision_id, at, rpc, tenant, tool, request_id, session_id, failure_code, reason, decision, rest)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (decision_id) DO NOTHING`

	// A rest that no version of the service can have written is not loaded at all.
	selectSQL = `SELECT decision_id, at, rpc, tenant, tool, request_id, session_id, failure_code, reason, decision,
	iif(octet_length(rest) <= 4 * 65536, rest, NULL) FROM events`

	probeWriteSQL  = `INSERT OR REPLACE INTO probe (id, room) VALUES (1, zeroblob(65536))`
	probeRemoveSQL = `DELETE FROM probe`
)
