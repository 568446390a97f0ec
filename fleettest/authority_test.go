package fleettest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
)

// serverName is in the certificate of every replica and of the proxy's listener.
const serverName = "hallmark.example.test"

// people are the clients' certificates: each a SPIFFE ID and a subject of one's own.
var people = map[string]string{
	"assistant": "spiffe://example.test/agents/assistant",
	"stranger":  "spiffe://example.test/agents/stranger",
	"operator":  "spiffe://example.test/people/operator",
	"proxy":     "spiffe://example.test/proxy",
}

// identities is what the people may do. The stranger is let in and means harm.
const identities = `identities:
  - {name: assistant, san: "spiffe://example.test/agents/assistant", tenant: north, roles: [orchestrator], may_grant: true}
  - {name: stranger, san: "spiffe://example.test/agents/stranger", tenant: south, roles: [adapter]}
  - {name: operator, san: "spiffe://example.test/people/operator", tenant: operations, roles: [operator], tenants: [north, south]}
proxies: ["spiffe://example.test/proxy"]
`

// authority is a directory of PEM files: ca.pem, and NAME.pem with NAME.key for the server
// and the people.
type authority struct {
	dir  string
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir(), pool: x509.NewCertPool()}
	key := newKey(t)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority", Organization: []string{"example.test"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.write(t, "ca", ca, ca, key, key)
	a.pool.AppendCertsFromPEM(readFile(t, a.file("ca.pem")))
	serial := int64(1)
	issue := func(name string, leaf *x509.Certificate) {
		serial++
		leaf.SerialNumber, leaf.NotBefore, leaf.NotAfter = big.NewInt(serial), ca.NotBefore, ca.NotAfter
		leaf.Subject = pkix.Name{CommonName: name, Organization: []string{"example.test"}}
		leaf.KeyUsage = x509.KeyUsageDigitalSignature
		a.write(t, name, leaf, ca, newKey(t), key)
	}
	issue("server", &x509.Certificate{DNSNames: []string{serverName}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	for name, id := range people {
		uri, err := url.Parse(id)
		if err != nil {
			t.Fatal(err)
		}
		issue(name, &x509.Certificate{URIs: []*url.URL{uri}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	}
	write(t, a.file("identities.yaml"), identities)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// write signs a certificate with the authority's key and writes both files.
func (a *authority) write(t *testing.T, name string, leaf, ca *x509.Certificate, own, signer *ecdsa.PrivateKey) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &own.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	write(t, a.file(name+".pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, a.file(name+".key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// config is how one of the people speaks TLS.
func (a *authority) config(t *testing.T, name string) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(a.file(name+".pem"), a.file(name+".key"))
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: a.pool, ServerName: serverName,
		Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"},
	}
}

func (a *authority) creds(t *testing.T, name string) credentials.TransportCredentials {
	t.Helper()
	return credentials.NewTLS(a.config(t, name))
}

// flags make a replica serve over TLS.
func (a *authority) flags() []string {
	return []string{
		"--tls-cert", a.file("server.pem"), "--tls-key", a.file("server.key"),
		"--tls-client-ca", a.file("ca.pem"), "--identities", a.file("identities.yaml"),
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // our own file
	if err != nil {
		t.Fatal(err)
	}
	return text
}
