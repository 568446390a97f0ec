package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hallmark-gate/hallmark/gate"
)

// DecisionIDHeader is the response header that names the call, on every reply and on
// every error that a handler or an interceptor made.
const DecisionIDHeader = "hallmark-decision-id"

// interceptor is one named step around every call. Unary and streaming calls go through
// the same functions, so that they cannot differ.
type interceptor struct {
	name string
	// around stands around the call, the reading of the request included. It returns
	// next's error or its own. nil: nothing.
	around func(ctx context.Context, method string, next func(context.Context) error) error
	// reading is called before each request message is read, and what it returns after
	// that, with the message's size and the error of reading, before anything is made of
	// its bytes. It returns that error or its own. nil: nothing.
	reading func(ctx context.Context) (done func(size int, err error) error, err error)
	// sending is called before each message of a stream is sent, and what it returns
	// after that. nil: nothing.
	sending func(ctx context.Context) (done func())
	// message is called with each message that is sent, and returns what is sent for it.
	// nil: nothing.
	message func(ctx context.Context, m any) any
	// received judges each request message before the handler sees it. nil: nothing.
	received func(m any) error
}

// chain is every interceptor, the outermost first. It is immutable and safe for
// concurrent use.
type chain []interceptor

// chainOrder says which interceptors there are and in which order. The id comes first,
// since whatever follows names the call by it; logging sees the status that the caller
// gets; statuses are made outside recovery, so that panics are errors like others; no
// request is read after its deadline; who calls is known before room is given, and
// nothing is read without a place, nor decoded without room.
func chainOrder() []string {
	return []string{"decision-id", "logging", "status", "recovery", "compression", "deadline", "identity", "admission", "form"}
}

// newChain builds the chain and checks it.
func newChain(log *slog.Logger, g *guard, l *lanes, f *form) (chain, error) {
	c := chain{
		{name: "decision-id", around: identify},
		{name: "logging", around: logCalls(log)},
		{name: "status", around: makeStatus(log)},
		{name: "recovery", around: recovered},
		{name: "compression", around: refuseCompressed},
		{name: "deadline", around: refuseExpired},
		{name: "identity", around: g.around},
		{name: "admission", around: l.around, reading: l.reading, sending: l.sending, message: l.counted},
		{name: "form", received: f.check},
	}
	return c, c.check()
}

// check reports a chain that is not in the order of chainOrder, or holds a step that
// does nothing.
func (c chain) check() error {
	names := make([]string, len(c))
	for i, step := range c {
		names[i] = step.name
		if step.around == nil && step.reading == nil && step.sending == nil && step.message == nil && step.received == nil {
			return fmt.Errorf("server: interceptor %s does nothing", step.name)
		}
	}
	if want := chainOrder(); !slices.Equal(names, want) {
		return fmt.Errorf("server: the interceptors are %s, not %s", strings.Join(names, ", "), strings.Join(want, ", "))
	}
	return nil
}

// run runs handler inside every step.
func (c chain) run(ctx context.Context, method string, handler func(context.Context) error) error {
	next := handler
	for i := len(c) - 1; i >= 0; i-- {
		if around, inner := c[i].around, next; around != nil {
			next = func(ctx context.Context) error { return around(ctx, method, inner) }
		}
	}
	return next(ctx)
}

// receive reads one message by recv and judges it.
func (c chain) receive(ctx context.Context, m any, recv func(any) error) error {
	r := &received{}
	defer r.free()
	if err := c.read(ctx, r, recv); err != nil {
		return err
	}
	if err := r.decode(m); errors.Is(err, errElements) {
		return err
	} else if err != nil {
		return errMalformed
	}
	for _, step := range c {
		if step.received == nil {
			continue
		}
		if err := step.received(m); err != nil {
			return err
		}
	}
	return nil
}

// read reads one message by recv.
func (c chain) read(ctx context.Context, r *received, recv func(any) error) (err error) {
	for _, step := range c {
		if step.reading == nil {
			continue
		}
		done, noPlace := step.reading(ctx)
		if noPlace != nil {
			return noPlace
		}
		defer func() { err = done(r.raw.Len(), err) }()
	}
	err = r.readAside(recv, wayOf(ctx))
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		return errSlow
	}
	return err
}

// registrar registers services so that every method of theirs runs inside the chain.
// grpc's own interceptors begin after a unary request was read; these begin before, so
// that a request which cannot be read has an id and a log line like any other.
type registrar struct {
	*grpc.Server
	chain chain
}

// RegisterService implements [grpc.ServiceRegistrar].
func (r registrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	wrapped := *desc
	wrapped.Methods = slices.Clone(desc.Methods)
	for i, m := range wrapped.Methods {
		wrapped.Methods[i].Handler = r.chain.unary("/"+desc.ServiceName+"/"+m.MethodName, m.Handler)
	}
	wrapped.Streams = slices.Clone(desc.Streams)
	for i, s := range wrapped.Streams {
		wrapped.Streams[i].Handler = r.chain.stream("/"+desc.ServiceName+"/"+s.StreamName, s.Handler)
	}
	r.Server.RegisterService(&wrapped, impl)
}

