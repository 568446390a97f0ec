// Command ratios measures what a judged call costs beside a bare echo of the same
// messages, and prints one line for each measure: name, value, goal.
//
//	ratios -hallmark FILE -echo FILE -load FILE -contracts DIR -policies DIR [-rounds N] [-calls N] [-only REGEXP] [-many N]
//
// Service and echo run beside each other for a whole workload and are loaded in turn;
// what is printed is the median over the rounds. With -many the service is started with so
// many contracts instead, and one of them is changed. Lines without a goal state. Nothing here
// passes or fails: what a machine is worth at the moment is not the sources' fault.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
)

// settings are the flags.
type settings struct {
	hallmark, echo, load string
	contracts, policies  string
	rounds, calls, many  int
	only                 *regexp.Regexp
}

func main() {
	var s settings
	flag.StringVar(&s.hallmark, "hallmark", "bin/hallmark", "the service")
	flag.StringVar(&s.echo, "echo", "", "the echo server")
	flag.StringVar(&s.load, "load", "", "the load generator")
	flag.StringVar(&s.contracts, "contracts", "contracts", "the shipped contracts")
	flag.StringVar(&s.policies, "policies", "policies", "the shipped policies")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds of which the median counts")
	flag.IntVar(&s.calls, "calls", 10000, "calls of a small workload in one round")
	only := flag.String("only", ".", "which workloads, a regular expression")
	flag.IntVar(&s.many, "many", 0, "measure start and reload with so many contracts, and nothing else")
	flag.Parse()
	// Whoever reads only the beginning of the output leaves no service behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	var err error
	switch s.only, err = regexp.Compile(*only); {
	case err != nil:
	case s.many > 0:
		err = s.measureStart(ctx)
	default:
		err = s.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1)
	}
}

// workload is one kind of call and what is asked of it. A goal of 0 states.
type workload struct {
	name      string
	authorize bool
	callers   []int
	share     int     // its calls are the 1/share-th part
	cpu       float64 // goal of the server's processor time for a call, over that of echo
	rate      float64 // goal of the calls per second at the most callers, over those of echo
}

func workloads() []workload {
	many, few := []int{1, 16, 64}, []int{1, 16}
	return []workload{
		{name: "small", callers: many, share: 1, cpu: 1.5, rate: 0.7},
		{name: "small-mac", callers: many, share: 1, cpu: 1.7},
		{name: "small-signed", callers: []int{16}, share: 1},
		{name: "job", callers: few, share: 1},
		{name: "list1m", callers: few, share: 50},
		{name: "text10k", callers: few, share: 4},
		{name: "html100k", callers: few, share: 20},
		{name: "authorize", authorize: true, callers: few, share: 1},
		{name: "authorize-job", authorize: true, callers: few, share: 4},
	}
}

func (s settings) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hallmark-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	contracts, err := deriveContracts(s.contracts, dir)
	if err != nil {
		return fmt.Errorf("contracts for the measurement: %w", err)
	}
	service, err := startProcess(ctx, s.hallmark, "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--drain-wait", "0s", "--reload-every", "0s", "--identity-share", "100", "--admission-wait", "10s",
		"--max-connection-age", "0s",
		"--contracts", contracts, "--policies", s.policies, "--data", dir+"/data", "--issuer", "hallmark")
	if err != nil {
		return err
	}
	defer service.stop()
	for _, w := range workloads() {
		if !s.only.MatchString(w.name) {
			continue
		}
		if err := s.measure(ctx, dir, service, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// measure compares one workload at every number of callers.
func (s settings) measure(ctx context.Context, dir string, service *process, w workload) error {
	reply := dir + "/" + w.name + ".pb"
	if err := s.record(ctx, service, w, reply); err != nil {
		return err
	}
	kind := "-validate"
	if w.authorize {
		kind = "-authorize"
	}
	echo, err := startProcess(ctx, s.echo, kind, reply)
	if err != nil {
		return err
	}
	defer echo.stop()
	for _, callers := range w.callers {
		calls := max(s.calls/w.share, 2*callers)
		if callers == 1 {
			calls = max(calls/4, 20)
		}
		var ours, floor []sample
		for range s.rounds {
			for _, one := range []struct {
				at   *process
				into *[]sample
			}{{echo, &floor}, {service, &ours}} {
				got, err := s.drive(ctx, one.at, service, w, callers, calls)
				if err != nil {
					return err
				}
				*one.into = append(*one.into, got)
			}
		}
		s.print(w, callers, ours, floor)
	}
	return nil
}

func (s settings) print(w workload, callers int, ours, floor []sample) {
	at := fmt.Sprintf("%s@%d/", w.name, callers)
	rate := w.rate
	if callers != slices.Max(w.callers) {
		rate = 0
	}
	line(at+"cpu-ratio", median(ours, floor, func(a, b sample) float64 { return a.cpu / b.cpu }), w.cpu, "<=")
	line(at+"rate-ratio", median(ours, floor, func(a, b sample) float64 { return a.rate / b.rate }), rate, ">=")
	for _, side := range []struct {
		name string
		of   []sample
	}{{"", ours}, {"echo-", floor}} {
		line(at+side.name+"cpu-us", median(side.of, side.of, func(a, _ sample) float64 { return a.cpu }), 0, "")
		line(at+side.name+"per-second", median(side.of, side.of, func(a, _ sample) float64 { return a.rate }), 0, "")
		line(at+side.name+"p50-us", median(side.of, side.of, func(a, _ sample) float64 { return a.p50 }), 0, "")
		line(at+side.name+"p99-us", median(side.of, side.of, func(a, _ sample) float64 { return a.p99 }), 0, "")
	}
}

// line prints a measure; a goal of 0 is none.
func line(name string, value, goal float64, relation string) {
	wanted := "-"
	if goal != 0 {
		wanted = fmt.Sprintf("%s%.4g", relation, goal)
	}
	fmt.Printf("%s %.4g %s\n", name, value, wanted)
}

// median returns the median of what f says of the rounds.
func median(a, b []sample, f func(a, b sample) float64) float64 {
	var of []float64
	for i := range a {
		of = append(of, f(a[i], b[i]))
	}
	slices.Sort(of)
	n := len(of)
	return (of[(n-1)/2] + of[n/2]) / 2
}
