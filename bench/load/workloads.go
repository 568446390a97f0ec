package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// sender makes one call, with a number that no other call of this run has.
type sender func(ctx context.Context, to hallmarkv1.GateServiceClient, n int) (proto.Message, error)

// maker prepares a workload for a number of calls.
type maker func(ctx context.Context, at hallmarkv1.GateServiceClient, calls int) (sender, error)

// run64 tells the requests of this process from those of others.
var run64 = fmt.Sprintf("%012x", time.Now().UnixNano()&(1<<48-1))

func workloads() map[string]maker {
	return map[string]maker{
		"small":         validating("review_status", review("review_status")),
		"small-mac":     validating("bench_review_mac", review("bench_review_mac")),
		"small-signed":  validating("bench_review_signed", review("bench_review_signed")),
		"job":           makeJob,
		"list1m":        validating("bench_list", func(int) (string, string) { return `{"project_id":"alpha"}`, rows }),
		"text10k":       reading("document_read", "text/plain", plainText(10<<10)),
		"html100k":      reading("web_read", "text/html", page(100<<10)),
		"authorize":     makeMail,
		"authorize-job": makeRestart,
	}
}

// requestID is well-formed and not used before.
func requestID(n int) string { return fmt.Sprintf("req.%s.%d", run64, n) }

// errRefused says that a reply is not the one that is to be measured.
var errRefused = errors.New("the call was refused")

// review returns the arguments and the reply of 160 bytes; the reply names its request.
func review(tool string) func(n int) (string, string) {
	return func(n int) (string, string) {
		return `{"change_id":"CR-1042"}`, `{"tool":"` + tool + `","request_id":"` + requestID(n) +
			`","outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"Ana"}}`
	}
}

// validating sends replies of JSON.
func validating(tool string, make func(n int) (arguments, raw string)) maker {
	return func(context.Context, hallmarkv1.GateServiceClient, int) (sender, error) {
		return func(ctx context.Context, to hallmarkv1.GateServiceClient, n int) (proto.Message, error) {
			arguments, raw := make(n)
			return validate(ctx, to, request(tool, n, arguments, nil), "application/json", raw)
		}, nil
	}
}

func request(tool string, n int, arguments string, evidence []string) *hallmarkv1.OutstandingRequest {
	return &hallmarkv1.OutstandingRequest{
		Tool: tool, RequestId: requestID(n), SessionId: "bench." + run64, ArgumentsJson: arguments, Evidence: evidence,
	}
}

// validate sends one reply of a tool and takes nothing but success.
func validate(ctx context.Context, to hallmarkv1.GateServiceClient, r *hallmarkv1.OutstandingRequest, media, raw string) (*hallmarkv1.ValidateResponse, error) {
	reply, err := to.Validate(ctx, &hallmarkv1.ValidateRequest{
		Request: r, Payload: &hallmarkv1.ValidateRequest_RawText{RawText: raw},
		Upstream: &hallmarkv1.Upstream{
			Source: "https://tools.example.test/" + r.GetTool(), MediaType: media,
			Status: &hallmarkv1.Upstream_HttpStatus{HttpStatus: 200},
		},
	})
	if err != nil {
		return nil, err
	}
	if f := reply.GetResult().GetFailure(); f != nil || reply.GetResult() == nil {
		return nil, fmt.Errorf("%w: %s: %v %v", errRefused, r.GetTool(), f.GetCode(), reply.GetRejection())
	}
	return reply, nil
}

