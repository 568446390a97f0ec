package gate

import (
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

// What no contract judged is kept no longer, and in no other way, than every contract of
// the tool would keep it. A21
func TestRetentionOfTheUnjudged(t *testing.T) {
	keeping := func(r contract.Retention) *Set {
		return oneTool(t, closedA, func(c *contract.Contract) { c.Retention = r })
	}
	for _, c := range []struct {
		line, tool string
		rule       contract.Retention
		class      string
		keep       time.Duration
		redacted   int
	}{
		{"shorter", "t", contract.Retention{Accepted: "none", Rejected: "sealed", Keep: time.Hour, Redact: []string{"email"}}, "sealed", time.Hour, 1},
		{"longer", "t", contract.Retention{Accepted: "sealed", Rejected: "sealed", Keep: 10 * keepUnknown}, "sealed", keepUnknown, 0},
		{"hashes", "t", contract.Retention{Accepted: "sealed", Rejected: "hash", Keep: time.Hour}, "hash", time.Hour, 0},
		{"nothing", "t", contract.Retention{Accepted: "sealed", Rejected: "none", Keep: time.Hour}, "none", time.Hour, 0},
		{"another tool", "nobody", contract.Retention{Rejected: "none", Keep: time.Hour}, "sealed", keepUnknown, 0},
	} {
		class, keep, redact := retention(keeping(c.rule), c.tool, Outcome{})
		if class != c.class || keep != c.keep || len(redact) != c.redacted {
			t.Errorf("%s: %s for %s, %d redacted; want %s for %s, %d", c.line, class, keep, len(redact), c.class, c.keep, c.redacted)
		}
	}
	set := keeping(contract.Retention{Accepted: "hash", Rejected: "sealed", Keep: time.Hour})
	judged := Outcome{Tool: set.Tools()[0], Verdict: validators.Verdict{Accepted: true}}
	if class, _, _ := retention(set, "t", judged); class != "hash" {
		t.Errorf("an accepted reply is kept as %s", class)
	}
}

// A share of a day is of one caller and of that day; a clock that goes back gives nothing
// back.
func TestQuota(t *testing.T) {
	var q quota
	one, two := Caller{Tenant: "t", Name: "one"}, Caller{Tenant: "t", Name: "two"}
	for i, c := range []struct {
		caller Caller
		n      int64
		at     time.Time
		want   bool
	}{
		{one, 6, noon, true},
		{one, 5, noon, false},
		{one, 4, noon, true},
		{one, 1, noon, false},
		{two, 10, noon, true},
		{Caller{Tenant: "u", Name: "one"}, 10, noon, true},
		{one, 1, noon.Add(-24 * time.Hour), false},
		{one, 10, noon.Add(24 * time.Hour), true},
		{one, 1, noon, false},
		{one, 11, noon.Add(48 * time.Hour), false},
	} {
		if got := q.take(c.caller, c.n, 10, c.at); got != c.want {
			t.Errorf("%d: take = %t", i, got)
		}
	}
	if !q.take(one, 1<<40, 0, noon) {
		t.Error("without a bound there is one")
	}
}
