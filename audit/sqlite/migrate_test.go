package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// restOfVersion1 is the JSON of a record as version 1 wrote it: the digest of the
// arguments was in it, and nothing said what was delivered.
const restOfVersion1 = `{"caller":"spiffe://example.test/agent","arguments_digest":"%s","source":"a\u2028\u003cb",` +
	`"raw_bytes":18446744073709551615,"rejection":{"layer":"SYNTAX","instance_path":"/a"},"later":{"a":[1]}}`

// writeVersion1 makes a file of version 1 with these rows, in this order of writing.
func writeVersion1(t *testing.T, path string, rests ...string) {
	t.Helper()
	writeFile(t, path, nil)
	statements := []string{
		`PRAGMA journal_mode = WAL`, migrations[0],
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID), `PRAGMA user_version = 1`,
	}
	for i, rest := range rests {
		n := len(rests) - i // neither ids nor times are in the order of writing
		statements = append(statements, fmt.Sprintf(`INSERT INTO events
			(decision_id, at, rpc, tenant, tool, request_id, session_id, failure_code, reason, decision, rest)
			VALUES ('%s', %d, 'validate', 'acme', 'review_status', NULL, 'session-1', NULL, 'DUPLICATE_NAME', NULL, '%s')`,
			audittest.ID(n), audittest.Record(n).At.UnixNano(), rest))
	}
	execRaw(t, path, statements...)
}

// D4: records of version 1 are as right in version 2, in the order in which they were
// written, and can be found by the digest of their arguments.
func TestMigrateVersion1(t *testing.T) {
	path := newPath(t)
	good := fmt.Sprintf(restOfVersion1, "d1")
	writeVersion1(t, path, good, `{"caller":"c"}`, good, `{"caller":`, `[1]`, `{"arguments_digest":7,"caller":"c"}`,
		`{"arguments_digest":"","caller":"c"}`, `{"arguments_digest":"\u003cd\u003e","caller":"c"}`)
	for round := range 2 { // the second opening finds the newest version
		var told [][2]int
		s := mustOpen(t, path, Options{Migrated: func(from, to int) { told = append(told, [2]int{from, to}) }})
		if want := [][2]int{{1, len(migrations)}}[:1-round]; !slices.Equal(told, want) {
			t.Errorf("round %d: told of %v, want %v", round, told, want)
		}
		for n, want := range map[int]string{8: "d1", 7: "", 6: "d1", 3: "", 2: "", 1: "<d>"} {
			got, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(n))
			if err != nil || got.ArgumentsDigest != want || got.Delivered != "" || got.Caller == "" || got.Rejection.Reason != "DUPLICATE_NAME" {
				t.Errorf("round %d, Get(%d) = %+v, %v; want the digest %q", round, n, got, err, want)
			}
			if n == 8 {
				want := audit.Record{
					DecisionID: audittest.ID(8), At: audittest.Record(8).At, RPC: "validate", Tenant: "acme", Tool: "review_status",
					SessionID: "session-1", Caller: "spiffe://example.test/agent", ArgumentsDigest: "d1", Source: "a\u2028<b",
					RawBytes: 1<<64 - 1, Rejection: audit.Rejection{Layer: "SYNTAX", Reason: "DUPLICATE_NAME", InstancePath: "/a"},
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("Get:\n got %+v\nwant %+v", got, want)
				}
			}
		}
		for _, n := range []int{5, 4} { // damage stays damage, and stops nothing
			if _, err := s.Get(t.Context(), audit.AllTenants(), audittest.ID(n)); !errors.Is(err, audit.ErrDamaged) {
				t.Errorf("Get(%d) = %v, want ErrDamaged", n, err)
			}
		}
		judged := audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status", ArgumentsDigest: "d1"}
		if got, err := s.Latest(t.Context(), judged); err != nil || got.DecisionID != audittest.ID(8) {
			t.Errorf("Latest = %s, %v", got.DecisionID, err)
		}
		if list, err := s.Delivered(t.Context(), "acme", "session-1"); err != nil || len(list) != 0 {
			t.Errorf("Delivered = %v, %v", list, err)
		}
		var met []string
		records, _, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, markToken(0), 100)
		for _, r := range records {
			met = append(met, r.DecisionID)
		}
		var want []string
		for _, n := range []int{8, 7, 6, 3, 2, 1} {
			want = append(want, audittest.ID(n))
		}
		if round == 1 {
			want = append(want, audittest.ID(100))
		}
		if err != nil || !slices.Equal(met, want) {
			t.Errorf("Tail, %v:\n got %v\nwant %v", err, met, want)
		}
		if err := appendRecord(t.Context(), s, audittest.Record(100)); err != nil {
			t.Error(err)
		}
		var left int
		if err := s.write.QueryRow(`SELECT count(*) FROM events WHERE instr(rest, '"arguments_digest":"d1"')`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows hold the digest twice, %v", left, err)
		}
		closeStore(t, s)
	}
}

