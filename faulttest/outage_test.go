package faulttest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// Bounds of an outage.
const (
	// noticed is how long the service may take to say that it cannot record: a frozen
	// database is found by a write that takes too long.
	noticed = 20 * time.Second
	// recovery is how long it may take to full service once the cause is gone.
	recovery = 5 * time.Second
	// growth is how much memory it may take beside what it had under load before.
	growth = 64 << 20
)

// D4: a full disk fails closed, and nothing is lost; when there is room again the service
// is whole by itself.
func TestDiskFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=128m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("skipped: a tmpfs cannot be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	p := start(t, place{data: filepath.Join(dir, "data")}, "--contracts", outside.Shipped(t, loadTools...))
	outage(t, p, func() { fill(t, ballast) }, func() {
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
	})
	p.stop(t)
}

// fill writes a file until the disk takes nothing any more.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path) //nolint:gosec // our own file
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, chunk := range []int{1 << 20, 4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, chunk))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// D4: a database that crashes, and one that freezes.
func TestDatabaseLost(t *testing.T) {
	c := newCluster(t)
	for name, test := range map[string]struct{ harm, heal func() }{
		"crashed": {func() {
			c.signal(t, syscall.SIGQUIT) // as pg_ctl stop -m immediate
			outside.Within(t, noticed, "down", func() bool { _, up := c.postmaster(t); return !up })
		}, func() { c.script(t, "up") }},
		"frozen": {func() { c.signal(t, syscall.SIGSTOP) }, func() { c.signal(t, syscall.SIGCONT) }},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "frozen" && !full() {
				t.Skip("skipped: in the full form only (make faults)")
			}
			p := start(t, inPostgres(t, c.script(t, "dsn")), "--contracts", outside.Shipped(t, loadTools...))
			outage(t, p, test.harm, test.heal)
			p.stop(t)
		})
	}
}

// steady is a load that goes on until it is told to stop.
type steady struct {
	*load
	stop context.CancelFunc
	wg   sync.WaitGroup
}

func newSteady(name string, p *process) *steady {
	ctx, stop := context.WithCancel(context.Background())
	s := &steady{load: newLoad(name, p), stop: stop}
	for w := range 2 * callers {
		s.wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				one, cancel := outside.Guard()
				_ = s.call(one, w, i) // it is counted by its code
				cancel()
				time.Sleep(5 * time.Millisecond) // leaves some of the processor to the rest
			}
		})
	}
	return s
}

func (s *steady) end() {
	s.stop()
	s.wg.Wait()
}

// answered waits until so many more calls were answered.
func (s *steady) answered(t *testing.T, more int, limit time.Duration) {
	t.Helper()
	before, _ := s.counts()
	outside.Within(t, limit, "answering calls", func() bool { n, _ := s.counts(); return n >= before+more })
}

// outage harms the store under load, sees the service fail closed and stay alive in its
// bounds, heals the store and sees the service whole again, with everything on record.
func outage(t *testing.T, p *process, harm, heal func()) {
	t.Helper()
	since := time.Now().Add(-time.Second)
	s := newSteady("o", p)
	defer s.end()
	s.answered(t, either(500, 5000), time.Minute)
	memory := p.Memory()

	harm()
	_, before := s.counts()
	took := outside.Within(t, noticed, "unready", func() bool { code, _ := p.get(t, "/readyz"); return code == http.StatusServiceUnavailable })
	good, most, looks := s.during(t, p, either(2*time.Second, 10*time.Second))
	_, after := s.counts()
	refused := after[codes.Unavailable] - before[codes.Unavailable]
	t.Logf("unready after %s; then %d of %d calls were answered; %d MiB before, %d at most",
		took.Round(time.Millisecond), good, good+refused, memory>>20, most>>20)
	if refused < 100 || good > refused/10 {
		t.Errorf("%d calls were refused and %d answered", refused, good)
	}
	if looks == 0 || most > memory+growth {
		t.Errorf("from %d bytes of memory to %d in %d looks", memory, most, looks)
	}

	heal()
	took = outside.Within(t, recovery, "ready again", func() bool { code, _ := p.get(t, "/readyz"); return code == http.StatusOK })
	_, before = s.counts()
	s.answered(t, 200, recovery)
	_, after = s.counts()
	t.Logf("ready %s after the cause was gone", took.Round(time.Millisecond))
	if after[codes.Unavailable] > before[codes.Unavailable]+4*callers { // those that were on their way
		t.Errorf("ready, and refusing: %v, then %v", before, after)
	}
	s.end()
	for code, n := range after {
		if code != codes.Unavailable {
			t.Errorf("%d calls ended with %v", n, code)
		}
	}
	s.again(t)
	recorded(t, p, since).check(t, s.load)
}

// during looks at a service that cannot record: it is alive, answers hardly a call, and is
// ready only while it does answer: a disk that is full takes a little now and then. What it
// answers is held to the record like all else.
func (s *steady) during(t *testing.T, p *process, d time.Duration) (good int, memory int64, looks int) {
	t.Helper()
	before, _ := s.counts()
	idle, seen := 0, before // looks that found it ready, and no call answered since the look before
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		looks++
		memory = max(memory, p.Memory())
		if code, _ := p.get(t, "/livez"); code != http.StatusOK {
			t.Errorf("/livez %d", code)
		}
		code, _ := p.get(t, "/readyz")
		now, _ := s.counts()
		if code != http.StatusServiceUnavailable && now == seen {
			idle++
		}
		seen = now
	}
	if idle > 0 {
		t.Errorf("in %d of %d looks ready, and nothing was answered", idle, looks)
	}
	return seen - before, memory, looks
}
