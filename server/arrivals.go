package server

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// arrivals are the places of requests that are being read: so many at one time, and so
// many of one identity. It is safe for concurrent use.
//
// Who sends its headers and then nothing must not keep others out. So a call without a
// place may cut one that is being read, and waits until that has left:
//   - one of an identity, or within its own of a connection, that has more places, once
//     that has had a moment; so whoever holds many places gives way to whoever has few;
//   - a slow one, where slow ones have more than the part of places that is theirs. Of
//     these the youngest goes: the others are closer to their end.
//
// A place that is free goes to the call whose identity has the fewest, then whose
// connection has, then to the first that came. Without want of places nothing is cut.
type arrivals struct {
	places int
	share  func(*identity) int // of places, for each identity
	wait   time.Duration       // for a place; negative: as long as the caller does
	most   int                 // that may wait
	grace  time.Duration       // a request that is read for longer is slow
	moment time.Duration       // one that is read for less is never cut
	slow   int                 // percent of places, in all and of an identity, that slow requests keep

	mu      sync.Mutex
	at      []*arrival // those with a place, the oldest first
	queue   []*arrival // the first come first
	names   map[string]*tally
	conns   map[line]*tally
	refused map[refusal]uint64
	timer   *time.Timer // of the next who becomes slow, or has had its moment; nil before
}

// line is what an identity has of a connection; a proxy's carries many.
type line struct {
	name string
	conn net.Addr
}

// tally is what one identity, or one line, has.
type tally struct {
	all     int // calls that know it
	at      int // with a place
	staying int // of these, not cut
	due     int // that wait for one that was cut for them
	waiting int
}

// arrival is one call that has or wants a place.
type arrival struct {
	who    *identity
	conn   net.Addr
	of, on *tally // of the identity, and of its line
	end    func() // cuts it; nil: cannot be cut

	// Of one that has a place:
	since     time.Time
	cut, gone bool
	read      bool // nothing to wait for: not to be cut any more

	// Of one that waits:
	let    chan struct{} // closed once it has its place, or err
	err    error
	victim *arrival // was cut for it
}

// owedWait is how long a call waits for the place of one that was cut for it, or that has
// only its first moment left. So this ends a wait on a machine that is out of breath.
const owedWait = 2 * time.Second

func newArrivals(places int, share func(*identity) int, wait time.Duration, most int, grace time.Duration, slow int) *arrivals {
	return &arrivals{
		places: places, share: share, wait: wait, most: most, grace: grace, moment: grace / 10, slow: slow,
		names: map[string]*tally{}, conns: map[line]*tally{}, refused: map[refusal]uint64{},
	}
}

// tallyOf returns the tally under a key, for one more call.
func tallyOf[K comparable](in map[K]*tally, key K) *tally {
	t := in[key]
	if t == nil {
		t = &tally{}
		in[key] = t
	}
	t.all++
	return t
}

// forget says that a call has ended. a.mu is held.
func (a *arrivals) forget(c *arrival) {
	if c.of.all--; c.of.all == 0 {
		delete(a.names, c.who.Name)
	}
	if c.on.all--; c.on.all == 0 {
		delete(a.conns, line{c.who.Name, c.conn})
	}
}

