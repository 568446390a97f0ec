// Command go is a small orchestrator and executor in Go: it has a result judged, asks
// whether a call may be executed, checks the permit, and acts. It prints one line a step
// and exits 0 if every answer was the right one. README.md says how to run it.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Println("FAILED", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	conn, err := dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	gate, keys := hallmarkv1.NewGateServiceClient(conn), hallmarkv1.NewContractServiceClient(conn)
	if err := restart(ctx, gate, keys); err != nil {
		return err
	}
	return runVectors(ctx, gate, os.Getenv("HALLMARK_VECTORS"))
}

// dial connects by TLS with a certificate of one's own. The service configuration spreads
// calls over the replicas behind a name and repeats those that are UNAVAILABLE, no others.
func dial() (*grpc.ClientConn, error) {
	own, err := tls.LoadX509KeyPair(os.Getenv("HALLMARK_CERT"), os.Getenv("HALLMARK_KEY"))
	if err != nil {
		return nil, err
	}
	authorities, err := os.ReadFile(os.Getenv("HALLMARK_CA"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authorities) {
		return nil, errors.New("HALLMARK_CA holds no certificate")
	}
	config, err := os.ReadFile(filepath.Join("..", "service-config.json"))
	if err != nil {
		return nil, err
	}
	return grpc.NewClient("dns:///"+os.Getenv("HALLMARK_ADDR"),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			MinVersion: tls.VersionTLS13, RootCAs: roots, Certificates: []tls.Certificate{own},
		})),
		grpc.WithDefaultServiceConfig(string(config)))
}

// callTimeout bounds one call, its repetitions included.
const callTimeout = 10 * time.Second

// step prints what was done, or says which step went wrong.
func step(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	fmt.Println("ok    ", what)
	return nil
}
