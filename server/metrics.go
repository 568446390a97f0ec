package server

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/notice"
	"github.com/hallmark-gate/hallmark/internal/stages"
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

// callMetrics count what was judged. Every label is a word of the API, a signal's name, or
// a name that a loaded contract has: nothing of a payload, nothing that a model said and
// no caller stands in one.
type callMetrics struct {
	calls     *prometheus.CounterVec
	decisions *prometheus.CounterVec
	faults    *prometheus.CounterVec
	signals   *prometheus.CounterVec
	bytes     *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	stages    *prometheus.HistogramVec
}

// callBuckets are the bounds of what calls and their stages take, in seconds.
func callBuckets() []float64 {
	return []float64{
		0.000001, 0.00001, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
	}
}

func newCallMetrics() callMetrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return callMetrics{
		calls: counter("hallmark_calls_total",
			"Calls that were judged and recorded, by what the agent was told (empty: accepted), and what refused first.",
			"rpc", "failure_code", "layer", "reason"),
		decisions: counter("hallmark_decisions_total",
			"Decisions about calls and permits, by the first reason.", "rpc", "decision", "reason"),
		faults: counter("hallmark_connector_faults_total",
			"Replies that do not fit their contract, for its owner: what SYNTAX, ADAPTER and SCHEMA refused, and DROPPED_MEMBERS.",
			"tool", "version", "owner", "reason"),
		signals: counter("hallmark_signals_total",
			"What monitoring should know of judged replies: removed characters by kind, hidden text, dropped blocks and members, instruction-like phrases.",
			"signal"),
		bytes: counter("hallmark_judged_bytes_total",
			"Bytes of what was judged (in) and of what was handed on (out).", "rpc", "direction"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hallmark_judge_duration_seconds", Help: "Time that judging took, without the record.",
			Buckets: callBuckets(),
		}, []string{"rpc"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "hallmark_stage_duration_seconds",
			Help:    "Time that the parts of a call took: evidence, read, clean, schema, checks, project, text, decide, sign, seal, and record, which is the wait until the record is durable.",
			Buckets: callBuckets(),
		}, []string{"rpc", "stage"}),
	}
}

// observe counts one record.
func (m callMetrics) observe(r audit.Record, took stages.Times) {
	m.calls.WithLabelValues(r.RPC, r.FailureCode, r.Rejection.Layer, r.Rejection.Reason).Inc()
	if r.Decision != "" {
		reason := ""
		if len(r.Reasons) > 0 {
			reason = r.Reasons[0].Code
		}
		m.decisions.WithLabelValues(r.RPC, r.Decision, reason).Inc()
	}
	m.fault(r)
	for signal, n := range r.Signals {
		m.signals.WithLabelValues(signal).Add(float64(n))
	}
	m.bytes.WithLabelValues(r.RPC, "in").Add(float64(r.RawBytes))
	m.bytes.WithLabelValues(r.RPC, "out").Add(float64(r.OutputBytes))
	m.seconds.WithLabelValues(r.RPC).Observe(r.Duration.Seconds())
	for stage, d := range took {
		if d > 0 {
			m.stages.WithLabelValues(r.RPC, stages.Stage(stage).String()).Observe(d.Seconds()) //nolint:gosec // a stage
		}
	}
}

// fault counts what the owner of a connector should look at. Without a contract that
// judged, the tool is somebody's word and no label.
func (m callMetrics) fault(r audit.Record) {
	if r.RPC != "validate" || r.ContractDigest == "" {
		return
	}
	version := strconv.FormatUint(uint64(r.ContractVersion), 10)
	switch r.Rejection.Layer {
	case "SYNTAX", "ADAPTER", "SCHEMA":
		m.faults.WithLabelValues(r.Tool, version, r.Owner, r.Rejection.Reason).Inc()
	}
	if r.Signals["unnamed_members"] > 0 || r.Signals["dropped_members"] > 0 {
		m.faults.WithLabelValues(r.Tool, version, r.Owner, notice.ReasonDropped).Inc()
	}
}

// newMetrics returns everything that is measured. The registry is its own: nothing that a
// library registers by itself is exposed.
func newMetrics(reloads func() Reloads, calls callMetrics, more ...prometheus.Collector) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		reloadCollector{reloads}, calls.calls, calls.decisions, calls.faults, calls.signals, calls.bytes, calls.seconds, calls.stages,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	registry.MustRegister(more...)
	return registry
}

// metricsPage serves what is measured in Prometheus' format.
func metricsPage(g prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(g, promhttp.HandlerOpts{})
}
