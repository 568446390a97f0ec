package server

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Config is how the service runs. The zero Config is not usable; begin with
// [DefaultConfig]. It is plain data and not safe for concurrent changes.
type Config struct {
	// Listen is the host:port of gRPC; port 0 picks a free one. A host that is not
	// loopback needs TLS or InsecurePlaintext.
	Listen string
	// OpsListen is the host:port of the HTTP probes; port 0 picks a free one.
	OpsListen string
	// Contracts is the directory of contracts.
	Contracts string
	// Policies is the directory of policies; "" means that there are none.
	Policies string
	// Data is the directory of the embedded store; it is made if absent.
	Data string
	// Issuer is the service's name in its tokens, the same for all replicas.
	Issuer string
	// Keys is the directory of the service's keys, shared by replicas; "" means keys below
	// Data, which are made if absent.
	Keys string
	// Approvers is a JWK Set of those who may approve calls; "" means that nobody may.
	Approvers string
	// GrantIssuers lists who may sign grants: issuer=FILE, separated by commas, each FILE a
	// JWK Set; "" means that nobody may.
	GrantIssuers string
	// AuditStore is [StoreSQLite], a file below Data, or [StorePostgres], shared by
	// replicas.
	AuditStore string
	// AuditDSN is how PostgreSQL is reached, a secret; "" for SQLite.
	AuditDSN string
	// KeepEvents is how long records are kept; 0 is for ever.
	KeepEvents time.Duration
	// Recipients is a file of age recipients, the operators' public keys, to which
	// originals are sealed; "" keeps none.
	Recipients string
	// OriginalsPerDay bounds the bytes of originals that are kept for one caller in a day
	// of UTC; 0 is no bound.
	OriginalsPerDay int
	// NoticeURL is a webhook that the owners of connectors are told by, and
	// NoticeSecretFile the file of the secret that signs it; "" tells nobody.
	NoticeURL, NoticeSecretFile string
	// InsecurePlaintext lets anyone who reaches Listen call without identity.
	InsecurePlaintext bool
	// TLSCert, TLSKey and TLSClientCA are PEM files: the server's certificate with its
	// chain, its key, and the authorities whose clients are let in. They are given
	// together, with Identities, or not at all; "" means plaintext.
	TLSCert, TLSKey, TLSClientCA string
	// Identities is the YAML file that says who the clients are and what they may do.
	Identities string
	// ReloadEvery is how often the contracts directory, the files of TLS and Identities
	// are looked at, at least, for a change that is then served without a restart; 0
	// means never.
	ReloadEvery time.Duration
	// MaxConnections bounds the connections; one above is closed at once.
	MaxConnections int
	// MaxConnectionAge is when a connection is asked to be made anew, ±10 %, so that
	// callers spread over replicas; 0 means never.
	MaxConnectionAge time.Duration
	// MaxConnectionAgeGrace is how long calls on such a connection may still take.
	MaxConnectionAgeGrace time.Duration
	// MaxInFlight bounds the calls that are read or judged at one time.
	MaxInFlight int
	// MaxInFlightBytes bounds the bytes of their requests, and as many of replies that
	// clients have not taken. Requests that are being read have places of their own.
	MaxInFlightBytes int
	// AdmissionWait is how long a call waits for room before it is refused; 0 means not
	// at all.
	AdmissionWait time.Duration
	// IdentityShare is how much of both bounds one identity may have, in percent, unless
	// Identities says otherwise.
	IdentityShare int
	// Reflection answers who asks which services there are.
	Reflection bool
	// AutoMemoryLimit makes the garbage collector heed the memory limit of the cgroup,
	// unless GOMEMLIMIT is set.
	AutoMemoryLimit bool
	// DrainWait is the time between saying NOT_SERVING and refusing new calls, for load
	// balancers to look; 0 means none.
	DrainWait time.Duration
	// DrainTimeout is how long running calls may take to end after that; then they are
	// cut off. 0 cuts them off at once.
	DrainTimeout time.Duration
}

// The audit stores.
const (
	StoreSQLite   = "sqlite"
	StorePostgres = "postgres"
)

