package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/postgres"
	"github.com/hallmark-gate/hallmark/audit/sqlite"
	"github.com/hallmark-gate/hallmark/server"
)

func newServe() *cobra.Command {
	config := server.DefaultConfig()
	var file string
	var printConfig bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: `Serves gRPC, and HTTP probes on a second port, until it is told to stop (SIGTERM or
ctrl-c); then it says NOT_SERVING, lets running calls end, and flushes the record.
When it serves, it prints "ready grpc=ADDR ops=ADDR" on standard output. Logs go to
standard error as JSON.

Every flag can be set by an environment variable (HALLMARK_OPS_LISTEN for --ops-listen)
and in hallmark.yaml (ops_listen); flags win over variables, variables over the file.`,
		Example: `  hallmark serve --contracts contracts --data data
  hallmark serve --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(file, os.Getenv, cmd.Flags().Changed); err != nil {
				return err
			}
			if printConfig {
				return config.Print(cmd.OutOrStdout())
			}
			return serve(cmd, config)
		},
	}
	for _, f := range config.Fields() {
		flag := cmd.Flags().VarPF(f.Value, f.Name, "", f.Usage+" ("+f.Env+")")
		if f.Value.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file (default "+server.ConfigFile+", where there is one)")
	cmd.Flags().BoolVar(&printConfig, "print-config", false, "print the effective configuration and stop")
	return cmd
}

// The settings are flags as they are.
var _ pflag.Value = server.Value(nil)

// serve composes the service: what judges, where it records, where it logs.
func serve(cmd *cobra.Command, config server.Config) error {
	loader, err := newLoader()
	if err != nil {
		return err
	}
	app, err := server.New(config, server.Deps{
		Loader:    loader,
		OpenStore: openStore(config),
		Log:       slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil)),
		Getenv:    os.Getenv,
		Ready:     cmd.OutOrStdout(),
	})
	if err != nil {
		return err
	}
	return app.Run(cmd.Context())
}

// storeFile is the embedded store in the data directory.
const storeFile = "audit.db"

// openStore opens the configured store.
func openStore(config server.Config) func(context.Context, string) (audit.Store, error) {
	return func(ctx context.Context, dir string) (audit.Store, error) {
		if config.AuditStore == server.StorePostgres {
			return postgres.Open(ctx, config.AuditDSN, postgres.Options{})
		}
		return sqlite.Open(ctx, filepath.Join(dir, storeFile), sqlite.Options{})
	}
}
