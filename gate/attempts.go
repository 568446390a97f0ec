package gate

import "sync"

// attempts remembers how many attempts of each request this replica has answered, so
// that a caller which does not count cannot retry without end. It is bounded: when a
// generation is full the one before it is forgotten. Safe for concurrent use.
type attempts struct {
	mu       sync.Mutex
	now, old map[attemptKey]int
}

type attemptKey struct{ tenant, session, request string }

// generation is the number of requests after which the older ones are forgotten.
const generation = 1 << 16

func newAttempts() *attempts {
	return &attempts{now: map[attemptKey]int{}, old: map[attemptKey]int{}}
}

// answered returns the highest attempt of the request that was answered, or 0.
func (a *attempts) answered(k attemptKey) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.now[k], a.old[k])
}

// note records that an attempt was answered.
func (a *attempts) note(k attemptKey, attempt int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.now) >= generation {
		a.old, a.now = a.now, make(map[attemptKey]int, generation)
	}
	a.now[k] = max(a.now[k], a.old[k], attempt)
}
