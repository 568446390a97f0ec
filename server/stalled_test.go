package server

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// stall keeps n calls of a method open that have sent their headers and nothing else: for
// each that ends it begins another. It returns how many have ended, and ends with the test.
func stall(t *testing.T, conn net.Conn, method string, n int) *atomic.Int64 {
	t.Helper()
	c := rawOver(t, conn)
	for range n {
		c.begin(t, method)
	}
	var cut atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			frame, err := c.ReadFrame()
			if err != nil {
				return
			}
			if f, ok := frame.(*http2.MetaHeadersFrame); ok && f.StreamEnded() {
				cut.Add(1)
				_ = c.WriteRSTStream(f.StreamID, http2.ErrCodeNo) // counts as open until then
				if _, err := c.open(method); err != nil {
					return
				}
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-ended })
	return &cut
}

// secure connects as whoever the certificate names.
func (s *service) secure(t *testing.T, config *tls.Config) net.Conn {
	t.Helper()
	conn, err := tls.Dial("tcp", s.addr, config)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// servedWithin is how long a call may take beside those that stall, which otherwise keep
// their places for readTimeout.
const servedWithin = 3 * time.Second

// served makes calls for a while, one after the other, and fails the test for each that is
// not served soon. It says how long the slowest took.
func served(t *testing.T, who string, calls func(context.Context) error) {
	t.Helper()
	var slowest time.Duration
	n := 0
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); n++ {
		ctx, cancel := context.WithTimeout(context.Background(), servedWithin)
		began := time.Now()
		if err := calls(ctx); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		slowest = max(slowest, time.Since(began))
		cancel()
	}
	t.Logf("%s: %d calls, the slowest took %s", who, n, slowest)
}

// C: two identities that stall as many calls as they can keep nobody out: no third, and
// not their own other connections.
func TestStalledCallsStarveNobody(t *testing.T) {
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, listed)
	s := start(t, withTLS)
	agent := a.issue(t, []string{"spiffe://example.test/agent"})
	web := a.issue(t, []string{"dns:adapter.example.test"})
	var cut []*atomic.Int64
	for _, p := range []pair{agent, web, agent, web} {
		cut = append(cut, stall(t, s.secure(t, a.config(t, p)), hallmarkv1.GateService_Validate_FullMethodName, 60))
	}
	eventually(t, "all places are taken", func() bool { return s.used("reading").calls == maxReads })
	served(t, "another identity", func(ctx context.Context) error { return methods()["contracts"](ctx, s.conn) })
	own := s.as(t, a.client(t, agent))
	served(t, "the same identity", func(ctx context.Context) error { return methods()["validate"](ctx, own) })
	if used := s.used("reading"); used.calls > maxReads {
		t.Errorf("%+v is read", used)
	}
	for i, n := range cut {
		if n.Load() == 0 {
			t.Errorf("nothing of connection %d was cut", i)
		}
	}
	_, body := get(t, s.ops+"/metrics")
	for _, line := range []string{
		`hallmark_admission_refused_total{bound="gave_way",identity="agent",lane="reading"} `,
		`hallmark_in_flight_calls{lane="reading"} `, `hallmark_in_flight_calls{lane="judged"} 0`,
	} {
		if !strings.Contains(body, line) {
			t.Errorf("%s is not in the metrics", line)
		}
	}
}

// In plaintext all callers are one identity; a connection that stalls leaves the others
// their share all the same.
func TestStalledConnection(t *testing.T) {
	s := start(t, func(s *setup) { s.cfg.AdmissionWait = 0 })
	for range 3 {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		stall(t, conn, hallmarkv1.GateService_Validate_FullMethodName, 40)
	}
	eventually(t, "all places are taken", func() bool { return s.used("reading").calls == maxReads })
	served(t, "another connection", func(ctx context.Context) error { return methods()["validate"](ctx, s.conn) })
}

// The same for probes, which any certificate of the authority may send and which all are
// the same nobody.
func TestStalledProbesStarveNobody(t *testing.T) {
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, listed)
	s := start(t, withTLS)
	const check = healthv1.Health_Check_FullMethodName
	for i := range 120 {
		p := a.issue(t, []string{fmt.Sprintf("dns:stranger-%d.example.test", i%4)})
		stall(t, s.secure(t, a.config(t, p)), check, 1)
	}
	stall(t, s.secure(t, a.config(t, a.issue(t, []string{"dns:many.example.test"}))), check, 120)
	stall(t, s.secure(t, a.config(t, a.issue(t, []string{"spiffe://example.test/agent"}))), check, 120)
	eventually(t, "all places are taken", func() bool { return s.used("probe").calls == maxProbes })
	balancer := s.as(t, a.client(t, a.issue(t, []string{"dns:balancer.example.test"})))
	served(t, "a balancer", func(ctx context.Context) error { return methods()["health"](ctx, balancer) })
	served(t, "an identity", func(ctx context.Context) error { return methods()["health"](ctx, s.conn) })
	if used := s.used("probe"); used.calls > maxProbes {
		t.Errorf("%+v is read", used)
	}
}

