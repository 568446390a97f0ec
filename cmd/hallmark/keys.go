package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/audit/seal"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/server"
)

func newKeys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make, rotate, revoke and list the keys of tokens",
		Long: `The keys that sign receipts, permits and challenges are files below DIR/keys, one
set each: receipt-mac, receipt, permit, challenge. Replicas share them. A running service
goes on with the keys that it has read until it reads them again. The keys of approvers
and of issuers of grants belong to those people and services: see hallmark keys signer.`,
	}
	asGroup(cmd)
	cmd.AddCommand(newKeysInit(), newKeysRotate(), newKeysRevoke(), newKeysList(),
		newKeysPublic(), newKeysSigner())
	return cmd
}

// keysDir is the data directory whose keys a command is about.
type keysDir string

func (d *keysDir) register(cmd *cobra.Command) {
	cmd.Flags().StringVar((*string)(d), "data", "data", "data directory of the service; the keys are in keys below it")
}

func (d keysDir) dir() receipt.Dir { return receipt.Dir(filepath.Join(string(d), "keys")) }

// fault adds the cure that only the command line knows.
func (d keysDir) fault(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s; make the keys with: hallmark keys init --data %s", printable(err.Error()), printable(string(d)))
	}
	return errors.New(printable(err.Error()))
}

func newKeysInit() *cobra.Command {
	var data keysDir
	var out output
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the key sets that are missing",
		Long: `Makes DIR/keys (mode 0700) and those sets that it lacks, and the audit key, which makes
digests of originals where a contract redacts. What is there stays.`,
		Example: `  hallmark keys init --data data
  hallmark keys init --data data --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			made, err := data.dir().Init(time.Now())
			if err != nil {
				return data.fault(err)
			}
			// The audit key stands beside them, and replicas share it too.
			file := filepath.Join(string(data.dir()), server.AuditKeyFile)
			_, absent := os.Stat(file)
			if _, err := seal.LoadOrCreateKey(file); err != nil {
				return errors.New(printable(err.Error()))
			}
			line := initLine{Made: append([]receipt.Set{}, made...), AuditKey: errors.Is(absent, fs.ErrNotExist)}
			if out == "json" {
				return printObject(cmd.OutOrStdout(), line)
			}
			return line.print(cmd.OutOrStdout())
		},
	}
	data.register(cmd)
	out.registerAs(cmd, "one object")
	return cmd
}

// print says what was made.
func (l initLine) print(w io.Writer) error {
	var b strings.Builder
	for _, set := range l.Made {
		fmt.Fprintf(&b, "made %s\n", set)
	}
	if l.AuditKey {
		b.WriteString("made the audit key\n")
	}
	if b.Len() == 0 {
		b.WriteString("nothing to make: every set is there\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newKeysRotate() *cobra.Command {
	var data keysDir
	var out output
	var lead, overlap time.Duration
	cmd := &cobra.Command{
		Use:   "rotate SET",
		Short: "Add a key to a set and let it take over",
		Long: `Adds a key to a set, receipt-mac, receipt, permit or challenge, or to all of them.
The key signs after the lead, so that every replica and executor knows it by then; the
keys before it verify until the overlap after that has ended. Without --overlap that is
the longest life of the set's tokens, so that none dies before its time.`,
		Example: `  hallmark keys rotate permit --data data
  hallmark keys rotate all --lead 0s
  hallmark keys rotate all --output json`,
		Args: oneArg("the set, or all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			rotated := receipt.Sets()
			if args[0] != "all" {
				rotated = []receipt.Set{receipt.Set(args[0])}
			}
			for _, set := range rotated {
				if !slices.Contains(receipt.Sets(), set) {
					return fmt.Errorf("%q is no set of keys; there are %s, and all", printable(string(set)), setNames())
				}
				length := overlap
				if !cmd.Flags().Changed("overlap") {
					length = set.Overlap()
				}
				if lead < 0 || length < 0 {
					return errors.New("--lead and --overlap are durations from 0s on")
				}
				now := time.Now()
				kid, err := data.dir().Rotate(set, now, lead, length)
				if err != nil {
					return data.fault(err)
				}
				line := rotateLine{set, kid, now.Add(lead).UTC(), now.Add(lead + length).UTC()}
				if err := line.print(cmd.OutOrStdout(), out); err != nil {
					return err
				}
			}
			return nil
		},
	}
	data.register(cmd)
	out.registerAs(cmd, "one set a line")
	cmd.Flags().DurationVar(&lead, "lead", time.Minute, "time until the key signs; 0s: at once")
	cmd.Flags().DurationVar(&overlap, "overlap", 0, "how long the keys before go on verifying (default: what loses no token)")
	return cmd
}

