package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hallmark-gate/hallmark/audit"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// withRecords runs the service on a SQLite store that holds records already.
func withRecords(t *testing.T, records ...audit.Record) func(*setup) {
	return func(s *setup) {
		s.deps.OpenStore = func(ctx context.Context, dir string) (audit.Store, error) {
			store, err := openSQLite(ctx, dir)
			if err != nil {
				return nil, err
			}
			for _, r := range records {
				if _, err := store.Append(ctx, audit.Entry{Record: r}); err != nil {
					t.Error(err)
				}
			}
			return store, nil
		}
	}
}

// record returns the n-th record of a tenant, a second after the one before.
func record(n int, tenant string) audit.Record {
	return audit.Record{
		DecisionID: fmt.Sprintf("0195000a-0001-7000-8000-%012x", n), At: time.Unix(int64(n), 0),
		RPC: "validate", Tenant: tenant, Tool: "t", FailureCode: "INVALID_RESPONSE",
		Rejection: audit.Rejection{Layer: "SCHEMA", Reason: "SCHEMA"},
	}
}

// A17, B11: operators read what happened, newest first, in pages, each in its tenant.
func TestListEvents(t *testing.T) {
	var records []audit.Record
	for n := 1; n <= 120; n++ {
		records = append(records, record(n, "local"))
	}
	records[6].Rejection.Reason, records[6].FailureCode, records[6].Decision = "BINDING", "NOT_FOUND", "DENY"
	records[6].RequestID, records[6].SessionID, records[6].Tool, records[6].RPC = "req-7", "s-7", "seven", "authorize"
	records = append(records, record(500, "other"), record(501, ""))
	s := start(t, withRecords(t, records...))

	list := func(req *hallmarkv1.ListEventsRequest) *hallmarkv1.ListEventsResponse {
		t.Helper()
		reply, err := s.audit.ListEvents(ctxFor(t), req)
		if err != nil {
			t.Fatalf("%v: %v", req, err)
		}
		return reply
	}
	first := list(&hallmarkv1.ListEventsRequest{})
	if len(first.GetEvents()) != 50 || first.GetEvents()[0].GetAt().GetSeconds() != 120 || first.GetNextPageToken() == "" {
		t.Errorf("first page: %d events", len(first.GetEvents()))
	}
	var walked []string
	token := ""
	for {
		page := list(&hallmarkv1.ListEventsRequest{PageSize: 50, PageToken: token})
		for _, e := range page.GetEvents() {
			walked = append(walked, e.GetDecisionId())
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	if len(walked) != 120 || walked[119] != records[0].DecisionID {
		t.Errorf("walked %d events", len(walked))
	}
	if all := list(&hallmarkv1.ListEventsRequest{PageSize: 500}); len(all.GetEvents()) != 120 {
		t.Errorf("500: %d events", len(all.GetEvents()))
	}
	for name, f := range map[string]*hallmarkv1.EventFilter{
		"tool": {Tool: "seven"}, "request": {RequestId: "req-7"}, "session": {SessionId: "s-7"}, "rpc": {Rpc: "authorize"},
		"code":     {FailureCode: hallmarkv1.FailureCode_FAILURE_CODE_NOT_FOUND},
		"reason":   {Reason: hallmarkv1.RejectionReason_REJECTION_REASON_BINDING},
		"decision": {Decision: hallmarkv1.Decision_DECISION_DENY},
		"time":     {Since: timestamppb.New(time.Unix(7, 0)), Until: timestamppb.New(time.Unix(8, 0)), Tenant: "local"},
	} {
		if got := list(&hallmarkv1.ListEventsRequest{Filter: f}); len(got.GetEvents()) != 1 || got.GetEvents()[0].GetTool() != "seven" {
			t.Errorf("by %s: %v", name, got)
		}
	}
	if got := list(&hallmarkv1.ListEventsRequest{Filter: &hallmarkv1.EventFilter{Tenant: "other"}}); len(got.GetEvents()) != 0 {
		t.Errorf("another tenant's: %v", got)
	}
}

// What cannot be asked is refused, and what is another's does not exist.
func TestAuditRefusals(t *testing.T) {
	s := start(t, withRecords(t, record(1, "local"), record(2, "other")))
	if got := s.event(t, "0195000A-0001-7000-8000-000000000001"); got.GetAt().GetSeconds() != 1 {
		t.Errorf("upper case: %v", got)
	}
	for id, code := range map[string]codes.Code{
		record(2, "").DecisionID: codes.NotFound,
		record(3, "").DecisionID: codes.NotFound,
		"":                       codes.InvalidArgument,
		"1":                      codes.InvalidArgument,
	} {
		_, err := s.audit.GetEvent(ctxFor(t), &hallmarkv1.GetEventRequest{DecisionId: id})
		wantCode(t, err, code)
	}
	for name, c := range map[string]struct {
		req   *hallmarkv1.ListEventsRequest
		field string
	}{
		"page size":  {&hallmarkv1.ListEventsRequest{PageSize: 501}, "page_size"},
		"page token": {&hallmarkv1.ListEventsRequest{PageToken: "x"}, "page_token"},
		"rpc":        {&hallmarkv1.ListEventsRequest{Filter: &hallmarkv1.EventFilter{Rpc: "Validate"}}, "filter.rpc"},
		"reason":     {&hallmarkv1.ListEventsRequest{Filter: &hallmarkv1.EventFilter{Reason: 999}}, "filter.reason"},
		"code":       {&hallmarkv1.ListEventsRequest{Filter: &hallmarkv1.EventFilter{FailureCode: 999}}, "filter.failure_code"},
		"decision":   {&hallmarkv1.ListEventsRequest{Filter: &hallmarkv1.EventFilter{Decision: -1}}, "filter.decision"},
		"since":      {&hallmarkv1.ListEventsRequest{Filter: &hallmarkv1.EventFilter{Since: &timestamppb.Timestamp{Nanos: -1}}}, "filter.since"},
		"until":      {&hallmarkv1.ListEventsRequest{Filter: &hallmarkv1.EventFilter{Until: &timestamppb.Timestamp{Seconds: 1 << 50}}}, "filter.until"},
	} {
		_, err := s.audit.ListEvents(ctxFor(t), c.req)
		wantCode(t, err, codes.InvalidArgument)
		if fields := faultyFields(t, err); len(fields) != 1 || fields[0] != c.field {
			t.Errorf("%s: fields %q", name, fields)
		}
	}
}

// Damage hides no other record; the operator is told of it in the log.
func TestDamagedRecords(t *testing.T) {
	store := &brokenStore{}
	s := start(t, withStore(store))
	if _, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil {
		t.Fatal(err)
	}
	store.fail(fmt.Errorf("row 7: %w", audit.ErrDamaged))
	reply, err := s.audit.ListEvents(ctxFor(t), &hallmarkv1.ListEventsRequest{})
	if err != nil || len(reply.GetEvents()) != 1 {
		t.Errorf("%v, %v", reply, err)
	}
	if lines := s.log.lines(t, "audit records cannot be read"); len(lines) != 1 || lines[0]["cause"] != "row 7: audit: damaged record" {
		t.Errorf("log %v", lines)
	}
	_, err = s.audit.GetEvent(ctxFor(t), &hallmarkv1.GetEventRequest{DecisionId: record(1, "").DecisionID})
	wantCode(t, err, codes.Internal)
	store.fail(audit.ErrUnavailable)
	_, err = s.audit.ListEvents(ctxFor(t), &hallmarkv1.ListEventsRequest{})
	wantCode(t, err, codes.Unavailable)
	store.fail(nil)
}
