package server

import (
	"context"
	"errors"

	"google.golang.org/grpc/stats"
)

// errCompressed refuses a request that is compressed on the wire: its size is not what
// it costs. A library that registers a compressor for its own use would otherwise make
// grpc take such requests.
var errCompressed = errors.New("requests are not compressed; send them as they are")

type compressionKey struct{}

// wireStats tells the chain, before anything of a request is read, whether it says that
// it is compressed.
type wireStats struct{}

// TagRPC implements [stats.Handler].
func (wireStats) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, compressionKey{}, new(string))
}

// HandleRPC implements [stats.Handler]. The header comes before the handler runs.
func (wireStats) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if header, ok := s.(*stats.InHeader); ok {
		if kind, ok := ctx.Value(compressionKey{}).(*string); ok {
			*kind = header.Compression
		}
	}
}

// TagConn implements [stats.Handler].
func (wireStats) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements [stats.Handler].
func (wireStats) HandleConn(context.Context, stats.ConnStats) {}

// refuseCompressed is the interceptor.
func refuseCompressed(ctx context.Context, _ string, next func(context.Context) error) error {
	if kind, ok := ctx.Value(compressionKey{}).(*string); ok && *kind != "" && *kind != "identity" {
		return errCompressed
	}
	return next(ctx)
}
