package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/audit/postgres"
)

// dsnVariable holds the DSN where no flag does: a command line is no place for a password.
const dsnVariable = "HALLMARK_AUDIT_DSN"

func newMigrate() *cobra.Command {
	var dsn string
	var out output
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the tables of a PostgreSQL record up to date",
		Long: `Makes the tables of the record in PostgreSQL, or brings them to the version of this
build; there is no way back. It may be run at any time, also by several at once: one works,
the others wait and find nothing to do. A running service is not disturbed, and none changes
tables by itself.

The role needs the right to make tables in the first schema of the search path. The
service's own role needs less; see the operations guide.

The DSN is a URL (postgres://user@host:5432/database?sslmode=verify-full) or words
(host=… user=…); PGPASSWORD, PGPASSFILE and the like are read too. It is never printed.`,
		Example: `  HALLMARK_AUDIT_DSN=postgres://owner@db.example.test/hallmark?sslmode=verify-full hallmark migrate
  hallmark migrate --dsn "service=hallmark" --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if !cmd.Flags().Changed("dsn") {
				dsn = os.Getenv(dsnVariable)
			}
			if dsn == "" {
				return errors.New("no database is named; set " + dsnVariable + ", or --dsn where the DSN holds no password")
			}
			done, err := postgres.Migrate(cmd.Context(), dsn)
			if err != nil {
				return errors.New(printable(err.Error()))
			}
			if out == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(migrateLine{From: done.From, To: done.To})
			}
			if done.From == done.To {
				fmt.Fprintf(cmd.OutOrStdout(), "nothing to do: the tables have version %d\n", done.To)
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the tables were at version %d and are at %d now\n", done.From, done.To)
			return nil
		},
	}
	cmd.Flags().StringVar(&dsn, "dsn", "", "the database ("+dsnVariable+")")
	cmd.Flags().StringVar((*string)(&out), "output", "text", "text, or json (one object)")
	return cmd
}

// migrateLine is the outcome for programs.
type migrateLine struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}
