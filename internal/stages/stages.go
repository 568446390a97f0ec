// Package stages measures where the time of one call goes. Judging itself knows no clock:
// it is handed a [Watch] and says which part has just ended.
package stages

import "time"

// Stage is a part of a call's way.
type Stage uint8

// The stages, in the order of the way. A call passes some of them.
const (
	Evidence Stage = iota // receipts, grants, approvals and sources are looked at
	Read                  // limits, syntax, framing, adapter
	Clean                 // text of members is cleaned
	Schema
	Checks
	Project
	Text   // a whole reply of text, from its charset to the cut
	Decide // grants, scopes, evidence and policies
	Sign   // a receipt or a permit
	Seal   // the original
	Record // until the store has said that the record is durable
	count
)

// String returns the stage's word in metrics.
func (s Stage) String() string {
	return [count]string{
		"evidence", "read", "clean", "schema", "checks", "project", "text", "decide", "sign", "seal", "record",
	}[s]
}

// All returns every stage, in order.
func All() []Stage {
	all := make([]Stage, count)
	for i := range all {
		all[i] = Stage(i) //nolint:gosec // below count
	}
	return all
}

// Times is what the stages of one call took; 0 for one that it did not pass.
type Times [count]time.Duration

// Watch takes the times of one call. It belongs to that call's goroutine. A nil Watch
// measures nothing.
type Watch struct {
	clock func() time.Time
	last  time.Time
	times Times
}

// Start returns a watch that runs from now, as clock says; clock is not nil.
func Start(clock func() time.Time, now time.Time) *Watch { return &Watch{clock: clock, last: now} }

// Ends gives the time since the stage before ended, or since the start, to s.
func (w *Watch) Ends(s Stage) {
	if w == nil {
		return
	}
	now := w.clock()
	w.times[s] += now.Sub(w.last)
	w.last = now
}

// Times returns what was taken so far.
func (w *Watch) Times() Times {
	if w == nil {
		return Times{}
	}
	return w.times
}
