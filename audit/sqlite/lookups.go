package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	"github.com/hallmark-gate/hallmark/audit"
)

// lookup is a connection for what the service itself asks while a caller waits, with its
// statements.
type lookup struct {
	conn                      driver.Conn
	recall, latest, delivered *statement
}

func (l *lookup) all() []of {
	return []of{{&l.recall, recallSQL}, {&l.latest, latestSQL}, {&l.delivered, deliveredSQL}}
}

func (l *lookup) close() error { return errors.Join(closeAll(l.all()), l.conn.Close()) }

// lookups are as many connections as are needed at the same time, made when they are.
type lookups struct {
	connector driver.Connector
	turns     chan struct{} // holds one for each that is in use, at most its capacity

	mu   sync.Mutex
	idle []*lookup
}

// take returns a connection for one goroutine, the one that was used last, once there is
// one. closed ends the waiting.
func (p *lookups) take(ctx context.Context, closed <-chan struct{}) (*lookup, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.turns <- struct{}{}:
	case <-closed:
		return nil, audit.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		l := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return l, nil
	}
	return new(lookup), nil
}

// put gives a connection back; one that has failed is closed.
func (p *lookups) put(l *lookup, failed bool) {
	if failed {
		if l.conn != nil {
			_ = l.close() // it may say again what has failed
		}
	} else {
		p.mu.Lock()
		p.idle = append(p.idle, l)
		p.mu.Unlock()
	}
	<-p.turns
}

// connect opens the connection of l, which is new.
func (p *lookups) connect(ctx context.Context, l *lookup) (err error) {
	if l.conn, err = p.connector.Connect(ctx); err != nil {
		return err
	}
	return prepareAll(l.conn, l.all())
}

// close waits for the lookups that run and closes all connections. There are none after it.
func (p *lookups) close() error {
	var errs []error
	for range cap(p.turns) {
		p.turns <- struct{}{}
	}
	for _, l := range p.idle {
		errs = append(errs, l.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}

// look runs f with a connection. What f runs is a few steps along one index and is not
// interrupted: to watch ctx meanwhile would cost as much again.
func (s *Store) look(ctx context.Context, f func(*lookup) error) error {
	l, err := s.lookups.take(ctx, s.done)
	if err != nil {
		return err
	}
	failed := true // also where f panics
	defer func() { s.lookups.put(l, failed) }()
	if l.conn == nil {
		if err := s.lookups.connect(ctx, l); err != nil {
			return err
		}
	}
	if err := f(l); err != nil {
		return err
	}
	failed = false
	return nil
}
