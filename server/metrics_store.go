package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hallmark-gate/hallmark/audit"
)

// measuredStore is a store whose writes are measured. It is a [prometheus.Collector].
type measuredStore struct {
	audit.Store
	took    *prometheus.HistogramVec
	waiting atomic.Int64
	closed  atomic.Bool
}

var (
	storeWaitingDesc = prometheus.NewDesc("hallmark_audit_waiting_records",
		"Records that wait now until they are durable, and calls with them.", nil, nil)
	storeReadyDesc = prometheus.NewDesc("hallmark_audit_ready",
		"1 while records can be written, 0 while they cannot and no call is answered.", nil, nil)
)

func newMeasuredStore(store audit.Store) *measuredStore {
	return &measuredStore{Store: store, took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "hallmark_audit_append_duration_seconds",
		Help: "Time until the store answered, by its answer: written, repeated (the request was decided before), " +
			"spent (something has no use left), full (the queue has no room), left (the caller ended first), failed.",
		Buckets: callBuckets(),
	}, []string{"result"})}
}

// Close implements [audit.Store].
func (s *measuredStore) Close(ctx context.Context) error {
	s.closed.Store(true)
	return s.Store.Close(ctx)
}

// Append implements [audit.Store].
func (s *measuredStore) Append(ctx context.Context, e audit.Entry) (audit.Outcome, error) {
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	began := time.Now()
	o, err := s.Store.Append(ctx, e)
	s.took.WithLabelValues(appendResult(ctx, o, err)).Observe(time.Since(began).Seconds())
	return o, err
}

func appendResult(ctx context.Context, o audit.Outcome, err error) string {
	switch {
	case errors.Is(err, audit.ErrFull):
		return "full"
	case err != nil && ctx.Err() != nil:
		return "left"
	case err != nil:
		return "failed"
	case o.Repeated:
		return "repeated"
	case !o.Written():
		return "spent"
	}
	return "written"
}

// Describe implements [prometheus.Collector].
func (s *measuredStore) Describe(out chan<- *prometheus.Desc) {
	s.took.Describe(out)
	out <- storeWaitingDesc
	out <- storeReadyDesc
}

// Collect implements [prometheus.Collector].
func (s *measuredStore) Collect(out chan<- prometheus.Metric) {
	s.took.Collect(out)
	out <- prometheus.MustNewConstMetric(storeWaitingDesc, prometheus.GaugeValue, float64(s.waiting.Load()))
	if s.closed.Load() { // at the end, when it is neither ready nor lost
		return
	}
	ready := 0.0
	if s.Ready(context.Background()) == nil {
		ready = 1
	}
	out <- prometheus.MustNewConstMetric(storeReadyDesc, prometheus.GaugeValue, ready)
}
