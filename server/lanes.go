package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"
)

type ticketKey struct{}

// Bounds of what is being read and of what lasts.
const (
	maxWatches = 1024 // streams that last, at one time
	maxReads   = 32   // requests of judged calls that are being read, at one time
	maxProbes  = 16   // requests of probes and watchers that are being read, at one time
	// maxProbeBytes is the largest request of those; they name a service, or a filter.
	maxProbeBytes = 16 << 10
	// maxProbesWaiting is one for each connection that there may be by default.
	maxProbesWaiting = 1024

	// readTimeout is how long a request may take to arrive where nobody else wants its
	// place, and a reply of a stream to leave.
	readTimeout = 10 * time.Second
	// slowAfter is from when on a request that is being read is slow, and gives way where
	// places lack. Probes are a few bytes, which come with their headers.
	slowAfter      = 200 * time.Millisecond
	slowProbeAfter = 20 * time.Millisecond
	// placeWait is the least that a call waits for a place: where many come at a time,
	// places change hands within it, and it is more than a call's first moment.
	placeWait = 50 * time.Millisecond
	// slowReads is the part of places, in percent, that slow requests keep whoever comes,
	// so that large ones get through where many come at a time.
	slowReads = 50
)

// errSlow says that a request did not arrive in time.
var errSlow = errors.New("server: the request did not arrive in time")

// errLargeProbe refuses a request that nobody has to be able to send.
var errLargeProbe = &formError{faults: []fieldFault{{detail: "is larger than a request of its method may be"}}}

// lanes are the ways in. A request is read in one of the places of reads or probes; what
// was read is then let into the room of those that are judged, or is small.
type lanes struct {
	rights          map[string]right
	judged, watches *admission
	leaving         *admission // bytes of messages that have not left; as many as of requests
	reads, probes   *arrivals
	patience        time.Duration // readTimeout
}

func newLanes(cfg Config, rights map[string]right) *lanes {
	l := &lanes{
		rights: rights, patience: readTimeout,
		judged:  newAdmission(room{cfg.MaxInFlight, int64(cfg.MaxInFlightBytes)}, cfg.IdentityShare, cfg.AdmissionWait, cfg.MaxInFlight),
		watches: newAdmission(room{maxWatches, 0}, cfg.IdentityShare, 0, 0),
	}
	l.leaving = newAdmission(room{cfg.MaxInFlight, int64(cfg.MaxInFlightBytes)}, cfg.IdentityShare, cfg.AdmissionWait, cfg.MaxInFlight)
	l.judged.own, l.leaving.own = true, true
	// The same part as of what is judged.
	share := func(who *identity) int { return max(1, l.judged.share(who).calls*maxReads/cfg.MaxInFlight) }
	l.reads = newArrivals(maxReads, share, max(cfg.AdmissionWait, placeWait), cfg.MaxInFlight, slowAfter, slowReads)
	ofProbes := max(1, maxProbes*cfg.IdentityShare/100)
	l.probes = newArrivals(maxProbes, func(*identity) int { return ofProbes }, -1, maxProbesWaiting, slowProbeAfter, 0)
	return l
}

// around is the interceptor: it lets the call in, or not.
func (l *lanes) around(ctx context.Context, method string, next func(context.Context) error) error {
	of := l.rights[method].lane
	if of == laneUnheard {
		return next(ctx)
	}
	t := &ticket{who: whoOf(ctx)}
	if t.out = outgoingOf(ctx, t.who); t.out != nil {
		defer t.out.end()
	}
	switch of {
	case laneJudged:
		t.lane = l.judged
		defer t.shrink(room{})
	case laneWatch:
		place := &ticket{lane: l.watches, who: t.who}
		if err := place.hold(ctx, room{calls: 1}, 0); err != nil {
			return err
		}
		defer place.shrink(room{})
	}
	return next(context.WithValue(ctx, ticketKey{}, t))
}

