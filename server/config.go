package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Config is how the service runs. The zero Config is not usable; begin with
// [DefaultConfig]. It is plain data and not safe for concurrent changes.
type Config struct {
	// Listen is the host:port of gRPC; port 0 picks a free one. A host that is not
	// loopback needs InsecurePlaintext, as long as there is no TLS.
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
	// InsecurePlaintext lets anyone who reaches Listen call without identity.
	InsecurePlaintext bool
	// ReloadEvery is how often the contracts directory is looked at, at least, for a
	// change that is then served without a restart; 0 means never.
	ReloadEvery time.Duration
	// DrainWait is the time between saying NOT_SERVING and refusing new calls, for load
	// balancers to look; 0 means none.
	DrainWait time.Duration
	// DrainTimeout is how long running calls may take to end after that; then they are
	// cut off. 0 cuts them off at once.
	DrainTimeout time.Duration
}

// DefaultConfig returns the one set of defaults.
func DefaultConfig() Config {
	return Config{
		Listen:       "127.0.0.1:7443",
		OpsListen:    "127.0.0.1:7444",
		Contracts:    "contracts",
		Data:         "data",
		Issuer:       "hallmark",
		ReloadEvery:  2 * time.Second,
		DrainWait:    2 * time.Second,
		DrainTimeout: 20 * time.Second,
	}
}

// Value is one setting as text; it has the methods of a pflag.Value.
type Value interface {
	// String is the setting as Set takes it.
	String() string
	// Set parses and sets it.
	Set(text string) error
	// Type names its form for help texts: string, bool or duration. A flag of type bool
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
		{Name: "insecure-plaintext", Usage: "serve beyond loopback without TLS: whoever reaches the port may call", Value: boolValue{&c.InsecurePlaintext}},
		{Name: "reload-every", Usage: "how often the contracts are looked at for a change; 0: never", Value: durationValue{&c.ReloadEvery}},
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
		text := strconv.Quote(f.Value.String())
		if f.Secret {
			text = `"(hidden)"`
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", f.Key(), text); err != nil {
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

// Check reports the first setting that cannot be served with. It looks at nothing but
// the settings and the directories that they name.
func (c *Config) Check() error {
	host, err := hostOf("listen", c.Listen)
	if err != nil {
		return err
	}
	if !isLoopback(host) && !c.InsecurePlaintext {
		return fmt.Errorf("listen: %q is not loopback, and there is no TLS; use 127.0.0.1, or say --insecure-plaintext if whoever reaches it may call", c.Listen)
	}
	if _, err := hostOf("ops-listen", c.OpsListen); err != nil {
		return err
	}
	if c.ReloadEvery < 0 || c.DrainWait < 0 || c.DrainTimeout < 0 {
		return errors.New("reload-every, drain-wait, drain-timeout: must not be negative")
	}
	if c.Data == "" {
		return errors.New("data: no directory is named; the audit record needs one")
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
	return nil
}

// maxIssuer bounds the name of the service in its tokens, in bytes.
const maxIssuer = 256

// sources are the directories of what the deployment declares.
func (c *Config) sources() sources { return sources{c.Contracts, c.Policies} }

func isDirectory(field, dir string) error {
	if dir == "" {
		return fmt.Errorf("%s: no directory is named", field)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: %s is not a directory", field, dir)
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

type textValue struct{ p *string }

func (v textValue) String() string        { return *v.p }
func (v textValue) Set(text string) error { *v.p = text; return nil }
func (v textValue) Type() string          { return "string" }

type boolValue struct{ p *bool }

func (v boolValue) String() string { return strconv.FormatBool(*v.p) }
func (v boolValue) Type() string   { return "bool" }

func (v boolValue) Set(text string) error {
	switch text {
	case "true":
		*v.p = true
	case "false":
		*v.p = false
	default:
		return errors.New("is neither true nor false")
	}
	return nil
}

type durationValue struct{ p *time.Duration }

func (v durationValue) String() string { return v.p.String() }
func (v durationValue) Type() string   { return "duration" }

func (v durationValue) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("is no duration such as 2s or 500ms")
	}
	*v.p = d
	return nil
}
