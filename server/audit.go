package server

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// auditService answers AuditService to operators, each within its tenants.
type auditService struct {
	hallmarkv1.UnimplementedAuditServiceServer
	store audit.Store
	who   func(context.Context) *identity
	guard *guard
	log   *slog.Logger
	clock func() time.Time

	watchers *watchers
}

// scope returns the records that the caller may see. The error is errNotOperator.
func (s *auditService) scope(ctx context.Context) (audit.Scope, error) {
	who := s.who(ctx)
	if !who.Operator {
		return audit.Scope{}, errNotOperator
	}
	return audit.OnlyTenants(who.tenants...), nil
}

// GetEvent returns one record.
func (s *auditService) GetEvent(ctx context.Context, req *hallmarkv1.GetEventRequest) (*hallmarkv1.GetEventResponse, error) {
	scope, err := s.scope(ctx)
	if err != nil {
		return nil, err
	}
	record, err := s.store.Get(ctx, scope, strings.ToLower(req.GetDecisionId()))
	if err != nil {
		return nil, err
	}
	return &hallmarkv1.GetEventResponse{Event: eventToWire(record)}, nil
}

// ListEvents returns a page of records, newest first. Records that cannot be read are
// left out and named in the log, so that damage hides no other record.
func (s *auditService) ListEvents(ctx context.Context, req *hallmarkv1.ListEventsRequest) (*hallmarkv1.ListEventsResponse, error) {
	scope, err := s.scope(ctx)
	if err != nil {
		return nil, err
	}
	filter, err := filterFromWire(req.GetFilter())
	if err != nil {
		return nil, err
	}
	records, next, err := s.store.List(ctx, scope, filter, intOf(req.GetPageSize()), req.GetPageToken())
	switch {
	case errors.Is(err, audit.ErrDamaged):
		s.log.LogAttrs(ctx, slog.LevelError, "audit records cannot be read",
			slog.String("decision_id", decisionID(ctx)), slog.String("cause", cause(err)))
	case err != nil:
		return nil, err
	}
	out := &hallmarkv1.ListEventsResponse{NextPageToken: next, Events: make([]*hallmarkv1.Event, len(records))}
	for i, r := range records {
		out.Events[i] = eventToWire(r)
	}
	return out, nil
}
