package fleettest

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ageing is how long a connection to a replica lives here: minutes in the field, seconds
// so that the tests see it. Give or take a tenth, as the service does.
const ageing = 2 * time.Second

// fleetTools are the contracts that a fleet needs here: few, so that it starts fast.
var fleetTools = []string{"review_status", "deploy"}

// fleet is what replicas share: certificates, contracts, keys and a database.
type fleet struct {
	*authority
	flags []string
	env   []string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	dsn := database(t)
	f := &fleet{authority: newAuthority(t)}
	data := t.TempDir()
	run(t, nil, "keys", "init", "--data", data)
	f.env = []string{"HALLMARK_AUDIT_DSN=" + schema(t, dsn)}
	f.flags = append(f.authority.flags(), "--audit-store", "postgres", "--keys", filepath.Join(data, "keys"),
		"--contracts", shipped(t, fleetTools...), "--max-connection-age", ageing.String(), "--drain-wait", "500ms")
	return f
}

// launch starts a replica with a data directory of its own.
func (f *fleet) launch(t *testing.T) *replica {
	t.Helper()
	return launch(t, f.env, append([]string{"--data", t.TempDir()}, f.flags...)...)
}

// start starts replicas side by side and waits for all.
func (f *fleet) start(t *testing.T, n int) []*replica {
	t.Helper()
	replicas := make([]*replica, n)
	for i := range replicas {
		replicas[i] = f.launch(t)
	}
	for _, r := range replicas {
		r.await(t)
	}
	return replicas
}

// run runs a command of the binary to its end.
func run(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(mustBinary(t), args...) //nolint:gosec // our own binary
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// serverVariable names a PostgreSQL database in which tests may make schemas.
const serverVariable = "HALLMARK_TEST_POSTGRES"

// database returns the DSN of that database, or skips.
func database(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv(serverVariable)
	if dsn == "" {
		t.Skipf("skipped: %s holds no DSN; run: dir=$(tools/postgres.sh start); export %s=$(tools/postgres.sh dsn \"$dir\")",
			serverVariable, serverVariable)
	}
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("skipped: psql is missing (Debian: apt-get install postgresql-client)")
	}
	return dsn
}

// schema makes a schema with the service's tables, which is dropped at the end of the
// test, and returns its DSN.
func schema(t *testing.T, dsn string) string {
	t.Helper()
	suffix := make([]byte, 6)
	_, _ = rand.Read(suffix)
	name := "fleet_" + hex.EncodeToString(suffix)
	query(t, dsn, "CREATE SCHEMA "+name)
	t.Cleanup(func() { query(t, dsn, "SET client_min_messages = warning; DROP SCHEMA "+name+" CASCADE") })
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	inSchema := dsn + separator + "search_path=" + name
	run(t, []string{"HALLMARK_AUDIT_DSN=" + inSchema}, "migrate")
	return inSchema
}

// query runs statements.
func query(t *testing.T, dsn, sql string) {
	t.Helper()
	cmd := exec.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", sql)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	if err := cmd.Run(); err != nil {
		t.Fatalf("psql: %v: %s", err, &failed)
	}
}
