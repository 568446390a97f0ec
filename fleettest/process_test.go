package fleettest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
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

var buildDir string // removed at the end

func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir) // it is below the directory for temporary files
	}
	os.Exit(code)
}

// built builds the real thing, once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hallmark-fleet-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "hallmark")
	// Without what debuggers need it is linked in half the time.
	//nolint:gosec // our own sources
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "../cmd/hallmark").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func mustBinary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shipped copies some of the contracts that ship into a directory; none means all.
func shipped(t *testing.T, tools ...string) string {
	t.Helper()
	if len(tools) == 0 {
		return "../contracts"
	}
	dir := filepath.Join(t.TempDir(), "contracts")
	for _, tool := range tools {
		if err := os.CopyFS(filepath.Join(dir, tool), os.DirFS(filepath.Join("../contracts", tool))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// replica is one process of the service.
type replica struct {
	cmd   *exec.Cmd
	addr  string      // host:port of gRPC
	ops   string      // URL
	log   string      // file of standard error
	ready chan string // gets the first line of standard output
	ended chan struct{}
}

// launch starts a replica and does not wait for it; it is killed at the end of the test
// at the latest. env is added to the test's own.
func launch(t *testing.T, env []string, flags ...string) *replica {
	t.Helper()
	//nolint:gosec // our own binary
	cmd := exec.Command(mustBinary(t), append([]string{
		"serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
	}, flags...)...)
	cmd.Env = append(os.Environ(), env...)
	log, err := os.CreateTemp(t.TempDir(), "stderr-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &replica{cmd: cmd, log: log.Name(), ready: make(chan string, 1), ended: make(chan struct{})}
	go func() {
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n')
		r.ready <- line
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait() // a killed process ends with an error
		close(r.ended)
	}()
	t.Cleanup(r.kill)
	return r
}

// await waits until a replica says that it is ready.
func (r *replica) await(t *testing.T) *replica {
	t.Helper()
	line := <-r.ready
	if _, err := fmt.Sscanf(line, "ready grpc=%s ops=%s", &r.addr, &r.ops); err != nil {
		t.Fatalf("not ready: %q\n%s", line, tail(r.log))
	}
	r.ops = "http://" + r.ops
	return r
}

// kill is kill -9; it returns when the process is gone. It may be called again.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill() // it may have ended
	<-r.ended
}

// term asks a replica to stop, as operators do.
func (r *replica) term(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// exits waits for the end that term asked for.
func (r *replica) exits(t *testing.T) {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(time.Minute): // a guard against a hang
		t.Fatalf("it does not stop:\n%s", tail(r.log))
	}
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it stopped with %d:\n%s", code, tail(r.log))
	}
}

// dial connects to one replica as one of the people.
func (r *replica) dial(t *testing.T, a *authority, who string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(r.addr, append(options, grpc.WithTransportCredentials(a.creds(t, who)))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// tail returns the end of a file, for a failure's message.
func tail(path string) string {
	text, _ := os.ReadFile(path) //nolint:gosec // our own file
	return string(text[max(0, len(text)-4096):])
}

// httpClient gives up early: probes that hang are probes that fail.
var httpClient = &http.Client{Timeout: 10 * time.Second}

// get asks the ops port; 0 is no answer.
func (r *replica) get(path string) (int, string) {
	reply, err := httpClient.Get(r.ops + path)
	if err != nil {
		return 0, err.Error()
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return 0, err.Error()
	}
	return reply.StatusCode, string(body)
}

// metric returns the sum of a metric over all its labels.
func (r *replica) metric(t *testing.T, name string) float64 {
	t.Helper()
	code, page := r.get("/metrics")
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

// memory is what the process has in memory, in bytes, as /proc says.
func (r *replica) memory(t *testing.T) int64 {
	t.Helper()
	for line := range strings.Lines(string(readFile(t, fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid)))) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("/proc says nothing of memory")
	return 0
}

// handles is how many files the process has open.
func (r *replica) handles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.cmd.Process.Pid))
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

// within waits for something, so long at most, and returns how long it took.
func within(t *testing.T, limit time.Duration, what string, done func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !done() {
		if time.Since(began) > limit {
			t.Fatalf("not %s after %s", what, limit)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

// guard bounds one call; whoever hangs is found, however slow the machine.
func guard() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}