// A request that comes slowly is read as long as nobody lacks a place.
func TestSlowUpload(t *testing.T) {
	s := start(t)
	c := dialRaw(t, s.addr)
	body := marshal(t, call("review_status", []byte(accepted)))
	message := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	stream := c.begin(t, hallmarkv1.GateService_Validate_FullMethodName)
	for i, b := range message {
		if i%50 == 0 {
			time.Sleep(3 * slowAfter / time.Duration(len(message)/50))
			if err := methods()["validate"](ctxFor(t), s.conn); err != nil {
				t.Errorf("beside a slow upload: %v", err)
			}
		}
		if err := c.WriteData(stream, i == len(message)-1, []byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if code, reset := c.ends(t, stream); code != "0" {
		t.Errorf("status %q, reset of %q", code, reset)
	}
	eventually(t, "room is given back", s.idle)
}

// What was sent whole but not ended is not there: it has a place and no room, and nothing
// is made of its bytes.
func TestMessageWithoutEnd(t *testing.T) {
	s := start(t)
	c := dialRaw(t, s.addr)
	body := marshal(t, call("review_status", []byte(accepted)))
	stream := c.begin(t, hallmarkv1.GateService_Validate_FullMethodName)
	if err := c.WriteData(stream, false, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call is being read", func() bool { return s.used("reading").calls == 1 })
	time.Sleep(50 * time.Millisecond)
	if s.used("reading").calls != 1 || s.used("judged") != (room{}) {
		t.Errorf("reading %+v, judged %+v", s.used("reading"), s.used("judged"))
	}
	if err := c.WriteData(stream, true, nil); err != nil {
		t.Fatal(err)
	}
	if code, _ := c.ends(t, stream); code != "0" {
		t.Errorf("status %q", code)
	}

	var into healthv1.HealthCheckRequest
	refused := noRoom("")
	steps := chain{{name: "admission", reading: func(context.Context) (func(int, error) error, error) {
		return func(size int, err error) error {
			if size != 3 || into.GetService() != "" {
				t.Errorf("%d bytes, and %q was made of them before there is room", size, into.GetService())
			}
			return refused
		}, nil
	}}}
	err := steps.receive(context.Background(), &into, func(m any) error {
		return newWireCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer{0x0a, 1, 'x'}}, m)
	})
	if err != refused || into.GetService() != "" { //nolint:errorlint // it is handed on as it is
		t.Errorf("%v, %q", err, into.GetService())
	}
}

// A stream of judged calls keeps no room while its caller says nothing, or does not read.
func TestIdleStreamKeepsNoRoom(t *testing.T) {
	s := start(t, func(s *setup) { s.app = func(a *App) { a.access.lanes.patience = 700 * time.Millisecond } })
	stream, err := reflectionv1.NewServerReflectionClient(s.conn).ServerReflectionInfo(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	ask := &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "hallmark.v1.GateService"}}
	if err := stream.Send(ask); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the next is waited for", func() bool { return s.used("reading").calls == 1 && s.used("judged") == room{} })
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its end", s.idle)

	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	c := rawOver(t, conn, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := c.begin(t, reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName)
	body, err := proto.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if err := c.WriteData(id, false, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "a reply that is not read", func() bool { return s.used("judged").calls == 1 && s.used("reading").calls == 0 })
	eventually(t, "its end", s.idle)
}

// Nobody has to send a large probe, and none is kept.
func TestLargeProbe(t *testing.T) {
	s := start(t)
	large := &healthv1.HealthCheckRequest{Service: strings.Repeat("x", maxProbeBytes)}
	_, err := s.health.Check(ctxFor(t), large)
	wantCode(t, err, codes.InvalidArgument)
	w, err := s.health.Watch(ctxFor(t), large)
	if err == nil {
		_, err = w.Recv()
	}
	wantCode(t, err, codes.InvalidArgument)
}
