package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// purgeEvery is how often what is over is removed from the store.
const purgeEvery = time.Hour

// startPurge removes what is over now and every hour, until the returned function is
// called. Replicas that share a store may all do it.
func startPurge(store audit.Store, keepEvents time.Duration, clock func() time.Time, log *slog.Logger) (stop func(context.Context) error) {
	return beside(func(ctx context.Context) {
		for {
			purge(ctx, store, keepEvents, clock(), log)
			if sleep(ctx, purgeEvery) != nil {
				return
			}
		}
	}, "records are still being removed")
}

func purge(ctx context.Context, store audit.Store, keepEvents time.Duration, now time.Time, log *slog.Logger) {
	p := audit.Purge{Now: now}
	if keepEvents > 0 {
		p.EventsBefore = now.Add(-keepEvents)
	}
	gone, err := store.Purge(ctx, p)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Error("what is over could not be removed from the audit store; it is tried again in an hour", "cause", cause(err))
	case gone != (audit.Purged{}):
		log.Info("removed what is over from the audit store", "events", gone.Events, "originals", gone.Originals,
			"claims", gone.Claims, "memos", gone.Memos)
	}
}
