//go:build unix

package interleave

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used, in user and in system mode.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only a bad address is a reason
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
