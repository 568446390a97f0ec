package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// childPath and childFirst tell a child process of TestKill and its like what to do.
const (
	childPath  = "HALLMARK_TEST_AUDIT_PATH"
	childFirst = "HALLMARK_TEST_AUDIT_FIRST"
)

// Case 149, D4: kill -9 loses no record that was confirmed.
func TestKill(t *testing.T) {
	if os.Getenv(childPath) != "" {
		runChild(t)
		return
	}
	const rounds = 6
	path := newPath(t)
	confirmed := map[string]bool{}
	for round := range rounds {
		// Short and long lives, so that kills hit the opening as well.
		life := time.Duration(rand.IntN(300)) * time.Millisecond
		for _, id := range lifeOf(t, "TestKill", path, round*1_000_000, life) {
			confirmed[id] = true
		}
		s := mustOpen(t, path, Options{})
		var lost []string
		for id := range confirmed {
			if _, err := s.Get(t.Context(), audit.AllTenants(), id); err != nil {
				lost = append(lost, id)
			}
		}
		if len(lost) > 0 {
			t.Fatalf("round %d, killed after %s: %d of %d confirmed records are lost: %.3q", round, life, len(lost), len(confirmed), lost)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(confirmed) == 0 {
		t.Error("no record was confirmed in any round: nothing was proved")
	}
	t.Logf("%d records confirmed in %d lives", len(confirmed), rounds)
}

// lifeOf runs a test as a child until it is killed and returns the ids that it printed.
func lifeOf(t *testing.T, test, path string, first int, life time.Duration) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	//nolint:gosec // our own binary
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.timeout=20s")
	child.Env = append(os.Environ(), childPath+"="+path, childFirst+"="+strconv.Itoa(first))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	var ids []string
	var kill *time.Timer
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // what has no end of line was not printed to its end
			break
		}
		if kill == nil {
			kill = time.AfterFunc(life, func() { _ = child.Process.Kill() })
			defer kill.Stop()
		}
		if id, ok := strings.CutPrefix(line, "id "); ok {
			ids = append(ids, strings.TrimSpace(id))
		}
	}
	if err := child.Wait(); err == nil || ctx.Err() != nil {
		t.Fatalf("the child ended by itself or hung: %v, %v", err, ctx.Err())
	}
	return ids
}

// runChild appends from 8 callers until it is killed, and prints each confirmed id.
func runChild(t *testing.T) {
	fmt.Println("opening")
	s := mustOpen(t, os.Getenv(childPath), Options{})
	first, err := strconv.Atoi(os.Getenv(childFirst))
	if err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64
	next.Store(int64(first))
	for range 7 {
		go appendForever(s, &next)
	}
	appendForever(s, &next)
}

func appendForever(s *Store, next *atomic.Int64) {
	for {
		rec := audittest.Full(int(next.Add(1)))
		if err := appendRecord(context.Background(), s, rec); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(3)
		}
		// One write: lines of several callers do not mix.
		if _, err := io.WriteString(os.Stdout, "id "+rec.DecisionID+"\n"); err != nil {
			os.Exit(4)
		}
	}
}

// Case 149: what a crash leaves at the end of the log is dropped, and nothing else.
func TestTornLog(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	const records = 20
	for n := range records {
		if err := appendRecord(t.Context(), s, audittest.Record(n)); err != nil {
			t.Fatal(err)
		}
	}
	db, wal := readFile(t, path), readFile(t, path+"-wal")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	const frame = 24 + 4096
	for name, c := range map[string]struct {
		wal  []byte
		lost int // records at most; those of the last commit
	}{
		"as it was":            {wal, 0},
		"zeros at the end":     {append(wal[:len(wal):len(wal)], make([]byte, 3*frame)...), 0},
		"old frame at the end": {append(wal[:len(wal):len(wal)], wal[32:32+frame]...), 0},
		"half a frame":         {append(wal[:len(wal):len(wal)], wal[32:32+frame/2]...), 0},
		"last byte is missing": {wal[:len(wal)-1], 1},
		"last frame flipped":   {flip(wal, len(wal)-100), 1},
	} {
		t.Run(name, func(t *testing.T) {
			copied := newPath(t)
			writeFile(t, copied, db)
			writeFile(t, copied+"-wal", c.wal)
			s := mustOpen(t, copied, Options{})
			defer func() {
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			for n := range records - c.lost {
				if _, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(n)); err != nil {
					t.Errorf("record %d: %v", n, err)
				}
			}
			if err := appendRecord(t.Context(), s, audittest.Record(1000)); err != nil {
				t.Error(err)
			}
		})
	}
}

func flip(b []byte, at int) []byte {
	b = append([]byte(nil), b...)
	b[at] ^= 0x40
	return b
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A record is confirmed only while the names lead to the files that hold it.
func TestFilesRemoved(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"file removed": func(p string) error { return os.Remove(p) },
		"file replaced": func(p string) error {
			return errors.Join(os.Rename(p, p+".old"), os.WriteFile(p, []byte("x"), 0o600))
		},
		"log removed":       func(p string) error { return os.Remove(p + "-wal") },
		"directory removed": func(p string) error { return os.RemoveAll(filepath.Dir(p)) },
		"directory moved":   func(p string) error { return os.Rename(filepath.Dir(p), filepath.Dir(p)+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "audit.db")
			s := mustOpen(t, path, Options{RetryEvery: 5 * time.Millisecond})
			if err := appendRecord(t.Context(), s, audittest.Record(1)); err != nil {
				t.Fatal(err)
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			for n := 2; n < 6; n++ {
				if err := appendRecord(t.Context(), s, audittest.Record(n)); !errors.Is(err, audit.ErrUnavailable) {
					t.Errorf("Append = %v, want ErrUnavailable", err)
				}
				if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
					t.Errorf("Ready = %v, want ErrUnavailable", err)
				}
				time.Sleep(10 * time.Millisecond) // a probe or two
			}
			if name == "directory moved" { // and back: the same files
				if err := os.Rename(filepath.Dir(path)+".old", filepath.Dir(path)); err != nil {
					t.Fatal(err)
				}
				eventuallyReady(t, s)
				if err := appendRecord(t.Context(), s, audittest.Record(9)); err != nil {
					t.Errorf("Append = %v after the files came back", err)
				}
			}
			_ = s.Close(t.Context()) // it may say that the files are gone
		})
	}
}

// eventuallyReady waits until the writer has recovered by itself.
func eventuallyReady(t *testing.T, s *Store) {
	t.Helper()
	var err error
	for range 1000 {
		if err = s.Ready(t.Context()); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("not ready after 5 s: %v", err)
}
