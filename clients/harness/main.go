// Command harness runs the clients below clients/ against a service of its own: the real
// binary, over TLS, with the shipped contracts and policies. Each client is a program in
// its own language and judges itself; the harness then asks the audit record whether the
// service saw what a client does, so that a client which does nothing is no success.
//
// Run it as `make clients`, or `make clients CLIENTS="go java"`. It prints one line a
// client and exits 0 if none failed. A client whose tools are not installed is skipped,
// unless it was asked for by name.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	root := flag.String("root", ".", "the project's folder")
	binary := flag.String("binary", "bin/hallmark", "the service's program")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: harness [-root DIR] [-binary FILE] [CLIENT ...]\nRuns all clients, or those that are named.")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	failed, err := play(ctx, *root, *binary, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// play starts the service, runs the clients one after the other, and says how many
// failed. The error is of the harness or the service, not of a client.
func play(ctx context.Context, root, binary string, names []string) (failed int, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return 0, err
	}
	clients, err := find(filepath.Join(root, "clients"), names)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "hallmark-clients-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := start(ctx, root, binary, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	ran := 0
	for _, c := range clients {
		if missing := c.missing(); missing != "" && len(names) == 0 {
			fmt.Printf("%-8s skipped: no %s\n", c.name, missing)
			continue
		}
		ran++
		began := time.Now()
		err := c.run(ctx, s)
		if ctx.Err() != nil {
			return failed, errors.New("interrupted")
		}
		took := time.Since(began).Round(100 * time.Millisecond)
		if err != nil {
			failed++
			fmt.Printf("%-8s FAILED   %s: %v\n", c.name, took, err)
			continue
		}
		fmt.Printf("%-8s ok       %s\n", c.name, took)
	}
	fmt.Printf("clients: %d passed, %d failed, %d skipped\n", ran-failed, failed, len(clients)-ran)
	if ran == 0 {
		return 0, errors.New("no client ran: none has its tools installed")
	}
	return failed, nil
}
