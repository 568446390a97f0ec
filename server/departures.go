package server

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// leaveRate is how fast a reply has to leave at least, in bytes a second, once
// readTimeout is over.
const leaveRate = 64 << 10

// departures are the replies on one connection that have not left. gRPC keeps whatever
// its client opens no window for, without a bound; so they count as bytes of their
// identity, in the room of what is judged, and who takes nothing is refused more. A reply
// that does not leave in time ends the connection: a call that has its reply cannot be
// ended otherwise. It is safe for concurrent use.
type departures struct {
	lane     *admission
	patience time.Duration
	cut      func(who *identity, held int64) // ends the connection

	mu          sync.Mutex
	first, last *departure // the oldest first
	held        int64
	timer       *time.Timer // looks at the first; nil before there was one
	armed       bool
	ended       bool
}

// departure is one reply of a connection. It is the pool of the reply's bytes, so that it
// learns when gRPC is done with them.
type departure struct {
	from          *departures
	who           *identity
	size          int64
	until         time.Time
	counted       bool
	before, after *departure
}

var _ mem.BufferPool = (*departure)(nil)

// begin counts the bytes of a reply.
func (d *departures) begin(who *identity, size int) *departure {
	r := &departure{from: d, who: who, size: int64(size)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return r
	}
	d.lane.take(who, room{bytes: r.size})
	r.counted = true
	d.held += r.size
	// What lies before it leaves first.
	r.until = time.Now().Add(d.patience + time.Duration(d.held)*time.Second/leaveRate)
	if r.before = d.last; d.last != nil {
		d.last.after = r
	} else {
		d.first = r
	}
	d.last = r
	d.arm(d.patience)
	return r
}

// arm has the first looked at. d.mu is held.
func (d *departures) arm(in time.Duration) {
	switch {
	case d.armed:
		return
	case d.timer == nil:
		d.timer = time.AfterFunc(in, d.look)
	default:
		d.timer.Reset(in)
	}
	d.armed = true
}

// look cuts the connection if its oldest reply is late.
func (d *departures) look() {
	d.mu.Lock()
	d.armed = false
	if d.first == nil {
		d.mu.Unlock()
		return
	}
	if left := time.Until(d.first.until); left > 0 {
		d.arm(left)
		d.mu.Unlock()
		return
	}
	who, held := d.first.who, d.held
	d.mu.Unlock()
	d.cut(who, held)
}

// end gives the room of all that has not left back: the connection is closed.
func (d *departures) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for d.first != nil {
		d.gone(d.first)
	}
	if d.timer != nil {
		d.timer.Stop()
	}
}

// gone gives the room of a reply back, once. d.mu is held.
func (d *departures) gone(r *departure) {
	if !r.counted {
		return
	}
	r.counted = false
	d.held -= r.size
	if r.before != nil {
		r.before.after = r.after
	} else {
		d.first = r.after
	}
	if r.after != nil {
		r.after.before = r.before
	} else {
		d.last = r.before
	}
	d.lane.release(r.who, room{bytes: r.size})
}

// Get implements [mem.BufferPool].
func (*departure) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements [mem.BufferPool]: the reply has left, or never will.
func (r *departure) Put(bytes *[]byte) {
	r.from.mu.Lock()
	r.from.gone(r)
	r.from.mu.Unlock()
	mem.DefaultBufferPool().Put(bytes)
}

// leastReply is the least that a reply's bytes are taken with: gRPC does not count the
// holders of less.
const leastReply = 1<<10 + 1

// leaving is a reply that counts until it has left.
type leaving struct {
	message proto.Message
	from    *departures
	who     *identity
}

// marshal makes the bytes of the reply.
func (l *leaving) marshal() (mem.BufferSlice, error) {
	bytes := mem.DefaultBufferPool().Get(max(proto.Size(l.message), leastReply))
	size := cap(*bytes)
	written, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend((*bytes)[:0], l.message)
	if err != nil {
		mem.DefaultBufferPool().Put(bytes)
		return nil, err
	}
	*bytes = written
	return mem.BufferSlice{mem.NewBuffer(bytes, l.from.begin(l.who, size))}, nil
}

// replying makes the reply of a judged call one that counts until it has left.
func (l *lanes) replying(ctx context.Context, reply any) any {
	t, ok := ctx.Value(ticketKey{}).(*ticket)
	if !ok || t.lane == nil {
		return reply
	}
	conn, ok := connOf(ctx).(*connAddr)
	m, isMessage := reply.(proto.Message)
	if !ok || !isMessage {
		return reply
	}
	return &leaving{m, conn.departures, t.who}
}

// connAddr is the address of a connection's client, by which the calls on it find what
// they share.
type connAddr struct {
	net.Addr
	departures *departures
}
