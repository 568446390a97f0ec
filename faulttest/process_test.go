package faulttest

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
	"google.golang.org/grpc/credentials/insecure"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// full reports whether the long form is asked for.
func full() bool { return os.Getenv("HALLMARK_FAULTS") == "full" }

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

// binary builds the real thing, once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hallmark-faults-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "hallmark")
	//nolint:gosec // our own sources
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/hallmark").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func mustBinary(t *testing.T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shipped copies some of the contracts that ship into a directory.
func shipped(t *testing.T, tools ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "contracts")
	for _, tool := range tools {
		if err := os.CopyFS(filepath.Join(dir, tool), os.DirFS(filepath.Join("../contracts", tool))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// process is one life of the service.
type process struct {
	cmd   *exec.Cmd
	grpc  string      // host:port
	ops   string      // URL
	log   string      // file of standard error
	ready chan string // gets the first line of standard output, closed
	ended chan struct{}

	conn  *grpc.ClientConn
	gate  hallmarkv1.GateServiceClient
	audit hallmarkv1.AuditServiceClient
	set   hallmarkv1.ContractServiceClient
}

// launch starts the service and does not wait for anything; it is killed at the end of
// the test at the latest.
func launch(t *testing.T, s place, flags ...string) *process {
	t.Helper()
	//nolint:gosec // our own binary
	cmd := exec.Command(mustBinary(t), append([]string{
		"serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--drain-wait", "0s",
		"--admission-wait", "10s", // a slow machine is no fault
	}, s.flags(flags...)...)...)
	cmd.Env = append(os.Environ(), s.env()...)
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
	p := &process{cmd: cmd, log: log.Name(), ready: make(chan string, 1), ended: make(chan struct{})}
	go func() {
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n')
		p.ready <- line
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait() // a killed process ends with an error
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// start starts the service and waits until it says that it is ready.
func start(t *testing.T, s place, flags ...string) *process {
	t.Helper()
	p := launch(t, s, flags...)
	line := <-p.ready
	if _, err := fmt.Sscanf(line, "ready grpc=%s ops=%s", &p.grpc, &p.ops); err != nil {
		t.Fatalf("not ready: %q\n%s", line, tail(p.log))
	}
	p.ops = "http://" + p.ops
	var err error
	p.conn, err = grpc.NewClient(p.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.conn.Close() })
	p.gate, p.audit = hallmarkv1.NewGateServiceClient(p.conn), hallmarkv1.NewAuditServiceClient(p.conn)
	p.set = hallmarkv1.NewContractServiceClient(p.conn)
	return p
}

// kill is kill -9; it returns when the process is gone. It may be called again.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop ends the service as an operator does.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(time.Minute): // a guard against a hang
		t.Fatalf("it does not stop:\n%s", tail(p.log))
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it stopped with %d:\n%s", code, tail(p.log))
	}
}

// tail returns the end of a file, for a failure's message.
func tail(path string) string {
	text, _ := os.ReadFile(path) //nolint:gosec // our own file
	return string(text[max(0, len(text)-4096):])
}

// httpClient gives up early: probes that hang are probes that fail.
var httpClient = &http.Client{Timeout: 10 * time.Second}

// get asks the ops port.
func (p *process) get(t *testing.T, path string) (int, string) {
	t.Helper()
	reply, err := httpClient.Get(p.ops + path)
	if err != nil {
		t.Errorf("GET %s: %v", path, err)
		return 0, ""
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Errorf("GET %s: %v", path, err)
	}
	return reply.StatusCode, string(body)
}

// memory is what the process has in memory, in bytes; 0 where /proc does not say.
func (p *process) memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
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

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // our own file
	if err != nil {
		t.Fatal(err)
	}
	return text
}
