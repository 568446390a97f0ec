package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hallmark-gate/hallmark/audit"
)

// errWarned fails a commit that the server let end early, as when a wait for a standby was
// cut off.
var errWarned = errors.New("the server warned that the commit may not be replicated; see its standbys")

// cures are what to do about errors of the server, by SQLSTATE or its class, the more
// special first.
var cures = [...]struct{ code, cure string }{
	{"28P01", "the server refuses the password; set the right one in the DSN (HALLMARK_AUDIT_DSN)"},
	{"28", "the server refuses the user; see the DSN and the server's pg_hba.conf"},
	{"3D000", "the database does not exist; create it or name another in the DSN"},
	{"42P01", "a table is missing; run: hallmark migrate (where that finds nothing to do, the table was dropped, or the DSN's search_path is another)"},
	{"42703", "a column is missing; run: hallmark migrate"},
	{"42501", "the role may not do this; grant it what the service needs, as deploy/postgres/grants.sql does after each migration"},
	{"25006", "the server is read-only; name the primary, or add target_session_attrs=read-write to the DSN"},
	{"53100", "the server's disk is full; free space"},
	{"53300", "the server has no connection to spare; raise max_connections"},
	{"53", "the server is out of resources; see its log"},
	{"55P03", "a lock was not released in time; see who holds it in pg_stat_activity"},
	{"57014", "the server took too long; see what it is busy with in pg_stat_activity"},
	{"57P03", "the server is starting or stopping; wait for it"},
	{"57", "the server ended the connection; see its log"},
	{"58", "the server's disk failed; see its log"},
}

// explain makes one sentence with a cure of an error. It is built from what is known to
// hold no secret: of a connection's settings nothing is repeated, and of the server's
// messages only the code, since some repeat the values that they complain of. Nothing is
// wrapped: a time-out in here is not that of a caller's context.
func explain(err error) error {
	var e *pgconn.PgError
	var dns *net.DNSError
	var network *net.OpError
	switch {
	case errors.Is(err, errWarned), errors.Is(err, errRaced):
		return err
	case errors.As(err, &e):
		for _, c := range cures {
			if strings.HasPrefix(e.Code, c.code) {
				return fmt.Errorf("%s (SQLSTATE %s)", c.cure, e.Code)
			}
		}
		return fmt.Errorf("the server refuses a statement; see its log (SQLSTATE %s)", e.Code)
	case errors.As(err, &dns):
		return errors.New("the host's name is not known; see the DSN")
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return errors.New("the server does not answer in time; see whether it runs and can be reached")
	case errors.As(err, &network) && network.Op == "dial":
		return errors.New("nobody answers; see whether the server runs and the DSN's host and port are right")
	case strings.Contains(err.Error(), "tls"), strings.Contains(err.Error(), "x509"), strings.Contains(err.Error(), "TLS"):
		return errors.New("no TLS connection that the DSN asks for; see sslmode, sslrootcert and the server's certificate")
	default:
		return errors.New("the connection broke; see the server's log")
	}
}

// readError gives a failed read its cause: the caller's context, the closed store, or the
// server.
func (s *Store) readError(ctx context.Context, what string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("audit/postgres: %s: %w", what, ctx.Err())
	case s.isClosed():
		return fmt.Errorf("audit/postgres: %s: %w: %w", what, audit.ErrUnavailable, audit.ErrClosed)
	default:
		return fmt.Errorf("audit/postgres: %s: %s: %w: %w", s.place, what, audit.ErrUnavailable, explain(err))
	}
}
