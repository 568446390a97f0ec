package notice

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// Config says where notices go and how. Only URL and Secret have no default.
type Config struct {
	// URL is the receiver: https://, or http:// where the host is loopback. It may hold a
	// secret in its path or query and is never logged.
	URL string
	// Secret signs; at least [MinSecret] bytes, better 32 random ones.
	Secret []byte
	// Window is how long judgements are gathered before their notice is sent; 0 means
	// one minute.
	Window time.Duration
	// Pending is how many notices may wait or be gathered at once; 0 means 256, at most
	// 10,000.
	Pending int
	// Timeout is how long one attempt may take; 0 means 10 seconds.
	Timeout time.Duration
	// Attempts is how often a notice is tried; 0 means 8, at most 100.
	Attempts int
	// Backoff is the delay after the first attempt; it doubles up to MaxBackoff, and up to
	// a half is taken off at random. 0 means one second and two minutes.
	Backoff, MaxBackoff time.Duration
	// Roots are the certificate authorities that the receiver's certificate may come
	// from; nil means those of the system.
	Roots *x509.CertPool
}

// maxRetryAfter bounds what a receiver can ask for: longer is asked for by mistake.
const maxRetryAfter = 10 * time.Minute

// withDefaults returns the configuration with every default in its place, or says in a
// sentence what is wrong with it, without the URL or the secret.
func (c Config) withDefaults() (Config, *url.URL, error) {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return c, nil, errors.New("notice: url: is no absolute URL; expected https://host/path")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return c, nil, errors.New("notice: url: must begin with https://; http:// is for loopback only")
	case u.User != nil || u.Fragment != "":
		return c, nil, errors.New("notice: url: must have no user info and no fragment; receivers check the signature")
	case len(c.Secret) < MinSecret:
		return c, nil, fmt.Errorf("notice: secret: must have at least %d bytes", MinSecret)
	case c.Pending < 0 || c.Pending > 10_000 || c.Attempts < 0 || c.Attempts > 100:
		return c, nil, errors.New("notice: pending must be from 0 to 10000, attempts from 0 to 100")
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{
		{"window", &c.Window, time.Minute},
		{"timeout", &c.Timeout, 10 * time.Second},
		{"backoff", &c.Backoff, time.Second},
		{"max_backoff", &c.MaxBackoff, 2 * time.Minute},
	} {
		if *d.value < 0 || *d.value > 24*time.Hour {
			return c, nil, fmt.Errorf("notice: %s: must be from 0 to 24h", d.name)
		}
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	if c.Pending == 0 {
		c.Pending = 256
	}
	if c.Attempts == 0 {
		c.Attempts = 8
	}
	return c, u, nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// newClient returns the client for one receiver. It follows no redirect: what is signed
// for one receiver is not for another.
func newClient(c Config, scheme string) *http.Client {
	dialer := &net.Dialer{Timeout: c.Timeout}
	transport := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    c.Timeout,
		ResponseHeaderTimeout:  c.Timeout,
		MaxResponseHeaderBytes: 16 << 10,
		MaxConnsPerHost:        1,
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
	if scheme == "http" {
		dialer.ControlContext = onlyLoopback // whatever localhost resolves to
	} else {
		transport.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{
		Transport: transport, Timeout: c.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// onlyLoopback refuses to dial anything but the same machine.
func onlyLoopback(_ context.Context, _, address string, _ syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
		return errors.New("notice: http:// is for loopback only")
	}
	return nil
}
