package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// A file that is not ours is refused with a cure and stays as it was, byte for byte.
func TestOpenRefuses(t *testing.T) {
	ours := func(t *testing.T, path string, statements ...string) {
		s := mustOpen(t, path, Options{})
		for n := range 50 {
			if err := appendRecord(t.Context(), s, audittest.Full(n)); err != nil {
				t.Fatal(err)
			}
		}
		closeStore(t, s)
		execRaw(t, path, statements...)
	}
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, path string)
		want  string // in the sentence
		isErr error
	}{
		{
			"text file", func(t *testing.T, p string) { writeFile(t, p, bytes.Repeat([]byte("not a database\n"), 500)) },
			"not an SQLite database", nil,
		},
		{"short text file", func(t *testing.T, p string) { writeFile(t, p, []byte("x")) }, "not an SQLite database", nil},
		{"other program", func(t *testing.T, p string) {
			writeFile(t, p, nil)
			execRaw(t, p, `CREATE TABLE t (x)`)
		}, "another program", nil},
		{"other program, with an id", func(t *testing.T, p string) {
			writeFile(t, p, nil)
			execRaw(t, p, `CREATE TABLE events (x)`, `PRAGMA application_id = 77`, `PRAGMA user_version = 1`)
		}, "another program", nil},
		{"newer version", func(t *testing.T, p string) {
			ours(t, p, fmt.Sprintf(`PRAGMA user_version = %d`, len(migrations)+1))
		}, "newer version", nil},
		{"our id without a version", func(t *testing.T, p string) { ours(t, p, `PRAGMA user_version = 0`) }, "version 0", nil},
		{"table is missing", func(t *testing.T, p string) { ours(t, p, `DROP TABLE events`) }, "restore a backup", nil},
		{"damaged page", func(t *testing.T, p string) {
			ours(t, p)
			b := readFile(t, p)
			for i := 4096; i < len(b); i += 4096 { // each page's header but the first's
				copy(b[i:], bytes.Repeat([]byte{0xa5}, 64))
			}
			writeFile(t, p, b)
		}, "damaged", audit.ErrDamaged},
		{"one damaged page", func(t *testing.T, p string) {
			ours(t, p)
			b := readFile(t, p)
			copy(b[len(b)/4096/2*4096:], bytes.Repeat([]byte{0xa5}, 64))
			writeFile(t, p, b)
		}, "damaged", audit.ErrDamaged},
		{"cut short", func(t *testing.T, p string) {
			ours(t, p)
			b := readFile(t, p)
			writeFile(t, p, b[:len(b)/2])
		}, "damaged", audit.ErrDamaged},
		{"directory", func(t *testing.T, p string) {
			if err := os.Mkdir(p, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := newPath(t)
			c.make(t, path)
			before := digest(path)
			s, err := Open(t.Context(), path, Options{})
			if err == nil {
				closeStore(t, s)
				t.Fatal("Open = nil error")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Open = %v\nwant one line with the path and %q", err, c.want)
			}
			if c.isErr != nil && !errors.Is(err, c.isErr) {
				t.Errorf("Open = %v, want %v", err, c.isErr)
			}
			if c.name != "table is missing" && digest(path) != before {
				t.Error("Open changed a file that it refused")
			}
			t.Log(err)
		})
	}
}

// A directory that cannot be used stops the opening with its name.
func TestOpenDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, []byte("x"))
	if _, err := Open(t.Context(), filepath.Join(file, "data", "audit.db"), Options{}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("Open below a file = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, newPath(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a context that is over = %v", err)
	}
}

// Modes of what is made, names that are hard for URIs, settings of the connections.
func TestOpenMakes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a dir?mode=memory&x=%41#f", "data")
	path := filepath.Join(dir, "audit ü?.db")
	s := mustOpen(t, path, Options{})
	defer closeStore(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(1)); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{
		filepath.Dir(dir): 0o700, dir: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want mode %o", name, info, err, mode)
		}
	}
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "application_id": fmt.Sprint(applicationID), "user_version": fmt.Sprint(len(migrations)),
	} {
		var got string
		if err := s.write.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", pragma, got, err, want)
		}
	}
	if _, err := s.read.Exec(`DELETE FROM events`); err == nil {
		t.Error("a connection for reading can write")
	}
}

// D4: a connection that was made anew after a failure flushes like the first.
func TestSynchronousAfterFailure(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	defer closeStore(t, s)
	s.discard()
	var got string
	if err := s.write.QueryRow("PRAGMA synchronous").Scan(&got); err != nil || got != "2" {
		t.Errorf("synchronous = %q, %v; want 2", got, err)
	}
}

