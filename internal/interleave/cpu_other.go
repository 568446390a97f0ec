//go:build !unix

package interleave

import "time"

var start = time.Now()

// cpuTime is the wall clock where nobody says what this process has used.
func cpuTime() time.Duration { return time.Since(start) }
