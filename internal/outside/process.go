package outside

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is one life of the service.
type Process struct {
	PID  int
	Addr string // host:port of gRPC, once Await has returned
	Ops  string // URL of the ops port, likewise
	Log  string // file of standard error

	cmd   *exec.Cmd
	ready chan string // gets the first line of standard output
	ended chan struct{}
}

// Launch starts `hallmark serve` on free ports of loopback and waits for nothing; it is
// killed at the end of the test at the latest. env is added to the test's own.
func Launch(t *testing.T, env []string, flags ...string) *Process {
	t.Helper()
	//nolint:gosec // our own binary
	cmd := exec.Command(Binary(t), append([]string{"serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"}, flags...)...)
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
	p := &Process{PID: cmd.Process.Pid, Log: log.Name(), cmd: cmd, ready: make(chan string, 1), ended: make(chan struct{})}
	go func() {
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n')
		p.ready <- line
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait() // a killed process ends with an error
		close(p.ended)
	}()
	t.Cleanup(p.Kill)
	return p
}

// Await waits until the service says that it is ready.
func (p *Process) Await(t *testing.T) {
	t.Helper()
	line := <-p.ready
	if _, err := fmt.Sscanf(line, "ready grpc=%s ops=%s", &p.Addr, &p.Ops); err != nil {
		t.Fatalf("not ready: %q\n%s", line, Tail(p.Log))
	}
	p.Ops = "http://" + p.Ops
}

// Kill is kill -9; it returns when the process is gone. It may be called again, and from
// any goroutine.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// Term asks the service to stop, as operators do.
func (p *Process) Term(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// Exits waits for the end that Term asked for; it must be a good one.
func (p *Process) Exits(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute): // a guard against a hang
		t.Fatalf("it does not stop:\n%s", Tail(p.Log))
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it stopped with %d:\n%s", code, Tail(p.Log))
	}
}

// Tail returns the end of a file, for a failure's message.
func Tail(path string) string {
	text, _ := os.ReadFile(path) //nolint:gosec // our own file
	return string(text[max(0, len(text)-4096):])
}

// httpClient gives up early: probes that hang are probes that fail.
var httpClient = &http.Client{Timeout: 10 * time.Second}

// Get asks the ops port; the code 0 is no answer, and the text then says why. It may be
// called from any goroutine.
func (p *Process) Get(path string) (code int, text string) {
	reply, err := httpClient.Get(p.Ops + path)
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

// Memory is what the process has in memory, in bytes; 0 where /proc does not say. It may
// be called from any goroutine.
func (p *Process) Memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
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

// Within waits for something, so long at most, and returns how long it took.
func Within(t *testing.T, limit time.Duration, what string, done func() bool) time.Duration {
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

// Guard bounds one call; whoever hangs is found, however slow the machine.
func Guard() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}
