package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// deaf makes n calls on a connection and opens no window for their replies. It ends with
// the test.
func deaf(t *testing.T, conn net.Conn, method string, request proto.Message, n int) *rawClient {
	t.Helper()
	c := rawOver(t, conn, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	body, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	message := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	for range n {
		stream := c.begin(t, method)
		for part := range slices.Chunk(message, 16<<10) { // the largest frame
			if err := c.WriteData(stream, false, part); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.WriteData(stream, true, nil); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan struct{})
	go func() { // what the server says is read, so that nothing stands still below
		defer close(ended)
		for {
			if _, err := c.ReadFrame(); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-ended })
	return c
}

// C: replies that nobody takes count as bytes of their identity, which is refused more
// while others are served; their connections are closed in the end.
func TestRepliesThatAreNotTaken(t *testing.T) {
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, listed)
	s := start(t, withTLS, func(s *setup) {
		s.cfg.MaxInFlightBytes, s.cfg.AdmissionWait = 2*MaxReceiveBytes, time.Second
		s.app = func(a *App) { a.access.lanes.patience = 6 * time.Second }
	})
	agent := a.issue(t, []string{"spiffe://example.test/agent"})
	share := s.app.access.lanes.judged.share(&identity{Caller: gate.Caller{Name: "agent"}}).bytes
	document := call("document_read", []byte(strings.Repeat("A line of a document. ", 900))) // a reply of about 40 KiB
	document.Upstream.MediaType = "text/plain"
	for range 3 {
		deaf(t, s.secure(t, a.config(t, agent)), hallmarkv1.GateService_Validate_FullMethodName, document, 45) // 64 KiB each
	}
	own := s.as(t, a.client(t, agent))
	eventually(t, "the identity has used up its share", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), servedWithin)
		defer cancel()
		return status.Code(methods()["contracts"](ctx, own)) == codes.ResourceExhausted
	})
	if used := s.used("leaving").bytes; used < share*9/10 || used > share*3/2 {
		t.Errorf("%d bytes are in use where the share is %d", used, share)
	}
	served(t, "another identity", func(ctx context.Context) error { return methods()["contracts"](ctx, s.conn) })
	eventually(t, "the connections are closed", s.idle)
	if err := methods()["contracts"](ctxFor(t), own); err != nil {
		t.Errorf("the same identity afterwards: %v", err)
	}
	_, body := get(t, s.ops+"/metrics")
	if cut := regexp.MustCompile(`(?m)^hallmark_connections_cut_total [123]$`); !cut.MatchString(body) {
		t.Error("the metrics lack the connections that were cut")
	}
	if !strings.Contains(s.log.String(), `"identity":"agent"`) {
		t.Error("the log does not say whose connections they were")
	}
}

// Neither the time in which a request was read, nor one without room for replies that
// lie there, takes from the other what a call may wait for room.
func TestReadingIsNoWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := DefaultConfig()
		cfg.MaxInFlight, cfg.AdmissionWait = 1, time.Second
		l := newLanes(cfg, methodRights())
		who := &identity{Caller: gate.Caller{Name: "agent"}}
		begin := func() (*ticket, func(int, error) error) {
			call := &ticket{lane: l.judged, who: who}
			done, err := l.reading(context.WithValue(t.Context(), ticketKey{}, call))
			if err != nil {
				t.Fatal(err)
			}
			return call, done
		}
		first, done := begin()
		if err := done(1, nil); err != nil {
			t.Fatal(err)
		}
		second, done := begin()
		time.Sleep(5 * time.Second) // is read slowly
		time.AfterFunc(800*time.Millisecond, func() { first.shrink(room{}) })
		if err := done(1, nil); err != nil {
			t.Errorf("after 0.8 of the second that it may wait: %v", err)
		}
		l.leaving.take(who, l.leaving.total)
		_, done = begin()
		time.AfterFunc(400*time.Millisecond, func() { l.leaving.release(who, l.leaving.total) })
		time.AfterFunc(1200*time.Millisecond, func() { second.shrink(room{}) })
		began := time.Now()
		if err := done(1, nil); err == nil || time.Since(began) != time.Second {
			t.Errorf("%v after %s, want a refusal after the second that both may take", err, time.Since(began))
		}
	})
}

// A reply counts until its client has taken it, has given the call up, or is gone.
func TestRepliesLeave(t *testing.T) {
	s := start(t)
	for _, tt := range []struct {
		name string
		end  func(*rawClient, net.Conn) error
	}{
		{"a window for it", func(c *rawClient, _ net.Conn) error { return c.WriteWindowUpdate(1, 1<<20) }},
		{"a window for half of it, then for the rest", func(c *rawClient, _ net.Conn) error {
			return errors.Join(c.WriteWindowUpdate(1, 100), c.WriteWindowUpdate(1, 1<<20))
		}},
		{"the call is given up", func(c *rawClient, _ net.Conn) error { return c.WriteRSTStream(1, http2.ErrCodeCancel) }},
		{"the client is gone", func(_ *rawClient, conn net.Conn) error { return conn.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			c := deaf(t, conn, hallmarkv1.GateService_Validate_FullMethodName, call("review_status", []byte(accepted)), 1)
			eventually(t, "the reply lies there", func() bool { return s.used("leaving").bytes > 0 })
			if err := tt.end(c, conn); err != nil {
				t.Fatal(err)
			}
			eventually(t, "its room is given back", s.idle)
		})
	}
}

