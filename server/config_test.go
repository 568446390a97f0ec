package server

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Flags are over the environment, that over the file, that over the defaults.
func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.yaml")
	write(t, file, "listen: file:1\nops_listen: file:2\ncontracts: file\ndrain_wait: 7s\n")
	env := map[string]string{"HALLMARK_LISTEN": "env:1", "HALLMARK_OPS_LISTEN": "env:2", "HALLMARK_DATA": "", "HALLMARK_PORT": "tcp://192.0.2.1:1"}
	c := DefaultConfig()
	c.Listen = "flag:1" // as pflag sets it
	err := c.Load(file, func(name string) string { return env[name] }, func(name string) bool { return name == "listen" })
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultConfig()
	want.Listen, want.OpsListen, want.Contracts, want.DrainWait = "flag:1", "env:2", "file", 7*time.Second
	if c != want {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
}

// A file that is not wholly understood is refused, with its place.
func TestConfigFileFaults(t *testing.T) {
	for _, c := range []struct{ name, content, says string }{
		{"unknown key", "listen: a:1\nlissten: b:1\n", ":2:1: no setting is called \"lissten\""},
		{"the flag's spelling", "ops-listen: a:1\n", "no setting"},
		{"key twice", "data: a\ndata: b\n", "data"},
		{"no value", "data:\n", ":1:6: data takes one plain value"},
		{"list", "data: [a]\n", "one plain value"},
		{"mapping", "data: {a: b}\n", "one plain value"},
		{"alias", "data: &x a\ncontracts: *x\n", "one plain value"},
		{"merge", "<<: {data: a}\n", "no setting"},
		{"two documents", "data: a\n---\ndata: b\n", "one document"},
		{"no mapping", "- data\n", "mapping"},
		{"no YAML", "a: b: c\n", ""},
		{"wrong bool", "insecure_plaintext: yes\n", "neither true nor false"},
		{"wrong number", "max_in_flight: many\n", "whole number"},
		{"wrong duration", "drain_wait: 7\n", "duration"},
		{"large", "# " + strings.Repeat("x", maxConfigBytes) + "\n", "larger"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "h.yaml")
			write(t, file, c.content)
			config := DefaultConfig()
			if err := config.Load(file, noEnv, nil); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "h.yaml") {
				t.Errorf("error %v, want %q in it", err, c.says)
			}
		})
	}
	config := DefaultConfig()
	if err := config.Load(filepath.Join(t.TempDir(), "no.yaml"), noEnv, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is absent: %v", err)
	}
	if err := config.Load("", func(string) string { return "maybe" }, nil); err == nil || !strings.Contains(err.Error(), "HALLMARK_") {
		t.Errorf("a wrong variable: %v", err)
	}
}

func noEnv(string) string { return "" }

// Without a name the file is read where there is one; an empty one says nothing.
func TestDefaultConfigFile(t *testing.T) {
	t.Chdir(t.TempDir())
	c := DefaultConfig()
	if err := c.Load("", noEnv, nil); err != nil || c != DefaultConfig() {
		t.Errorf("absent: %+v, %v", c, err)
	}
	for _, empty := range []string{"", "# nothing\n", "---\n", "null\n"} {
		write(t, ConfigFile, empty)
		if err := c.Load("", noEnv, nil); err != nil || c != DefaultConfig() {
			t.Errorf("%q: %+v, %v", empty, c, err)
		}
	}
	write(t, ConfigFile, "data: 010\n") // text, not eight
	if err := c.Load("", noEnv, nil); err != nil || c.Data != "010" {
		t.Errorf("present: %+v, %v", c, err)
	}
}

