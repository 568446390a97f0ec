package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// followed says what became of a few files since the start.
type followed struct {
	done    uint64 // taken after the first time
	refused uint64 // found and not taken; what stays as it is counts once
	// refusedSince is when what the files hold now was refused; zero where it serves.
	refusedSince time.Time
	fault        string // of that, on one line; "" where refusedSince is zero
}

// concern says what an operator should look at; "" where that is nothing.
func (s *followed) concern() string {
	if s.refusedSince.IsZero() {
		return ""
	}
	return fmt.Sprintf("reload refused since %s, what served before goes on: %s", s.refusedSince.UTC().Format(time.RFC3339), s.fault)
}

// follower keeps something equal to the content of a few files, which count as one:
// they are taken together or not at all. What decides is the content, since exchanged
// links raise no event that one could trust.
//
// One goroutine runs it; status may be read by any.
type follower struct {
	name  string // of what the files say, for logs
	files []string
	// take makes what the contents say effective, whole. On an error nothing of them is.
	take  func(contents [][]byte) error
	log   *slog.Logger
	clock func() time.Time

	status  atomic.Pointer[followed]
	serving [][]byte
	refused [][]byte // nil: nothing, or what cannot be read
}

// follow takes the files for the first time. The error says why they cannot be used.
func follow(name string, files []string, deps Deps, take func([][]byte) error) (*follower, error) {
	f := &follower{name: name, files: files, take: take, log: deps.Log, clock: deps.Clock}
	if f.clock == nil {
		f.clock = time.Now
	}
	f.status.Store(&followed{})
	contents, err := f.settled(context.Background(), startPause)
	if err == nil {
		err = take(contents)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.serving = contents
	return f, nil
}

// run looks at the files every so often, until ctx ends.
func (f *follower) run(ctx context.Context, every time.Duration) {
	for sleep(ctx, every) == nil {
		f.look(ctx, min(settlePause, every))
	}
}

// look takes what the files hold, if that is new and without fault. What was refused is
// tried again, since time may heal it, and told once.
func (f *follower) look(ctx context.Context, pause time.Duration) {
	contents, err := f.read()
	if err == nil && same(contents, f.serving) {
		f.unchanged()
		return
	}
	contents, err = f.settled(ctx, pause)
	switch {
	case ctx.Err() != nil:
		return
	case err == nil && same(contents, f.serving):
		f.unchanged()
		return
	case err == nil:
		err = f.take(contents)
	}
	was := *f.status.Load()
	if err != nil {
		f.refuse(was, contents, err)
		return
	}
	f.serving, f.refused = contents, nil
	f.status.Store(&followed{done: was.done + 1, refused: was.refused})
	f.log.Info(f.name + " reloaded")
}

// refuse keeps what serves and says why.
func (f *follower) refuse(was followed, contents [][]byte, err error) {
	fault := oneLine(err.Error())
	if !was.refusedSince.IsZero() && fault == was.fault && same(contents, f.refused) {
		return
	}
	f.refused = contents
	f.status.Store(&followed{done: was.done, refused: was.refused + 1, refusedSince: f.clock(), fault: fault})
	f.log.Error(f.name+" reload refused, what served before goes on", "fault", fault)
}

// unchanged ends a refusal: what serves is what the files hold.
func (f *follower) unchanged() {
	was := *f.status.Load()
	if was.refusedSince.IsZero() {
		return
	}
	f.refused = nil
	f.status.Store(&followed{done: was.done, refused: was.refused})
	f.log.Info(f.name + ": the files hold again what is served")
}

// concern says what an operator should look at; "" where that is nothing.
func (f *follower) concern() string { return f.status.Load().concern() }

// settled reads the files until a reading agrees with the one before it. pause lies
// between readings. The error is ctx's, errFilesUnsettled, or one of reading.
func (f *follower) settled(ctx context.Context, pause time.Duration) ([][]byte, error) {
	last, lastErr := f.read()
	for range maxReadings {
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		next, err := f.read()
		switch {
		case err == nil && lastErr == nil && same(next, last):
			return next, nil
		case err != nil && lastErr != nil && err.Error() == lastErr.Error():
			return nil, err
		}
		last, lastErr = next, err
	}
	return nil, errFilesUnsettled
}

// errFilesUnsettled says that no two readings of files agreed.
var errFilesUnsettled = errors.New("the files change while they are read; nothing of them is used")

// read reads every file, each at most of maxConfigBytes.
func (f *follower) read() ([][]byte, error) {
	contents := make([][]byte, len(f.files))
	for i, name := range f.files {
		var err error
		if contents[i], err = readBounded(name); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

// startFollowing runs followers beside the calls until the returned function is called.
func startFollowing(every time.Duration, followers ...*follower) (stop func(context.Context) error) {
	return beside(func(ctx context.Context) {
		var running sync.WaitGroup
		for _, f := range followers {
			running.Go(func() { f.run(ctx, every) })
		}
		running.Wait()
	}, "files are still being read")
}
