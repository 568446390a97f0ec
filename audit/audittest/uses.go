package audittest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// never is an end that no test of the suite reaches.
var never = epoch.Add(1000 * time.Hour)

// claim is one use of the thing with this name, which ends at [never].
func claim(name string, limit uint32) audit.Claim {
	return audit.Claim{Key: audit.KeyOf("claim", name), Limit: limit, Until: never}
}

// entry is a small entry with number n that claims.
func entry(n int, claims ...audit.Claim) audit.Entry {
	return audit.Entry{Record: Record(n), Uses: audit.Uses{Claims: claims}}
}

// request makes an entry that of the request with this name, remembered until [never].
func request(e audit.Entry, name, memo string) audit.Entry {
	e.Uses.Request, e.Uses.Memo, e.Uses.Until = audit.KeyOf("request", name), []byte(memo), never
	return e
}

// original gives an entry sealed bytes that are kept until [never].
func original(e audit.Entry, sealed string) audit.Entry {
	e.Original = &audit.Original{Sealed: []byte(sealed), KeepUntil: never}
	return e
}

// at gives an entry another time.
func at(e audit.Entry, when time.Time) audit.Entry {
	e.Record.At = when
	return e
}

// wantWritten appends an entry and fails unless it was written, all of it.
func wantWritten(t *testing.T, store audit.Store, e audit.Entry) {
	t.Helper()
	o, err := store.Append(t.Context(), e)
	if err != nil || !reflect.DeepEqual(o, audit.Outcome{}) {
		t.Fatalf("Append(%s) = %+v, %v; want it written", e.Record.DecisionID, o, err)
	}
	if _, err := store.Get(t.Context(), audit.AllTenants(), e.Record.DecisionID); err != nil {
		t.Errorf("Get of a written entry: %v", err)
	}
	wantOriginal(t, store, e, e.Original != nil)
	if e.Uses.Request != "" && e.Uses.Until.After(e.Record.At) {
		wantMemo(t, store, e.Uses.Request, e.Record.At, string(e.Uses.Memo))
	}
}

// wantShort appends an entry and fails unless it was not written, for these claims.
func wantShort(t *testing.T, store audit.Store, e audit.Entry, short ...int) {
	t.Helper()
	o, err := store.Append(t.Context(), e)
	if err != nil || o.Repeated || len(o.Memo) > 0 || o.Written() || !reflect.DeepEqual(o.Short, short) {
		t.Fatalf("Append(%s) = %+v, %v; want claims %v short", e.Record.DecisionID, o, err, short)
	}
	wantNothing(t, store, e)
	if e.Uses.Request != "" {
		wantMemo(t, store, e.Uses.Request, e.Record.At, "")
	}
}

// wantRepeated appends an entry and fails unless it was not written, as a repeat.
func wantRepeated(t *testing.T, store audit.Store, e audit.Entry, memo string) {
	t.Helper()
	o, err := store.Append(t.Context(), e)
	if err != nil || !o.Repeated || o.Written() || len(o.Short) > 0 || string(o.Memo) != memo {
		t.Fatalf("Append(%s) = %.200q, %t, %v, %v; want a repeat of %.200q", e.Record.DecisionID, o.Memo, o.Repeated, o.Short, err, memo)
	}
	wantNothing(t, store, e)
	wantMemo(t, store, e.Uses.Request, e.Record.At, memo)
}

// wantNothing fails if an entry left anything that its id leads to.
func wantNothing(t *testing.T, store audit.Store, e audit.Entry) {
	t.Helper()
	if _, err := store.Get(t.Context(), audit.AllTenants(), e.Record.DecisionID); !errors.Is(err, audit.ErrNotFound) {
		t.Errorf("Get of an entry that was not written = %v", err)
	}
	wantOriginal(t, store, e, false)
}

func wantOriginal(t *testing.T, store audit.Store, e audit.Entry, there bool) {
	t.Helper()
	got, err := store.Original(t.Context(), audit.AllTenants(), e.Record.DecisionID, epoch)
	switch {
	case !there && !errors.Is(err, audit.ErrNotFound):
		t.Errorf("Original of %s = %v, want ErrNotFound", e.Record.DecisionID, err)
	case there && (err != nil || !bytes.Equal(got.Sealed, e.Original.Sealed) || !got.KeepUntil.Equal(e.Original.KeepUntil)):
		t.Errorf("Original of %s = %d bytes until %s, %v", e.Record.DecisionID, len(got.Sealed), got.KeepUntil, err)
	}
}

