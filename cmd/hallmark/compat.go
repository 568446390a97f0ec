package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/contract"
)

func newCompat() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "compat OLD NEW",
		Short: "Compare two versions of contracts",
		Long: `Lists what differs between OLD and NEW: two contract folders (<tool>/v<N>, or
<tool> with its versions) or two whole contracts directories. Of tools, each version
that both have is compared with itself; where NEW has a higher version, the highest of
OLD is compared with the highest of NEW, and where another version is current, the two.
Of directories it counts which versions are served, as serving.yaml says: one that is
served no longer is removed, and current going back is breaking.

Each change is one of
  breaking  what agents, callers or connectors relied on no longer holds, what was
            accepted is refused, or something passes that nobody described
  contract  the agent may get, or give, what it could not before
  safe      invisible to agents and callers
Then the cases of OLD are judged by NEW, and what comes out otherwise is listed as
replay; this does not change the exit code.

Exit codes: 0 nothing breaking or contract, or only where the version was raised;
1 a breaking or contract change without a higher version; 2 a folder is refused.`,
		Example: `  hallmark compat contracts/job_status/v1 contracts/job_status/v2
  git worktree add ../main main && hallmark compat ../main/contracts contracts
  hallmark compat old new --output json`,
		Args: twoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "text" && out != "json" {
				return fmt.Errorf("--output is text or json, not %q", printable(out))
			}
			rows, err := compat(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			if err := printRows(cmd.OutOrStdout(), rows, out); err != nil {
				return err
			}
			for _, r := range rows {
				if r.refused() {
					return errNo
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "output", "text", "text, or json (an array of changes)")
	return cmd
}

func twoArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s takes exactly two arguments, the old and the new contracts; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// classReplay is the class of a row about a case that is judged otherwise.
const classReplay contract.Class = "replay"

// compatRow is one line of output. The names of its members in JSON are promised.
type compatRow struct {
	Tool       string         `json:"tool"`
	OldVersion int            `json:"old_version"`    // 0: OLD has none
	NewVersion int            `json:"new_version"`    // 0: NEW has none
	Raised     bool           `json:"version_raised"` // NEW's is higher
	Class      contract.Class `json:"class"`
	Kind       string         `json:"kind"`
	At         string         `json:"at"`
	Old        string         `json:"old"`
	New        string         `json:"new"`
	Detail     string         `json:"detail"`
}

// refused reports whether the change needs a higher version and has none.
func (r compatRow) refused() bool {
	return !r.Raised && (r.Class == contract.Breaking || r.Class == contract.Additive)
}

// compat compares what stands in two directories.
func compat(ctx context.Context, oldDir, newDir string) ([]compatRow, error) {
	old, err := readContracts(oldDir)
	if err != nil {
		return nil, err
	}
	now, err := readContracts(newDir)
	if err != nil {
		return nil, err
	}
	loader, err := newLoader()
	if err != nil {
		return nil, err
	}
	set, err := loader.CompileTree(now.tree)
	if err != nil {
		return nil, refusedContracts(newDir, err)
	}
	pairs, rows := match(old, now)
	for _, p := range pairs {
		compared, err := p.compare(ctx, set)
		if err != nil {
			return nil, err
		}
		rows = append(rows, compared...)
	}
	slices.SortStableFunc(rows, func(a, b compatRow) int { return strings.Compare(a.Tool, b.Tool) })
	return rows, nil
}

// refusedContracts says that contracts are at fault, where that is what err says.
func refusedContracts(dir string, err error) error {
	var faults contract.Faults
	if errors.As(err, &faults) {
		return fmt.Errorf("the contracts in %s are refused:\n%s", printable(dir), printable(faults.Error()))
	}
	return err
}

func printRows(w io.Writer, rows []compatRow, out string) error {
	if out == "json" {
		if rows == nil {
			rows = []compatRow{}
		}
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(rows)
	}
	return printTable(w, rows)
}

// printTable prints rows for people: a block for each pair of versions, and a summary.
func printTable(w io.Writer, rows []compatRow) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	count := map[contract.Class]int{}
	unraised, title := 0, ""
	for _, r := range rows {
		if t := r.title(); t != title {
			table.Flush()
			fmt.Fprintf(&text, "%s\n", t)
			title = t
		}
		count[r.Class]++
		if r.refused() {
			unraised++
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", r.Class, oneLine(r.At), r.Kind, r.values())
	}
	table.Flush()
	fmt.Fprintf(&text, "%d breaking, %d contract, %d safe", count[contract.Breaking], count[contract.Additive], count[contract.Safe])
	if n := count[classReplay]; n > 0 {
		fmt.Fprintf(&text, "; old cases are judged otherwise in %s", plural(n, "point"))
	}
	if unraised > 0 {
		fmt.Fprintf(&text, "; %s without a higher version (the new contract belongs into the next v<N>, beside the old one)", plural(unraised, "change"))
	}
	_, err := fmt.Fprintln(w, text.String())
	return err
}

func (r compatRow) title() string {
	return fmt.Sprintf("%s %s -> %s", printable(r.Tool), versionName(r.OldVersion), versionName(r.NewVersion))
}

func (r compatRow) values() string {
	s := oneLine(r.Detail)
	if r.Old != "" || r.New != "" {
		s = fmt.Sprintf("%s → %s  (%s)", orNone(r.Old), orNone(r.New), s)
	}
	return s
}

func versionName(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("v%d", n)
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return oneLine(s)
}

// oneLine is s for a table: on one line, and not endless.
func oneLine(s string) string {
	const most = 200
	s = strings.ReplaceAll(printable(s), "\n", " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
