package fleettest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// Sizes of the siege. The connections stay below the service's default of 1024, which is
// not for one client: whoever may connect at all is known.
const (
	idlers     = 960
	halfShakes = 20
	slowCalls  = 8
	siegePause = 200 * time.Millisecond // of each besieger between its blows
)

// besieger is one way to do harm, as a client whose certificate is good or as one without.
type besieger struct {
	line string
	blow func(*siege) error // an error ends nothing: the service may well send it away
}

// besiegers strike over and over.
var besiegers = []besieger{
	{"a message that says it has 7 MiB", func(s *siege) error {
		return s.raw(nil, binary.BigEndian.AppendUint32([]byte{0}, 7<<20))
	}},
	{"a message of 5 MiB", (*siege).large},
	{"64 MiB of zeros, compressed", func(s *siege) error {
		frame := binary.BigEndian.AppendUint32([]byte{1}, uint32(len(s.bomb))) //nolint:gosec // small
		return s.raw([]hpack.HeaderField{{Name: "grpc-encoding", Value: "gzip"}}, append(frame, s.bomb...))
	}},
	{"headers of 1 MiB", func(s *siege) error {
		return s.raw([]hpack.HeaderField{{Name: "x", Value: strings.Repeat("\x01", 1<<20), Sensitive: true}}, nil)
	}},
	{"many small headers", func(s *siege) error {
		return s.raw(slices.Repeat([]hpack.HeaderField{{Name: "x", Value: "1"}}, 20000), nil)
	}},
}

// siege is all of the besiegers at once, until it is lifted.
type siege struct {
	*authority
	t    *testing.T
	addr string
	bomb []byte
	gate hallmarkv1.GateServiceClient

	ctx  context.Context //nolint:containedctx // it is the siege's life
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu    sync.Mutex
	open  []io.Closer
	blows map[string]int
}

func besiege(t *testing.T, r *replica, a *authority) *siege {
	t.Helper()
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = w.Write(make([]byte, 1<<20)) // into memory
	}
	_ = w.Close()
	s := &siege{
		authority: a, t: t, addr: r.Addr, bomb: bomb.Bytes(), blows: map[string]int{},
		gate: hallmarkv1.NewGateServiceClient(r.dial(t, a, "stranger")),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	t.Cleanup(s.end)
	began := time.Now()
	s.idle()
	s.half()
	t.Logf("%d idle connections made in %s; the replica has %d MiB", idlers, time.Since(began).Round(time.Millisecond), r.memory(t)>>20)
	for range slowCalls {
		s.wg.Go(s.slow)
	}
	for _, b := range besiegers {
		s.wg.Go(func() {
			for s.ctx.Err() == nil {
				_ = b.blow(s)
				s.struck(b.line)
				time.Sleep(siegePause)
			}
		})
	}
	return s
}

// keep has a connection closed at the end.
func (s *siege) keep(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, c)
}

func (s *siege) struck(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blows[line]++
}

// idle makes connections that say nothing after their handshake.
func (s *siege) idle() {
	config := s.config(s.t, "stranger")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range idlers / 8 {
				c, err := tryRaw(s.addr, config)
				if err != nil {
					s.t.Errorf("an idle connection: %v", err)
					return
				}
				s.keep(c)
			}
		})
	}
	wg.Wait()
}

// half makes connections that begin a handshake.
func (s *siege) half() {
	for range halfShakes {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			s.t.Errorf("half a handshake: %v", err)
			return
		}
		_, _ = io.WriteString(conn, "\x16\x03\x01\x02\x00\x01")
		s.keep(conn)
	}
}

// slow begins a call, sends a byte now and then, and begins anew when it is cut off.
func (s *siege) slow() {
	config := s.config(s.t, "stranger")
	for s.ctx.Err() == nil {
		c, err := tryRaw(s.addr, config)
		if err != nil {
			time.Sleep(siegePause)
			continue
		}
		stream, err := c.tryBegin(hallmarkv1.GateService_Validate_FullMethodName)
		for _, b := range binary.BigEndian.AppendUint32([]byte{0}, 1<<20) {
			if err == nil && s.ctx.Err() == nil {
				err = c.WriteData(stream, false, []byte{b})
				time.Sleep(300 * time.Millisecond)
			}
		}
		c.Close()
		s.struck("a slow call")
	}
}

// raw begins one call and sends so many bytes of it.
func (s *siege) raw(headers []hpack.HeaderField, body []byte) error {
	c, err := tryRaw(s.addr, s.config(s.t, "stranger"))
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	stream, err := c.tryBegin(hallmarkv1.GateService_Validate_FullMethodName, headers...)
	for err == nil && len(body) > 0 {
		part := body[:min(len(body), 16<<10)]
		body = body[len(part):]
		err = c.WriteData(stream, len(body) == 0, part)
	}
	if err != nil {
		return err
	}
	_, err = io.CopyN(io.Discard, c.Conn, 64) // whatever it answers
	return err
}

// large sends what the transport takes and no contract does.
func (s *siege) large() error {
	ctx, cancel := outside.Guard()
	defer cancel()
	call := review("req.siege.0001")
	call.Payload = &hallmarkv1.ValidateRequest_Raw{Raw: bytes.Repeat([]byte("["), 5<<20)}
	reply, err := s.gate.Validate(ctx, call)
	if err == nil && reply.GetResult().GetFailure() == nil || err != nil && status.Code(err) != codes.ResourceExhausted {
		s.t.Errorf("5 MiB: %v, %v", reply, err)
	}
	return err
}

// lift ends the siege and says what it was.
func (s *siege) lift(t *testing.T) {
	t.Helper()
	s.end()
	t.Logf("besieged by %d idle connections, %d half handshakes, and %s", idlers, halfShakes, strings.TrimPrefix(fmt.Sprint(s.blows), "map"))
	for _, b := range besiegers {
		if s.blows[b.line] == 0 {
			t.Errorf("%s: never", b.line)
		}
	}
}

func (s *siege) end() {
	s.stop()
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		_ = c.Close()
	}
	s.open = nil
}
