package sqlite

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// Whatever the lengths of the runs of plain entries in a batch, each entry is written once,
// in the order of arrival; of one id the first stays, and an entry that uses something is
// decided after all that came before it.
func TestBatchRuns(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	defer closeStore(t, s)
	next := 0
	for before := range 2*rowsAtOnce + 2 {
		for _, after := range []int{0, 1, rowsAtOnce - 1, rowsAtOnce, rowsAtOnce + 1} {
			name := fmt.Sprintf("%d, one that claims, %d", before, after)
			var entries []audit.Entry
			var want []string
			add := func(n int, e audit.Entry, written bool) {
				entries = append(entries, e)
				if written {
					want = append(want, audittest.ID(n))
				}
			}
			for range before {
				next++
				add(next, audit.Entry{Record: audittest.Record(next)}, true)
			}
			if before > 0 { // the last id again, as what would use something: it is known and uses nothing
				add(next, claiming(next, fmt.Sprint("1 ", next)), false)
				add(next, audit.Entry{Record: audittest.Record(next, func(r *audit.Record) { r.Tool = "second" })}, false)
			}
			next++
			add(next, claiming(next, fmt.Sprint("1 ", next-1)), true)
			for range after {
				next++
				add(next, audit.Entry{Record: audittest.Record(next)}, true)
			}
			var batch []*job
			for _, e := range entries {
				batch = append(batch, newJob(e))
			}
			mark, err := s.Mark(t.Context(), audit.AllTenants(), "")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.commit(batch); err != nil {
				t.Fatalf("%s: commit = %v", name, err)
			}
			for i, j := range batch {
				if !j.outcome.Written() {
					t.Errorf("%s: entry %d: %+v", name, i, j.outcome)
				}
			}
			checkTail(t, s, mark, name, want)
			if err := s.commit(batch); err != nil {
				t.Errorf("%s, again: commit = %v", name, err)
			}
			checkTail(t, s, mark, name+", again", want)
			next++
			first := newJob(audit.Entry{Record: audittest.Record(next)})
			if err := s.commit(append([]*job{first}, batch...)); err != nil {
				t.Errorf("%s, again after a new one: commit = %v", name, err)
			}
			checkTail(t, s, mark, name+", again after a new one", append(want, audittest.ID(next)))
		}
	}
}

// checkTail compares the ids that were written after a mark, and looks for what came under
// an id that was there.
func checkTail(t *testing.T, s *Store, mark, name string, want []string) {
	t.Helper()
	records, _, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, mark, audit.MaxPageSize)
	var got []string
	for _, r := range records {
		got = append(got, r.DecisionID)
		if r.Tool == "second" {
			t.Errorf("%s: of an id that came twice the second is there", name)
		}
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v\n got %v\nwant %v", name, err, got, want)
	}
}
