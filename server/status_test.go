package server

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/gate"
)

// Habit 10: one function makes statuses, and what it does not know is a fixed sentence.
func TestStatusOf(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code codes.Code
	}{
		{"nil", nil, codes.OK},
		{"bad call", &gate.CallError{Field: "payload", Detail: "is missing"}, codes.InvalidArgument},
		{"bad form", &formError{}, codes.InvalidArgument},
		{"malformed", errMalformed, codes.InvalidArgument},
		{"page token", audit.ErrBadPageToken, codes.InvalidArgument},
		{"not found", audit.ErrNotFound, codes.NotFound},
		{"not operator", errNotOperator, codes.PermissionDenied},
		{"unlisted", accessUnlisted, codes.PermissionDenied},
		{"a wrong role", accessRole, codes.PermissionDenied},
		{"no certificate", accessNoCertificate, codes.Unauthenticated},
		{"expired", accessExpired, codes.Unauthenticated},
		{"no room", &roomError{}, codes.ResourceExhausted},
		{"slow", errSlow, codes.DeadlineExceeded},
		{"full", audit.ErrFull, codes.Unavailable},
		{"unavailable", audit.ErrUnavailable, codes.Unavailable},
		{"unavailable, for its own deadline", errors.Join(audit.ErrUnavailable, context.DeadlineExceeded), codes.Unavailable},
		{"no contracts", gate.ErrNoContracts, codes.Unavailable},
		{"draining", errDraining, codes.Unavailable},
		{"deadline", context.DeadlineExceeded, codes.DeadlineExceeded},
		{"cancelled", context.Canceled, codes.Canceled},
		{"panic", &gate.PanicError{Kind: "SECRET"}, codes.Internal},
		{"invalid record", audit.ErrInvalidRecord, codes.Internal},
		{"damaged", audit.ErrDamaged, codes.Internal},
		{"unknown", errors.New("SECRET"), codes.Internal},
		{"a library's internal error", status.Error(codes.Internal, "SECRET"), codes.Internal},
		{"a status that is nobody's", status.Error(codes.DataLoss, "SECRET"), codes.Internal},
	} {
		for _, err := range []error{c.err, wrapped(c.err)} {
			st := statusOf(err)
			if st.Code() != c.code {
				t.Errorf("%s: %s, want %s", c.name, st.Code(), c.code)
			}
			if strings.Contains(st.String(), "SECRET") || strings.Contains(st.String(), "wrapper") {
				t.Errorf("%s: %s", c.name, st)
			}
			if c.code == codes.Internal && st.Message() != sentenceInternal {
				t.Errorf("%s: %s", c.name, st)
			}
		}
	}
	if st := statusOf(status.Error(codes.Unimplemented, "method X not implemented")); st.Code() != codes.Unimplemented {
		t.Errorf("generated: %s", st)
	}
	if st := statusOf(wrapped(status.Error(codes.Unimplemented, "SECRET"))); st.Code() != codes.Internal {
		t.Errorf("a status inside another error: %s", st)
	}
}

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("wrapper: %w", err)
}

// The details of a status fit into trailers, however many faults there are.
func TestDetailsAreBounded(t *testing.T) {
	for _, n := range []int{1, 20, 60, 61, 62, 10_000} {
		for _, long := range []int{1, 50, 5000} {
			faults := make([]fieldFault, n)
			for i := range faults {
				faults[i] = fieldFault{strings.Repeat("f", long), "breaks a rule"}
			}
			st := invalidArgument(faults)
			b, err := proto.Marshal(st.Proto())
			if err != nil {
				t.Fatal(err)
			}
			if size := base64.StdEncoding.EncodedLen(len(b)); size >= 4<<10+200 {
				t.Errorf("%d faults of %d: %d bytes in a trailer", n, long, size)
			}
			if len(b) >= 4<<10 || len(st.Details()) != 1 {
				t.Errorf("%d faults of %d: %d bytes, details %d", n, long, len(b), len(st.Details()))
			}
		}
	}
	if text := invalidArgument(make([]fieldFault, 10_000)).Proto().String(); !strings.Contains(text, "more faults") {
		t.Error("faults are left out in silence")
	}
}

// The log names causes only where their texts are known to hold no value.
func TestCause(t *testing.T) {
	for _, c := range []struct {
		err   error
		want  string
		stack string
	}{
		{fmt.Errorf("x: %w", audit.ErrFull), "x: audit: queue is full", ""},
		{wrapped(errors.New("SECRET")), "*fmt.wrapError: *errors.errorString", ""},
		{
			wrapped(&gate.PanicError{Kind: "runtime.boundsError", Stack: []byte("goroutine 7 [running]:\na/b.(*T).F(0x53, {0x45, 0x43})\n\t/src/a.go:7 +0x1d\ncreated by a/b.(*S).G in goroutine 1\n")}),
			"gate: judging panicked with a runtime.boundsError", "goroutine 7 [running]:\na/b.(*T).F(…)\n\t/src/a.go:7 +0x1d\ncreated by a/b.(*S).G in goroutine 1",
		},
	} {
		if got := cause(c.err); got != c.want {
			t.Errorf("cause %q, want %q", got, c.want)
		}
		if got := stack(c.err); got != c.stack {
			t.Errorf("stack %q, want %q", got, c.stack)
		}
	}
}
