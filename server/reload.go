package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// Reloads says what became of the contracts directory since the start.
type Reloads struct {
	// Serving is the digest of the published set.
	Serving string
	// LastDone is when that set was published.
	LastDone time.Time
	// Done counts the sets that were published after the first one.
	Done uint64
	// Refused counts what was found in the directory and not published: contracts at
	// fault, contracts that fail their cases, a directory that cannot be read. One that
	// stays as it is counts once.
	Refused uint64
	// RefusedSince is when what the directory holds now was refused; zero where it is
	// what serves.
	RefusedSince time.Time
	// Fault is the first fault of that, with its place, and without anything of a
	// payload; "" where RefusedSince is zero.
	Fault string
}

// Bounds of reloading.
const (
	// settlePause lies between two readings that must agree, and at least between two
	// looks: a burst of events is one change.
	settlePause = 100 * time.Millisecond
	// idleFactor is how many times as long as one reading took nothing is done after it,
	// so that a large directory costs a small part of a processor; idleMost is the longest,
	// so that a change of a huge one is not seen too late.
	idleFactor = 20
	idleMost   = 30 * time.Second
	// caseTime is how long the cases of a set may take together, and caseTimeEach what
	// each contract adds to it.
	caseTime     = time.Minute
	caseTimeEach = 50 * time.Millisecond
	// maxUnsettled is at how many looks one after another a directory that changes all the
	// time is refused.
	maxUnsettled = 5
	// maxLoggedFaults bounds the faults in one log line.
	maxLoggedFaults = 20
)

// reloader keeps the published set equal to what the directories hold. What
// decides is the digest of the content, which is looked at again and again; events of
// the file system only say that now is a good time to look.
//
// One goroutine runs it; status may be read by any.
type reloader struct {
	from    sources
	every   time.Duration
	loader  *gate.Loader
	publish func(*gate.Set)
	log     *slog.Logger
	clock   func() time.Time
	status  atomic.Pointer[Reloads]
	// refused is what was refused last, a digest or a fault of reading. It is not tried
	// again as long as it stays the same.
	refused string
	// unsettled counts the looks, one after another, at which no two readings agreed.
	unsettled int
}

// newReloader returns a reloader for a directory whose content serves as first.
func newReloader(cfg Config, deps Deps, first *gate.Set) *reloader {
	r := &reloader{
		from: cfg.sources(), every: cfg.ReloadEvery, loader: deps.Loader, log: deps.Log, clock: deps.Clock,
		publish: func(*gate.Set) {},
	}
	if r.clock == nil {
		r.clock = time.Now
	}
	r.status.Store(&Reloads{Serving: first.Digest(), LastDone: r.clock()})
	return r
}

// run looks at the directory until ctx ends: at least every r.every, and soon after a
// hint.
func (r *reloader) run(ctx context.Context, hints <-chan struct{}) {
	settle := min(settlePause, r.every)
	least := settle
	for r.wait(ctx, least, hints) {
		began := time.Now()
		reading := r.look(ctx, settle)
		// Where every look loads a set, at most half of the time goes into it.
		least = max(settle, min(idleFactor*reading, idleMost), time.Since(began))
	}
}

