package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/sqlite"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
)

// shipped is the directory of the contracts that ship.
const shipped = "../contracts"

// requestID is the one in replies of review_status below.
const requestID = "req.J7q94MkP"

// accepted is a reply that review_status accepts.
const accepted = `{"tool":"review_status","request_id":"req.J7q94MkP","outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"Ana Petrova"}}`

// service is a running service and everything that a test needs of it.
type service struct {
	app       *App
	conn      *grpc.ClientConn
	gate      hallmarkv1.GateServiceClient
	contracts hallmarkv1.ContractServiceClient
	audit     hallmarkv1.AuditServiceClient
	health    healthv1.HealthClient
	addr      string
	ops       string
	log       *lockedBuffer
	stop      func()     // begins the end
	ended     chan error // gets what Run returned
}

// setup is what a test may change before the service is composed.
type setup struct {
	cfg      Config
	deps     Deps
	registry *validators.Registry
	caller   gate.Caller
	creds    credentials.TransportCredentials // of conn
	app      func(*App)                       // changes the App before it runs; nil: nothing
}

// start runs a service on free loopback ports with the shipped contracts and a SQLite
// store, and stops it at the end of the test.
func start(t *testing.T, edits ...func(*setup)) *service {
	t.Helper()
	s := &service{log: &lockedBuffer{}, ended: make(chan error, 1)}
	ready, readyIn := io.Pipe()
	with := newSetup(t)
	with.deps.Log = slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	with.deps.Ready = readyIn
	for _, edit := range edits {
		edit(with)
	}
	app, err := New(with.cfg, with.deps)
	if err != nil {
		t.Fatal(err)
	}
	if !with.cfg.tls() { // with it the identity is that of the certificate
		app.who = func(context.Context) *identity {
			return &identity{Caller: with.caller, tenants: []string{with.caller.Tenant}}
		}
	}
	s.app = app
	if with.app != nil {
		with.app(app)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() {
		err := app.Run(ctx)
		readyIn.CloseWithError(io.EOF)
		s.ended <- err
		close(s.ended)
	}()
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		t.Fatalf("not ready: %v", <-s.ended)
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != "ready" || !strings.HasPrefix(fields[1], "grpc=127.0.0.1:") || !strings.HasPrefix(fields[2], "ops=127.0.0.1:") {
		t.Fatalf("ready line %q", line)
	}
	s.ops = "http://" + strings.TrimPrefix(fields[2], "ops=")
	s.addr = strings.TrimPrefix(fields[1], "grpc=")
	s.conn, err = grpc.NewClient(s.addr, grpc.WithTransportCredentials(with.creds))
	if err != nil {
		t.Fatal(err)
	}
	s.gate = hallmarkv1.NewGateServiceClient(s.conn)
	s.contracts = hallmarkv1.NewContractServiceClient(s.conn)
	s.audit = hallmarkv1.NewAuditServiceClient(s.conn)
	s.health = healthv1.NewHealthClient(s.conn)
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-s.ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("Run does not end")
		}
		s.conn.Close()
	})
	return s
}

// newSetup returns what start begins with.
func newSetup(t *testing.T) *setup {
	t.Helper()
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.Contracts, cfg.Data = shipped, t.TempDir()
	cfg.DrainWait, cfg.DrainTimeout = 0, 10*time.Second
	cfg.KeepEvents = 0 // tests have records of any age
	return &setup{
		cfg: cfg, registry: registry, caller: local(1).Caller, creds: insecure.NewCredentials(),
		deps: Deps{Loader: gate.NewLoader(registry), OpenStore: openSQLite},
	}
}

