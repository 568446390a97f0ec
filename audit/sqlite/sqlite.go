// Package sqlite keeps audit records in one SQLite file: the embedded store.
//
// # How a record becomes durable
//
// The file is in WAL mode with synchronous FULL: a commit returns after the log was
// flushed to the disk. One goroutine writes. It takes what is queued, commits it as one
// transaction and only then releases everyone who waits for it, so that the cost of a
// flush is shared (group commit). After kill -9 the log is replayed, and a torn end of
// it is dropped by its checksums; nothing that was confirmed is in a torn end.
//
// # How uses are counted
//
// The writer decides the entries of a batch one after another, by reads within its
// transaction, and writes an entry with its uses and its original or nothing of it. The
// file has one writer at a time, also where several services have it open, so that what
// was read holds until it is written.
//
// A purge goes through the same writer, in steps between two batches. What it removes is
// no longer found; its bytes stay in the file until other records fill the room, and the
// file does not shrink (VACUUM, while no service runs, does both).
//
// # What it defends against
//
//   - A full, read-only or broken disk: the whole batch fails with
//     [audit.ErrUnavailable], [Store.Ready] says so, and the writer tries again by itself
//     with a new connection until a probe of one largest record could be written twice,
//     RetryEvery apart.
//   - A disk that hangs: the queue is bounded in records and bytes and refuses at once,
//     and Ready fails when a commit takes too long.
//   - A file that was removed or replaced under the running service: before it confirms,
//     the writer checks that the names still lead to the files that it writes to.
//   - A file of another program, of a newer version or a damaged one: Open refuses and
//     changes nothing in it. A damaged row is reported and hides no other row.
//   - A wide umask: the directory is made with mode 0700 and the file with 0600. Modes of
//     what is there already are left alone; volumes of orchestrators set their own.
//
// Network file systems that lack shared memory maps are refused by SQLite. Only one
// service should use a file; a second one is safe, but its commits wait for the first.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// Defaults and fixed limits.
const (
	// DefaultQueueRecords is the number of entries that may wait to be written.
	DefaultQueueRecords = 1024
	// DefaultQueueBytes is the size of the entries that may wait, originals included, in
	// bytes.
	DefaultQueueBytes = 64 << 20
	// DefaultReaders is the number of connections for lists, and as many again for what the
	// service asks for itself.
	DefaultReaders = 4
	// DefaultRetryEvery is the time between probes while the store cannot write.
	DefaultRetryEvery = time.Second
	// DefaultBusyTimeout is how long a commit waits for another process's lock.
	DefaultBusyTimeout = 2 * time.Second

	// maxBatch is the number of entries in one transaction at most.
	maxBatch = 256
	// readTimeout is how long a list may look for its rows, whatever its reader's patience.
	readTimeout = 30 * time.Second
	// stallAfter is how long a commit may take before Ready says that the disk hangs.
	stallAfter = 5 * time.Second
)

// Options are the settings of a store. A zero field means its default; so do negative
// numbers.
type Options struct {
	// QueueRecords is DefaultQueueRecords unless set.
	QueueRecords int
	// QueueBytes is DefaultQueueBytes unless set, in bytes. One entry always fits, however large.
	QueueBytes int
	// Readers is DefaultReaders unless set: so many connections for lists, and at most as
	// many for what the service asks for itself.
	Readers int
	// RetryEvery is DefaultRetryEvery unless set.
	RetryEvery time.Duration
	// BusyTimeout is DefaultBusyTimeout unless set, counted in whole milliseconds.
	BusyTimeout time.Duration
	// Migrated is called by [Open] once the schema was brought to version to: from 0 where
	// the file is new. nil: nobody is told.
	Migrated func(from, to int)

	// wrap stands between the pools and SQLite in this package's tests; nil means
	// nothing does.
	wrap func(driver.Connector) driver.Connector
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
	o.QueueBytes = max(o.QueueBytes, audit.MaxRecordBytes)
	setInt(&o.Readers, DefaultReaders)
	setTime(&o.RetryEvery, DefaultRetryEvery)
	setTime(&o.BusyTimeout, DefaultBusyTimeout)
	return o
}

// Store is an [audit.Store] in one file. It is safe for concurrent use. Make one with
// [Open]; the zero value is not usable.
type Store struct {
	path string
	opts Options

	write *sql.DB    // one connection, of the writer goroutine alone
	stmts statements // on its connection
	read  *sql.DB    // query_only
	pin   *sql.Conn  // on read, never used: while it is open the -wal file stays the same
	file  fs.FileInfo
	wal   fs.FileInfo

	lookups lookups // query_only

	patience time.Duration // readTimeout

	mu     sync.RWMutex // guards closed against sends to queue
	closed bool
	queue  chan *job
	steps  chan *step   // of purges; the writer takes one when it likes
	bytes  atomic.Int64 // of the jobs that wait or are being written

	failure   atomic.Pointer[error] // why the store cannot write; nil after two probes
	busySince atomic.Int64          // start of the commit that runs, in ns since 1970; 0 for none

	provenSince time.Time // of the writer goroutine: the first probe since the last failure

	done     chan struct{} // closed when the writer has ended and all is released
	closeErr error         // valid after done
}

var _ audit.Store = (*Store)(nil)

// Append implements [audit.Store]. Its errors are ErrFull, ErrUnavailable,
// ErrInvalidRecord and those of ctx.
func (s *Store) Append(ctx context.Context, e audit.Entry) (audit.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return audit.Outcome{}, fmt.Errorf("audit/sqlite: append: %w", err)
	}
	if err := e.Check(); err != nil {
		return audit.Outcome{}, fmt.Errorf("audit/sqlite: append: %w", err)
	}
	j := newJob(e)
	if err := s.enqueue(j); err != nil {
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
		return audit.Outcome{}, fmt.Errorf("audit/sqlite: append: the record may or may not be kept: %w", ctx.Err())
	}
}

// enqueue hands a job to the writer or says at once why not. An entry that finds the
// queue empty fits, whatever its size.
func (s *Store) enqueue(j *job) error {
	if waiting := s.bytes.Add(j.size); waiting > int64(s.opts.QueueBytes) && waiting != j.size {
		s.bytes.Add(-j.size)
		return fmt.Errorf("audit/sqlite: append: %w: %d bytes wait", audit.ErrFull, waiting-j.size)
	}
	j.own() // only what has room is copied
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		s.bytes.Add(-j.size)
		return fmt.Errorf("audit/sqlite: append: %w: %w", audit.ErrUnavailable, audit.ErrClosed)
	}
	select {
	case s.queue <- j:
		return nil
	default:
		s.bytes.Add(-j.size)
		return fmt.Errorf("audit/sqlite: append: %w: %d records wait", audit.ErrFull, s.opts.QueueRecords)
	}
}

// Ready implements [audit.Store]: it reports the outcome of the last write or probe, and
// a commit that hangs. It does no I/O.
func (s *Store) Ready(context.Context) error {
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return fmt.Errorf("audit/sqlite: %w: %w", audit.ErrUnavailable, audit.ErrClosed)
	}
	if err := s.failure.Load(); err != nil {
		return *err
	}
	if since := s.busySince.Load(); since != 0 {
		if took := time.Since(time.Unix(0, since)); took > stallAfter {
			return fmt.Errorf("audit/sqlite: %w: a commit has been running for %s; see whether the disk hangs",
				audit.ErrUnavailable, took.Round(time.Second))
		}
	}
	return nil
}

// Close implements [audit.Store].
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
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
		return fmt.Errorf("audit/sqlite: close: records are still being written: %w", ctx.Err())
	}
}