// DefaultConfig returns the one set of defaults.
func DefaultConfig() Config {
	return Config{
		Listen:                "127.0.0.1:7443",
		OpsListen:             "127.0.0.1:7444",
		Contracts:             "contracts",
		Data:                  "data",
		Issuer:                "hallmark",
		AuditStore:            StoreSQLite,
		KeepEvents:            90 * 24 * time.Hour,
		OriginalsPerDay:       1 << 30,
		ReloadEvery:           2 * time.Second,
		MaxConnections:        1024,
		MaxConnectionAge:      3 * time.Minute,
		MaxConnectionAgeGrace: 30 * time.Second,
		MaxInFlight:           256,
		MaxInFlightBytes:      8 * MaxReceiveBytes,
		AdmissionWait:         25 * time.Millisecond,
		IdentityShare:         50,
		Reflection:            true,
		AutoMemoryLimit:       true,
		DrainWait:             2 * time.Second,
		DrainTimeout:          20 * time.Second,
	}
}

// Value is one setting as text; it has the methods of a pflag.Value.
type Value interface {
	// String is the setting as Set takes it.
	String() string
	// Set parses and sets it.
	Set(text string) error
	// Type names its form for help texts: string, bool, int or duration. A flag of type bool
	// may stand without a value, which means true.
	Type() string
}

// Field describes one setting, for flags, environment, file and documentation alike.
type Field struct {
	Name   string // of the flag; with underscores, the key in the file
	Env    string // of the environment variable
	Usage  string // one sentence
	Secret bool   // never printed
	Value  Value  // reads and writes the field of the Config
}

// Key returns the field's name in the configuration file.
func (f Field) Key() string { return strings.ReplaceAll(f.Name, "-", "_") }

// Shown is the setting for people: a secret that is set is hidden, and one that is not is
// seen not to be.
func (f Field) Shown() string {
	if f.Secret && f.Value.String() != "" {
		return "(hidden)"
	}
	return f.Value.String()
}

