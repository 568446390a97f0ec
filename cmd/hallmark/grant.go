package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/server"
)

// grantFlags are the flags of grant.
type grantFlags struct {
	key, audience, tenant, session, principal string
	grants                                    []string
	ttl                                       time.Duration
	output                                    output
}

// grantLine is a signed token for programs.
type grantLine struct {
	Token    string    `json:"token"`
	ID       string    `json:"id"`
	IssuedAt time.Time `json:"issuedAt"`
	Expires  time.Time `json:"expires"`
	Grants   []string  `json:"grants"` // their ids
}

func newGrant() *cobra.Command {
	f := grantFlags{audience: server.DefaultConfig().Issuer, tenant: "local"}
	cmd := &cobra.Command{
		Use:   "grant --grants FILE --key FILE",
		Short: "Sign the grants of a user's task",
		Long: `Signs grants, so that an orchestrator which may not grant by itself can present them:
authorize takes the token with --grant-token. It counts for one tenant, session and
principal, at the services that know the issuer's key (serve --grant-issuers). A portal
where users start tasks does the same by itself; this is for operators, and for trying
things. The token is printed on standard output.

Exit codes: 0 signed, 2 not signed.`,
		Example: `  hallmark grant --key portal.jwk --session-id task-7 --principal ada@example.test \
    --grants grants.json --ttl 8h >grant.jws
  hallmark grant --key portal.jwk --session-id task-7 --principal ada@example.test \
    --grants grants.json --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.output.check(); err != nil {
				return err
			}
			signed, err := f.sign(&inputs{cmd: cmd}, time.Now())
			if err != nil {
				return err
			}
			if f.output == "json" {
				return printObject(cmd.OutOrStdout(), signed)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), signed.Token)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.key, "key", "", "file of the issuer's private key")
	flags.StringArrayVar(&f.grants, "grants", nil, "file of grants, as authorize takes it; may be repeated")
	flags.StringVar(&f.tenant, "tenant", f.tenant, "tenant for whose calls the grants count")
	flags.StringVar(&f.session, "session-id", "", "task or conversation for which they count")
	flags.StringVar(&f.principal, "principal", "", "user for whom the calls are made")
	flags.StringVar(&f.audience, "audience", f.audience, "name of the service that takes the token, as its --issuer says")
	f.output.registerAs(cmd, "one object")
	flags.DurationVar(&f.ttl, "ttl", time.Hour, "how long the token is good, at most 744h")
	return cmd
}

func (f *grantFlags) sign(in *inputs, now time.Time) (grantLine, error) {
	for _, needed := range []struct{ flag, value string }{
		{"--tenant", f.tenant}, {"--session-id", f.session}, {"--principal", f.principal}, {"--audience", f.audience},
	} {
		if needed.value == "" {
			return grantLine{}, fmt.Errorf("no %s; a token without it counts nowhere", needed.flag)
		}
	}
	if f.ttl < time.Second || f.ttl > receipt.GrantKind.MaxLife() {
		return grantLine{}, fmt.Errorf("--ttl is a duration from 1s to %s", receipt.GrantKind.MaxLife())
	}
	signer, err := readSigner("--key", f.key)
	if err != nil {
		return grantLine{}, err
	}
	grants, err := in.grants("--grants", f.grants)
	if err != nil {
		return grantLine{}, err
	}
	if len(grants) == 0 {
		return grantLine{}, errors.New("no grants; name a file of them with --grants")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return grantLine{}, err
	}
	issued := now.UTC().Truncate(time.Second)
	token := receipt.GrantToken{
		IssuedAt: issued, Expires: issued.Add(f.ttl.Truncate(time.Second)), ID: id.String(), Audience: f.audience,
		Tenant: f.tenant, Session: f.session, Principal: f.principal,
	}
	line := grantLine{ID: token.ID, IssuedAt: token.IssuedAt, Expires: token.Expires}
	for _, g := range grants {
		token.Grants = append(token.Grants, grantOf(g))
		line.Grants = append(line.Grants, g.GetId())
	}
	if line.Token, err = signer.SignGrant(token); err != nil {
		return grantLine{}, fmt.Errorf("these grants cannot be signed (%w); each needs id, tool, not_after and max_uses or unlimited_uses", err)
	}
	return line, nil
}
