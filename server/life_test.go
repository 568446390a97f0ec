package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hallmark-gate/hallmark/audit"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// gatedStore holds every Append until it is released.
type gatedStore struct {
	audit.Store
	arrived chan struct{}
	release chan struct{}
}

func (s *gatedStore) Append(ctx context.Context, e audit.Entry) (audit.Outcome, error) {
	s.arrived <- struct{}{}
	<-s.release
	return s.Store.Append(ctx, e)
}

// The service first says that it is leaving, then ends its watchers, and the call that
// is under way gets its reply and its record.
func TestDrain(t *testing.T) {
	store := &gatedStore{arrived: make(chan struct{}, 1), release: make(chan struct{})}
	s := start(t, func(s *setup) {
		s.cfg.DrainWait = 300 * time.Millisecond
		s.deps.OpenStore = func(ctx context.Context, dir string) (audit.Store, error) {
			var err error
			store.Store, err = openSQLite(ctx, dir)
			return store, err
		}
	})
	watch, err := s.health.Watch(ctxFor(t), &healthv1.HealthCheckRequest{Service: "hallmark.v1.GateService"})
	if err != nil {
		t.Fatal(err)
	}
	if got := recvHealth(t, watch); got != healthv1.HealthCheckResponse_SERVING {
		t.Fatalf("first %s", got)
	}
	type answer struct {
		reply *hallmarkv1.ValidateResponse
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		reply, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted)))
		answered <- answer{reply, err}
	}()
	<-store.arrived
	s.stop()
	if got := recvHealth(t, watch); got != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("then %s", got)
	}
	// The wait: the port still answers, and says why nobody should come.
	if code, body := get(t, s.ops+"/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "stopping") {
		t.Errorf("readyz %d %q", code, body)
	}
	if code, _ := get(t, s.ops+"/livez"); code != http.StatusOK {
		t.Errorf("livez %d", code)
	}
	_, err = watch.Recv()
	wantCode(t, err, codes.Unavailable)
	select {
	case a := <-answered:
		t.Fatalf("answered before its record: %v", a)
	case err := <-s.ended:
		t.Fatalf("ended with a call under way: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(store.release)
	if a := <-answered; a.err != nil || a.reply.GetResult().GetData() == nil {
		t.Errorf("the call under way: %v, %v", a.reply, a.err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if faults := s.log.lines(t, "fault"); len(faults) != 0 {
		t.Errorf("a stop is no fault: %v", faults)
	}
}

// A call that does not end is cut off, and the stop ends all the same.
func TestDrainIsBounded(t *testing.T) {
	store := &brokenStore{hang: true}
	s := start(t, withStore(store), func(s *setup) { s.cfg.DrainTimeout = 50 * time.Millisecond })
	failed := make(chan error, 1)
	go func() {
		_, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted)))
		failed <- err
	}()
	deadline := time.Now().Add(5 * time.Second)
	for store.appended() == "" && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	s.stop()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the stop waits for a call that does not end")
	}
	if err := <-failed; err == nil {
		t.Error("a call without a record was answered")
	}
}

