package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the record of judgements of a running service",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditList(), newAuditShow())
	return cmd
}

// output is how results are printed: for people, or for programs.
type output string

func (o *output) register(cmd *cobra.Command) {
	*o = "text"
	cmd.Flags().StringVar((*string)(o), "output", "text", "text, or json (protojson, one value a line)")
}

func (o output) check() error {
	if o != "text" && o != "json" {
		return fmt.Errorf("--output is text or json, not %q", printable(string(o)))
	}
	return nil
}

func newAuditShow() *cobra.Command {
	var at remote
	var out output
	cmd := &cobra.Command{
		Use:   "show DECISION_ID",
		Short: "Explain one judgement",
		Long: `Prints everything that was recorded about one judgement: which layer refused, why
and where, by which contract and whose it is, how the reply came, and what the agent was
told. The record never holds a value of the reply.`,
		Example: "  hallmark audit show 019a2b3c-0000-7000-8000-000000000000",
		Args:    oneArg("the decision id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			conn, err := at.dial()
			if err != nil {
				return err
			}
			defer conn.Close()
			ctx, cancel := call(cmd.Context())
			defer cancel()
			reply, err := hallmarkv1.NewAuditServiceClient(conn).GetEvent(ctx, &hallmarkv1.GetEventRequest{DecisionId: args[0]})
			if status.Code(err) == codes.NotFound {
				fmt.Fprintln(cmd.ErrOrStderr(), "no such decision, or not one of your tenants")
				return errNo
			}
			if err != nil {
				return callFailed(at.addr, err)
			}
			if out == "json" {
				return printJSON(cmd.OutOrStdout(), reply.GetEvent())
			}
			showEvent(cmd.OutOrStdout(), reply.GetEvent())
			return nil
		},
	}
	at.register(cmd, defaultAddr, "host:port of the service")
	out.register(cmd)
	return cmd
}

// printJSON prints one message as protojson on one line.
func printJSON(w io.Writer, m proto.Message) error {
	line, err := protojson.MarshalOptions{}.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

// showEvent prints one event, a member a line, what is empty left out.
func showEvent(w io.Writer, e *hallmarkv1.Event) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer table.Flush()
	member := func(name, value string) {
		if value != "" && value != "0" {
			fmt.Fprintf(table, "%s\t%s\n", name, printable(value))
		}
	}
	member("decision", e.GetDecisionId())
	member("at", e.GetAt().AsTime().Format(time.RFC3339Nano))
	member("rpc", e.GetRpc())
	member("verdict", verdict(e))
	for _, r := range e.GetReasons() {
		member("  reason", reasonLine(r))
	}
	for _, r := range rejections(e) {
		member("  layer", enumName(r.GetLayer().String(), "LAYER_"))
		member("  reason", enumName(r.GetReason().String(), "REJECTION_REASON_"))
		fmt.Fprintf(table, "  at\t%s\n", printable(orRoot(r.GetInstancePath())))
		member("  keyword", r.GetKeyword())
		member("  schema", r.GetSchemaPath())
		member("  check", r.GetCheck())
		member("  offset", fmt.Sprint(r.GetOffset()))
		member("  detail", r.GetDetail())
	}
	member("tool", fmt.Sprintf("%s v%d", e.GetTool(), e.GetContractVersion()))
	member("owner", e.GetOwner())
	member("request", e.GetRequestId())
	member("session", e.GetSessionId())
	member("attempt", fmt.Sprint(e.GetAttempt()))
	member("caller", fmt.Sprintf("%s (tenant %s)", e.GetCaller(), e.GetTenant()))
	member("principal", e.GetPrincipal())
	member("grant", strings.Join(e.GetGrantIds(), ", "))
	member("evidence", strings.Join(e.GetEvidenceIds(), ", "))
	member("receipt", e.GetReceiptId())
	member("permit", e.GetPermitId())
	member("source", e.GetSource())
	member("upstream", e.GetUpstreamStatus())
	member("adapter", e.GetAdapter())
	member("media type", e.GetMediaType())
	member("original", fmt.Sprintf("%d bytes", e.GetRawBytes()))
	member("sha256", e.GetRawDigest())
	member("output", fmt.Sprintf("%d bytes", e.GetOutputBytes()))
	member("arguments", e.GetArgumentsDigest())
	member("contract", e.GetContractDigest())
	member("contracts", e.GetContractsDigest())
	for _, kind := range slices.Sorted(maps.Keys(e.GetSignals())) {
		member("signal", fmt.Sprintf("%s %d", kind, e.GetSignals()[kind]))
	}
	member("took", e.GetDuration().AsDuration().String())
}

func rejections(e *hallmarkv1.Event) []*hallmarkv1.Rejection {
	if e.GetRejection() == nil {
		return nil
	}
	return append([]*hallmarkv1.Rejection{e.GetRejection()}, e.GetMoreRejections()...)
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "(the whole)"
	}
	return pointer
}

