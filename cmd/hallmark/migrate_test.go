package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMigrate runs testdata/migrate/*.txtar. What needs a server is skipped by name where
// HALLMARK_TEST_POSTGRES holds no DSN of an empty database; its tables are left there.
func TestMigrate(t *testing.T) {
	dsn := os.Getenv("HALLMARK_TEST_POSTGRES")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/migrate",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Condition: func(name string) (bool, error) {
			if name != "postgres" {
				return false, fmt.Errorf("no condition %s", name)
			}
			return dsn != "", nil
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("POSTGRES", dsn)
			return nil
		},
	})
}
