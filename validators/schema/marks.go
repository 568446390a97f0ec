package schema

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// marks are the children of one object or array that have been evaluated (JSON Schema
// Core section 11), by position. nil marks mean that nobody asks.
type marks struct {
	bits []uint64
	// partial says that a location which failed did not come to mark everything; what
	// is left unmarked then proves nothing.
	partial bool
}

// marks makes empty marks for v and pays for them.
func (r *run) marks(v strictjson.Value) *marks {
	words := (v.Len() + 63) / 64
	r.spend(int64(1 + words/8))
	return &marks{bits: make([]uint64, words)}
}

func (m *marks) set(i int) {
	if m != nil {
		m.bits[i/64] |= 1 << (i % 64)
	}
}

func (m *marks) has(i int) bool { return m.bits[i/64]&(1<<(i%64)) != 0 }

func (m *marks) setAll() {
	if m != nil {
		for i := range m.bits {
			m.bits[i] = ^uint64(0)
		}
	}
}

// setPartial notes that marks may be missing.
func (m *marks) setPartial() {
	if m != nil {
		m.partial = true
	}
}

func (m *marks) merge(o *marks) {
	for i, w := range o.bits {
		m.bits[i] |= w
	}
	m.partial = m.partial || o.partial
}