// verdict is what an event came to: a decision and what the agent was told of it, or
// either.
func verdict(e *hallmarkv1.Event) string {
	switch {
	case e.GetDecision() != 0 && e.GetFailureCode() != 0:
		return enumName(e.GetDecision().String(), "DECISION_") + ", " + enumName(e.GetFailureCode().String(), "FAILURE_CODE_")
	case e.GetFailureCode() != 0:
		return enumName(e.GetFailureCode().String(), "FAILURE_CODE_")
	case e.GetDecision() != 0:
		return enumName(e.GetDecision().String(), "DECISION_")
	case e.GetRejection() != nil:
		return "ERROR"
	}
	return "accepted"
}

func newAuditList() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List judgements, newest first",
		Example: `  hallmark audit list --tool job_status --reason FRESHNESS --since 1h
  hallmark audit list --request req.A1b2C3d4 --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd) },
	}
	flags := cmd.Flags()
	f.at.register(cmd, defaultAddr, "host:port of the service")
	flags.StringVar(&f.tool, "tool", "", "only this tool")
	flags.StringVar(&f.request, "request", "", "only this request id")
	flags.StringVar(&f.session, "session", "", "only this session id")
	flags.StringVar(&f.rpc, "rpc", "", "only validate, authorize or redeem")
	flags.StringVar(&f.failure, "failure", "", "only this failure code, such as INVALID_RESPONSE")
	flags.StringVar(&f.reason, "reason", "", "only this rejection reason, such as DUPLICATE_NAME")
	flags.StringVar(&f.since, "since", "", "only from then on: a duration before now (1h) or RFC 3339")
	flags.StringVar(&f.until, "until", "", "only before then, likewise")
	flags.IntVar(&f.limit, "limit", 50, "at most so many, newest first")
	f.output.register(cmd)
	return cmd
}

// listFlags are the flags of audit list.
type listFlags struct {
	at                                                         remote
	tool, request, session, rpc, failure, reason, since, until string
	limit                                                      int
	output                                                     output
}

const maxPage = 500

func (f *listFlags) list(cmd *cobra.Command) error {
	filter, err := f.filter(time.Now())
	if err != nil {
		return err
	}
	conn, err := f.at.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := hallmarkv1.NewAuditServiceClient(conn)
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer table.Flush()
	if f.output == "text" {
		fmt.Fprintln(table, "AT\tDECISION\tTOOL\tREQUEST\tVERDICT\tREASON\tWHERE")
	}
	left, token := f.limit, ""
	for left > 0 {
		ctx, cancel := call(cmd.Context())
		page, err := client.ListEvents(ctx, &hallmarkv1.ListEventsRequest{
			Filter: filter, PageSize: uint32(min(left, maxPage)), PageToken: token,
		})
		cancel()
		if err != nil {
			return callFailed(f.at.addr, err)
		}
		for _, e := range page.GetEvents() {
			left--
			if f.output == "json" {
				if err := printJSON(cmd.OutOrStdout(), e); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(table, eventRow(e))
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	return nil
}

func eventRow(e *hallmarkv1.Event) string {
	r := e.GetRejection()
	reason := enumName(r.GetReason().String(), "REJECTION_REASON_")
	if reason == "" && len(e.GetReasons()) > 0 {
		reason = enumName(e.GetReasons()[0].GetCode().String(), "REASON_CODE_")
	}
	cells := []string{
		e.GetAt().AsTime().Format("2006-01-02 15:04:05.000"), e.GetDecisionId(),
		fmt.Sprintf("%s v%d", e.GetTool(), e.GetContractVersion()), e.GetRequestId(), verdict(e),
		reason, r.GetInstancePath(),
	}
	for i := range cells {
		cells[i] = cell(cells[i])
	}
	return strings.Join(cells, "\t")
}

func (f *listFlags) filter(now time.Time) (*hallmarkv1.EventFilter, error) {
	if err := f.output.check(); err != nil {
		return nil, err
	}
	if f.limit < 1 {
		return nil, fmt.Errorf("--limit is at least 1, not %d", f.limit)
	}
	filter := &hallmarkv1.EventFilter{Tool: f.tool, RequestId: f.request, SessionId: f.session, Rpc: f.rpc}
	var err error
	if filter.Since, err = instant(f.since, "--since", now); err != nil {
		return nil, err
	}
	if filter.Until, err = instant(f.until, "--until", now); err != nil {
		return nil, err
	}
	if f.failure != "" {
		code, known := hallmarkv1.FailureCode_value["FAILURE_CODE_"+f.failure]
		if !known {
			return nil, fmt.Errorf("--failure %q is no failure code; INVALID_RESPONSE is one", printable(f.failure))
		}
		filter.FailureCode = hallmarkv1.FailureCode(code)
	}
	if f.reason != "" {
		reason, known := hallmarkv1.RejectionReason_value["REJECTION_REASON_"+f.reason]
		if !known {
			return nil, fmt.Errorf("--reason %q is no rejection reason; DUPLICATE_NAME is one", printable(f.reason))
		}
		filter.Reason = hallmarkv1.RejectionReason(reason)
	}
	return filter, nil
}

// instant reads a duration before now, or an RFC 3339 time; "" is none.
func instant(s, flag string, now time.Time) (*timestamppb.Timestamp, error) {
	if s == "" {
		return nil, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return timestamppb.New(now.Add(-d)), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return nil, fmt.Errorf("%s is a duration such as 90m, or a time such as 2026-01-15T12:00:00Z", flag)
	}
	return timestamppb.New(t), nil
}
