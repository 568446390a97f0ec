package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// A commit whose standby does not confirm is no commit, not even where the record can be
// seen already, or where somebody cuts the wait short.
func TestStandbyMissing(t *testing.T) {
	c := newCluster(t)
	dsn := database(t, c.dsn)
	// A store refuses at once after its first failure: each question needs a new one.
	var stores []*Store
	for range 4 {
		stores = append(stores, mustOpen(t, dsn, Options{WriteTimeout: 3 * time.Second}))
	}
	patient := mustOpen(t, with(dsn, "application_name", "patient"), Options{WriteTimeout: time.Minute})
	defer execute(t, c.dsn, `ALTER SYSTEM RESET synchronous_standby_names`)
	execute(t, c.dsn, `ALTER SYSTEM SET synchronous_standby_names = 'missing'`)
	execute(t, c.dsn, `SELECT pg_reload_conf()`)
	time.Sleep(time.Second) // the server's processes hear of it

	withUse := func(n int) audit.Entry {
		return audit.Entry{Record: audittest.Record(n), Uses: audit.Uses{Claims: []audit.Claim{loadClaim}}}
	}
	refused := func(what string, s *Store, e audit.Entry) {
		t.Helper()
		if o, err := s.Append(t.Context(), e); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("%s: Append = %+v, %v, want ErrUnavailable", what, o, err)
		}
		if err := s.Ready(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("%s: Ready = %v", what, err)
		}
	}
	refused("a record", stores[0], audit.Entry{Record: audittest.Record(1)})
	refused("with a use", stores[1], withUse(2))
	within(t, 20*time.Second, "seen", func() bool { // the waits were given up
		_, err := patient.Get(t.Context(), audit.AllTenants(), audittest.ID(2))
		return err == nil
	})
	refused("a repeat of the record", stores[2], audit.Entry{Record: audittest.Record(1)})
	refused("a repeat with a use", stores[3], withUse(2))

	done := make(chan error, 1)
	go func() { done <- appendRecord(t.Context(), patient, audittest.Record(3)) }()
	var err error
	within(t, 20*time.Second, "cancelled", func() bool {
		execute(t, c.dsn, `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'patient' AND wait_event = 'SyncRep'`)
		select {
		case err = <-done:
			return true
		default:
			return false
		}
	})
	if !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Append whose wait was cut short = %v, want ErrUnavailable", err)
	}

	execute(t, c.dsn, `ALTER SYSTEM RESET synchronous_standby_names`)
	execute(t, c.dsn, `SELECT pg_reload_conf()`)
	for _, s := range append(stores, patient) {
		within(t, 5*time.Second, "ready again", func() bool { return s.Ready(t.Context()) == nil })
		if err := appendRecord(t.Context(), s, audittest.Record(1)); err != nil {
			t.Error(err)
		}
		closeStore(t, s)
	}
}
