package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// rawClient speaks HTTP/2 frame by frame.
type rawClient struct {
	net.Conn
	*http2.Framer
	headers *hpack.Encoder
	block   bytes.Buffer
	next    uint32
}

func dialRaw(t *testing.T, addr string) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return rawOver(t, conn)
}

// rawOver begins HTTP/2 on a connection.
func rawOver(t *testing.T, conn net.Conn, settings ...http2.Setting) *rawClient {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	c := &rawClient{Conn: conn, Framer: http2.NewFramer(conn, conn), next: 1}
	c.headers = hpack.NewEncoder(&c.block)
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	return c
}

// begin sends the headers of a call and leaves the rest out.
func (c *rawClient) begin(t *testing.T, method string, more ...hpack.HeaderField) (stream uint32) {
	t.Helper()
	stream, err := c.open(method, more...)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func (c *rawClient) open(method string, more ...hpack.HeaderField) (stream uint32, err error) {
	c.block.Reset()
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: method},
		{Name: ":authority", Value: "127.0.0.1"},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "te", Value: "trailers"},
	}, more...) {
		if err := c.headers.WriteField(f); err != nil {
			return 0, err
		}
	}
	stream = c.next
	c.next += 2
	block := c.block.Bytes()
	first := block[:min(len(block), 16<<10)]
	block = block[len(first):]
	if err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndHeaders: len(block) == 0}); err != nil {
		return 0, err
	}
	for len(block) > 0 {
		part := block[:min(len(block), 16<<10)]
		block = block[len(part):]
		if err := c.WriteContinuation(stream, len(block) == 0, part); err != nil {
			break // the server has had enough
		}
	}
	return stream, nil
}

// ends reads frames until the stream or the connection ends, and returns the status; ""
// where there was none.
func (c *rawClient) ends(t *testing.T, stream uint32) (code, reset string) {
	t.Helper()
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatal("the call does not end")
			}
			return "", "connection"
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if f.StreamID != stream || !f.StreamEnded() {
				continue
			}
			for _, field := range f.Fields {
				if field.Name == "grpc-status" {
					return field.Value, ""
				}
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == stream {
				return "", "stream"
			}
		case *http2.GoAwayFrame:
			return "", "connection"
		}
	}
}

// C: who sends headers and then nothing, or half of a message, keeps room for a bounded
// time only; others are served meanwhile.
func TestSlowRequests(t *testing.T) {
	s := start(t, func(s *setup) {
		s.cfg.MaxInFlight, s.cfg.AdmissionWait = 8, time.Millisecond
		s.app = func(a *App) { a.access.lanes.patience = 300 * time.Millisecond }
	})
	c := dialRaw(t, s.addr)
	half := binary.BigEndian.AppendUint32([]byte{0}, 1<<20)
	for _, sent := range [][]byte{nil, half[:3], append(half, make([]byte, 1000)...)} {
		for _, method := range []string{hallmarkv1.GateService_Validate_FullMethodName, healthv1.Health_Check_FullMethodName, healthv1.Health_Watch_FullMethodName} {
			stream := c.begin(t, method)
			if sent != nil {
				if err := c.WriteData(stream, false, sent); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "the call is being read", func() bool {
				reads, _, _ := s.app.access.lanes.reads.look()
				probes, _, _ := s.app.access.lanes.probes.look()
				return reads.bytes+probes.bytes > 0
			})
			if _, err := s.health.Check(ctxFor(t), &healthv1.HealthCheckRequest{}); err != nil {
				t.Errorf("health beside a slow call: %v", err)
			}
			if code, reset := c.ends(t, stream); code != "4" { // DEADLINE_EXCEEDED
				t.Errorf("%s after %d bytes: status %q, reset of %q", method, len(sent), code, reset)
			}
		}
	}
	eventually(t, "room is given back", func() bool {
		return s.idle() && s.used("watch") == room{}
	})
}

