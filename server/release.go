package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// How long the parts of a release may take. Each has its own time, so that a collector
// that never answers takes none from the store. Together with the drain they are below the
// time until SIGKILL in deploy/.
const (
	servingTimeout = 3 * time.Second  // what serves, all of it
	storeTimeout   = 15 * time.Second // to write what is queued
	asideTimeout   = 3 * time.Second  // what is told to others, all at the same time
)

// cleanup is one thing to undo.
type cleanup struct {
	name string
	undo func(context.Context) error
}

// releases are what is undone at the end. It is not safe for concurrent use.
//
// Only the store's fault is one of the service: what was answered is in its record. What
// serves ends with the process anyway, and what is told to others is told as far as they
// listen.
type releases struct {
	log     *slog.Logger
	store   cleanup   // zero until it is opened
	serving []cleanup // undone in reverse order, before the store
	aside   []cleanup // undone together, after it
}

// release undoes everything. The error is the store's.
func (r *releases) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), servingTimeout)
	defer cancel()
	for _, c := range slices.Backward(r.serving) {
		if err := c.undo(ctx); err != nil {
			r.log.Warn("not released", "what", c.name, "cause", err)
		}
	}
	err := r.closeStore()
	r.tell()
	return err
}

func (r *releases) closeStore() error {
	if r.store.undo == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	err := r.store.undo(ctx)
	if err == nil {
		return nil
	}
	r.log.Error("not released", "what", r.store.name, "cause", err)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w (after %s)", err, storeTimeout)
	}
	return fmt.Errorf("releasing the %s: %w", r.store.name, err)
}

// tell sends what is left to whoever listens, all at once, so that who does not listen
// costs the others nothing.
func (r *releases) tell() {
	ctx, cancel := context.WithTimeout(context.Background(), asideTimeout)
	defer cancel()
	var told sync.WaitGroup
	for _, c := range r.aside {
		told.Go(func() {
			if err := c.undo(ctx); err != nil {
				r.log.Warn("not all was sent before the end", "what", c.name, "cause", err)
			}
		})
	}
	told.Wait()
}

// beside runs f beside the calls until the returned function is called: then f's context
// ends, and that function waits for f. busy is its error where f takes too long.
func beside(f func(context.Context), busy string) (stop func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(ctx)
	}()
	return func(stopping context.Context) error {
		cancel()
		select {
		case <-ended:
			return nil
		case <-stopping.Done():
			return errors.New(busy)
		}
	}
}