func (c chain) unary(method string, handler grpc.MethodHandler) grpc.MethodHandler {
	return func(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var reply any
		err := c.run(ctx, method, func(ctx context.Context) (err error) {
			reply, err = handler(srv, ctx, func(m any) error { return c.receive(ctx, m, decode) }, nil)
			if err == nil {
				reply = c.message(ctx, reply)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return reply, nil
	}
}

// message returns what is sent for a message.
func (c chain) message(ctx context.Context, m any) any {
	for _, step := range c {
		if step.message != nil {
			m = step.message(ctx, m)
		}
	}
	return m
}

func (c chain) stream(method string, handler grpc.StreamHandler) grpc.StreamHandler {
	return func(srv any, ss grpc.ServerStream) error {
		return c.run(ss.Context(), method, func(ctx context.Context) error {
			return handler(srv, &guardedStream{ServerStream: ss, ctx: ctx, chain: c})
		})
	}
}

// guardedStream is a stream whose messages go through the chain.
type guardedStream struct {
	grpc.ServerStream
	ctx   context.Context //nolint:containedctx // a stream carries its context by contract
	chain chain
}

// Context returns the call's context as the chain made it.
func (s *guardedStream) Context() context.Context { return s.ctx }

// RecvMsg reads the next message and judges it.
func (s *guardedStream) RecvMsg(m any) error {
	return s.chain.receive(s.ctx, m, s.ServerStream.RecvMsg)
}

// SendMsg sends the next message.
func (s *guardedStream) SendMsg(m any) error {
	for _, step := range s.chain {
		if step.sending != nil {
			defer step.sending(s.ctx)()
		}
	}
	return s.ServerStream.SendMsg(s.chain.message(s.ctx, m))
}

// unknownMethod stands in logs for methods that no service has: their names are the
// caller's words.
const unknownMethod = "unknown"

// refuseUnknownMethod answers calls of methods that no service has.
func refuseUnknownMethod(any, grpc.ServerStream) error {
	return status.Error(codes.Unimplemented, "no service has this method")
}

type decisionIDKey struct{}

// identify gives the call its decision id.
func identify(ctx context.Context, _ string, next func(context.Context) error) error {
	id, err := uuid.NewV7()
	if err != nil {
		return status.Error(codes.Internal, sentenceInternal)
	}
	if err := grpc.SetHeader(ctx, metadata.Pairs(DecisionIDHeader, id.String())); err != nil {
		return status.Error(codes.Internal, sentenceInternal)
	}
	nameSpan(ctx, id.String())
	return next(context.WithValue(ctx, decisionIDKey{}, id.String()))
}

// decisionID returns the id that identify gave to the call.
func decisionID(ctx context.Context) string {
	id, _ := ctx.Value(decisionIDKey{}).(string)
	return id
}

// logCalls writes one line for each call: which, how it ended, how long it took.
func logCalls(log *slog.Logger) func(context.Context, string, func(context.Context) error) error {
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		began := time.Now()
		err := next(ctx)
		level := slog.LevelInfo
		if !strings.HasPrefix(method, "/hallmark.") {
			level = slog.LevelDebug // probes and tools; they would drown the calls
		}
		log.LogAttrs(ctx, level, "call",
			slog.String("method", method), slog.String("decision_id", decisionID(ctx)),
			slog.String("code", status.Code(err).String()), slog.Float64("duration_seconds", time.Since(began).Seconds()))
		return err
	}
}

// makeStatus turns errors into statuses and tells the operator of our own faults, once
// each.
func makeStatus(log *slog.Logger) func(context.Context, string, func(context.Context) error) error {
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		err := next(ctx)
		if err == nil {
			return nil
		}
		st := statusOf(err)
		if code := st.Code(); (code == codes.Internal || code == codes.Unavailable) && !errors.Is(err, errDraining) {
			attrs := []slog.Attr{
				slog.String("method", method), slog.String("decision_id", decisionID(ctx)),
				slog.String("cause", cause(err)),
			}
			if trace := stack(err); trace != "" {
				attrs = append(attrs, slog.String("stack", trace))
			}
			log.LogAttrs(ctx, slog.LevelError, "fault", attrs...)
		}
		return st.Err()
	}
}

// recovered turns a panic into an error: it costs this call, not the process.
func recovered(ctx context.Context, _ string, next func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &gate.PanicError{Kind: fmt.Sprintf("%T", v), Stack: debug.Stack()}
		}
	}()
	return next(ctx)
}

// refuseExpired refuses calls that nobody waits for any more.
func refuseExpired(ctx context.Context, _ string, next func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return next(ctx)
}
