package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// Bounds of a list.
const (
	maxPage = 500
	// maxListed ends a list that has no other end.
	maxListed = 1_000_000
)

// listFlags are the flags of audit list.
type listFlags struct {
	at           remote
	filters      filterFlags
	since, until string
	limit        int
	all          bool
	output       output
}

func newAuditList() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List judgements, newest first",
		Long: `Lists judgements of your tenants, newest first, a line each: when, which tool, what it
came to, why, where, the id of the decision, and the session. audit show explains one.
Colours are for terminals only, and NO_COLOR turns them off.

Exit codes: 0 listed, 2 no answer.`,
		Example: `  hallmark audit list --tool job_status --reason FRESHNESS --since 1h
  hallmark audit list --request req.A1b2C3d4 --output json
  hallmark audit list --all --since 2026-01-15T00:00:00Z --until 2026-01-16T00:00:00Z`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd) },
	}
	flags := cmd.Flags()
	f.at.register(cmd, defaultAddr, "host:port of the service")
	f.filters.register(cmd)
	flags.StringVar(&f.since, "since", "", "only from then on: a duration before now (1h) or RFC 3339")
	flags.StringVar(&f.until, "until", "", "only before then, likewise")
	flags.IntVar(&f.limit, "limit", 50, "at most so many, newest first")
	flags.BoolVar(&f.all, "all", false, "as many as there are, page by page, up to 1000000")
	f.output.register(cmd)
	return cmd
}

func (f *listFlags) list(cmd *cobra.Command) error {
	filter, err := f.filter(cmd, time.Now())
	if err != nil {
		return err
	}
	conn, err := f.at.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := hallmarkv1.NewAuditServiceClient(conn)
	p := newEventPrinter(cmd, f.output)
	token := ""
	for left := f.limit; ; {
		page, err := f.page(cmd.Context(), client, &hallmarkv1.ListEventsRequest{
			Filter: filter, PageSize: uint32(min(left, maxPage)), PageToken: token, //nolint:gosec // within 1 and 500
		})
		if err != nil {
			return err
		}
		events := page.GetEvents()
		if err := p.print(events[:min(left, len(events))]...); err != nil {
			return err
		}
		left -= len(events)
		next := page.GetNextPageToken()
		switch {
		case next == "" || left <= 0 && !f.all:
			return nil
		case left <= 0:
			return fmt.Errorf("there are more than %d; go on with --until and the time of the last one", maxListed)
		case next == token:
			return fmt.Errorf("%s gives the same page again and again", printable(f.at.addr))
		}
		token = next
	}
}

// page asks for one page, in the time that a call may take.
func (f *listFlags) page(ctx context.Context, client hallmarkv1.AuditServiceClient, req *hallmarkv1.ListEventsRequest) (*hallmarkv1.ListEventsResponse, error) {
	ctx, cancel := call(ctx)
	defer cancel()
	page, err := client.ListEvents(ctx, req)
	if err != nil {
		return nil, callFailed(f.at.addr, err)
	}
	return page, nil
}

func (f *listFlags) filter(cmd *cobra.Command, now time.Time) (*hallmarkv1.EventFilter, error) {
	if err := f.output.check(); err != nil {
		return nil, err
	}
	switch {
	case f.all && cmd.Flags().Changed("limit"):
		return nil, errors.New("--all and --limit exclude each other")
	case f.all:
		f.limit = maxListed
	case f.limit < 1 || f.limit > maxListed:
		return nil, fmt.Errorf("--limit is from 1 to %d, not %d", maxListed, f.limit)
	}
	filter, err := f.filters.filter()
	if err != nil {
		return nil, err
	}
	if filter.Since, err = instant(f.since, "--since", now); err != nil {
		return nil, err
	}
	filter.Until, err = instant(f.until, "--until", now)
	return filter, err
}

// eventPrinter prints events as they come, for people or for programs.
type eventPrinter struct {
	cmd   *cobra.Command
	table *eventTable // nil prints JSON
	begun bool
}

func newEventPrinter(cmd *cobra.Command, o output) *eventPrinter {
	p := &eventPrinter{cmd: cmd}
	if o == "text" {
		p.table = newEventTable(cmd.OutOrStdout(), paletteFor(cmd.OutOrStdout(), os.Getenv))
	}
	return p
}

// print prints events; the first call names the columns, even where there are none.
func (p *eventPrinter) print(events ...*hallmarkv1.Event) error {
	if p.table == nil {
		for _, e := range events {
			if err := printJSON(p.cmd.OutOrStdout(), e); err != nil {
				return err
			}
		}
		return nil
	}
	for _, e := range events {
		p.table.add(e)
	}
	if !p.begun {
		p.begun = true
		if err := p.table.header(); err != nil {
			return err
		}
	}
	return p.table.flush()
}