// Two services that start on the same new file at the same time both open it.
func TestOpenTogether(t *testing.T) {
	path := newPath(t)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			defer closeStore(t, s)
			if err := appendRecord(t.Context(), s, audittest.Record(n)); err != nil {
				t.Errorf("Append: %v", err)
			}
		})
	}
	wg.Wait()
	s := mustOpen(t, path, Options{})
	defer closeStore(t, s)
	records, _, err := s.List(t.Context(), audit.AllTenants(), audit.Filter{}, 0, "")
	if err != nil || len(records) != 4 {
		t.Errorf("List = %d records, %v; want 4", len(records), err)
	}
}

// A list that finds nothing for long is ended, and says what helps; a reader who has lost
// patience before that hears of its own end.
func TestLongList(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	defer closeStore(t, s)
	none := audit.Filter{RequestID: "none"}
	s.patience = time.Nanosecond
	_, _, err := s.List(t.Context(), audit.AllTenants(), none, 0, "")
	if !errors.Is(err, audit.ErrUnavailable) || !strings.Contains(err.Error(), "narrow the filter") {
		t.Errorf("List = %v, want ErrUnavailable", err)
	}
	s.patience = readTimeout
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, _, err := s.List(ctx, audit.AllTenants(), none, 0, ""); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("List of a reader without patience = %v", err)
	}
	if _, _, err := s.List(t.Context(), audit.AllTenants(), none, 0, ""); err != nil {
		t.Errorf("List = %v", err)
	}
}

// A stored record of a newer version is read, without what this one does not know.
func TestUnknownNames(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	defer closeStore(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(1, func(r *audit.Record) { r.Owner = "team" })); err != nil {
		t.Fatal(err)
	}
	execRaw(t, path, `UPDATE events SET rest = json_set(rest, '$.later', json('{"a":[1]}'))`)
	got, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(1))
	if err != nil || got.Owner != "team" {
		t.Errorf("Get = %+v, %v", got, err)
	}
}

// A damaged row is named, hides no other, and is not told to who may not see it.
func TestDamagedRows(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	defer closeStore(t, s)
	for n := range 10 {
		if err := appendRecord(t.Context(), s, audittest.Record(n)); err != nil {
			t.Fatal(err)
		}
	}
	for n, rest := range map[int]string{
		1: `'{"caller":'`, 2: `'[1]'`, 3: `'{"raw_bytes":"x"}'`, 4: `'null'`, 5: `''`, 6: `'"' || hex(zeroblob(300000)) || '"'`,
	} {
		execRaw(t, path, fmt.Sprintf(`UPDATE events SET rest = %s WHERE decision_id = '%s'`, rest, audittest.ID(n)))
		if _, err := s.Get(t.Context(), audit.OnlyTenants("acme"), audittest.ID(n)); !errors.Is(err, audit.ErrDamaged) || !strings.Contains(err.Error(), audittest.ID(n)) {
			t.Errorf("Get(%d) = %v, want ErrDamaged with the id", n, err)
		}
		if _, err := s.Get(t.Context(), audit.OnlyTenants("other"), audittest.ID(n)); !errors.Is(err, audit.ErrNotFound) {
			t.Errorf("Get(%d) out of scope = %v", n, err)
		}
	}
	// Columns of hostile text are made fit to be sent.
	execRaw(t, path, `UPDATE events SET tool = CAST(x'ff00' AS TEXT) WHERE decision_id = '`+audittest.ID(7)+`'`)
	if got, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(7)); err != nil || got.Tool != "\ufffd\ufffd" {
		t.Errorf("Get(7) = %q, %v", got.Tool, err)
	}
	for size := 1; size <= 11; size++ {
		var met, named []string
		token := ""
		for range 20 {
			records, next, err := s.List(t.Context(), audit.AllTenants(), audit.Filter{}, size, token)
			if err != nil && !errors.Is(err, audit.ErrDamaged) {
				t.Fatalf("List: %v", err)
			}
			for _, r := range records {
				met = append(met, r.DecisionID)
			}
			for n := range 10 {
				if err != nil && strings.Contains(err.Error(), audittest.ID(n)) {
					named = append(named, audittest.ID(n))
				}
			}
			if token = next; next == "" {
				break
			}
		}
		if len(met) != 4 || len(named) != 6 {
			t.Errorf("pages of %d: %d records met, %d damaged ones named; want 4 and 6", size, len(met), len(named))
		}
	}
}

// execRaw changes a file as another program would.
func execRaw(t *testing.T, path string, statements ...string) {
	t.Helper()
	c, err := sqlite.NewConnector("file:" + path + "?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// digest is of a file's bytes, or of none where they cannot be read.
func digest(path string) [32]byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return [32]byte{}
	}
	return sha256.Sum256(b)
}
