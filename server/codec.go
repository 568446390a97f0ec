package server

import (
	"context"
	"errors"
	"sync/atomic"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// errMalformed says that the bytes of a request are no message of its type: broken
// wire format, or a string that is not UTF-8.
var errMalformed = errors.New("server: the request is not a valid message of its type")

// received is a request on its way in, as bytes: a message may take many times their
// room, so it is made of them only once there is room for it. That also keeps grpc from
// answering a failure of its codec with INTERNAL and the library's text before anything
// of ours sees it. It belongs to the call's goroutine.
type received struct{ raw mem.BufferSlice }

// Who has the bytes of a request that is being read aside.
const (
	beingRead int32 = iota
	wasRead
	leftAlone
)

// readAside reads the request by recv, unless way closes before: then the error is a
// [*roomError]. grpc reads until the request is there or the stream has ended, and makes
// the status of one that cannot be read itself, so that it reads beside the call's
// goroutine: what the call returns first is the status of the stream, which ends the
// reading too. Without a way nothing stands beside.
func (r *received) readAside(recv func(any) error, way <-chan struct{}) error {
	if way == nil {
		return recv(r)
	}
	var aside struct {
		received
		state atomic.Int32
	}
	done := make(chan error, 1)
	go func() {
		// A panic beside the call's own goroutine would cost the process.
		err := recovered(context.Background(), "", func(context.Context) error { return recv(&aside.received) })
		if !aside.state.CompareAndSwap(beingRead, wasRead) {
			aside.free()
		}
		done <- err
	}()
	select {
	case err := <-done:
		r.raw = aside.raw
		return err
	case <-way:
	}
	if !aside.state.CompareAndSwap(beingRead, leftAlone) { // it is there at this moment
		err := <-done
		r.raw = aside.raw
		return err
	}
	return noRoom("")
}

// decode makes the message. The error is a [*formError] where it holds too much, or that
// of the codec.
func (r *received) decode(into any) error {
	defer r.free()
	m, ok := into.(proto.Message)
	if !ok {
		return newWireCodec().CodecV2.Unmarshal(r.raw, into)
	}
	whole := r.raw.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	room := elements{maxMessages, maxScalars}
	if !room.fit(whole.ReadOnlyData(), m.ProtoReflect().Descriptor()) {
		return errElements
	}
	return proto.Unmarshal(whole.ReadOnlyData(), m)
}

// free gives the bytes back.
func (r *received) free() {
	r.raw.Free()
	r.raw = nil
}

// wireCodec is the protobuf codec that leaves a [received] as it is, and has a [leaving]
// counted. It is safe for concurrent use.
type wireCodec struct{ encoding.CodecV2 }

func newWireCodec() wireCodec { return wireCodec{encoding.GetCodecV2(grpcproto.Name)} }

// Marshal writes v.
func (c wireCodec) Marshal(v any) (mem.BufferSlice, error) {
	if l, ok := v.(*leaving); ok {
		return l.marshal()
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal reads data into v.
func (c wireCodec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*received)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	r.free()
	data.Ref() // grpc frees its own
	r.raw = data
	return nil
}
