// Package postgres keeps audit records in PostgreSQL: the store of a fleet.
//
// # How a record becomes durable
//
// Two goroutines write, each with a connection of its own: one for entries that use
// nothing up, one for those that do, so that the first never wait for a contended grant.
// Each takes what is queued, writes it as one transaction and releases everyone who waits
// for it only after COMMIT (group commit). synchronous_commit is set in every session, so
// that a server whose default is off loses nothing; remote_apply, set on the server or in
// the DSN, is kept. A server that runs with fsync off is refused.
//
// When a connection breaks, even in COMMIT, the batch is written once more: an id that is
// there already is a no-op, so nothing is counted twice.
//
// # How uses are counted exactly
//
// The rows of all keys of a batch are locked in ascending order, requests before claims
// before events, decided in memory in the order of arrival, and written back in the same
// transaction. Every replica does so in the same order; none waits for one that waits for
// it.
//
// # The order of writing
//
// Numbers that transactions draw become visible out of order. A row therefore carries its
// transaction (xid8), and [Store.Tail] hands out only rows of transactions before the
// oldest that still runs, ordered by transaction, then by number. A transaction that stays
// open anywhere on the server holds the tail up, and loses nothing.
//
// # What it defends against
//
//   - A lost, hanging, read-only or full server: every write is bounded in time, the whole
//     batch fails with [audit.ErrUnavailable], [Store.Ready] says so, new entries are
//     refused at once, and a probe of one largest record is tried until it is durable.
//   - A flood: the queue is bounded in entries and bytes and refuses at once.
//   - A replica that freezes with rows locked: the server ends its transaction.
//   - A standby that does not confirm: a commit that ended with a warning was not waited
//     for, and counts as a failure.
//   - A schema that is older or newer than the service: [Open] refuses it and changes
//     nothing; only [Migrate] does.
//   - Secrets in logs: nothing of a DSN but host, port and database is ever named.
//
// # Who may do what
//
// The role that migrates owns the tables. The service's role needs no more than
//
//	GRANT SELECT ON hallmark_migrations TO service;
//	GRANT SELECT, INSERT, DELETE ON events, originals, probe TO service;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON requests, claims TO service;
//
// It cannot change a record: events and originals are never updated. The tables lie in the
// first schema of the search path; a database of its own is best. Over a network say
// sslmode=verify-full in the DSN: PostgreSQL's default falls back to plain text in silence.
package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hallmark-gate/hallmark/audit"
)

// Defaults and fixed limits.
const (
	// DefaultQueueRecords is the number of entries that may wait to be written.
	DefaultQueueRecords = 1024
	// DefaultQueueBytes is the size of the entries that may wait, in bytes.
	DefaultQueueBytes = 64 << 20
	// DefaultReaders is the number of connections for operators' reading, and again for
	// what calls look up.
	DefaultReaders = 4
	// DefaultRetryEvery is the longest time between probes while the store cannot write,
	// and between looks at a connection that nobody uses.
	DefaultRetryEvery = time.Second
	// DefaultWriteTimeout is how long a batch may take, a second try included.
	DefaultWriteTimeout = 5 * time.Second
	// DefaultConnectTimeout is how long one host may take to accept a connection.
	DefaultConnectTimeout = 2 * time.Second

	// maxBatch and maxBatchBytes bound one transaction; one entry always fits.
	maxBatch      = 256
	maxBatchBytes = 16 << 20
	// largestEntry is what an entry may take, in bytes.
	largestEntry = audit.MaxRecordBytes + audit.MaxMemoBytes + audit.MaxOriginalBytes + audit.MaxClaims*claimBytes
	claimBytes   = 64
)

// Options are the settings of a store. A zero field means its default; so do negative
// numbers.
type Options struct {
	// QueueRecords is DefaultQueueRecords unless set.
	QueueRecords int
	// QueueBytes is DefaultQueueBytes unless set, in bytes. At least one entry fits.
	QueueBytes int
	// Readers is DefaultReaders unless set, a number of connections; there are as many
	// again for what calls look up, so that no call waits behind a list.
	Readers int
	// RetryEvery is DefaultRetryEvery unless set.
	RetryEvery time.Duration
	// WriteTimeout is DefaultWriteTimeout unless set.
	WriteTimeout time.Duration
	// ConnectTimeout is the DSN's connect_timeout, else DefaultConnectTimeout, unless set.
	ConnectTimeout time.Duration
}

func (o Options) withDefaults() Options {
	setInt := func(p *int, def int) {
		if *p <= 0 {
			*p = def
		}
	}
	setTime := func(p *time.Duration, def time.Duration) {
		if *p <= 0 {
			*p = def
		}
	}
	setInt(&o.QueueRecords, DefaultQueueRecords)
	setInt(&o.QueueBytes, DefaultQueueBytes)
	o.QueueBytes = max(o.QueueBytes, largestEntry)
	setInt(&o.Readers, DefaultReaders)
	setTime(&o.RetryEvery, DefaultRetryEvery)
	setTime(&o.WriteTimeout, DefaultWriteTimeout)
	return o
}

