package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hallmark": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/*.txtar, each of which reads like a page of the manual.
// $CONTRACTS is the folder of the shipped contracts.
func TestScripts(t *testing.T) {
	contracts, err := filepath.Abs("../../contracts")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("CONTRACTS", contracts)
			return os.CopyFS(filepath.Join(env.WorkDir, "contracts"), os.DirFS(contracts))
		},
	})
}

// exits runs a command and holds it to an exit code: exits CODE COMMAND [ARG…]. What it
// prints is looked at by stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if got := strconv.Itoa(exit.ExitCode()); got != args[0] {
			ts.Fatalf("exit code %s, want %s", got, args[0])
		}
	case err != nil:
		ts.Fatalf("%v", err)
	case args[0] != "0":
		ts.Fatalf("exit code 0, want %s", args[0])
	}
}