// reading is called before a request is read, and waits for a place; done is called with
// its size once it is there, or with the error of reading, and waits for room where the
// request is to be judged. The errors are those of [arrivals], of [admission] and err.
func (l *lanes) reading(ctx context.Context) (done func(size int, err error) error, err error) {
	t, ok := ctx.Value(ticketKey{}).(*ticket)
	if !ok {
		return func(_ int, err error) error { return err }, nil
	}
	places := l.probes
	if t.lane != nil {
		places = l.reads
		// A stream that reads on has done with what it read before, and must not keep the
		// room while its caller says nothing.
		t.shrink(room{})
	}
	began := time.Now()
	place, err := places.enter(ctx, t.who, connOf(ctx), cutter(ctx))
	if err != nil {
		return nil, err
	}
	waited := time.Since(began)
	stop := cutAfter(ctx, l.patience)
	return func(size int, err error) error {
		stop()
		defer places.leave(place)
		switch {
		case err != nil:
			return err
		case !places.keep(place):
			return noRoom("")
		case t.lane != nil:
			asked := time.Now() // what reading took is no waiting
			if err := l.taken(ctx, t.who, waited); err != nil {
				return err
			}
			return t.hold(ctx, room{1, int64(size)}, waited+time.Since(asked))
		case size > maxProbeBytes:
			return errLargeProbe
		}
		return nil
	}, nil
}

// taken waits until the identity's clients have taken so much of what was sent to them
// that more may be.
func (l *lanes) taken(ctx context.Context, who *identity, waited time.Duration) error {
	least := room{bytes: 1}
	if err := l.leaving.acquire(ctx, who, least, waited); err != nil {
		return err
	}
	l.leaving.release(who, least)
	return nil
}

// sending is called before a stream sends, and done after that: who does not read must
// not keep room either.
func (l *lanes) sending(ctx context.Context) (done func()) {
	if t, ok := ctx.Value(ticketKey{}).(*ticket); !ok || t.lane == nil {
		return func() {}
	}
	stop := cutAfter(ctx, l.patience)
	return func() { stop() }
}

// departures returns those of a new connection, which end it by cut.
func (l *lanes) departures(cut func(who *identity, held int64)) *departures {
	return &departures{lane: l.leaving, patience: l.patience, cut: cut}
}

// connOf tells connections apart; all calls of one have the same.
func connOf(ctx context.Context) net.Addr {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr
	}
	return nil
}

type cutKey struct{}

// cuttable makes every call one that [cutter] can end. grpc reads requests under the
// context that this returns.
func cuttable(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &cutContext{Context: ctx, cancel: cancel, way: make(chan struct{})}
	return context.WithValue(c, cutKey{}, c), nil
}

// cutContext is a context that ends as at a deadline. grpc makes the status of a request
// that cannot be read from the context's error, before anything of ours sees it; so who
// makes way for others is told by a channel instead, and gets a status of ours.
type cutContext struct {
	context.Context
	cancel context.CancelCauseFunc
	way    chan struct{} // closed once the call is to make way
	once   sync.Once
}

// Err implements [context.Context].
func (c *cutContext) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == errSlow { //nolint:errorlint // it is our own
		return context.DeadlineExceeded
	}
	return err
}

// cutter returns what makes the call make way while its request is being read; nil where
// nothing does.
func cutter(ctx context.Context) func() {
	c, ok := ctx.Value(cutKey{}).(*cutContext)
	if !ok {
		return nil
	}
	return func() { c.once.Do(func() { close(c.way) }) }
}

// wayOf is closed once the call is to make way; nil where it never is.
func wayOf(ctx context.Context) <-chan struct{} {
	c, ok := ctx.Value(cutKey{}).(*cutContext)
	if !ok {
		return nil
	}
	return c.way
}

// cutAfter cuts the call unless stop is called before.
func cutAfter(ctx context.Context, d time.Duration) (stop func() bool) {
	c, ok := ctx.Value(cutKey{}).(*cutContext)
	if !ok {
		return func() bool { return true }
	}
	return time.AfterFunc(d, func() { c.cancel(errSlow) }).Stop
}
