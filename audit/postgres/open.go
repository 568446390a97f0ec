package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// oldestServer is the first version that the SQL of this package is made for.
const oldestServer = 140000

// readTimeout is how long the server works on one read, whatever its reader's patience.
const readTimeout = 30 * time.Second

// Open opens the store in the database that dsn names, a URL (postgres://…) or words
// (host=… user=…), with PostgreSQL's usual variables for what it does not say. It looks at
// the server and the schema and writes a probe, so that a store that cannot write does not
// open. It changes no schema: [Migrate] does. ctx bounds the opening only. Close must be
// called at the end.
//
// The error is one clear sentence with a cure, and repeats nothing of dsn but host, port
// and database.
func Open(ctx context.Context, dsn string, opts Options) (*Store, error) {
	opts = opts.withDefaults()
	config, err := parse(dsn, opts)
	if err != nil {
		return nil, fmt.Errorf("audit/postgres: open: %w", err)
	}
	s := &Store{place: place(config.ConnConfig), opts: opts, config: config.ConnConfig, done: make(chan struct{})}
	s.plain = &lane{store: s, queue: make(chan *job, opts.QueueRecords), write: writePlain}
	s.uses = &lane{store: s, queue: make(chan *job, opts.QueueRecords), write: writeUses}
	if err := s.open(ctx, config); err != nil {
		s.closeReads()
		s.plain.discard()
		return nil, fmt.Errorf("audit/postgres: open %s: %w", s.place, err)
	}
	go s.run()
	return s, nil
}

// open does the steps of Open in their order. The steps of writing leave their connection
// to the first lane.
func (s *Store) open(ctx context.Context, pool *pgxpool.Config) error {
	c, err := s.plain.connection(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	if err := inspect(ctx, c.Conn); err != nil {
		return failed(ctx, err)
	}
	if err := checkSchema(ctx, c.Conn); err != nil {
		return failed(ctx, err)
	}
	if err := probe(ctx, c); err != nil {
		return failed(ctx, err)
	}
	if c.warning != "" {
		return errWarned
	}
	// plan_cache_mode: a plan for unknown values would ignore the partial indexes.
	pool.ConnConfig = s.config.Copy()
	session(pool.ConnConfig, readTimeout, `SET default_transaction_read_only = on; SET plan_cache_mode = force_custom_plan`)
	pool.MaxConns = int32(min(s.opts.Readers, 1000)) //nolint:gosec // bounded
	pool.PingTimeout = s.opts.WriteTimeout
	// What a caller waits for never waits behind lists.
	for _, p := range [...]**pgxpool.Pool{&s.read, &s.look} {
		if *p, err = pgxpool.NewWithConfig(ctx, pool.Copy()); err != nil {
			return err
		}
	}
	return nil
}

// closeReads closes the pools that were opened.
func (s *Store) closeReads() {
	for _, p := range [...]*pgxpool.Pool{s.read, s.look} {
		if p != nil {
			p.Close()
		}
	}
}

// run runs the writers until both have ended, and releases what is left.
func (s *Store) run() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.uses.run()
	}()
	s.plain.run()
	<-ended
	s.closeReads()
	close(s.done)
}

// problem is a sentence of our own that needs no explaining.
type problem string

func (p problem) Error() string { return string(p) }

// failed explains an error of opening; the end of the caller's context comes first.
func failed(ctx context.Context, err error) error {
	var p problem
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &p):
		return p
	default:
		return explain(err)
	}
}

// parse reads a DSN. Why one cannot be read is not told: the parsers' words may hold parts
// of it, and any part may belong to a password.
func parse(dsn string, opts Options) (*pgxpool.Config, error) {
	pool, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the DSN cannot be used: it is neither a URL such as postgres://user@host:5432/database?sslmode=verify-full " +
			"nor words such as host=… user=…, or a file that it names cannot be read; it is not shown, for it may hold a password")
	}
	config := pool.ConnConfig
	if opts.ConnectTimeout > 0 {
		config.ConnectTimeout = opts.ConnectTimeout
	}
	// pgx sets one of its own where the DSN says none.
	if config.ConnectTimeout <= 0 || config.ConnectTimeout > time.Minute {
		config.ConnectTimeout = DefaultConnectTimeout
	}
	if _, named := config.RuntimeParams["application_name"]; !named {
		config.RuntimeParams["application_name"] = "hallmark"
	}
	session(config, opts.WriteTimeout, "")
	return pool, nil
}

// session makes every new connection set what the store relies on, whatever the defaults of
// the server, the database and the role are. By statements: poolers refuse most settings
// in the start-up message.
func session(config *pgx.ConnConfig, timeout time.Duration, more string) {
	ms := max(1, timeout.Milliseconds())
	settings := fmt.Sprintf(`SELECT set_config('synchronous_commit',
		CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false);
	SET client_encoding = 'UTF8'; SET client_min_messages = warning; SET jit = off;
	SET default_transaction_isolation = 'read committed'; SET default_transaction_deferrable = off;
	SET statement_timeout = %d; SET lock_timeout = %d; SET idle_in_transaction_session_timeout = %d; %s`,
		max(1, ms*4/5), max(1, ms/2), ms, more)
	config.AfterConnect = func(ctx context.Context, c *pgconn.PgConn) error {
		_, err := c.Exec(ctx, settings).ReadAll()
		return err
	}
}

// place names a server for messages.
func place(config *pgx.ConnConfig) string {
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database
}

// inspect refuses a server on which records would be lost or changed.
func inspect(ctx context.Context, c *pgx.Conn) error {
	var version int
	var encoding, fsync string
	err := c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), current_setting('fsync')`).
		Scan(&version, &encoding, &fsync)
	switch {
	case err != nil:
		return err
	case version < oldestServer:
		return problem(fmt.Sprintf("the server is PostgreSQL %d; use %d or later", version/10000, oldestServer/10000))
	case encoding != "UTF8":
		return problem("the database's encoding is " + encoding + "; create one with ENCODING 'UTF8' TEMPLATE template0")
	case fsync != "on":
		return problem("the server runs with fsync = off and would lose records with its power; turn it on")
	}
	return nil
}
