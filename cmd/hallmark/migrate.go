package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/audit/postgres"
	"github.com/hallmark-gate/hallmark/server"
)

// dsnVariable holds the DSN where no flag does: a command line is no place for a password.
const dsnVariable = "HALLMARK_AUDIT_DSN"

func newMigrate() *cobra.Command {
	var dsn, file string
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
(host=… user=…); PGPASSWORD, PGPASSFILE and the like are read too. It is never printed.
It comes from --dsn, else from HALLMARK_AUDIT_DSN, else from the service's configuration
file (audit: {dsn: …}): that of --config, or hallmark.yaml where there is one.`,
		Example: `  HALLMARK_AUDIT_DSN=postgres://owner@db.example.test/hallmark?sslmode=verify-full hallmark migrate
  hallmark migrate --config /etc/hallmark/hallmark.yaml
  hallmark migrate --dsn "service=hallmark" --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if err := findDSN(&dsn, file, cmd.Flags().Changed("dsn")); err != nil {
				return err
			}
			done, err := postgres.Migrate(cmd.Context(), dsn)
			if err != nil {
				return errors.New(printable(err.Error()))
			}
			if out == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(migrateLine{From: done.From, To: done.To, Renumbered: done.Renumbered})
			}
			if done.Renumbered > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "%d records came from another server and are numbered anew\n", done.Renumbered)
			}
			if done.From == done.To && done.Renumbered > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "the tables have version %d, as they should\n", done.To)
				return nil
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
	cmd.Flags().StringVar(&file, "config", "", "the service's configuration file (default "+server.ConfigFile+", where there is one)")
	out.registerAs(cmd, "one object")
	return cmd
}

// findDSN sets the DSN unless a flag has: from the environment, else from the file. A file
// that is named must be sound, whoever names the database.
func findDSN(dsn *string, file string, flagGiven bool) error {
	variable := os.Getenv(dsnVariable)
	var config server.Config
	if file != "" || !flagGiven && variable == "" {
		err := config.Load(file, func(string) string { return "" }, nil)
		if err != nil {
			return errors.New(printable(err.Error()))
		}
	}
	if !flagGiven {
		*dsn = cmp.Or(variable, config.AuditDSN)
	}
	if *dsn == "" {
		return errors.New("no database is named; set " + dsnVariable + ", or audit: {dsn: …} in the file of --config, or --dsn where the DSN holds no password")
	}
	return nil
}

// migrateLine is the outcome for programs.
type migrateLine struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Renumbered is left out where no record came from another server.
	Renumbered int64 `json:"renumbered,omitempty"`
}