// A migration that finds no room leaves the file as it was, and can be tried again.
func TestMigrateDiskFull(t *testing.T) {
	path := newPath(t)
	writeVersion1(t, path, slices.Repeat([]string{fmt.Sprintf(restOfVersion1, strings.Repeat("d", 3000))}, 200)...)
	var pages atomic.Int64
	pages.Store(int64(len(readFile(t, path))/4096 + 20))
	_, err := Open(t.Context(), path, Options{wrap: func(c driver.Connector) driver.Connector { return smallDisk{c, &pages} }})
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Fatalf("Open = %v, want that the disk is full", err)
	}
	// Still version 1, or this puts a NULL where none may be.
	execRaw(t, path, `INSERT INTO probe SELECT 9, CASE user_version WHEN 1 THEN x'' END FROM pragma_user_version`)
	s := mustOpen(t, path, Options{})
	defer closeStore(t, s)
	if records, _, err := s.List(t.Context(), audit.AllTenants(), audit.Filter{}, 500, ""); err != nil || len(records) != 200 {
		t.Errorf("List = %d records, %v", len(records), err)
	}
}

// The order of writing survives what an operator does to the file.
func TestMarkAfterVacuum(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	for n := range 10 {
		if err := appendRecord(t.Context(), s, audittest.Record(n)); err != nil {
			t.Fatal(err)
		}
	}
	mark, err := s.Mark(t.Context(), audit.AllTenants(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Purge(context.Background(), audit.Purge{EventsBefore: audittest.Record(9).At.Add(1)}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	execRaw(t, path, `VACUUM`)
	s = mustOpen(t, path, Options{})
	defer closeStore(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(20)); err != nil {
		t.Fatal(err)
	}
	records, _, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, mark, 10)
	if err != nil || len(records) != 1 {
		t.Errorf("Tail = %d records, %v", len(records), err)
	}
}

// A tail looks at a bounded part of the file, jumps over what was purged, and refuses a
// mark that this file has not reached.
func TestTailWindow(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	defer closeStore(t, s)
	if err := appendRecord(t.Context(), s, audittest.Record(0)); err != nil {
		t.Fatal(err)
	}
	const total = 3*tailWindow + 7
	execRaw(t, path, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO events (decision_id, at, tenant, tool, rest)
		SELECT printf('%%036d', i), i, 'acme', iif(i %% 5000 = 0, 'rare', 'common'), '{}' FROM n`, total))
	mark, steps, met := markToken(0), 0, 0
	for {
		records, next, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{Tool: "rare"}, mark, 10)
		if err != nil {
			t.Fatal(err)
		}
		met += len(records)
		if next == mark {
			break
		}
		mark = next
		steps++
	}
	if steps != 4 || met != total/5000 {
		t.Errorf("%d records in %d steps, want %d in 4", met, steps, total/5000)
	}
	if mark != markToken(total) {
		t.Error("the last mark is not the end")
	}
	execRaw(t, path, fmt.Sprintf(`DELETE FROM events WHERE seq < %d`, total))
	records, next, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, markToken(1), 10)
	if err != nil || len(records) != 1 || next != mark {
		t.Errorf("Tail over a gap = %d records, %v", len(records), err)
	}
	for _, seq := range []int64{total + 1, 1<<63 - 1, -1} {
		if _, _, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, markToken(seq), 10); !errors.Is(err, audit.ErrBadPageToken) {
			t.Errorf("Tail after %d = %v, want ErrBadPageToken", seq, err)
		}
	}
}

func FuzzParseMark(f *testing.F) {
	for _, seq := range []int64{0, 1, 1<<63 - 1, -1} {
		f.Add(markToken(seq))
	}
	f.Add("")
	f.Add("AQAAAA\rAAAAAA") // a line break inside is no other name of the same place
	f.Add(audit.Cursor{At: time.Unix(1, 2), DecisionID: audittest.ID(1)}.Token(audit.AllTenants(), audit.Filter{}))
	f.Fuzz(func(t *testing.T, mark string) {
		seq, err := parseMark(mark)
		switch {
		case err != nil && (!errors.Is(err, audit.ErrBadPageToken) || seq != 0):
			t.Errorf("%d, %v", seq, err)
		case err == nil && (seq < 0 || markToken(seq) != mark):
			t.Errorf("%q gave %d, which is %q", mark, seq, markToken(seq))
		}
	})
}
