package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// most is the largest request that the rules of the API let pass, in elements.
func most() *hallmarkv1.AuthorizeRequest {
	r := &hallmarkv1.AuthorizeRequest{
		Call:    &hallmarkv1.ProposedCall{Tool: "send", RequestId: "req.00000001", Principal: "ana", SessionId: "s"},
		Payload: &hallmarkv1.AuthorizeRequest_RawText{RawText: "{}"},
	}
	values := make([]string, 256)
	for i := range 64 {
		g := &hallmarkv1.Grant{
			Id: fmt.Sprint("g", i), Tool: "send", NotAfter: timestamppb.New(time.Now()),
			Uses: &hallmarkv1.Grant_UnlimitedUses{UnlimitedUses: true},
		}
		for j := range 32 {
			g.Scopes = append(g.Scopes, &hallmarkv1.Scope{
				Name: fmt.Sprint("s", j), Allowed: &hallmarkv1.Scope_Values{Values: &hallmarkv1.Values{Values: values}},
			})
		}
		r.Grants = append(r.Grants, g)
	}
	for range 16 {
		r.Evidence, r.GrantTokens = append(r.Evidence, "x"), append(r.GrantTokens, "x")
	}
	return r
}

// What the rules of the API let pass fits, and what only fills memory does not.
func TestElements(t *testing.T) {
	whole, err := proto.Marshal(most())
	if err != nil {
		t.Fatal(err)
	}
	empty := func(field protowire.Number, n int) []byte {
		return []byte(strings.Repeat(string(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), nil)), n))
	}
	inside := func(field protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), b)
	}
	for _, c := range []struct {
		line string
		raw  []byte
		want bool
	}{
		{"the most that is well-formed", whole, true},
		{"nothing", nil, true},
		{"no wire format", []byte{0x22, 0xff}, true},
		{"cut", whole[:len(whole)-1], true},
		{"unknown fields", empty(1000, 3_000_000), true},
		{"grants without anything", empty(4, 3_000_000), false},
		{"scopes of one grant", inside(4, empty(3, 3_000_000)), false},
		{"a call that is given again and again", empty(1, 3_000_000), false},
		{"tokens without anything", empty(5, 3_000_000), false},
		{"one text that looks like many", inside(7, empty(4, 3_000_000)), true},
	} {
		room := elements{maxMessages, maxScalars}
		if got := room.fit(c.raw, (&hallmarkv1.AuthorizeRequest{}).ProtoReflect().Descriptor()); got != c.want {
			t.Errorf("%s: fits %t", c.line, got)
		}
	}
	// It is the message that counts, whatever its bytes are for another.
	room := elements{maxMessages, maxScalars}
	if !room.fit(inside(2, empty(4, 3_000_000)), (&hallmarkv1.ValidateRequest{}).ProtoReflect().Descriptor()) {
		t.Error("a payload is counted as elements")
	}
}

// Such a request is a malformed call, and takes no more than its bytes.
func TestElementsRefused(t *testing.T) {
	s := start(t)
	many := most()
	many.Grants = nil
	for range 200_000 {
		many.Grants = append(many.Grants, &hallmarkv1.Grant{})
	}
	_, err := s.gate.Authorize(ctxFor(t), many, grpc.MaxCallSendMsgSize(8<<20))
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(status.Convert(err).Message(), "more elements") {
		t.Errorf("answered %v", err)
	}
	if _, err := s.gate.Authorize(ctxFor(t), most(), grpc.MaxCallSendMsgSize(8<<20)); err != nil {
		t.Errorf("the most that is well-formed: %v", err)
	}
}
