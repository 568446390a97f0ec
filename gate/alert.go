package gate

import (
	"sync"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/validators"
)

// Alert says that a vendor's replies hold members that its schema does not name: the
// adapter drops them, and somebody should look (D8). Nothing of a reply is in it: which
// members they were is for whoever holds the original.
type Alert struct {
	Tool           string
	Version        int
	Owner          string // of the contract
	ContractDigest string
	// Hour is the beginning of the hour, in UTC, for which this is the one alert.
	Hour time.Time
	// Dropped is the number of such members in the reply that raised the alert. What
	// comes after it in the same hour stands in the records' signals alone.
	Dropped uint64
}

// Option changes what [New] makes.
type Option func(*Gate)

// WithAlerts makes a gate call tell with at most one alert for each tool, version and
// hour, once the reply that raises it is on record. tell is called while a caller
// waits, from several goroutines at once; it does not block. nil tells nobody.
func WithAlerts(tell func(Alert)) Option {
	return func(g *Gate) { g.alerts.tell = tell }
}

// WithObserver makes a gate call observe with each record that is durable and with what
// the stages of its call took, for metrics. observe is called while a caller waits, from
// several goroutines at once; it does not block and changes nothing of the record. nil
// observes nothing.
func WithObserver(observe func(audit.Record, stages.Times)) Option {
	return func(g *Gate) { g.observe = observe }
}

// maxAlerted bounds the tools and versions that are remembered within an hour; where
// there are more, those beyond are in the records alone.
const maxAlerted = 10_000

// alerts remembers who was told about in the running hour. Safe for concurrent use.
type alerts struct {
	tell func(Alert)

	mu   sync.Mutex
	hour time.Time
	told map[alertKey]struct{}
}

type alertKey struct {
	tool    string
	version int
}

// note raises the alert that an outcome gives cause for.
func (a *alerts) note(o Outcome, now time.Time) {
	dropped := o.Verdict.Signals[validators.SignalUnnamed]
	if a.tell == nil || dropped == 0 || o.Tool == nil {
		return
	}
	c := o.Tool.Contract
	if hour, first := a.first(alertKey{c.Tool, c.Version}, now); first {
		a.tell(Alert{
			Tool: c.Tool, Version: c.Version, Owner: c.Owner, ContractDigest: c.Digest,
			Hour: hour, Dropped: dropped,
		})
	}
}

// first reports whether nobody was told yet in this hour. A clock that goes back opens
// no hour again.
func (a *alerts) first(k alertKey, now time.Time) (hour time.Time, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if hour := now.UTC().Truncate(time.Hour); a.told == nil || hour.After(a.hour) {
		a.hour, a.told = hour, map[alertKey]struct{}{}
	}
	if _, again := a.told[k]; again || len(a.told) >= maxAlerted {
		return a.hour, false
	}
	a.told[k] = struct{}{}
	return a.hour, true
}
