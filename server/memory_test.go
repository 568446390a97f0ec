package server

import (
	"context"
	"math"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// The smallest limit of the own cgroup and those above it counts.
func TestCgroupLimit(t *testing.T) {
	for _, c := range []struct {
		line  string
		files map[string]string
		want  int64
	}{
		{"no cgroup", nil, 0},
		{"version 2 in a container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		{"version 2 without a limit", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"version 2 on the host", map[string]string{
			"proc/self/cgroup": "0::/system.slice/hallmark.service\n", "sys/fs/cgroup/system.slice/hallmark.service/memory.max": "1000\n",
			"sys/fs/cgroup/system.slice/memory.max": "900\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 900},
		{"the path is the host's", map[string]string{"proc/self/cgroup": "0::/kubepods/pod1/x\n", "sys/fs/cgroup/memory.max": "800\n"}, 800},
		{"version 1", map[string]string{
			"proc/self/cgroup":                             "12:pids:/a\n4:cpu,memory:/docker/x\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "700\n",
			"sys/fs/cgroup/pids/a/memory.limit_in_bytes":   "1\n",
			"sys/fs/cgroup/memory/docker/x/memory.unknown": "1\n",
		}, 700},
		{"version 1 without a limit", map[string]string{"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		{"nonsense", map[string]string{"proc/self/cgroup": "x\n0::/../../..\n::\n", "sys/fs/cgroup/memory.max": "-5\n"}, 0},
	} {
		root := t.TempDir()
		for name, content := range c.files {
			write(t, filepath.Join(root, name), content)
		}
		if got := cgroupLimit(root); got != c.want {
			t.Errorf("%s: %d, want %d", c.line, got, c.want)
		}
	}
}

// What was set before is put back; GOMEMLIMIT stays.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	undo := limitMemory(discard())
	if err := undo(context.Background()); err != nil || debug.SetMemoryLimit(-1) != before {
		t.Errorf("%v, %d", err, debug.SetMemoryLimit(-1))
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	undo = limitMemory(discard())
	if debug.SetMemoryLimit(-1) != before || before != math.MaxInt64 {
		t.Errorf("limit %d", debug.SetMemoryLimit(-1))
	}
	if err := undo(context.Background()); err != nil {
		t.Error(err)
	}
}
