package faulttest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// place is a store that the service is started with, and outlives it.
type place struct {
	data string // its data directory
	dsn  string // of PostgreSQL; "" for SQLite
}

// flags start the service with the store, and env goes with them: a command line is no
// place for a DSN.
func (s place) flags(more ...string) []string {
	flags := append([]string{"--data", s.data}, more...)
	if s.dsn != "" {
		flags = append(flags, "--audit-store", "postgres", "--keys", filepath.Join(s.data, "keys"))
	}
	return flags
}

func (s place) env() []string {
	if s.dsn == "" {
		return nil
	}
	return []string{"HALLMARK_AUDIT_DSN=" + s.dsn}
}

// onStores runs a test on both stores.
func onStores(t *testing.T, test func(*testing.T, place)) {
	t.Run("sqlite", func(t *testing.T) { test(t, place{data: filepath.Join(t.TempDir(), "data")}) })
	t.Run("postgres", func(t *testing.T) { test(t, inPostgres(t, outside.Database(t))) })
}

// inPostgres is a store in a schema of its own, with the keys that replicas would share.
func inPostgres(t *testing.T, dsn string) place {
	t.Helper()
	s := place{data: filepath.Join(t.TempDir(), "data"), dsn: outside.Schema(t, dsn)}
	outside.Run(t, nil, "keys", "init", "--data", s.data)
	return s
}

// cluster is a PostgreSQL server of a test's own, which it may harm.
type cluster struct{ dir string }

const postgresScript = "../tools/postgres.sh"

func newCluster(t *testing.T) *cluster {
	t.Helper()
	outside.Database(t) // without one, nobody wants these tests
	if runtime.GOOS != "linux" {
		t.Skip("skipped: the server's processes are found in /proc")
	}
	out, err := exec.Command(postgresScript, "start").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && strings.Contains(string(exit.Stderr), "no PostgreSQL server here") {
			t.Skipf("skipped: %s", exit.Stderr)
		}
		t.Fatalf("%s start: %v", postgresScript, err)
	}
	c := &cluster{dir: strings.TrimSpace(string(out))}
	t.Cleanup(func() {
		c.signal(t, syscall.SIGCONT)
		c.script(t, "stop")
	})
	return c
}

func (c *cluster) script(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.Command(postgresScript, command, c.dir).Output() //nolint:gosec // our own script
	if err != nil {
		t.Errorf("%s %s: %v", postgresScript, command, err)
	}
	return strings.TrimSpace(string(out))
}

// postmaster is the server's first process; false where it is down.
func (c *cluster) postmaster(t *testing.T) (int, bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0, false // it is being written
	}
	return pid, true
}

// signal sends a signal to the server and all its children.
func (c *cluster) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	postmaster, up := c.postmaster(t)
	if !up {
		return
	}
	if err := syscall.Kill(postmaster, sig); err != nil {
		t.Error(err)
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, err := os.ReadFile(stat) //nolint:gosec // from /proc
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(postmaster) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat))); err == nil {
				_ = syscall.Kill(pid, sig) // it may have ended
			}
		}
	}
}
