package server

import (
	"sync/atomic"
	"time"
)

// movedClock is the system's clock, moved.
type movedClock struct{ by atomic.Int64 }

func (c *movedClock) now() time.Time      { return time.Now().Add(time.Duration(c.by.Load())) }
func (c *movedClock) add(d time.Duration) { c.by.Add(int64(d)) }
