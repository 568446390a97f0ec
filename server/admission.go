package server

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// room is a bound of calls at one time, and of the bytes of their requests or replies.
type room struct {
	calls int
	bytes int64
}

// admission lets calls in while there is room for them, in all and for their identity.
// Who finds none waits a little and is then refused, so that an overload costs refusals
// and not memory. It is safe for concurrent use.
//
// A request counts with its own size, once it has been read. Before, it is one of
// [arrivals].
type admission struct {
	total   room
	percent int           // of total, for each identity
	own     bool          // the shares that identities have of their own go before percent
	wait    time.Duration // 0: not at all
	most    int           // that may wait

	mu      sync.Mutex
	used    room
	by      map[string]*usage // by identity; only those that use or wait
	queue   []*waiter         // the first come first
	refused map[refusal]uint64
}

// usage is what one identity has.
type usage struct {
	room
	waiting int
}

// waiter is a call that waits for room.
type waiter struct {
	who   *identity
	needs room
	let   chan struct{} // closed once it has what it needs
}

// refusal is a reason that a call found no room for, and whose call it was.
type refusal struct {
	bound    string // calls, bytes, identity_calls or identity_bytes
	identity string
}

func newAdmission(total room, percent int, wait time.Duration, most int) *admission {
	return &admission{
		total: total, percent: percent, wait: wait, most: most,
		by: map[string]*usage{}, refused: map[refusal]uint64{},
	}
}

// roomError says that there is no room now.
type roomError struct {
	// retryAfter is when it is worth to ask again; it differs from call to call, so that
	// callers do not return together.
	retryAfter time.Duration
	text       string // a fixed sentence
}

// noRoom refuses; "" is the usual sentence.
func noRoom(text string) error {
	if text == "" {
		text = "no room for the call now; try again later"
	}
	return &roomError{retryPause + rand.N(retryPause), text}
}

// Error implements error.
func (e *roomError) Error() string { return e.text }

// retryPause is the least time after which a refused call may come again; up to twice
// of it is asked for.
const retryPause = 500 * time.Millisecond

// share returns the room that one identity may have: the same part of calls and bytes,
// and never less than one call.
func (a *admission) share(who *identity) room {
	calls := a.total.calls * a.percent / 100
	if a.own && who.share > 0 {
		calls = who.share
	}
	calls = max(calls, 1)
	if calls >= a.total.calls {
		return a.total
	}
	bytes := a.total.bytes / int64(a.total.calls) * int64(calls)
	return room{calls, max(bytes, min(MaxReceiveBytes, a.total.bytes))}
}

// lacks names the bound that has no room; "" where there is room. a.mu is held.
func (a *admission) lacks(who *identity, needs room) string {
	var has room
	if u := a.by[who.Name]; u != nil {
		has = u.room
	}
	share := a.share(who)
	switch {
	case needs.calls > 0 && has.calls+needs.calls > share.calls:
		return "identity_calls"
	case needs.bytes > 0 && has.bytes+needs.bytes > share.bytes:
		return "identity_bytes"
	case needs.calls > 0 && a.used.calls+needs.calls > a.total.calls:
		return "calls"
	case needs.bytes > 0 && a.used.bytes+needs.bytes > a.total.bytes:
		return "bytes"
	}
	return ""
}

// add changes what is used, by an amount that may be negative. a.mu is held.
func (a *admission) add(who *identity, amount room, waiting int) {
	u := a.by[who.Name]
	if u == nil {
		u = &usage{}
		a.by[who.Name] = u
	}
	u.calls += amount.calls
	u.bytes += amount.bytes
	u.waiting += waiting
	a.used.calls += amount.calls
	a.used.bytes += amount.bytes
	if *u == (usage{}) {
		delete(a.by, who.Name)
	}
}

// acquire returns once the identity has what it needs; waited is how long the call has
// waited elsewhere, of the time that it may. The error is a [*roomError] or ctx's.
func (a *admission) acquire(ctx context.Context, who *identity, needs room, waited time.Duration) error {
	a.mu.Lock()
	bound := a.lacks(who, needs)
	if bound == "" {
		a.add(who, needs, 0)
		a.mu.Unlock()
		return nil
	}
	if a.wait <= waited || !a.mayWait(who) {
		defer a.mu.Unlock()
		return a.refuse(who, bound)
	}
	w := &waiter{who, needs, make(chan struct{})}
	a.queue = append(a.queue, w)
	a.add(who, room{}, 1)
	a.mu.Unlock()

	timer := time.NewTimer(a.wait - waited)
	defer timer.Stop()
	select {
	case <-w.let:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.queue, w)
	if i < 0 { // let in at this moment
		return nil
	}
	a.queue = slices.Delete(a.queue, i, i+1)
	a.add(who, room{}, -1)
	if err := ctx.Err(); err != nil {
		return err
	}
	return a.refuse(who, bound)
}

// mayWait reports whether the queue has a place, also for this identity: it may have as
// many calls there as in flight. a.mu is held.
func (a *admission) mayWait(who *identity) bool {
	u := a.by[who.Name]
	return len(a.queue) < a.most && (u == nil || u.waiting < a.share(who).calls)
}

// refuse counts a refusal. a.mu is held.
func (a *admission) refuse(who *identity, bound string) error {
	a.refused[refusal{bound, who.Name}]++
	return noRoom("")
}

// take takes room without asking: for what is there already.
func (a *admission) take(who *identity, amount room) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(who, amount, 0)
}

// release gives room back and lets in who waits for it.
func (a *admission) release(who *identity, amount room) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(who, room{-amount.calls, -amount.bytes}, 0)
	a.queue = slices.DeleteFunc(a.queue, func(w *waiter) bool {
		if a.lacks(w.who, w.needs) != "" {
			return false
		}
		a.add(w.who, w.needs, -1)
		close(w.let)
		return true
	})
}

// look returns what is used now, how many calls wait, and how many were refused.
func (a *admission) look() (used room, waiting int, refused map[refusal]uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used, len(a.queue), maps.Clone(a.refused)
}

// ticket is one call that was let in. It belongs to the call's goroutine.
type ticket struct {
	lane  *admission
	who   *identity
	holds room
	out   *outgoing // its messages; nil: they do not count
}

// hold acquires more; waited is that of acquire.
func (t *ticket) hold(ctx context.Context, needs room, waited time.Duration) error {
	if err := t.lane.acquire(ctx, t.who, needs, waited); err != nil {
		return err
	}
	t.holds.calls += needs.calls
	t.holds.bytes += needs.bytes
	return nil
}

// shrink gives back what is held above an amount.
func (t *ticket) shrink(to room) {
	amount := room{t.holds.calls - to.calls, t.holds.bytes - to.bytes}
	if amount != (room{}) {
		t.holds = to
		t.lane.release(t.who, amount)
	}
}
