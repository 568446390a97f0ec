package main

import (
	"fmt"

	"github.com/spf13/cobra"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

func newHealthcheck() *cobra.Command {
	var at remote
	var service string
	var out output
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask a running service whether it serves",
		Long: `Asks grpc.health.v1 at the address. For containers and scripts.

Exit codes: 0 serving, 1 not serving, 2 no answer.`,
		Example: `  hallmark healthcheck --addr 127.0.0.1:7443
  hallmark healthcheck --addr gate.example.test:7443 --ca ca.pem --cert probe.pem --key probe.key`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			conn, err := at.dial()
			if err != nil {
				return err
			}
			defer conn.Close()
			ctx, cancel := call(cmd.Context())
			defer cancel()
			reply, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: service})
			if err != nil {
				return callFailed(at.addr, err)
			}
			if out == "json" {
				err = printJSON(cmd.OutOrStdout(), reply)
			} else {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), reply.GetStatus())
			}
			if err != nil {
				return err
			}
			if reply.GetStatus() != healthv1.HealthCheckResponse_SERVING {
				return errNo
			}
			return nil
		},
	}
	at.register(cmd, defaultAddr, "host:port of the service")
	out.register(cmd)
	cmd.Flags().StringVar(&service, "service", "", "one gRPC service, such as hallmark.v1.GateService; empty: the whole")
	return cmd
}
