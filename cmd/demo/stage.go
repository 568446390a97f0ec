package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
)

// stage is the service that acts play against, what is printed on, and what one act
// keeps for another, each by a name of the play.
type stage struct {
	gate      hallmarkv1.GateServiceClient
	contracts hallmarkv1.ContractServiceClient
	audit     hallmarkv1.AuditServiceClient
	approver  *receipt.Signer
	out       io.Writer

	receipts, permits, bytes, challenges, approvals map[string]string
}

func newStage(conn grpc.ClientConnInterface, approver *receipt.Signer, out io.Writer) *stage {
	return &stage{
		gate: hallmarkv1.NewGateServiceClient(conn), contracts: hallmarkv1.NewContractServiceClient(conn),
		audit: hallmarkv1.NewAuditServiceClient(conn), approver: approver, out: out,
		receipts: map[string]string{}, permits: map[string]string{}, bytes: map[string]string{},
		challenges: map[string]string{}, approvals: map[string]string{},
	}
}

const actTimeout = 10 * time.Second

// play plays one act in its time.
func (s *stage) play(ctx context.Context, a act) error {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	return a.play(ctx, s)
}

// event is the record of a decision.
func (s *stage) event(ctx context.Context, id string) (*hallmarkv1.Event, error) {
	recorded, err := s.audit.GetEvent(ctx, &hallmarkv1.GetEventRequest{DecisionId: id})
	if err != nil {
		return nil, fmt.Errorf("the record of the decision: %w", err)
	}
	return recorded.GetEvent(), nil
}

// keys are the public keys of the service.
func (s *stage) keys(ctx context.Context) ([]byte, error) {
	reply, err := s.contracts.GetKeys(ctx, &hallmarkv1.GetKeysRequest{})
	return []byte(reply.GetJwksJson()), err
}

// play sends one reply, prints what came of it, and says how the answer is wrong.
func (scene scene) play(ctx context.Context, s *stage) error {
	for _, name := range scene.evidence {
		scene.request.Evidence = append(scene.request.Evidence, s.receipts[name])
	}
	media := scene.media
	if media == "" {
		media = "application/json"
	}
	reply, err := s.gate.Validate(ctx, &hallmarkv1.ValidateRequest{
		Request:  scene.request,
		Payload:  &hallmarkv1.ValidateRequest_Raw{Raw: []byte(scene.raw)},
		Upstream: &hallmarkv1.Upstream{Source: scene.source, MediaType: media, Status: &hallmarkv1.Upstream_HttpStatus{HttpStatus: 200}},
	})
	if err != nil {
		return err
	}
	event, err := s.event(ctx, reply.GetDecisionId())
	if err != nil {
		return err
	}
	if got := reply.GetReceipt() != ""; got != (scene.keep != "") {
		return fmt.Errorf("the receipt should be there: %t, and is: %t", !got, got)
	}
	if scene.keep != "" {
		s.receipts[scene.keep] = reply.GetReceipt()
	}
	sideBySide(s.out, "the tool returned", "", wrap(visible(scene.raw), 2*column), nil)
	sideBySide(s.out, "the agent sees", "the operator sees", wrap(reply.GetModelPayload(), column), operatorView(event))
	return scene.want.check(reply, event)
}

func operatorView(e *hallmarkv1.Event) []string {
	lines := []string{
		"decision  " + e.GetDecisionId(),
		fmt.Sprintf("contract  %s v%d, owner %s", e.GetTool(), e.GetContractVersion(), e.GetOwner()),
		fmt.Sprintf("from      %s, %s", e.GetSource(), e.GetUpstreamStatus()),
		fmt.Sprintf("original  %d bytes", e.GetRawBytes()),
	}
	if d := e.GetRawDigest(); d != "" {
		lines[len(lines)-1] += fmt.Sprintf(", sha256 %.12s…", d)
	}
	if e.GetFailureCode() == 0 {
		lines = append(lines, "verdict   accepted")
		if id := e.GetReceiptId(); id != "" {
			lines = append(lines, "receipt   "+id)
		}
		for _, signal := range slices.Sorted(maps.Keys(e.GetSignals())) {
			lines = append(lines, fmt.Sprintf("  noticed %s %d", signal, e.GetSignals()[signal]))
		}
		return lines
	}
	lines = append(lines, "verdict   "+strings.TrimPrefix(e.GetFailureCode().String(), "FAILURE_CODE_"))
	for _, r := range append([]*hallmarkv1.Rejection{e.GetRejection()}, e.GetMoreRejections()...) {
		lines = append(lines,
			fmt.Sprintf("  layer   %s, %s", strings.TrimPrefix(r.GetLayer().String(), "LAYER_"),
				strings.TrimPrefix(r.GetReason().String(), "REJECTION_REASON_")),
			"  at      "+r.GetInstancePath())
	}
	return lines
}

// check says how an answer differs from the one right one.
func (w want) check(reply *hallmarkv1.ValidateResponse, e *hallmarkv1.Event) error {
	result := reply.GetResult()
	if w.data != "" {
		if got := result.GetData().GetJson(); got != w.data {
			return fmt.Errorf("the agent should get %s, and gets %q", w.data, got)
		}
		return nil
	}
	if w.text != nil {
		if got := result.GetText(); !proto.Equal(got, w.text) {
			return fmt.Errorf("the agent should get %q, and gets %q", w.text, got)
		}
		return nil
	}
	if result.GetData() != nil || result.GetText() != nil {
		return fmt.Errorf("the reply was accepted")
	}
	if code := result.GetFailure().GetCode(); code != hallmarkv1.FailureCode_FAILURE_CODE_INVALID_RESPONSE {
		return fmt.Errorf("the agent is told %s", code)
	}
	r := e.GetRejection()
	if r.GetLayer() != w.layer || r.GetReason() != w.reason || r.GetInstancePath() != w.at {
		return fmt.Errorf("refused by %s, %s at %s", r.GetLayer(), r.GetReason(), r.GetInstancePath())
	}
	return nil
}

// column is the width of one view in characters.
const column = 58

func sideBySide(out io.Writer, leftTitle, rightTitle string, left, right []string) {
	fmt.Fprintf(out, "   %-*s   %s\n", column, leftTitle+":", strings.TrimSuffix(rightTitle+":", ":"))
	for i := range max(len(left), len(right)) {
		fmt.Fprintf(out, "     %-*s   %s\n", column, line(left, i), line(right, i))
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// visible shows what a terminal would hide or act on as \u{XXXX}.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%04X}`, r)
		}
	}
	return b.String()
}

// wrap cuts text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	runes := []rune(text)
	for len(runes) > width {
		lines = append(lines, string(runes[:width]))
		runes = runes[width:]
	}
	return append(lines, string(runes))
}
