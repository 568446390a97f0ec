package audittest

import (
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// A repeat gets the memo of the first decision; nothing is written or used up.
func (s *suite) testRepeat(t *testing.T) {
	store := s.fresh(t)
	wantMemo(t, store, audit.KeyOf("request", "1"), epoch, "")
	wantWritten(t, store, original(request(entry(1, claim("a", 3)), "1", "first"), "sealed"))
	for n := 2; n < 5; n++ {
		wantRepeated(t, store, original(request(entry(n, claim("a", 3)), "1", "later"), "sealed"), "first")
	}
	// Claims are not looked at: neither those without room nor those that fit.
	wantRepeated(t, store, request(entry(5, claim("none", 0), claim("b", 1)), "1", "later"), "first")
	wantWritten(t, store, entry(6, claim("b", 1)))
	// Two of the three uses are left.
	wantWritten(t, store, request(entry(7, claim("a", 3)), "2", "second"))
	wantWritten(t, store, entry(8, claim("a", 3)))
	wantShort(t, store, entry(9, claim("a", 3)), 0)
	// A request that was refused room is not remembered, so that it can be tried again.
	wantShort(t, store, request(entry(10, claim("a", 3)), "3", "third"), 0)
	wantWritten(t, store, request(entry(10, claim("c", 3)), "3", "third"))
	// Without a request there are no repeats.
	wantWritten(t, store, entry(11))
	wantWritten(t, store, entry(12))
	// A request and a claim of one key are two things.
	both := request(entry(13), "both", "memo")
	both.Uses.Claims = []audit.Claim{{Key: both.Uses.Request, Limit: 1, Until: never}}
	wantWritten(t, store, both)
	wantShort(t, store, entry(14, both.Uses.Claims...), 0)
}

// A request is remembered before Until, by the time of the record, and by that of who
// recalls it; then it may be decided again.
func (s *suite) testRepeatOver(t *testing.T) {
	store := s.fresh(t)
	end := epoch.Add(time.Minute)
	until := func(n int, memo string, when, until time.Time) audit.Entry {
		e := at(request(entry(n, claim("a", 10)), "1", memo), when)
		e.Uses.Until = until
		return e
	}
	key := audit.KeyOf("request", "1")
	wantWritten(t, store, until(1, "first", epoch, end))
	wantMemo(t, store, key, time.Time{}, "first")
	wantMemo(t, store, key, end.Add(-1), "first")
	wantMemo(t, store, key, end, "")
	wantMemo(t, store, key, never, "")
	// A repeat prolongs nothing.
	wantRepeated(t, store, until(2, "later", end.Add(-1), end.Add(time.Hour)), "first")
	wantMemo(t, store, key, end, "")
	wantWritten(t, store, until(3, "second", end, end.Add(time.Minute)))
	wantMemo(t, store, key, end, "second")
	wantRepeated(t, store, until(4, "later", end.Add(time.Minute-1), never), "second")
	// What is over when it is made is written and never remembered by its own time.
	wantWritten(t, store, until(5, "third", end.Add(time.Minute), end.Add(time.Minute)))
	wantWritten(t, store, until(6, "fourth", end.Add(time.Minute), never))
	wantRepeated(t, store, until(7, "later", end.Add(time.Minute), never), "fourth")
}

// A memo is bytes of any kind and no text.
func (s *suite) testHostileMemos(t *testing.T) {
	store := s.fresh(t)
	var all strings.Builder
	for b := range 256 {
		all.WriteByte(byte(b))
	}
	memos := map[string]string{"every byte": all.String(), "JSON": `{"a":"\u0000"}`, "largest": strings.Repeat("\x00", audit.MaxMemoBytes)}
	for name, text := range hostile {
		memos[name] = text[:min(len(text), audit.MaxMemoBytes)]
	}
	n := 0
	for name, memo := range memos {
		wantWritten(t, store, original(request(entry(n), name, memo), memo))
		wantRepeated(t, store, request(entry(n+1), name, "later"), memo)
		n += 2
	}
}

func (s *suite) testClaimLimit(t *testing.T) {
	store := s.fresh(t)
	wantWritten(t, store, entry(1, claim("one", 1)))
	wantShort(t, store, entry(2, claim("one", 1)), 0)
	wantShort(t, store, entry(2, claim("one", 1)), 0) // a refusal uses up nothing and no id
	wantWritten(t, store, entry(2, claim("other", 1)))

	for n := range 3 {
		wantWritten(t, store, entry(10+n, claim("three", 3)))
	}
	wantShort(t, store, entry(13, claim("three", 3)), 0)
	// Each claim is judged by its own limit, and all of them count.
	wantShort(t, store, entry(14, claim("three", 2)), 0)
	wantWritten(t, store, entry(14, claim("three", 4)))
	wantShort(t, store, entry(15, claim("three", 4)), 0)
	wantWritten(t, store, entry(15, claim("three", 1<<32-1)))

	wantShort(t, store, entry(20, claim("none", 0)), 0)
	wantShort(t, store, entry(20, claim("three", 0)), 0)
	wantWritten(t, store, entry(20, claim("none", 1)))
}

// All claims are used, with all that an entry leaves, or none is.
func (s *suite) testClaimsTogether(t *testing.T) {
	store := s.fresh(t)
	wantWritten(t, store, entry(1, claim("a", 1), claim("b", 3), claim("c", 1)))
	wantShort(t, store, original(request(entry(2, claim("b", 3), claim("a", 1), claim("d", 1), claim("c", 1)), "2", "memo"), "sealed"), 1, 3)
	wantShort(t, store, entry(2, claim("d", 1), claim("none", 0)), 1)
	wantShort(t, store, entry(2, claim("c", 1), claim("b", 3)), 0)
	// b was used once and d never, whatever the refused entries asked for.
	wantWritten(t, store, entry(3, claim("d", 1), claim("b", 3)))
	wantWritten(t, store, entry(4, claim("b", 3)))
	wantShort(t, store, entry(5, claim("b", 3), claim("d", 1)), 0, 1)
	// The same refused entry is written once there is room.
	wantWritten(t, store, original(request(entry(2, claim("e", 1)), "2", "memo"), "sealed"))
}

// A use is counted until the thing itself is over, by the time of the record; a later
// end of another claim prolongs that.
func (s *suite) testClaimsOver(t *testing.T) {
	store := s.fresh(t)
	end := epoch.Add(time.Minute)
	until := func(n int, limit uint32, when, until time.Time) audit.Entry {
		return at(entry(n, audit.Claim{Key: audit.KeyOf("claim", "a"), Limit: limit, Until: until}), when)
	}
	wantWritten(t, store, until(1, 2, epoch, end))
	wantWritten(t, store, until(2, 2, epoch, end.Add(time.Hour)))
	wantWritten(t, store, until(3, 3, epoch, end)) // an earlier end shortens nothing
	wantShort(t, store, until(4, 3, end.Add(-1), end), 0)
	wantShort(t, store, until(4, 3, end, end.Add(time.Minute)), 0)
	wantShort(t, store, until(4, 3, end.Add(time.Hour-1), never), 0) // and a refusal prolongs nothing
	wantWritten(t, store, until(5, 3, end.Add(time.Hour), never))
	wantWritten(t, store, until(6, 2, end.Add(time.Hour), never))
	wantShort(t, store, until(7, 2, end.Add(time.Hour), never), 0)
}

// A key names one thing, whoever uses it and in whichever order of time.
func (s *suite) testClaimsOfAll(t *testing.T) {
	store := s.fresh(t)
	wantWritten(t, store, at(entry(1, claim("a", 1)), epoch.Add(time.Hour)))
	early := at(entry(2, claim("a", 1)), epoch.Add(-time.Hour))
	early.Record.Tenant, early.Record.SessionID, early.Record.RPC = "other", "", "redeem"
	wantShort(t, store, early, 0)
}
