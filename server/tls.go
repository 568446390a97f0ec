package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
)

// certificates are the certificate, the key and the authorities that handshakes use, one
// consistent whole that is exchanged at once. The zero value has none.
type certificates struct {
	current atomic.Pointer[certificateSet]
	clock   func() time.Time
	failed  atomic.Uint64 // handshakes
}

// certificateSet is immutable.
type certificateSet struct {
	config *tls.Config
	leaf   *x509.Certificate
}

// take makes certificate, key and authorities effective, in this order. The error names
// no content of the key.
func (c *certificates) take(contents [][]byte) error {
	set, err := newCertificateSet(contents[0], contents[1], contents[2], c.clock())
	if err != nil {
		return err
	}
	c.current.Store(set)
	return nil
}

// newCertificateSet checks that what was read can be served with, now.
func newCertificateSet(certPEM, keyPEM, caPEM []byte, now time.Time) (*certificateSet, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("tls-cert, tls-key: %w", err)
	}
	leaf := pair.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("tls-cert: the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("tls-cert: the certificate is valid from %s on only", leaf.NotBefore.UTC().Format(time.RFC3339))
	case len(leaf.ExtKeyUsage) > 0 && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny):
		return nil, errors.New("tls-cert: the certificate is not for servers, its extended key usage lacks serverAuth")
	}
	pool, err := authorities(caPEM, now)
	if err != nil {
		return nil, fmt.Errorf("tls-client-ca: %w", err)
	}
	return &certificateSet{leaf: leaf, config: &tls.Config{
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{"h2"},
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
		// A resumed session would be one whose client was verified by authorities that
		// may have been exchanged since.
		SessionTicketsDisabled: true,
	}}, nil
}

// authorities reads a bundle strictly: a block that is skipped would be an authority
// that an operator believes in and the service does not.
func authorities(bundle []byte, now time.Time) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	valid := 0
	blocks := bytes.Count(bundle, []byte("-----BEGIN"))
	for rest := bundle; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("holds something that is no PEM block")
		}
		blocks--
		if block.Type != "CERTIFICATE" {
			return nil, errors.New("holds a PEM block that is no certificate")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("holds a certificate that cannot be parsed: %w", err)
		}
		if !cert.IsCA {
			return nil, errors.New("holds a certificate that is no authority's")
		}
		pool.AddCert(cert)
		if !now.After(cert.NotAfter) {
			valid++
		}
	}
	if blocks != 0 {
		return nil, errors.New("holds a broken PEM block")
	}
	if valid == 0 {
		return nil, errors.New("holds no authority that has not expired")
	}
	return pool, nil
}

// config returns the configuration of a listener, which asks for the current keys at
// each handshake.
func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.current.Load().config, nil
		},
	}
}

// credentials returns what grpc makes connections with.
func (c *certificates) credentials() credentials.TransportCredentials {
	return countedCredentials{credentials.NewTLS(c.config()), &c.failed}
}

// expires returns when the certificate ends.
func (c *certificates) expires() time.Time { return c.current.Load().leaf.NotAfter }

// ready is nil while the certificate is one that clients accept.
func (c *certificates) ready() error {
	if end := c.expires(); c.clock().After(end) {
		return fmt.Errorf("the certificate expired at %s", end.UTC().Format(time.RFC3339))
	}
	return nil
}

// countedCredentials counts the handshakes that fail, which nobody else tells of.
type countedCredentials struct {
	credentials.TransportCredentials
	failed *atomic.Uint64
}

// ServerHandshake implements [credentials.TransportCredentials].
func (c countedCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		c.failed.Add(1)
	}
	return conn, info, err
}

// Clone implements [credentials.TransportCredentials].
func (c countedCredentials) Clone() credentials.TransportCredentials {
	return countedCredentials{c.TransportCredentials.Clone(), c.failed}
}
