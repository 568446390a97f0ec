package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// tenant is whose calls the clients make.
const tenant = "acme"

// identities says who may do what: one client in every part of a client, and one who may
// look at the record and nothing else.
const identities = `identities:
  - name: client
    san: "spiffe://example.test/client"
    tenant: ` + tenant + `
    roles: [adapter, orchestrator, executor]
    may_grant: true
    share: 64
  - name: operator
    san: "spiffe://example.test/operator"
    tenant: ` + tenant + `
    roles: [operator]
`

// life is how long certificates are good for; they live in a folder that goes away.
const life = 24 * time.Hour

// certify makes an authority in dir, which keeps no key, with a certificate for a server on
// this machine and one for each of the names: NAME.pem and NAME.key beside ca.pem.
func certify(dir string, names ...string) error {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := certificate(1, "authority")
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}
	if err := save(dir, "ca.pem", "CERTIFICATE", der); err != nil {
		return err
	}
	issue := func(name string, c *x509.Certificate) error {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		c.KeyUsage = x509.KeyUsageDigitalSignature
		der, err := x509.CreateCertificate(rand.Reader, c, ca, key.Public(), caKey)
		if err != nil {
			return err
		}
		if err := save(dir, name+".pem", "CERTIFICATE", der); err != nil {
			return err
		}
		if der, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
			return err
		}
		return save(dir, name+".key", "PRIVATE KEY", der)
	}
	server := certificate(2, "server")
	server.DNSNames, server.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if err := issue("server", server); err != nil {
		return err
	}
	for i, name := range names {
		c := certificate(int64(i)+3, name)
		c.URIs = []*url.URL{{Scheme: "spiffe", Host: "example.test", Path: "/" + name}}
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		if err := issue(name, c); err != nil {
			return err
		}
	}
	return nil
}

func certificate(serial int64, name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
	}
}

func save(dir, name, kind string, der []byte) error {
	return os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
