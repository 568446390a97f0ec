package postgres

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// cluster is a server of a test's own, which it may harm.
type cluster struct{ dir, dsn string }

const script = "../../tools/postgres.sh"

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server(t) // without one, nobody wants these tests
	if runtime.GOOS != "linux" {
		t.Skip("skipped: the server's processes are found in /proc")
	}
	out, err := exec.Command(script, "start").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && strings.Contains(string(exit.Stderr), "no PostgreSQL server here") {
			t.Skipf("skipped: %s", exit.Stderr)
		}
		t.Fatalf("%s start: %v", script, err)
	}
	c := &cluster{dir: strings.TrimSpace(string(out))}
	t.Cleanup(func() {
		c.signal(t, syscall.SIGCONT)
		c.script(t, "stop")
	})
	c.dsn = c.script(t, "dsn")
	return c
}

func (c *cluster) script(t *testing.T, command string) string {
	t.Helper()
	//nolint:gosec // our own script
	out, err := exec.Command(script, command, c.dir).Output()
	if err != nil {
		t.Errorf("%s %s: %v", script, command, err)
	}
	return strings.TrimSpace(string(out))
}

// signal sends a signal to the server and all its children.
func (c *cluster) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
	if err != nil {
		return // it is down
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
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
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == first {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat))); err == nil {
				_ = syscall.Kill(pid, sig) // it may have ended
			}
		}
	}
}

// load is callers that append without pause until they are told to stop.
type load struct {
	store *Store
	stop  chan struct{}
	wg    sync.WaitGroup

	mu        sync.Mutex
	confirmed []string
	uses      int // of confirmed
	refused   int
}

var loadClaim = audit.Claim{
	Key: audit.KeyOf("claim", "load"), Limit: 1 << 30, Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
}

func newLoad(t *testing.T, s *Store) *load {
	t.Helper()
	const callers = 16
	l := &load{store: s, stop: make(chan struct{})}
	for w := range callers {
		l.wg.Go(func() {
			for n := w; ; n += callers {
				select {
				case <-l.stop:
					return
				default:
				}
				e := audit.Entry{Record: audittest.Full(n)}
				if w%2 == 0 {
					e.Uses.Claims = []audit.Claim{loadClaim}
				}
				l.note(t, &e, l.append(e))
			}
		})
	}
	return l
}

func (l *load) append(e audit.Entry) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a guard against a hang
	defer cancel()
	_, err := l.store.Append(ctx, e)
	return err
}

func (l *load) note(t *testing.T, e *audit.Entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.confirmed = append(l.confirmed, e.Record.DecisionID)
		l.uses += len(e.Uses.Claims)
		return
	case !errors.Is(err, audit.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		t.Errorf("Append = %v, want ErrUnavailable", err)
	}
	l.refused++
	time.Sleep(time.Millisecond)
}

func (l *load) counts() (confirmed, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.confirmed), l.refused
}

// check ends the load and sees that everything that was confirmed is there, and that each
// use was counted with its record.
func (l *load) check(t *testing.T, dsn string) {
	t.Helper()
	close(l.stop)
	l.wg.Wait()
	c := connect(t, dsn)
	defer c.Close(t.Context())
	var there, used, withUse int
	if err := c.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM events WHERE decision_id = ANY ($1::uuid[])),
		(SELECT used FROM claims WHERE key = $2),
		(SELECT count(*) FROM events WHERE ('x' || right(decision_id::text, 8))::bit(32)::bigint % 2 = 0)`,
		l.confirmed, raw(loadClaim.Key)).Scan(&there, &used, &withUse); err != nil {
		t.Fatal(err)
	}
	if there != len(l.confirmed) {
		t.Errorf("%d of %d confirmed records are there", there, len(l.confirmed))
	}
	if used != withUse || used < l.uses {
		t.Errorf("%d uses are counted, %d records use, %d are confirmed", used, withUse, l.uses)
	}
	t.Logf("%d confirmed, %d refused, %d uses", len(l.confirmed), l.refused, used)
}

// within waits for something, so long at most, and returns how long it took.
func within(t *testing.T, limit time.Duration, what string, done func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !done() {
		if time.Since(start) > limit {
			t.Fatalf("not %s after %s", what, limit)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(start)
}

// Case 150, D4: a lost database fails closed; the store recovers by itself within five
// seconds, and nothing that was confirmed is lost.
func TestOutage(t *testing.T) {
	c := newCluster(t)
	for name, test := range map[string]struct{ harm, heal func() }{
		"frozen":    {func() { c.signal(t, syscall.SIGSTOP) }, func() { c.signal(t, syscall.SIGCONT) }},
		"shut down": {func() { c.script(t, "down") }, func() { c.script(t, "up") }},
		"crashed": {func() {
			c.signal(t, syscall.SIGQUIT)
			within(t, 20*time.Second, "down", func() bool {
				_, err := os.Stat(filepath.Join(c.dir, "data", "postmaster.pid"))
				return err != nil
			})
		}, func() { c.script(t, "up") }},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := database(t, c.dsn)
			s := mustOpen(t, dsn, Options{})
			l := newLoad(t, s)
			within(t, 20*time.Second, "under load", func() bool { n, _ := l.counts(); return n > 500 })
			before := runtime.NumGoroutine()
			test.harm()
			down := time.Now()
			within(t, 20*time.Second, "unready", func() bool { return s.Ready(t.Context()) != nil })
			t.Logf("unready after %s: %v", time.Since(down), s.Ready(t.Context()))
			within(t, 20*time.Second, "refusing", func() bool { _, n := l.counts(); return n > 100 })
			if _, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(1)); name != "frozen" && !errors.Is(err, audit.ErrUnavailable) {
				t.Errorf("Get = %v, want ErrUnavailable", err)
			}
			time.Sleep(2 * time.Second) // some probes
			if after := runtime.NumGoroutine(); after > before+20 {
				t.Errorf("goroutines grew from %d to %d", before, after)
			}
			test.heal()
			took := within(t, 5*time.Second, "ready again", func() bool { return s.Ready(t.Context()) == nil })
			t.Logf("ready %s after it is back", took)
			n, _ := l.counts()
			within(t, 5*time.Second, "writing again", func() bool { now, _ := l.counts(); return now > n+100 })
			within(t, 5*time.Second, "reading again", func() bool {
				_, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(1))
				return err == nil || errors.Is(err, audit.ErrNotFound)
			})
			l.check(t, dsn)
			closeStore(t, s)
		})
	}
}

// Connections that are cut under load, in the middle of whatever, cost nobody a record,
// and nothing is counted twice.
func TestConnectionsCut(t *testing.T) {
	where := server(t)
	dsn := database(t, with(where, "application_name", "test-cut"))
	s := mustOpen(t, dsn, Options{})
	l := newLoad(t, s)
	for range 40 {
		time.Sleep(25 * time.Millisecond)
		execute(t, where, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test-cut' AND pid <> pg_backend_pid()`)
	}
	within(t, 20*time.Second, "under load", func() bool { n, _ := l.counts(); return n > 100 })
	l.check(t, dsn)
	closeStore(t, s)
}