// wait waits for the time of the next look, not before least has passed. It is false
// when ctx has ended.
func (r *reloader) wait(ctx context.Context, least time.Duration, hints <-chan struct{}) bool {
	if sleep(ctx, least) != nil {
		return false
	}
	timer := time.NewTimer(max(r.every-least, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-hints:
	}
	return ctx.Err() == nil
}

// look publishes what the directory holds, if that is new and without fault. It returns
// how long reading it once takes.
func (r *reloader) look(ctx context.Context, settle time.Duration) (took time.Duration) {
	began := time.Now()
	first := readOnce(r.from)
	took = time.Since(began)
	if first.err == nil {
		switch first.snapshot.Digest() {
		case r.status.Load().Serving:
			r.unchanged()
			return took
		case r.refused:
			return took
		}
	}
	r.take(ctx, first, settle)
	return took
}

// take publishes what the directory holds once it is settled.
func (r *reloader) take(ctx context.Context, first reading, settle time.Duration) {
	snapshot, err := settled(ctx, r.from, first, settle)
	if ctx.Err() != nil {
		return
	}
	if errors.Is(err, errUnsettled) {
		// Somebody is writing: that is no fault before it goes on and on.
		if r.unsettled++; r.unsettled < maxUnsettled {
			return
		}
	}
	r.unsettled = 0
	found := snapshot.Digest()
	switch {
	case err == nil && found == r.status.Load().Serving:
		r.unchanged()
		return
	case err != nil:
		found = err.Error()
	}
	if found == r.refused {
		return
	}
	began := r.clock()
	var set *gate.Set
	if err == nil {
		set, err = r.load(ctx, snapshot)
	}
	switch {
	case ctx.Err() != nil: // a stop is no fault
	case err != nil:
		r.refuse(found, snapshot.Digest(), err)
	default:
		r.done(set, began)
	}
}

// load makes a set of what was read and holds it to its own cases. A panic is an error:
// it costs the new set, not the service.
func (r *reloader) load(ctx context.Context, s contract.Snapshot) (set *gate.Set, err error) {
	defer func() {
		if v := recover(); v != nil {
			set, err = nil, fmt.Errorf("loading panicked with a %T", v)
		}
	}()
	set, err = r.loader.Compile(s)
	if err != nil {
		return nil, err
	}
	most := caseTime + time.Duration(len(set.Tools()))*caseTimeEach
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	report := casetest.Run(ctx, set)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the cases take longer than %s", most)
	}
	if faults := caseFaults(report); len(faults) > 0 {
		return nil, faults
	}
	return set, nil
}

// caseFaults says which cases failed and in what, without the values that a report for
// the contracts' author quotes.
func caseFaults(report casetest.Report) contract.Faults {
	var faults contract.Faults
	for _, c := range report.Failed() {
		faults = append(faults, contract.Fault{
			File: c.File, Line: c.Line, Column: 1,
			Message: "the case fails, not as wanted: " + strings.Join(c.Unwanted(), ", "),
			Cure:    "run hallmark check on the directory",
		})
	}
	return faults
}

// done publishes a set.
func (r *reloader) done(set *gate.Set, began time.Time) {
	r.publish(set)
	was := *r.status.Load()
	now := r.clock()
	r.refused = ""
	r.status.Store(&Reloads{Serving: set.Digest(), LastDone: now, Done: was.Done + 1, Refused: was.Refused})
	r.log.Info("contracts reloaded", "old_digest", was.Serving, "new_digest", set.Digest(),
		"contracts", len(set.Tools()), "duration_seconds", now.Sub(began).Seconds())
}

// refuse keeps the set that serves and says why. found is what was refused; digest is
// "" where nothing could be read.
func (r *reloader) refuse(found, digest string, err error) {
	r.refused = found
	faults := faultsOf(err, r.from)
	now := *r.status.Load()
	now.Refused++
	now.RefusedSince, now.Fault = r.clock(), faults[0]
	r.status.Store(&now)
	r.log.Error("contracts reload refused", "serving_digest", now.Serving, "refused_digest", digest,
		"faults", faults[:min(len(faults), maxLoggedFaults)], "fault_count", len(faults))
}

// faultsOf lists an error's faults, each on one line; there is at least one.
func faultsOf(err error, from sources) []string {
	var faults contract.Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		return []string{oneLine(err.Error())}
	}
	lines := make([]string, len(faults))
	for i, f := range NamePolicies(faults, from.contracts, from.policies) {
		lines[i] = oneLine(f.String())
	}
	return lines
}

// unchanged ends a refusal: what serves is what the directory holds.
func (r *reloader) unchanged() {
	now := *r.status.Load()
	if r.refused == "" {
		return
	}
	r.refused = ""
	now.RefusedSince, now.Fault = time.Time{}, ""
	r.status.Store(&now)
	r.log.Info("contracts are again what is served", "serving_digest", now.Serving)
}
