// Command hallmark runs the service and everything around it: it serves, checks
// contracts, judges single replies, and reads the audit record.
//
// Exit codes: 0 the answer is yes (served, accepted, healthy, every case passed);
// 1 the answer is no (a reply was refused, a case failed, the service is not healthy);
// 2 there is no answer (wrong usage, unreadable input, contracts that are refused,
// nobody at the address).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitNo       = 1
	exitNoAnswer = 2
)

// errNo is returned where the answer is no and has been printed.
var errNo = errors.New("no")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return exitNo
	default:
		fmt.Fprintln(errOut, "hallmark:", err)
		return exitNoAnswer
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "hallmark",
		Short: "Judges what tools return before an agent takes it as evidence",
		Long: `Hallmark stands between tools and agents. It judges the bytes that a tool
returned by the tool's contract, gives the agent the few promised fields or one fixed
refusal, and keeps a record of every judgement for operators.

Exit codes: 0 yes, 1 no (refused, failed, unhealthy), 2 no answer (usage, unreadable
input, refused contracts, nobody at the address).`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	asGroup(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%s; see %s --help", printable(err.Error()), cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newServe(), newCheck(), newCompat(), newContracts(), newNew(), newValidate(), newAuthorize(),
		newApprove(), newGrant(), newRedeem(), newSchema(), newText(),
		newAudit(), newOriginal(), newKeys(), newMigrate(), newHealthcheck(), newVersion(),
	)
	return root
}

// asGroup makes a command of others: by itself it shows its help, and a name that none of
// them has is told from an argument.
func asGroup(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		cure := "there are " + strings.Join(names, ", ")
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			cure = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return fmt.Errorf("%s has no command %q (%s); see %s --help", cmd.CommandPath(), printable(args[0]), cure, cmd.CommandPath())
	}
}

// noArgs is cobra.NoArgs with a cure.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, only flags; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// oneArg asks for exactly one argument.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes exactly one argument, %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
