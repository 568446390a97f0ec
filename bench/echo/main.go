// Command echo is the floor of the measurements: a gRPC server of the service's own
// messages, with the service's own options, that answers every call with one recorded
// reply and does nothing else.
//
//	echo -validate FILE -authorize FILE
//
// The files hold the messages in the wire format; a call without its file is refused. The
// server prints "ready grpc=ADDR" and serves until it is told to stop.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// streamWorkers is the service's own number.
const streamWorkers = 256

func main() {
	validate := flag.String("validate", "", "file of the reply to Validate")
	authorize := flag.String("authorize", "", "file of the reply to Authorize")
	flag.Parse()
	if err := serve(*validate, *authorize); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

// echo answers with what was recorded; nil answers nothing.
type echo struct {
	hallmarkv1.UnimplementedGateServiceServer
	validate  *hallmarkv1.ValidateResponse
	authorize *hallmarkv1.AuthorizeResponse
}

// Validate implements the service.
func (e *echo) Validate(context.Context, *hallmarkv1.ValidateRequest) (*hallmarkv1.ValidateResponse, error) {
	if e.validate == nil {
		return nil, status.Error(codes.Unimplemented, "no reply was recorded")
	}
	return e.validate, nil
}

// Authorize implements the service.
func (e *echo) Authorize(context.Context, *hallmarkv1.AuthorizeRequest) (*hallmarkv1.AuthorizeResponse, error) {
	if e.authorize == nil {
		return nil, status.Error(codes.Unimplemented, "no reply was recorded")
	}
	return e.authorize, nil
}

// read reads a recorded reply; "" leaves it out.
func read(name string, into proto.Message) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return proto.Unmarshal(b, into)
}

func serve(validate, authorize string) error {
	e := &echo{}
	var err error
	if validate != "" {
		e.validate = &hallmarkv1.ValidateResponse{}
		err = read(validate, e.validate)
	}
	if authorize != "" {
		e.authorize = &hallmarkv1.AuthorizeResponse{}
		err = errors.Join(err, read(authorize, e.authorize))
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := grpc.NewServer(options()...)
	hallmarkv1.RegisterGateServiceServer(s, e)
	fmt.Printf("ready grpc=%s\n", l.Addr())
	context.AfterFunc(ctx, s.Stop)
	return s.Serve(l)
}

// options are those of the service (server/transport.go).
func options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(6 << 20),
		grpc.MaxSendMsgSize(7 << 20),
		grpc.MaxConcurrentStreams(256),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: 15 * time.Minute, Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.StaticStreamWindowSize(64 << 10),
		grpc.StaticConnWindowSize(1 << 20),
		grpc.NumStreamWorkers(streamWorkers),
	}
}
