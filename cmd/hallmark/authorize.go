package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/server"
)

// authorizeFlags are the flags of authorize.
type authorizeFlags struct {
	tool, file, contracts, policies         string
	at                                      remote
	version                                 uint32
	requestID, sessionID, principal         string
	grants, grantTokens, evidence           []string
	approval                                string
	permitOut, challengeOut, argumentsOut   string
	now                                     string
	output                                  output
	permitFile, challengeFile, argumentFile *outFile
}

func newAuthorize() *cobra.Command {
	var f authorizeFlags
	cmd := &cobra.Command{
		Use:   "authorize --tool T --file F --grants G",
		Short: "Decide whether one proposed call may be executed now",
		Long: `Decides a call that an agent proposes: in this process by the contracts and policies
of directories, or by a running service with --addr, which then records the decision,
uses up what the call uses, and issues a permit or asks for an approval. Prints the
decision, its reasons, and what the agent would see in place of a result. The arguments
to execute, a permit and a challenge are printed whole, each on a line.

A file of grants is JSON: a list of grants, or {"grants": [...]}, each grant with the
members of the API:

  [{"id": "task-7", "tool": "mail_send", "not_after": "2026-01-15T18:00:00Z", "max_uses": 2,
    "scopes": [{"name": "recipient", "values": {"values": ["@example.test"]}}]}]

In this process nothing is known of sessions, and tokens are not looked at: a policy that
reads what a session has seen refuses, and evidence, grant tokens and approvals need
--addr. Files may be - for standard input, one of them.

Exit codes: 0 allowed, 1 denied or a person must approve, 2 no answer.`,
		Example: `  hallmark authorize --tool mail_send --file call.json --grants grants.json
  hallmark authorize --tool job_restart --file call.json --grants grants.json \
    --evidence receipt.jws --session-id task-7 --addr 127.0.0.1:7443 --permit-out permit.jws`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.register(cmd)
	return cmd
}

func (f *authorizeFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "name of the tool, as the agent said it")
	flags.StringVar(&f.file, "file", "", "file with the bytes of the argument object")
	flags.StringArrayVar(&f.grants, "grants", nil, "file of grants; may be repeated")
	flags.StringArrayVar(&f.grantTokens, "grant-token", nil, "file of a signed grant token; may be repeated")
	flags.StringArrayVar(&f.evidence, "evidence", nil, "file of a receipt; may be repeated")
	flags.StringVar(&f.approval, "approval", "", "file of an approval, as hallmark approve signs it")
	flags.StringVar(&f.principal, "principal", "", "the user for whom the call is made")
	flags.StringVar(&f.sessionID, "session-id", "", "task or conversation")
	flags.StringVar(&f.requestID, "request-id", "", "id of the request, the same for repeats and after an approval; empty: a fresh one")
	flags.Uint32Var(&f.version, "contract-version", 0, "version of the contract; 0: the current one")
	f.at.register(cmd, "", "host:port of a service; empty: decide in this process")
	flags.StringVar(&f.contracts, "contracts", "contracts", "contracts directory, in this process")
	flags.StringVar(&f.policies, "policies", "", "directory of policies, in this process; empty: none")
	flags.StringVar(&f.now, "now", "", "decide as if it were this time (RFC 3339), in this process")
	flags.StringVar(&f.permitOut, "permit-out", "", "file that gets the permit; empty where none came")
	flags.StringVar(&f.challengeOut, "challenge-out", "", "file that gets the challenge; empty where none came")
	flags.StringVar(&f.argumentsOut, "arguments-out", "", "file that gets exactly the bytes to execute; empty where none came")
	f.output.register(cmd)
}

func (f *authorizeFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	request, err := f.request(&inputs{cmd: cmd})
	if err != nil {
		return err
	}
	if err := f.openOuts(); err != nil {
		return err
	}
	ctx, cancel := call(cmd.Context())
	defer cancel()
	decide := f.decideHere
	if f.at.addr != "" {
		decide = f.decideThere
	}
	answer, err := decide(ctx, request)
	if err != nil {
		return err
	}
	// First the files: whoever reads the output may leave before its end, which ends us.
	err = errors.Join(f.permitFile.write(line(answer.GetPermit())),
		f.challengeFile.write(line(answer.GetApprovalChallenge())), f.argumentFile.write(answer.GetArgumentsJson()))
	if f.output == "json" {
		err = errors.Join(err, printJSON(cmd.OutOrStdout(), answer))
	} else {
		f.print(cmd.OutOrStdout(), answer)
	}
	if err == nil && answer.GetDecision() != hallmarkv1.Decision_DECISION_ALLOW {
		return errNo
	}
	return err
}

