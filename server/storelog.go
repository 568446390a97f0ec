package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// storeEvery is how often the log's writer looks at the store.
const storeEvery = time.Second

// startStoreLog says once when records cannot be made durable any more and once when they
// can again, until the returned function is called: calls that fail say it too, but a
// replica that is out of balancing has none.
func startStoreLog(store audit.Store, every time.Duration, clock func() time.Time, log *slog.Logger) (stop func(context.Context) error) {
	return beside(func(ctx context.Context) {
		var lost time.Time // zero while it is there
		for sleep(ctx, every) == nil {
			err := store.Ready(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && lost.IsZero():
				lost = clock()
				log.Error("records cannot be made durable, and nothing is answered until they can", "cause", oneLine(err.Error()))
			case err == nil && !lost.IsZero():
				log.Info("records are durable again", "lost_seconds", clock().Sub(lost).Seconds())
				lost = time.Time{}
			}
		}
	}, "the store is still being looked at")
}
