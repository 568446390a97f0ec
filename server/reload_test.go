package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// watched is a reloader on a directory of its own, without a service around it.
type watched struct {
	*reloader
	dir       string
	log       *lockedBuffer
	published []string
}

func newWatched(t *testing.T, dir string, every time.Duration) *watched {
	t.Helper()
	s := newSetup(t)
	s.cfg.Contracts, s.cfg.ReloadEvery = dir, every
	w := &watched{dir: dir, log: &lockedBuffer{}}
	s.deps.Log = slog.New(slog.NewJSONHandler(w.log, nil))
	first, err := loadContracts(s.deps.Loader, only(dir))
	if err != nil {
		t.Fatal(err)
	}
	w.reloader = newReloader(s.cfg, s.deps, first)
	w.publish = func(set *gate.Set) { w.published = append(w.published, set.Digest()) }
	return w
}

// put replaces the content of the directory in place.
func (w *watched) put(t *testing.T, files map[string]string) {
	t.Helper()
	clearDir(t, w.dir)
	writeTree(t, w.dir, files)
}

func clearDir(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// D12: what decides is the content. A change is published once, a fault leaves the old
// set and is tried once, and the old content ends the refusal.
func TestLook(t *testing.T) {
	all := variants(t)
	broken, failing := maps.Clone(all[0].files), maps.Clone(all[0].files)
	edit(t, broken, "deploy_status/v1/contract.yaml", "egress: none", "egress: nowhere")
	edit(t, failing, "deploy_status/v1/cases/extra-property-maintenance.yaml", "at: /maintenance", "at: /state")
	dir := t.TempDir()
	writeTree(t, dir, all[0].files)
	w := newWatched(t, dir, time.Second)
	for i, step := range []struct {
		files     map[string]string
		published int
		refused   uint64
		fault     string
	}{
		{all[0].files, 0, 0, ""},
		{all[1].files, 1, 0, ""},
		{all[1].files, 1, 0, ""},
		{broken, 1, 1, "deploy_status/v1/contract.yaml:7:9: "},
		{broken, 1, 1, "deploy_status/v1/contract.yaml:7:9: "},
		{failing, 1, 2, "deploy_status/v1/cases/extra-property-maintenance.yaml:6:1: the case fails, not as wanted: at (run hallmark check"},
		{map[string]string{"README.md": "empty"}, 1, 3, ".: the directory holds no contract"},
		{all[1].files, 1, 3, ""},
		{broken, 1, 4, "deploy_status/v1/contract.yaml:7:9: "},
		{all[2].files, 2, 4, ""},
		{broken, 2, 5, "deploy_status/v1/contract.yaml:7:9: "},
		{map[string]string{"large.md": strings.Repeat("x", 1<<20+1)}, 2, 6, "large.md: the file is larger than"},
		{all[0].files, 3, 6, ""},
	} {
		w.put(t, step.files)
		w.look(context.Background(), 0)
		r := *w.status.Load()
		if len(w.published) != step.published || int(r.Done) != step.published || r.Refused != step.refused {
			t.Errorf("step %d: published %v, %+v", i, w.published, r)
		}
		if !strings.HasPrefix(r.Fault, step.fault) || (step.fault == "") != r.RefusedSince.IsZero() || (step.fault == "") != (r.Fault == "") {
			t.Errorf("step %d: fault %q since %v, want %q", i, r.Fault, r.RefusedSince, step.fault)
		}
		if n := len(w.published); n > 0 && r.Serving != w.published[n-1] {
			t.Errorf("step %d: serving %s", i, r.Serving)
		}
	}
	want := []string{all[1].digest, all[2].digest, all[0].digest}
	if !slices.Equal(w.published, want) {
		t.Errorf("published %v, want %v", w.published, want)
	}
	if n := len(w.log.lines(t, "contracts are again what is served")); n != 1 {
		t.Errorf("%d lines say that a refusal ended without a reload", n)
	}
	for _, line := range w.log.lines(t, "contracts reload refused") {
		if line["serving_digest"] == "" || line["serving_digest"] == line["refused_digest"] {
			t.Errorf("refused: %v", line)
		}
	}
	// The failing case's payload and both of its values stay out of the log.
	if log := w.log.String(); strings.Contains(log, "a83f19c") || strings.Contains(log, "/maintenance") {
		t.Errorf("the log quotes a case: %s", log)
	}
}

// A directory that is gone is a refusal, told once; when it is back it serves.
func TestLookWithoutDirectory(t *testing.T) {
	all := variants(t)
	dir := filepath.Join(t.TempDir(), "contracts")
	writeTree(t, dir, all[0].files)
	w := newWatched(t, dir, time.Second)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.look(context.Background(), 0)
	}
	if r := w.status.Load(); r.Refused != 1 || r.Serving != all[0].digest || !strings.Contains(r.Fault, "no such file") {
		t.Errorf("%+v", r)
	}
	writeTree(t, dir, all[1].files)
	w.look(context.Background(), 0)
	if r := w.status.Load(); r.Done != 1 || r.Serving != all[1].digest || r.Fault != "" {
		t.Errorf("%+v", r)
	}
}

