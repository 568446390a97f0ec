package server

import (
	"errors"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// errMalformed says that the bytes of a request are no message of its type: broken
// wire format, or a string that is not UTF-8.
var errMalformed = errors.New("server: the request is not a valid message of its type")

// received is a request on its way in. grpc answers a failure of its codec with
// INTERNAL and the library's text before any interceptor sees it; so the codec never
// fails on a request and leaves the fault here, where it becomes a status like others.
type received struct {
	into  any
	size  int // in bytes
	fault error
}

// wireCodec is the protobuf codec that tolerates [received]. It is safe for concurrent
// use.
type wireCodec struct{ encoding.CodecV2 }

func newWireCodec() wireCodec { return wireCodec{encoding.GetCodecV2(proto.Name)} }

// Unmarshal reads data into v. Only for a received does it keep the error back.
func (c wireCodec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*received)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	r.size = data.Len()
	r.fault = c.CodecV2.Unmarshal(data, r.into)
	return nil
}
