package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

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
	var out output
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: `Serves gRPC, and HTTP probes on a second port, until it is told to stop (SIGTERM,
SIGHUP or ctrl-c); then it says NOT_SERVING, lets running calls end, and flushes the record.
When it serves, it prints "ready grpc=ADDR ops=ADDR" on standard output. Logs go to
standard error as JSON.

Every flag can be set by an environment variable (HALLMARK_OPS_LISTEN for --ops-listen)
and in hallmark.yaml (ops_listen); flags win over variables, variables over the file.
Variables that begin with HALLMARK_ and are no setting are named in a warning.

Exit codes: 0 it was told to stop and did, 2 it could not serve, or the record not be closed.`,
		Example: `  hallmark serve --contracts contracts --data data
  hallmark serve --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0
  hallmark serve --config hallmark.yaml --print-config --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(file, os.Getenv, cmd.Flags().Changed); err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			unknown := server.UnknownVariables(os.Environ())
			switch {
			case !printConfig && cmd.Flags().Changed("output"):
				return errors.New("--output is for --print-config; leave it out")
			case !printConfig:
				return serve(cmd, config, unknown)
			case len(unknown) > 0:
				fmt.Fprintf(cmd.ErrOrStderr(), "hallmark: warning: no settings, and ignored: %s\n", printable(strings.Join(unknown, ", ")))
			}
			if out == "json" {
				return printObject(cmd.OutOrStdout(), settings(config))
			}
			return config.Print(cmd.OutOrStdout())
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
	out.registerAs(cmd, "one object, with --print-config")
	return cmd
}

// settings are the effective settings for programs, by their names in the file. Numbers
// and truths are such; secrets are hidden.
func settings(config server.Config) map[string]any {
	all := make(map[string]any)
	for _, f := range config.Fields() {
		text := f.Shown()
		switch kind := f.Value.Type(); {
		case kind == "bool" || kind == "int":
			all[f.Key()] = json.RawMessage(text) // they read the same in Go and in JSON
		default:
			all[f.Key()] = text
		}
	}
	return all
}

// The settings are flags as they are.
var _ pflag.Value = server.Value(nil)

// serve composes the service: what judges, where it records, where it logs. unknown are
// variables that are no settings.
func serve(cmd *cobra.Command, config server.Config, unknown []string) error {
	ctx := cmd.Context()
	if !signal.Ignored(syscall.SIGHUP) { // nohup asks to stay
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
	if len(unknown) > 0 {
		log.Warn("variables that are no settings are ignored", "variables", unknown)
	}
	loader, err := newLoader()
	if err != nil {
		return err
	}
	app, err := loaded(ctx, func() (*server.App, error) {
		return server.New(config, server.Deps{
			Loader:    loader,
			OpenStore: openStore(config, log),
			Log:       log,
			Getenv:    os.Getenv,
			Ready:     cmd.OutOrStdout(),
		})
	})
	if ctx.Err() != nil && app == nil && err == nil {
		log.Info("told to stop before anything was served")
		return nil
	}
	if err != nil {
		return err
	}
	return app.Run(ctx)
}

// loaded returns what load makes, or nothing where ctx ends before: thousands of contracts
// take a while, and nothing is open yet that would have to be closed.
func loaded(ctx context.Context, load func() (*server.App, error)) (app *server.App, err error) {
	done := make(chan struct{})
	var made *server.App
	var failed error
	go func() {
		defer close(done)
		made, failed = load()
	}()
	select {
	case <-done:
		return made, failed
	case <-ctx.Done():
		return nil, nil //nolint:nilnil // neither: it is the caller's to say
	}
}

// storeFile is the embedded store in the data directory.
const storeFile = "audit.db"

// openStore opens the configured store.
func openStore(config server.Config, log *slog.Logger) func(context.Context, string) (audit.Store, error) {
	return func(ctx context.Context, dir string) (audit.Store, error) {
		if config.AuditStore == server.StorePostgres {
			return postgres.Open(ctx, config.AuditDSN, postgres.Options{})
		}
		path := filepath.Join(dir, storeFile)
		return sqlite.Open(ctx, path, sqlite.Options{Migrated: func(from, to int) {
			if from == 0 {
				log.Info("a new record was begun; there was none in the data directory", "file", path)
				return
			}
			log.Info("the record was brought to a newer schema; versions before cannot open it any more", "file", path, "from", from, "to", to)
		}})
	}
}
