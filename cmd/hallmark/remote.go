package main

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const (
	defaultAddr = "127.0.0.1:7443"
	callTimeout = 15 * time.Second
	// maxReply is more than the service ever sends.
	maxReply = 8 << 20
)

// dial connects to a service. A connection is only made by the first call.
func dial(addr string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply)))
	if err != nil {
		return nil, fmt.Errorf("%s is no address; give host:port", printable(addr))
	}
	return conn, nil
}

// call bounds one call in time.
func call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

// callFailed turns the status of a failed call into one sentence.
func callFailed(addr string, err error) error {
	s := status.Convert(err)
	return fmt.Errorf("%s answered %s: %s", printable(addr), s.Code(), printable(s.Message()))
}
