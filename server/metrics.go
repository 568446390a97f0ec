package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hallmark-gate/hallmark/audit"
)

// The metrics of the contracts directory. Their labels have fixed values, but for the
// digest, of which one series exists at a time.
var (
	reloadsDesc = prometheus.NewDesc("hallmark_contracts_reloads_total",
		"Changes of the contracts directory, by what became of them: done (published) or refused (what served before goes on).",
		[]string{"result"}, nil)
	servingDesc = prometheus.NewDesc("hallmark_contracts_serving_info",
		"1 for the digest of the published set.", []string{"digest"}, nil)
	publishedDesc = prometheus.NewDesc("hallmark_contracts_published_timestamp_seconds",
		"When the published set was published, in Unix time.", nil, nil)
	refusedDesc = prometheus.NewDesc("hallmark_contracts_refused_since_timestamp_seconds",
		"Since when what the directory holds is refused, in Unix time; 0 where it is what serves.", nil, nil)
)

// reloadCollector reads the metrics of reloading from their one source at each scrape.
type reloadCollector struct{ state func() Reloads }

// Describe implements [prometheus.Collector].
func (c reloadCollector) Describe(out chan<- *prometheus.Desc) {
	out <- reloadsDesc
	out <- servingDesc
	out <- publishedDesc
	out <- refusedDesc
}

// Collect implements [prometheus.Collector].
func (c reloadCollector) Collect(out chan<- prometheus.Metric) {
	s := c.state()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(v uint64, label string) {
		out <- prometheus.MustNewConstMetric(reloadsDesc, prometheus.CounterValue, float64(v), label)
	}
	count(s.Done, "done")
	count(s.Refused, "refused")
	if s.Serving != "" {
		gauge(servingDesc, 1, s.Serving)
	}
	if !s.LastDone.IsZero() {
		gauge(publishedDesc, float64(s.LastDone.UnixMilli())/1000)
	}
	since := 0.0
	if !s.RefusedSince.IsZero() {
		since = float64(s.RefusedSince.UnixMilli()) / 1000
	}
	gauge(refusedDesc, since)
}

// callMetrics count what was judged. Every label is a word of the API or a signal's
// name, which are fixed: nothing of a payload, no tool and no caller stands in one.
type callMetrics struct {
	calls   *prometheus.CounterVec
	signals *prometheus.CounterVec
}

func newCallMetrics() callMetrics {
	return callMetrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hallmark_calls_total",
			Help: "Calls that were judged and recorded, by what the agent was told (empty: accepted), and what refused first.",
		}, []string{"rpc", "failure_code", "layer", "reason"}),
		signals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hallmark_signals_total",
			Help: "What monitoring should know of judged replies: removed characters by kind, hidden text, dropped blocks and members, instruction-like phrases.",
		}, []string{"signal"}),
	}
}

// observe counts one record.
func (m callMetrics) observe(r audit.Record) {
	m.calls.WithLabelValues(r.RPC, r.FailureCode, r.Rejection.Layer, r.Rejection.Reason).Inc()
	for signal, n := range r.Signals {
		m.signals.WithLabelValues(signal).Add(float64(n))
	}
}

// newMetrics returns the handler of /metrics. The registry is its own: nothing that a
// library registers by itself is exposed.
func newMetrics(reloads func() Reloads, calls callMetrics, more ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		reloadCollector{reloads}, calls.calls, calls.signals,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	registry.MustRegister(more...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
