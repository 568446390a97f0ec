package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

const (
	principal = "ana@example.test"
	arguments = `{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6"}`
)

// restart is the task: find the failed run of a project, and start it again.
func restart(ctx context.Context, gate hallmarkv1.GateServiceClient, keys hallmarkv1.ContractServiceClient) error {
	o := orchestrator{gate: gate, session: "task-" + rand.Text()}
	runs, err := o.result(ctx, "list_runs", 1, `{"project_id":"bluebird"}`, nil, listRuns)
	if err = step("list_runs: data, and a receipt", errors.Join(err, runs.hasReceipt())); err != nil {
		return err
	}
	job, err := o.result(ctx, "job_status", 2, arguments, []string{runs.receipt}, unreachableOnce(jobStatus))
	if err = step("job_status: no connection, then as advised a failed run, and a receipt", errors.Join(err, job.hasReceipt())); err != nil {
		return err
	}
	if err := step("what this client does not know is a refusal", refusesTheUnknown()); err != nil {
		return err
	}
	denied, err := o.propose(ctx, "job_restart", nil)
	if err == nil && (permitted(denied) || denied.GetModelPayload() == "") {
		err = errors.New("it is not refused")
	}
	if err = step("job_restart without evidence: the model reads "+denied.GetModelPayload(), err); err != nil {
		return err
	}
	allowed, err := o.propose(ctx, "job_restart", []string{job.receipt})
	if err == nil && !permitted(allowed) {
		err = fmt.Errorf("%s, %v", allowed.GetDecision(), allowed.GetReasons())
	}
	if err = step("job_restart with the receipt: a permit", err); err != nil {
		return err
	}
	return execute(ctx, gate, keys, allowed.GetPermit(), []byte(allowed.GetArgumentsJson()))
}

// orchestrator runs one task of a user.
type orchestrator struct {
	gate    hallmarkv1.GateServiceClient
	session string
}

// outcome is a judged result. Of data, text and code one is set.
type outcome struct {
	data, text string
	code       hallmarkv1.FailureCode
	retryable  bool
	receipt    string
	payload    string // for the model's context
}

// read takes a result apart. What this client does not know is a broken contract.
func read(r *hallmarkv1.ToolResult) outcome {
	switch o := r.GetOutcome().(type) {
	case *hallmarkv1.ToolResult_Data:
		return outcome{data: o.Data.GetJson()}
	case *hallmarkv1.ToolResult_Text:
		return outcome{text: o.Text.GetContent()}
	case *hallmarkv1.ToolResult_Failure:
		return outcome{code: o.Failure.GetCode(), retryable: o.Failure.GetRetryable()}
	default:
		return outcome{code: hallmarkv1.FailureCode_FAILURE_CODE_INVALID_RESPONSE}
	}
}

func (o outcome) hasReceipt() error {
	if o.data == "" || o.receipt == "" {
		return fmt.Errorf("no data with a receipt, but %s", o.code)
	}
	return nil
}

// attempt calls a tool once and says how the reply came; nil bytes: there was none.
type attempt func() ([]byte, *hallmarkv1.Upstream)

// result calls a tool and has its reply judged, again for as long as the service advises.
func (o *orchestrator) result(ctx context.Context, tool string, version uint32, arguments string, evidence []string, call attempt) (outcome, error) {
	first := timestamppb.Now()
	request := &hallmarkv1.OutstandingRequest{
		Tool: tool, ContractVersion: version, RequestId: "req." + rand.Text(), SessionId: o.session,
		ArgumentsJson: arguments, Evidence: evidence, FirstAttemptAt: first,
	}
	for {
		request.Attempt++
		request.IssuedAt = timestamppb.Now()
		raw, upstream := call()
		reply, err := o.validate(ctx, request, raw, upstream)
		if err != nil {
			return outcome{}, err
		}
		retry := reply.GetRetry()
		wait := retry.GetDelay().AsDuration()
		if !retry.GetAllowed() || time.Now().Add(wait).After(retry.GetNotAfter().AsTime()) {
			got := read(reply.GetResult())
			got.receipt, got.payload = reply.GetReceipt(), reply.GetModelPayload()
			return got, nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return outcome{}, ctx.Err()
		}
	}
}