// A directory whose name is a link is exchanged by renaming the link.
func TestLookBehindLink(t *testing.T) {
	all := variants(t)
	home := t.TempDir()
	for i, v := range all {
		writeTree(t, filepath.Join(home, "releases", string(rune('a'+i))), v.files)
	}
	dir := filepath.Join(home, "contracts")
	link := func(release string) {
		t.Helper()
		if err := os.Symlink(filepath.Join("releases", release), dir+"_tmp"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir+"_tmp", dir); err != nil {
			t.Fatal(err)
		}
	}
	link("a")
	w := newWatched(t, dir, time.Second)
	for _, release := range []string{"b", "c", "a"} {
		link(release)
		w.look(context.Background(), 0)
	}
	if want := []string{all[1].digest, all[2].digest, all[0].digest}; !slices.Equal(w.published, want) {
		t.Errorf("published %v", w.published)
	}
}

// What is loaded must have been read twice: a directory that is different each time is
// not used, and one that was exchanged while it was read counts as different.
func TestSettled(t *testing.T) {
	ctx := context.Background()
	all := variants(t)
	m := newMount(t, all[0].files)
	first := readOnce(only(m.dir))
	m.swap(t, all[1].files)
	s, err := settled(ctx, only(m.dir), first, 0)
	if err != nil || s.Digest() != all[1].digest {
		t.Errorf("%s, %v", s.Digest(), err)
	}
	// The same content at another place is another directory.
	first = readOnce(only(m.dir))
	m.swap(t, all[1].files)
	if readOnce(only(m.dir)).agrees(first) {
		t.Error("an exchanged directory agrees with the one before")
	}
	// Faults of reading settle too.
	gone := filepath.Join(m.dir, "nothing")
	if _, err := settled(ctx, only(gone), readOnce(only(gone)), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := settled(ended, only(m.dir), readOnce(only(m.dir)), time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A reading that an exchange fell into may hold files of both, and does not count, even
// where the directory comes back before the next one.
func TestReadingDuringExchange(t *testing.T) {
	all := variants(t)
	m := newMount(t, all[0].files)
	during := func(f func()) reading {
		return readBy(func(dir, _ string) (contract.Snapshot, error) {
			s, err := contract.SnapshotOf(dir, "")
			f()
			return s, err
		}, only(m.dir))
	}
	if r := during(func() {}); r.err != nil || !r.agrees(readOnce(only(m.dir))) {
		t.Errorf("nothing happened: %v", r.err)
	}
	for _, v := range []variant{all[1], all[1]} {
		if r := during(func() { m.swap(t, v.files) }); !errors.Is(r.err, errUnsettled) || r.agrees(r) {
			t.Errorf("exchanged: %v", r.err)
		}
	}
	if r := during(func() { clearDir(t, m.dir); _ = os.Remove(m.dir) }); !errors.Is(r.err, fs.ErrNotExist) {
		t.Errorf("gone: %v", r.err)
	}
}

// only is a deployment without policies.
func only(dir string) sources { return sources{contracts: dir} }

// A directory that is written to between any two readings is not used, and the readings
// are counted.
func TestUnsettled(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for i := 0; ctx.Err() == nil; i++ {
				write(t, filepath.Join(dir, "note.md"), strings.Repeat("x", i))
				_ = sleep(ctx, 700*time.Millisecond)
			}
		}()
		synctest.Wait()
		began := time.Now()
		_, err := settled(ctx, only(dir), readOnce(only(dir)), time.Second)
		if took := time.Since(began); !errors.Is(err, errUnsettled) || took != maxReadings*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		cancel()
	})
}