// rows are the list of 1 MB.
var rows = func() string {
	var b strings.Builder
	b.WriteString(`{"project_id":"alpha","runs":[`)
	for n := 0; b.Len() < 1_000_000; n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"run_id":"run_%012d","state":"failed","started_at":"2026-01-02T03:04:05Z"}`, n)
	}
	return b.String() + "]}"
}()

// reading sends outside text.
func reading(tool, media, text string) maker {
	return func(context.Context, hallmarkv1.GateServiceClient, int) (sender, error) {
		return func(ctx context.Context, to hallmarkv1.GateServiceClient, n int) (proto.Message, error) {
			return validate(ctx, to, request(tool, n, "", nil), media, text)
		}, nil
	}
}

func plainText(bytes int) string {
	const line = "A line of ordinary prose, with an é and a number 42, as documents hold them.\n"
	return strings.Repeat(line, bytes/len(line)+1)[:bytes]
}

func page(bytes int) string {
	const part = `<div class="entry"><h2>A heading</h2><p>Some <b>ordinary</b> prose with a <a href="https://docs.example.test/a">link</a> in it, and a second sentence after it.</p></div>`
	return "<!doctype html><html><head><title>A page</title></head><body>" + strings.Repeat(part, bytes/len(part)) + "</body></html>"
}

// jobReply is a run that failed just now.
func jobReply(n int, at time.Time) (arguments, raw string) {
	arguments = fmt.Sprintf(`{"project_id":"alpha","run_id":"%s"}`, runID(n))
	raw = fmt.Sprintf(`{"project_id":"alpha","run_id":"%s","state":"failed","observed_at":"%s"}`, runID(n), at.UTC().Format(time.RFC3339))
	return arguments, raw
}

func runID(n int) string { return fmt.Sprintf("run_%s%08d", run64, n) }

func makeJob(ctx context.Context, at hallmarkv1.GateServiceClient, calls int) (sender, error) {
	return validating("bench_job", func(n int) (string, string) { return jobReply(n, time.Now()) })(ctx, at, calls)
}

// makeMail asks to send a mail under ten grants, only the last of which covers it.
func makeMail(context.Context, hallmarkv1.GateServiceClient, int) (sender, error) {
	end := timestamppb.New(time.Now().Add(time.Hour))
	var grants []*hallmarkv1.Grant
	for i := range 10 {
		who := fmt.Sprintf("user%d@example.test", i)
		if i == 9 {
			who = "@example.test"
		}
		grants = append(grants, grant(fmt.Sprintf("g%d", i), "mail_send", "recipient", who, end))
	}
	return func(ctx context.Context, to hallmarkv1.GateServiceClient, n int) (proto.Message, error) {
		return authorize(ctx, to, "mail_send", n, `{"to":["ana@example.test"],"subject":"A subject","body":"Some words."}`, grants, nil)
	}, nil
}

func grant(id, tool, scope, value string, end *timestamppb.Timestamp) *hallmarkv1.Grant {
	return &hallmarkv1.Grant{
		Id: id, Tool: tool, NotAfter: end, Uses: &hallmarkv1.Grant_UnlimitedUses{UnlimitedUses: true},
		Scopes: []*hallmarkv1.Scope{{Name: scope, Allowed: &hallmarkv1.Scope_Values{Values: &hallmarkv1.Values{Values: []string{value}}}}},
	}
}

// makeRestart asks to start runs again, each with a receipt of its failure, which is
// used up by that.
func makeRestart(ctx context.Context, at hallmarkv1.GateServiceClient, calls int) (sender, error) {
	grants := []*hallmarkv1.Grant{grant("g", "job_restart", "project", "alpha", timestamppb.New(time.Now().Add(time.Hour)))}
	receipts := make([]string, calls)
	list := ""
	for n := range calls {
		if n%100 == 0 {
			var err error
			if list, err = listReceipt(ctx, at, n, min(n+100, calls)); err != nil {
				return nil, err
			}
		}
		arguments, raw := jobReply(n, time.Now())
		r := request("job_status", 1_000_000+n, arguments, []string{list})
		r.ContractVersion = 2
		reply, err := validate(ctx, at, r, "application/json", raw)
		if err != nil {
			return nil, err
		}
		receipts[n] = reply.GetReceipt()
	}
	return func(ctx context.Context, to hallmarkv1.GateServiceClient, n int) (proto.Message, error) {
		arguments, _ := jobReply(n, time.Time{})
		return authorize(ctx, to, "job_restart", n, arguments, grants, receipts[n:n+1])
	}, nil
}

// listReceipt returns a receipt of the list of runs from … to-1.
func listReceipt(ctx context.Context, at hallmarkv1.GateServiceClient, from, to int) (string, error) {
	var runs []string
	for n := from; n < to; n++ {
		runs = append(runs, fmt.Sprintf(`{"run_id":"%s","state":"failed","started_at":"2026-01-02T03:04:05Z"}`, runID(n)))
	}
	raw := `{"project_id":"alpha","runs":[` + strings.Join(runs, ",") + `]}`
	reply, err := validate(ctx, at, request("list_runs", 2_000_000+from, `{"project_id":"alpha"}`, nil), "application/json", raw)
	return reply.GetReceipt(), err
}

// authorize asks for one call and takes nothing but permission.
func authorize(ctx context.Context, to hallmarkv1.GateServiceClient, tool string, n int, arguments string, grants []*hallmarkv1.Grant, evidence []string) (proto.Message, error) {
	reply, err := to.Authorize(ctx, &hallmarkv1.AuthorizeRequest{
		Call: &hallmarkv1.ProposedCall{
			Tool: tool, RequestId: requestID(n), SessionId: "bench." + run64, Principal: "u1",
		},
		Payload: &hallmarkv1.AuthorizeRequest_RawText{RawText: arguments},
		Grants:  grants, Evidence: evidence,
	})
	if err != nil {
		return nil, err
	}
	if reply.GetDecision() != hallmarkv1.Decision_DECISION_ALLOW {
		return nil, fmt.Errorf("%w: %s: %v", errRefused, tool, reply.GetReasons())
	}
	return reply, nil
}
