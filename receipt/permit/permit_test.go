package permit_test

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/receipt/permit"
)

var now = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

const arguments = `{"to":["ada@example.test"],"subject":"Hello"}`

// service is a running Hallmark as far as an executor sees it.
func service(t testing.TB) *receipt.KeySet {
	t.Helper()
	dir := receipt.Dir(filepath.Join(t.TempDir(), "keys"))
	if _, err := dir.Init(now); err != nil {
		t.Fatal(err)
	}
	keys, err := dir.Load()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func claims() receipt.Permit {
	return receipt.Permit{
		Issuer: "hallmark.example.test", IssuedAt: now, Expires: now.Add(time.Minute), ID: "p-1", Tenant: "acme", Session: "task-1",
		Tool: "mail_send", Version: 3, Request: "req.A1b2C3d4", Principal: "ada@example.test", Decision: "d-1",
		ArgumentsDigest: receipt.Digest([]byte(arguments)), Audience: "mailer.example.test", Obligations: []string{"no-redirects"},
	}
}

func expect() permit.Expect {
	return permit.Expect{
		Issuer: "hallmark.example.test", Tenant: "acme", Audience: "mailer.example.test", Tool: "mail_send", Version: 3,
		Principal: "ada@example.test", Now: now, KnownObligations: []string{"public-address", "no-redirects"},
	}
}

// Everything that an executor must refuse. // D6
func TestVerify(t *testing.T) {
	s := service(t)
	keys, err := permit.ParseKeys(s.Public(now))
	if err != nil {
		t.Fatal(err)
	}
	other, err := permit.ParseKeys(service(t).Public(now))
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.SignPermit(claims(), claims().IssuedAt)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		change func(e *permit.Expect)
		keys   *permit.Keys
		args   string
		reason receipt.Reason
		place  string
	}{
		{"as it is", func(*permit.Expect) {}, keys, arguments, 0, ""},
		{"a byte changed", func(*permit.Expect) {}, keys, strings.Replace(arguments, "ada", "bda", 1), receipt.Mismatch, "args_sha256"},
		{"the same value, other bytes", func(*permit.Expect) {}, keys, arguments + " ", receipt.Mismatch, "args_sha256"},
		{"no bytes", func(*permit.Expect) {}, keys, "", receipt.Mismatch, "args_sha256"},
		{"other keys", func(*permit.Expect) {}, other, arguments, receipt.UnknownKey, "kid"},
		{"no keys", func(*permit.Expect) {}, nil, arguments, receipt.NoKey, ""},
		{"another service", func(e *permit.Expect) { e.Issuer = "x" }, keys, arguments, receipt.Mismatch, "iss"},
		{"another tenant", func(e *permit.Expect) { e.Tenant = "x" }, keys, arguments, receipt.Mismatch, "ten"},
		{"another executor", func(e *permit.Expect) { e.Audience = "x" }, keys, arguments, receipt.Mismatch, "aud"},
		{"another tool", func(e *permit.Expect) { e.Tool = "x" }, keys, arguments, receipt.Mismatch, "tool"},
		{"another version", func(e *permit.Expect) { e.Version = 4 }, keys, arguments, receipt.Mismatch, "ver"},
		{"another user", func(e *permit.Expect) { e.Principal = "x" }, keys, arguments, receipt.Mismatch, "principal"},
		{"no user", func(e *permit.Expect) { e.Principal = "" }, keys, arguments, receipt.Mismatch, "principal"},
		{"unknown obligation", func(e *permit.Expect) { e.KnownObligations = e.KnownObligations[:1] }, keys, arguments, receipt.Mismatch, "obl"},
		{"no obligations known", func(e *permit.Expect) { e.KnownObligations = nil }, keys, arguments, receipt.Mismatch, "obl"},
		{"in time", func(e *permit.Expect) { e.Now = now.Add(time.Minute + receipt.Skew - 1) }, keys, arguments, 0, ""},
		{"too late", func(e *permit.Expect) { e.Now = now.Add(time.Minute + receipt.Skew) }, keys, arguments, receipt.Expired, "exp"},
		{"no issuer said", func(e *permit.Expect) { e.Issuer = "" }, keys, arguments, receipt.Unbound, "Issuer"},
		{"no tenant said", func(e *permit.Expect) { e.Tenant = "" }, keys, arguments, receipt.Unbound, "Tenant"},
		{"no audience said", func(e *permit.Expect) { e.Audience = "" }, keys, arguments, receipt.Unbound, "Audience"},
		{"no tool said", func(e *permit.Expect) { e.Tool = "" }, keys, arguments, receipt.Unbound, "Tool"},
		{"no version said", func(e *permit.Expect) { e.Version = 0 }, keys, arguments, receipt.Unbound, "Version"},
		{"no time said", func(e *permit.Expect) { e.Now = time.Time{} }, keys, arguments, receipt.Unbound, "now"},
	} {
		e := expect()
		row.change(&e)
		got, err := permit.Verify(token, row.keys, e, []byte(row.args))
		if row.reason == 0 {
			if err != nil || got.ID != "p-1" || got.Decision != "d-1" {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		var fault *receipt.Error
		if !errors.As(err, &fault) || fault.Reason != row.reason || fault.Place != row.place || got.ID != "" {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	// Each byte counts.
	for i := range len(token) {
		bad := []byte(token)
		bad[i] ^= 1
		if _, err := permit.Verify(string(bad), keys, expect(), []byte(arguments)); err == nil {
			t.Errorf("byte %d may change", i)
		}
	}
	if _, err := permit.Verify(token, keys, expect(), nil); !errors.Is(err, &receipt.Error{Reason: receipt.Unbound}) {
		t.Error(err)
	}
}

// One id, once, until it can no longer be used; a full record refuses.
func TestSeen(t *testing.T) {
	seen := permit.NewSeen(2)
	c := claims()
	end := c.Expires.Add(receipt.Skew)
	id := func(id string) permit.Claims { c := claims(); c.ID = id; return c }
	for _, row := range []struct {
		claims permit.Claims
		at     time.Time
		want   bool
	}{
		{permit.Claims{}, now, false},
		{id("a"), now, true},
		{id("a"), now, false},
		{id("b"), now, true},
		{id("c"), now, false}, // full
		{id("a"), end.Add(-1), false},
		{id("a"), end, false}, // expired
		{func() permit.Claims { c := id("c"); c.Expires = end.Add(time.Minute); return c }(), end, true},
	} {
		if got := seen.First(row.claims, row.at); got != row.want {
			t.Errorf("%s at %v: %v", row.claims.ID, row.at.Sub(now), got)
		}
	}
	other := id("c")
	other.Tenant, other.Expires = "other", end.Add(time.Minute)
	if !seen.First(other, end) {
		t.Error("an id of another tenant is another id")
	}
	if permit.NewSeen(0).First(c, now) {
		t.Error("a record of nothing lets something pass")
	}
}

// Of many at once exactly one acts.
func TestSeenConcurrently(t *testing.T) {
	seen := permit.NewSeen(1000)
	for round := range 100 {
		c := claims()
		c.ID = strconv.Itoa(round)
		var wg sync.WaitGroup
		var acted atomic.Int32
		for range 16 {
			wg.Go(func() {
				if seen.First(c, now) {
					acted.Add(1)
				}
			})
		}
		wg.Wait()
		if acted.Load() != 1 {
			t.Fatalf("round %d: %d acted", round, acted.Load())
		}
	}
}
