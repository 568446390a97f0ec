package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/server"
)

// validateFlags are the flags of validate.
type validateFlags struct {
	tool, file, contracts         string
	at                            remote
	version                       uint32
	requestID, sessionID, args    string
	callID                        string
	source, mediaType             string
	redirects                     uint32
	httpStatus, exitCode, attempt int
	transportError                string
	now                           string
	evidence                      []string
	receiptOut                    string
	replay, identity              string
	output                        output
}

func newValidate() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate --tool T --file F",
		Short: "Judge one reply of a tool",
		Long: `Judges the bytes of a file as the reply of a tool: in this process by the contracts
of --contracts, or by a running service with --addr, which then records the judgement.
Prints what the agent would see, why a reply was refused, and whether a receipt was
issued, which makes the result evidence for later calls of its session. Receipts come
from a service alone, and only it can take them. --file - reads standard input.

--replay judges a reply again that a service has judged: it fetches the sealed original,
opens it here with your --identity, and judges it by the contracts of --contracts as of
the time of the reply, or that of --now. Prints what was and what would be.

Exit codes: 0 accepted, 1 refused, 2 no answer.`,
		Example: `  hallmark validate --tool job_status --file reply.json \
    --arguments '{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6"}'
  hallmark validate --tool list_runs --file reply.json --session-id task-7 \
    --addr 127.0.0.1:7443 --receipt-out receipt.jws
  hallmark validate --replay 019a2b3c-0000-7000-8000-000000000000 \
    --identity operator.key --contracts contracts`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "name of the tool")
	flags.StringVar(&f.file, "file", "", "file with exactly the bytes received, - for standard input")
	f.at.register(cmd, "", "host:port of a service; empty: judge in this process")
	flags.StringVar(&f.contracts, "contracts", "contracts", "contracts directory, in this process")
	flags.Uint32Var(&f.version, "contract-version", 0, "version of the contract; 0: the current one")
	flags.StringVar(&f.requestID, "request-id", "", "id of the outstanding request; empty: a fresh one")
	flags.StringVar(&f.sessionID, "session-id", "", "task or conversation")
	flags.StringVar(&f.callID, "call-id", "", "the framework's own id of the call, which a JSON-RPC response must bear")
	flags.StringVar(&f.args, "arguments", "", "JSON object that the tool was called with")
	flags.StringVar(&f.source, "source", "", "endpoint or command line that the reply came from")
	flags.StringVar(&f.mediaType, "media-type", "", "declared media type; empty: the contract's only one")
	flags.Uint32Var(&f.redirects, "redirects", 0, "how often the request was redirected")
	flags.IntVar(&f.httpStatus, "http-status", 0, "HTTP status of the reply")
	flags.IntVar(&f.exitCode, "exit-code", 0, "exit code of the command")
	flags.IntVar(&f.attempt, "attempt", 0, "which attempt, from 1")
	flags.StringVar(&f.transportError, "transport-error", "", "TIMEOUT, CONNECT, TLS, CANCELLED, OTHER or TOO_LARGE in place of a file")
	flags.StringVar(&f.now, "now", "", "judge as if it were this time (RFC 3339), in this process")
	flags.StringArrayVar(&f.evidence, "evidence", nil, "file of a receipt that checks may use, with --addr; may be repeated")
	flags.StringVar(&f.receiptOut, "receipt-out", "", "file that gets the receipt, with --addr; empty where none came")
	flags.StringVar(&f.replay, "replay", "", "decision id of a reply to judge again, from its sealed original")
	flags.StringVar(&f.identity, "identity", "", "file of your identity, with --replay")
	f.output.register(cmd)
	return cmd
}

func (f *validateFlags) run(cmd *cobra.Command) error {
	if f.replay != "" {
		return f.runReplay(cmd)
	}
	if f.identity != "" {
		return errors.New("--identity opens an original; name the decision with --replay, or leave it out")
	}
	request, err := f.request(cmd)
	if err != nil {
		return err
	}
	out, err := openOut("--receipt-out", f.receiptOut)
	if err != nil {
		return err
	}
	ctx, cancel := call(cmd.Context())
	defer cancel()
	if f.at.addr == "" && f.at.secured() {
		return errNoRemote
	}
	judge := f.judgeHere
	if f.at.addr != "" {
		judge = f.judgeThere
	}
	reply, err := judge(ctx, request)
	if err != nil {
		return err
	}
	if f.output == "json" {
		err = printJSON(cmd.OutOrStdout(), reply)
	} else {
		printReply(cmd.OutOrStdout(), reply, f.receiptOut)
	}
	err = errors.Join(err, out.write(line(reply.GetReceipt())))
	if err == nil && reply.GetResult().GetData() == nil && reply.GetResult().GetText() == nil {
		return errNo
	}
	return err
}

// judgeThere asks a service.
func (f *validateFlags) judgeThere(ctx context.Context, request *hallmarkv1.ValidateRequest) (*hallmarkv1.ValidateResponse, error) {
	conn, err := f.at.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reply, err := hallmarkv1.NewGateServiceClient(conn).Validate(ctx, request)
	if err != nil {
		return nil, callFailed(f.at.addr, err)
	}
	return reply, nil
}

// judgeHere judges in this process; nothing is recorded.
func (f *validateFlags) judgeHere(_ context.Context, request *hallmarkv1.ValidateRequest) (*hallmarkv1.ValidateResponse, error) {
	now, err := asIf(f.now)
	if err != nil {
		return nil, err
	}
	set, err := loadSet(f.contracts, "")
	if err != nil {
		return nil, err
	}
	return server.ValidateWith(set, gate.Caller{Tenant: "local", Name: "local", Operator: true, MayGrant: true}, now, request)
}

