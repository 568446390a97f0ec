package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// authority issues certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// pair is a certificate and its key in PEM.
type pair struct{ cert, key []byte }

func newAuthority(t *testing.T, edits ...func(*x509.Certificate)) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	for _, edit := range edits {
		edit(template)
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func serial(t *testing.T) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes a certificate with these SANs, spelled as in an identities file, or IP
// addresses.
func (a *authority) issue(t *testing.T, sans []string, edits ...func(*x509.Certificate)) pair {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "dns:agent.example.test"}, // never looked at
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	for _, san := range sans {
		if name, ok := strings.CutPrefix(san, "dns:"); ok {
			template.DNSNames = append(template.DNSNames, name)
		} else if ip := net.ParseIP(san); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			uri, err := url.Parse(san)
			if err != nil {
				t.Fatal(err)
			}
			template.URIs = append(template.URIs, uri)
		}
	}
	for _, edit := range edits {
		edit(template)
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
}

// expired makes a certificate one that has ended.
func expired(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }

// client returns the credentials of a client that trusts a and shows p; a zero pair
// shows nothing.
func (a *authority) client(t *testing.T, p pair) credentials.TransportCredentials {
	t.Helper()
	return credentials.NewTLS(a.config(t, p))
}

// config returns the same as client, for whoever speaks TLS alone.
func (a *authority) config(t *testing.T, p pair) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pem)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}
	if p.cert != nil {
		cert, err := tls.X509KeyPair(p.cert, p.key)
		if err != nil {
			t.Fatal(err)
		}
		// Whatever the server asks for is answered with this one.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	}
	return config
}

// files are the files of a service with TLS.
type files struct{ cert, key, ca, identities string }

// withTLS makes the service one with TLS, whose own certificate and clients' are a's.
// The tests' own connection is that of the identity spiffe://example.test/operator.
func (a *authority) withTLS(t *testing.T, identities string) (files, func(*setup)) {
	t.Helper()
	dir := t.TempDir()
	f := files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem"), filepath.Join(dir, "identities.yaml")}
	own := a.issue(t, []string{"127.0.0.1"})
	write(t, f.cert, string(own.cert))
	write(t, f.key, string(own.key))
	write(t, f.ca, string(a.pem))
	write(t, f.identities, identities)
	return f, func(s *setup) {
		s.cfg.TLSCert, s.cfg.TLSKey, s.cfg.TLSClientCA, s.cfg.Identities = f.cert, f.key, f.ca, f.identities
		s.creds = a.client(t, a.issue(t, []string{"spiffe://example.test/operator"}))
	}
}

// as connects to the service with other credentials.
func (s *service) as(t *testing.T, creds credentials.TransportCredentials, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(s.addr, append(options, grpc.WithTransportCredentials(creds))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// exchange replaces a file in one step.
func exchange(t *testing.T, file string, content []byte) {
	t.Helper()
	write(t, file+".new", string(content))
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}
