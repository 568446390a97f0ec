package sqlite

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// shared is the number of things that all entries of TestKillClaims use in turn.
const shared = 7

// killEntry is entry n of TestKillClaims: it uses one of the shared things, which have
// room for all, and a thing that one of two entries may have.
func killEntry(n int) audit.Entry {
	e := requested(audit.Entry{Record: audittest.Record(n)}, fmt.Sprint("request ", n), fmt.Sprint("memo ", n))
	e.Original = &audit.Original{Sealed: []byte(fmt.Sprint("sealed ", n)), KeepUntil: farAway}
	e.Uses.Claims = []audit.Claim{
		{Key: audit.KeyOf("claim", fmt.Sprint("shared ", n%shared)), Limit: 1<<32 - 1, Until: farAway},
		{Key: audit.KeyOf("claim", fmt.Sprint("one of ", n/2)), Limit: 1, Until: farAway},
	}
	return e
}

// Case 149, D4: kill -9 while things are used. What a caller was told to be written has
// used what it claims, once, also where it is sent again; what is there is there whole.
func TestKillClaims(t *testing.T) {
	if os.Getenv(childPath) != "" {
		runClaimingChild(t)
		return
	}
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	path := newPath(t)
	var written []string
	last := 0
	for round := range rounds {
		life := time.Duration(rand.IntN(300)) * time.Millisecond
		first := round * 1_000_000
		confirmed := lifeOf(t, "TestKillClaims", path, first, life)
		written = append(written, confirmed...)
		s := mustOpen(t, path, Options{})
		present := checkWhole(t, s)
		for _, id := range written {
			if !present[id] {
				t.Fatalf("round %d, killed after %s: %s was confirmed and is not there", round, life, id)
			}
		}
		// Callers who heard nothing send again. Nothing is used twice.
		for n := first + 1; n <= first+len(confirmed)+64; n++ {
			o, err := s.Append(t.Context(), killEntry(n))
			if err != nil || o.Repeated {
				t.Fatalf("sent again: %+v, %v", o, err)
			}
			if !o.Written() && present[audittest.ID(n)] {
				t.Fatalf("%d is there and was refused: %+v", n, o)
			}
		}
		last = len(checkWhole(t, s))
		closeStore(t, s)
	}
	if len(written) == 0 {
		t.Error("no entry was confirmed in any round: nothing was proved")
	}
	t.Logf("%d entries confirmed in %d lives, %d there", len(written), rounds, last)
}

// checkWhole fails unless every entry that is there has its memo, its original and its
// uses, and nothing else has any. It returns the ids.
func checkWhole(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	present := map[string]bool{}
	uses, ones := map[string]int64{}, map[int]int{}
	for mark := markToken(0); ; {
		records, next, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, mark, audit.MaxPageSize)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			n, err := strconv.ParseInt(r.DecisionID[24:], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			present[r.DecisionID] = true
			uses[fmt.Sprint("shared ", n%shared)]++
			ones[int(n)/2]++
			e := killEntry(int(n))
			memo, err := s.Recall(t.Context(), e.Uses.Request, r.At)
			if err != nil || string(memo) != string(e.Uses.Memo) {
				t.Fatalf("Recall of %d = %q, %v", n, memo, err)
			}
			if o, err := s.Original(t.Context(), audit.AllTenants(), r.DecisionID, r.At); err != nil || string(o.Sealed) != string(e.Original.Sealed) {
				t.Fatalf("Original of %d = %q, %v", n, o.Sealed, err)
			}
		}
		if next == mark {
			break
		}
		mark = next
	}
	for n, times := range ones {
		if times != 1 {
			t.Fatalf("thing %d was used by %d entries", n, times)
		}
	}
	for i := range shared {
		name := fmt.Sprint("shared ", i)
		if err := checkUses(t.Context(), s, []string{name}, []int64{uses[name]}); err != nil {
			t.Fatal(err)
		}
	}
	var claims, memos, originals int
	if err := s.read.QueryRow(`SELECT (SELECT count(*) FROM claims), (SELECT count(*) FROM memos), (SELECT count(*) FROM originals)`).
		Scan(&claims, &memos, &originals); err != nil {
		t.Fatal(err)
	}
	if claims != len(ones)+len(uses) || memos != len(present) || originals != len(present) {
		t.Fatalf("%d entries, %d claims, %d memos, %d originals", len(present), claims, memos, originals)
	}
	return present
}

// runClaimingChild appends from 8 callers until it is killed, and prints the id of each
// entry that was written.
func runClaimingChild(t *testing.T) {
	fmt.Println("opening")
	s := mustOpen(t, os.Getenv(childPath), Options{})
	first, err := strconv.Atoi(os.Getenv(childFirst))
	if err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64
	next.Store(int64(first))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				e := killEntry(int(next.Add(1)))
				o, err := s.Append(context.Background(), e)
				if err != nil {
					fmt.Fprintln(os.Stderr, "child:", err)
					os.Exit(3)
				}
				if !o.Written() {
					continue
				}
				if _, err := io.WriteString(os.Stdout, "id "+e.Record.DecisionID+"\n"); err != nil {
					os.Exit(4)
				}
			}
		})
	}
	wg.Wait()
}

// A kill in the middle of a purge leaves every event with its original or neither.
func TestKillPurge(t *testing.T) {
	if os.Getenv(childPath) != "" {
		runPurgingChild(t)
		return
	}
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	const total = 400
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for n := w; n < total; n += 32 {
				e := killEntry(n * 8)
				e.Original.Sealed = []byte(strings.Repeat("s", 20_000))
				if _, err := s.Append(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	closeStore(t, s)
	removed := len(lifeOf(t, "TestKillPurge", path, 0, time.Duration(20+rand.IntN(60))*time.Millisecond))
	s = mustOpen(t, path, Options{})
	defer closeStore(t, s)
	var events, originals, orphans int
	if err := s.read.QueryRow(`SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM originals),
		(SELECT count(*) FROM originals WHERE event NOT IN (SELECT seq FROM events))`).Scan(&events, &originals, &orphans); err != nil {
		t.Fatal(err)
	}
	if events != originals || orphans != 0 {
		t.Errorf("%d events, %d originals, %d without an event", events, originals, orphans)
	}
	t.Logf("%d purges came to an end, %d of %d events are left", removed, events, total)
	rest, err := s.Purge(t.Context(), audit.Purge{EventsBefore: farAway})
	if err != nil || rest.Events != int64(events) || rest.Originals != int64(originals) {
		t.Errorf("Purge = %+v, %v; want what was left", rest, err)
	}
}

// runPurgingChild purges event by event until it is killed.
func runPurgingChild(t *testing.T) {
	s := mustOpen(t, os.Getenv(childPath), Options{})
	fmt.Println("opened")
	for n := 0; ; n++ {
		p := audit.Purge{EventsBefore: audittest.Record(n * 8).At.Add(1)}
		if _, err := s.Purge(context.Background(), p); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(3)
		}
		fmt.Println("id " + strconv.Itoa(n))
	}
}
