package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/server"
)

func newContracts() *cobra.Command {
	var at remote
	var dir, policies string
	var out output
	cmd := &cobra.Command{
		Use:   "contracts",
		Short: "List the contracts that serve",
		Long: `Lists every version of every tool that a running service judges by, or with
--contracts those that it would serve from a directory: the tool, its version (* marks
the current one), whether it changes anything, what its results are, who owns it, the
beginning of the digest of its files, and what it is for. The last line names the whole
set; every reply carries that digest.

Exit codes: 0 listed, 2 no answer, or contracts that are refused.`,
		Example: `  hallmark contracts --addr 127.0.0.1:7443
  hallmark contracts --contracts contracts --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if cmd.Flags().Changed("addr") && dir != "" {
				return fmt.Errorf("--addr and --contracts exclude each other: one asks a service, the other reads a directory")
			}
			if policies != "" && dir == "" {
				return fmt.Errorf("--policies goes with --contracts; a service has its own")
			}
			list, err := listContracts(cmd.Context(), at, dir, policies)
			if err != nil {
				return err
			}
			if out == "json" {
				return printJSON(cmd.OutOrStdout(), list)
			}
			return printContracts(cmd.OutOrStdout(), list)
		},
	}
	at.register(cmd, defaultAddr, "host:port of the service")
	cmd.Flags().StringVar(&dir, "contracts", "", "contracts directory to read in place of asking a service")
	cmd.Flags().StringVar(&policies, "policies", "", "directory of policies, which are part of the set's digest, with --contracts")
	out.register(cmd)
	return cmd
}

// listContracts reads a directory where one is named, else asks the service.
func listContracts(ctx context.Context, at remote, dir, policies string) (*hallmarkv1.ListContractsResponse, error) {
	if dir != "" && at.secured() {
		return nil, errNoRemote
	}
	if dir != "" {
		set, err := loadSet(dir, policies)
		if err != nil {
			return nil, err
		}
		return server.ListOf(set), nil
	}
	conn, err := at.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx, cancel := call(ctx)
	defer cancel()
	list, err := hallmarkv1.NewContractServiceClient(conn).ListContracts(ctx, &hallmarkv1.ListContractsRequest{})
	if err != nil {
		return nil, callFailed(at.addr, err)
	}
	return list, nil
}

// printContracts prints a table and the digest of the set.
func printContracts(w io.Writer, list *hallmarkv1.ListContractsResponse) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOOL\tVERSION\tEFFECT\tKIND\tOWNER\tDIGEST\tDESCRIPTION")
	for _, c := range list.GetContracts() {
		current := ""
		if c.GetCurrent() {
			current = " *"
		}
		fmt.Fprintf(table, "%s\tv%d%s\t%s\t%s\t%s\t%s\t%s\n",
			cell(c.GetTool()), c.GetVersion(), current, effectName(c.GetEffect()), cell(c.GetKind()),
			cell(c.GetOwner()), short(c.GetDigest()), cell(c.GetDescription()))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s, digest %s\n", plural(len(list.GetContracts()), "contract"), cell(list.GetContractsDigest()))
	return err
}

func effectName(e hallmarkv1.Effect) string {
	switch e {
	case hallmarkv1.Effect_EFFECT_READ_ONLY:
		return "read only"
	case hallmarkv1.Effect_EFFECT_SIDE_EFFECT:
		return "side effect"
	}
	return "unknown"
}

// shortDigest is how many hex digits of a digest are enough for people.
const shortDigest = 12

func short(digest string) string { return cell(digest[:min(len(digest), shortDigest)]) }
