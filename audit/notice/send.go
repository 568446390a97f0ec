package notice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// answer is what an attempt came to; its zero value is a notice that was taken.
type answer struct {
	why        string // "" where it was taken
	final      bool   // no other attempt would change it
	retryAfter time.Duration
}

// deliver tries a notice until it is taken or given up, and reports which.
func (n *Notifier) deliver(g *group) bool {
	body, err := g.body()
	a := answer{final: true}
	if err != nil {
		a.why = err.Error()
	}
	attempt := 0
	for err == nil {
		attempt++
		last := attempt == n.cfg.Attempts || n.closing()
		a = n.post(body)
		if a.why == "" || a.final || last || !n.delay(attempt, a.retryAfter) {
			break
		}
	}
	n.settle(a.why == "")
	if a.why == "" {
		return true
	}
	n.log.Warn("a notice was given up", "tool", g.Tool, "version", g.Version, "owner", g.Owner,
		"reason", g.Reason, "count", g.Count, "decision_id", g.DecisionID, "attempts", attempt, "cause", a.why)
	return false
}

// closing reports whether Close was called.
func (n *Notifier) closing() bool {
	select {
	case <-n.closed:
		return true
	default:
		return false
	}
}

// delay waits between two attempts. Close ends the waiting, so that the last attempt is
// made at once; it is false where there is no time for one.
func (n *Notifier) delay(attempt int, retryAfter time.Duration) bool {
	timer := time.NewTimer(n.cfg.backoff(attempt, retryAfter))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.closed:
	case <-n.ctx.Done():
	}
	return n.ctx.Err() == nil
}

// backoff is how long to wait after an attempt, from 1, at which the receiver asked for
// retryAfter.
func (c Config) backoff(attempt int, retryAfter time.Duration) time.Duration {
	wait := c.Backoff
	for i := 1; i < attempt && wait < c.MaxBackoff; i++ {
		wait *= 2
	}
	wait = time.Duration(float64(min(wait, c.MaxBackoff)) * (1 - rand.Float64()/2))
	return max(wait, min(retryAfter, maxRetryAfter))
}

// maxAnswer is how much of an answer is read, so that its connection can be used again.
const maxAnswer = 4 << 10

// post makes one attempt. Nothing of the answer but its status and Retry-After counts.
func (n *Notifier) post(body []byte) answer {
	n.mu.Lock()
	n.stats.Attempts++
	n.mu.Unlock()
	req, err := http.NewRequestWithContext(n.ctx, http.MethodPost, n.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return answer{why: "the request cannot be made", final: true}
	}
	now := n.clock()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "hallmark")
	req.Header.Set(SignatureHeader, sign(n.cfg.Secret, body, now))
	resp, err := n.client.Do(req)
	if err != nil {
		return answer{why: cause(err)}
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	switch s := resp.StatusCode; {
	case s >= 200 && s <= 299:
		return answer{}
	case s == http.StatusRequestTimeout, s == http.StatusTooEarly, s == http.StatusTooManyRequests, s >= 500:
		return answer{why: fmt.Sprintf("status %d", s), retryAfter: retryAfter(resp.Header.Get("Retry-After"), now)}
	default:
		return answer{why: fmt.Sprintf("status %d", s), final: true}
	}
}

// cause says why there was no answer, without the URL, which may hold a secret.
func cause(err error) string {
	var at *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "no time was left"
	case errors.As(err, &at) && at.Timeout():
		return "no answer in time"
	case errors.As(err, &at):
		// It may quote what the receiver sent.
		why := at.Err.Error()
		return why[:min(len(why), maxCause)]
	}
	return "no answer"
}

// maxCause bounds what the log says about an attempt, in bytes.
const maxCause = 256

// retryAfter reads the header of RFC 9110, 10.2.3: seconds or a date. 0 stands for none.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
