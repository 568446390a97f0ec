package server

import (
	"github.com/prometheus/client_golang/prometheus"
)

// The metrics of being called. Labels are fixed words and the names of identities, of
// which the identities file bounds the number.
var (
	connectionsDesc = prometheus.NewDesc("hallmark_connections",
		"Open gRPC connections.", nil, nil)
	connectionsRefusedDesc = prometheus.NewDesc("hallmark_connections_refused_total",
		"Connections that were closed at once because there were too many.", nil, nil)
	connectionsCutDesc = prometheus.NewDesc("hallmark_connections_cut_total",
		"Connections that were closed since their client did not take a reply.", nil, nil)
	inFlightDesc = prometheus.NewDesc("hallmark_in_flight_calls",
		"Calls that are judged now (lane: judged), requests of such that are being read (reading), requests of probes and watchers that are being read (probe), streams that last (watch).", []string{"lane"}, nil)
	inFlightBytesDesc = prometheus.NewDesc("hallmark_in_flight_bytes",
		"Bytes of their requests; one that is being read counts with the largest size. Lane leaving: of replies that clients have not taken.", []string{"lane"}, nil)
	waitingDesc = prometheus.NewDesc("hallmark_admission_waiting_calls",
		"Calls that wait for room now.", []string{"lane"}, nil)
	noRoomDesc = prometheus.NewDesc("hallmark_admission_refused_total",
		"Calls that were refused for want of room, by the bound that had none and whose call it was; bound gave_way: cut while they were read, for others.", []string{"lane", "bound", "identity"}, nil)
	deniedDesc = prometheus.NewDesc("hallmark_access_denied_total",
		"Calls of clients that may not, by reason.", []string{"reason"}, nil)
	handshakesDesc = prometheus.NewDesc("hallmark_tls_handshakes_failed_total",
		"TLS handshakes that failed: no certificate, one of another authority, one that has expired.", nil, nil)
	expiryDesc = prometheus.NewDesc("hallmark_tls_certificate_expiry_timestamp_seconds",
		"When the server's certificate ends, in Unix time.", nil, nil)
	filesDesc = prometheus.NewDesc("hallmark_files_reloads_total",
		"Changes of files, by which (tls, identities, recipients, keys: those of tokens, approvers and issuers, of which refusals alone are counted) and what became of them: done or refused (what served before goes on).", []string{"files", "result"}, nil)
	filesRefusedDesc = prometheus.NewDesc("hallmark_files_refused_since_timestamp_seconds",
		"Since when what files hold is refused, in Unix time; 0 where it is what serves.", []string{"files"}, nil)
)

// servingCollector reads the metrics of being called from their one source at each
// scrape.
type servingCollector struct {
	access     access
	listener   *boundedListener
	keys       *keyring
	recipients *follower // nil where none are configured
}

// Describe implements [prometheus.Collector].
func (c servingCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		connectionsDesc, connectionsRefusedDesc, connectionsCutDesc, inFlightDesc, inFlightBytesDesc, waitingDesc, noRoomDesc,
		deniedDesc, handshakesDesc, expiryDesc, filesDesc, filesRefusedDesc,
	} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c servingCollector) Collect(out chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	send(gauge, connectionsDesc, float64(c.listener.open.Load()))
	send(counter, connectionsRefusedDesc, float64(c.listener.refused.Load()))
	send(counter, connectionsCutDesc, float64(c.listener.untaken.Load()))
	for _, l := range []struct {
		name string
		look func() (used room, waiting int, refused map[refusal]uint64)
	}{{"judged", c.access.lanes.judged.look}, {"reading", c.access.lanes.reads.look}, {"leaving", c.access.lanes.leaving.look}, {"watch", c.access.lanes.watches.look}, {"probe", c.access.lanes.probes.look}} {
		used, waiting, refused := l.look()
		send(gauge, inFlightDesc, float64(used.calls), l.name)
		send(gauge, inFlightBytesDesc, float64(used.bytes), l.name)
		send(gauge, waitingDesc, float64(waiting), l.name)
		for r, n := range refused {
			send(counter, noRoomDesc, float64(n), l.name, r.bound, r.identity)
		}
	}
	for reason := range accessGranted {
		send(counter, deniedDesc, float64(c.access.guard.denied[reason].Load()), reason.String())
	}
	if c.access.certificates != nil {
		send(counter, handshakesDesc, float64(c.access.certificates.failed.Load()))
		send(gauge, expiryDesc, float64(c.access.certificates.expires().Unix()))
	}
	files := func(name string, s *followed) {
		send(counter, filesDesc, float64(s.refused), name, "refused")
		since := 0.0
		if !s.refusedSince.IsZero() {
			since = float64(s.refusedSince.Unix())
		}
		send(gauge, filesRefusedDesc, since, name)
	}
	files("keys", c.keys.status.Load())
	followers := c.access.followers()
	if c.recipients != nil {
		followers = append(followers, c.recipients)
	}
	for _, f := range followers {
		s := f.status.Load()
		send(counter, filesDesc, float64(s.done), f.name, "done")
		files(f.name, s)
	}
}
