// Package interleave compares what alternatives cost, on a machine that has other work.
//
// The wall clock measures that work too, and two runs one after the other measure its
// change; so cost is processor time of this process, the alternatives take turns in
// short slices, ratios are those of neighbouring slices, and what counts is the median.
// The garbage that one alternative makes is collected in the slices of all of them; a
// slice that is long beside a collection keeps that small.
package interleave

import (
	"slices"
	"time"
)

// Result is what a comparison measured: for each alternative, in the order of the
// arguments, its time for one call in every round.
type Result struct{ rounds [][]float64 } // in nanoseconds, [alternative][round]

// Compare lets alternatives take turns for the given rounds, each for about one slice of
// processor time. They run in the calling goroutine, and at least once beforehand.
// rounds below 1 count as 1.
func Compare(rounds int, slice time.Duration, alternatives ...func()) Result {
	return compare(cpuTime, rounds, slice, alternatives)
}

func compare(clock func() time.Duration, rounds int, slice time.Duration, alternatives []func()) Result {
	r := Result{make([][]float64, len(alternatives))}
	calls := make([]int, len(alternatives))
	for i, f := range alternatives {
		calls[i] = callsIn(clock, slice, f)
	}
	for range max(rounds, 1) {
		for i, f := range alternatives {
			began := clock()
			for range calls[i] {
				f()
			}
			r.rounds[i] = append(r.rounds[i], float64(clock()-began)/float64(calls[i]))
		}
	}
	return r
}

// callsIn finds how many calls fill a slice.
func callsIn(clock func() time.Duration, slice time.Duration, f func()) int {
	for n := 1; ; n *= 4 {
		began := clock()
		for range n {
			f()
		}
		took := clock() - began
		if took >= slice/8 || n >= 1<<28 {
			return max(1, int(float64(n)*float64(slice)/float64(max(took, 1))))
		}
	}
}

// Time returns the median processor time of one call of an alternative, in nanoseconds.
func (r Result) Time(alternative int) float64 { return median(r.rounds[alternative]) }

// Ratio returns the median of what alternative a costs for each unit of what b costs.
func (r Result) Ratio(a, b int) float64 {
	ratios := make([]float64, len(r.rounds[a]))
	for i := range ratios {
		ratios[i] = r.rounds[a][i] / r.rounds[b][i]
	}
	return median(ratios)
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