// enter returns once the call has a place; end cuts it, nil where it cannot be cut. The
// error is a [*roomError] or ctx's.
func (a *arrivals) enter(ctx context.Context, who *identity, conn net.Addr, end func()) (*arrival, error) {
	a.mu.Lock()
	c := &arrival{who: who, conn: conn, end: end, of: tallyOf(a.names, who.Name), on: tallyOf(a.conns, line{who.Name, conn})}
	if a.lacks(c) == "" {
		a.give(c)
		a.mu.Unlock()
		return c, nil
	}
	if !a.enqueue(c) {
		defer a.mu.Unlock()
		a.forget(c)
		return nil, a.refuse(c)
	}
	now := time.Now()
	a.seek(c, now)
	a.arm(now)
	a.mu.Unlock()
	if err := a.await(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// await waits for a place.
func (a *arrivals) await(ctx context.Context, c *arrival) error {
	var late <-chan time.Time
	if a.wait >= 0 {
		timer := time.NewTimer(a.wait)
		defer timer.Stop()
		late = timer.C
	}
	for owed := false; ; owed = true {
		select {
		case <-c.let:
			return c.err
		case <-late:
		case <-ctx.Done():
		}
		a.mu.Lock()
		if !slices.Contains(a.queue, c) { // at this moment
			a.mu.Unlock()
			return c.err
		}
		if ctx.Err() == nil && !owed && a.hopes(c, time.Now()) {
			a.mu.Unlock()
			timer := time.NewTimer(owedWait)
			defer timer.Stop()
			late = timer.C
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = a.refuse(c)
		}
		a.dequeue(c)
		a.forget(c)
		a.mu.Unlock()
		return err
	}
}

// lacks names the bound that has no place; "" where there is one. a.mu is held.
func (a *arrivals) lacks(c *arrival) string {
	switch {
	case c.of.at >= a.share(c.who):
		return "identity_calls"
	case len(a.at) >= a.places:
		return "calls"
	}
	return ""
}

// refuse counts a refusal. a.mu is held.
func (a *arrivals) refuse(c *arrival) error {
	a.refused[refusal{a.lacks(c), c.who.Name}]++
	return noRoom("")
}

// give gives a place. a.mu is held.
func (a *arrivals) give(c *arrival) {
	c.since = time.Now()
	a.at = append(a.at, c)
	for _, t := range []*tally{c.of, c.on} {
		t.at++
		t.staying++
	}
}

// enqueue lets a call wait, in the place of one whose identity or connection has more that
// wait where the queue is full. a.mu is held.
func (a *arrivals) enqueue(c *arrival) bool {
	if len(a.queue) >= a.most {
		var last *arrival
		for _, w := range a.queue {
			if last == nil || w.of.waiting > last.of.waiting || w.of.waiting == last.of.waiting && w.on.waiting >= last.on.waiting {
				last = w
			}
		}
		if last == nil || last.of.waiting <= c.of.waiting+1 && (last.of != c.of || last.on.waiting <= c.on.waiting+1) {
			return false
		}
		last.err = a.refuse(last)
		a.dequeue(last)
		a.forget(last)
		close(last.let)
	}
	c.let = make(chan struct{})
	a.queue = append(a.queue, c)
	c.of.waiting++
	c.on.waiting++
	return true
}

// dequeue takes a call out of the queue. a.mu is held.
func (a *arrivals) dequeue(c *arrival) {
	i := slices.Index(a.queue, c)
	a.queue = slices.Delete(a.queue, i, i+1)
	c.of.waiting--
	c.on.waiting--
	a.settled(c)
}

// settled says that a call waits for no victim any more. a.mu is held.
func (a *arrivals) settled(c *arrival) {
	if c.victim != nil {
		c.victim = nil
		c.of.due--
		c.on.due--
	}
}

// settle gives the places that are free to those who wait, and cuts for the others.
// a.mu is held.
func (a *arrivals) settle() {
	for {
		var next *arrival
		for _, c := range a.queue {
			if (next == nil || c.of.at < next.of.at || c.of.at == next.of.at && c.on.at < next.on.at) && a.lacks(c) == "" {
				next = c
			}
		}
		if next == nil {
			break
		}
		a.dequeue(next)
		a.give(next)
		close(next.let)
	}
	if len(a.queue) == 0 {
		return
	}
	now := time.Now()
	type class struct {
		of  *tally
		has int
	}
	none := map[class]bool{} // those who cut nobody, and with them all who have the same
	for _, c := range a.queue {
		if k := (class{c.of, c.on.staying + c.on.due}); !none[k] {
			a.seek(c, now)
			none[k] = c.victim == nil
		}
	}
	a.arm(now)
}

// arm sees to it that those who wait are looked after when the next call has had its
// moment or becomes slow. a.mu is held.
func (a *arrivals) arm(now time.Time) {
	next := time.Duration(-1)
	for _, v := range a.at {
		for _, d := range []time.Duration{a.moment, a.grace} {
			if left := d - now.Sub(v.since); left > 0 && a.cuttable(v) && (next < 0 || left < next) {
				next = left
			}
		}
	}
	switch {
	case next < 0:
	case a.timer == nil:
		a.timer = time.AfterFunc(next, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.settle()
		})
	default:
		a.timer.Reset(next)
	}
}

// keep says that the request has been read: from now on it is not cut. It is false where
// it has been.
func (a *arrivals) keep(c *arrival) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.read = true
	return !c.cut
}

// leave gives the place back.
func (a *arrivals) leave(c *arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.gone = true
	for _, t := range []*tally{c.of, c.on} {
		t.at--
		if !c.cut {
			t.staying--
		}
	}
	i := slices.Index(a.at, c)
	a.at = slices.Delete(a.at, i, i+1)
	a.forget(c)
	a.settle()
}

// look returns the places that are taken, how many calls wait, and how many were refused
// or cut. A request counts with the largest size.
func (a *arrivals) look() (used room, waiting int, refused map[refusal]uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return room{len(a.at), int64(len(a.at)) * MaxReceiveBytes}, len(a.queue), maps.Clone(a.refused)
}
