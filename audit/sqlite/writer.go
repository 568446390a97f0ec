package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// run is the writer goroutine: it ends when the queue is closed and empty, and then
// releases the file.
func (s *Store) run() {
	retry := time.NewTimer(s.opts.RetryEvery)
	defer retry.Stop()
	batch := make([]*job, 0, maxBatch)
	for {
		var probe <-chan time.Time
		if s.failure.Load() != nil {
			retry.Reset(s.opts.RetryEvery)
			probe = retry.C
		}
		select {
		case j, open := <-s.queue:
			if !open {
				s.closeErr = s.release()
				close(s.done)
				return
			}
			batch = s.collect(append(batch[:0], j))
			err := s.attempt(func() error { return s.commit(batch) })
			if err == nil && s.failure.Load() != nil {
				s.prove() // a stream of batches must not keep the timer from it
			}
			s.finish(batch, err)
			clear(batch) // keep no record alive while idle
		case st := <-s.steps:
			st.done <- s.purge(st)
		case <-probe:
			s.prove()
		}
	}
}

// collect adds what is queued right now, without waiting.
func (s *Store) collect(batch []*job) []*job {
	for len(batch) < maxBatch {
		select {
		case j, open := <-s.queue:
			if !open {
				return batch // run sees it next
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// finish releases everyone who waits for the batch.
func (s *Store) finish(batch []*job, err error) {
	for _, j := range batch {
		s.bytes.Add(-j.size)
		if err != nil {
			j.outcome = audit.Outcome{}
		}
		j.done <- result{outcome: j.outcome, err: err}
	}
}

// prove writes as much as one largest record takes; where there is room for it, and still
// is after RetryEvery without a failure between, the store works again. A batch that was
// written proves less, and one that found nothing to write nothing at all: a full disk
// takes something now and then, such as what a checkpoint has left free in the log, and
// Ready must not waver with it.
func (s *Store) prove() {
	if s.attempt(s.probe) != nil {
		return
	}
	switch now := time.Now(); {
	case s.provenSince.IsZero():
		s.provenSince = now
	case now.Sub(s.provenSince) >= s.opts.RetryEvery:
		s.failure.Store(nil)
	}
}

// attempt runs a write and keeps its failure for Ready. After one the connection is thrown
// away: the next attempt begins with nothing that the failure may have left.
func (s *Store) attempt(write func() error) error {
	s.busySince.Store(time.Now().UnixNano())
	defer s.busySince.Store(0)
	err := write()
	if err == nil {
		err = s.stillThere()
	}
	if err == nil {
		return nil
	}
	s.provenSince = time.Time{}
	if !errors.Is(err, errReplaced) { // the open files may be all that is left
		s.discard()
	}
	err = fmt.Errorf("audit/sqlite: %s: %w: %w", s.path, audit.ErrUnavailable, explain(err))
	s.failure.Store(&err)
	return err
}

// commit writes a batch as one transaction. It is not bound to any caller's context: a
// caller that leaves must not undo the records of the others.
func (s *Store) commit(batch []*job) error {
	return s.onWriter(func() error {
		return s.stmts.inTx(func() error { return s.stmts.writeBatch(batch) })
	})
}

// onWriter runs f with the statements prepared on the writer's connection, a new one after
// discard.
func (s *Store) onWriter(f func() error) error {
	conn, err := s.write.Conn(context.Background())
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close() //nolint:errcheck // it only goes back to the pool
	return conn.Raw(func(c any) error {
		if err := s.stmts.on(c.(driver.Conn)); err != nil {
			return err
		}
		return f()
	})
}

// probe writes and removes as much as one largest record takes.
func (s *Store) probe() error {
	for _, statement := range [...]string{probeWriteSQL, probeRemoveSQL} {
		if _, err := s.write.Exec(statement); err != nil {
			return fmt.Errorf("probe: %w", err)
		}
	}
	return nil
}

// errReplaced lasts until the names are back, which in practice means a restart.
var errReplaced = errors.New("the database file or its -wal file was removed or replaced while in use; " +
	"put it back if you can and restart the service")

// stillThere checks that the names still lead to the open files: what is written to a
// file without a name is gone with the process.
func (s *Store) stillThere() error {
	for _, f := range [...]struct {
		path string
		open fs.FileInfo
	}{{s.path, s.file}, {s.path + "-wal", s.wal}} {
		now, err := os.Stat(f.path)
		if errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(now, f.open)) {
			return errReplaced
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// discard closes the writer's connection; the pool opens a new one when it is needed.
func (s *Store) discard() {
	conn, err := s.write.Conn(context.Background())
	if err != nil {
		return // there is none, and none can be had now
	}
	_ = conn.Raw(func(any) error {
		_ = s.stmts.close() // they may say again what has failed
		return driver.ErrBadConn
	})
	_ = conn.Close() // the pool has closed it already
}

// release closes the connections, the writer's last: it moves the log into the file.
func (s *Store) release() error {
	err := errors.Join(s.lookups.close(), s.pin.Close(), s.read.Close(), s.stmts.close(), s.write.Close())
	if err != nil {
		return fmt.Errorf("audit/sqlite: close %s: %w", s.path, explain(err))
	}
	return nil
}