func setNames() string {
	var names []string
	for _, set := range receipt.Sets() {
		names = append(names, string(set))
	}
	return strings.Join(names, ", ")
}

func newKeysRevoke() *cobra.Command {
	var data keysDir
	var out output
	cmd := &cobra.Command{
		Use:   "revoke KID",
		Short: "Make every token of one key worthless",
		Long: `Revokes a key at once and for good. If it was the one that signs, rotate its set
with --lead 0s first, or nothing of its kind is issued until then.`,
		Example: `  hallmark keys revoke kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k --data data
  hallmark keys revoke kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k --output json`,
		Args: oneArg("the key's id, as keys list shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			now := time.Now()
			set, err := data.dir().Revoke(args[0], now)
			if errors.Is(err, &receipt.Error{Reason: receipt.UnknownKey}) {
				fmt.Fprintln(cmd.ErrOrStderr(), "no set has a key with this id; see hallmark keys list")
				if out == "json" {
					if err := printObject(cmd.OutOrStdout(), revokeLine{Kid: args[0]}); err != nil {
						return err
					}
				}
				return errNo
			}
			if err != nil {
				return data.fault(err)
			}
			if out == "text" {
				fmt.Fprintf(cmd.OutOrStdout(), "revoked a key of %s\n", set)
			}
			keys, err := data.dir().List(now)
			if err != nil { // of other sets; what was asked for is done
				fmt.Fprintln(cmd.ErrOrStderr(), data.fault(err))
			}
			signs := func(k receipt.KeyInfo) bool { return k.Set == set && k.State == receipt.Active }
			signed := slices.ContainsFunc(keys, signs)
			if !signed {
				fmt.Fprintf(cmd.ErrOrStderr(), "no key of %s signs now; run: hallmark keys rotate %s --lead 0s --data %s\n",
					set, set, printable(string(data)))
			}
			if out == "json" {
				return printObject(cmd.OutOrStdout(), revokeLine{args[0], true, set, signed})
			}
			return nil
		},
	}
	data.register(cmd)
	out.registerAs(cmd, "one object")
	return cmd
}

func newKeysList() *cobra.Command {
	var data keysDir
	var out output
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys and what each does now",
		Long: `Lists every key: waiting (signs later), active (signs), verifying (another signs),
retired (past its overlap), revoked. No secret is shown.`,
		Example: "  hallmark keys list --data data",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			keys, err := data.dir().List(time.Now())
			if err != nil {
				return data.fault(err)
			}
			if out == "json" {
				return listKeysJSON(cmd, keys)
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "SET\tSTATE\tKID\tALG\tSIGNS FROM\tVERIFIES UNTIL")
			for _, k := range keys {
				until := moment(k.NotAfter)
				if k.State == receipt.Revoked {
					until = "revoked " + moment(k.Revoked)
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Set, k.State, printable(k.ID), k.Algorithm, moment(k.NotBefore), until)
			}
			return table.Flush()
		},
	}
	data.register(cmd)
	cmd.Flags().StringVar((*string)(&out), "output", "text", "text, or json (one key a line)")
	return cmd
}

// moment prints a time; a dash for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
