package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/server"
)

// approveFlags are the flags of approve.
type approveFlags struct {
	key, jwks, service      string
	at                      remote
	unverified, yes, reject bool
	ttl                     time.Duration
	output                  output
}

// approveLine is the outcome for programs.
type approveLine struct {
	Approved bool      `json:"approved"`
	Approver string    `json:"approver"`
	Tool     string    `json:"tool"`
	Answer   string    `json:"answer,omitzero"` // the signed answer; none where nothing was signed
	Expires  time.Time `json:"expires,omitzero"`
}

func newApprove() *cobra.Command {
	f := approveFlags{service: server.DefaultConfig().Issuer}
	cmd := &cobra.Command{
		Use:   "approve CHALLENGE",
		Short: "Show a call that needs a person, and sign the answer",
		Long: `Shows on standard error all that a challenge holds: who wants what done for whom,
with which arguments, after having seen what. What a screen would hide or act on is shown
as \u{XXXX}. Then it asks, and prints the signed answer on standard output: an approval
of this very call, good once and for ten minutes at most. CHALLENGE is a file, - for
standard input, or the challenge itself. --output json prints the outcome as an object
that has the answer in it, also where nothing was signed.

Whether the service made the challenge is checked with its public keys: those of --jwks,
as hallmark keys public prints them, or asked of the service with --addr. Without either,
--unverified shows and signs what may be anybody's.

The key is made by hallmark keys signer; its public half belongs into the service's
--approvers. Whoever made the call cannot approve it.

Exit codes: 0 approved, 1 not approved (with --reject a signed rejection is printed,
otherwise nothing), 2 no answer.`,
		Example: `  hallmark approve challenge.jws --key ada.jwk --addr 127.0.0.1:7443 >approval.jws
  hallmark approve challenge.jws --key ada.jwk --jwks keys.json --reject >rejection.jws
  hallmark approve challenge.jws --key ada.jwk --jwks keys.json --output json >outcome.json`,
		Args: oneArg("the challenge: a file, - for standard input, or the token"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.key, "key", "", "file of the approver's private key")
	flags.StringVar(&f.jwks, "jwks", "", "file of the service's public keys")
	f.at.registerAs(cmd, "", "host:port of the service, to ask it for its public keys", "tls-cert", "tls-key")
	flags.StringVar(&f.service, "issuer", f.service, "name of the service in its tokens, as its own --issuer says")
	flags.BoolVar(&f.unverified, "unverified", false, "do not check who made the challenge")
	flags.BoolVar(&f.yes, "yes", false, "approve without asking")
	flags.BoolVar(&f.reject, "reject", false, "sign a rejection, without asking")
	f.output.registerAs(cmd, "one object")
	flags.DurationVar(&f.ttl, "ttl", receipt.ApprovalKind.MaxLife(), "how long the answer is good, at most 10m")
	return cmd
}

func (f *approveFlags) run(cmd *cobra.Command, arg string) error {
	if err := errors.Join(f.output.check(), f.check()); err != nil {
		return err
	}
	in := &inputs{cmd: cmd}
	token, err := challengeToken(in, arg)
	if err != nil {
		return err
	}
	signer, err := readSigner("--key", f.key)
	if err != nil {
		return err
	}
	c, err := f.open(cmd.Context(), in, token)
	if err != nil {
		return err
	}
	w := cmd.ErrOrStderr()
	if err := f.show(w, c); err != nil {
		return err
	}
	if c.Caller == signer.Owner() {
		return fmt.Errorf("%s made this call and so cannot approve it; somebody else has to", printable(signer.Owner()))
	}
	approved, err := f.answer(cmd.Context(), in, c)
	if err != nil {
		return err
	}
	outcome := approveLine{Approved: approved, Approver: signer.Owner(), Tool: c.Tool}
	if !approved && !f.reject {
		fmt.Fprintln(w, "not approved; nothing is signed (--reject signs a rejection)")
		if err := outcome.print(cmd.OutOrStdout(), f.output); err != nil {
			return err
		}
		return errNo
	}
	if outcome.Answer, outcome.Expires, err = f.sign(signer, c, token, approved, time.Now()); err != nil {
		return err
	}
	if err := outcome.print(cmd.OutOrStdout(), f.output); err != nil {
		return err
	}
	if !approved {
		fmt.Fprintf(w, "rejected by %s\n", printable(signer.Owner()))
		return errNo
	}
	fmt.Fprintf(w, "approved by %s\n", printable(signer.Owner()))
	return nil
}

// print prints the outcome; for people that is the answer alone, if there is one.
func (l approveLine) print(w io.Writer, out output) error {
	if out == "json" {
		return printObject(w, l)
	}
	_, err := io.WriteString(w, line(l.Answer))
	return err
}

// show prints the challenge, and above and below it where nobody has verified it.
func (f *approveFlags) show(w io.Writer, c receipt.Challenge) error {
	if f.unverified {
		fmt.Fprintln(w, "WARNING: NOT VERIFIED. Nobody has checked who made this challenge; it may be invented.")
		defer fmt.Fprintln(w, "WARNING: NOT VERIFIED. What is shown above may be invented.")
	}
	return showChallenge(w, c, time.Now())
}

func (f *approveFlags) check() error {
	verifying := 0
	for _, given := range []bool{f.jwks != "", f.at.addr != "", f.unverified} {
		if given {
			verifying++
		}
	}
	switch {
	case f.yes && f.reject:
		return errors.New("--yes and --reject exclude each other")
	case verifying == 0:
		return errors.New("nothing to check the challenge with; name the service's public keys with --jwks, or the service with --addr; --unverified goes without")
	case verifying > 1:
		return errors.New("--jwks, --addr and --unverified exclude each other")
	case f.ttl < time.Second || f.ttl > receipt.ApprovalKind.MaxLife():
		return fmt.Errorf("--ttl is a duration from 1s to %s", receipt.ApprovalKind.MaxLife())
	}
	return nil
}

// challengeToken is the challenge that an argument is or names.
func challengeToken(in *inputs, arg string) (string, error) {
	if tokenLike(arg) {
		token := strings.TrimSpace(arg)
		if len(token) > receipt.ChallengeKind.MaxBytes() {
			return "", fmt.Errorf("the challenge is longer than %d bytes, which no challenge is", receipt.ChallengeKind.MaxBytes())
		}
		return token, nil
	}
	return in.token("CHALLENGE", arg, receipt.ChallengeKind)
}

// open reads a challenge, verified unless told otherwise.
func (f *approveFlags) open(ctx context.Context, in *inputs, token string) (receipt.Challenge, error) {
	now := time.Now()
	if f.unverified {
		c, err := readChallenge(token)
		if err == nil && !now.Before(c.Expires) {
			err = errExpired
		}
		return c, err
	}
	jwks, err := f.publicKeys(ctx, in)
	if err != nil {
		return receipt.Challenge{}, err
	}
	keys, err := receipt.ParseChallengeKeys(jwks)
	if err != nil {
		return receipt.Challenge{}, fmt.Errorf("what should be the service's public keys is not: %w", err)
	}
	c, err := keys.Verify(token, f.service, now)
	switch {
	case errors.Is(err, &receipt.Error{Reason: receipt.Expired}):
		return c, errExpired
	case errors.Is(err, &receipt.Error{Reason: receipt.Mismatch}):
		return c, fmt.Errorf("the challenge is of another service than %s; see --issuer", printable(f.service))
	case err != nil:
		return c, fmt.Errorf("this is no challenge of the service (%w); do not approve it, and ask who sent it", err)
	}
	return c, nil
}

var errExpired = errors.New("the challenge has expired; authorize the call again and approve the new challenge")

func (f *approveFlags) publicKeys(ctx context.Context, in *inputs) ([]byte, error) {
	if f.jwks != "" {
		return in.read("--jwks", f.jwks, maxKeys)
	}
	return fetchKeys(ctx, &f.at)
}

// maxKeys bounds a set of public keys in bytes.
const maxKeys = 1 << 20

// fetchKeys asks a service for its public keys.
func fetchKeys(ctx context.Context, at *remote) ([]byte, error) {
	conn, err := at.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx, cancel := call(ctx)
	defer cancel()
	reply, err := hallmarkv1.NewContractServiceClient(conn).GetKeys(ctx, &hallmarkv1.GetKeysRequest{})
	if err != nil {
		return nil, callFailed(at.addr, err)
	}
	return []byte(reply.GetJwksJson()), nil
}

// answer is the person's answer, or the one that flags give.
func (f *approveFlags) answer(ctx context.Context, in *inputs, c receipt.Challenge) (bool, error) {
	if f.yes || f.reject {
		return f.yes, nil
	}
	typed, err := ask(ctx, in, "approve? type the tool's name: ")
	return err == nil && typed == c.Tool, err
}

// sign signs an answer to the challenge as it was received. A person may have looked for
// long: what has expired meanwhile is not answered.
func (f *approveFlags) sign(signer *receipt.Signer, c receipt.Challenge, token string, approved bool, now time.Time) (string, time.Time, error) {
	issued := now.UTC().Truncate(time.Second)
	expires := issued.Add(f.ttl.Truncate(time.Second))
	if expires.After(c.Expires) {
		expires = c.Expires
	}
	if !issued.Before(expires) {
		return "", expires, errExpired
	}
	answer, err := signer.SignApproval(receipt.Approval{
		IssuedAt: issued, Expires: expires, Audience: c.Issuer,
		Challenge: receipt.Digest([]byte(token)), Approved: approved,
	})
	if err != nil {
		return "", expires, fmt.Errorf("signing the answer: %w", err)
	}
	return answer, expires, nil
}
