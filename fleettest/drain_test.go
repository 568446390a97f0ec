package fleettest

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// C: told to stop, a replica says NOT_SERVING while it still answers, waits, refuses new
// calls, lets running ones end within the deadline, and exits with 0; in this order.
func TestDrain(t *testing.T) {
	t.Parallel()
	const wait, timeout = time.Second, 2 * time.Second
	a := newAuthority(t)
	r := launch(t, nil, append([]string{
		"--data", t.TempDir(), "--contracts", outside.Shipped(t, "review_status"),
		"--drain-wait", wait.String(), "--drain-timeout", timeout.String(),
	}, a.flags()...)...).await(t)
	conn := r.dial(t, a, "assistant")
	gate := hallmarkv1.NewGateServiceClient(conn)
	answers := func() error {
		ctx, cancel := outside.Guard()
		defer cancel()
		_, err := gate.Validate(ctx, review("req.drain.0001"))
		return err
	}
	if err := answers(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := outside.Guard()
	defer cancel()
	watch, err := healthv1.NewHealthClient(conn).Watch(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := watch.Recv(); err != nil || first.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Fatalf("health before: %v, %v", first.GetStatus(), err)
	}
	// A call that never ends by itself: it holds the drain up until the deadline.
	never := dialRaw(t, r.Addr, a.config(t, "assistant"))
	never.begin(t, "/hallmark.v1.GateService/Validate")

	began := time.Now()
	r.Term(t)
	now, err := watch.Recv()
	told := time.Since(began)
	if err != nil || now.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health after the signal: %v, %v", now.GetStatus(), err)
	}
	if code, _ := r.Get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz while it waits: %d", code)
	}
	if code, _ := r.Get("/livez"); code != http.StatusOK {
		t.Errorf("/livez while it waits: %d", code)
	}
	if err := answers(); err != nil && time.Since(began) < wait {
		t.Errorf("a call while it waits: %v", err)
	}
	for err == nil {
		_, err = watch.Recv()
	}
	watched := time.Since(began)
	if watched < wait*9/10 {
		t.Errorf("watchers were sent away after %s, before the wait was over", watched)
	}
	outside.Within(t, 10*time.Second, "the listener closed", func() bool {
		conn, err := net.Dial("tcp", r.Addr)
		if err != nil {
			return true
		}
		conn.Close()
		return false
	})
	closed := time.Since(began)
	r.Exits(t)
	exited := time.Since(began)
	if exited < (wait+timeout)*9/10 {
		t.Errorf("it left after %s though a call was running", exited)
	}
	var said []string
	for line := range strings.Lines(string(readFile(t, r.Log))) {
		var entry struct{ Msg string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg != "call" {
			said = append(said, entry.Msg)
		}
	}
	first, last := slices.Index(said, "draining"), slices.Index(said, "calls did not end in time and are cut off")
	if first < 0 || last < first {
		t.Errorf("the log says %q", said)
	}
	t.Logf("NOT_SERVING after %s, watchers ended after %s, no connections after %s, exit 0 after %s",
		told.Round(time.Millisecond), watched.Round(time.Millisecond), closed.Round(time.Millisecond), exited.Round(time.Millisecond))
}