// request makes the message from the flags.
func (f *validateFlags) request(cmd *cobra.Command) (*hallmarkv1.ValidateRequest, error) {
	if err := f.output.check(); err != nil {
		return nil, err
	}
	if f.tool == "" {
		return nil, fmt.Errorf("no tool; name one with --tool")
	}
	if f.at.addr == "" && (len(f.evidence) > 0 || f.receiptOut != "") {
		return nil, errors.New("--evidence and --receipt-out need a service, which alone has the keys; name one with --addr")
	}
	if f.attempt < 0 || f.attempt > math.MaxInt32 {
		return nil, fmt.Errorf("--attempt is a number from 1 on, not %d", f.attempt)
	}
	in := &inputs{cmd: cmd}
	if f.requestID == "" {
		f.requestID = uuid.NewString()
	}
	upstream := &hallmarkv1.Upstream{Source: f.source, MediaType: f.mediaType, Redirects: f.redirects}
	if err := f.status(cmd, upstream); err != nil {
		return nil, err
	}
	request := &hallmarkv1.ValidateRequest{
		Request: &hallmarkv1.OutstandingRequest{
			Tool: f.tool, RequestId: f.requestID, ContractVersion: f.version,
			ArgumentsJson: f.args, SessionId: f.sessionID, Attempt: uint32(f.attempt), //nolint:gosec // looked at above
			IssuedAt: timestamppb.Now(), CallId: f.callID,
		},
		Upstream: upstream,
	}
	var err error
	if request.Request.Evidence, err = in.tokens("--evidence", f.evidence, receipt.ReceiptKind); err != nil {
		return nil, err
	}
	if f.file == "" && f.noReply() {
		return request, nil
	}
	raw, err := f.read(in)
	if err != nil {
		return nil, err
	}
	request.Payload = &hallmarkv1.ValidateRequest_Raw{Raw: raw}
	return request, nil
}

// noReply reports whether the status says that there is none to be judged.
func (f *validateFlags) noReply() bool {
	return f.transportError != "" || f.exitCode != 0 || f.httpStatus != 0 && (f.httpStatus < 200 || f.httpStatus > 299)
}

// read reads the reply, at most one byte more than the service takes.
func (f *validateFlags) read(in *inputs) ([]byte, error) {
	r, closeFile, err := in.open("--file", f.file)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	const most = 4<<20 + 1
	raw, err := io.ReadAll(io.LimitReader(r, most))
	if raw == nil {
		raw = []byte{}
	}
	return raw, err
}

func (f *validateFlags) status(cmd *cobra.Command, u *hallmarkv1.Upstream) error {
	given := 0
	for _, name := range []string{"http-status", "exit-code", "transport-error"} {
		if cmd.Flags().Changed(name) {
			given++
		}
	}
	const leastStatus, mostStatus = 100, 999
	switch {
	case given > 1:
		return fmt.Errorf("--http-status, --exit-code and --transport-error exclude each other")
	case cmd.Flags().Changed("http-status"):
		if f.httpStatus < leastStatus || f.httpStatus > mostStatus {
			return fmt.Errorf("--http-status is a number from %d to %d, not %d", leastStatus, mostStatus, f.httpStatus)
		}
		u.Status = &hallmarkv1.Upstream_HttpStatus{HttpStatus: uint32(f.httpStatus)} //nolint:gosec // within both
	case cmd.Flags().Changed("exit-code"):
		if int(int32(f.exitCode)) != f.exitCode { //nolint:gosec // that is what is looked at
			return fmt.Errorf("--exit-code is a number of 32 bits, not %d", f.exitCode)
		}
		u.Status = &hallmarkv1.Upstream_ExitCode{ExitCode: int32(f.exitCode)} //nolint:gosec // looked at above
	case f.transportError != "":
		code, known := hallmarkv1.TransportError_value["TRANSPORT_ERROR_"+f.transportError]
		if !known || code == 0 {
			return fmt.Errorf("--transport-error %q is none of TIMEOUT, CONNECT, TLS, CANCELLED, OTHER, TOO_LARGE", printable(f.transportError))
		}
		u.Status = &hallmarkv1.Upstream_TransportError{TransportError: hallmarkv1.TransportError(code)}
	}
	return nil
}

// printReply prints both views of a reply for people, and where its receipt went.
func printReply(w io.Writer, reply *hallmarkv1.ValidateResponse, receiptOut string) {
	fmt.Fprintf(w, "agent     %s\n", printable(reply.GetModelPayload()))
	if r := reply.GetRejection(); r != nil {
		parts := []string{
			enumName(r.GetLayer().String(), "LAYER_"), enumName(r.GetReason().String(), "REJECTION_REASON_"),
			"at " + orRoot(r.GetInstancePath()), r.GetDetail(),
		}
		fmt.Fprintf(w, "refused   %s\n", printable(strings.Join(parts, ", ")))
	}
	if retry := reply.GetRetry(); retry.GetAllowed() {
		fmt.Fprintf(w, "retry     in %s, %d attempts left\n", retry.GetDelay().AsDuration(), retry.GetAttemptsLeft())
	}
	switch issued := reply.GetReceipt() != ""; {
	case issued && receiptOut != "":
		fmt.Fprintf(w, "receipt   issued, in %s\n", printable(receiptOut))
	case issued:
		fmt.Fprintln(w, "receipt   issued; --receipt-out keeps it")
	case receiptOut != "":
		fmt.Fprintln(w, "receipt   none")
	}
	if id := reply.GetDecisionId(); id != "" {
		fmt.Fprintf(w, "decision  %s\n", id)
	}
}
