package fleettest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/internal/outside"
)

// ageing is how long a connection to a replica lives here: minutes in the field, seconds
// so that the tests see it. Give or take a tenth, as the service does.
const ageing = 2 * time.Second

// fleetTools are the contracts that a fleet needs here: few, so that it starts fast.
var fleetTools = []string{"review_status", "deploy"}

// fleet is what replicas share: certificates, contracts, keys and a database.
type fleet struct {
	*authority
	flags []string
	env   []string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	dsn := outside.Database(t)
	f := &fleet{authority: newAuthority(t)}
	data := t.TempDir()
	outside.Run(t, nil, "keys", "init", "--data", data)
	f.env = []string{"HALLMARK_AUDIT_DSN=" + outside.Schema(t, dsn)}
	f.flags = append(f.authority.flags(), "--audit-store", "postgres", "--keys", filepath.Join(data, "keys"),
		"--contracts", outside.Shipped(t, fleetTools...), "--max-connection-age", ageing.String(), "--drain-wait", "500ms")
	return f
}

// launch starts a replica with a data directory of its own.
func (f *fleet) launch(t *testing.T) *replica {
	t.Helper()
	return launch(t, f.env, append([]string{"--data", t.TempDir()}, f.flags...)...)
}

// start starts replicas side by side and waits for all.
func (f *fleet) start(t *testing.T, n int) []*replica {
	t.Helper()
	replicas := make([]*replica, n)
	for i := range replicas {
		replicas[i] = f.launch(t)
	}
	for _, r := range replicas {
		r.await(t)
	}
	return replicas
}