// The bytes of a reply are those that the codec would make, whatever its size.
func TestLeavingMarshal(t *testing.T) {
	lane := newAdmission(room{1, 1 << 30}, 100, 0, 0)
	who := &identity{Caller: gate.Caller{Name: "agent"}}
	for _, size := range []int{0, 1, 100, 1 << 10, 1<<10 + 1, 4 << 10, 1 << 20} {
		d := &departures{lane: lane, patience: time.Hour}
		m := &hallmarkv1.GetOriginalResponse{Sealed: make([]byte, size)}
		data, err := newWireCodec().Marshal(&leaving{m, &outgoing{from: d, who: who}})
		if err != nil {
			t.Fatal(err)
		}
		want, err := proto.Marshal(m)
		if err != nil || !bytes.Equal(data.Materialize(), want) {
			t.Errorf("%d: other bytes than the codec's, %v", size, err)
		}
		used, _, _ := lane.look()
		if used.bytes < int64(len(want)) || used.bytes != d.held || used.bytes == 0 {
			t.Errorf("%d: %+v in use, %d held", size, used, d.held)
		}
		data.Ref()
		data.Free()
		if used, _, _ := lane.look(); used.bytes != d.held || d.held == 0 {
			t.Errorf("%d: given back while a reference is there", size)
		}
		data.Free()
		if used, _, _ := lane.look(); used != (room{}) || d.first != nil || d.last != nil {
			t.Errorf("%d: %+v in use after all", size, used)
		}
	}
}

// Replies leave in any order, and their room is given back once, whether they leave
// before or after their connection.
func TestDepartures(t *testing.T) {
	lane := newAdmission(room{1, 1 << 30}, 100, 0, 0)
	who := &identity{Caller: gate.Caller{Name: "agent"}}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2}, {}} {
		d := &departures{lane: lane, patience: time.Hour}
		of := &outgoing{from: d, who: who}
		var all []*departure
		for i := range 4 {
			all = append(all, of.begin(1000<<i))
		}
		left := int64(15000)
		for _, i := range order {
			for range 2 { // the second counts nothing
				all[i].Put(new(make([]byte, 0, 2000)))
			}
			left -= all[i].size
			if used, _, _ := lane.look(); used.bytes != left || d.held != left {
				t.Errorf("%v: %d in use, %d held, want %d", order, used.bytes, d.held, left)
			}
		}
		d.end()
		if late := of.begin(1); late.counted {
			t.Error("a reply counts after the end of its connection")
		}
		for _, r := range all {
			r.Put(new(make([]byte, 0, 2000)))
		}
		if used, _, _ := lane.look(); used != (room{}) || d.held != 0 {
			t.Errorf("%v: %+v in use after the end, %d held", order, used, d.held)
		}
	}
}

// What is slow and moves is left alone, and so is what a call that lasts has sent; what
// does not leave in its time is not.
func TestLateDepartures(t *testing.T) {
	put := func(m *departure) { m.Put(new(make([]byte, 0, 2000))) }
	for _, tt := range []struct {
		name string
		run  func(done, lasting *outgoing) // takes its time
		cut  bool
	}{
		{"each in its time, one after the other", func(done, _ *outgoing) {
			for range 100 {
				m := done.begin(1 << 10)
				time.Sleep(9 * time.Second)
				put(m)
			}
		}, false},
		{"a large one has more time", func(done, _ *outgoing) {
			m := done.begin(64 * leaveRate)
			time.Sleep(73 * time.Second)
			put(m)
		}, false},
		{"not without end", func(done, _ *outgoing) {
			done.begin(64 * leaveRate)
			time.Sleep(75 * time.Second)
		}, true},
		{"a small one behind a large one", func(done, _ *outgoing) {
			large := done.begin(64 * leaveRate)
			done.begin(1)
			time.Sleep(73 * time.Second)
			put(large)
		}, false},
		{"and not without end", func(done, _ *outgoing) {
			large := done.begin(64 * leaveRate)
			done.begin(1)
			time.Sleep(73 * time.Second)
			put(large)
			time.Sleep(2 * time.Second)
		}, true},
		{"others leave, and one does not", func(done, _ *outgoing) {
			done.begin(1)
			for range 12 {
				m := done.begin(1)
				time.Sleep(time.Second)
				put(m)
			}
		}, true},
		{"the messages of a call that lasts", func(_, lasting *outgoing) {
			lasting.begin(1 << 10)
			lasting.begin(1 << 10)
			time.Sleep(time.Hour)
		}, false},
		{"a little after that", func(_, lasting *outgoing) {
			lasting.begin(1 << 10)
			time.Sleep(time.Hour)
			lasting.end()
			time.Sleep(9 * time.Second)
		}, false},
		{"long after that", func(done, lasting *outgoing) {
			put(done.begin(1))
			lasting.begin(1 << 10)
			time.Sleep(time.Hour)
			lasting.end()
			time.Sleep(11 * time.Second)
		}, true},
		{"the connection is gone", func(done, _ *outgoing) {
			done.begin(1)
			done.from.end()
			time.Sleep(time.Hour)
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lane := newAdmission(room{1, 1 << 30}, 100, 0, 0)
				cut := 0
				d := &departures{lane: lane, patience: 10 * time.Second, cut: func(*identity, int64) { cut++ }}
				who := &identity{Caller: gate.Caller{Name: "agent"}}
				done := &outgoing{from: d, who: who}
				done.end()
				tt.run(done, &outgoing{from: d, who: who})
				synctest.Wait()
				if cut > 0 != tt.cut {
					t.Errorf("cut %d times", cut)
				}
				d.end()
				if used, _, _ := lane.look(); used != (room{}) {
					t.Errorf("%+v in use after the end", used)
				}
			})
		})
	}
}
