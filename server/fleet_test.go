package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// clientConfig is the service config that clients are told to use.
const clientConfig = `{"loadBalancingConfig":[{"round_robin":{}}],"methodConfig":[{"name":[{}],
	"retryPolicy":{"maxAttempts":4,"initialBackoff":"0.05s","maxBackoff":"1s","backoffMultiplier":2,"retryableStatusCodes":["UNAVAILABLE"]}}]}`

// C: a replica that is told to stop under load loses no call: what it has begun it
// answers, what it does not take goes to the other.
func TestStopUnderLoadLosesNoCall(t *testing.T) {
	stays := start(t)
	leaves := start(t, func(s *setup) { s.cfg.DrainWait = 200 * time.Millisecond })
	both := manual.NewBuilderWithScheme("fleet")
	both.InitialState(resolver.State{Endpoints: []resolver.Endpoint{
		{Addresses: []resolver.Address{{Addr: stays.addr}}}, {Addresses: []resolver.Address{{Addr: leaves.addr}}},
	}})
	conn, err := grpc.NewClient("fleet:///hallmark", grpc.WithResolvers(both),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(clientConfig))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	watch, err := leaves.health.Watch(ctxFor(t), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	client := hallmarkv1.NewGateServiceClient(conn)
	ctx, stop := context.WithCancel(context.Background())
	var answered atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				reply, err := client.Validate(ctxFor(t), call("review_status", []byte(accepted)))
				if err != nil || reply.GetResult().GetData() == nil {
					t.Errorf("a call: %v", err)
					return
				}
				answered.Add(1)
			}
		})
	}
	eventually(t, "load", func() bool { return answered.Load() > 50 })
	leaves.stop()
	if err := <-leaves.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	for err == nil { // the watcher was told, and its stream has ended
		_, err = watch.Recv()
	}
	after := answered.Load()
	eventually(t, "load on the other", func() bool { return answered.Load() > after+50 })
	stop()
	wg.Wait()
}

// Keys are published where nobody can change them on their way.
func TestMayServeKeys(t *testing.T) {
	for _, c := range []struct {
		line string
		addr net.Addr
		tls  bool
		want bool
	}{
		{"loopback", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, false, true},
		{"loopback of IPv6", &net.TCPAddr{IP: net.IPv6loopback}, false, true},
		{"everywhere", &net.TCPAddr{IP: net.IPv4zero}, false, false},
		{"no address", &net.TCPAddr{}, false, false},
		{"elsewhere", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, false, false},
		{"elsewhere with TLS", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, true, true},
		{"a socket of another kind", &net.UnixAddr{Name: "/x"}, false, false},
	} {
		if got := mayServeKeys(c.addr, c.tls); got != c.want {
			t.Errorf("%s: %t", c.line, got)
		}
	}
}

// Files that change while they are read are not taken, and what cannot be read is told
// once.
func TestFollower(t *testing.T) {
	file := t.TempDir() + "/f"
	write(t, file, "one")
	var taken []string
	clock := &movedClock{}
	f, err := follow("x", []string{file}, Deps{Log: discard(), Clock: clock.now}, func(contents [][]byte) error {
		if string(contents[0]) == "bad" {
			return errors.New("is\nbad")
		}
		taken = append(taken, string(contents[0]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	look := func(content string, want followed) {
		t.Helper()
		if content != "" {
			exchange(t, file, []byte(content))
		} else {
			remove(t, file)
		}
		for range 3 {
			f.look(context.Background(), time.Millisecond)
		}
		got := *f.status.Load()
		if got.refusedSince.IsZero() != (want.fault == "") || got.done != want.done || got.refused != want.refused || want.fault == "is bad" && got.fault != want.fault {
			t.Errorf("after %q: %+v, want %+v", content, got, want)
		}
	}
	look("one", followed{})
	look("two", followed{done: 1})
	look("bad", followed{done: 1, refused: 1, fault: "is bad"})
	look("two", followed{done: 1, refused: 1})
	look("bad", followed{done: 1, refused: 2, fault: "is bad"})
	look("", followed{done: 1, refused: 3, fault: "no file"})
	look("three", followed{done: 2, refused: 3})
	if len(taken) != 3 || f.concern() != "" {
		t.Errorf("taken %q, %s", taken, f.concern())
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	exchange(t, file, []byte("four"))
	f.look(ended, time.Millisecond)
	if len(taken) != 3 {
		t.Error("taken after the end")
	}
}
