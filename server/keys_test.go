package server

import (
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// Keys that the service makes for itself sign at once, in the middle of a second too.
func TestNewKeysSignAtOnce(t *testing.T) {
	now := time.Date(2026, 1, 15, 9, 30, 0, 999_000_000, time.UTC)
	cfg := DefaultConfig()
	cfg.Data = t.TempDir()
	k, err := newKeyring(cfg, discard(), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	issued := now.Truncate(time.Second)
	if _, err := k.tokens().Keys.SignPermit(receipt.Permit{
		Issuer: "hallmark", IssuedAt: issued, Expires: issued.Add(time.Minute), ID: "p1", Tenant: "local", Tool: "deploy", Version: 1,
		Request: "req.12345678", Decision: "d1", ArgumentsDigest: receipt.Digest([]byte("{}")), Audience: "deploy",
	}); err != nil {
		t.Errorf("a permit of the service's first second: %v", err)
	}
}
