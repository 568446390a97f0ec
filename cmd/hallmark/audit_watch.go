package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// Pauses before a service that was lost is asked again.
const (
	firstPause = 250 * time.Millisecond
	maxPause   = 15 * time.Second
)

// How often a service that is silent is asked whether it is there, which it allows, and how
// long it may take to say so.
const (
	pingEvery    = 30 * time.Second
	pingPatience = 10 * time.Second
)

// watchFlags are the flags of audit watch.
type watchFlags struct {
	at      remote
	filters filterFlags
	after   string
	output  output
}

func newAuditWatch() *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Show judgements as they are made",
		Long: `Prints judgements of your tenants as they are recorded, a line each, as audit list
does, until it is interrupted. With --after it begins with what was recorded after a
decision. A service that goes away is asked again and again, and what was recorded
meanwhile is printed then: each judgement once, in the order of writing.

Exit codes: 0 interrupted, 2 no answer.`,
		Example: `  hallmark audit watch --tool job_status
  hallmark audit watch --after 019a2b3c-0000-7000-8000-000000000000 --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.at.register(cmd, defaultAddr, "host:port of the service")
	f.filters.register(cmd)
	cmd.Flags().StringVar(&f.after, "after", "", "decision id to begin after; empty: what is recorded from now on")
	f.output.register(cmd)
	return cmd
}

func (f *watchFlags) run(cmd *cobra.Command) error {
	if err := f.output.check(); err != nil {
		return err
	}
	filter, err := f.filters.filter()
	if err != nil {
		return err
	}
	// A peer that vanishes says nothing, and nothing looks like no events.
	conn, err := f.at.dial(grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingPatience}))
	if err != nil {
		return err
	}
	defer conn.Close()
	w := &watcher{
		client: hallmarkv1.NewAuditServiceClient(conn), filter: filter, last: f.after,
		show: newEventPrinter(cmd, f.output).print, note: cmd.ErrOrStderr(), addr: f.at.addr, pause: firstPause,
	}
	if err := w.run(cmd.Context()); err != nil {
		return watchFailed(f.at.addr, err)
	}
	return nil
}

// watcher watches events over as many streams as it takes.
type watcher struct {
	client hallmarkv1.AuditServiceClient
	filter *hallmarkv1.EventFilter
	show   func(...*hallmarkv1.Event) error
	note   io.Writer
	addr   string // of the service, for notes

	last   string // the id after which to go on; "" is from now on
	anchor string // the newest id before the first stream, where last is ""
	begun  bool   // the service has answered once
	pause  time.Duration
}

// run watches until ctx ends, which is nil, or until there is no point in trying again.
// The error is a status, or that of the output.
func (w *watcher) run(ctx context.Context) error {
	for {
		err := w.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		code := status.Code(err)
		if !w.begun || code != codes.Unavailable && code != codes.ResourceExhausted {
			return err
		}
		fmt.Fprintf(w.note, "hallmark: %v; going on after what was printed\n", callFailed(w.addr, err))
		if w.last == "" && w.anchor == "" {
			fmt.Fprintln(w.note, "hallmark: there was no event yet to go on after: some may be missing, audit list has them")
		}
		if !w.wait(ctx) {
			return nil
		}
	}
}

// follow prints what one stream brings, and ends with its status.
func (w *watcher) follow(ctx context.Context) error {
	after := w.last
	switch {
	case after == "" && w.begun:
		after = w.anchor // nothing that came since was printed
	case after == "":
		if err := w.newest(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.client.WatchEvents(ctx, &hallmarkv1.WatchEventsRequest{Filter: w.filter, AfterDecisionId: after})
	if err != nil {
		return err
	}
	// A stream that was let in has a header before its end.
	if header, err := stream.Header(); err == nil && header != nil && !w.begun {
		w.begun = true
		if err := w.show(); err != nil {
			return err
		}
	}
	for {
		reply, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return status.Error(codes.Unavailable, "the stream ended")
		}
		if err != nil {
			return err
		}
		if err := w.show(reply.GetEvent()); err != nil {
			return err
		}
		w.last, w.pause = reply.GetEvent().GetDecisionId(), firstPause
	}
}

// newest notes the newest event there is: if the first stream is lost before it brought
// any, what came meanwhile is what was written after that one.
func (w *watcher) newest(ctx context.Context) error {
	ctx, cancel := call(ctx)
	defer cancel()
	page, err := w.client.ListEvents(ctx, &hallmarkv1.ListEventsRequest{
		Filter: &hallmarkv1.EventFilter{Tenant: w.filter.GetTenant()}, PageSize: 1,
	})
	if events := page.GetEvents(); len(events) > 0 {
		w.anchor = events[0].GetDecisionId()
	}
	return err
}

// wait waits a while, each time longer, and reports whether ctx lasted.
func (w *watcher) wait(ctx context.Context) bool {
	pause := w.pause/2 + rand.N(w.pause/2) // so that not all come back at once
	w.pause = min(2*w.pause, maxPause)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// watchFailed says why watching ended.
func watchFailed(addr string, err error) error {
	switch s, fromService := status.FromError(err); {
	case !fromService: // the output
		return err
	case s.Code() == codes.NotFound:
		return errors.New("the service has no such decision to go on after, or it is not one of your tenants; leave out --after, or see audit list")
	}
	return callFailed(addr, err)
}
