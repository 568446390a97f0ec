//go:build unix

package strictjson_test

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used: on a machine with other work the wall clock
// measures that work.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