// Fields returns every setting. The values write into c.
func (c *Config) Fields() []Field {
	fields := []Field{
		{Name: "listen", Usage: "host:port of gRPC; port 0 picks a free one", Value: textValue{&c.Listen}},
		{Name: "ops-listen", Usage: "host:port of HTTP: /livez, /readyz and /metrics", Value: textValue{&c.OpsListen}},
		{Name: "contracts", Usage: "directory of contracts", Value: textValue{&c.Contracts}},
		{Name: "policies", Usage: "directory of policies; empty: none", Value: textValue{&c.Policies}},
		{Name: "data", Usage: "directory of the embedded store; made if absent", Value: textValue{&c.Data}},
		{Name: "issuer", Usage: "name of the service in its tokens, the same for all replicas", Value: textValue{&c.Issuer}},
		{Name: "keys", Usage: "directory of keys, shared by replicas; empty: keys below data, made if absent", Value: textValue{&c.Keys}},
		{Name: "approvers", Usage: "JWK Set of those who may approve calls; empty: nobody", Value: textValue{&c.Approvers}},
		{Name: "grant-issuers", Usage: "issuer=FILE,… of JWK Sets of those who may sign grants; empty: nobody", Value: textValue{&c.GrantIssuers}},
		{Name: "audit-store", Usage: "sqlite: a file below data; postgres: shared by replicas", Value: textValue{&c.AuditStore}},
		{Name: "audit-dsn", Usage: "how PostgreSQL is reached", Secret: true, Value: textValue{&c.AuditDSN}},
		{Name: "keep-events", Usage: "how long records are kept; 0: for ever", Value: durationValue{&c.KeepEvents}},
		{Name: "recipients", Usage: "file of age recipients to whom originals are sealed; empty: none are kept", Value: textValue{&c.Recipients}},
		{Name: "originals-per-day", Usage: "bytes of originals kept for one caller in a day; 0: no bound", Value: numberValue{&c.OriginalsPerDay}},
		{Name: "notice-url", Usage: "webhook that owners of connectors are told by; empty: none", Secret: true, Value: textValue{&c.NoticeURL}},
		{Name: "notice-secret-file", Usage: "file of the secret that signs it", Value: textValue{&c.NoticeSecretFile}},
		{Name: "insecure-plaintext", Usage: "serve beyond loopback without TLS: whoever reaches the port may call", Value: boolValue{&c.InsecurePlaintext}},
		{Name: "tls-cert", Usage: "PEM file of the server's certificate and its chain; empty: plaintext", Value: textValue{&c.TLSCert}},
		{Name: "tls-key", Usage: "PEM file of its key", Value: textValue{&c.TLSKey}},
		{Name: "tls-client-ca", Usage: "PEM file of the authorities whose clients are let in", Value: textValue{&c.TLSClientCA}},
		{Name: "identities", Usage: "YAML file of clients and what they may do; needed with TLS", Value: textValue{&c.Identities}},
		{Name: "reload-every", Usage: "how often contracts, certificates and identities are looked at for a change; 0: never", Value: durationValue{&c.ReloadEvery}},
		{Name: "max-connections", Usage: "connections at one time", Value: numberValue{&c.MaxConnections}},
		{Name: "max-connection-age", Usage: "when a connection is asked to be made anew, give or take a tenth; 0: never", Value: durationValue{&c.MaxConnectionAge}},
		{Name: "max-connection-age-grace", Usage: "time that calls on such a connection get to end", Value: durationValue{&c.MaxConnectionAgeGrace}},
		{Name: "max-in-flight", Usage: "calls at one time", Value: numberValue{&c.MaxInFlight}},
		{Name: "max-in-flight-bytes", Usage: "bytes of their requests; as many may be of replies that clients have not taken", Value: numberValue{&c.MaxInFlightBytes}},
		{Name: "admission-wait", Usage: "time that a call waits for room before it is refused", Value: durationValue{&c.AdmissionWait}},
		{Name: "identity-share", Usage: "percent of both bounds that one identity may have, unless identities says otherwise", Value: numberValue{&c.IdentityShare}},
		{Name: "reflection", Usage: "tell callers which services there are", Value: boolValue{&c.Reflection}},
		{Name: "auto-memory-limit", Usage: "heed the memory limit of the cgroup, unless GOMEMLIMIT is set", Value: boolValue{&c.AutoMemoryLimit}},
		{Name: "drain-wait", Usage: "time between saying NOT_SERVING and refusing calls", Value: durationValue{&c.DrainWait}},
		{Name: "drain-timeout", Usage: "time that running calls get to end at the stop", Value: durationValue{&c.DrainTimeout}},
	}
	for i, f := range fields {
		fields[i].Env = "HALLMARK_" + strings.ToUpper(f.Key())
	}
	return fields
}

// Print writes the effective settings in the form of the configuration file. Secrets
// are hidden.
func (c *Config) Print(w io.Writer) error { return printFields(w, c.Fields()) }

func printFields(w io.Writer, fields []Field) error {
	for _, f := range fields {
		if _, err := fmt.Fprintf(w, "%s: %s\n", f.Key(), strconv.Quote(f.Shown())); err != nil {
			return err
		}
	}
	return nil
}

// ConfigFile is the configuration file that is read, where there is one, if none is
// named.
const ConfigFile = "hallmark.yaml"

// Load sets every field that no flag has set: from the environment, else from the file.
// A variable that is empty counts as not set. Environment variables that Hallmark does
// not know are left alone, since orchestrators inject such names (HALLMARK_PORT and the
// like for a service called hallmark); unknown keys of the file are refused.
//
// file names the configuration file; "" means [ConfigFile] if that exists. flagGiven
// reports whether the flag of this name was given; nil means none was.
func (c *Config) Load(file string, getenv func(string) string, flagGiven func(string) bool) error {
	fromFile, err := readSettings(file, c.Fields())
	if err != nil {
		return err
	}
	for _, f := range c.Fields() {
		if flagGiven != nil && flagGiven(f.Name) {
			continue
		}
		if text := getenv(f.Env); text != "" {
			if err := f.Value.Set(text); err != nil {
				return fmt.Errorf("%s: %w", f.Env, err)
			}
			continue
		}
		if s, ok := fromFile[f.Key()]; ok {
			if err := f.Value.Set(s.text); err != nil {
				return fmt.Errorf("%s: %s: %w", s.place, f.Key(), err)
			}
		}
	}
	return nil
}
