// Command load calls a server as fast as it answers, from a number of callers at once,
// and says how long that took.
//
//	load -addr HOST:PORT -workload NAME -callers N -calls N [-record FILE]
//
// It prepares what the workload needs, warms the server up, prints "begin", waits for a
// line on standard input, measures, and prints one line of JSON: calls, seconds, and the
// quantiles of latency in microseconds. With -record it makes one call and writes the
// reply to the file instead. A call that does not end as the workload expects ends the
// command: refusals are cheap, and would pass for speed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// report is what is printed.
type report struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
}

func main() {
	addr := flag.String("addr", "", "host:port of the server")
	prepareAt := flag.String("prepare", "", "host:port of the service that issues evidence; empty: addr")
	name := flag.String("workload", "small", "which requests")
	callers := flag.Int("callers", 1, "calls at one time")
	calls := flag.Int("calls", 1000, "calls that are measured")
	record := flag.String("record", "", "file that takes one reply")
	flag.Parse()
	if *prepareAt == "" {
		*prepareAt = *addr
	}
	if err := run(*addr, *prepareAt, *name, *callers, *calls, *record); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// dial connects with windows that hold a whole large reply.
func dial(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(4<<20), grpc.WithStaticConnWindowSize(16<<20))
}

func run(addr, prepareAt, name string, callers, calls int, record string) error {
	make, known := workloads()[name]
	if !known {
		return fmt.Errorf("no workload is called %s", name)
	}
	ctx := context.Background()
	helper, err := dial(prepareAt)
	if err != nil {
		return err
	}
	warm := max(calls/10, callers)
	send, err := make(ctx, hallmarkv1.NewGateServiceClient(helper), warm+calls)
	if err != nil {
		return fmt.Errorf("preparing %s: %w", name, err)
	}
	// A connection for every 16 callers, as a pool would.
	var clients []hallmarkv1.GateServiceClient
	for range (callers + 15) / 16 {
		conn, err := dial(addr)
		if err != nil {
			return err
		}
		clients = append(clients, hallmarkv1.NewGateServiceClient(conn))
	}
	if record != "" {
		reply, err := send(ctx, clients[0], 0)
		if err != nil {
			return err
		}
		b, err := proto.Marshal(reply)
		if err != nil {
			return err
		}
		return os.WriteFile(record, b, 0o600)
	}
	if _, err := drive(ctx, clients, callers, 0, warm, send); err != nil {
		return err
	}
	fmt.Println("begin")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	began := time.Now()
	took, err := drive(ctx, clients, callers, warm, calls, send)
	if err != nil {
		return err
	}
	r := report{Calls: calls, Seconds: time.Since(began).Seconds(), P50: quantile(took, 50), P99: quantile(took, 99)}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// quantile returns a percentile of durations, in microseconds, and sorts them.
func quantile(took []time.Duration, percent int) float64 {
	slices.Sort(took)
	return float64(took[min(len(took)*percent/100, len(took)-1)]) / 1e3
}

// drive makes calls first … first+calls-1 and returns how long each took. The error is
// that of a call; the others then end early.
func drive(ctx context.Context, clients []hallmarkv1.GateServiceClient, callers, first, calls int, send sender) ([]time.Duration, error) {
	took := make([]time.Duration, calls)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < calls && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				began := time.Now()
				if _, err := send(ctx, clients[c%len(clients)], first+i); err != nil {
					failed.Store(&err)
					return
				}
				took[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	return took, nil
}
