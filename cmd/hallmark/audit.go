package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the record of judgements of a running service",
	}
	asGroup(cmd)
	cmd.AddCommand(newAuditList(), newAuditShow(), newAuditWatch())
	return cmd
}

// output is how results are printed: for people, or for programs.
type output string

func (o *output) register(cmd *cobra.Command) { o.registerAs(cmd, "protojson, one value a line") }

// registerAs is register for JSON of another form than protojson.
func (o *output) registerAs(cmd *cobra.Command, form string) {
	cmd.Flags().StringVar((*string)(o), "output", "text", "text, or json ("+form+")")
}

func (o output) check() error {
	if o != "text" && o != "json" {
		return fmt.Errorf("--output is text or json, not %q", printable(string(o)))
	}
	return nil
}

// printObject prints what is no message as JSON on one line.
func printObject(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", printableJSON(string(line)))
	return err
}

// printJSON prints one message as protojson on one line.
func printJSON(w io.Writer, m proto.Message) error {
	line, err := protojson.MarshalOptions{}.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", printableJSON(string(line)))
	return err
}

// printableJSON is printable for a JSON text, which stays the same value: what is hidden
// stands in strings only, and there \u says the same.
func printableJSON(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
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

// filterFlags are the flags that choose events.
type filterFlags struct{ tool, request, session, rpc, failure, reason, decision, tenant string }

func (f *filterFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "only this tool")
	flags.StringVar(&f.request, "request", "", "only this request id")
	flags.StringVar(&f.session, "session", "", "only this session id")
	flags.StringVar(&f.rpc, "rpc", "", "only validate, authorize or redeem")
	flags.StringVar(&f.failure, "failure", "", "only this failure code, such as INVALID_RESPONSE")
	flags.StringVar(&f.reason, "reason", "", "only this rejection reason, such as DUPLICATE_NAME")
	flags.StringVar(&f.decision, "decision", "", "only DENY, ALLOW or NEEDS_APPROVAL")
	flags.StringVar(&f.tenant, "tenant", "", "only this tenant, of those that you are responsible for")
}

func (f *filterFlags) filter() (*hallmarkv1.EventFilter, error) {
	filter := &hallmarkv1.EventFilter{Tool: f.tool, RequestId: f.request, SessionId: f.session, Rpc: f.rpc, Tenant: f.tenant}
	switch f.rpc {
	case "", "validate", "authorize", "redeem":
	default:
		return nil, fmt.Errorf("--rpc %q is none of validate, authorize, redeem", printable(f.rpc))
	}
	code, err := enumFlag("failure", f.failure, "FAILURE_CODE_", hallmarkv1.FailureCode_value)
	if err != nil {
		return nil, err
	}
	reason, err := enumFlag("reason", f.reason, "REJECTION_REASON_", hallmarkv1.RejectionReason_value)
	if err != nil {
		if hallmarkv1.ReasonCode_value["REASON_CODE_"+strings.ToUpper(f.reason)] != 0 {
			return nil, fmt.Errorf("--reason %s is the reason of a decision, and only those of refused replies can be asked for; narrow with --decision", printable(f.reason))
		}
		return nil, err
	}
	decision, err := enumFlag("decision", f.decision, "DECISION_", hallmarkv1.Decision_value)
	if err != nil {
		return nil, err
	}
	filter.FailureCode, filter.Reason = hallmarkv1.FailureCode(code), hallmarkv1.RejectionReason(reason)
	filter.Decision = hallmarkv1.Decision(decision)
	return filter, nil
}

// enumFlag reads the short name of an enum's value, in upper or lower case; "" is none.
func enumFlag(flag, word, prefix string, values map[string]int32) (int32, error) {
	value := values[prefix+strings.ToUpper(word)]
	if word != "" && value == 0 { // unspecified selects nothing, and would look like all
		return 0, fmt.Errorf("--%s %q is none of %s", flag, printable(word), strings.Join(enumWords(prefix, values), ", "))
	}
	return value, nil
}

// enumWords are the short names of an enum's values, in the order of their numbers.
func enumWords(prefix string, values map[string]int32) []string {
	words := slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Compare(values[a], values[b]) })
	words = slices.DeleteFunc(words, func(name string) bool { return values[name] == 0 })
	for i, name := range words {
		words[i] = strings.TrimPrefix(name, prefix)
	}
	return words
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
