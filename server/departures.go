package server

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// leaveRate is how fast the rest of a call has to leave at least, in bytes a second, once
// readTimeout is over.
const leaveRate = 64 << 10

// departures are the messages on one connection that have not left. gRPC keeps whatever
// its client opens no window for, without a bound; so their bytes
// count, in all and for their identity, and who takes nothing is refused more. What
// remains of a call that has ended must leave in time, or the connection ends: such a call
// cannot be ended otherwise. It is safe for concurrent use.
type departures struct {
	lane     *admission
	patience time.Duration
	cut      func(who *identity, held int64) // ends the connection

	mu          sync.Mutex
	first, last *departure // the oldest first
	held        int64
	timer       *time.Timer // looks at what is late; nil before there was anything
	armed       bool
	ended       bool
}

// outgoing is what leaves of one call.
type outgoing struct {
	from  *departures
	who   *identity
	here  int  // of its messages; from.mu is held for this and the next
	ended bool // no more comes, and what is here has its time
}

// departure is one message. It is the pool of the message's bytes, so that it learns when
// gRPC is done with them.
type departure struct {
	of            *outgoing
	size          int64
	until         time.Time // zero while its call lasts
	counted       bool
	before, after *departure
}

var _ mem.BufferPool = (*departure)(nil)

// begin counts the bytes of a message.
func (o *outgoing) begin(size int) *departure {
	d, m := o.from, &departure{of: o, size: int64(size)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return m
	}
	d.lane.take(o.who, room{bytes: m.size})
	m.counted = true
	o.here++
	d.held += m.size
	if m.before = d.last; d.last != nil {
		d.last.after = m
	} else {
		d.first = m
	}
	d.last = m
	if o.ended {
		d.due(m)
	}
	return m
}

// end says that the call has ended. A unary call's reply comes after that.
func (o *outgoing) end() {
	d := o.from
	d.mu.Lock()
	defer d.mu.Unlock()
	o.ended = true
	left := o.here
	for m := d.first; left > 0; m = m.after {
		if m.of == o {
			d.due(m)
			left--
		}
	}
}

// due gives a message its time: what lies on the connection may leave before it.
// d.mu is held.
func (d *departures) due(m *departure) {
	m.until = time.Now().Add(d.patience + time.Duration(d.held)*time.Second/leaveRate)
	d.arm(d.patience)
}

// arm has what is late looked for. d.mu is held.
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

// look cuts the connection if a message is late.
func (d *departures) look() {
	d.mu.Lock()
	d.armed = false
	var next *departure
	for m := d.first; m != nil; m = m.after {
		if !m.until.IsZero() && (next == nil || m.until.Before(next.until)) {
			next = m
		}
	}
	if next == nil {
		d.mu.Unlock()
		return
	}
	if left := time.Until(next.until); left > 0 {
		d.arm(left)
		d.mu.Unlock()
		return
	}
	who, held := next.of.who, d.held
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

// gone gives the room of a message back, once. d.mu is held.
func (d *departures) gone(m *departure) {
	if !m.counted {
		return
	}
	m.counted = false
	m.of.here--
	d.held -= m.size
	if m.before != nil {
		m.before.after = m.after
	} else {
		d.first = m.after
	}
	if m.after != nil {
		m.after.before = m.before
	} else {
		d.last = m.before
	}
	d.lane.release(m.of.who, room{bytes: m.size})
}

// Get implements [mem.BufferPool].
func (*departure) Get(length int) *[]byte { return messagePool.Get(length) }

// Put implements [mem.BufferPool]: the message has left, or never will.
func (m *departure) Put(bytes *[]byte) {
	d := m.of.from
	d.mu.Lock()
	d.gone(m)
	d.mu.Unlock()
	messagePool.Put(bytes)
}

// messagePool is where the bytes of messages come from: in powers of two, since what a
// message counts with is what it takes. gRPC's own goes from 32 KiB to 1 MiB in one step.
var messagePool = mem.NewTieredBufferPool(2<<10, 4<<10, 8<<10, 16<<10, 32<<10, 64<<10, 128<<10, 256<<10, 512<<10, 1<<20, 2<<20, 4<<20, 8<<20)

// leastLeaving is the least that a message's bytes are taken with: gRPC does not count the
// holders of less.
const leastLeaving = 1<<10 + 1

// leaving is a message that counts until it has left.
type leaving struct {
	message proto.Message
	of      *outgoing
}

// marshal makes the bytes of the message.
func (l *leaving) marshal() (mem.BufferSlice, error) {
	bytes := messagePool.Get(max(proto.Size(l.message), leastLeaving))
	size := cap(*bytes)
	written, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend((*bytes)[:0], l.message)
	if err != nil {
		messagePool.Put(bytes)
		return nil, err
	}
	*bytes = written
	return mem.BufferSlice{mem.NewBuffer(bytes, l.of.begin(size))}, nil
}

// outgoingOf returns what counts the messages of a call; nil where nothing does.
func outgoingOf(ctx context.Context, who *identity) *outgoing {
	conn, ok := connOf(ctx).(*connAddr)
	if !ok {
		return nil
	}
	return &outgoing{from: conn.departures, who: who}
}

// counted makes a message of a call one that counts until it has left.
func (*lanes) counted(ctx context.Context, m any) any {
	t, ok := ctx.Value(ticketKey{}).(*ticket)
	message, isMessage := m.(proto.Message)
	if !ok || t.out == nil || !isMessage {
		return m
	}
	return &leaving{message, t.out}
}

// connAddr is the address of a connection's client, by which the calls on it find what
// they share.
type connAddr struct {
	net.Addr
	departures *departures
}
