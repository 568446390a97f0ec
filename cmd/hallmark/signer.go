package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/internal/durable"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func newKeysSigner() *cobra.Command {
	var out, publicOut string
	cmd := &cobra.Command{
		Use:   "signer NAME",
		Short: "Make a key for an approver or an issuer of grants",
		Long: `Makes a key in which somebody other than the service signs: an approver, who answers
challenges with hallmark approve, or an issuer, who signs grants (hallmark grant). NAME is
who it is in records and tokens, such as ada@example.test.

The private key goes to --out, for its owner alone (mode 0600); a file that is there is
never overwritten. The public key is printed, or added to the JWK Set of --public-out,
which is made if absent. That file is what the service is given: --approvers FILE for
approvers, any number of them in one file; --grant-issuers NAME=FILE for an issuer, each
with a file of its own. The service reads it again from time to time.

Exit codes: 0 made, 2 not made.`,
		Example: `  hallmark keys signer ada@example.test --out ada.jwk --public-out approvers.json
  hallmark keys signer portal --out portal.jwk --public-out portal.json`,
		Args: oneArg("the name of the approver or issuer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return errors.New("no file for the private key; name one with --out")
			}
			private, public, err := receipt.NewSigner(args[0], time.Now())
			if err != nil {
				return fmt.Errorf("no key can have the name %q: up to 2048 bytes without control characters", printable(args[0]))
			}
			if publicOut != "" {
				if public, err = mergeKeys(args[0], publicOut, public); err != nil {
					return fileFault("--public-out", publicOut, err)
				}
			}
			if err := writePrivate(out, append(private, '\n')); err != nil {
				return fileFault("--out", out, err)
			}
			if publicOut == "" {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", public)
				return err
			}
			if err := replaceFile(publicOut, append(public, '\n'), 0o644); err != nil {
				return errors.Join(fileFault("--public-out", publicOut, err), os.Remove(out))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "made a key of %s in %s; its public half is in %s\n",
				cell(args[0]), cell(out), cell(publicOut))
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "new file of the private key")
	cmd.Flags().StringVar(&publicOut, "public-out", "", "JWK Set that the public key is added to; empty: print it")
	return cmd
}

// mergeKeys adds the one key of a JWK Set to those of a file, if it is there, and makes
// sure that the service takes the whole, be it as approvers or as the keys of this issuer.
func mergeKeys(owner, name string, public []byte) ([]byte, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return public, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeys {
		return nil, errors.New("is not the file of a JWK Set")
	}
	there, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	set, err := strictjson.Parse(there, strictjson.Ceilings())
	keys := set.Member("keys")
	if err != nil || keys.Kind() != strictjson.Array {
		return nil, errors.New("is not a JWK Set; the public key was not added")
	}
	added, err := strictjson.Parse(public, strictjson.Ceilings())
	if err != nil {
		return nil, err
	}
	merged := []byte(`{"keys":[`)
	for _, k := range keys.Elements() {
		merged = append(strictjson.AppendJSON(merged, k), ',')
	}
	merged = append(strictjson.AppendJSON(merged, added.Member("keys").Element(0)), `]}`...)
	_, notApprovers := receipt.ParseApprovers(merged)
	_, notIssuer := receipt.ParseIssuers(map[string][]byte{owner: merged})
	if notApprovers != nil && notIssuer != nil {
		return nil, fmt.Errorf("holds what is neither a set of approvers nor the keys of %s (%w); the public key was not added", printable(owner), notApprovers)
	}
	return merged, nil
}

// writePrivate makes a file with a secret for its owner alone.
func writePrivate(name string, private []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return errors.New("is there already; a key is never overwritten, so name another file")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(private)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// replaceFile puts content in the place of a file in one step, so that a service which
// reads it meanwhile sees the one or the other.
func replaceFile(name string, content []byte, mode fs.FileMode) error {
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return durable.Replace(name, content, mode)
}

func newKeysPublic() *cobra.Command {
	var data keysDir
	var at remote
	cmd := &cobra.Command{
		Use:   "public",
		Short: "Print the public keys that verify permits and challenges",
		Long: `Prints the JWK Set (RFC 7517) that executors check permits with and approvers
challenges: of a data directory, or of a running service with --addr. MAC keys and keys
that are revoked or past their time are not in it.

Exit codes: 0 printed, 2 no answer.`,
		Example: `  hallmark keys public --data data
  hallmark keys public --addr 127.0.0.1:7443 >keys.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if at.addr != "" && cmd.Flags().Changed("data") {
				return errors.New("--addr and --data exclude each other: one asks a service, the other reads a directory")
			}
			jwks, err := publicKeys(cmd, data, &at)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", printable(string(jwks)))
			return err
		},
	}
	data.register(cmd)
	at.register(cmd, "", "host:port of a service to ask in place of reading a directory")
	return cmd
}

func publicKeys(cmd *cobra.Command, data keysDir, at *remote) ([]byte, error) {
	if at.addr != "" {
		return fetchKeys(cmd.Context(), at)
	}
	keys, err := data.dir().Load()
	if err != nil {
		return nil, data.fault(err)
	}
	return keys.Public(time.Now()), nil
}