func recvHealth(t *testing.T, watch healthv1.Health_WatchClient) healthv1.HealthCheckResponse_ServingStatus {
	t.Helper()
	reply, err := watch.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return reply.GetStatus()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url) //nolint:noctx // the test's own loopback
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// A store that cannot write makes the service NOT_SERVING, and one that can again
// makes it SERVING; it lives all the while.
func TestHealthFollowsTheStore(t *testing.T) {
	store := &brokenStore{}
	s := start(t, withStore(store))
	watch, err := s.health.Watch(ctxFor(t), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := s.health.Watch(ctxFor(t), &healthv1.HealthCheckRequest{Service: "nobody"})
	if err != nil {
		t.Fatal(err)
	}
	if got := recvHealth(t, unknown); got != healthv1.HealthCheckResponse_SERVICE_UNKNOWN {
		t.Errorf("unknown service: %s", got)
	}
	for i, fault := range []error{nil, asUnavailable("disk\nfull"), nil} {
		store.fail(fault)
		want := healthv1.HealthCheckResponse_SERVING
		if fault != nil {
			want = healthv1.HealthCheckResponse_NOT_SERVING
		}
		if got := recvHealth(t, watch); got != want {
			t.Errorf("step %d: watch %s, want %s", i, got, want)
		}
		all, err := s.health.List(ctxFor(t), &healthv1.HealthListRequest{})
		if err != nil || len(all.GetStatuses()) != 4 {
			t.Fatalf("step %d: %v, %v", i, all, err)
		}
		for _, name := range []string{"", "hallmark.v1.GateService", "hallmark.v1.ContractService", "hallmark.v1.AuditService"} {
			reply, err := s.health.Check(ctxFor(t), &healthv1.HealthCheckRequest{Service: name})
			if err != nil || reply.GetStatus() != want || all.GetStatuses()[name].GetStatus() != want {
				t.Errorf("step %d: %q: %v, %v", i, name, reply, err)
			}
		}
		code, body := get(t, s.ops+"/readyz")
		if (code == http.StatusOK) != (fault == nil) || strings.Count(body, "\n") != 5 {
			t.Errorf("step %d: readyz %d %q", i, code, body)
		}
		if code, _ := get(t, s.ops+"/livez"); code != http.StatusOK {
			t.Errorf("step %d: livez %d", i, code)
		}
	}
	if code, body := get(t, s.ops+"/metrics"); code != http.StatusOK || !strings.Contains(body, "hallmark_contracts_serving_info{") {
		t.Errorf("metrics %d %q", code, body)
	}
}

// What cannot be served as it is asked for stops the start.
func TestStartIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		says string
		edit func(*testing.T, *setup)
	}{
		{"no loader", "Loader", func(_ *testing.T, s *setup) { s.deps.Loader = nil }},
		{"contracts missing", "contracts", func(t *testing.T, s *setup) { s.cfg.Contracts = filepath.Join(t.TempDir(), "no") }},
		{"contracts at fault", "nothing of them is served", func(t *testing.T, s *setup) {
			s.cfg.Contracts = copyTree(t, shipped)
			replaceIn(t, filepath.Join(s.cfg.Contracts, "review_status/v1/contract.yaml"), "effect:", "affect:")
		}},
		{"a case that fails", "fail their own cases", func(t *testing.T, s *setup) {
			s.cfg.Contracts = copyTree(t, shipped)
			replaceIn(t, filepath.Join(s.cfg.Contracts, "review_status/v1/cases/extra-property-admin-override.yaml"), "at: /data/admin_override", "at: /data")
		}},
		{"a policy at fault", "expected a list", func(t *testing.T, s *setup) {
			s.cfg.Policies = t.TempDir()
			write(t, filepath.Join(s.cfg.Policies, "mail/policy.yaml"), "forbid: all")
		}},
		{"an approver's file that is not there", "approvers", func(t *testing.T, s *setup) { s.cfg.Approvers = filepath.Join(t.TempDir(), "no") }},
		{"keys that are not there", "hallmark keys init", func(t *testing.T, s *setup) { s.cfg.Keys = filepath.Join(t.TempDir(), "no") }},
		{"issuers without a file", "grant-issuers", func(_ *testing.T, s *setup) { s.cfg.GrantIssuers = "portal" }},
		{"no issuer", "issuer", func(_ *testing.T, s *setup) { s.cfg.Issuer = "" }},
		{"policies missing", "policies", func(t *testing.T, s *setup) { s.cfg.Policies = filepath.Join(t.TempDir(), "no") }},
		{"all interfaces", "not loopback", func(_ *testing.T, s *setup) { s.cfg.Listen = ":0" }},
		{"another address", "not loopback", func(_ *testing.T, s *setup) { s.cfg.Listen = "192.0.2.1:7443" }},
		{"a name", "not loopback", func(_ *testing.T, s *setup) { s.cfg.Listen = "gate.example.test:7443" }},
		{"unspecified IPv6", "not loopback", func(_ *testing.T, s *setup) { s.cfg.Listen = "[::]:7443" }},
		{"no port", "host:port", func(_ *testing.T, s *setup) { s.cfg.Listen = "127.0.0.1" }},
		{"large port", "port", func(_ *testing.T, s *setup) { s.cfg.OpsListen = "127.0.0.1:70000" }},
		{"no data", "data", func(_ *testing.T, s *setup) { s.cfg.Data = "" }},
		{"negative wait", "negative", func(_ *testing.T, s *setup) { s.cfg.DrainWait = -1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSetup(t)
			c.edit(t, s)
			if _, err := New(s.cfg, s.deps); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("New: %v, want %q in it", err, c.says)
			}
		})
	}
}

// What fails while starting releases what was opened before.
func TestRunReleases(t *testing.T) {
	s := newSetup(t)
	closed := 0
	s.deps.OpenStore = func(context.Context, string) (audit.Store, error) {
		return &closingStore{closed: &closed}, nil
	}
	taken, err := listen(context.Background(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s.cfg.OpsListen = taken.Addr().String()
	app, err := New(s.cfg, s.deps)
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "ops-listen") {
		t.Errorf("Run: %v", err)
	}
	if closed != 1 {
		t.Errorf("the store was closed %d times", closed)
	}
	s.deps.OpenStore = func(context.Context, string) (audit.Store, error) { return nil, errors.New("no disk") }
	if app, err = New(s.cfg, s.deps); err != nil {
		t.Fatal(err)
	}
	if err := app.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("Run: %v", err)
	}
}

type closingStore struct {
	brokenStore
	closed *int
}

func (s *closingStore) Close(context.Context) error { *s.closed++; return nil }

// With consent any address is served.
func TestInsecurePlaintext(t *testing.T) {
	s := newSetup(t)
	s.cfg.Listen, s.cfg.InsecurePlaintext = "0.0.0.0:0", true
	if err := s.cfg.Check(); err != nil {
		t.Error(err)
	}
	if l, err := listen(context.Background(), "0.0.0.0:0", false); err == nil {
		l.Close()
		t.Error("a listener beyond loopback was kept without consent")
	}
	for _, host := range []string{"127.0.0.1", "127.8.8.8", "::1", "localhost", "::ffff:127.0.0.1"} {
		if !isLoopback(host) {
			t.Errorf("%s is loopback", host)
		}
	}
}

func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "contracts")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func replaceIn(t *testing.T, file, old, new string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), old) {
		t.Fatalf("%s holds no %q", file, old)
	}
	write(t, file, strings.ReplaceAll(string(content), old, new))
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The port of probes has a bound of its own: connections above it are closed at once.
func TestOpsConnectionsAreBounded(t *testing.T) {
	s := start(t)
	addr := strings.TrimPrefix(s.ops, "http://")
	var open []net.Conn
	for range maxOpsConnections {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
	}
	probe := func() error {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Second}
		resp, err := client.Get(s.ops + "/livez") //nolint:noctx // the test's own loopback
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	eventually(t, "one too many is closed", func() bool { return probe() != nil })
	for _, conn := range open[:8] {
		conn.Close()
	}
	eventually(t, "one that ends makes room", func() bool { return probe() == nil })
	if err := methods()["validate"](ctxFor(t), s.conn); err != nil {
		t.Error(err)
	}
}
