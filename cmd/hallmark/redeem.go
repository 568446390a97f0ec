package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
)

func newRedeem() *cobra.Command {
	var permit, arguments, audience string
	var at remote
	var out output
	cmd := &cobra.Command{
		Use:   "redeem --permit FILE --arguments FILE --audience A",
		Short: "Use a permit up, once, before acting on it",
		Long: `Asks a service whether a permit is good for exactly these argument bytes, and uses it
up: the answer is yes once. An executor that keeps no record of permits does this before
it acts. The bytes are those that authorize --arguments-out wrote; a line end added to
them makes them other bytes. The audience is who executes, as the contract names it: the
tool's name, unless it says otherwise.

Exit codes: 0 redeemed, 1 not: do not act, 2 no answer: do not act either.`,
		Example: `  hallmark redeem --permit permit.jws --arguments call.json --audience mail_send`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if audience == "" {
				return errors.New("no audience; say who executes with --audience, most often the tool's name")
			}
			request, err := redemption(&inputs{cmd: cmd}, permit, arguments, audience)
			if err != nil {
				return err
			}
			return redeem(cmd, &at, request, out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&permit, "permit", "", "file of the permit, - for standard input")
	flags.StringVar(&arguments, "arguments", "", "file with exactly the bytes that are about to be executed")
	flags.StringVar(&audience, "audience", "", "who executes, as the contract names it")
	at.register(cmd, defaultAddr, "host:port of the service")
	out.register(cmd)
	return cmd
}

func redemption(in *inputs, permit, arguments, audience string) (*hallmarkv1.RedeemRequest, error) {
	token, err := in.token("--permit", permit, receipt.PermitKind)
	if err != nil {
		return nil, err
	}
	const most = 4 << 20
	raw, err := in.read("--arguments", arguments, most)
	if err != nil {
		return nil, err
	}
	return &hallmarkv1.RedeemRequest{Permit: token, Arguments: raw, Audience: audience}, nil
}

func redeem(cmd *cobra.Command, at *remote, request *hallmarkv1.RedeemRequest, out output) error {
	conn, err := at.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := call(cmd.Context())
	defer cancel()
	reply, err := hallmarkv1.NewGateServiceClient(conn).Redeem(ctx, request)
	if err != nil {
		return callFailed(at.addr, err)
	}
	w := cmd.OutOrStdout()
	if out == "json" {
		err = printJSON(w, reply)
	} else if reply.GetRedeemed() {
		_, err = fmt.Fprintf(w, "redeemed\ndecision  %s\n", printable(reply.GetDecisionId()))
	} else {
		_, err = fmt.Fprintf(w, "refused   %s\ndecision  %s\n",
			enumName(reply.GetReason().String(), "REASON_CODE_"), printable(reply.GetDecisionId()))
	}
	if err == nil && !reply.GetRedeemed() {
		return errNo
	}
	return err
}
