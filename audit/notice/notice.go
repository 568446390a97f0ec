package notice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// Format names the body and its version.
const Format = "hallmark-notice/1"

// What stands for dropped members in a notice; everything else in Layer and Reason is a
// word of the audit record.
const (
	// ReasonDropped is the reason of a notice about dropped members.
	ReasonDropped = "DROPPED_MEMBERS"
	layerAdapter  = "ADAPTER"
)

// dropSignals are the signals of records that count dropped members: those that the
// vendor's schema does not name, and those of an MCP result that the protocol does not.
var dropSignals = [...]string{"unnamed_members", "dropped_members"}

// Notice is the body of a message, as JSON with these names. Receivers ignore names that
// they do not know.
type Notice struct {
	// Format is [Format].
	Format string `json:"format"`
	// Tool and Version are the contract's.
	Tool    string `json:"tool"`
	Version uint32 `json:"version"`
	// Owner is the connector's owner, as the contract names it.
	Owner string `json:"owner"`
	// Layer is what refused: "SYNTAX", "ADAPTER" or "SCHEMA".
	Layer string `json:"layer"`
	// Reason is why: "DUPLICATE_NAME", "SCHEMA" and so on; [ReasonDropped] where replies
	// had members that nobody knows, which were dropped.
	Reason string `json:"reason"`
	// Count is the number of judgements that this notice is about.
	Count uint64 `json:"count"`
	// FirstAt and LastAt are when the earliest and the latest of them was made.
	FirstAt time.Time `json:"first_at"`
	LastAt  time.Time `json:"last_at"`
	// ContractDigest is the digest of the contract that judged.
	ContractDigest string `json:"contract_digest"`
	// DecisionID is the first judgement, as an example to look at.
	DecisionID string `json:"decision_id"`
}

// Stats count what became of notices since [New].
type Stats struct {
	// Pending is how many notices are gathered, wait or are being sent now.
	Pending int
	// Delivered were taken by the receiver; Failed were not and are given up.
	Delivered, Failed uint64
	// Attempts is how often anything was sent.
	Attempts uint64
	// Dropped counts the judgements that found no room, or came after Close.
	Dropped uint64
}

// Notifier gathers and sends notices. It is safe for concurrent use; one goroutine of its
// own does the sending until [Notifier.Close].
type Notifier struct {
	cfg    Config
	client *http.Client
	log    *slog.Logger
	clock  func() time.Time

	ctx    context.Context // ends when Close gives up
	cancel context.CancelFunc
	wake   chan struct{} // a group was opened; room for one
	closed chan struct{} // Close was called
	done   chan struct{} // the goroutine has ended

	mu     sync.Mutex
	groups map[key]*group
	stats  Stats
	shut   bool
	lost   uint64 // notices that failed after Close was called
}

// key is what is gathered into one notice.
type key struct {
	tool, layer, reason, digest string
	version                     uint32
}

// group is a notice that is being gathered.
type group struct {
	Notice
	due time.Time // by the process's own clock
}

// New returns a notifier that sends to cfg's receiver. log gets what was given up, never
// nil; clock stamps signatures, nil means the system's. The error is a sentence about
// cfg. The secret is copied.
func New(cfg Config, log *slog.Logger, clock func() time.Time) (*Notifier, error) {
	cfg, u, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	cfg.Secret = append([]byte(nil), cfg.Secret...)
	if clock == nil {
		clock = time.Now
	}
	n := &Notifier{
		cfg: cfg, client: newClient(cfg, u.Scheme), log: log, clock: clock,
		wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{}),
		groups: make(map[key]*group),
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	go n.run()
	return n, nil
}

