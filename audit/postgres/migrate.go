package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// migrations lead from each version of the schema to the next; they have no way back.
// Published ones never change. A version must be readable and writable by the service
// before it, which goes on running while the schema is brought up to date, or say in the
// change log that it is not.
//
//go:embed migrations/*.sql
var migrations embed.FS

const (
	versionTable = "hallmark_migrations"
	// lockID is the advisory lock of migrations in a database: "HLMK" and a number.
	lockID = 0x484c4d4b_00000001
	// patience is how long one migration waits for another.
	patience = 2 * time.Minute
	// stepTimeout bounds one statement of a migration; a large table takes a while.
	stepTimeout = time.Hour
)

// Migrated is what [Migrate] has done.
type Migrated struct {
	// From and To are the version of the schema before and after; 0 is a database without
	// tables.
	From, To int64
	// Renumbered counts the records that came from another server, by a dump, and were
	// numbered anew.
	Renumbered int64
}

// Migrate brings the schema of the database that dsn names to the version that this build
// knows. Each step is one transaction; an advisory lock keeps out a second migration,
// which then finds nothing to do. It needs a role that may create tables.
//
// The error is one clear sentence with a cure, and repeats nothing of dsn but host, port
// and database. A database that is newer than this build is left alone.
func Migrate(ctx context.Context, dsn string) (Migrated, error) {
	pool, err := parse(dsn, Options{WriteTimeout: stepTimeout})
	if err != nil {
		return Migrated{}, fmt.Errorf("audit/postgres: migrate: %w", err)
	}
	config := pool.ConnConfig
	done, err := migrate(ctx, config)
	if e := new(pgconn.PgError); errors.As(err, &e) && e.Code == "42501" {
		err = problem("the role may not make or change tables; name the owner of the tables in the DSN, not the service's role (SQLSTATE 42501)")
	}
	if err != nil {
		return done, fmt.Errorf("audit/postgres: migrate %s: %w", place(config), failed(ctx, err))
	}
	return done, nil
}

func migrate(ctx context.Context, config *pgx.ConnConfig) (done Migrated, err error) {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return done, err
	}
	defer c.Close(ctx) //nolint:errcheck // nothing is in flight
	if err := inspect(ctx, c); err != nil {
		return done, err
	}
	// It is released with the connection.
	_, err = c.Exec(ctx, `SELECT set_config('lock_timeout', $1, false)`, fmt.Sprint(patience.Milliseconds()))
	if err != nil {
		return done, err
	}
	_, err = c.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(lockID))
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "55P03" {
		return done, problem(fmt.Sprintf("another migration has been running for %s; wait for it and run this again", patience))
	}
	if err != nil {
		return done, err
	}
	if done.From, err = version(ctx, c); err != nil {
		return done, err
	}
	if done.From > newest() {
		return done, tooNew(done.From)
	}
	if err := runSteps(ctx, config); err != nil {
		return done, err
	}
	if done.To, err = version(ctx, c); err != nil {
		return done, err
	}
	// Rows that another server numbered would be in nobody's past here.
	tag, err := c.Exec(ctx, `UPDATE events SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())`)
	done.Renumbered = tag.RowsAffected()
	return done, err
}

// runSteps takes the steps that are missing.
func runSteps(ctx context.Context, config *pgx.ConnConfig) error {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer db.Close() //nolint:errcheck // nothing is in flight
	runner, err := goose.NewProvider(goose.DialectPostgres, db, steps, goose.WithTableName(versionTable),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = runner.Up(ctx)
	return err
}

// newest is the version that this build knows: the number that the last step begins with.
func newest() int64 {
	entries, err := migrations.ReadDir("migrations") // sorted
	if err != nil || len(entries) == 0 {
		return 0 // they are part of the program
	}
	number, _, _ := strings.Cut(entries[len(entries)-1].Name(), "_")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n
}

// version reads the version of a schema; 0 where there is none.
func version(ctx context.Context, c *pgx.Conn) (int64, error) {
	var v int64
	err := c.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versionTable+` WHERE is_applied`).Scan(&v)
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "42P01" { // no such table
		return 0, nil
	}
	return v, err
}

// checkSchema refuses a schema that this build does not write.
func checkSchema(ctx context.Context, c *pgx.Conn) error {
	v, err := version(ctx, c)
	switch known := newest(); {
	case err != nil:
		return err
	case v == 0:
		return problem("the database does not have the service's tables; run: hallmark migrate")
	case v < known:
		return problem(fmt.Sprintf("its schema has version %d and this build needs %d; run: hallmark migrate", v, known))
	case v > known:
		return tooNew(v)
	}
	var foreign bool
	err = c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM events WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()))`).Scan(&foreign)
	if err == nil && foreign {
		return problem("its records were restored from another server and must be numbered anew; run: hallmark migrate")
	}
	return err
}

func tooNew(v int64) error {
	return problem(fmt.Sprintf("its schema has version %d and this build knows %d; run the newer version of the service", v, newest()))
}
