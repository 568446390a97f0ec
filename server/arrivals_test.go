package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// whole lets an identity have every place.
func whole(places int) func(*identity) int { return func(*identity) int { return places } }

// crowd makes calls that leave when they are cut, and notes which were.
type crowd struct {
	*arrivals
	mu  sync.Mutex
	cut []string
}

func (c *crowd) comes(call, who string, conn net.Addr) (*arrival, error) {
	var a *arrival
	placed := make(chan struct{})
	a, err := c.enter(context.Background(), named(who, 0), conn, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cut = append(c.cut, call)
		go func() { <-placed; c.leave(a) }()
	})
	close(placed)
	return a, err
}

// must is a call that finds a place.
func (c *crowd) must(t *testing.T, call, who string, conn net.Addr) *arrival {
	t.Helper()
	a, err := c.comes(call, who, conn)
	if err != nil {
		t.Errorf("%s: %v", call, err)
	}
	return a
}

// refused is a call that finds none.
func (c *crowd) refused(t *testing.T, call, who string, conn net.Addr) {
	t.Helper()
	var full *roomError
	if _, err := c.comes(call, who, conn); !errors.As(err, &full) {
		t.Errorf("%s: %v", call, err)
	}
}

func (c *crowd) want(t *testing.T, cut ...string) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.cut, cut) {
		t.Errorf("cut were %q, want %q", c.cut, cut)
	}
}

// conn is a connection; each time another.
func conn(port int) net.Addr { return &net.TCPAddr{Port: port} }

// Who comes while slow requests hold more than their part gets the place of the youngest of
// these. The others go on, and those that are not slow are left alone.
func TestSlowGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{arrivals: newArrivals(8, whole(8), 25*time.Millisecond, 100, 200*time.Millisecond, 50)}
		one := conn(1)
		for i := range 8 {
			c.must(t, fmt.Sprint(i), "a", one)
			time.Sleep(time.Millisecond)
		}
		c.refused(t, "too early", "a", one)
		c.want(t)
		time.Sleep(200 * time.Millisecond)
		for i := range 4 {
			c.must(t, fmt.Sprint("new ", i), "a", one)
		}
		c.want(t, "7", "6", "5", "4")
		c.refused(t, "the slow have their part only", "a", one)
		time.Sleep(200 * time.Millisecond) // now the new ones are slow
		c.must(t, "newer", "a", one)
		c.want(t, "7", "6", "5", "4", "new 3")
	})
}

// Who holds many places gives way to who holds few, however fast it is, after a moment; an
// identity to another, and within one a connection to another.
func TestManyGiveWayToFew(t *testing.T) {
	for name, other := range map[string]string{"another identity": "b", "another connection": "a"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &crowd{arrivals: newArrivals(8, whole(8), 25*time.Millisecond, 100, time.Second/5, 50)}
				one, two := conn(1), conn(2)
				for i := range 8 {
					c.must(t, fmt.Sprint(i), "a", one)
				}
				began := time.Now()
				c.must(t, "first", other, two)
				if took := time.Since(began); took != c.moment {
					t.Errorf("it waited %s", took)
				}
				for range 3 {
					c.must(t, "more", other, two)
				}
				c.want(t, "0", "1", "2", "3")
				c.refused(t, "more than half", other, two)
			})
		})
	}
}

// What others send over the same connection, a proxy's, is not an identity's own.
func TestProxiesConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{arrivals: newArrivals(8, whole(4), 25*time.Millisecond, 100, time.Second/5, 50)}
		proxy, direct := conn(1), conn(2)
		for i := range 4 {
			c.must(t, fmt.Sprint("b", i), "b", proxy)
		}
		for i := range 2 {
			c.must(t, fmt.Sprint("a", i), "a", proxy)
			c.must(t, fmt.Sprint("own ", i), "a", direct)
		}
		c.refused(t, "as many on each", "a", direct)
		c.want(t)
	})
}

// An identity that has its share makes room for itself, and costs nobody else a place.
func TestOwnShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{arrivals: newArrivals(8, whole(2), 25*time.Millisecond, 100, time.Second/5, 0)}
		one, two := conn(1), conn(2)
		c.must(t, "b0", "b", two)
		c.must(t, "a0", "a", one)
		read := c.must(t, "a1", "a", one)
		if !c.keep(read) {
			t.Error("a call that was not cut is")
		}
		time.Sleep(time.Second)
		c.must(t, "a2", "a", one)
		c.refused(t, "a3", "a", one) // one is read and one is new
		c.want(t, "a0")
		if _, _, refused := c.look(); refused[refusal{"identity_calls", "a"}] != 1 || refused[refusal{"gave_way", "a"}] != 1 {
			t.Errorf("%v", refused)
		}
	})
}

// A queue that is full has room for whoever has few in it.
func TestQueueOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{arrivals: newArrivals(1, whole(1), time.Hour, 3, 24*time.Hour, 100)}
		one := conn(1)
		first := c.must(t, "first", "a", one)
		ends := make(chan string, 10)
		wait := func(call, who string, on net.Addr) {
			go func() {
				_, err := c.comes(call, who, on)
				ends <- fmt.Sprint(call, " ", err == nil)
			}()
			synctest.Wait()
		}
		for i := range 3 {
			wait(fmt.Sprint("a", i), "a", one)
		}
		c.refused(t, "a3", "a", one)
		wait("b0", "b", conn(2)) // for a2
		wait("a4", "a", conn(3)) // for a1: connection 1 has two, and this one none
		c.leave(first)
		synctest.Wait()
		time.Sleep(2 * time.Hour)
		var got []string
		for range 5 {
			got = append(got, <-ends)
		}
		if !slices.Equal(got[:3], []string{"a2 false", "a1 false", "a0 true"}) {
			t.Errorf("%q", got)
		}
	})
}

