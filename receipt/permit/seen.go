package permit

import (
	"container/heap"
	"sync"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// Seen remembers the ids of permits until they can no longer be used, in memory: for an
// executor that is one process. After a restart it knows nothing of the minute before;
// an executor that must not repeat an act then keeps its record on disk or calls Redeem.
// It is safe for concurrent use.
type Seen struct {
	mu     sync.Mutex
	max    int
	ids    map[string]struct{}
	expiry expiries
}

// NewSeen makes a record of at most max ids; one of none refuses everything. At ten
// permits a second some 700 are unexpired at a time.
func NewSeen(max int) *Seen {
	return &Seen{max: max, ids: make(map[string]struct{})}
}

// First records a verified permit and reports whether it may be executed: true exactly
// once for an id. It is false, and nothing is recorded, for a permit that has expired
// by now or while the record is full: a full record refuses instead of forgetting.
func (s *Seen) First(c Claims, now time.Time) bool {
	end := c.Expires.Add(receipt.Skew)
	if c.ID == "" || !now.Before(end) {
		return false
	}
	// One record may serve several services, whose ids are their own.
	id := c.Issuer + "\x00" + c.Tenant + "\x00" + c.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.expiry) > 0 && !now.Before(s.expiry[0].end) {
		delete(s.ids, heap.Pop(&s.expiry).(expiry).id)
	}
	if _, known := s.ids[id]; known || len(s.ids) >= s.max {
		return false
	}
	s.ids[id] = struct{}{}
	heap.Push(&s.expiry, expiry{end, id})
	return true
}

// expiry is when an id may be forgotten.
type expiry struct {
	end time.Time
	id  string
}

// expiries is a heap, the earliest first.
type expiries []expiry

func (e expiries) Len() int           { return len(e) }
func (e expiries) Less(i, j int) bool { return e[i].end.Before(e[j].end) }
func (e expiries) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push and Pop are for package heap.
func (e *expiries) Push(x any) { *e = append(*e, x.(expiry)) }

// Pop removes the last element.
func (e *expiries) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
