package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/sqlite"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/server"
)

// lines is an output that a test reads while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// ids are the decision ids of the events that were printed as JSON.
func (l *lines) ids(t *testing.T) (ids []string) {
	t.Helper()
	for line := range strings.Lines(l.String()) {
		e := &hallmarkv1.Event{}
		if err := protojson.Unmarshal([]byte(line), e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ids = append(ids, e.GetDecisionId())
	}
	return ids
}

// within waits for a condition, for at most so long that a machine under load gets there.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// serveAt runs the service on an address until the returned function is called.
func serveAt(t *testing.T, addr, data string) (at string, stop func()) {
	t.Helper()
	loader, err := newLoader()
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.DefaultConfig()
	cfg.Listen, cfg.OpsListen, cfg.Contracts, cfg.Data = addr, "127.0.0.1:0", "../../contracts", data
	cfg.DrainWait, cfg.DrainTimeout = 0, 100*time.Millisecond
	ready, readyIn := io.Pipe()
	app, err := server.New(cfg, server.Deps{Loader: loader, Ready: readyIn, OpenStore: func(ctx context.Context, dir string) (audit.Store, error) {
		return sqlite.Open(ctx, filepath.Join(dir, "audit.db"), sqlite.Options{})
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := app.Run(ctx)
		readyIn.CloseWithError(io.EOF)
		ended <- err
	}()
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		t.Fatalf("not ready: %v", <-ended)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return strings.TrimPrefix(strings.Fields(line)[1], "grpc="), stop
}

// judge makes n judgements and returns their ids.
func judge(t *testing.T, addr string, n int) (ids []string) {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for range n {
		reply, err := hallmarkv1.NewGateServiceClient(conn).Validate(ctx, &hallmarkv1.ValidateRequest{
			Request: &hallmarkv1.OutstandingRequest{Tool: "deploy_status", RequestId: "req.00000001"},
			Payload: &hallmarkv1.ValidateRequest_Raw{Raw: []byte("{}")},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, reply.GetDecisionId())
	}
	return ids
}

// A service that goes away and comes back: whoever watches sees every judgement once,
// those too that were made before the first event and while it was not connected.
func TestWatchOverRestarts(t *testing.T) {
	data := t.TempDir()
	addr, stop := serveAt(t, "127.0.0.1:0", data)
	judge(t, addr, 3) // before: not seen
	ctx, interrupt := context.WithCancel(context.Background())
	out, notes, ended := &lines{}, &lines{}, make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"audit", "watch", "--addr", addr, "--output", "json"}, strings.NewReader(""), out, notes)
	}()
	time.Sleep(500 * time.Millisecond) // nothing tells from outside that a watch has begun
	var want []string
	for range 3 {
		stop()
		_, stop = serveAt(t, addr, data)
		want = append(want, judge(t, addr, 5)...)
		within(t, "what was judged", func() bool { return len(out.ids(t)) >= len(want) })
		want = append(want, judge(t, addr, 1)...)
	}
	within(t, "the last one", func() bool { return len(out.ids(t)) >= len(want) })
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := out.ids(t); !slices.Equal(got, want) {
		t.Errorf("seen %d, judged %d:\n%v\n%v", len(got), len(want), got, want)
	}
	if !strings.Contains(notes.String(), "going on after what was printed") {
		t.Errorf("notes %q", notes)
	}
}

// faulty is a service whose streams end as they are told, each after one event.
type faulty struct {
	hallmarkv1.UnimplementedAuditServiceServer
	mu    sync.Mutex
	ends  []error // of the streams, in turn; nil is an end without fault
	after []string
}

func (f *faulty) ListEvents(context.Context, *hallmarkv1.ListEventsRequest) (*hallmarkv1.ListEventsResponse, error) {
	return &hallmarkv1.ListEventsResponse{Events: []*hallmarkv1.Event{{DecisionId: "anchor"}}, NextPageToken: "again"}, nil
}

func (f *faulty) WatchEvents(req *hallmarkv1.WatchEventsRequest, stream grpc.ServerStreamingServer[hallmarkv1.WatchEventsResponse]) error {
	f.mu.Lock()
	n := len(f.after)
	f.after = append(f.after, req.GetAfterDecisionId())
	f.mu.Unlock()
	if n >= len(f.ends) {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	if status.Code(f.ends[n]) == codes.NotFound { // before anything
		return f.ends[n]
	}
	if err := stream.Send(&hallmarkv1.WatchEventsResponse{Event: &hallmarkv1.Event{DecisionId: fmt.Sprint("id", n)}}); err != nil {
		return err
	}
	return f.ends[n]
}

func (f *faulty) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	hallmarkv1.RegisterAuditServiceServer(s, f)
	go s.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// Which ends are worth another try, and after what.
func TestWatchEnds(t *testing.T) {
	fault := func(c codes.Code) error { return status.Error(c, "x\x1b[31m") }
	for _, c := range []struct {
		line  string
		ends  []error
		flags []string
		after []string
		code  int // -1: goes on until it is interrupted
		note  string
	}{
		{"a replica stops", []error{fault(codes.Unavailable)}, nil, []string{"", "id0"}, -1, `Unavailable: x\u{001B}[31m`},
		{"it fell behind", []error{fault(codes.ResourceExhausted)}, nil, []string{"", "id0"}, -1, "ResourceExhausted"},
		{"an end without fault", []error{nil}, nil, []string{"", "id0"}, -1, "the stream ended"},
		{"again and again", []error{nil, fault(codes.Unavailable), nil}, nil, []string{"", "id0", "id1", "id2"}, -1, "going on"},
		{"after a decision", []error{nil}, []string{"--after", "given"}, []string{"given", "id0"}, -1, "going on"},
		{"a fault of the service", []error{fault(codes.Internal)}, nil, []string{""}, 2, `answered Internal: x\u{001B}[31m`},
		{"rights that were taken", []error{nil, fault(codes.PermissionDenied)}, nil, []string{"", "id0"}, 2, "answered PermissionDenied"},
		{"no such decision", []error{fault(codes.NotFound)}, []string{"--after", "given"}, []string{"given"}, 2, "no such decision to go on after"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			f := &faulty{ends: c.ends}
			ctx, interrupt := context.WithCancel(context.Background())
			defer interrupt()
			out, notes, ended := &lines{}, &lines{}, make(chan int, 1)
			args := append([]string{"audit", "watch", "--output", "json", "--addr", f.serve(t)}, c.flags...)
			go func() { ended <- run(ctx, args, strings.NewReader(""), out, notes) }()
			if c.code < 0 {
				within(t, "the last stream", func() bool {
					f.mu.Lock()
					defer f.mu.Unlock()
					return len(f.after) == len(c.after)
				})
				interrupt()
			}
			if code := <-ended; code != max(c.code, 0) {
				t.Errorf("exit code %d: %s", code, notes)
			}
			if !slices.Equal(f.after, c.after) {
				t.Errorf("went on after %q, want %q", f.after, c.after)
			}
			if !strings.Contains(notes.String(), c.note) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// A service that lists without end, or the same again, is not followed for ever.
func TestListEnds(t *testing.T) {
	var out, notes bytes.Buffer
	code := run(context.Background(), []string{"audit", "list", "--all", "--addr", (&faulty{}).serve(t)}, strings.NewReader(""), &out, &notes)
	if code != 2 || !strings.Contains(notes.String(), "the same page again") {
		t.Errorf("exit code %d: %s", code, notes.String())
	}
}