// wantMemo fails unless the request is remembered at that time with this memo; "" stands
// for a request that is not remembered.
func wantMemo(t *testing.T, store audit.Store, key audit.Key, now time.Time, memo string) {
	t.Helper()
	got, err := store.Recall(t.Context(), key, now)
	switch {
	case memo == "" && !errors.Is(err, audit.ErrNotFound):
		t.Errorf("Recall = %.200q, %v; want ErrNotFound", got, err)
	case memo != "" && (err != nil || string(got) != memo):
		t.Errorf("Recall = %.200q, %v; want %.200q", got, err, memo)
	}
}

func (s *suite) testEntryInvalid(t *testing.T) {
	store := s.fresh(t)
	for name, spoil := range map[string]func(*audit.Entry){
		"no id":               func(e *audit.Entry) { e.Record.DecisionID = "" },
		"memo alone":          func(e *audit.Entry) { e.Uses = audit.Uses{Memo: []byte("x")} },
		"end alone":           func(e *audit.Entry) { e.Uses = audit.Uses{Until: never} },
		"no end":              func(e *audit.Entry) { e.Uses.Until = time.Time{} },
		"no key":              func(e *audit.Entry) { e.Uses.Request = "request" },
		"memo too large":      func(e *audit.Entry) { e.Uses.Memo = make([]byte, audit.MaxMemoBytes+1) },
		"claim of no key":     func(e *audit.Entry) { e.Uses.Claims[0].Key = "" },
		"claim in uppercase":  func(e *audit.Entry) { e.Uses.Claims[0].Key = audit.Key(strings.ToUpper(string(e.Uses.Claims[0].Key))) },
		"claim without end":   func(e *audit.Entry) { e.Uses.Claims[0].Until = time.Time{} },
		"claim twice":         func(e *audit.Entry) { e.Uses.Claims = append(e.Uses.Claims, e.Uses.Claims[0]) },
		"too many claims":     func(e *audit.Entry) { e.Uses.Claims = manyClaims(audit.MaxClaims + 1) },
		"original too large":  func(e *audit.Entry) { e.Original.Sealed = make([]byte, audit.MaxOriginalBytes+1) },
		"original, no end":    func(e *audit.Entry) { e.Original.KeepUntil = time.Time{} },
		"original, late end":  func(e *audit.Entry) { e.Original.KeepUntil = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) },
		"claim ends too late": func(e *audit.Entry) { e.Uses.Claims[0].Until = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		e := original(request(entry(1, claim("a", 1)), "1", "memo"), "sealed")
		spoil(&e)
		if o, err := store.Append(t.Context(), e); !errors.Is(err, audit.ErrInvalidRecord) || errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("%s: Append = %+v, %v; want ErrInvalidRecord", name, o, err)
		}
	}
	wantNothing(t, store, entry(1))
	wantMemo(t, store, audit.KeyOf("request", "1"), epoch, "")
	wantWritten(t, store, original(request(entry(1, claim("a", 1)), "1", "memo"), "sealed"))
}

func manyClaims(n int) (claims []audit.Claim) {
	for i := range n {
		claims = append(claims, claim(fmt.Sprint("many ", i), 1))
	}
	return claims
}

// The largest entry is kept, and the smallest of each kind.
func (s *suite) testEntryBounds(t *testing.T) {
	store := s.fresh(t)
	large := original(request(entry(1, manyClaims(audit.MaxClaims)...), "1", strings.Repeat("m", audit.MaxMemoBytes)),
		strings.Repeat("s", audit.MaxOriginalBytes))
	for range 32 {
		large.Record.MoreRejections = append(large.Record.MoreRejections, audit.Rejection{InstancePath: strings.Repeat("/x", 900)})
	}
	wantWritten(t, store, large)
	short := make([]int, audit.MaxClaims)
	for i := range short {
		short[i] = i
	}
	wantShort(t, store, entry(2, manyClaims(audit.MaxClaims)...), short...)

	// No bytes are bytes too.
	wantWritten(t, store, original(entry(3), ""))
	empty := request(entry(4), "4", "")
	if o, err := store.Append(t.Context(), empty); err != nil || !o.Written() {
		t.Fatalf("Append of an empty memo = %+v, %v", o, err)
	}
	if memo, err := store.Recall(t.Context(), empty.Uses.Request, epoch); err != nil || len(memo) != 0 {
		t.Errorf("Recall of an empty memo = %q, %v", memo, err)
	}
	if o, err := store.Append(t.Context(), request(entry(5), "4", "later")); err != nil || !o.Repeated || len(o.Memo) != 0 {
		t.Errorf("repeat of an empty memo = %+v, %v", o, err)
	}
	// A call has an entry of its own only where it made one.
	for _, key := range []audit.Key{"", "x", "'; DROP TABLE memos; --", "\x00\xff", empty.Uses.Request[1:], audit.Key(strings.ToUpper(string(empty.Uses.Request)))} {
		if memo, err := store.Recall(t.Context(), key, epoch); !errors.Is(err, audit.ErrNotFound) {
			t.Errorf("Recall(%q) = %q, %v; want ErrNotFound", key, memo, err)
		}
	}
}

