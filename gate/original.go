package gate

import (
	"sync"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/seal"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Signals of what became of an original that a contract wants kept.
const (
	signalOverQuota = "original_over_quota" // the caller's share of the day is used up
	signalNotSealed = "original_not_sealed" // our own fault
)

// Originals says how the bytes of judged replies are kept for operators. The zero value
// keeps none, and records have digests alone.
type Originals struct {
	// Recipients are the operators' public keys; nil keeps nothing.
	Recipients *seal.Recipients
	// Key makes the digests of originals where their contract redacts; without it such
	// records have no digest.
	Key []byte
	// PerDay bounds the sealed bytes of one caller in one day of UTC; 0 is no bound.
	PerDay int64
}

// WithOriginals makes a gate keep originals as load says at that moment. load is called
// once for each call, from several goroutines at once, and does not block.
func WithOriginals(load func() Originals) Option {
	return func(g *Gate) { g.originals = load }
}

// keepUnknown is how long the original of a reply is kept that no contract judged.
const keepUnknown = 7 * 24 * time.Hour

// retention is what a contract says about this reply's original. Of a reply that no
// contract judged, since it asked for another version or judging failed, nothing is kept
// that any contract of the tool would not keep, nor longer, nor with what any redacts; of
// a tool that no contract has it is sealed like any other that was refused.
func retention(set *Set, asked string, o Outcome) (class string, keep time.Duration, redact []seal.Kind) {
	if o.Tool != nil {
		r := o.Tool.Contract.Retention
		if o.Verdict.Accepted {
			return r.Accepted, r.Keep, kinds(nil, r.Redact)
		}
		return r.Rejected, r.Keep, kinds(nil, r.Redact)
	}
	class, keep = "sealed", keepUnknown
	name := set.Name(asked)
	for _, t := range set.Tools() {
		if t.Contract.Tool != name {
			continue
		}
		r := t.Contract.Retention
		if class != "none" && r.Rejected != "sealed" {
			class = r.Rejected
		}
		keep, redact = min(keep, r.Keep), kinds(redact, r.Redact)
	}
	return class, keep, redact
}

func kinds(to []seal.Kind, words []string) []seal.Kind {
	for _, w := range words {
		to = append(to, seal.Kind(w))
	}
	return to
}

// keep notes the digest of an original, and returns it sealed where it is to be kept and
// there is somebody to open it; else nil. Nothing of it is in the record.
func (g *Gate) keep(set *Set, rules Originals, caller Caller, p prepared, o Outcome, facts []fact, record *audit.Record) *audit.Original {
	class, keep, redact := retention(set, p.Request.Tool, o)
	if p.Raw == nil || class == "none" {
		return nil
	}
	switch {
	case len(redact) == 0:
		record.RawDigest = digest(p.Raw)
	case len(rules.Key) > 0:
		// A plain digest would prove a redacted value to whoever guesses it.
		record.RawDigest = seal.HMAC(rules.Key, p.Raw)
	}
	if class != "sealed" || rules.Recipients == nil {
		return nil
	}
	if !g.quota.take(caller, int64(len(p.Raw)), rules.PerDay, record.At) {
		signal(record, signalOverQuota, 1)
		return nil
	}
	h, original, _ := headerOf(caller, p, o, facts, record).Redact(p.Raw, redact)
	sealed, err := rules.Recipients.Seal(h, original)
	if err != nil {
		signal(record, signalNotSealed, 1)
		return nil
	}
	record.OriginalKept = true
	return &audit.Original{Sealed: sealed, KeepUntil: record.At.Add(keep)}
}

// headerOf is what judging the reply again needs.
func headerOf(caller Caller, p prepared, o Outcome, facts []fact, record *audit.Record) seal.Header {
	r, u := p.Request, p.Upstream
	h := seal.Header{
		DecisionID: record.DecisionID, At: record.At, Tool: record.Tool,
		ContractVersion: record.ContractVersion, ContractDigest: record.ContractDigest,
		Caller: seal.Caller{Tenant: caller.Tenant, Name: caller.Name, RawReader: caller.RawReader},
		Request: seal.Request{
			Tool: r.Tool, ContractVersion: uint32(r.ContractVersion), RequestID: r.RequestID,
			ArgumentsJSON: r.ArgumentsJSON, SessionID: r.SessionID, CallID: r.CallID, Attempt: uint32(o.Attempt),
			IssuedAt: r.IssuedAt, FirstAttemptAt: r.FirstAttemptAt,
		},
		Upstream: seal.Upstream{
			Source: cleanSource(u.Source, false), MediaType: u.MediaType, Adapter: u.Adapter,
			Status: sealedStatus(u.Status), Redirects: uint32(u.Redirects), Reserialized: u.Reserialized,
			RetryAfter: u.RetryAfter, RawSource: u.RawSource,
		},
	}
	for _, f := range facts {
		h.Evidence = append(h.Evidence, seal.Evidence{
			Tool: f.Tool, Version: f.Version, DataJSON: string(f.Facts), ObservedAt: f.Observed,
		})
	}
	return h
}

// Replay is what an opened original needs to be judged again.
func Replay(h seal.Header, original []byte) (Call, Judgement) {
	r, u := h.Request, h.Upstream
	call := Call{
		Raw: original,
		Request: Request{
			Tool: r.Tool, RequestID: r.RequestID, ContractVersion: int(r.ContractVersion), ArgumentsJSON: r.ArgumentsJSON,
			SessionID: r.SessionID, CallID: r.CallID, Attempt: int(r.Attempt), IssuedAt: r.IssuedAt, FirstAttemptAt: r.FirstAttemptAt,
		},
		Upstream: Upstream{
			Source: u.Source, MediaType: u.MediaType, Adapter: u.Adapter, Status: openedStatus(u.Status),
			Redirects: int(u.Redirects), Reserialized: u.Reserialized, RetryAfter: u.RetryAfter, RawSource: u.RawSource,
		},
	}
	j := Judgement{Caller: Caller{Tenant: h.Caller.Tenant, Name: h.Caller.Name, RawReader: h.Caller.RawReader, Operator: true}, Now: h.At}
	for _, e := range h.Evidence {
		fact := validators.Evidence{Tool: e.Tool, Version: int(e.Version), ObservedAt: e.ObservedAt}
		if v, err := strictjson.Parse([]byte(e.DataJSON), strictjson.Ceilings()); err == nil {
			fact.Data = v
		}
		j.Evidence = append(j.Evidence, fact)
	}
	return call, j
}

var statusKinds = [...]struct {
	kind StatusKind
	word seal.StatusKind
}{
	{StatusAbsent, seal.StatusAbsent},
	{StatusHTTP, seal.StatusHTTP},
	{StatusExit, seal.StatusExit},
	{StatusTransport, seal.StatusTransport},
	{StatusJSONRPC, seal.StatusJSONRPC},
	{StatusGRPC, seal.StatusGRPC},
	{StatusRaised, seal.StatusRaised},
}

func sealedStatus(s Status) seal.Status {
	out := seal.Status{Code: int32(s.Code), Transport: string(s.Transport)}
	for _, k := range statusKinds {
		if k.kind == s.Kind {
			out.Kind = k.word
		}
	}
	return out
}

// openedStatus reads a status back; a kind that this version does not know is no success.
func openedStatus(s seal.Status) Status {
	for _, k := range statusKinds {
		if k.word == s.Kind {
			return Status{Kind: k.kind, Code: int(s.Code), Transport: contract.TransportError(s.Transport)}
		}
	}
	return Status{Kind: StatusTransport, Transport: contract.TransportOther}
}

// quota counts the sealed bytes of each caller in a day. Safe for concurrent use.
type quota struct {
	mu   sync.Mutex
	day  time.Time
	used map[quotaKey]int64
}

type quotaKey struct{ tenant, caller string }

// take takes n bytes of a caller's day, or nothing where they are not there.
func (q *quota) take(c Caller, n, perDay int64, now time.Time) bool {
	if perDay <= 0 {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if day := now.UTC().Truncate(24 * time.Hour); q.used == nil || day.After(q.day) {
		q.day, q.used = day, map[quotaKey]int64{}
	}
	key := quotaKey{c.Tenant, c.Name}
	if q.used[key]+n > perDay {
		return false
	}
	q.used[key] += n
	return true
}
