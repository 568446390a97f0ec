-- +goose Up
-- Columns are what stores find by; '' stands for none, and the partial indexes hold only
-- rows that have a value. Everything else is in rest. Indexes end with at: lists are
-- ordered by it, and the rows of one nanosecond are few to sort.
CREATE TABLE events (
	decision_id      uuid   NOT NULL PRIMARY KEY,
	at               bigint NOT NULL, -- nanoseconds since 1970, UTC
	-- The order of writing: xid, then seq. See Tail.
	xid              xid8   NOT NULL DEFAULT pg_current_xact_id(),
	seq              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
	rpc              text COLLATE "C" NOT NULL,
	tenant           text COLLATE "C" NOT NULL,
	tool             text COLLATE "C" NOT NULL,
	request_id       text COLLATE "C" NOT NULL,
	session_id       text COLLATE "C" NOT NULL,
	arguments_digest text COLLATE "C" NOT NULL,
	failure_code     text COLLATE "C" NOT NULL,
	reason           text COLLATE "C" NOT NULL, -- of the first rejection
	decision         text COLLATE "C" NOT NULL,
	delivered        text COLLATE "C" NOT NULL,
	rest             json NOT NULL -- audit.Record, less the columns
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX events_at           ON events (at, decision_id);
CREATE INDEX events_written      ON events (xid, seq);
CREATE INDEX events_tenant       ON events (tenant, at);
CREATE INDEX events_tool         ON events (tool, at)         WHERE tool <> '';
CREATE INDEX events_request_id   ON events (request_id, at)   WHERE request_id <> '';
CREATE INDEX events_session_id   ON events (session_id, at)   WHERE session_id <> '';
CREATE INDEX events_failure_code ON events (failure_code, at) WHERE failure_code <> '';
CREATE INDEX events_reason       ON events (reason, at)       WHERE reason <> '';
CREATE INDEX events_latest       ON events (session_id, tool, arguments_digest, at)
	WHERE rpc = 'validate' AND session_id <> '';
CREATE INDEX events_delivered    ON events (session_id, tenant, tool, delivered)
	WHERE rpc = 'validate' AND delivered <> '' AND session_id <> '';

-- Sealed bytes do not shrink: no time is spent on trying.
CREATE TABLE originals (
	decision_id uuid   NOT NULL PRIMARY KEY, -- of an event; written and removed with it
	keep_until  bigint NOT NULL,
	sealed      bytea  NOT NULL
);
ALTER TABLE originals ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX originals_keep_until ON originals (keep_until);

-- Both are updated in place; room in the pages keeps the updates away from the indexes.
CREATE TABLE requests (
	key   bytea  NOT NULL PRIMARY KEY,
	until bigint NOT NULL,
	memo  bytea  NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX requests_until ON requests (until);

CREATE TABLE claims (
	key   bytea  NOT NULL PRIMARY KEY,
	until bigint NOT NULL,
	used  bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX claims_until ON claims (until);

-- Room for one largest record, written and removed to learn whether the disk takes it.
CREATE TABLE probe (
	id   bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	room bytea  NOT NULL
);
ALTER TABLE probe ALTER COLUMN room SET STORAGE EXTERNAL;
