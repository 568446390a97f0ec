package interleave

import (
	"testing"
	"time"
)

// work is a clock that moves only when an alternative says so.
type work struct {
	now   time.Duration
	trail string
}

func (w *work) clock() time.Duration { return w.now }

func (w *work) step(name string, cost func() time.Duration) func() {
	return func() {
		w.now += cost()
		w.trail += name
	}
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

func TestCompareTakesTurns(t *testing.T) {
	w := &work{}
	r := compare(w.clock, 3, 10*time.Millisecond, []func(){
		w.step("a", always(10*time.Millisecond)), w.step("b", always(5*time.Millisecond)),
	})
	if want := "ab" + "abb" + "abb" + "abb"; w.trail != want {
		t.Errorf("ran %q, want %q", w.trail, want)
	}
	if got := r.Ratio(0, 1); got != 2 {
		t.Errorf("ratio %v, want 2", got)
	}
	if got := r.Time(1); got != 5e6 {
		t.Errorf("time %v, want 5e6", got)
	}
}

// A machine that gets slower slows neighbours alike, and one disturbed round moves no
// median.
func TestRatioOfNeighbours(t *testing.T) {
	w := &work{}
	slow, calls := time.Millisecond, 0
	r := compare(w.clock, 5, time.Millisecond, []func(){
		w.step("a", func() time.Duration {
			if calls++; calls == 3 {
				return 100 * slow
			}
			return 3 * slow
		}),
		w.step("b", func() time.Duration { d := slow; slow *= 2; return d }),
	})
	if got := r.Ratio(0, 1); got != 3 {
		t.Errorf("ratio %v, want 3", got)
	}
}

func TestMedian(t *testing.T) {
	for _, row := range []struct {
		line string
		of   []float64
		want float64
	}{
		{"one", []float64{7}, 7},
		{"odd", []float64{9, 1, 5}, 5},
		{"even", []float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(row.of); got != row.want {
			t.Errorf("%s: %v, want %v", row.line, got, row.want)
		}
	}
}

func TestCPUTimeMoves(t *testing.T) {
	before := cpuTime()
	for n := 0; cpuTime() == before; n++ {
		if n > 1<<30 {
			t.Fatal("no processor time was counted")
		}
	}
}