// Readings agree that found the same at the same place, or the same fault.
func TestReadingsAgree(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "a")
	good := readOnce(only(dir))
	broken := reading{err: errors.New("disk")}
	for _, c := range []struct {
		name string
		a, b reading
		want bool
	}{
		{"the same", good, readOnce(only(dir)), true},
		{"a fault after", good, broken, false},
		{"a fault before", broken, good, false},
		{"the same fault", broken, reading{err: errors.New("disk")}, true},
		{"another fault", broken, reading{err: errors.New("other disk")}, false},
		{"exchanged twice", reading{err: errUnsettled}, reading{err: errUnsettled}, false},
	} {
		if got := c.a.agrees(c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	write(t, filepath.Join(dir, "a.md"), "b")
	if readOnce(only(dir)).agrees(good) {
		t.Error("other content agrees")
	}
}

// The loop looks in intervals, sooner after a hint, and ends with its context. Time is
// the test's.
func TestReloaderRuns(t *testing.T) {
	all := variants(t)
	dir := t.TempDir()
	writeTree(t, dir, all[0].files)
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t, dir, time.Minute)
		ctx, cancel := context.WithCancel(context.Background())
		hints := make(chan struct{}, 1)
		ended := make(chan struct{})
		go func() { w.run(ctx, hints); close(ended) }()
		serving := func() string { return w.status.Load().Serving }

		w.put(t, all[1].files)
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if serving() != all[0].digest {
			t.Error("looked too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if serving() != all[1].digest {
			t.Error("not looked after the interval")
		}
		time.Sleep(time.Second)
		w.put(t, all[2].files)
		hints <- struct{}{}
		time.Sleep(settlePause + time.Millisecond)
		synctest.Wait()
		if serving() != all[2].digest {
			t.Error("not looked after a hint")
		}
		cancel()
		<-ended
	})
}

// A set that cannot be loaded without a panic is a set that is refused.
func TestLoadPanics(t *testing.T) {
	w := newWatched(t, copyTree(t, shipped), time.Second)
	w.loader = gate.NewLoader(nil)
	s, err := contract.TakeSnapshot(os.DirFS(w.dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	if set, err := w.load(context.Background(), s); set != nil || err == nil || !strings.Contains(err.Error(), "panicked with a runtime.") {
		t.Errorf("%v, %v", set, err)
	}
}

// Hints come for what happens in the directory and to its name, not for neighbours, and
// nothing of the hinter is left when it is closed.
func TestHinter(t *testing.T) {
	home := t.TempDir()
	m := &mount{dir: filepath.Join(home, "contracts")}
	writeTree(t, m.dir, map[string]string{"a/b.md": "x"})
	before := runtime.NumGoroutine()
	h, err := newHinter(m.dir)
	if err != nil {
		t.Skipf("no events on this file system: %v", err)
	}
	hinted := func(within time.Duration) bool {
		select {
		case <-h.hints:
			return true
		case <-time.After(within):
			return false
		}
	}
	write(t, filepath.Join(home, "neighbour.md"), "x")
	if hinted(50 * time.Millisecond) {
		t.Error("a neighbour is no concern")
	}
	m.swap(t, map[string]string{"a/b.md": "y"})
	if !hinted(5 * time.Second) {
		t.Error("no hint for an exchange of ..data")
	}
	if err := os.Rename(m.dir, m.dir+".old"); err != nil {
		t.Fatal(err)
	}
	if !hinted(5 * time.Second) {
		t.Error("no hint for the directory's own name")
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
	eventually(t, "the hinter's goroutines end", func() bool { return runtime.NumGoroutine() <= before })
	if _, err := newHinter(filepath.Join(home, "nowhere")); err == nil {
		t.Error("a directory that is not there gives hints")
	}
}

// Without an interval nothing is ever looked at, and the stop leaves nothing running.
func TestReloadOff(t *testing.T) {
	all := variants(t)
	dir := t.TempDir()
	writeTree(t, dir, all[0].files)
	s := start(t, func(s *setup) { s.cfg.Contracts, s.cfg.ReloadEvery = dir, 0 })
	clearDir(t, dir)
	time.Sleep(50 * time.Millisecond)
	reply, err := s.gate.Validate(ctxFor(t), deployCall())
	if err != nil || reply.GetContractsDigest() != all[0].digest || reply.GetResult().GetData() == nil {
		t.Errorf("%v, %v", reply, err)
	}
	if r := s.app.Reloads(); r.Refused != 0 || r.Serving != all[0].digest || r.LastDone.IsZero() {
		t.Errorf("%+v", r)
	}
}
