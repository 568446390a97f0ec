package sqlite

import (
	"strings"

	"github.com/hallmark-gate/hallmark/audit/rows"
)

// applicationID marks the file as ours (PRAGMA application_id): "HLMK".
const applicationID = 0x484c4d4b

// migrations lead from each version of the schema to the next; the file's version
// (PRAGMA user_version) is the number of those that were applied. Published ones never
// change. A version must be readable and writable by the service before it, or say in the
// change log that it is not.
//
// The columns are what operators filter by and what the service itself finds by; NULL
// stands for the empty string, so that the indexes hold only rows that have a value.
// Everything else is in rest, as JSON. Indexes end with at: lists are ordered by it, and
// SQLite sorts the rows of one nanosecond by id. Low-cardinality rpc and decision are
// filtered along events_at.
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
	// The table is made anew for its key: seq is the order of writing, which AUTOINCREMENT
	// never gives out twice, whatever a purge removed, and which VACUUM leaves alone. The
	// implicit rowid of version 1 promises neither. Rows keep the order of their rowids: no
	// version 1 ever removed one. A rest that is no JSON is damage and stays as it is.
	`
CREATE TABLE events_2 (
	seq              INTEGER PRIMARY KEY AUTOINCREMENT, -- order of writing
	decision_id      TEXT NOT NULL UNIQUE,
	at               INTEGER NOT NULL, -- nanoseconds since 1970, UTC
	rpc              TEXT,
	tenant           TEXT,
	tool             TEXT,
	request_id       TEXT,
	session_id       TEXT,
	failure_code     TEXT,
	reason           TEXT,             -- of the first rejection
	decision         TEXT,
	arguments_digest TEXT,
	delivered        TEXT,             -- not known of rows of version 1
	rest             TEXT NOT NULL     -- audit.Record as JSON, less the columns
) STRICT;
INSERT INTO events_2 (decision_id, at, rpc, tenant, tool, request_id, session_id, failure_code, reason, decision,
	arguments_digest, rest)
SELECT decision_id, at, rpc, tenant, tool, request_id, session_id, failure_code, reason, decision,
	CASE WHEN json_valid(rest) THEN
		CASE WHEN json_type(rest, '$.arguments_digest') = 'text' THEN nullif(json_extract(rest, '$.arguments_digest'), '') END
	END,
	CASE WHEN json_valid(rest) THEN
		CASE WHEN json_type(rest, '$.arguments_digest') = 'text' THEN json_remove(rest, '$.arguments_digest') ELSE rest END
	ELSE rest END
FROM events ORDER BY rowid;
DROP TABLE events;
ALTER TABLE events_2 RENAME TO events;
CREATE INDEX events_at           ON events (at);
CREATE INDEX events_tenant       ON events (tenant, at)       WHERE tenant IS NOT NULL;
CREATE INDEX events_tool         ON events (tool, at)         WHERE tool IS NOT NULL;
CREATE INDEX events_request_id   ON events (request_id, at)   WHERE request_id IS NOT NULL;
CREATE INDEX events_session_id   ON events (session_id, at)   WHERE session_id IS NOT NULL;
CREATE INDEX events_failure_code ON events (failure_code, at) WHERE failure_code IS NOT NULL;
CREATE INDEX events_reason       ON events (reason, at)       WHERE reason IS NOT NULL;
CREATE INDEX events_latest ON events (tenant, session_id, tool, arguments_digest, at)
	WHERE rpc = 'validate' AND session_id IS NOT NULL;
CREATE INDEX events_delivered ON events (tenant, session_id, delivered || '/' || ifnull(tool, ''))
	WHERE rpc = 'validate' AND session_id IS NOT NULL AND delivered IS NOT NULL;
CREATE TABLE claims (
	key   BLOB NOT NULL PRIMARY KEY, -- audit.Key, its 32 bytes
	used  INTEGER NOT NULL,
	until INTEGER NOT NULL           -- nanoseconds since 1970, the latest that was claimed
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_until ON claims (until);
CREATE TABLE memos (
	request BLOB NOT NULL PRIMARY KEY, -- audit.Key, its 32 bytes
	until   INTEGER NOT NULL,          -- nanoseconds since 1970
	memo    BLOB NOT NULL
) STRICT;
CREATE INDEX memos_until ON memos (until);
CREATE TABLE originals (
	event      INTEGER PRIMARY KEY, -- events.seq
	keep_until INTEGER NOT NULL,    -- nanoseconds since 1970
	sealed     BLOB NOT NULL
) STRICT;
CREATE INDEX originals_keep_until ON originals (keep_until);
`,
	// Every judgement goes to a place of its own in the index that Latest asks; entries of
	// 27 bytes instead of 140 let a commit write fewer pages. What is written without judged,
	// by versions before, stays in events_latest, where Latest looks too.
	`
ALTER TABLE events ADD COLUMN judged INTEGER; -- see judgedBy; NULL where Latest never finds it, and in rows of version 2
CREATE INDEX events_judged ON events (judged, at) WHERE judged IS NOT NULL;
DROP INDEX events_latest;
CREATE INDEX events_latest ON events (tenant, session_id, tool, arguments_digest, at)
	WHERE rpc = 'validate' AND session_id IS NOT NULL AND judged IS NULL;
`,
}

// insertSQL adds so many rows, except those whose id is there. Any other conflict would be
// our own fault and fails the batch; that it undoes the whole transaction at once spares
// SQLite a journal of each statement.
func insertSQL(n int) string {
	const row = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	return `INSERT OR ROLLBACK INTO events
	(decision_id, at, ` + rows.Names + `, rest, judged)
	VALUES ` + row + strings.Repeat(`, `+row, n-1) + ` ON CONFLICT (decision_id) DO NOTHING`
}

const (
	// A rest that no version of the service can have written is not loaded at all.
	columnsSQL = `SELECT seq, decision_id, at, ` + rows.Names + `, iif(octet_length(rest) <= 4 * 65536, rest, '') FROM events`

	knownSQL    = `SELECT 1 FROM events WHERE decision_id = ?`
	recallSQL   = `SELECT memo FROM memos WHERE request = ? AND until > ?`
	rememberSQL = `INSERT INTO memos (request, until, memo) VALUES (?, ?, ?)
	ON CONFLICT (request) DO UPDATE SET until = excluded.until, memo = excluded.memo`
	usedSQL = `SELECT used FROM claims WHERE key = ? AND until > ?`
	useSQL  = `INSERT INTO claims (key, used, until) VALUES (?1, 1, ?2)
	ON CONFLICT (key) DO UPDATE SET used = iif(until > ?3, used, 0) + 1, until = max(until, excluded.until)`
	keepSQL = `INSERT INTO originals (event, keep_until, sealed) VALUES (?, ?, ?)`

	probeWriteSQL  = `INSERT OR REPLACE INTO probe (id, room) VALUES (1, zeroblob(65536))`
	probeRemoveSQL = `DELETE FROM probe`
)
