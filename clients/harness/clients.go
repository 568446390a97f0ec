package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// script starts a client in its folder.
const script = "run.sh"

// tools are the programs that a client needs; one that is not named needs a shell.
func tools(name string) []string {
	return map[string][]string{
		"go":     {"go"},
		"java":   {"java", "mvn"},
		"node":   {"node", "npm"},
		"python": {"python3"},
		"rust":   {"cargo", "rustc"},
	}[name]
}

// client is a program in a folder of its own.
type client struct{ name, dir string }

// find returns the clients with these names, or all that are there, in order.
func find(dir string, names []string) ([]client, error) {
	scripts, err := filepath.Glob(filepath.Join(dir, "*", script))
	if err != nil {
		return nil, err
	}
	var found []client
	for _, s := range scripts {
		c := client{filepath.Base(filepath.Dir(s)), filepath.Dir(s)}
		if len(names) == 0 || slices.Contains(names, c.name) {
			found = append(found, c)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(found, func(c client) bool { return c.name == name }) {
			return nil, fmt.Errorf("no client is called %q; a client is a folder in %s with %s", name, dir, script)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no client in %s", dir)
	}
	return found, nil
}

// missing names the first tool that is not installed; "": none is missing.
func (c client) missing() string {
	for _, tool := range tools(c.name) {
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	return ""
}

// patience bounds one client, its first build on a slow machine included.
const patience = 20 * time.Minute

// run lets a client work against the service, and looks at what the service recorded of
// it. The end of what the client prints is shown where it failed.
func (c client) run(ctx context.Context, s *service) error {
	if tool := c.missing(); tool != "" {
		return fmt.Errorf("no %s is installed", tool)
	}
	before, err := s.seen(ctx)
	if err != nil {
		return err
	}
	var output tail
	err = c.start(ctx, s, &output)
	if err == nil {
		var after counts
		if after, err = s.seen(ctx); err == nil {
			err = after.since(before).enough(s.vectors)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, output.String())
	}
	return err
}

// start runs the script to its end.
func (c client) start(ctx context.Context, s *service, output io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it took too long"))
	defer cancel()
	cmd := exec.CommandContext(ctx, "./"+script)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), s.environment()...)
	cmd.Stdout, cmd.Stderr = output, output
	endsWhole(cmd)
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// tail keeps the last bytes that were written to it.
type tail struct{ kept []byte }

var _ io.Writer = (*tail)(nil)

const tailBytes = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-tailBytes):]
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.kept)) }
