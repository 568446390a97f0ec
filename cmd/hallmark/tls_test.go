package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// certificates makes an authority and certificates of it: certificates DIR. There are
// ca.pem, NAME.pem and NAME.key for server (gate.example.test), agent and operator
// (spiffe://example.test/NAME) and stranger, whose authority is another.
func certificates(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: certificates DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	save := func(name, kind string, der []byte) {
		ts.Check(os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	}
	authority := func() (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		ts.Check(err)
		template := template(1)
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		ts.Check(err)
		cert, err := x509.ParseCertificate(der)
		ts.Check(err)
		return cert, key
	}
	ca, caKey := authority()
	save("ca.pem", "CERTIFICATE", ca.Raw)
	for i, name := range []string{"server", "agent", "operator", "stranger"} {
		if name == "stranger" {
			ca, caKey = authority()
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		ts.Check(err)
		template := template(int64(i) + 2)
		template.KeyUsage = x509.KeyUsageDigitalSignature
		if name == "server" {
			template.DNSNames = []string{"gate.example.test"}
		} else {
			template.URIs = []*url.URL{{Scheme: "spiffe", Host: "example.test", Path: "/" + name}}
		}
		der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), caKey)
		ts.Check(err)
		save(name+".pem", "CERTIFICATE", der)
		der, err = x509.MarshalPKCS8PrivateKey(key)
		ts.Check(err)
		save(name+".key", "PRIVATE KEY", der)
	}
}

func template(serial int64) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}
