package server

import (
	"context"
	"time"

	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// gateService answers GateService. What it does not have is UNIMPLEMENTED.
type gateService struct {
	hallmarkv1.UnimplementedGateServiceServer
	gate  *gate.Gate
	who   func(context.Context) *identity
	guard *guard
}

// Validate judges one reply of a tool.
func (s *gateService) Validate(ctx context.Context, req *hallmarkv1.ValidateRequest) (*hallmarkv1.ValidateResponse, error) {
	call, err := callFromWire(req)
	if err != nil {
		return nil, err
	}
	who := s.who(ctx)
	if err := s.guard.permit(ctx, hallmarkv1.GateService_Validate_FullMethodName, who, s.gate.Set(), call.Request.Tool); err != nil {
		return nil, err
	}
	reply, err := s.gate.Validate(ctx, who.Caller, decisionID(ctx), call)
	if err != nil {
		return nil, err
	}
	return replyToWire(reply), nil
}

// ValidateWith judges a request as the service would, in this process: by set, for
// caller, at the time now. Nothing is recorded, so the reply has no decision id and is
// not evidence of anything. The error says what is malformed in the request, without
// its values.
func ValidateWith(set *gate.Set, caller gate.Caller, now time.Time, req *hallmarkv1.ValidateRequest) (*hallmarkv1.ValidateResponse, error) {
	f, err := newForm()
	if err != nil {
		return nil, err
	}
	if err := f.check(req); err != nil {
		return nil, err
	}
	call, err := callFromWire(req)
	if err != nil {
		return nil, err
	}
	o, err := gate.Judge(context.Background(), set, call, gate.Judgement{Caller: caller, Now: now})
	if err != nil {
		return nil, err
	}
	reply := gate.Reply{
		Result: o.Result, ModelPayload: gate.ModelPayload(o.Result), Retry: o.Retry, ContractsDigest: set.Digest(),
	}
	if caller.Operator && len(o.Verdict.Rejections) > 0 {
		reply.Rejection = &o.Verdict.Rejections[0]
	}
	return replyToWire(reply), nil
}
