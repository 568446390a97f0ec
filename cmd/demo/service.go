package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// service is a running child process of the real binary.
type service struct {
	cmd      *exec.Cmd
	addr     string
	data     string
	approver *receipt.Signer // whose approvals the service takes
	done     chan error
}

// What the service is called in its tokens, and whose calls from loopback are.
const (
	issuer = "hallmark"
	tenant = "local"
)

// start runs the service on free loopback ports and waits until it says that it is
// ready.
func start(ctx context.Context, binary, contracts, policies string) (*service, error) {
	data, err := os.MkdirTemp("", "hallmark-demo-")
	if err != nil {
		return nil, err
	}
	s, err := serve(ctx, binary, data,
		"--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--drain-wait", "0s",
		"--contracts", contracts, "--policies", policies, "--data", data, "--issuer", issuer)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(data))
	}
	return s, nil
}

// makeKeys makes the key of somebody who approves, and leaves its public half in a file.
func makeKeys(data string) (approver *receipt.Signer, approvers string, err error) {
	private, public, err := receipt.NewSigner("bea@example.test", time.Now())
	if err != nil {
		return nil, "", err
	}
	if approver, err = receipt.ParseSigner(private); err != nil {
		return nil, "", err
	}
	approvers = filepath.Join(data, "approvers.json")
	return approver, approvers, os.WriteFile(approvers, public, 0o600)
}

func serve(ctx context.Context, binary, data string, flags ...string) (*service, error) {
	approver, approvers, err := makeKeys(data)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, append([]string{"serve", "--approvers", approvers}, flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	stderr := &tail{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &service{cmd: cmd, data: data, approver: approver, done: make(chan error, 1)}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if rest, is := strings.CutPrefix(lines.Text(), "ready grpc="); is {
			s.addr, _, _ = strings.Cut(rest, " ")
			break
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		s.done <- cmd.Wait()
	}()
	if s.addr == "" {
		err := <-s.done
		return nil, errors.Join(fmt.Errorf("the service did not get ready: %s", stderr), err)
	}
	return s, nil
}

// stop ends the service as an operator would, and fails unless it leaves cleanly.
func (s *service) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := <-s.done; err != nil {
		return fmt.Errorf("the service did not stop cleanly: %w", err)
	}
	return os.RemoveAll(s.data)
}

// tail keeps the last bytes that were written to it.
type tail struct{ kept []byte }

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > tailBytes {
		t.kept = t.kept[len(t.kept)-tailBytes:]
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
