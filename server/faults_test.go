package server

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// panickyReader panics over one payload and reads all others strictly.
type panickyReader struct{}

func (panickyReader) Read(raw []byte, limits strictjson.Limits) (strictjson.Value, *validators.Rejection) {
	if bytes.Contains(raw, []byte("PANIC-NOW")) {
		panic("over " + string(raw))
	}
	v, err := strictjson.Parse(raw, limits)
	var refused *strictjson.Error
	if errors.As(err, &refused) {
		layer := contract.LayerSyntax
		if refused.Reason.IsLimit() {
			layer = contract.LayerLimits
		}
		return v, &validators.Rejection{Layer: layer, Reason: contract.Reason(refused.Reason.String()), At: refused.Pointer}
	}
	return v, nil
}

// A request is read beside its call's goroutine, where a panic would cost the process.
func TestPanicWhileReading(t *testing.T) {
	var r received
	err := r.readAside(func(any) error { panic("SECRET-PAYLOAD") }, make(chan struct{}))
	var panicked *gate.PanicError
	if !errors.As(err, &panicked) || panicked.Kind != "string" {
		t.Errorf("readAside = %v", err)
	}
}

// Case 143: a panic costs one call, leaves a record and a trace without the payload,
// and no other call notices.
func TestPanicCostsOneCall(t *testing.T) {
	s := start(t, func(s *setup) {
		if err := s.registry.RegisterReader("review_status", 1, panickyReader{}); err != nil {
			t.Fatal(err)
		}
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if reply, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil || reply.GetResult().GetData() == nil {
					t.Errorf("a call beside the panic: %v, %v", reply, err)
				}
			}
		})
	}
	var header metadata.MD
	_, err := s.gate.Validate(ctxFor(t), call("review_status", []byte("PANIC-NOW SECRET-PAYLOAD")), grpc.Header(&header))
	wg.Wait()
	wantCode(t, err, codes.Internal)
	if got := status.Convert(err).Message(); got != sentenceInternal {
		t.Errorf("message %q", got)
	}
	id := onlyID(t, header)
	if e := s.event(t, id); e.GetRejection().GetLayer() != hallmarkv1.Layer_LAYER_INTERNAL {
		t.Errorf("event %v", e)
	}
	faults := s.log.lines(t, "fault")
	if len(faults) != 1 || faults[0]["decision_id"] != id || !strings.Contains(faults[0]["stack"].(string), "panickyReader.Read(…)") {
		t.Errorf("faults %v", faults)
	}
	if !strings.Contains(faults[0]["cause"].(string), "string") {
		t.Errorf("the kind of the panic is not told: %v", faults[0]["cause"])
	}
	for _, piece := range []string{"PANIC-NOW", "SECRET-PAYLOAD"} {
		if strings.Contains(s.log.String(), piece) {
			t.Errorf("the log holds %s", piece)
		}
	}
}

// panickyStore panics when it is read.
type panickyStore struct{ brokenStore }

func (*panickyStore) Get(context.Context, audit.Scope, string) (audit.Record, error) {
	panic(errors.New("SECRET-VALUE"))
}

// A panic outside of judging costs one call too.
func TestPanicInHandler(t *testing.T) {
	s := start(t, withStore(&panickyStore{}))
	for range 2 {
		_, err := s.audit.GetEvent(ctxFor(t), &hallmarkv1.GetEventRequest{DecisionId: record(1, "").DecisionID})
		wantCode(t, err, codes.Internal)
	}
	if _, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil {
		t.Errorf("after the panic: %v", err)
	}
	faults := s.log.lines(t, "fault")
	if len(faults) != 2 || !strings.Contains(faults[0]["stack"].(string), "panickyStore") || strings.Contains(s.log.String(), "SECRET-VALUE") {
		t.Errorf("faults %v", faults)
	}
}

// D4: without a durable record there is no reply.
func TestStoreFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault error
		code  codes.Code
	}{
		{"full", audit.ErrFull, codes.Unavailable},
		{"unavailable", asUnavailable("no space left on /somewhere"), codes.Unavailable},
		{"invalid record", audit.ErrInvalidRecord, codes.Internal},
		{"unknown", errors.New("FAKE-SECRET-123 is in the way"), codes.Internal},
		{"a status inside", status.Error(codes.NotFound, "FAKE-SECRET-123"), codes.Internal},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &brokenStore{}
			s := start(t, withStore(store))
			if _, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil {
				t.Fatal(err)
			}
			store.fail(c.fault)
			var header metadata.MD
			reply, err := s.gate.Validate(ctxFor(t), call("review_status", []byte(accepted)), grpc.Header(&header))
			wantCode(t, err, c.code)
			if reply != nil {
				t.Errorf("reply %v", reply)
			}
			onlyID(t, header)
			text := protojson.Format(status.Convert(err).Proto())
			for _, piece := range []string{"FAKE-SECRET-123", "/somewhere"} {
				if strings.Contains(text, piece) {
					t.Errorf("status %s", text)
				}
			}
			if strings.Contains(s.log.String(), "FAKE-SECRET-123") {
				t.Error("the log holds the text of an unknown error")
			}
			if faults := s.log.lines(t, "fault"); len(faults) != 1 {
				t.Errorf("faults %v", faults)
			}
			store.fail(nil)
		})
	}
}

// Case 145: a call whose deadline passes gets DEADLINE_EXCEEDED, and one that arrives
// too late costs nothing.
func TestDeadlines(t *testing.T) {
	store := &brokenStore{hang: true}
	s := start(t, withStore(store))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := s.gate.Validate(ctx, call("review_status", []byte(accepted)))
	wantCode(t, err, codes.DeadlineExceeded)

	f, err := newForm()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newChain(discard(), inPlaintext(t).guard, inPlaintext(t).lanes, f)
	if err != nil {
		t.Fatal(err)
	}
	expired, cancel := context.WithDeadline(withTransport(context.Background()), time.Now().Add(-time.Second))
	defer cancel()
	handler := c.unary("/hallmark.v1.GateService/Validate", func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
		t.Error("an expired call was worked on")
		return nil, nil
	})
	_, err = handler(nil, expired, func(any) error { t.Error("an expired call was read"); return nil }, nil)
	wantCode(t, err, codes.DeadlineExceeded)
	cancelled, cancelNow := context.WithCancel(withTransport(context.Background()))
	cancelNow()
	_, err = handler(nil, cancelled, nil, nil)
	wantCode(t, err, codes.Canceled)
}
