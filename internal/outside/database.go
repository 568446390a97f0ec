package outside

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// serverVariable names a PostgreSQL database in which tests may make schemas.
const serverVariable = "HALLMARK_TEST_POSTGRES"

// Database returns the DSN of the PostgreSQL database that the environment names, or
// skips, and says how to run.
func Database(t *testing.T) string {
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

// Schema makes a schema with the service's tables, which is dropped at the end of the
// test, and returns its DSN.
func Schema(t *testing.T, dsn string) string {
	t.Helper()
	suffix := make([]byte, 6)
	_, _ = rand.Read(suffix)
	name := "outside_" + hex.EncodeToString(suffix)
	Query(t, dsn, "CREATE SCHEMA "+name)
	t.Cleanup(func() { Query(t, dsn, "SET client_min_messages = warning; DROP SCHEMA "+name+" CASCADE") })
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	inSchema := dsn + separator + "search_path=" + name
	Run(t, []string{"HALLMARK_AUDIT_DSN=" + inSchema}, "migrate")
	return inSchema
}

// Query runs statements and returns their rows as psql writes them; one that fails fails
// the test. psql does not know the DSN's search_path.
func Query(t *testing.T, dsn, sql string) string {
	t.Helper()
	dsn, path, _ := strings.Cut(dsn, "search_path=")
	dsn = strings.TrimRight(dsn, "?&")
	if path != "" {
		sql = "SET search_path = " + path + "; " + sql
	}
	cmd := exec.Command("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", sql)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("psql: %v: %s", err, &failed)
	}
	return string(out)
}
