// Command demo shows Hallmark at work: it starts the service with the shipped
// contracts, sends it what tools might return, and prints what the agent sees beside
// what the operator sees. It exits 0 only if every answer was the right one.
//
// Run it as `make demo`, which builds the service first.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func main() {
	binary := flag.String("hallmark", "bin/hallmark", "the service's binary")
	contracts := flag.String("contracts", "contracts", "the contracts directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := run(ctx, *binary, *contracts); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run plays every scene against a service of its own.
func run(ctx context.Context, binary, contracts string) (err error) {
	service, err := start(ctx, binary, contracts)
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
	stage := stage{
		gate:  hallmarkv1.NewGateServiceClient(conn),
		audit: hallmarkv1.NewAuditServiceClient(conn),
		out:   os.Stdout,
	}
	wrong := 0
	all := scenes(time.Now().UTC())
	for i, s := range all {
		fmt.Printf("%d. %s\n", i+1, s.title)
		if err := stage.play(ctx, s); err != nil {
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