// Store is an [audit.Store] in PostgreSQL. It is safe for concurrent use, and so are any
// number of stores on one database. Make one with [Open]; the zero value is not usable.
type Store struct {
	place  string // host, port and database, for messages
	opts   Options
	config *pgx.ConnConfig // of the writers
	read   *pgxpool.Pool
	look   *pgxpool.Pool // for what calls look up

	plain, uses *lane

	mu      sync.RWMutex // guards closed against sends to the queues
	closed  bool
	records atomic.Int64 // of the entries that wait or are being written
	bytes   atomic.Int64

	done     chan struct{} // closed when the writers have ended and all is released
	closeErr error         // valid after done
}

var _ audit.Store = (*Store)(nil)

// job is one entry on its way to the server.
type job struct {
	row      row
	uses     audit.Uses
	original *audit.Original
	size     int64
	done     chan result // of capacity 1: the writer never waits for a caller
}

// result is what Append returns.
type result struct {
	outcome audit.Outcome
	err     error
}

// Append implements [audit.Store]. Its errors are ErrFull, ErrUnavailable,
// ErrInvalidRecord and those of ctx.
func (s *Store) Append(ctx context.Context, e audit.Entry) (audit.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return audit.Outcome{}, fmt.Errorf("audit/postgres: append: %w", err)
	}
	if err := e.Check(); err != nil {
		return audit.Outcome{}, fmt.Errorf("audit/postgres: append: %w", err)
	}
	row, err := encode(e.Record)
	if err != nil {
		return audit.Outcome{}, fmt.Errorf("audit/postgres: append: %w: %w", audit.ErrInvalidRecord, err)
	}
	j := &job{row: row, size: row.Size() + int64(len(e.Uses.Memo)+claimBytes*len(e.Uses.Claims)), done: make(chan result, 1)}
	if e.Original != nil {
		j.size += int64(len(e.Original.Sealed))
	}
	if err := s.enqueue(j, e); err != nil {
		return audit.Outcome{}, err
	}
	select {
	case r := <-j.done:
		return r.outcome, r.err
	case <-ctx.Done():
		select {
		case r := <-j.done: // both came at once: what is known is worth more
			return r.outcome, r.err
		default:
		}
		return audit.Outcome{}, fmt.Errorf("audit/postgres: append: the entry may or may not be kept: %w", ctx.Err())
	}
}

// enqueue hands a job to its writer or says at once why not. Only what is taken is copied.
func (s *Store) enqueue(j *job, e audit.Entry) error {
	to := s.plain
	if e.Uses.Request != "" || len(e.Uses.Claims) > 0 {
		to = s.uses
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return fmt.Errorf("audit/postgres: append: %w: %w", audit.ErrUnavailable, audit.ErrClosed)
	}
	if err := to.failure.Load(); err != nil {
		return *err
	}
	if s.records.Add(1) > int64(s.opts.QueueRecords) {
		s.records.Add(-1)
		return fmt.Errorf("audit/postgres: append: %w: %d entries wait", audit.ErrFull, s.opts.QueueRecords)
	}
	if s.bytes.Add(j.size) > int64(s.opts.QueueBytes) {
		s.records.Add(-1)
		s.bytes.Add(-j.size)
		return fmt.Errorf("audit/postgres: append: %w: %d bytes wait", audit.ErrFull, s.opts.QueueBytes)
	}
	j.uses = e.Uses
	j.uses.Memo, j.uses.Claims = bytes.Clone(e.Uses.Memo), slices.Clone(e.Uses.Claims)
	if e.Original != nil {
		j.original = &audit.Original{Sealed: bytes.Clone(e.Original.Sealed), KeepUntil: e.Original.KeepUntil}
	}
	to.queue <- j // it has room for all that are counted
	return nil
}

// Ready implements [audit.Store]: it reports the outcome of the last write, probe or look
// at an idle connection. It does no I/O.
func (s *Store) Ready(context.Context) error {
	if s.isClosed() {
		return fmt.Errorf("audit/postgres: %w: %w", audit.ErrUnavailable, audit.ErrClosed)
	}
	for _, l := range [...]*lane{s.plain, s.uses} {
		if err := l.failure.Load(); err != nil {
			return *err
		}
	}
	return nil
}

func (s *Store) isClosed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.closed
}

// Close implements [audit.Store].
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.plain.queue)
		close(s.uses.queue)
	}
	s.mu.Unlock()
	select {
	case <-s.done:
		return s.closeErr
	case <-ctx.Done():
		select {
		case <-s.done:
			return s.closeErr
		default:
		}
		return fmt.Errorf("audit/postgres: close: entries are still being written: %w", ctx.Err())
	}
}
