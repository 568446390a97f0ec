package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func newAuditShow() *cobra.Command {
	var at remote
	var out output
	cmd := &cobra.Command{
		Use:   "show DECISION_ID",
		Short: "Explain one judgement",
		Long: `Prints everything that was recorded about one judgement: which layer refused, why
and where, by which contract and whose it is, how the reply came, what the agent was
told, and how to look at the original and judge it again while it is kept. The record
never holds a value of the reply.

Exit codes: 0 shown, 1 there is no such decision for you, 2 no answer.`,
		Example: `  hallmark audit show 019a2b3c-0000-7000-8000-000000000000
  hallmark audit show 019a2b3c-0000-7000-8000-000000000000 --output json`,
		Args: oneArg("the decision id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			conn, err := at.dial()
			if err != nil {
				return err
			}
			defer conn.Close()
			e, err := getEvent(cmd, conn, at.addr, args[0])
			if err != nil {
				return err
			}
			if out == "json" {
				return printJSON(cmd.OutOrStdout(), e)
			}
			s := sheet{w: cmd.OutOrStdout(), paint: paletteFor(cmd.OutOrStdout(), os.Getenv)}
			s.until, s.gone = keptUntil(cmd, conn, e)
			s.event(e, at)
			return s.err
		},
	}
	at.register(cmd, defaultAddr, "host:port of the service")
	out.register(cmd)
	return cmd
}

// keptUntil says until when an original is kept, which is the zero time where nobody says
// so, and whether it is kept no more.
func keptUntil(cmd *cobra.Command, conn *grpc.ClientConn, e *hallmarkv1.Event) (until time.Time, gone bool) {
	if !e.GetOriginalKept() {
		return time.Time{}, false
	}
	ctx, cancel := call(cmd.Context())
	defer cancel()
	reply, err := hallmarkv1.NewAuditServiceClient(conn).GetOriginal(ctx, &hallmarkv1.GetOriginalRequest{DecisionId: e.GetDecisionId()})
	if err == nil && reply.GetKeptUntil().IsValid() {
		until = reply.GetKeptUntil().AsTime()
	}
	return until, status.Code(err) == codes.NotFound
}

// checkID refuses what is no decision id before a service is asked for it.
func checkID(id string) error {
	if parsed, err := uuid.Parse(id); err != nil || len(id) != len(parsed.String()) {
		return fmt.Errorf("%q is no decision id; one looks like 019a2b3c-0000-7000-8000-000000000000, and hallmark audit list shows them", cut(printable(id), maxSide))
	}
	return nil
}

// getEvent asks for one record. The error is errNo, and said, where there is none.
func getEvent(cmd *cobra.Command, conn *grpc.ClientConn, addr, id string) (*hallmarkv1.Event, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	ctx, cancel := call(cmd.Context())
	defer cancel()
	reply, err := hallmarkv1.NewAuditServiceClient(conn).GetEvent(ctx, &hallmarkv1.GetEventRequest{DecisionId: id})
	return reply.GetEvent(), notFound(cmd, addr, err, "no such decision, or not one of your tenants")
}

// notFound makes the answer no of a NOT_FOUND, with why on standard error.
func notFound(cmd *cobra.Command, addr string, err error, why string) error {
	switch {
	case err == nil:
		return nil
	case status.Code(err) == codes.NotFound:
		fmt.Fprintln(cmd.ErrOrStderr(), why)
		return errNo
	}
	return callFailed(addr, err)
}

// sheet prints what is known of one event, a member a line, in sections. It keeps the
// first error of the output.
type sheet struct {
	w     io.Writer
	paint palette
	until time.Time // when the original goes; zero: not known
	gone  bool      // the original was kept and is not any more
	err   error
}

func (s *sheet) print(line string) {
	if s.err == nil {
		_, s.err = fmt.Fprintln(s.w, line)
	}
}

// section begins one.
func (s *sheet) section(name string) { s.print(s.paint.paint(bold, name)) }

// member prints a value that may be of outside; "" prints nothing.
func (s *sheet) member(name, value string) {
	if value != "" {
		s.print("  " + s.paint.paint(dim, fmt.Sprintf("%-10s", cell(name))) + "  " + cell(value))
	}
}

// count is member for a number; 0 prints nothing.
func (s *sheet) count(name string, n uint64, unit string) {
	if n > 0 {
		s.member(name, strings.TrimSpace(fmt.Sprintf("%d %s", n, unit)))
	}
}

