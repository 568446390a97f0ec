package audittest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
)

// arguments sets the digest of the arguments.
func arguments(digest string) func(*audit.Record) {
	return func(r *audit.Record) { r.ArgumentsDigest = digest }
}

// when sets the time to some seconds after the epoch.
func when(seconds int) func(*audit.Record) {
	return func(r *audit.Record) { r.At = epoch.Add(time.Duration(seconds) * time.Second) }
}

// wantLatest fails unless the newest judgement is record n; -1 stands for none.
func wantLatest(t *testing.T, store audit.Store, j audit.Judged, n int) {
	t.Helper()
	got, err := store.Latest(t.Context(), j)
	switch {
	case n < 0 && !errors.Is(err, audit.ErrNotFound):
		t.Errorf("Latest(%.100q) = %s, %v; want ErrNotFound", j, got.DecisionID, err)
	case n >= 0 && (err != nil || got.DecisionID != ID(n)):
		t.Errorf("Latest(%.100q) = %s, %v; want %s", j, got.DecisionID, err, ID(n))
	}
}

func (s *suite) testLatest(t *testing.T) {
	store := s.fresh(t)
	j := audit.Judged{Tenant: "acme", SessionID: "session-1", Tool: "review_status", ArgumentsDigest: "d1"}
	wantLatest(t, store, j, -1)
	for i, step := range []struct {
		name  string
		n     int // of the record that is appended
		edits []func(*audit.Record)
		want  int // the newest one then
	}{
		{"the first", 50, []func(*audit.Record){when(50)}, 50},
		{"an older one", 99, []func(*audit.Record){when(40)}, 50},
		{"the same time, a smaller id", 49, []func(*audit.Record){when(50)}, 50},
		{"the same time, a larger id", 51, []func(*audit.Record){when(50)}, 51},
		{"a nanosecond later, a smaller id", 1, []func(*audit.Record){when(50), func(r *audit.Record) { r.At = r.At.Add(1) }}, 1},
		{"a failure", 60, []func(*audit.Record){when(60), func(r *audit.Record) { r.FailureCode = "INVALID_RESPONSE" }}, 60},
		{"one that was delivered", 61, []func(*audit.Record){when(61), func(r *audit.Record) { r.Delivered = "untrusted" }}, 61},
		{"an Authorize", 70, []func(*audit.Record){when(70), func(r *audit.Record) { r.RPC = "authorize" }}, 61},
		{"a Redeem", 71, []func(*audit.Record){when(71), func(r *audit.Record) { r.RPC = "redeem" }}, 61},
		{"no RPC", 72, []func(*audit.Record){when(72), func(r *audit.Record) { r.RPC = "" }}, 61},
		{"another tenant", 73, []func(*audit.Record){when(73), func(r *audit.Record) { r.Tenant = "other" }}, 61},
		{"no tenant", 74, []func(*audit.Record){when(74), func(r *audit.Record) { r.Tenant = "" }}, 61},
		{"another session", 75, []func(*audit.Record){when(75), func(r *audit.Record) { r.SessionID = "session-2" }}, 61},
		{"no session", 76, []func(*audit.Record){when(76), func(r *audit.Record) { r.SessionID = "" }}, 61},
		{"another tool", 77, []func(*audit.Record){when(77), func(r *audit.Record) { r.Tool = "Review_status" }}, 61},
		{"no tool", 78, []func(*audit.Record){when(78), func(r *audit.Record) { r.Tool = "" }}, 61},
		{"other arguments", 79, []func(*audit.Record){when(79), arguments("d2")}, 61},
		{"no arguments", 80, []func(*audit.Record){when(80), arguments("")}, 61},
		{"the same id again", 61, []func(*audit.Record){when(99)}, 61},
		{"another request", 81, []func(*audit.Record){when(81), func(r *audit.Record) { r.RequestID = "req.other" }}, 81},
	} {
		mustAppend(t, store, Record(step.n, append([]func(*audit.Record){arguments("d1")}, step.edits...)...))
		if got, err := store.Latest(t.Context(), j); err != nil || got.DecisionID != ID(step.want) {
			t.Fatalf("step %d, %s: Latest = %s, %v; want %s", i, step.name, got.DecisionID, err, ID(step.want))
		}
	}
	namesOfLatest(t, store, j)
	// With what it attests, and nothing of a name that only ends like the one it has.
	full := Full(200)
	full.RPC, full.ReceiptID = "validate", `r"1\<`+"\u2028\n"
	full.Signals[`"receipt_id":"other`] = 1
	mustAppend(t, store, full)
	got, err := store.Latest(t.Context(), audit.Judged{
		Tenant: full.Tenant, SessionID: full.SessionID, Tool: full.Tool, ArgumentsDigest: full.ArgumentsDigest,
	})
	if want := (audit.Newest{DecisionID: full.DecisionID, ReceiptID: full.ReceiptID}); err != nil || got != want {
		t.Errorf("Latest: %v\n got %+v\nwant %+v", err, got, want)
	}
}

// namesOfLatest asks for what testLatest wrote under other names.
func namesOfLatest(t *testing.T, store audit.Store, j audit.Judged) {
	t.Helper()
	for _, c := range []struct {
		name string
		edit func(*audit.Judged)
		want int
	}{
		{"another tenant", func(j *audit.Judged) { j.Tenant = "other" }, 73},
		{"no tenant", func(j *audit.Judged) { j.Tenant = "" }, 74},
		{"another session", func(j *audit.Judged) { j.SessionID = "session-2" }, 75},
		{"no session", func(j *audit.Judged) { j.SessionID = "" }, -1},
		{"another tool", func(j *audit.Judged) { j.Tool = "Review_status" }, 77},
		{"no tool", func(j *audit.Judged) { j.Tool = "" }, 78},
		{"other arguments", func(j *audit.Judged) { j.ArgumentsDigest = "d2" }, 79},
		{"no arguments", func(j *audit.Judged) { j.ArgumentsDigest = "" }, 80},
		{"no such arguments", func(j *audit.Judged) { j.ArgumentsDigest = "d" }, -1},
		{"wildcards", func(j *audit.Judged) { j.Tool = "%" }, -1},
	} {
		other := j
		c.edit(&other)
		t.Log(c.name)
		wantLatest(t, store, other, c.want)
	}
}