// Habit 13: every setting has one flag, one variable and one key, and what is printed
// can be read again.
func TestFieldsAgree(t *testing.T) {
	c := DefaultConfig()
	fields := c.Fields()
	if got, want := len(fields), reflect.TypeFor[Config]().NumField(); got != want {
		t.Errorf("%d fields for %d settings", got, want)
	}
	seen := map[string]bool{}
	for _, f := range fields {
		if f.Name == "" || f.Usage == "" || seen[f.Name] || f.Env != "HALLMARK_"+strings.ToUpper(f.Key()) || strings.Contains(f.Key(), "-") || f.Value.Type() == "" {
			t.Errorf("field %+v", f)
		}
		seen[f.Name] = true
	}
	for _, name := range []string{"listen", "ops-listen", "contracts", "policies", "data"} { // fixed by the design
		if !seen[name] {
			t.Errorf("no flag --%s", name)
		}
	}
	changed := Config{
		Listen: "[::1]:1", OpsListen: "a\"b:2", Contracts: "c: #d", Policies: "é", Data: "010",
		InsecurePlaintext: true, DrainWait: 1500 * time.Millisecond, DrainTimeout: time.Hour,
		TLSCert: "c: d", TLSKey: "#k", TLSClientCA: "0x1", Identities: "i.yaml", MaxConnections: 7, MaxInFlight: 8,
		MaxInFlightBytes: 9, IdentityShare: 10, AdmissionWait: time.Microsecond, MaxConnectionAge: time.Minute,
		MaxConnectionAgeGrace: time.Second, Reflection: true, AutoMemoryLimit: true,
		Issuer: "i", Keys: "k", Approvers: "a.json", GrantIssuers: "p=p.json", AuditStore: "s", KeepEvents: time.Minute,
		Recipients: "r", OriginalsPerDay: 3, NoticeSecretFile: "n",
	}
	var printed strings.Builder
	if err := changed.Print(&printed); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "h.yaml")
	write(t, file, printed.String())
	again := Config{}
	err := again.Load(file, noEnv, nil)
	again.AuditDSN, again.NoticeURL = "", "" // they are not printed
	if err != nil || again != changed {
		t.Errorf("%+v, %v\n%s", again, err, &printed)
	}
}

// Settings that begin alike may stand in a mapping of their own.
func TestNestedSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.yaml")
	for _, row := range []struct{ line, text, fault string }{
		{"as the manual writes it", "audit: {store: postgres, dsn: 010}\ntls:\n  cert: c\n", ""},
		{"twice", "audit_store: sqlite\naudit: {store: postgres}\n", "h.yaml:2:9: audit_store stands here for the second time"},
		{"unknown", "audit: {stoer: postgres}\n", "no setting is called \"audit_stoer\""},
		{"too deep", "audit: {store: {store: x}}\n", "audit_store takes one plain value"},
		{"no group", "listen: {host: x}\n", "listen takes one plain value"},
	} {
		t.Run(row.line, func(t *testing.T) {
			write(t, file, row.text)
			var c Config
			err := c.Load(file, noEnv, nil)
			if row.fault == "" {
				if err != nil || c.AuditStore != "postgres" || c.AuditDSN != "010" || c.TLSCert != "c" {
					t.Errorf("%+v, %v", c, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), row.fault) {
				t.Errorf("%v, want %q in it", err, row.fault)
			}
		})
	}
}

// Secrets are never printed.
func TestSecretsAreHidden(t *testing.T) {
	secret := "hunter2"
	var out strings.Builder
	if err := printFields(&out, []Field{{Name: "audit-dsn", Secret: true, Value: textValue{&secret}}}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "audit_dsn: \"(hidden)\"\n" {
		t.Errorf("printed %q", &out)
	}
	secret = "" // nothing to hide, and good to know
	out.Reset()
	if err := printFields(&out, []Field{{Name: "audit-dsn", Secret: true, Value: textValue{&secret}}}); err != nil || out.String() != "audit_dsn: \"\"\n" {
		t.Errorf("printed %q, %v", &out, err)
	}
}

// What is refused is the one setting that is wrong, and the sentence says what to do.
func TestCheckNamesTheSetting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for want, change := range map[string]func(*Config){
		"drain-wait: must not be negative":               func(c *Config) { c.DrainWait = -1 },
		"admission-wait: must not be negative":           func(c *Config) { c.AdmissionWait = -1 },
		"max-in-flight: must be at least 1":              func(c *Config) { c.MaxInFlight = 0 },
		"max-connections: must be at least 1":            func(c *Config) { c.MaxConnections = 0 },
		"data: " + file + " is a file; name a directory": func(c *Config) { c.Data = file },
		"set HALLMARK_AUDIT_DSN":                         func(c *Config) { c.AuditStore = StorePostgres },
		"say --audit-store postgres":                     func(c *Config) { c.AuditDSN = "postgres://u:hunter2@h/d" },
	} {
		c := DefaultConfig()
		c.Contracts, c.Data = t.TempDir(), t.TempDir()
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		err := c.Check()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
