package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// issuer is what the service is called in its tokens.
const issuer = "hallmark.example.test"

// service is a running child process of the real binary.
type service struct {
	cmd     *exec.Cmd
	root    string
	dir     string // certificates and data
	port    string
	vectors int // that leave a record
	ended   chan error
	stderr  *tail
	record  *record
}

// start makes certificates and keys in dir, runs the service on free loopback ports and
// waits until it says that it is ready.
func start(ctx context.Context, root, binary, dir string) (*service, error) {
	if !filepath.IsAbs(binary) {
		binary = filepath.Join(root, binary)
	}
	vectors, err := judged(filepath.Join(root, "clients", "vectors"))
	if err != nil {
		return nil, err
	}
	s := &service{root: root, dir: dir, vectors: vectors, ended: make(chan error, 1), stderr: &tail{}}
	if err := certify(dir, "client", "operator"); err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.in("identities.yaml"), []byte(identities), 0o600); err != nil {
		return nil, err
	}
	keys := exec.CommandContext(ctx, binary, "keys", "signer", "bea@example.test", "--out", s.in("bea.jwk"), "--public-out", s.in("approvers.json"))
	if out, err := keys.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("a key for an approver: %w: %s", err, out)
	}
	s.cmd = exec.CommandContext(ctx, binary, "serve",
		"--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--drain-wait", "0s",
		"--contracts", filepath.Join(root, "contracts"), "--policies", filepath.Join(root, "policies"),
		"--data", s.in("data"), "--issuer", issuer, "--approvers", s.in("approvers.json"),
		"--tls-cert", s.in("server.pem"), "--tls-key", s.in("server.key"), "--tls-client-ca", s.in("ca.pem"),
		"--identities", s.in("identities.yaml"))
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 15 * time.Second
	s.cmd.Stderr = s.stderr
	if err := s.begin(); err != nil {
		return nil, err
	}
	if s.record, err = openRecord(s); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	// The new keys sign from the second on in which they were made, and tokens count whole
	// seconds.
	time.Sleep(time.Second)
	return s, nil
}

// begin starts the process and reads its ready line.
func (s *service) begin() error {
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(stdout)
	for s.port == "" && lines.Scan() {
		if rest, is := strings.CutPrefix(lines.Text(), "ready grpc="); is {
			addr, _, _ := strings.Cut(rest, " ")
			_, s.port, err = net.SplitHostPort(addr)
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		s.ended <- s.cmd.Wait()
	}()
	if s.port == "" {
		return errors.Join(fmt.Errorf("the service did not get ready: %s", s.stderr), err, <-s.ended)
	}
	return nil
}

func (s *service) in(name string) string { return filepath.Join(s.dir, name) }

// addr is by name, as certificates and round_robin want it.
func (s *service) addr() string { return net.JoinHostPort("localhost", s.port) }

// environment is all that a client is told.
func (s *service) environment() []string {
	return []string{
		"HALLMARK_ADDR=" + s.addr(),
		"HALLMARK_CA=" + s.in("ca.pem"),
		"HALLMARK_CERT=" + s.in("client.pem"),
		"HALLMARK_KEY=" + s.in("client.key"),
		"HALLMARK_VECTORS=" + filepath.Join(s.root, "clients", "vectors"),
		"HALLMARK_ISSUER=" + issuer,
		"HALLMARK_TENANT=" + tenant,
	}
}

// seen counts what the service has recorded.
func (s *service) seen(ctx context.Context) (counts, error) { return s.record.count(ctx) }

// stop ends the service as an operator would, and fails unless it leaves cleanly.
func (s *service) stop() error {
	var errs []error
	if s.record != nil {
		errs = append(errs, s.record.close())
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		errs = append(errs, err)
	}
	if err := <-s.ended; err != nil {
		errs = append(errs, fmt.Errorf("the service did not stop cleanly: %w: %s", err, s.stderr))
	}
	return errors.Join(errs...)
}
