package fleettest

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// full reports whether the long form is asked for.
func full() bool { return os.Getenv("HALLMARK_FLEET") == "full" }

// either returns what the form that runs takes.
func either[T any](short, long T) T {
	if full() {
		return long
	}
	return short
}

func TestMain(m *testing.M) { os.Exit(outside.Main(m)) }

// replica is one process of the service.
type replica struct{ *outside.Process }

// launch starts a replica and does not wait for it.
func launch(t *testing.T, env []string, flags ...string) *replica {
	t.Helper()
	return &replica{outside.Launch(t, env, flags...)}
}

// await waits until a replica says that it is ready.
func (r *replica) await(t *testing.T) *replica {
	t.Helper()
	r.Await(t)
	return r
}

// dial connects to one replica as one of the people.
func (r *replica) dial(t *testing.T, a *authority, who string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(r.Addr, append(options, grpc.WithTransportCredentials(a.creds(t, who)))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// metric returns the sum of a metric over all its labels.
func (r *replica) metric(t *testing.T, name string) float64 {
	t.Helper()
	code, page := r.Get("/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d: %s", code, page)
	}
	sum := 0.0
	for line := range strings.Lines(page) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), name)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		v, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			t.Fatalf("/metrics: %q: %v", line, err)
		}
		sum += v
	}
	return sum
}

// memory is what the process has in memory, in bytes, which /proc must say.
func (r *replica) memory(t *testing.T) int64 {
	t.Helper()
	bytes := r.Memory()
	if bytes == 0 {
		t.Fatal("/proc says nothing of memory")
	}
	return bytes
}

// handles is how many files the process has open.
func (r *replica) handles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.PID))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// onLinux skips a test that reads /proc elsewhere.
func onLinux(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("skipped: what a process takes is read in /proc")
	}
}
