package server

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// keysOf makes a directory of keys and an approver's file, and reads both.
func keysOf(t *testing.T) (k *keyring, dir receipt.Dir, approvers string) {
	t.Helper()
	data := t.TempDir()
	_, public, err := receipt.NewSigner("bea@example.test", time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	approvers = filepath.Join(data, "approvers.json")
	write(t, approvers, string(public))
	cfg := DefaultConfig()
	cfg.Data, cfg.Approvers = data, approvers
	k, err = newKeyring(cfg, discard(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return k, receipt.Dir(filepath.Join(data, "keys")), approvers
}

// A permit of the key that signs now.
func permitOf(t *testing.T, k *keyring) (token string, verify func() error) {
	t.Helper()
	now := time.Now().Truncate(time.Second)
	token, err := k.tokens().Keys.SignPermit(receipt.Permit{
		Issuer: "hallmark", IssuedAt: now, Expires: now.Add(time.Minute), ID: "p", Tenant: "t", Session: "s", Tool: "send", Version: 1,
		Request: "req.00000001", Decision: "d", ArgumentsDigest: receipt.Digest([]byte("{}")), Audience: "send",
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	return token, func() error {
		_, err := k.tokens().Keys.VerifyPermit(token, receipt.PermitExpect{
			Issuer: "hallmark", Tenant: "t", Audience: "send", Arguments: []byte("{}"), Now: time.Now(),
		})
		return err
	}
}

func keyOf(t *testing.T, dir receipt.Dir, set receipt.Set) string {
	t.Helper()
	list, err := dir.List(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range list {
		if key.Set == set && key.State == receipt.Active {
			return key.ID
		}
	}
	t.Fatal("no key of the set signs")
	return ""
}

// permitKid is the kid that the header of a permit names.
func permitKid(t *testing.T, k *keyring) string {
	t.Helper()
	token, _ := permitOf(t, k)
	head, _, _ := strings.Cut(token, ".")
	b, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		t.Fatal(err)
	}
	var h struct{ Kid string }
	if err := json.Unmarshal(b, &h); err != nil {
		t.Fatal(err)
	}
	return h.Kid
}

// A revoked key is worthless at the next reading, also where it was the last of its set:
// then nothing of its kind is issued, and the service is not ready.
func TestRevokedKeyIsTaken(t *testing.T) {
	k, dir, _ := keysOf(t)
	_, verify := permitOf(t, k)
	kid := keyOf(t, dir, receipt.Permits)
	if err := verify(); err != nil || k.subsystem().err != nil {
		t.Fatal(err, k.subsystem().err)
	}
	if _, err := dir.Revoke(kid, time.Now()); err != nil {
		t.Fatal(err)
	}
	k.reload()
	if err := verify(); !errors.Is(err, &receipt.Error{Reason: receipt.RevokedKey}) {
		t.Errorf("a permit of the revoked key: %v", err)
	}
	if strings.Contains(string(k.tokens().Keys.Public(time.Now())), kid) {
		t.Error("the revoked key is still published")
	}
	if err := k.subsystem().err; err == nil || !strings.Contains(err.Error(), "rotate") {
		t.Errorf("not ready for %v", err)
	}
	if _, err := dir.Rotate(receipt.Permits, time.Now(), 0, 0); err != nil {
		t.Fatal(err)
	}
	k.reload()
	if s := k.subsystem(); s.err != nil || s.concern != "" {
		t.Errorf("after the rotation: %v, %q", s.err, s.concern)
	}
	if _, verify := permitOf(t, k); verify() != nil {
		t.Error("the new key signs nothing that verifies")
	}
}

// A part that cannot be read stays as it was, and keeps no other part from being taken.
func TestPartsOfKeysCountAlone(t *testing.T) {
	k, dir, approvers := keysOf(t)
	_, verify := permitOf(t, k)
	was := k.tokens().Approvers
	write(t, approvers, "{")
	if _, err := dir.Revoke(keyOf(t, dir, receipt.Permits), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Rotate(receipt.Permits, time.Now(), 0, 0); err != nil {
		t.Fatal(err)
	}
	k.reload()
	if err := verify(); err == nil {
		t.Error("approvers that cannot be read keep a revoked key alive")
	}
	// Nor does another set of the service's own keys.
	_, verify = permitOf(t, k)
	challenges := k.tokens().Keys.ChallengeKeys(time.Now())
	write(t, filepath.Join(string(dir), "challenge.json"), "{")
	if err := os.Chmod(filepath.Join(string(dir), "challenge.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	kid := permitKid(t, k)
	if _, err := dir.Revoke(kid, time.Now()); err != nil {
		t.Fatal(err)
	}
	k.reload()
	if err := verify(); !errors.Is(err, &receipt.Error{Reason: receipt.RevokedKey}) {
		t.Errorf("beside challenges that cannot be read: %v", err)
	}
	if got := k.tokens().Keys.ChallengeKeys(time.Now()); len(got) != 1 || got[0] != challenges[0] {
		t.Errorf("the keys of challenges were %v and are %v", challenges, got)
	}
	if s := k.subsystem(); s.err == nil {
		t.Error("ready without a key for permits")
	}
	if _, err := dir.Rotate(receipt.Permits, time.Now(), 0, 0); err != nil {
		t.Fatal(err)
	}
	k.reload()
	if s := k.subsystem(); s.err != nil || !strings.Contains(s.concern, "approvers") || k.tokens().Approvers != was ||
		!strings.HasPrefix(s.concern, "reload refused since 2") {
		t.Errorf("%v, %q", s.err, s.concern)
	}
	if now := *k.status.Load(); now.refused == 0 || now.refusedSince.IsZero() {
		t.Errorf("not told: %+v", now)
	}

	// The other way round: keys that are gone stay in use, and approvers are taken.
	_, public, err := receipt.NewSigner("bo@example.test", time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	write(t, approvers, string(public))
	_, verify = permitOf(t, k)
	if err := os.RemoveAll(string(dir)); err != nil {
		t.Fatal(err)
	}
	k.reload()
	if s := k.subsystem(); s.err != nil || strings.Count(s.concern, string(dir)) != 1 || !strings.Contains(s.concern, "keys init") || verify() != nil || k.tokens().Approvers == was {
		t.Errorf("%v, %q", s.err, s.concern)
	}
}