// check refuses flags that say something which would not be heeded.
func (f *authorizeFlags) check(cmd *cobra.Command) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if f.tool == "" {
		return errors.New("no tool; name one with --tool")
	}
	if f.at.addr == "" && f.at.secured() {
		return errNoRemote
	}
	only, where := []string{"contracts", "policies", "now"}, "is for deciding in this process, and a service has its own; leave it out, or --addr"
	if f.at.addr == "" {
		only = []string{"evidence", "grant-token", "approval", "permit-out", "challenge-out"}
		where = "needs a service, which alone has the keys; name one with --addr"
	}
	for _, name := range only {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s %s", name, where)
		}
	}
	return nil
}

// request makes the message from the flags.
func (f *authorizeFlags) request(in *inputs) (*hallmarkv1.AuthorizeRequest, error) {
	if f.requestID == "" {
		f.requestID = uuid.NewString()
	}
	const most = 4 << 20
	raw, err := in.read("--file", f.file, most)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		raw = []byte{}
	}
	request := &hallmarkv1.AuthorizeRequest{
		Call: &hallmarkv1.ProposedCall{
			Tool: f.tool, RequestId: f.requestID, ContractVersion: f.version,
			SessionId: f.sessionID, Principal: f.principal,
		},
		Payload: &hallmarkv1.AuthorizeRequest_Raw{Raw: raw},
	}
	if request.Grants, err = in.grants("--grants", f.grants); err != nil {
		return nil, err
	}
	if request.GrantTokens, err = in.tokens("--grant-token", f.grantTokens, receipt.GrantKind); err != nil {
		return nil, err
	}
	if request.Evidence, err = in.tokens("--evidence", f.evidence, receipt.ReceiptKind); err != nil {
		return nil, err
	}
	if f.approval != "" {
		request.Approval, err = in.token("--approval", f.approval, receipt.ApprovalKind)
	}
	return request, err
}

func (f *authorizeFlags) openOuts() (err error) {
	if f.permitFile, err = openOut("--permit-out", f.permitOut); err != nil {
		return err
	}
	if f.challengeFile, err = openOut("--challenge-out", f.challengeOut); err != nil {
		return err
	}
	f.argumentFile, err = openOut("--arguments-out", f.argumentsOut)
	return err
}

// decideThere asks a service.
func (f *authorizeFlags) decideThere(ctx context.Context, request *hallmarkv1.AuthorizeRequest) (*hallmarkv1.AuthorizeResponse, error) {
	conn, err := f.at.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	answer, err := hallmarkv1.NewGateServiceClient(conn).Authorize(ctx, request)
	if err != nil {
		return nil, callFailed(f.at.addr, err)
	}
	return answer, nil
}

// decideHere decides in this process; nothing is recorded, used up or signed.
func (f *authorizeFlags) decideHere(_ context.Context, request *hallmarkv1.AuthorizeRequest) (*hallmarkv1.AuthorizeResponse, error) {
	now, err := asIf(f.now)
	if err != nil {
		return nil, err
	}
	set, err := loadSet(f.contracts, f.policies)
	if err != nil {
		return nil, err
	}
	return server.AuthorizeWith(set, now, request)
}

// asIf is the time that --now says, and the present without it.
func asIf(now string) (time.Time, error) {
	if now == "" {
		return time.Now(), nil
	}
	t, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return t, errors.New("--now is a time such as 2026-01-15T12:00:00Z")
	}
	return t, nil
}

// print prints an answer for people, a member a line.
func (f *authorizeFlags) print(w io.Writer, a *hallmarkv1.AuthorizeResponse) {
	member := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name, printable(value))
		}
	}
	member("verdict", enumName(a.GetDecision().String(), "DECISION_"))
	for _, r := range a.GetReasons() {
		member("reason", reasonLine(r))
	}
	member("agent", a.GetModelPayload())
	member("arguments", a.GetArgumentsJson())
	for _, o := range a.GetObligations() {
		member("must", o)
	}
	member("permit", a.GetPermit())
	member("challenge", a.GetApprovalChallenge())
	member("decision", a.GetDecisionId())
	if f.at.addr == "" {
		member("note", "decided in this process: nothing is recorded, used up or signed")
	}
}

// reasonLine is one reason on a line, what is empty left out.
func reasonLine(r *hallmarkv1.Reason) string {
	parts := []string{enumName(r.GetCode().String(), "REASON_CODE_")}
	for _, p := range []struct{ name, value string }{
		{"grant", r.GetGrantId()},
		{"scope", r.GetScope()},
		{"argument", r.GetArgument()},
		{"needs a fresh result of", r.GetRequiredTool()},
		{"keyword", r.GetKeyword()},
	} {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	return strings.Join(parts, ", ")
}