func (o *orchestrator) validate(ctx context.Context, request *hallmarkv1.OutstandingRequest, raw []byte, upstream *hallmarkv1.Upstream) (*hallmarkv1.ValidateResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	message := &hallmarkv1.ValidateRequest{Request: request, Upstream: upstream}
	if raw != nil {
		message.Payload = &hallmarkv1.ValidateRequest_Raw{Raw: raw}
	}
	return o.gate.Validate(ctx, message)
}

// propose asks whether the call may be executed, with what the user's task allows.
func (o *orchestrator) propose(ctx context.Context, tool string, evidence []string) (*hallmarkv1.AuthorizeResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return o.gate.Authorize(ctx, &hallmarkv1.AuthorizeRequest{
		Call:    &hallmarkv1.ProposedCall{Tool: tool, RequestId: "req." + rand.Text(), SessionId: o.session, Principal: principal},
		Payload: &hallmarkv1.AuthorizeRequest_Raw{Raw: []byte(arguments)},
		Grants: []*hallmarkv1.Grant{{
			Id: "restart-bluebird", Tool: "job_restart", NotAfter: timestamppb.New(time.Now().Add(time.Hour)),
			Scopes: []*hallmarkv1.Scope{{Name: "project", Allowed: &hallmarkv1.Scope_Values{
				Values: &hallmarkv1.Values{Values: []string{"bluebird"}},
			}}},
			Uses: &hallmarkv1.Grant_MaxUses{MaxUses: 1},
		}},
		Evidence: evidence,
	})
}

// permitted reports whether a call may be executed: ALLOW, and nothing else.
func permitted(a *hallmarkv1.AuthorizeResponse) bool {
	return a.GetDecision() == hallmarkv1.Decision_DECISION_ALLOW
}

// refusesTheUnknown feeds this client what a later service might answer.
func refusesTheUnknown() error {
	invalid := outcome{code: hallmarkv1.FailureCode_FAILURE_CODE_INVALID_RESPONSE}
	if got := read(&hallmarkv1.ToolResult{}); got != invalid {
		return fmt.Errorf("an unknown outcome is read as %+v", got)
	}
	if permitted(&hallmarkv1.AuthorizeResponse{Decision: 99}) || permitted(nil) {
		return errors.New("an unknown decision is a permission")
	}
	return nil
}

// The tools: a CI system, as it might answer.

func listRuns() ([]byte, *hallmarkv1.Upstream) {
	return fmt.Appendf(nil, `{"project_id":"bluebird","runs":[{"run_id":"run_A1b2C3d4E5f6","state":"failed","started_at":%q}]}`,
		ago(20*time.Minute)), answered("https://ci.example.test/runs")
}

func jobStatus() ([]byte, *hallmarkv1.Upstream) {
	return fmt.Appendf(nil, `{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6","state":"failed","observed_at":%q}`,
		ago(20*time.Second)), answered("https://ci.example.test/runs/1")
}

// unreachableOnce is a tool that cannot be reached the first time.
func unreachableOnce(call attempt) attempt {
	calls := 0
	return func() ([]byte, *hallmarkv1.Upstream) {
		if calls++; calls == 1 {
			return nil, &hallmarkv1.Upstream{
				Source: "https://ci.example.test/runs/1",
				Status: &hallmarkv1.Upstream_TransportError{TransportError: hallmarkv1.TransportError_TRANSPORT_ERROR_CONNECT},
			}
		}
		return call()
	}
}

func answered(source string) *hallmarkv1.Upstream {
	return &hallmarkv1.Upstream{
		Source: source, MediaType: "application/json", ReceivedAt: timestamppb.Now(),
		Status: &hallmarkv1.Upstream_HttpStatus{HttpStatus: 200},
	}
}

func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }
