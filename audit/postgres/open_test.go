package postgres

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// Migrations may run at once and again; each of them says what it found.
func TestMigrate(t *testing.T) {
	dsn := emptySchema(t, server(t))
	var wg sync.WaitGroup
	var mu sync.Mutex
	worked := 0
	for range 4 {
		wg.Go(func() {
			done, err := Migrate(t.Context(), dsn)
			if err != nil || done.To != newest() {
				t.Errorf("Migrate = %+v, %v", done, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if done.From != done.To {
				worked++
			}
		})
	}
	wg.Wait()
	if worked != 1 {
		t.Errorf("%d migrations worked, want 1", worked)
	}
	if done, err := Migrate(t.Context(), dsn); err != nil || done != (Migrated{From: newest(), To: newest()}) {
		t.Errorf("Migrate again = %+v, %v", done, err)
	}
}

// A migration that fails leaves nothing, and the next one works.
func TestMigrateFails(t *testing.T) {
	dsn := emptySchema(t, server(t))
	execute(t, dsn, `CREATE TABLE claims (mine int)`) // in the way of the first step
	if _, err := Migrate(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), "SQLSTATE 42P07") {
		t.Errorf("Migrate = %v", err)
	}
	if _, err := Open(t.Context(), dsn, Options{}); err == nil || !strings.Contains(err.Error(), "run: hallmark migrate") {
		t.Errorf("Open after a failed migration = %v", err)
	}
	execute(t, dsn, `DROP TABLE claims`)
	if done, err := Migrate(t.Context(), dsn); err != nil || done != (Migrated{To: newest()}) {
		t.Errorf("Migrate = %+v, %v", done, err)
	}
}

// Open changes no schema, and refuses one that it does not know.
func TestOpenRefuses(t *testing.T) {
	where := server(t)
	for _, c := range []struct {
		name, change string
		migrated     bool
		open         string // what Open says
		migrate      string // what Migrate says; "" where it helps
	}{
		{"no tables", ``, false, "does not have the service's tables; run: hallmark migrate", ""},
		{
			"older", `DELETE FROM hallmark_migrations; INSERT INTO hallmark_migrations (version_id, is_applied) VALUES (0, true)`, true,
			"run: hallmark migrate", "SQLSTATE 42P07",
		},
		{
			"newer", `INSERT INTO hallmark_migrations (version_id, is_applied) VALUES (99, true)`, true,
			"its schema has version 99 and this build knows 1; run the newer version", "its schema has version 99",
		},
		{"table gone", `DROP TABLE probe`, true, "a table is missing; run: hallmark migrate", ""},
		{"of another server", `INSERT INTO events OVERRIDING SYSTEM VALUE SELECT gen_random_uuid(), 1, '4611686018427387904'::xid8, 1,
			'', '', '', '', '', '', '', '', '', '', '{}'`, true, "restored from another server", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dsn := emptySchema(t, where)
			if c.migrated {
				dsn = database(t, where)
			}
			execute(t, dsn, c.change)
			s, err := Open(t.Context(), dsn, Options{})
			if err == nil {
				closeStore(t, s)
			}
			if err == nil || !strings.Contains(err.Error(), c.open) {
				t.Errorf("Open = %v, want %q", err, c.open)
			}
			done, err := Migrate(t.Context(), dsn)
			if (err == nil) != (c.migrate == "") || (err != nil && !strings.Contains(err.Error(), c.migrate)) {
				t.Errorf("Migrate = %v, want %q", err, c.migrate)
			}
			if c.name == "of another server" {
				if done.Renumbered != 1 {
					t.Errorf("Migrate = %+v, want that one record was numbered anew", done)
				}
				s := mustOpen(t, dsn, Options{})
				closeStore(t, s)
			}
		})
	}
}

// One clear sentence, without the password, for everything that may be wrong with a DSN.
// S: secrets never reach a log.
func TestDSN(t *testing.T) {
	where, err := url.Parse(server(t))
	if err != nil || where.Host == "" {
		t.Skipf("skipped: %s holds no URL", serverVariable)
	}
	const secret = "s3cret-w0rd"
	user := where.User.Username()
	edit := func(f func(*url.URL)) string {
		u := *where
		f(&u)
		return u.String()
	}
	for _, c := range []struct{ name, dsn, want string }{
		{"password", edit(func(u *url.URL) { u.User = url.UserPassword(user, secret) }), "refuses the password"},
		{"user", edit(func(u *url.URL) { u.User = url.UserPassword("nobody-"+secret, secret) }), "refuses the"},
		{"port", edit(func(u *url.URL) { u.User, u.Host = url.UserPassword(user, secret), "127.0.0.1:1" }), "nobody answers"},
		{"host", edit(func(u *url.URL) { u.User, u.Host = url.UserPassword(user, secret), "no-such-host.invalid:5432" }), "name is not known"},
		{"database", edit(func(u *url.URL) { u.Path = "/no_such_database" }), "does not exist; create it"},
		{"TLS", edit(func(u *url.URL) { u.RawQuery = "sslmode=verify-full" }), "no TLS connection"},
		{"URL", "postgres://owner:" + secret + "%zz@127.0.0.1/x", "the DSN cannot be used"},
		{"slash in the password", "postgres://owner:" + secret + "/rest@127.0.0.1/x", "the DSN cannot be used"},
		{"words", "host=127.0.0.1 password='" + secret, "the DSN cannot be used"},
		{"bad port", "host=127.0.0.1 port=x password=" + secret, "the DSN cannot be used"},
		{"certificate", "host=127.0.0.1 sslmode=verify-full sslrootcert=/no/such/file password=" + secret, "the DSN cannot be used"},
		{"password only", secret, "the DSN cannot be used"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		_, openErr := Open(ctx, c.dsn, Options{})
		_, migrateErr := Migrate(ctx, c.dsn)
		cancel()
		for _, err := range []error{openErr, migrateErr} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
				continue
			}
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
				if strings.Contains(text, secret) || strings.ContainsAny(text, "\r\n") {
					t.Errorf("%s: the error holds the secret or several lines: %s", c.name, text)
				}
			}
		}
	}
	// A pool's settings in the DSN are no parameters of the server.
	s := mustOpen(t, with(database(t, where.String()), "pool_max_conns", "7"), Options{})
	for _, text := range []string{fmt.Sprintf("%v", s.Ready(t.Context())), s.place} {
		if password, _ := where.User.Password(); password != "" && strings.Contains(text, password) {
			t.Error("the store's name holds the password")
		}
	}
	closeStore(t, s)
}

// The session relies on no default of server, database or role.
func TestSession(t *testing.T) {
	where := server(t)
	dsn := database(t, where)
	for _, c := range []struct{ value, want string }{
		{"off", "on"}, {"local", "on"}, {"remote_write", "on"}, {"on", "on"}, {"remote_apply", "remote_apply"},
	} {
		s := mustOpen(t, with(dsn, "synchronous_commit", c.value), Options{})
		var commit, isolation string
		l := &lane{store: s}
		conn, err := l.connection(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), `SELECT current_setting('synchronous_commit'), current_setting('transaction_isolation')`).
			Scan(&commit, &isolation); err != nil || commit != c.want || isolation != "read committed" {
			t.Errorf("synchronous_commit %s: %s, %s, %v", c.value, commit, isolation, err)
		}
		l.discard()
		closeStore(t, s)
	}
}

// The service's role can do its work, cannot change a record and cannot make a table.
func TestPrivileges(t *testing.T) {
	where, err := url.Parse(server(t))
	if err != nil || where.Host == "" {
		t.Skipf("skipped: %s holds no URL", serverVariable)
	}
	dsn := database(t, where.String())
	u, _ := url.Parse(dsn)
	schema := u.Query().Get("search_path")
	role := "service_" + schema
	execute(t, dsn, `CREATE ROLE `+role+` LOGIN PASSWORD 'pw'; GRANT USAGE ON SCHEMA `+schema+` TO `+role+`;
		GRANT SELECT ON hallmark_migrations TO `+role+`;
		GRANT SELECT, INSERT, DELETE ON events, originals, probe TO `+role+`;
		GRANT SELECT, INSERT, UPDATE, DELETE ON requests, claims TO `+role)
	t.Cleanup(func() { execute(t, dsn, `DROP OWNED BY `+role+`; DROP ROLE `+role) })
	u.User = url.UserPassword(role, "pw")
	s := mustOpen(t, u.String(), Options{})
	e := audit.Entry{Record: audittest.Full(1), Original: &audit.Original{Sealed: []byte("x"), KeepUntil: time.Unix(1, 0)}}
	e.Uses = audit.Uses{Request: loadClaim.Key, Memo: []byte("m"), Until: loadClaim.Until, Claims: []audit.Claim{loadClaim}}
	if o, err := s.Append(t.Context(), e); err != nil || !o.Written() {
		t.Fatalf("Append: %+v, %v", o, err)
	}
	if err := appendRecord(t.Context(), s, audittest.Full(1)); err != nil { // and a repeat, which probes
		t.Fatal(err)
	}
	far := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	if got, err := s.Purge(t.Context(), audit.Purge{Now: far, EventsBefore: far}); err != nil || got != (audit.Purged{Events: 1, Originals: 1, Claims: 1, Memos: 1}) {
		t.Errorf("Purge = %+v, %v", got, err)
	}
	closeStore(t, s)
	for _, sql := range []string{`UPDATE events SET rest = '{}'`, `UPDATE originals SET sealed = ''`, `CREATE TABLE mine (x int)`, `TRUNCATE events`} {
		c := connect(t, u.String())
		if _, err := c.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s = %v, want permission denied", sql, err)
		}
		_ = c.Close(t.Context())
	}
	if _, err := Migrate(t.Context(), u.String()); err == nil || !strings.Contains(err.Error(), "name the owner of the tables") {
		t.Errorf("Migrate as the service = %v", err)
	}
}
