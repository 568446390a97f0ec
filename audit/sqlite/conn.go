package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
)

// What runs at every call goes to the driver itself: database/sql would take locks, copy
// and convert for each statement and each value. Whatever is rare stays with it.

// statement is a prepared statement of a connection, for one goroutine at a time.
type statement struct {
	driver runnable
	args   []driver.NamedValue
}

// runnable is what statements of the driver can do.
type runnable interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// of is a place for a statement, with its text.
type of struct {
	place **statement
	text  string
}

// prepareAll prepares statements, which last until closeAll. It stops at an error.
func prepareAll(c driver.Conn, list []of) error {
	for _, o := range list {
		stmt, err := c.Prepare(o.text)
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		run, ok := stmt.(runnable)
		if !ok {
			return errors.Join(fmt.Errorf("prepare: a statement of the driver's is %T", stmt), stmt.Close())
		}
		*o.place = &statement{driver: run}
	}
	return nil
}

// closeAll closes statements, also where prepareAll had stopped. Their connection must
// still be open.
func closeAll(list []of) error {
	var errs []error
	for _, o := range list {
		if *o.place != nil {
			errs = append(errs, (*o.place).driver.Close())
			*o.place = nil
		}
	}
	return errors.Join(errs...)
}

// named are values as the driver takes them, until the next call.
func (s *statement) named(values []driver.Value) []driver.NamedValue {
	s.args = slices.Grow(s.args[:0], len(values))
	for i, v := range values {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return s.args
}

// exec runs the statement. Values are int64, string, []byte and nil.
func (s *statement) exec(values ...driver.Value) (driver.Result, error) {
	defer clear(s.named(values)) // keep no record alive while idle
	return s.driver.ExecContext(context.Background(), s.args)
}

// each runs the statement and calls f with each row, which is valid until f returns.
func (s *statement) each(f func(row []driver.Value), values ...driver.Value) (err error) {
	defer clear(s.named(values))
	rows, err := s.driver.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		f(row)
	}
}

// one is each for a statement that finds one row at most.
func (s *statement) one(values ...driver.Value) (row []driver.Value, err error) {
	err = s.each(func(found []driver.Value) { row = found }, values...)
	return row, err
}