// inPlaintext returns what stands before the services where there is no TLS.
func inPlaintext(t *testing.T) access {
	t.Helper()
	a, err := newAccess(DefaultConfig(), Deps{Log: discard(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func openSQLite(ctx context.Context, dir string) (audit.Store, error) {
	return sqlite.Open(ctx, filepath.Join(dir, "audit.db"), sqlite.Options{})
}

// withStore runs the service on a given store.
func withStore(store audit.Store) func(*setup) {
	return func(s *setup) {
		s.deps.OpenStore = func(context.Context, string) (audit.Store, error) { return store, nil }
	}
}

// call returns a well-formed request with a payload; nil leaves the payload out.
func call(tool string, raw []byte) *hallmarkv1.ValidateRequest {
	req := &hallmarkv1.ValidateRequest{
		Request:  &hallmarkv1.OutstandingRequest{Tool: tool, RequestId: requestID, SessionId: "s1"},
		Upstream: &hallmarkv1.Upstream{Source: "https://reviews.example.test/changes/1042", MediaType: "application/json"},
	}
	if raw != nil {
		req.Payload = &hallmarkv1.ValidateRequest_Raw{Raw: raw}
	}
	return req
}

func ctxFor(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// event returns the record of a decision.
func (s *service) event(t *testing.T, id string) *hallmarkv1.Event {
	t.Helper()
	reply, err := s.audit.GetEvent(ctxFor(t), &hallmarkv1.GetEventRequest{DecisionId: id})
	if err != nil {
		t.Fatalf("GetEvent(%s): %v", id, err)
	}
	return reply.GetEvent()
}

// logged fails the test unless the call is in the log. grpc sends the status of a
// request that cannot be read before the call has ended, hence the wait.
func (s *service) logged(t *testing.T, id string, code codes.Code) {
	t.Helper()
	for range 200 {
		for _, line := range s.log.lines(t, "call") {
			if line["decision_id"] == id && line["code"] == code.String() {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("call %s with code %s is not in the log", id, code)
}

// wantCode fails the test unless err has the code.
func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("code %s (%v), want %s", got, err, want)
	}
}

// onlyID returns the decision id of a header and fails the test unless there is
// exactly one and it is a UUIDv7.
func onlyID(t *testing.T, header metadata.MD) string {
	t.Helper()
	ids := header.Get(DecisionIDHeader)
	if len(ids) != 1 || len(ids[0]) != 36 || ids[0][14] != '7' {
		t.Fatalf("decision ids %q", ids)
	}
	return ids[0]
}

// lockedBuffer is a log that a test can read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// lines returns the log's lines of one message.
func (b *lockedBuffer) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if m["msg"] == message {
			out = append(out, m)
		}
	}
	return out
}

// brokenStore fails as it is told. The zero value works and keeps nothing; what the
// tests do not need panics.
type brokenStore struct {
	audit.Store
	mu     sync.Mutex
	fault  error
	hang   bool
	record audit.Record
}

func (s *brokenStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
}

func (s *brokenStore) Append(ctx context.Context, e audit.Entry) (audit.Outcome, error) {
	s.mu.Lock()
	fault, hang := s.fault, s.hang
	s.record = e.Record
	s.mu.Unlock()
	if hang {
		<-ctx.Done()
		return audit.Outcome{}, ctx.Err()
	}
	return audit.Outcome{}, fault
}

func (s *brokenStore) Get(context.Context, audit.Scope, string) (audit.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record, s.fault
}

func (s *brokenStore) List(context.Context, audit.Scope, audit.Filter, int, string) ([]audit.Record, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []audit.Record{s.record}, "", s.fault
}

// broken returns what the store fails with, else the error of what is not there.
func (s *brokenStore) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.fault, audit.ErrNotFound)
}

func (s *brokenStore) Recall(context.Context, audit.Key, time.Time) ([]byte, error) {
	return nil, s.broken()
}

func (s *brokenStore) Latest(context.Context, audit.Judged) (audit.Newest, error) {
	return audit.Newest{}, s.broken()
}

func (s *brokenStore) Delivered(context.Context, string, string) ([]audit.Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil, s.fault
}

func (s *brokenStore) Mark(context.Context, audit.Scope, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "mark", s.fault
}

func (s *brokenStore) Tail(_ context.Context, _ audit.Scope, _ audit.Filter, mark string, _ int) ([]audit.Record, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil, mark, s.fault
}

func (s *brokenStore) Original(context.Context, audit.Scope, string, time.Time) (audit.Original, error) {
	return audit.Original{}, s.broken()
}

func (s *brokenStore) Purge(context.Context, audit.Purge) (audit.Purged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return audit.Purged{}, s.fault
}

func (s *brokenStore) Ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

func (s *brokenStore) Close(context.Context) error { return nil }

// asUnavailable is how stores report a cause.
func asUnavailable(cause string) error {
	return errors.Join(audit.ErrUnavailable, errors.New(cause))
}

// appended returns the id of the last record that was given to the store.
func (s *brokenStore) appended() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.DecisionID
}
