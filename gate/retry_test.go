package gate

import (
	"strconv"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func retrying() *contract.Contract {
	return &contract.Contract{Retry: &contract.Retry{
		MaxAttempts: 3, Budget: 30 * time.Second, Delay: 500 * time.Millisecond,
		On: []contract.FailureCode{contract.UpstreamUnavailable},
	}}
}

func TestAdvise(t *testing.T) { // A19
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	for _, row := range []struct {
		line       string
		code       contract.FailureCode
		request    Request
		attempt    int
		retryAfter time.Duration
		allowed    bool
	}{
		{"the first attempt needs no times", contract.UpstreamUnavailable, Request{}, 1, 0, true},
		{"a code that is not listed", contract.InvalidResponse, Request{}, 1, 0, false},
		{"the last attempt", contract.UpstreamUnavailable, Request{IssuedAt: noon}, 3, 0, false},
		{"one before the last", contract.UpstreamUnavailable, Request{IssuedAt: noon}, 2, 0, true},
		{"a later attempt without times counts as out of budget", contract.UpstreamUnavailable, Request{}, 2, 0, false},
		{"the delay just ends within the budget", contract.UpstreamUnavailable, Request{IssuedAt: ago(29500 * time.Millisecond)}, 2, 0, true},
		{"a nanosecond too late", contract.UpstreamUnavailable, Request{IssuedAt: ago(29500*time.Millisecond + 1)}, 2, 0, false},
		{"the budget begins with the first attempt", contract.UpstreamUnavailable, Request{IssuedAt: noon, FirstAttemptAt: ago(time.Minute)}, 2, 0, false},
		{"a start in the future does not lengthen the budget", contract.UpstreamUnavailable, Request{IssuedAt: noon.Add(time.Hour)}, 2, 30 * time.Second, true},
		{"nor by what the other side asked for", contract.UpstreamUnavailable, Request{IssuedAt: noon.Add(time.Hour)}, 2, 31 * time.Second, false},
		{"retry-after beyond the budget", contract.UpstreamUnavailable, Request{IssuedAt: noon}, 1, time.Minute, false},
	} {
		t.Run(row.line, func(t *testing.T) {
			for _, jitter := range []float64{0, 0.5, 0.999} {
				got := advise(retrying(), row.code, row.request, row.attempt, row.retryAfter, noon, jitter)
				if got.Allowed != row.allowed {
					t.Fatalf("jitter %v: allowed %v", jitter, got.Allowed)
				}
				if !row.allowed && got != (Retry{}) {
					t.Fatalf("a forbidden retry says more than no: %+v", got)
				}
				if row.allowed && (got.Delay < row.retryAfter || got.Delay < 250*time.Millisecond || got.AttemptsLeft != 3-row.attempt) {
					t.Fatalf("jitter %v: %+v", jitter, got)
				}
			}
		})
	}
}

func TestAdviseWithoutRulesForbids(t *testing.T) {
	if got := advise(&contract.Contract{}, contract.UpstreamUnavailable, Request{}, 1, 0, noon, 0); got.Allowed {
		t.Error("retried without rules")
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	a := newAttempts()
	first := attemptKey{"t", "s", "first"}
	a.note(first, 2)
	a.note(first, 1)
	if got := a.answered(first); got != 2 {
		t.Fatalf("answered %d, want the highest", got)
	}
	for i := range generation {
		a.note(attemptKey{"t", "s", string(rune(i)) + "x"}, 1)
	}
	if got := a.answered(first); got != 2 {
		t.Fatal("forgotten within one generation")
	}
	for i := range 2 * generation {
		a.note(attemptKey{"t", "other", string(rune(i)) + "x"}, 1)
	}
	if len(a.now)+len(a.old) > 2*generation {
		t.Fatal("memory grows without end")
	}
}

// A request that is answered again keeps its count, also where it was counted a generation
// before.
func TestAttemptsOutliveAGeneration(t *testing.T) {
	a := newAttempts()
	k := attemptKey{"t", "s", "r"}
	a.note(k, 7)
	for i := range generation {
		a.note(attemptKey{request: strconv.Itoa(i)}, 1)
	}
	a.note(k, 1)
	for i := range generation {
		a.note(attemptKey{request: strconv.Itoa(-i - 1)}, 1)
	}
	if got := a.answered(k); got != 7 {
		t.Errorf("answered = %d, want 7", got)
	}
}