// recount holds what arrivals know to what there is.
func (a *arrivals) recount(t *testing.T, share int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	of, on := map[string]tally{}, map[line]tally{}
	count := func(c *arrival, add func(*tally)) {
		by := line{c.who.Name, c.conn}
		o, n := of[c.who.Name], on[by]
		add(&o)
		add(&n)
		of[c.who.Name], on[by] = o, n
	}
	for _, c := range a.at {
		count(c, func(t *tally) {
			t.all++
			t.at++
			if !c.cut {
				t.staying++
			}
		})
		if c.gone || c.cut && c.end == nil {
			t.Error("one that cannot be here is")
		}
	}
	for _, c := range a.queue {
		count(c, func(t *tally) {
			t.all++
			t.waiting++
			if c.victim != nil {
				t.due++
			}
		})
		if a.lacks(c) == "" {
			t.Errorf("%s waits though there is a place", c.who.Name)
		}
	}
	if len(a.at) > a.places || len(a.queue) > a.most || len(of) != len(a.names) || len(on) != len(a.conns) {
		t.Errorf("%d are read, %d wait, %d names, %d connections", len(a.at), len(a.queue), len(a.names), len(a.conns))
	}
	for name, want := range of {
		if got := *a.names[name]; got != want || got.at > share {
			t.Errorf("%s has %+v, want %+v", name, got, want)
		}
	}
	for by, want := range on {
		if got := *a.conns[by]; got != want {
			t.Errorf("%+v has %+v, want %+v", by, got, want)
		}
	}
}

// However calls come, stall, are cut and leave, no bound is exceeded, every tally is right,
// nothing gets lost, and who fits is not kept waiting.
func TestArrivalsNeverExceed(t *testing.T) {
	const places, share = 8, 5
	a := newArrivals(places, whole(share), 3*time.Millisecond, 10, 2*time.Millisecond, 50)
	var conns []net.Addr
	for i := range 6 {
		conns = append(conns, conn(i))
	}
	var wg sync.WaitGroup
	for worker := range 30 {
		wg.Go(func() {
			for range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				over, leave := context.WithTimeout(ctx, time.Duration(rand.IntN(6000))*time.Microsecond)
				end := cancel
				if rand.IntN(10) == 0 {
					end = nil
				}
				c, err := a.enter(over, named(string(rune('a'+worker%4)), 0), conns[rand.IntN(len(conns))], end)
				a.recount(t, share)
				if err == nil {
					switch rand.IntN(3) {
					case 0:
						<-over.Done() // cut, or at its end
					case 1:
						a.keep(c)
					}
					a.leave(c)
				}
				a.recount(t, share)
				leave()
				cancel()
			}
		})
	}
	wg.Wait()
	if used, waiting, _ := a.look(); used != (room{}) || waiting != 0 || len(a.names) != 0 || len(a.conns) != 0 {
		t.Errorf("left %+v, %d waiting, %v, %v", used, waiting, a.names, a.conns)
	}
}

// upload sends a body as fast as the service opens its windows, and then nothing, until the
// connection ends.
func (c *rawClient) upload(body []byte, method string) {
	stream, err := c.open(method)
	windows := map[uint32]int{0: 65535, stream: streamWindow}
	for err == nil {
		for n := 1; n > 0 && err == nil; {
			n = min(len(body), windows[0], windows[stream], 16<<10)
			if n > 0 {
				err = c.WriteData(stream, false, body[:n])
			}
			body = body[n:]
			windows[0] -= n
			windows[stream] -= n
		}
		var frame http2.Frame
		if frame, err = c.ReadFrame(); err == nil {
			if f, ok := frame.(*http2.WindowUpdateFrame); ok {
				windows[f.StreamID] += int(f.Increment)
			}
		}
	}
}

// What is sent and not yet there takes the memory of its places, and of the windows of the
// others.
func TestMemoryOfSlowUploads(t *testing.T) {
	const places, senders = 4, 24
	s := start(t, func(s *setup) {
		s.app = func(a *App) { a.access.lanes.reads.places = places }
	})
	body := append(binary.BigEndian.AppendUint32([]byte{0}, MaxReceiveBytes), make([]byte, MaxReceiveBytes-1)...)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := heap(), uint64(0)
	for range senders {
		go dialRaw(t, s.addr).upload(body, hallmarkv1.GateService_Validate_FullMethodName)
	}
	for range 20 {
		time.Sleep(20 * time.Millisecond)
		most = max(most, heap())
		if used := s.used("reading"); used.calls > places {
			t.Errorf("%d are read", used.calls)
		}
	}
	grown := int64(most) - int64(before)
	t.Logf("%d senders, %d places: %d MiB", senders, places, grown>>20)
	if bound := int64(2*places*MaxReceiveBytes + senders*connWindow); grown > bound {
		t.Errorf("%d bytes more than before, bound %d", grown, bound)
	}
}
