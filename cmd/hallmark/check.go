package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
)

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR",
		Short: "Lint contracts and run their cases",
		Long: `Loads and lints every contract below DIR and runs all cases through the same
path as the service. Prints one block for each case that failed (expected, got, where),
what no case reaches, and a summary.

Exit codes: 0 all passed, 1 a case failed, 2 a contract is refused.`,
		Example: "  hallmark check contracts",
		Args:    oneArg("the contracts directory"),
		RunE:    func(cmd *cobra.Command, args []string) error { return check(cmd, args[0]) },
	}
}

func check(cmd *cobra.Command, dir string) error {
	loader, err := newLoader()
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory; name the one that holds <tool>/v<N>/contract.yaml", printable(dir))
	}
	set, err := loader.Load(os.DirFS(dir))
	var faults contract.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			fmt.Fprintln(cmd.OutOrStdout(), printable(f.String()))
		}
		return fmt.Errorf("%s refused; nothing of %s would be served", plural(len(faults), "fault"), printable(dir))
	}
	if err != nil {
		return err
	}
	report := casetest.Run(cmd.Context(), set)
	fmt.Fprintf(cmd.OutOrStdout(), "%s, %s, digest %s\n", report, plural(len(set.Tools()), "contract"), set.Digest()[:12])
	if len(report.Failed()) > 0 {
		return errNo
	}
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
