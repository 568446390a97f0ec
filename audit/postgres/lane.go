package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hallmark-gate/hallmark/audit"
)

// lane is a queue, the goroutine that writes what is in it, and its connection.
type lane struct {
	store *Store
	queue chan *job
	// write writes a batch as one transaction. Its outcomes are those of the batch, in its
	// order; nil says that all of it was written.
	write func(ctx context.Context, c *conn, batch []*job) ([]audit.Outcome, error)

	conn    *conn                 // of the goroutine alone; nil while there is none
	failure atomic.Pointer[error] // why the last write failed; nil after a good one
}

// conn is a connection of a writer.
type conn struct {
	*pgx.Conn
	warning string // what the server warned of; "" for nothing
}

// tries is how often a batch is written before it fails.
const tries = 3

// errRaced says that somebody else wrote or removed what the transaction had looked for;
// it is undone and begins anew.
var errRaced = errors.New("another replica was faster, again and again")

// run is the goroutine: it ends when the queue is closed and empty.
func (l *lane) run() {
	defer l.discard()
	longest := l.store.opts.RetryEvery
	soon := longest / 16 // most outages are short
	backoff := soon
	timer := time.NewTimer(longest)
	defer timer.Stop()
	batch := make([]*job, 0, maxBatch)
	for {
		wait := longest
		if l.failure.Load() != nil {
			wait = backoff
		} else {
			backoff = soon
		}
		timer.Reset(wait)
		select {
		case j, open := <-l.queue:
			if !open {
				return
			}
			batch = l.collect(append(batch[:0], j))
			if err := l.failure.Load(); err != nil { // queued before that was known
				l.finish(batch, nil, *err)
				continue
			}
			outcomes, err := l.attempt(batch)
			l.finish(batch, outcomes, err)
			clear(batch) // keep no entry alive while idle
		case <-timer.C:
			l.look()
			backoff = min(2*backoff, longest)
		}
	}
}

// collect adds what is queued right now, without waiting.
func (l *lane) collect(batch []*job) []*job {
	bytes := batch[0].size
	for len(batch) < maxBatch && bytes < maxBatchBytes {
		select {
		case j, open := <-l.queue:
			if !open {
				return batch // run sees it next
			}
			batch = append(batch, j)
			bytes += j.size
		default:
			return batch
		}
	}
	return batch
}

// finish releases everyone who waits for the batch.
func (l *lane) finish(batch []*job, outcomes []audit.Outcome, err error) {
	for i, j := range batch {
		l.store.records.Add(-1)
		l.store.bytes.Add(-j.size)
		r := result{err: err}
		if err == nil && outcomes != nil {
			r.outcome = outcomes[i]
		}
		j.done <- r
	}
}

// attempt writes a batch and keeps the outcome for Ready. It is not bound to any caller's
// context: a caller that leaves must not undo the entries of the others.
func (l *lane) attempt(batch []*job) (outcomes []audit.Outcome, err error) {
	err = l.work(func(ctx context.Context, c *conn) error {
		outcomes, err = l.write(ctx, c, batch)
		return err
	})
	return outcomes, err
}

// look probes while the store cannot write, and else sees whether the connection lives.
func (l *lane) look() {
	check := func(ctx context.Context, c *conn) error { return c.Ping(ctx) }
	if l.failure.Load() != nil {
		check = probe
	}
	_ = l.work(check) // the outcome is in l.failure; nobody waits for it
}

// work runs f, and again with a new connection where that may help. What may have been
// committed before is found by its id then.
func (l *lane) work(f func(context.Context, *conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.store.opts.WriteTimeout)
	defer cancel()
	var err error
	for range tries {
		var c *conn
		if c, err = l.connection(ctx); err != nil {
			break
		}
		err = f(ctx, c)
		if err == nil && c.warning != "" {
			err = errWarned
		}
		if err == nil {
			l.failure.Store(nil)
			return nil
		}
		again := ctx.Err() == nil && mayHelp(err, c)
		l.discard() // the next try begins with nothing that the failure may have left
		if !again {
			break
		}
	}
	err = fmt.Errorf("audit/postgres: %s: %w: %w", l.store.place, audit.ErrUnavailable, explain(err))
	l.failure.Store(&err)
	return err
}

// mayHelp reports whether another try may end better: the connection broke, or
// transactions were in each other's way.
func mayHelp(err error, c *conn) bool {
	var e *pgconn.PgError
	switch {
	case errors.Is(err, errWarned):
		return false
	case errors.Is(err, errRaced):
		return true
	case errors.As(err, &e):
		return strings.HasPrefix(e.Code, "40") || // rolled back: deadlock, serialization
			strings.HasPrefix(e.Code, "08") || // the connection
			e.Code == "57P01" || e.Code == "57P05" || e.Code == "25P03" // the server ended it
	default:
		return c.IsClosed()
	}
}

// connection returns the lane's connection, a new one where there is none.
func (l *lane) connection(ctx context.Context) (*conn, error) {
	if l.conn != nil && !l.conn.IsClosed() {
		return l.conn, nil
	}
	c := new(conn)
	config := l.store.config.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			c.warning = n.Message
		}
	}
	var err error
	if c.Conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	c.warning = "" // of the login
	l.conn = c
	return c, nil
}

// discard closes the lane's connection and waits for nobody.
func (l *lane) discard() {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = l.conn.Close(ctx) // there is nothing more to do with it
	l.conn = nil
}

// probe writes and removes as much as one largest record takes. What this session has
// seen before is durable, and confirmed by the standbys, when it returns.
func probe(ctx context.Context, c *conn) error {
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after Commit it says so; else the connection is thrown away
	var id int64
	if err := tx.QueryRow(ctx, probeWriteSQL, audit.MaxRecordBytes).Scan(&id); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, probeRemoveSQL, id); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
