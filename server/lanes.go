package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/tap"
)

type ticketKey struct{}

// Bounds of what does not count as in flight.
const (
	maxWatches = 1024 // streams that last, at one time
	maxProbes  = 32   // probes whose requests are being read, at one time
	// readTimeout is how long a request may take to arrive; a client that sends its
	// headers and then nothing would keep room from others.
	readTimeout = 10 * time.Second
)

// errSlow says that a request did not arrive in time.
var errSlow = errors.New("server: the request did not arrive in time")

// lanes are the ways in.
type lanes struct {
	rights                  map[string]right
	judged, watches, probes *admission
	patience                time.Duration // readTimeout
}

func newLanes(cfg Config, rights map[string]right) *lanes {
	l := &lanes{
		rights: rights, patience: readTimeout,
		judged:  newAdmission(room{cfg.MaxInFlight, int64(cfg.MaxInFlightBytes)}, cfg.IdentityShare, cfg.AdmissionWait, cfg.MaxInFlight),
		watches: newAdmission(room{maxWatches, 0}, cfg.IdentityShare, 0, 0),
		probes:  newAdmission(room{maxProbes, maxProbes * MaxReceiveBytes}, cfg.IdentityShare, -1, 0),
	}
	l.judged.own = true
	return l
}

// around is the interceptor: it lets the call in, or not.
func (l *lanes) around(ctx context.Context, method string, next func(context.Context) error) error {
	who := whoOf(ctx)
	of := l.rights[method].lane
	if of == laneUnheard {
		return next(ctx)
	}
	t := &ticket{lane: l.probes, who: who}
	switch of {
	case laneJudged:
		t.lane, t.kept = l.judged, true
		if err := t.hold(ctx, room{1, MaxReceiveBytes}); err != nil {
			return err
		}
	case laneWatch:
		place := &ticket{lane: l.watches, who: who}
		if err := place.hold(ctx, room{calls: 1}); err != nil {
			return err
		}
		defer place.shrink(room{})
	}
	defer t.shrink(room{})
	return next(context.WithValue(ctx, ticketKey{}, t))
}

// reading is called before a request is read; done is called with its size once it is.
// The error is that of acquire.
func (l *lanes) reading(ctx context.Context) (done func(size int), err error) {
	t, ok := ctx.Value(ticketKey{}).(*ticket)
	if !ok {
		return func(int) {}, nil
	}
	whole := room{bytes: MaxReceiveBytes - t.holds.bytes}
	if !t.kept {
		whole.calls = 1
	}
	// The first request of a judged call has been let in with the call.
	if whole != (room{}) {
		if err := t.hold(ctx, whole); err != nil {
			return nil, err
		}
	}
	stop := cutAfter(ctx, l.patience)
	return func(size int) {
		stop()
		if t.kept {
			t.shrink(room{1, int64(size)})
		} else {
			t.shrink(room{})
		}
	}, nil
}

type cutKey struct{}

// cuttable makes every call one that [cutAfter] can end. grpc reads requests under the
// context that this returns.
func cuttable(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &cutContext{Context: ctx, cancel: cancel}
	return context.WithValue(c, cutKey{}, c), nil
}

// cutContext is a context that ends as at a deadline. grpc makes the status of a request
// that cannot be read from the context's error, before anything of ours sees it.
type cutContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// Err implements [context.Context].
func (c *cutContext) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == errSlow { //nolint:errorlint // it is our own
		return context.DeadlineExceeded
	}
	return err
}

// cutAfter ends the call with errSlow as its cause unless stop is called before.
func cutAfter(ctx context.Context, d time.Duration) (stop func() bool) {
	c, ok := ctx.Value(cutKey{}).(*cutContext)
	if !ok {
		return func() bool { return true }
	}
	return time.AfterFunc(d, func() { c.cancel(errSlow) }).Stop
}
