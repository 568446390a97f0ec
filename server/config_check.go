package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Check reports the first setting that cannot be served with. It looks at nothing but
// the settings and the directories that they name.
func (c *Config) Check() error {
	host, err := hostOf("listen", c.Listen)
	if err != nil {
		return err
	}
	if err := c.checkTLS(); err != nil {
		return err
	}
	if !isLoopback(host) && !c.tls() && !c.InsecurePlaintext {
		return fmt.Errorf("listen: %q is not loopback, and there is no TLS; give --tls-cert, --tls-key, --tls-client-ca and --identities, or use 127.0.0.1, or say --insecure-plaintext if whoever reaches it may call", c.Listen)
	}
	if _, err := hostOf("ops-listen", c.OpsListen); err != nil {
		return err
	}
	if err := c.checkBounds(); err != nil {
		return err
	}
	if err := c.checkData(); err != nil {
		return err
	}
	if err := isDirectory("contracts", c.Contracts); err != nil {
		return err
	}
	if c.Policies != "" {
		if err := isDirectory("policies", c.Policies); err != nil {
			return err
		}
	}
	if c.Issuer == "" || len(c.Issuer) > maxIssuer {
		return fmt.Errorf("issuer: needs a name of at most %d bytes, under which tokens are signed", maxIssuer)
	}
	return c.checkAudit()
}

// checkData reports what cannot be the data directory. One that is absent is made later.
func (c *Config) checkData() error {
	if c.Data == "" {
		return errors.New("data: no directory is named; the audit record needs one")
	}
	if info, err := os.Stat(c.Data); err == nil && !info.IsDir() {
		return fmt.Errorf("data: %s is a file; name a directory with --data", c.Data)
	}
	return nil
}

// maxIssuer bounds the name of the service in its tokens, in bytes.
const maxIssuer = 256

// sources are the directories of what the deployment declares.
func (c *Config) sources() sources { return sources{c.Contracts, c.Policies} }

// checkAudit reports settings of the record that contradict.
func (c *Config) checkAudit() error {
	switch {
	case c.AuditStore != StoreSQLite && c.AuditStore != StorePostgres:
		return fmt.Errorf("audit-store: %q is neither %s nor %s", c.AuditStore, StoreSQLite, StorePostgres)
	case c.AuditStore == StorePostgres && c.AuditDSN == "":
		return errors.New("audit-dsn: audit-store is postgres, and nothing says where the database is; set HALLMARK_AUDIT_DSN, or audit: {dsn: …} in the file")
	case c.AuditStore != StorePostgres && c.AuditDSN != "":
		return fmt.Errorf("audit-dsn: a database is named, and audit-store is %s; say --audit-store postgres, or name none", c.AuditStore)
	case c.AuditStore == StorePostgres && c.Keys == "":
		return errors.New("keys: replicas that share a database share their keys; name their directory, made by hallmark keys init")
	case c.KeepEvents != 0 && c.KeepEvents < minKeepEvents:
		return fmt.Errorf("keep-events: must be 0, for ever, or at least %s: sessions are judged by their records", minKeepEvents)
	case c.OriginalsPerDay < 0:
		return errors.New("originals-per-day: must not be negative")
	case (c.NoticeURL == "") != (c.NoticeSecretFile == ""):
		return errors.New("notice-url and notice-secret-file: are given together or not at all")
	}
	return nil
}

// minKeepEvents is the least time for which records are kept: the longest life of a
// receipt, which is judged by what came after it.
const minKeepEvents = 31 * 24 * time.Hour

// tls reports whether gRPC is served with TLS.
func (c *Config) tls() bool { return c.TLSCert != "" }

// checkTLS reports settings of TLS that say half of something, or contradict.
func (c *Config) checkTLS() error {
	var given, missing []string
	for _, f := range []struct{ name, value string }{
		{"tls-cert", c.TLSCert}, {"tls-key", c.TLSKey}, {"tls-client-ca", c.TLSClientCA}, {"identities", c.Identities},
	} {
		if f.value == "" {
			missing = append(missing, f.name)
		} else {
			given = append(given, f.name)
		}
	}
	switch {
	case len(given) > 0 && len(missing) > 0:
		return fmt.Errorf("%s: given without %s; TLS takes all of tls-cert, tls-key, tls-client-ca and identities, plaintext none",
			strings.Join(given, ", "), strings.Join(missing, ", "))
	case c.tls() && c.InsecurePlaintext:
		return errors.New("insecure-plaintext: contradicts tls-cert; leave one of them out")
	}
	return nil
}

// checkBounds reports numbers that nothing can be served with.
func (c *Config) checkBounds() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"reload-every", c.ReloadEvery},
		{"drain-wait", c.DrainWait},
		{"drain-timeout", c.DrainTimeout},
		{"max-connection-age", c.MaxConnectionAge},
		{"admission-wait", c.AdmissionWait},
	} {
		if d.value < 0 {
			return fmt.Errorf("%s: must not be negative", d.name)
		}
	}
	switch {
	case c.MaxConnectionAgeGrace <= 0:
		return errors.New("max-connection-age-grace: must be more than 0, or calls are cut off")
	case c.MaxConnections < 1:
		return errors.New("max-connections: must be at least 1")
	case c.MaxInFlight < 1:
		return errors.New("max-in-flight: must be at least 1")
	case c.MaxInFlightBytes < MaxReceiveBytes:
		return fmt.Errorf("max-in-flight-bytes: must be at least %d, the size of one request", MaxReceiveBytes)
	case c.IdentityShare < 1 || c.IdentityShare > 100:
		return errors.New("identity-share: must be from 1 to 100 percent")
	}
	return nil
}

func isDirectory(field, dir string) error {
	if dir == "" {
		return fmt.Errorf("%s: no directory is named", field)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%s: %w; name the directory with --%s", field, err, field)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: %s is not a directory; name the directory with --%s", field, dir, field)
	}
	return nil
}

func hostOf(field, addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%s: %q is not host:port", field, addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%s: %q has no port between 0 and 65535", field, addr)
	}
	return host, nil
}

// isLoopback reports whether a host is reachable from this machine only. Names other
// than localhost are not resolved: what they mean can change.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
