// Command demo shows Hallmark at work: it starts the service with the shipped
// contracts and policies, sends it what tools might return and what an agent might
// propose, and prints what the agent sees beside what the operator sees. It exits 0 only
// if every answer was the right one.
//
// Run it as `make demo`, which builds the service first.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	binary := flag.String("hallmark", "bin/hallmark", "the service's binary")
	contracts := flag.String("contracts", "contracts", "the contracts directory")
	policies := flag.String("policies", "policies", "the policies directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := run(ctx, *binary, *contracts, *policies); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run plays every act against a service of its own.
func run(ctx context.Context, binary, contracts, policies string) (err error) {
	service, err := start(ctx, binary, contracts, policies)
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := service.stop(); err == nil {
			err = stopErr
		}
	}()
	conn, err := grpc.NewClient(service.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	stage := newStage(conn, service.approver, os.Stdout)
	wrong := 0
	now := time.Now().UTC()
	all := append(results(now), calls(now)...)
	for i, a := range all {
		fmt.Printf("%d. %s\n", i+1, a.heading())
		if err := stage.play(ctx, a); err != nil {
			wrong++
			fmt.Printf("   WRONG: %v\n", err)
		}
		fmt.Println()
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d answers were wrong", wrong, len(all))
	}
	fmt.Printf("%d of %d answers were the right ones.\n", len(all), len(all))
	return nil
}