// What was written under names that had to be changed is found under the same names.
func (s *suite) testLatestHostile(t *testing.T) {
	store := s.fresh(t)
	n := 0
	for name, text := range hostile {
		n++
		mustAppend(t, store, Record(n, arguments(text), func(r *audit.Record) {
			r.Tenant, r.SessionID, r.Tool, r.Delivered = text, text, text, "untrusted"
		}))
		got, err := store.Latest(t.Context(), audit.Judged{Tenant: text, SessionID: text, Tool: text, ArgumentsDigest: text})
		if err != nil || got.DecisionID != ID(n) {
			t.Errorf("%s: Latest = %s, %v", name, got.DecisionID, err)
		}
		whole, err := store.Get(t.Context(), audit.AllTenants(), got.DecisionID)
		if err != nil {
			t.Errorf("%s: Get = %v", name, err)
		}
		want := []audit.Delivery{{Tool: whole.Tool, Trust: "untrusted"}}
		if list, err := store.Delivered(t.Context(), text, text); err != nil || !reflect.DeepEqual(list, want) {
			t.Errorf("%s: Delivered = %.200q, %v", name, list, err)
		}
	}
}

func (s *suite) testDelivered(t *testing.T) {
	store := s.fresh(t)
	n := 0
	deliver := func(tenant, session, tool, trust string, edits ...func(*audit.Record)) {
		n++
		mustAppend(t, store, Record(n, append([]func(*audit.Record){func(r *audit.Record) {
			r.Tenant, r.SessionID, r.Tool, r.Delivered = tenant, session, tool, trust
		}}, edits...)...))
	}
	want := func(tenant, session string, want ...audit.Delivery) {
		t.Helper()
		got, err := store.Delivered(t.Context(), tenant, session)
		if err != nil || len(got) != len(want) || (len(want) > 0 && !reflect.DeepEqual(got, want)) {
			t.Errorf("Delivered(%q, %q) = %v, %v; want %v", tenant, session, got, err, want)
		}
	}
	want("acme", "s1")
	for range 3 { // whatever was delivered is there once
		deliver("acme", "s1", "web_read", "untrusted")
		deliver("acme", "s1", "a_status", "trusted")
		deliver("acme", "s1", "web_read", "trusted")
		deliver("acme", "s1", "", "trusted")
		deliver("acme", "s1", "Zoo", "untrusted")
		deliver("acme", "s1", "not_delivered", "")
		deliver("acme", "s1", "authorized", "trusted", func(r *audit.Record) { r.RPC = "authorize" })
		deliver("acme", "s1", "redeemed", "trusted", func(r *audit.Record) { r.RPC = "redeem" })
		deliver("acme", "s1", "failed", "untrusted", func(r *audit.Record) { r.FailureCode = "TOOL_FAILED" })
	}
	deliver("acme", "s2", "mail_read", "untrusted")
	deliver("other", "s1", "other_read", "untrusted")
	deliver("", "s1", "nobody_read", "untrusted")
	deliver("acme", "", "no_session", "untrusted")
	want("acme", "s1", audit.Delivery{Tool: "", Trust: "trusted"}, audit.Delivery{Tool: "Zoo", Trust: "untrusted"},
		audit.Delivery{Tool: "a_status", Trust: "trusted"}, audit.Delivery{Tool: "failed", Trust: "untrusted"},
		audit.Delivery{Tool: "web_read", Trust: "trusted"}, audit.Delivery{Tool: "web_read", Trust: "untrusted"})
	want("acme", "s2", audit.Delivery{Tool: "mail_read", Trust: "untrusted"})
	want("other", "s1", audit.Delivery{Tool: "other_read", Trust: "untrusted"})
	want("", "s1", audit.Delivery{Tool: "nobody_read", Trust: "untrusted"})
	want("acme", "")
	want("", "")
	want("acme", "s")
	want("acme", "%")
}

// More deliveries than can be told are no answer, rather than a part of one.
func (s *suite) testDeliveredTooMany(t *testing.T) {
	store := s.fresh(t)
	tool := func(n int) audit.Record {
		return Record(n, func(r *audit.Record) {
			r.Tool, r.Delivered = fmt.Sprintf("tool-%05d", n/2), []string{"trusted", "untrusted"}[n%2]
		})
	}
	appendAll(t, store, audit.MaxDeliveries, tool)
	list, err := store.Delivered(t.Context(), "acme", "session-1")
	if err != nil || len(list) != audit.MaxDeliveries {
		t.Fatalf("Delivered = %d, %v; want %d", len(list), err, audit.MaxDeliveries)
	}
	for n, d := range list {
		if r := tool(n); d != (audit.Delivery{Tool: r.Tool, Trust: r.Delivered}) {
			t.Fatalf("delivery %d: %v", n, d)
		}
	}
	mustAppend(t, store, tool(audit.MaxDeliveries))
	if list, err := store.Delivered(t.Context(), "acme", "session-1"); !errors.Is(err, audit.ErrUnavailable) || len(list) > 0 {
		t.Errorf("Delivered of one too many = %d, %v; want ErrUnavailable", len(list), err)
	}
	if err := store.Ready(t.Context()); err != nil { // it is the session's trouble alone
		t.Errorf("Ready: %v", err)
	}
}
