package audit

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// No two lists of names give one key, and a key is what Check takes for one.
func TestKeyOf(t *testing.T) {
	seen := map[Key][]string{}
	for _, names := range [][]string{
		{""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"ab", ""}, {"a", "b", ""}, {"a\x00b"}, {"\xff"}, {"\ufffd"},
	} {
		k := KeyOf(names[0], names[1:]...)
		if other, found := seen[k]; found {
			t.Errorf("%q and %q have one key", names, other)
		}
		seen[k] = names
		if !k.valid() || k != KeyOf(names[0], names[1:]...) {
			t.Errorf("%q: key %q", names, k)
		}
	}
}

func TestEntryCheck(t *testing.T) {
	end := time.Unix(9, 0)
	k := KeyOf("k")
	late, early := time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)
	claims := func(n int) (out []Claim) {
		for i := range n {
			out = append(out, Claim{Key: KeyOf("k", string(rune('0'+i))), Limit: 1, Until: end})
		}
		return out
	}
	for _, c := range []struct {
		name string
		e    Entry
		ok   bool
	}{
		{"nothing but a record", Entry{}, true},
		{"all of it", Entry{
			Uses:     Uses{Request: k, Memo: make([]byte, MaxMemoBytes), Until: end, Claims: claims(MaxClaims)},
			Original: &Original{Sealed: make([]byte, MaxOriginalBytes), KeepUntil: end},
		}, true},
		{"claims without a request", Entry{Uses: Uses{Claims: claims(1)}}, true},
		{"a request and a claim of one key", Entry{Uses: Uses{Request: k, Until: end, Claims: []Claim{{Key: k, Until: end}}}}, true},
		{"no bytes", Entry{Uses: Uses{Request: k, Until: end}, Original: &Original{KeepUntil: end}}, true},
		{"limit 0", Entry{Uses: Uses{Claims: []Claim{{Key: k, Until: end}}}}, true},
		{"memo without a request", Entry{Uses: Uses{Memo: []byte("x")}}, false},
		{"end without a request", Entry{Uses: Uses{Until: end}}, false},
		{"request without an end", Entry{Uses: Uses{Request: k}}, false},
		{"request ends too late", Entry{Uses: Uses{Request: k, Until: late}}, false},
		{"request of another alphabet", Entry{Uses: Uses{Request: Key(strings.Repeat("A", 64)), Until: end}}, false},
		{"request cut short", Entry{Uses: Uses{Request: k[1:], Until: end}}, false},
		{"memo too large", Entry{Uses: Uses{Request: k, Until: end, Memo: make([]byte, MaxMemoBytes+1)}}, false},
		{"too many claims", Entry{Uses: Uses{Claims: claims(MaxClaims + 1)}}, false},
		{"claim without a key", Entry{Uses: Uses{Claims: []Claim{{Limit: 1, Until: end}}}}, false},
		{"claim's key with a line", Entry{Uses: Uses{Claims: []Claim{{Key: k[1:] + "\n", Limit: 1, Until: end}}}}, false},
		{"claim without an end", Entry{Uses: Uses{Claims: []Claim{{Key: k, Limit: 1}}}}, false},
		{"claim ends too early", Entry{Uses: Uses{Claims: []Claim{{Key: k, Limit: 1, Until: early}}}}, false},
		{"the same claim twice", Entry{Uses: Uses{Claims: []Claim{{Key: k, Limit: 2, Until: end}, {Key: k, Limit: 2, Until: end}}}}, false},
		{"original too large", Entry{Original: &Original{Sealed: make([]byte, MaxOriginalBytes+1), KeepUntil: end}}, false},
		{"original without an end", Entry{Original: &Original{Sealed: []byte("x")}}, false},
	} {
		c.e.Record = Record{DecisionID: "0195000a-0001-7000-8000-00000000000a", At: time.Unix(1, 0)}
		if err := c.e.Check(); (err == nil) != c.ok || (err != nil && !errors.Is(err, ErrInvalidRecord)) {
			t.Errorf("%s: Check = %v, want fit %t", c.name, err, c.ok)
		}
	}
	if err := (&Entry{}).Check(); !errors.Is(err, ErrInvalidRecord) {
		t.Errorf("Check without a record = %v", err)
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		o    Outcome
		want bool
	}{{Outcome{}, true}, {Outcome{Repeated: true}, false}, {Outcome{Short: []int{0}}, false}} {
		if got := c.o.Written(); got != c.want {
			t.Errorf("%+v: Written = %t", c.o, got)
		}
	}
}

// What is asked for meets what was written.
func TestJudgedSanitized(t *testing.T) {
	for _, text := range []string{"", "x", "a\x00b", "\xff", strings.Repeat("<", 600)} {
		r := Record{Tenant: text, SessionID: text, Tool: text, ArgumentsDigest: text}
		r.Sanitize()
		j := Judged{Tenant: text, SessionID: text, Tool: text, ArgumentsDigest: text}.Sanitized()
		if want := (Judged{Tenant: r.Tenant, SessionID: r.SessionID, Tool: r.Tool, ArgumentsDigest: r.ArgumentsDigest}); j != want {
			t.Errorf("%.20q: %+v, want %+v", text, j, want)
		}
	}
}
