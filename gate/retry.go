package gate

import (
	"math"
	"slices"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
)

// advise decides whether the identical call may be repeated (A19): the code is listed,
// attempts are left, and the delay still ends within the time budget, which begins
// with the first attempt. jitter, in [0,1), shortens the contract's delay by up to a
// half, so that callers who failed together do not come back together; what the other
// side asked for in retryAfter is never shortened.
func advise(c *contract.Contract, code contract.FailureCode, r Request, attempt int, retryAfter time.Duration, now time.Time, jitter float64) Retry {
	rules := c.Retry
	if rules == nil || !slices.Contains(rules.On, code) || attempt >= rules.MaxAttempts {
		return Retry{}
	}
	start := now
	switch {
	case !r.FirstAttemptAt.IsZero():
		start = r.FirstAttemptAt
	case !r.IssuedAt.IsZero():
		start = r.IssuedAt
	case attempt > 1:
		return Retry{}
	}
	if start.After(now) {
		start = now
	}
	end := start.Add(rules.Budget)
	longest := max(rules.Delay, retryAfter)
	if now.Add(longest).After(end) {
		return Retry{}
	}
	shortened := time.Duration(math.Round(float64(rules.Delay) * (1 - jitter/2)))
	return Retry{
		Allowed:      true,
		AttemptsLeft: rules.MaxAttempts - attempt,
		Delay:        max(shortened, retryAfter),
		NotAfter:     end,
	}
}
