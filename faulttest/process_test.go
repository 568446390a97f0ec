package faulttest

import (
	"os"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// full reports whether the long form is asked for.
func full() bool { return os.Getenv("HALLMARK_FAULTS") == "full" }

// either returns what the form that runs takes.
func either[T any](short, long T) T {
	if full() {
		return long
	}
	return short
}

func TestMain(m *testing.M) { os.Exit(outside.Main(m)) }

// process is one life of the service, and connections to it.
type process struct {
	*outside.Process
	conn  *grpc.ClientConn
	gate  hallmarkv1.GateServiceClient
	audit hallmarkv1.AuditServiceClient
	set   hallmarkv1.ContractServiceClient
}

// launch starts the service and does not wait for anything.
func launch(t *testing.T, s place, flags ...string) *process {
	t.Helper()
	return &process{Process: outside.Launch(t, s.env(), append([]string{
		"--drain-wait", "0s", "--admission-wait", "10s", // a slow machine is no fault
	}, s.flags(flags...)...)...)}
}

// start starts the service and waits until it says that it is ready.
func start(t *testing.T, s place, flags ...string) *process {
	t.Helper()
	p := launch(t, s, flags...)
	p.Await(t)
	var err error
	p.conn, err = grpc.NewClient(p.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.conn.Close() })
	p.gate, p.audit = hallmarkv1.NewGateServiceClient(p.conn), hallmarkv1.NewAuditServiceClient(p.conn)
	p.set = hallmarkv1.NewContractServiceClient(p.conn)
	return p
}

// stop ends the service as an operator does.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.Term(t)
	p.Exits(t)
}

// get asks the ops port, which must answer.
func (p *process) get(t *testing.T, path string) (int, string) {
	t.Helper()
	code, text := p.Get(path)
	if code == 0 {
		t.Errorf("GET %s: %s", path, text)
	}
	return code, text
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // our own file
	if err != nil {
		t.Fatal(err)
	}
	return text
}