// Observe counts a record that the connector's owner should know of, and ignores others:
// those of other calls than Validate, and those that no contract judged. It never waits
// for anything but other counting, and keeps nothing that rec points to.
func (n *Notifier) Observe(rec audit.Record) {
	if rec.RPC != "validate" || rec.ContractDigest == "" {
		return
	}
	k := key{tool: rec.Tool, version: rec.ContractVersion, digest: rec.ContractDigest}
	switch rec.Rejection.Layer {
	case "SYNTAX", layerAdapter, "SCHEMA":
		k.layer, k.reason = rec.Rejection.Layer, rec.Rejection.Reason
		n.count(k, &rec)
	}
	for _, signal := range dropSignals {
		if rec.Signals[signal] > 0 {
			k.layer, k.reason = layerAdapter, ReasonDropped
			n.count(k, &rec)
			break
		}
	}
}

func (n *Notifier) count(k key, rec *audit.Record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := rec.At.UTC()
	if g := n.groups[k]; g != nil && !n.shut {
		g.Count++
		if at.Before(g.FirstAt) {
			g.FirstAt = at
		}
		if at.After(g.LastAt) {
			g.LastAt = at
		}
		return
	}
	if n.shut || n.stats.Pending >= n.cfg.Pending {
		n.stats.Dropped++
		return
	}
	n.groups[k] = &group{due: time.Now().Add(n.cfg.Window), Notice: Notice{
		Format: Format, Tool: k.tool, Version: k.version, Owner: rec.Owner, Layer: k.layer, Reason: k.reason,
		Count: 1, FirstAt: at, LastAt: at, ContractDigest: k.digest, DecisionID: rec.DecisionID,
	}}
	n.stats.Pending++
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Stats returns the counts of this moment.
func (n *Notifier) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stats
}

// Close stops observing, ends every window and sends what is there, each notice once
// more; the first that is not taken ends that, since the next would fare no better. When
// ctx ends, so does the sending. The error says how many notices were lost; closing again
// waits for the same end and returns the same error.
func (n *Notifier) Close(ctx context.Context) error {
	n.mu.Lock()
	if !n.shut {
		n.shut = true
		close(n.closed)
	}
	n.mu.Unlock()
	select {
	case <-n.done:
	case <-ctx.Done():
		n.cancel()
		<-n.done
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost > 0 {
		return fmt.Errorf("notice: %d notices were not delivered before the end", n.lost)
	}
	return nil
}

// run sends what is due, one after the other, until Close.
func (n *Notifier) run() {
	defer close(n.done)
	defer n.client.CloseIdleConnections()
	defer n.cancel()
	for {
		g, wait, closing := n.next()
		switch {
		case g != nil:
			if !n.deliver(g) && n.closing() {
				n.abandon()
			}
		case closing:
			return
		default:
			n.pause(wait)
		}
	}
}

// next takes the group that is due for the longest time; where none is due, it says how
// long to wait. After Close every group is due.
func (n *Notifier) next() (g *group, wait time.Duration, closing bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var first key
	for k, candidate := range n.groups {
		if g == nil || candidate.due.Before(g.due) {
			g, first = candidate, k
		}
	}
	switch {
	case g == nil:
		return nil, n.cfg.Window, n.shut
	case !n.shut && time.Until(g.due) > 0:
		return nil, time.Until(g.due), false
	}
	delete(n.groups, first)
	return g, 0, n.shut
}

// pause waits for some time, for a new group or for Close.
func (n *Notifier) pause(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.wake:
	case <-n.closed:
	}
}

// settle counts what became of a notice.
func (n *Notifier) settle(delivered bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stats.Pending--
	if delivered {
		n.stats.Delivered++
		return
	}
	n.stats.Failed++
	if n.shut {
		n.lost++
	}
}

// abandon gives up everything that is left, after Close.
func (n *Notifier) abandon() {
	n.mu.Lock()
	defer n.mu.Unlock()
	left := uint64(len(n.groups))
	n.stats.Failed, n.lost, n.stats.Pending = n.stats.Failed+left, n.lost+left, n.stats.Pending-len(n.groups)
	clear(n.groups)
	if left > 0 {
		n.log.Warn("notices were given up at the end", "notices", left)
	}
}

// body writes a notice.
func (g *group) body() ([]byte, error) {
	body, err := json.Marshal(g.Notice)
	if err != nil {
		return nil, errors.New("a time of the record cannot be written")
	}
	return body, nil
}