// event prints all of it. at is the service, for the commands that go on from there.
func (s *sheet) event(e *hallmarkv1.Event, at remote) {
	s.print(s.paint.paint(tint(e), cell(verdict(e))) + "  " + cell(strings.TrimSpace(e.GetRpc()+" "+toolCell(e))))
	s.member("decision", e.GetDecisionId())
	s.member("at", e.GetAt().AsTime().Format(time.RFC3339Nano))
	s.member("took", e.GetDuration().AsDuration().String())
	if len(e.GetReasons()) > 0 || e.GetRejection() != nil {
		s.section("why")
	}
	for _, r := range e.GetReasons() {
		s.member("reason", reasonLine(r))
		s.member("", reasonSentence(r.GetCode()))
	}
	for i, r := range rejections(e) {
		if i > 0 {
			s.print("  and")
		}
		s.rejection(e, r)
	}
	s.contract(e)
	s.request(e)
	if e.GetRpc() == "validate" {
		s.reply(e)
		s.agent(e)
		s.original(e, at)
	}
	if len(e.GetSignals()) > 0 {
		s.section("signals")
	}
	for _, kind := range slices.Sorted(maps.Keys(e.GetSignals())) {
		s.member(kind, fmt.Sprint(e.GetSignals()[kind]))
	}
}

func (s *sheet) rejection(e *hallmarkv1.Event, r *hallmarkv1.Rejection) {
	s.member("layer", enumName(r.GetLayer().String(), "LAYER_"))
	s.member("reason", enumName(r.GetReason().String(), "REJECTION_REASON_"))
	if e.GetRpc() == "validate" || r.GetInstancePath() != "" {
		s.member("at", orRoot(r.GetInstancePath()))
	}
	s.member("keyword", r.GetKeyword())
	s.member("schema", r.GetSchemaPath())
	s.member("check", r.GetCheck())
	s.count("offset", r.GetOffset(), "bytes in")
	s.member("detail", r.GetDetail())
}

func (s *sheet) contract(e *hallmarkv1.Event) {
	s.section("contract")
	if e.GetContractDigest() == "" {
		s.member("tool", toolCell(e))
		if e.GetRpc() != "redeem" {
			s.member("", "no contract judged this")
		}
	} else {
		s.member("contract", toolCell(e))
		s.member("digest", e.GetContractDigest())
	}
	s.member("owner", e.GetOwner())
	s.member("set", e.GetContractsDigest())
}

func (s *sheet) request(e *hallmarkv1.Event) {
	s.section("request")
	s.member("request", e.GetRequestId())
	s.member("session", e.GetSessionId())
	s.count("attempt", uint64(e.GetAttempt()), "")
	s.member("caller", fmt.Sprintf("%s (tenant %s)", e.GetCaller(), e.GetTenant()))
	s.member("principal", e.GetPrincipal())
	s.member("arguments", e.GetArgumentsDigest())
	s.member("call id", e.GetCallIdDigest())
	s.member("grants", strings.Join(e.GetGrantIds(), ", "))
	s.member("granted by", e.GetGrantIssuer())
	s.member("challenge", e.GetChallengeId())
	s.member("answered by", e.GetApprover())
	s.member("evidence", strings.Join(e.GetEvidenceIds(), ", "))
	s.member("receipt", e.GetReceiptId())
	s.member("permit", e.GetPermitId())
	if e.GetRpc() != "validate" {
		s.count("size", e.GetRawBytes(), "bytes of arguments")
	}
}

// reply prints how the reply came.
func (s *sheet) reply(e *hallmarkv1.Event) {
	s.section("reply")
	s.member("source", e.GetSource())
	s.member("upstream", e.GetUpstreamStatus())
	s.member("adapter", e.GetAdapter())
	s.member("media type", e.GetMediaType())
	s.member("size", fmt.Sprintf("%d bytes", e.GetRawBytes()))
	if e.GetReserialized() {
		s.member("note", "not the bytes that upstream sent: the adapter wrote them anew")
	}
}

// agent prints what the agent was told. What it saw of an accepted reply is in no record.
func (s *sheet) agent(e *hallmarkv1.Event) {
	s.section("agent saw")
	var cut string
	if e.GetTruncated() {
		cut = ", cut by the contract's limits"
	}
	code := enumName(e.GetFailureCode().String(), "FAILURE_CODE_")
	switch {
	case code == "" && e.GetRejection() != nil:
		s.member("nothing", "the call failed, and no result was handed on")
	case code == "":
		s.member("result", fmt.Sprintf("%d bytes%s; they are not in the record", e.GetOutputBytes(), cut))
	case e.GetOutputBytes() > 0:
		s.member("failure", code)
		s.member("text", fmt.Sprintf("%d bytes of the tool's own words%s, marked as untrusted", e.GetOutputBytes(), cut))
	default:
		s.member("failure", code+", and nothing of the reply")
	}
}

