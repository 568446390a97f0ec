package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// serverVariable holds the DSN of an empty database in which tests make schemas of their
// own, by a role that may.
const serverVariable = "HALLMARK_TEST_POSTGRES"

// server returns the DSN of that database, or skips.
func server(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv(serverVariable)
	if dsn == "" {
		t.Skipf("skipped: %s holds no DSN; run: dir=$(tools/postgres.sh start); export %s=$(tools/postgres.sh dsn \"$dir\")",
			serverVariable, serverVariable)
	}
	return dsn
}

// with adds a parameter to a DSN.
func with(dsn, name, value string) string {
	switch {
	case !strings.Contains(dsn, "://"):
		return dsn + " " + name + "=" + value
	case strings.Contains(dsn, "?"):
		return dsn + "&" + name + "=" + value
	default:
		return dsn + "?" + name + "=" + value
	}
}

// emptySchema returns the DSN of a new schema, which is dropped at the end of the test.
func emptySchema(t testing.TB, server string) string {
	t.Helper()
	suffix := make([]byte, 6)
	_, _ = rand.Read(suffix)
	name := "test_" + hex.EncodeToString(suffix)
	execute(t, server, `CREATE SCHEMA `+name)
	t.Cleanup(func() { execute(t, server, `DROP SCHEMA `+name+` CASCADE`) })
	return with(server, "search_path", name)
}

// database returns the DSN of a new schema with the service's tables.
func database(t testing.TB, server string) string {
	t.Helper()
	dsn := emptySchema(t, server)
	if _, err := Migrate(context.Background(), dsn); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	return dsn
}

func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// execute runs statements by a connection of their own.
func execute(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // a guard against a hang
	defer cancel()
	c := connect(t, dsn)
	defer c.Close(ctx)
	if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func mustOpen(t testing.TB, dsn string, opts Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), dsn, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// appendRecord appends a record that uses nothing.
func appendRecord(ctx context.Context, s *Store, rec audit.Record) error {
	_, err := s.Append(ctx, audit.Entry{Record: rec})
	return err
}

// A17 A21 B11 D4: the contract of every store.
func TestStore(t *testing.T) {
	where := server(t)
	dsns := map[audit.Store]string{}
	open := func(t *testing.T, dsn string, opts Options) audit.Store {
		s := mustOpen(t, dsn, opts)
		dsns[s] = dsn
		return s
	}
	again := func(t *testing.T, s audit.Store) audit.Store { return open(t, dsns[s], Options{}) }
	audittest.TestStore(t,
		func(t *testing.T) audit.Store { return open(t, database(t, where), Options{}) },
		audittest.WithReopen(again),
		audittest.WithSecond(again),
		audittest.WithBlocked(func(t *testing.T) (audit.Store, int, func()) {
			const queue = 8
			dsn := database(t, where)
			s := open(t, dsn, Options{QueueRecords: queue, WriteTimeout: 2 * time.Minute})
			return s, queue, lockTable(t, dsn)
		}),
	)
}

// lockTable keeps everybody from writing events, until unlock.
func lockTable(t *testing.T, dsn string) (unlock func()) {
	t.Helper()
	c := connect(t, dsn)
	if _, err := c.Exec(context.Background(), `BEGIN; LOCK TABLE events IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