// used returns what a lane has in use.
func (s *service) used(lane string) room {
	l := s.app.access.lanes
	used, _, _ := map[string]func() (room, int, map[refusal]uint64){
		"judged": l.judged.look, "reading": l.reads.look, "probe": l.probes.look, "watch": l.watches.look, "leaving": l.leaving.look,
	}[lane]()
	return used
}

// idle reports whether nothing is read, judged or on its way out.
func (s *service) idle() bool {
	return s.used("judged") == room{} && s.used("reading") == room{} && s.used("probe") == room{} && s.used("leaving") == room{}
}

// Requests that are not there yet have places of their own and take nothing of the room
// of those that are judged. Where there are more than places, who comes is served: slow
// ones make way.
func TestBytesBeforeTheyAreRead(t *testing.T) {
	s := start(t, func(s *setup) { s.cfg.MaxInFlightBytes = MaxReceiveBytes })
	c := dialRaw(t, s.addr)
	for range maxReads + 8 {
		c.begin(t, hallmarkv1.GateService_Validate_FullMethodName)
	}
	eventually(t, "all places are taken", func() bool { return s.used("reading") == room{maxReads, maxReads * MaxReceiveBytes} })
	if used := s.used("judged"); used != (room{}) {
		t.Errorf("%+v is judged before it is read", used)
	}
	time.Sleep(slowAfter)
	for range 20 {
		if _, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil {
			t.Errorf("beside requests that do not come: %v", err)
		}
	}
	if used := s.used("reading"); used.calls > maxReads {
		t.Errorf("%+v is read", used)
	}
	c.Close()
	eventually(t, "a caller that left gives its places back", s.idle)
}

// Connections beyond the bound are closed at once and leave the others alone; one that
// ends makes room.
func TestConnectionsAreBounded(t *testing.T) {
	s := start(t, func(s *setup) { s.cfg.MaxConnections = 4 })
	if err := methods()["validate"](ctxFor(t), s.conn); err != nil {
		t.Fatal(err)
	}
	var idle []net.Conn
	for range 3 {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	listenerFull := func() bool {
		_, body := get(t, s.ops+"/metrics")
		return strings.Contains(body, "hallmark_connections 4\n")
	}
	eventually(t, "all are open", listenerFull)
	for range 10 {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection too many: %v", err)
		}
		conn.Close()
	}
	if err := methods()["validate"](ctxFor(t), s.conn); err != nil {
		t.Errorf("the first connection: %v", err)
	}
	if _, body := get(t, s.ops+"/metrics"); !strings.Contains(body, "hallmark_connections_refused_total 10\n") {
		t.Error("refused connections are not counted")
	}
	idle[0].Close()
	eventually(t, "room for one more", func() bool {
		return methods()["health"](ctxFor(t), s.as(t, newSetup(t).creds)) == nil
	})
}

// C: who connects and says nothing, or half of a handshake, is sent away.
func TestSilentConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a connection may be silent: ", connectTimeout)
	}
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, listed)
	for name, edit := range map[string]func(*setup){"plaintext": func(*setup) {}, "TLS": withTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, edit)
			for _, sent := range []string{"", http2.ClientPreface[:7], "\x16\x03\x01\x02\x00\x01"} {
				conn, err := net.Dial("tcp", s.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := io.WriteString(conn, sent); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "all are connected", func() bool {
				_, body := get(t, s.ops+"/metrics")
				return !strings.Contains(body, "hallmark_connections 0\n")
			})
			for range 600 {
				if _, body := get(t, s.ops+"/metrics"); strings.Contains(body, "hallmark_connections 0\n") {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Error("silent connections stay")
		})
	}
}