// overQuota is the signal of an original that was not kept for want of room.
const overQuota = "original_over_quota"

// original prints whether the original was kept, and what can be done with it.
func (s *sheet) original(e *hallmarkv1.Event, at remote) {
	s.section("original")
	s.member("digest", e.GetRawDigest())
	switch {
	case e.GetOriginalKept():
	case e.GetSignals()[overQuota] > 0:
		s.member("kept", "no; the caller had used up --originals-per-day of the service")
		return
	default:
		s.member("kept", "no; see retention in the contract, and --recipients of the service")
		return
	}
	if s.gone {
		s.member("kept", "no more: it was sealed, and the time that the contract says is over, or it was removed")
		return
	}
	kept := "sealed, for the time that the contract says"
	if !s.until.IsZero() {
		kept = "sealed, until " + s.until.Format(time.RFC3339)
	}
	s.member("kept", kept)
	s.member("open", "hallmark original open "+e.GetDecisionId()+" --identity KEY"+at.flags())
	s.member("replay", "hallmark validate --replay "+e.GetDecisionId()+" --identity KEY --contracts DIR"+at.flags())
}

// reasonSentence says in a sentence what a reason of a decision means; "" for one that
// this version does not know.
func reasonSentence(code hallmarkv1.ReasonCode) string {
	return map[hallmarkv1.ReasonCode]string{
		hallmarkv1.ReasonCode_REASON_CODE_UNKNOWN_TOOL:      "No contract has this tool.",
		hallmarkv1.ReasonCode_REASON_CODE_UNKNOWN_VERSION:   "The tool has no contract of this version that calls are made by.",
		hallmarkv1.ReasonCode_REASON_CODE_INVALID_ARGUMENTS: "The arguments break the contract's schema; the model can correct them.",
		hallmarkv1.ReasonCode_REASON_CODE_NO_GRANT:          "The task has no grant for this tool.",
		hallmarkv1.ReasonCode_REASON_CODE_OUT_OF_SCOPE:      "A grant names the tool, and none covers this value of the argument.",
		hallmarkv1.ReasonCode_REASON_CODE_GRANT_EXPIRED:     "The grant that would cover the call has ended.",
		hallmarkv1.ReasonCode_REASON_CODE_GRANT_EXHAUSTED:   "The grant that would cover the call has been used as often as it may.",
		hallmarkv1.ReasonCode_REASON_CODE_EVIDENCE_MISSING:  "A result of another tool is needed first, and no receipt of it was shown.",
		hallmarkv1.ReasonCode_REASON_CODE_EVIDENCE_STALE:    "The evidence is older than the rule allows.",
		hallmarkv1.ReasonCode_REASON_CODE_EVIDENCE_MISMATCH: "The evidence is about something else than the call.",
		hallmarkv1.ReasonCode_REASON_CODE_EVIDENCE_INVALID:  "What was shown as evidence is no valid receipt of this session.",
		hallmarkv1.ReasonCode_REASON_CODE_FORBIDDEN:         "A policy forbids the call.",
		hallmarkv1.ReasonCode_REASON_CODE_APPROVAL_REQUIRED: "A person must approve the call first.",
		hallmarkv1.ReasonCode_REASON_CODE_APPROVAL_INVALID:  "The approval is not one of this very call by somebody who may.",
		hallmarkv1.ReasonCode_REASON_CODE_APPROVAL_REFUSED:  "The approver said no.",
		hallmarkv1.ReasonCode_REASON_CODE_REPLAYED:          "What may be used once was used before.",
		hallmarkv1.ReasonCode_REASON_CODE_CONDITION_ERROR:   "A condition could not be evaluated, which counts as no.",
		hallmarkv1.ReasonCode_REASON_CODE_PERMIT_INVALID:    "The permit is expired, forged, for another audience or for other bytes.",
		hallmarkv1.ReasonCode_REASON_CODE_READ_ONLY:         "The tool only reads.",
		hallmarkv1.ReasonCode_REASON_CODE_GRANTED:           "A grant covers the call.",
	}[code]
}
