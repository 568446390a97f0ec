package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	"github.com/hallmark-gate/hallmark/server"
)

func newCheck() *cobra.Command {
	var format, policies string
	var out output
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Lint contracts and policies, and run the cases",
		Long: `Loads and lints every contract below DIR and runs all cases through the same
path as the service. Prints one block for each case that failed (expected, got, where),
what no case reaches, and a summary; or with --format junit the same as JUnit's XML, a
testsuite for each version of a tool; or with --output json one object.

With --policies the deployment's policies are linted and compiled with the contracts, as
the service does at its start; cases run under their own policies and not under these.

Exit codes: 0 all passed, 1 a case failed, 2 a contract or a policy is refused.`,
		Example: `  hallmark check contracts
  hallmark check contracts --policies policies
  hallmark check contracts --format junit >report.xml
  hallmark check contracts --output json`,
		Args: oneArg("the contracts directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := newReporter(cmd.OutOrStdout(), format, out)
			if err != nil {
				return err
			}
			return check(cmd, args[0], policies, to)
		},
	}
	cmd.Flags().StringVar(&policies, "policies", "", "directory of policies; empty: none")
	cmd.Flags().StringVar(&format, "format", "text", "text, or junit (XML for build servers)")
	out.registerAs(cmd, "one object")
	return cmd
}

// reporter writes what check found.
type reporter interface {
	refused(contract.Faults) error
	ran(casetest.Report, *gate.Set) error
}

// newReporter returns what writes to w as the flags say.
func newReporter(w io.Writer, format string, out output) (reporter, error) {
	if err := out.check(); err != nil {
		return nil, err
	}
	switch {
	case format != "text" && format != "junit":
		return nil, fmt.Errorf("--format is text or junit, not %q", printable(format))
	case format == "junit" && out == "json":
		return nil, errors.New("--format junit and --output json are two reports; ask for one")
	case format == "junit":
		return junitReporter{w}, nil
	case out == "json":
		return jsonReport{w}, nil
	}
	return textReport{w}, nil
}

// textReport writes for people.
type textReport struct{ w io.Writer }

func (r textReport) refused(faults contract.Faults) error {
	for _, f := range faults {
		if _, err := fmt.Fprintln(r.w, printable(f.String())); err != nil {
			return err
		}
	}
	return nil
}

func (r textReport) ran(report casetest.Report, set *gate.Set) error {
	_, err := fmt.Fprintf(r.w, "%s, %s, digest %s\n", report, plural(len(set.Tools()), "contract"), short(set.Digest()))
	return err
}

// junitReporter writes JUnit's XML.
type junitReporter struct{ w io.Writer }

func (r junitReporter) refused(faults contract.Faults) error { return printJUnitFaults(r.w, faults) }

func (r junitReporter) ran(report casetest.Report, _ *gate.Set) error { return printJUnit(r.w, report) }

func check(cmd *cobra.Command, dir, policies string, to reporter) error {
	loader, err := newLoader()
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory; name the one that holds <tool>/v<N>/contract.yaml", printable(dir))
	}
	if err := isPolicies(policies); err != nil {
		return err
	}
	set, err := loader.LoadDir(dir, policies)
	var faults contract.Faults
	if errors.As(err, &faults) {
		faults = server.NamePolicies(faults, dir, policies)
		if err := to.refused(faults); err != nil {
			return err
		}
		return fmt.Errorf("%s refused; nothing of %s would be served", plural(len(faults), "fault"), printable(dir))
	}
	if err != nil {
		return err
	}
	report := casetest.Run(cmd.Context(), set)
	if err := to.ran(report, set); err != nil {
		return err
	}
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