// A caller may use its bytes again once Append has returned, for whatever reason, and
// what a store returns belongs to who asked.
func (s *suite) testEntryOwnership(t *testing.T) {
	store := s.fresh(t)
	for n := range 50 {
		e := original(request(entry(n, claim(fmt.Sprint(n), 1)), fmt.Sprint(n), "memo"), "sealed")
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*20*time.Microsecond)
		_, err := store.Append(ctx, e)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Append: %v", err)
		}
		if string(e.Uses.Memo) != "memo" || string(e.Original.Sealed) != "sealed" || !reflect.DeepEqual(e.Uses.Claims, []audit.Claim{claim(fmt.Sprint(n), 1)}) {
			t.Error("Append wrote to the caller's entry")
		}
		e.Uses.Memo[0], e.Original.Sealed[0], e.Original.KeepUntil = 'X', 'X', epoch
		e.Uses.Claims[0] = claim("spoiled", 1)
	}
	wantWritten(t, store, request(entry(1000, claim("spoiled", 1)), "last", "memo")) // and waits for the others
	for n := range 50 {
		e := original(request(entry(n), fmt.Sprint(n), "memo"), "sealed")
		if _, err := store.Get(t.Context(), audit.AllTenants(), ID(n)); err != nil {
			continue // its context ended too soon
		}
		for range 2 {
			wantOriginal(t, store, e, true)
			wantMemo(t, store, e.Uses.Request, epoch, "memo")
			again := e
			again.Record.DecisionID = ID(2000 + n)
			o, err := store.Append(t.Context(), again)
			if err != nil || string(o.Memo) != "memo" {
				t.Fatalf("repeat = %q, %v", o.Memo, err)
			}
			o.Memo[0] = 'X'
			if memo, err := store.Recall(t.Context(), e.Uses.Request, epoch); err == nil {
				memo[0] = 'X'
			}
			if got, err := store.Original(t.Context(), audit.AllTenants(), ID(n), epoch); err == nil {
				got.Sealed[0] = 'X'
			}
		}
	}
}

// An id that is there is a no-op, whatever the rest of the entry says.
func (s *suite) testEntryIdempotent(t *testing.T) {
	store := s.fresh(t)
	first := original(request(entry(1, claim("a", 2)), "1", "memo"), "sealed")
	wantWritten(t, store, first)
	wantWritten(t, store, first) // although its request is remembered
	for name, e := range map[string]audit.Entry{
		"another memo":       request(entry(1, claim("a", 2)), "1", "other"),
		"another request":    request(entry(1, claim("a", 2)), "2", "other"),
		"another original":   original(entry(1), "other"),
		"no uses":            entry(1),
		"a claim of no room": entry(1, claim("none", 0)),
		"a claim more":       entry(1, claim("a", 2), claim("b", 1)),
	} {
		if o, err := store.Append(t.Context(), e); err != nil || !reflect.DeepEqual(o, audit.Outcome{}) {
			t.Errorf("%s: Append = %+v, %v", name, o, err)
		}
	}
	wantOriginal(t, store, first, true)
	wantMemo(t, store, audit.KeyOf("request", "1"), epoch, "memo")
	wantMemo(t, store, audit.KeyOf("request", "2"), epoch, "")
	// One use of a, none of b: what is left is exactly that.
	wantWritten(t, store, entry(2, claim("a", 2), claim("b", 1)))
	wantShort(t, store, entry(3, claim("a", 2), claim("b", 1)), 0, 1)
	// An id without an original gets none later.
	wantWritten(t, store, entry(4))
	if o, err := store.Append(t.Context(), original(entry(4), "late")); err != nil || !o.Written() {
		t.Errorf("Append again = %+v, %v", o, err)
	}
	wantOriginal(t, store, entry(4), false)
}
