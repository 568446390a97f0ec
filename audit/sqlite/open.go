package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/internal/durable"
)

// checkBudget is the time that Open spends on looking for damage. A file too large to be
// looked through in that time is opened all the same; damage then shows when it is read.
const checkBudget = 2 * time.Second

// Open opens the store in the file at path, and makes the file (mode 0600) and its
// directories (mode 0700) where they are absent. It brings the schema up to date, looks
// for damage for a bounded time and writes a probe, so that a store that cannot write
// does not open. ctx bounds the opening only. Close must be called at the end.
//
// The error is one clear sentence with a cure. Where the file belongs to another program
// or to a newer version, or is damaged, its content was not changed.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	opts = opts.withDefaults()
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("audit/sqlite: open: %w", err)
	}
	s := &Store{
		path:     path,
		opts:     opts,
		patience: readTimeout,
		queue:    make(chan *job, opts.QueueRecords),
		steps:    make(chan *step),
		done:     make(chan struct{}),
	}
	if err := s.open(ctx); err != nil {
		// Best effort: the cause is what counts.
		_ = s.abandon()
		return nil, fmt.Errorf("audit/sqlite: open %s: %w", path, explain(err))
	}
	go s.run()
	return s, nil
}

// open does the steps of Open in their order.
func (s *Store) open(ctx context.Context) error {
	if err := makeFile(s.path); err != nil {
		return err
	}
	var err error
	if s.write, err = s.connect(1, "_txlock=immediate&_pragma=synchronous(FULL)&_pragma=journal_size_limit(67108864)"); err != nil {
		return err
	}
	version, err := identify(ctx, s.write)
	if err != nil {
		return err
	}
	if err := quickCheck(ctx, s.write); err != nil {
		return err
	}
	if err := enableWAL(ctx, s.write); err != nil {
		return err
	}
	if version < len(migrations) {
		if err := migrate(ctx, s.write); err != nil {
			return err
		}
		if s.opts.Migrated != nil {
			s.opts.Migrated(version, len(migrations))
		}
	}
	const reading = "_pragma=query_only(1)"
	if s.read, err = s.connect(s.opts.Readers+1, reading); err != nil {
		return err
	}
	if s.lookups.connector, err = s.connector(reading); err != nil {
		return err
	}
	s.lookups.turns = make(chan struct{}, s.opts.Readers)
	if s.pin, err = s.read.Conn(ctx); err != nil {
		return err
	}
	// A read makes SQLite open the log, and with it keep the log.
	if _, err := s.pin.ExecContext(ctx, `SELECT count(*) FROM probe`); err != nil {
		return err
	}
	if err := s.onWriter(func() error { return nil }); err != nil { // its statements fit the schema
		return err
	}
	if err := s.probe(); err != nil {
		return err
	}
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	if s.wal, err = os.Stat(s.path + "-wal"); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(s.path))
}

// abandon closes what open had opened.
func (s *Store) abandon() error {
	var errs []error
	if s.pin != nil {
		errs = append(errs, s.pin.Close())
	}
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	errs = append(errs, s.stmts.close())
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	return errors.Join(errs...)
}

// connect makes a pool of at most n connections.
func (s *Store) connect(n int, params string) (*sql.DB, error) {
	c, err := s.connector(params)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// connector makes connections to the file. mode=rw: one that was removed is never made
// anew in silence.
func (s *Store) connector(params string) (driver.Connector, error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path)}
	dsn.RawQuery = "mode=rw&_busy_timeout=" + strconv.FormatInt(max(1, s.opts.BusyTimeout.Milliseconds()), 10) +
		"&_defensive=1&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&" + params
	c, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	if s.opts.wrap != nil {
		c = s.opts.wrap(c)
	}
	return c, nil
}

// smallestFile is the smallest page of SQLite, in bytes; what is smaller it would take
// for an empty file and overwrite.
const smallestFile = 512

// makeFile makes an empty file and its directories where they are absent. It never opens
// a file that exists: closing one that SQLite has open in this process drops its locks.
func makeFile(path string) error {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return errors.New("it is not a regular file; name a file for the database")
		case info.Size() > 0 && info.Size() < smallestFile:
			return errors.New("it is not an SQLite database; move it away or name another file")
		}
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// makeDir makes a directory and those above it, each of them durable.
func makeDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory; name another data directory", dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(parent)
}

// identify reads whose file it is and returns the version of its schema, without
// changing anything.
func identify(ctx context.Context, db *sql.DB) (version int, err error) {
	var id, tables int
	err = db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, errors.New("it is the database of another program; name another file or data directory")
	case version < 1 || version > len(migrations):
		return 0, fmt.Errorf("its schema has version %d and this build knows 1 to %d; run the newer version of the service, "+
			"or name another data directory", version, len(migrations))
	}
	return version, nil
}

// quickCheck looks for damage until its budget is used up.
func quickCheck(ctx context.Context, db *sql.DB) error {
	budget, cancel := context.WithTimeout(ctx, checkBudget)
	defer cancel()
	var result string
	err := db.QueryRowContext(budget, `PRAGMA quick_check(1)`).Scan(&result)
	switch {
	case err == nil && result != "ok":
		return errDamagedFile
	case err != nil && ctx.Err() == nil && budget.Err() != nil:
		return nil
	}
	return err
}

// enableWAL turns the write-ahead log on; the mode is kept in the file.
func enableWAL(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return errors.New("its file system cannot hold a write-ahead log; name a data directory on a local disk")
	}
	return nil
}

// migrate brings the schema to the newest version, each step whole or not at all.
func migrate(ctx context.Context, db *sql.DB) error {
	for {
		done, err := migrateOne(ctx, db)
		if done || err != nil {
			return err
		}
	}
}

// migrateOne takes one step. It reads the version under the write lock: another process
// may be at the same.
func migrateOne(ctx context.Context, db *sql.DB) (done bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() {
		if rollback := tx.Rollback(); !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, rollback)
		}
	}()
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return false, err
	}
	if version >= len(migrations) {
		return true, nil
	}
	step := migrations[version] + fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d;`, applicationID, version+1)
	if _, err := tx.ExecContext(ctx, step); err != nil {
		return false, fmt.Errorf("schema version %d: %w", version+1, err)
	}
	return false, tx.Commit()
}

// errDamagedFile is what to do about damage.
var errDamagedFile = fmt.Errorf("%w: the database file is damaged; keep it for recovery (sqlite3 FILE .recover), "+
	"then restore a backup or name another data directory", audit.ErrDamaged)

// explain adds a cure to the errors of SQLite that have one.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	cure := ""
	switch e.Code() & 0xff { // the primary code
	case codes.SQLITE_NOTADB:
		cure = "it is not an SQLite database; move it away or name another file"
	case codes.SQLITE_CORRUPT:
		return fmt.Errorf("%w (%w)", errDamagedFile, err)
	case codes.SQLITE_CANTOPEN, codes.SQLITE_PERM, codes.SQLITE_READONLY:
		cure = "the file or its directory cannot be written; see owner, mode and mount"
	case codes.SQLITE_FULL:
		cure = "the disk is full; free space"
	case codes.SQLITE_IOERR:
		cure = "the disk failed; see the system's log"
	case codes.SQLITE_ERROR:
		cure = "the database does not have the service's tables; restore a backup or name another data directory"
	case codes.SQLITE_BUSY:
		cure = "another process holds the database; see whether two services use the same data directory"
	default:
		return err
	}
	return fmt.Errorf("%s (%w)", cure, err)
}
