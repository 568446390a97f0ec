package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server of ours that is ready.
type process struct {
	cmd  *exec.Cmd
	addr string
	ops  string // of HTTP; "" where there is none
}

// startProcess starts a server and waits until it says where it is.
func startProcess(ctx context.Context, binary string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	log, err := os.CreateTemp("", "hallmark-bench-log-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(log.Name()) // the process keeps it
	defer log.Close()
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if rest, is := strings.CutPrefix(lines.Text(), "ready grpc="); is {
			addr, ops, _ := strings.Cut(rest, " ops=")
			return &process{cmd, addr, ops}, nil
		}
	}
	said, _ := os.ReadFile(log.Name())
	return nil, errors.Join(fmt.Errorf("%s did not get ready: %s", binary, said), cmd.Wait())
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// cpu is the processor time that the threads of p have used, in nanoseconds. Go keeps the
// threads that it has.
func (p *process) cpu() (int64, error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		return 0, errors.Join(errors.New("processor time of another process is read from /proc, as Linux has it"), err)
	}
	total := int64(0)
	for _, name := range tasks {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(b), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// sample is one round of one server.
type sample struct {
	cpu      float64 // of the server for one call, in microseconds
	rate     float64 // calls per second
	p50, p99 float64 // microseconds
}

// record writes what the service answers to the workload's call.
func (s settings) record(ctx context.Context, service *process, w workload, file string) error {
	cmd := exec.CommandContext(ctx, s.load, "-addr", service.addr, "-workload", w.name, "-calls", "1", "-record", file)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// drive runs the load generator once and takes the server's processor time around what
// is measured.
func (s settings) drive(ctx context.Context, at, service *process, w workload, callers, calls int) (sample, error) {
	cmd := exec.CommandContext(ctx, s.load, "-addr", at.addr, "-prepare", service.addr, "-workload", w.name,
		"-callers", strconv.Itoa(callers), "-calls", strconv.Itoa(calls))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return sample{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	got, err := watch(at, bufio.NewReader(out), in)
	return got, errors.Join(err, cmd.Wait())
}

// watch waits for the beginning, lets it go on, and waits for the report.
func watch(at *process, out *bufio.Reader, in io.WriteCloser) (sample, error) {
	defer in.Close()
	if _, err := out.ReadString('\n'); err != nil {
		return sample{}, fmt.Errorf("the load generator did not begin: %w", err)
	}
	before, err := at.cpu()
	if err != nil {
		return sample{}, err
	}
	if _, err := io.WriteString(in, "\n"); err != nil {
		return sample{}, err
	}
	text, err := out.ReadBytes('\n')
	if err != nil {
		return sample{}, fmt.Errorf("the load generator did not report: %w", err)
	}
	after, err := at.cpu()
	if err != nil {
		return sample{}, err
	}
	var r struct {
		Calls   int     `json:"calls"`
		Seconds float64 `json:"seconds"`
		P50     float64 `json:"p50_us"`
		P99     float64 `json:"p99_us"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return sample{}, err
	}
	return sample{cpu: float64(after-before) / float64(r.Calls) / 1e3, rate: float64(r.Calls) / r.Seconds, p50: r.P50, p99: r.P99}, nil
}
