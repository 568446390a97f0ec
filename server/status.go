package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/gate"
)

// Sentences of statuses. They are fixed: nothing of a request or of a cause is in them.
const (
	sentenceInternal  = "internal error; the operator finds it under the decision id"
	sentenceMalformed = "the call is malformed"
)

// Bounds of a status, in bytes. In base64, as trailers carry them, details then stay
// below 4 KiB with the message beside them; from about 8 KiB on clients lose both.
const (
	maxDetailBytes  = 2 << 10
	maxMessageBytes = 512
)

// errNotOperator says that a caller without the role asked for audit records.
var errNotOperator = errors.New("server: the caller is not an operator")

// statusOf makes the status of an error; OK for nil. It is the only place where errors
// become statuses. What it does not know is INTERNAL with a fixed sentence.
func statusOf(err error) *status.Status {
	var malformed *formError
	var badCall *gate.CallError
	var noRoom *roomError
	var access accessError
	switch {
	case err == nil:
		return status.New(codes.OK, "")
	case errors.As(err, &malformed):
		return invalidArgument(malformed.faults)
	case errors.As(err, &badCall):
		return invalidArgument([]fieldFault{{badCall.Field, badCall.Detail}})
	case errors.Is(err, errCompressed):
		return status.New(codes.Unimplemented, errCompressed.Error())
	case errors.Is(err, errMalformed):
		return status.New(codes.InvalidArgument, "the request is not a valid message of its type")
	case errors.Is(err, audit.ErrBadPageToken):
		return invalidArgument([]fieldFault{{"page_token", "is not a token of this service for this filter"}})
	case errors.Is(err, errNoOriginal):
		return status.New(codes.NotFound, "no original is kept under this decision id")
	case errors.Is(err, audit.ErrNotFound):
		return status.New(codes.NotFound, "no event has this decision id")
	case errors.Is(err, errNoContract):
		return status.New(codes.NotFound, "no contract that serves has this tool and version")
	case errors.Is(err, errNotOperator):
		return status.New(codes.PermissionDenied, "only operators read the audit record")
	case errors.Is(err, errOutOfScope):
		return status.New(codes.PermissionDenied, "the identity may not watch all of these tenants any more")
	case errors.As(err, &access):
		return accessStatus(access)
	case errors.As(err, &noRoom):
		return exhausted(noRoom)
	case errors.Is(err, errSlow):
		return status.New(codes.DeadlineExceeded, "the request did not arrive in time")
	case errors.Is(err, errBehind):
		return status.New(codes.ResourceExhausted, "the watcher reads too slowly; watch again after the last decision id that it saw")
	case errors.Is(err, audit.ErrFull):
		return status.New(codes.Unavailable, "the audit store has no room now")
	case errors.Is(err, audit.ErrUnavailable):
		return status.New(codes.Unavailable, "the audit store is not available")
	case errors.Is(err, errDraining):
		return status.New(codes.Unavailable, errDraining.Error())
	case errors.Is(err, gate.ErrNoContracts):
		return status.New(codes.Unavailable, "no contracts are loaded")
	case errors.Is(err, context.DeadlineExceeded):
		return status.New(codes.DeadlineExceeded, "the deadline has passed")
	case errors.Is(err, context.Canceled):
		return status.New(codes.Canceled, "the call was cancelled")
	}
	return librarysStatus(err)
}

// accessStatus makes the status of a caller that may not.
func accessStatus(e accessError) *status.Status {
	if e.unauthenticated() {
		return status.New(codes.Unauthenticated, e.Error())
	}
	return status.New(codes.PermissionDenied, e.Error())
}

// exhausted makes the status of a call that there was no room for, with the time after
// which it is worth to ask again.
func exhausted(e *roomError) *status.Status {
	st := status.New(codes.ResourceExhausted, e.Error())
	with, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(e.retryAfter)})
	if err != nil {
		return st
	}
	return with
}

// librarysStatus lets the statuses pass that grpc and the generated code make
// themselves (UNIMPLEMENTED, RESOURCE_EXHAUSTED of a large message, NOT_FOUND of a
// health check); a status inside another error, and one without a cause, does not.
func librarysStatus(err error) *status.Status {
	own, ok := err.(interface{ GRPCStatus() *status.Status }) //nolint:errorlint // a wrapped one must not pass
	if !ok {
		return status.New(codes.Internal, sentenceInternal)
	}
	switch st := own.GRPCStatus(); st.Code() {
	case codes.Unimplemented, codes.ResourceExhausted, codes.NotFound, codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return st
	}
	return status.New(codes.Internal, sentenceInternal)
}

// invalidArgument makes the status of a malformed call: the first fault in the message,
// for people, and as many as have room in the details, for programs.
func invalidArgument(faults []fieldFault) *status.Status {
	details := &errdetails.BadRequest{}
	message := sentenceMalformed
	if len(faults) > 0 {
		message += ": " + strings.TrimSpace(faults[0].field+" "+faults[0].detail)
		message = message[:min(len(message), maxMessageBytes)]
	}
	size := 0
	for i, f := range faults {
		v := &errdetails.BadRequest_FieldViolation{Field: valid(f.field), Description: valid(f.detail)}
		size += proto.Size(v) + 4
		if size > maxDetailBytes {
			details.FieldViolations = append(details.FieldViolations, &errdetails.BadRequest_FieldViolation{
				Description: fmt.Sprintf("%d more faults are not listed", len(faults)-i),
			})
			break
		}
		details.FieldViolations = append(details.FieldViolations, v)
	}
	st := status.New(codes.InvalidArgument, valid(message))
	if with, err := st.WithDetails(details); err == nil {
		return with
	}
	return st
}

// cause describes an error for the operator's log. Errors of the store may speak, they
// hold places and causes only; of all others only the types are named, since nobody
// promises what their texts hold.
func cause(err error) string {
	var panicked *gate.PanicError
	switch {
	case errors.As(err, &panicked):
		return panicked.Error()
	case errors.Is(err, audit.ErrFull), errors.Is(err, audit.ErrUnavailable),
		errors.Is(err, audit.ErrInvalidRecord), errors.Is(err, audit.ErrDamaged), errors.Is(err, gate.ErrNoContracts):
		return err.Error()
	}
	var kinds []string
	for ; err != nil; err = errors.Unwrap(err) {
		kinds = append(kinds, fmt.Sprintf("%T", err))
	}
	return strings.Join(kinds, ": ")
}

// stack returns where a panic happened, without the words that functions were called
// with, and "" where err is no panic.
func stack(err error) string {
	var panicked *gate.PanicError
	if !errors.As(err, &panicked) {
		return ""
	}
	lines := strings.Split(string(panicked.Stack), "\n")
	for i, line := range lines {
		if open := strings.LastIndexByte(line, '('); open >= 0 && strings.HasSuffix(line, ")") && !strings.HasPrefix(line, "\t") {
			lines[i] = line[:open] + "(…)"
		}
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}
