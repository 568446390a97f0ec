package stages

import (
	"testing"
	"time"
)

// Each stage gets the time since the one before it, twice ended twice; nothing is lost.
func TestWatch(t *testing.T) {
	now := time.Unix(0, 0)
	w := Start(func() time.Time { return now }, now)
	for _, step := range []struct {
		takes time.Duration
		stage Stage
	}{{1, Read}, {2, Schema}, {4, Read}, {0, Sign}, {8, Record}} {
		now = now.Add(step.takes)
		w.Ends(step.stage)
	}
	if got, want := w.Times(), (Times{Read: 5, Schema: 2, Record: 8}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	var none *Watch
	none.Ends(Read)
	if none.Times() != (Times{}) {
		t.Error("a nil watch measured")
	}
}

// Every stage has a word of its own.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		if s.String() == "" || seen[s.String()] {
			t.Errorf("stage %d has the word %q", s, s)
		}
		seen[s.String()] = true
	}
	if len(seen) != int(count) {
		t.Errorf("%d words", len(seen))
	}
}
