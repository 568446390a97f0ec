package fleettest

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// rawClient speaks HTTP/2 over TLS frame by frame. It belongs to one goroutine.
type rawClient struct {
	net.Conn
	*http2.Framer
	next uint32
}

func dialRaw(t *testing.T, addr string, config *tls.Config) *rawClient {
	t.Helper()
	c, err := tryRaw(addr, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// tryRaw connects and says what HTTP/2 begins with.
func tryRaw(addr string, config *tls.Config) (*rawClient, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 30 * time.Second}, "tcp", addr, config)
	if err != nil {
		return nil, err
	}
	c := &rawClient{Conn: conn, Framer: http2.NewFramer(conn, conn), next: 1}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	return c, c.WriteSettings()
}

// begin sends the headers of a call and leaves the rest out.
func (c *rawClient) begin(t *testing.T, method string, more ...hpack.HeaderField) (stream uint32) {
	t.Helper()
	stream, err := c.tryBegin(method, more...)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func (c *rawClient) tryBegin(method string, more ...hpack.HeaderField) (stream uint32, err error) {
	var block bytes.Buffer
	headers := hpack.NewEncoder(&block)
	headers.SetMaxDynamicTableSize(0) // each block stands alone
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "https"},
		{Name: ":path", Value: method},
		{Name: ":authority", Value: serverName},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "te", Value: "trailers"},
	}, more...) {
		if err := headers.WriteField(f); err != nil {
			return 0, err
		}
	}
	stream = c.next
	c.next += 2
	part := block.Next(16 << 10)
	if err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: part, EndHeaders: block.Len() == 0}); err != nil {
		return stream, err
	}
	for block.Len() > 0 {
		part = block.Next(16 << 10)
		if err := c.WriteContinuation(stream, block.Len() == 0, part); err != nil {
			return stream, err
		}
	}
	return stream, nil
}
