package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
)

// listen binds an address. Unless anywhere is allowed, what was bound must be loopback:
// a name may mean another address than it says.
func listen(ctx context.Context, addr string, anywhere bool) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if !anywhere && !onLoopback(l.Addr()) {
		return nil, errors.Join(fmt.Errorf("%s is not loopback", l.Addr()), l.Close())
	}
	return l, nil
}

// bindFault says of which setting an address cannot be bound, why, and what to do.
func bindFault(setting, addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: %s is taken by another process; end that one, or name another port (0 picks a free one)", setting, addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: this machine has no such address as %s", setting, addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: %s may not be bound by this user; ports below 1024 need a right of their own", setting, addr)
	}
	return fmt.Errorf("%s: %w", setting, err)
}

// onLoopback reports whether a bound address is reachable from this machine only.
func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// mayServeKeys reports whether what is bound at a may publish keys: whoever can change
// them on their way makes permits that executors take for ours.
func mayServeKeys(a net.Addr, withTLS bool) bool { return withTLS || onLoopback(a) }

// closed closes a listener that its server may have closed before.
func closed(l net.Listener) error {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// boundedListener closes connections beyond a number at once. To let them wait instead
// would keep a caller from another replica that has room.
type boundedListener struct {
	net.Listener
	most int64
	// leave makes the departures of a connection, which end it by cut; nil: replies do not
	// count.
	leave func(cut func(who *identity, held int64)) *departures
	log   *slog.Logger

	open    atomic.Int64
	refused atomic.Uint64
	untaken atomic.Uint64 // ended, since a reply was not taken
}

// Accept implements [net.Listener].
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return l.bounded(conn), nil
		}
		l.open.Add(-1)
		l.refused.Add(1)
		_ = conn.Close() // nobody waits for it
	}
}

// bounded makes a connection that has a place, and counts what leaves on it.
func (l *boundedListener) bounded(conn net.Conn) *boundedConn {
	c := &boundedConn{Conn: conn, addr: conn.RemoteAddr()}
	left := func() { l.open.Add(-1) }
	if l.leave != nil {
		d := l.leave(func(who *identity, held int64) {
			l.untaken.Add(1)
			l.log.Warn("a connection was closed, since its client did not take a reply",
				"identity", who.Name, "remote", conn.RemoteAddr().String(), "bytes", held)
			_ = c.Close()
		})
		c.addr = &connAddr{c.addr, d}
		left = func() { l.open.Add(-1); d.end() }
	}
	c.left = sync.OnceFunc(left)
	return c
}

// boundedConn gives its place back when it is closed.
type boundedConn struct {
	net.Conn
	addr net.Addr
	left func()
}

// RemoteAddr implements [net.Conn]. Its text is the client's address.
func (c *boundedConn) RemoteAddr() net.Addr { return c.addr }

// Close implements [net.Conn].
func (c *boundedConn) Close() error {
	defer c.left()
	return c.Conn.Close()
}
