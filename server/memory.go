package server

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// memoryMargin is the part of the cgroup's limit that the garbage collector may not
// count on: stacks of the kernel, mapped files, and the embedded store, which keeps its
// pages outside of Go's heap.
const memoryMargin = 0.1

// limitMemory makes the garbage collector work harder near the memory limit of the
// cgroup instead of letting the kernel end the process. A limit that GOMEMLIMIT has set
// stays. The returned function puts back what was before.
func limitMemory(log *slog.Logger) (undo func(context.Context) error) {
	undo = func(context.Context) error { return nil }
	before := debug.SetMemoryLimit(-1)
	limit := cgroupLimit("/")
	if os.Getenv("GOMEMLIMIT") != "" || before != math.MaxInt64 || limit == 0 {
		return undo
	}
	soft := limit - int64(float64(limit)*memoryMargin)
	debug.SetMemoryLimit(soft)
	log.Info("memory limit from the cgroup", "cgroup_bytes", limit, "limit_bytes", soft)
	return func(context.Context) error {
		debug.SetMemoryLimit(before)
		return nil
	}
}

// cgroupLimit returns the smallest memory limit, in bytes, of the cgroup that this
// process is in and those above it; 0 where there is none or none can be read. root is
// the root of the file system.
func cgroupLimit(root string) int64 {
	content, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	least := int64(0)
	for line := range strings.Lines(string(content)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, found := strings.Cut(rest, ":")
		mount, file := "sys/fs/cgroup", "memory.max" // version 2 has one hierarchy without a name
		switch {
		case !found:
			continue
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case controllers != "":
			continue
		}
		// Inside a container the path may be that of the host; then only the root is there.
		for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
			if n := readLimit(filepath.Join(root, mount, dir, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// unlimited is from where on a number means that there is no limit; version 1 writes
// the largest page-aligned one.
const unlimited = 1 << 60

// readLimit returns the number in a file, and 0 for none.
func readLimit(file string) int64 {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(content)), 10, 64)
	if err != nil || n >= unlimited {
		return 0
	}
	return n
}
