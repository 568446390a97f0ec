package audittest

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/hallmark-gate/hallmark/audit"
)

// racers is the number of entries that come together.
const racers = 64

// race appends as many entries at the same time, each to the next of the stores, and
// returns what became of them.
func race(t *testing.T, entryOf func(n int) audit.Entry, stores ...audit.Store) []audit.Outcome {
	t.Helper()
	out := make([]audit.Outcome, racers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for n := range racers {
		wg.Go(func() {
			e := entryOf(n)
			<-start
			var err error
			if out[n], err = stores[n%len(stores)].Append(t.Context(), e); err != nil {
				t.Errorf("Append: %v", err)
			}
		})
	}
	close(start)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return out
}

// wantWinners fails unless exactly so many were written and the others left nothing and
// lack these claims.
func wantWinners(t *testing.T, store audit.Store, entryOf func(n int) audit.Entry, out []audit.Outcome, winners int, short ...int) {
	t.Helper()
	written := 0
	for n, o := range out {
		e := entryOf(n)
		if o.Written() {
			written++
			if _, err := store.Get(t.Context(), audit.AllTenants(), e.Record.DecisionID); err != nil {
				t.Errorf("Get of a winner: %v", err)
			}
			continue
		}
		if o.Repeated || !reflect.DeepEqual(o.Short, short) {
			t.Errorf("entry %d: %+v, want claims %v short", n, o, short)
		}
		wantNothing(t, store, e)
	}
	if written != winners {
		t.Fatalf("%d of %d entries were written, want %d", written, len(out), winners)
	}
}

func (s *suite) testRaceOneClaim(t *testing.T) { s.raceForClaim(t, s.fresh(t), 1) }

func (s *suite) testRaceThreeUses(t *testing.T) { s.raceForClaim(t, s.fresh(t), 3) }

func (s *suite) raceForClaim(t *testing.T, store audit.Store, limit int) {
	t.Helper()
	for round := range s.rounds {
		entryOf := func(n int) audit.Entry {
			return entry(round*racers+n, claim(fmt.Sprint(round), uint32(limit))) //nolint:gosec // 1 or 3
		}
		wantWinners(t, store, entryOf, race(t, entryOf, store), limit, 0)
	}
}

// Two claims in either order: neither half of them goes to two winners, and nobody waits
// for somebody who waits.
func (s *suite) testRaceCrosswise(t *testing.T) {
	store := s.fresh(t)
	for round := range s.rounds {
		entryOf := func(n int) audit.Entry {
			claims := []audit.Claim{claim(fmt.Sprint("a", round), 1), claim(fmt.Sprint("b", round), 1), claim(fmt.Sprint("c", round), racers)}
			if n%2 == 1 {
				slices.Reverse(claims[:2])
			}
			return entry(round*racers+n, claims...)
		}
		wantWinners(t, store, entryOf, race(t, entryOf, store), 1, 0, 1)
		// The losers used nothing of c.
		wantWritten(t, store, entry(1_000_000+round, claim(fmt.Sprint("c", round), 2)))
		wantShort(t, store, entry(2_000_000+round, claim(fmt.Sprint("c", round), 2)), 0)
	}
}

// One of those that come together for a request decides it; the others get its memo.
func (s *suite) testRaceOneRequest(t *testing.T) {
	store := s.fresh(t)
	for round := range s.rounds {
		entryOf := func(n int) audit.Entry {
			return request(entry(round*racers+n, claim(fmt.Sprint(round), 2)), fmt.Sprint(round), fmt.Sprint("memo ", n))
		}
		out := race(t, entryOf, store)
		winner := slices.IndexFunc(out, audit.Outcome.Written)
		for n, o := range out {
			if n != winner && (!o.Repeated || string(o.Memo) != fmt.Sprint("memo ", winner) || len(o.Short) > 0) {
				t.Fatalf("entry %d: %+v, and %d was the first", n, o, winner)
			}
		}
		wantWritten(t, store, entry(1_000_000+round, claim(fmt.Sprint(round), 2)))
		wantShort(t, store, entry(2_000_000+round, claim(fmt.Sprint(round), 2)), 0)
	}
}

// One entry that is sent many times at once uses its claims once.
func (s *suite) testRaceOneID(t *testing.T) {
	store := s.fresh(t)
	for round := range s.rounds {
		one := request(entry(round, claim(fmt.Sprint(round), 2)), fmt.Sprint(round), "memo")
		for n, o := range race(t, func(int) audit.Entry { return one }, store) {
			if !reflect.DeepEqual(o, audit.Outcome{}) {
				t.Fatalf("sent again, the %d. time: %+v", n, o)
			}
		}
		wantWritten(t, store, entry(1_000_000+round, claim(fmt.Sprint(round), 2)))
		wantShort(t, store, entry(2_000_000+round, claim(fmt.Sprint(round), 2)), 0)
	}
}

// All of it again by two replicas, and what one wrote the other sees at once.
func (s *suite) testRaceTwoStores(t *testing.T) {
	first := s.fresh(t)
	second := s.openSecond(t, first)
	for round := range s.rounds {
		entryOf := func(n int) audit.Entry { return entry(round*racers+n, claim(fmt.Sprint(round), 3)) }
		wantWinners(t, second, entryOf, race(t, entryOf, first, second), 3, 0)
		requestOf := func(n int) audit.Entry {
			return request(entry(1_000_000+round*racers+n), fmt.Sprint(round), fmt.Sprint("memo ", n))
		}
		out := race(t, requestOf, first, second)
		winner := slices.IndexFunc(out, audit.Outcome.Written)
		for n, o := range out {
			if n != winner && (!o.Repeated || string(o.Memo) != fmt.Sprint("memo ", winner)) {
				t.Fatalf("entry %d: %+v, and %d was the first", n, o, winner)
			}
		}
		wantMemo(t, second, audit.KeyOf("request", fmt.Sprint(round)), epoch, fmt.Sprint("memo ", winner))
		one := original(entry(2_000_000+round, claim(fmt.Sprint("one ", round), 1)), "sealed")
		wantWritten(t, first, one)
		wantWritten(t, second, one)
		wantShort(t, second, entry(3_000_000+round, claim(fmt.Sprint("one ", round), 1)), 0)
		wantOriginal(t, second, one, true)
	}
}