// C: headers beyond the bound cost the call or the connection, never the service.
func TestHeaderFlood(t *testing.T) {
	s := start(t)
	for _, size := range []int{20 << 10, 1 << 20, 8 << 20} {
		c := dialRaw(t, s.addr)
		stream := c.begin(t, hallmarkv1.GateService_Validate_FullMethodName, hpack.HeaderField{Name: "x", Value: strings.Repeat("\x01", size), Sensitive: true})
		if code, reset := c.ends(t, stream); reset == "" {
			t.Errorf("%d bytes of headers: status %q", size, code)
		}
		if err := methods()["validate"](ctxFor(t), s.conn); err != nil {
			t.Errorf("beside %d bytes of headers: %v", size, err)
		}
	}
	// As many headers as are allowed pass.
	ctx := metadata.AppendToOutgoingContext(ctxFor(t), "x", strings.Repeat("a", 8<<10))
	if err := methods()["validate"](ctx, s.conn); err != nil {
		t.Error(err)
	}
}

// A request above the size is refused before it is read, and one that says so and sends
// nothing too.
func TestOversize(t *testing.T) {
	s := start(t)
	c := dialRaw(t, s.addr)
	stream := c.begin(t, hallmarkv1.GateService_Validate_FullMethodName)
	if err := c.WriteData(stream, false, binary.BigEndian.AppendUint32([]byte{0}, MaxReceiveBytes+1)); err != nil {
		t.Fatal(err)
	}
	if code, _ := c.ends(t, stream); code != "8" { // RESOURCE_EXHAUSTED
		t.Errorf("status %q", code)
	}
	eventually(t, "room is given back", s.idle)
}

// Compressed requests are refused: their size is not what they cost.
func TestCompressed(t *testing.T) {
	s := start(t)
	var header metadata.MD
	_, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted)), grpc.UseCompressor(gzip.Name), grpc.Header(&header))
	wantCode(t, err, codes.Unimplemented)
	s.logged(t, onlyID(t, header), codes.Unimplemented) // on the record of calls like any other
	c := dialRaw(t, s.addr)
	stream := c.begin(t, hallmarkv1.GateService_Validate_FullMethodName, hpack.HeaderField{Name: "grpc-encoding", Value: "gzip"})
	if code, _ := c.ends(t, stream); code != "12" { // UNIMPLEMENTED
		t.Errorf("status %q", code)
	}
	// The flag without the header.
	stream = c.begin(t, hallmarkv1.GateService_Validate_FullMethodName)
	if err := c.WriteData(stream, true, []byte{1, 0, 0, 0, 1, 0}); err != nil {
		t.Fatal(err)
	}
	if code, _ := c.ends(t, stream); code == "0" {
		t.Error("a compressed message was taken")
	}
}

// A connection that is renewed all the time loses no call.
func TestConnectionAge(t *testing.T) {
	s := start(t, func(s *setup) { s.cfg.MaxConnectionAge = 30 * time.Millisecond })
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if err := methods()["validate"](ctxFor(t), s.conn); err != nil {
			t.Fatal(err)
		}
	}
}

// Reflection can be switched off.
func TestNoReflection(t *testing.T) {
	s := start(t, func(s *setup) { s.cfg.Reflection = false })
	err := s.conn.Invoke(ctxFor(t), "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", &healthv1.HealthCheckRequest{}, &healthv1.HealthCheckResponse{})
	wantCode(t, err, codes.Unimplemented)
}

// A watcher too many is refused as calls are.
func TestWatchersAreBounded(t *testing.T) {
	s := start(t, func(s *setup) { s.app = func(a *App) { a.access.lanes.watches.total.calls = 4 } })
	var watching []grpc.ServerStreamingClient[healthv1.HealthCheckResponse]
	for range 2 { // half of four
		w, err := s.health.Watch(ctxFor(t), &healthv1.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if recvHealth(t, w) != healthv1.HealthCheckResponse_SERVING {
			t.Error("not serving")
		}
		watching = append(watching, w)
	}
	w, err := s.health.Watch(ctxFor(t), &healthv1.HealthCheckRequest{})
	if err == nil {
		_, err = w.Recv()
	}
	if retryIn(err) == 0 {
		t.Errorf("a third watcher: %v", err)
	}
	if _, err := s.health.Check(ctxFor(t), &healthv1.HealthCheckRequest{}); status.Code(err) != codes.OK || len(watching) != 2 {
		t.Error(err)
	}
}
