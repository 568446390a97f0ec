package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// C: files of TLS that cannot be used stop the start, and never lead to a weaker mode.
func TestTLSStartIsRefused(t *testing.T) {
	a := newAuthority(t)
	other := a.issue(t, []string{"127.0.0.1"})
	fill := func(file *string, content []byte) func(*testing.T, *files, *Config) {
		return func(t *testing.T, _ *files, _ *Config) { write(t, *file, string(content)) }
	}
	var f files
	leafOnly := a.issue(t, []string{"127.0.0.1"})
	for _, c := range []struct {
		line, says string
		edit       func(*testing.T, *files, *Config)
	}{
		{"no certificate", "given without tls-cert", func(_ *testing.T, _ *files, c *Config) { c.TLSCert = "" }},
		{"no key", "given without tls-key", func(_ *testing.T, _ *files, c *Config) { c.TLSKey = "" }},
		{"no authorities", "given without tls-client-ca", func(_ *testing.T, _ *files, c *Config) { c.TLSClientCA = "" }},
		{"no identities", "given without identities", func(_ *testing.T, _ *files, c *Config) { c.Identities = "" }},
		{"only identities", "given without tls-cert, tls-key, tls-client-ca", func(_ *testing.T, _ *files, c *Config) {
			c.TLSCert, c.TLSKey, c.TLSClientCA = "", "", ""
		}},
		{"and plaintext", "contradicts", func(_ *testing.T, _ *files, c *Config) { c.InsecurePlaintext = true }},
		{"certificate missing", "no such file", func(t *testing.T, f *files, _ *Config) { remove(t, f.cert) }},
		{"identities missing", "no such file", func(t *testing.T, f *files, _ *Config) { remove(t, f.identities) }},
		{"a directory", "tls:", func(_ *testing.T, f *files, c *Config) { c.TLSCert = filepath.Dir(f.cert) }},
		{"empty certificate", "tls-cert", fill(&f.cert, nil)},
		{"another key", "does not match", fill(&f.key, other.key)},
		{"expired certificate", "expired at", func(t *testing.T, f *files, _ *Config) {
			p := a.issue(t, []string{"127.0.0.1"}, expired)
			write(t, f.cert, string(p.cert))
			write(t, f.key, string(p.key))
		}},
		{"future certificate", "valid from", func(t *testing.T, f *files, _ *Config) {
			p := a.issue(t, []string{"127.0.0.1"}, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })
			write(t, f.cert, string(p.cert))
			write(t, f.key, string(p.key))
		}},
		{"certificate for clients", "serverAuth", func(t *testing.T, f *files, _ *Config) {
			p := a.issue(t, []string{"127.0.0.1"}, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
			write(t, f.cert, string(p.cert))
			write(t, f.key, string(p.key))
		}},
		{"no authority", "no authority", fill(&f.ca, nil)},
		{"authority that is none", "no authority's", fill(&f.ca, leafOnly.cert)},
		{"a key among authorities", "no certificate", fill(&f.ca, append(bytes.Clone(a.pem), leafOnly.key...))},
		{"authority cut short", "PEM", fill(&f.ca, a.pem[:len(a.pem)/2])},
		{"one authority broken", "PEM block", fill(&f.ca, append(bytes.Clone(a.pem[:len(a.pem)/2]), a.pem...))},
		{"something after authorities", "no PEM block", fill(&f.ca, append(bytes.Clone(a.pem), "x"...))},
		{"a broken block before an authority", "broken PEM block", fill(&f.ca, append([]byte("-----BEGIN CERTIFICATE-----\nMII\n"), a.pem...))},
		{"expired authority", "not expired", func(t *testing.T, f *files, _ *Config) {
			old := newAuthority(t, expired)
			write(t, f.ca, string(old.pem))
		}},
		{"identities at fault", "identities.yaml:1:1: no member", fill(&f.identities, []byte("identitys: []\n"))},
		{"large identities", "larger", fill(&f.identities, bytes.Repeat([]byte("#"), maxConfigBytes+1))},
	} {
		t.Run(c.line, func(t *testing.T) {
			var tls func(*setup)
			f, tls = a.withTLS(t, listed)
			s := newSetup(t)
			tls(s)
			c.edit(t, &f, &s.cfg)
			if _, err := New(s.cfg, s.deps); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "PRIVATE KEY-----") {
				t.Errorf("New: %v, want %q in it", err, c.says)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// With TLS any address is served, without it only loopback.
func TestTLSBeyondLoopback(t *testing.T) {
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, listed)
	s := newSetup(t)
	withTLS(s)
	s.cfg.Listen = "0.0.0.0:0"
	if err := s.cfg.Check(); err != nil {
		t.Error(err)
	}
}

// Versions before 1.3 are not spoken.
func TestTLSVersion(t *testing.T) {
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, listed)
	s := start(t, withTLS)
	p := a.issue(t, []string{"spiffe://example.test/agent"})
	cert, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pem)
	for version, good := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", s.addr, &tls.Config{
			MinVersion: tls.VersionTLS12, MaxVersion: version, RootCAs: roots, Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"},
		})
		if (err == nil) != good {
			t.Errorf("version %x: %v", version, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

// follows waits until the service has looked at its files so often that what they hold
// must have been seen.
func follows(t *testing.T, s *service, says string) string {
	t.Helper()
	var body string
	for range 500 {
		if _, body = get(t, s.ops+"/readyz"); strings.Contains(body, says) {
			return body
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%q is not in %s", says, body)
	return ""
}

// C: certificates, keys, authorities and identities change under load; no call fails,
// broken files change nothing but what operators see, and what was taken away counts
// for nothing.
func TestRotation(t *testing.T) {
	a, next := newAuthority(t), newAuthority(t)
	f, withTLS := a.withTLS(t, listed)
	s := start(t, withTLS, func(s *setup) {
		s.cfg.ReloadEvery = 20 * time.Millisecond
		s.cfg.MaxConnectionAge = 100 * time.Millisecond // callers come back all the time
	})
	both := append(bytes.Clone(a.pem), next.pem...)
	trust := &authority{cert: a.cert, key: a.key, pem: both}
	var calls atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 4 {
		client := hallmarkv1.NewGateServiceClient(s.as(t, trust.client(t, a.issue(t, []string{"spiffe://example.test/agent"}))))
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := client.Validate(ctxFor(t), call("review_status", []byte(accepted))); err != nil {
					t.Errorf("a call under rotation: %v", err)
					return
				}
				calls.Add(1)
			}
		})
	}
	// Another authority for clients, beside the first.
	exchange(t, f.ca, both)
	inTime(t, "a client of the next authority", func() error {
		return methods()["validate"](ctxFor(t), s.as(t, trust.client(t, next.issue(t, []string{"spiffe://example.test/agent"}))))
	})
	// Another certificate: first the certificate, then its key, as tools do.
	own := next.issue(t, []string{"127.0.0.1"}, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(7 * time.Hour) })
	exchange(t, f.cert, own.cert)
	follows(t, s, "tls: reload refused")
	if code, _ := get(t, s.ops+"/readyz"); code != http.StatusOK {
		t.Errorf("readyz %d with a certificate that still serves", code)
	}
	exchange(t, f.key, own.key)
	inTime(t, "the next certificate", func() error {
		return methods()["validate"](ctxFor(t), s.as(t, next.client(t, a.issue(t, []string{"spiffe://example.test/agent"}))))
	})
	follows(t, s, "tls: ready")
	// A broken file of identities, then one without the adapter.
	exchange(t, f.identities, []byte("identities: x\n"))
	follows(t, s, "identities: reload refused")
	exchange(t, f.identities, []byte(strings.Replace(listed, "adapter.example", "moved.example", 1)))
	adapter := s.as(t, trust.client(t, a.issue(t, []string{"dns:moved.example.test"})))
	inTime(t, "the next identities", func() error { return methods()["validate"](ctxFor(t), adapter) })
	gone := s.as(t, trust.client(t, a.issue(t, []string{"dns:adapter.example.test"})))
	if err := methods()["validate"](ctxFor(t), gone); status.Code(err) != codes.PermissionDenied {
		t.Errorf("an identity that was taken away: %v", err)
	}
	stop()
	wg.Wait()
	if calls.Load() == 0 {
		t.Error("no load")
	}
	// The first authority is taken away.
	exchange(t, f.ca, next.pem)
	inTime(t, "the end of the first authority", func() error {
		err := methods()["validate"](ctxFor(t), s.as(t, trust.client(t, a.issue(t, []string{"spiffe://example.test/agent"}))))
		if status.Code(err) == codes.Unavailable {
			return nil
		}
		return context.DeadlineExceeded
	})
	_, body := get(t, s.ops+"/metrics")
	for _, line := range []string{
		`hallmark_files_reloads_total{files="tls",result="done"} 3`, `hallmark_files_reloads_total{files="identities",result="done"} 1`,
		`hallmark_files_reloads_total{files="identities",result="refused"} 1`, `hallmark_files_refused_since_timestamp_seconds{files="tls"} 0`,
		`hallmark_files_refused_since_timestamp_seconds{files="keys"} 0`, `hallmark_files_reloads_total{files="keys",result="refused"} 0`,
		"hallmark_tls_certificate_expiry_timestamp_seconds 1.",
	} {
		if !strings.Contains(body, line) {
			t.Errorf("%s is not in the metrics", line)
		}
	}
	if log := s.log.String(); strings.Contains(log, "PRIVATE KEY-----") {
		t.Error("the log holds a key")
	}
}

func inTime(t *testing.T, what string, try func() error) {
	t.Helper()
	var err error
	for range 300 {
		if err = try(); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%s: %v", what, err)
}

// A certificate that has ended makes the service not ready: nobody can connect.
func TestCertificateEnds(t *testing.T) {
	a := newAuthority(t)
	_, withTLS := a.withTLS(t, listed)
	clock := &movedClock{}
	s := start(t, withTLS, func(s *setup) { s.deps.Clock = clock.now })
	follows(t, s, "tls: ready certificate until ")
	clock.add(2 * time.Hour)
	if code, body := get(t, s.ops+"/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "tls: not ready: the certificate expired") {
		t.Errorf("readyz %d %q", code, body)
	}
}
