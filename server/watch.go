package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hallmark-gate/hallmark/audit"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// Bounds of watching.
const (
	// pollEvery is how often a watcher looks for new records: whichever replica wrote
	// them, the store has them all, in one order.
	pollEvery = 250 * time.Millisecond
	// tailPage is how many records one look takes. Nothing else waits for a reader: what
	// it has not read is in the store.
	tailPage = 200
	// watchPatience is how long a reader may leave one record unread.
	watchPatience = 10 * time.Second
	// maxWatchers bounds the watchers of this replica, and maxWatchersEach those of one
	// caller.
	maxWatchers     = 64
	maxWatchersEach = 8
)

// Ends of a watch.
var (
	errBehind = errors.New("server: the watcher does not read")
	// errOutOfScope ends a watcher that may not see any more what it asked for.
	errOutOfScope = errors.New("server: the watcher may not watch all of these tenants any more")
)

// watchers counts who watches. It is safe for concurrent use.
type watchers struct {
	mu    sync.Mutex
	all   int
	of    map[string]int
	ended chan struct{} // closed when the service stops
	once  sync.Once

	patience time.Duration // watchPatience
}

func newWatchers() *watchers {
	return &watchers{of: map[string]int{}, ended: make(chan struct{}), patience: watchPatience}
}

// end ends every watch, now and later.
func (w *watchers) end() { w.once.Do(func() { close(w.ended) }) }

// enter takes room for one more watcher. The error is a [*roomError].
func (w *watchers) enter(caller string) (leave func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all >= maxWatchers || w.of[caller] >= maxWatchersEach {
		return nil, noRoom("there are too many watchers; try again later")
	}
	w.all++
	w.of[caller]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.of[caller]--; w.of[caller] == 0 {
			delete(w.of, caller)
		}
	}, nil
}

// WatchEvents sends records as they are written, each once, from the first that comes
// after the call or after a given decision, until the caller leaves, does not read, or
// may not see them any more, or the service stops.
func (s *auditService) WatchEvents(req *hallmarkv1.WatchEventsRequest, stream grpc.ServerStreamingServer[hallmarkv1.WatchEventsResponse]) error {
	ctx := stream.Context()
	scope, err := s.scope(ctx)
	if err != nil {
		return err
	}
	filter, err := filterFromWire(req.GetFilter())
	if err != nil {
		return err
	}
	who := s.who(ctx)
	leave, err := s.watchers.enter(who.Tenant + "\x00" + who.Name)
	if err != nil {
		return err
	}
	defer leave()
	mark, err := s.store.Mark(ctx, scope, strings.ToLower(req.GetAfterDecisionId()))
	if err != nil {
		return err
	}
	// The header goes out at once, so that a watcher knows from when on it sees all.
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A stream outlasts what its caller may: an identities file that changed, or a
	// certificate that has ended. So each look asks again, and a long one while it lasts.
	var checked time.Time
	send := func(r *audit.Record) error {
		if r == nil || time.Since(checked) >= pollEvery {
			if err := s.still(ctx, who); err != nil {
				return err
			}
			checked = time.Now()
		}
		if r == nil {
			return nil
		}
		late := time.AfterFunc(s.watchers.patience, func() { cancel(errBehind) })
		defer late.Stop()
		return sent(stream.Send(&hallmarkv1.WatchEventsResponse{Event: eventToWire(*r)}))
	}
	// Sending waits for a reader that does not read, and only the end of this call ends
	// that. A panic beside the call's own goroutine would cost the process.
	go func() {
		cancel(recovered(ctx, "", func(ctx context.Context) error { return s.tail(ctx, scope, filter, mark, send) }))
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.watchers.ended:
		return errDraining
	}
}

// sent makes a watcher that has left of a message that could not be sent to it; a message
// that cannot be written is our own fault.
func sent(err error) error {
	if err == nil || status.Code(err) == codes.Internal {
		return err
	}
	return context.Canceled
}

// still returns nil while the caller of ctx is who it was and may see all that it might
// when it began. The error is an [accessError] or errOutOfScope.
func (s *auditService) still(ctx context.Context, was *identity) error {
	if s.guard.local != nil { // nothing that could change
		return nil
	}
	now, err := s.guard.admit(ctx, hallmarkv1.AuditService_WatchEvents_FullMethodName)
	if err != nil {
		return err
	}
	for _, tenant := range was.tenants {
		if now.Name != was.Name || !slices.Contains(now.tenants, tenant) {
			return errOutOfScope
		}
	}
	return nil
}

// tail gives records to send as they are written, nil before those of each look, and waits
// for it. It returns why it ended: send's error, the store cannot read, or ctx.
func (s *auditService) tail(ctx context.Context, scope audit.Scope, filter audit.Filter, mark string, send func(*audit.Record) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		records, next, err := s.store.Tail(ctx, scope, filter, mark, tailPage)
		if err != nil {
			return fmt.Errorf("server: watching: %w", err)
		}
		mark = next
		if err := send(nil); err != nil {
			return err
		}
		for i := range records {
			if err := send(&records[i]); err != nil {
				return err
			}
		}
		if len(records) == tailPage {
			continue // there are more
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
