package receipt

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"
)

// KeySet is what a service signs and verifies with: its keys for receipts, permits and
// challenges. It is immutable and safe for concurrent use; a change of keys on disk is
// another [Dir.Load] and another KeySet. It prints as a fixed word. A nil KeySet and the
// zero KeySet have no keys and refuse everything.
type KeySet struct {
	rings map[Kind]*ring
}

func (s *KeySet) ring(kind Kind) *ring {
	if s == nil || s.rings[kind] == nil {
		return &ring{}
	}
	return s.rings[kind]
}

// SignReceipt issues a receipt under the MAC key that is active at c.IssuedAt, or the
// signing key where c.Signed says so. c.Facts must be one JSON value without space
// around it. The [*Error] names the claim that is missing or out of its bounds.
func (s *KeySet) SignReceipt(c Receipt) (string, error) {
	alg := hs256
	if c.Signed {
		alg = edDSA
	}
	return seal(ReceiptKind, s.ring(ReceiptKind).active(alg, c.IssuedAt), c.fields())
}

// SignPermit issues a permit under the key that is active now, which may be a later one
// than at c.IssuedAt: a permit that is issued again outlives a rotation. Like challenges
// (RFC 8032 signs without randomness) the same claims under the same key give the same
// token.
func (s *KeySet) SignPermit(c Permit, now time.Time) (string, error) {
	return seal(PermitKind, s.ring(PermitKind).active(edDSA, now), c.fields())
}

// SignChallenge issues a challenge under the key with this id, one of [KeySet.ChallengeKeys];
// [NoKey] where there is none. Arguments that do not fit into a challenge cannot be
// approved: [TooLarge].
func (s *KeySet) SignChallenge(kid string, c Challenge) (string, error) {
	k := s.ring(ChallengeKind).byID(kid)
	if k != nil && !k.life.revoked.IsZero() {
		return "", ChallengeKind.fail(RevokedKey, "kid")
	}
	return seal(ChallengeKind, k, c.fields())
}

// ChallengeKeys returns the ids of the keys whose challenges verify at a time: first the
// one that signs, where there is one, then those before it, the latest first. A challenge
// that was signed before a rotation can be made again by its own key.
func (s *KeySet) ChallengeKeys(now time.Time) []string {
	r := s.ring(ChallengeKind)
	var keys []*key
	for _, k := range r.keys {
		if k.sign != nil && !now.Before(k.life.notBefore) && k.usable(ChallengeKind, now) == nil {
			keys = append(keys, k)
		}
	}
	active := r.active(edDSA, now)
	slices.SortStableFunc(keys, func(a, b *key) int {
		switch {
		case a == active:
			return -1
		case b == active:
			return 1
		}
		return b.life.notBefore.Compare(a.life.notBefore)
	})
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	return ids
}

// ReceiptExpect is what the verifier of a receipt knows. All fields are needed: a
// receipt without a session, or of another, is no evidence.
type ReceiptExpect struct {
	Issuer  string
	Tenant  string
	Session string
	Now     time.Time
}

// VerifyReceipt checks a receipt. What else it must be (tool, contract digest, caller,
// age) is compared by whoever uses it as evidence.
func (s *KeySet) VerifyReceipt(token string, want ReceiptExpect) (Receipt, error) {
	var c Receipt
	k, err := verify(ReceiptKind, s.ring(ReceiptKind), token, want.Now, &c)
	if err != nil {
		return Receipt{}, err
	}
	err = compare(ReceiptKind, []expectation{
		{"Issuer", "iss", c.Issuer, want.Issuer},
		{"Tenant", "ten", c.Tenant, want.Tenant},
		{"Session", "sid", c.Session, want.Session},
	})
	if err != nil {
		return Receipt{}, err
	}
	c.Signed, c.KeyID = k.alg != hs256, k.id
	return c, nil
}

// PermitExpect is what the verifier of a permit knows. All fields are needed.
type PermitExpect struct {
	Issuer    string
	Tenant    string
	Audience  string
	Arguments []byte // the bytes that are about to be executed
	Now       time.Time
}

// VerifyPermit checks a permit of this service, as Redeem needs it. It records nothing:
// that a permit is used once is the caller's to see to. Executors use package permit,
// which compares more.
func (s *KeySet) VerifyPermit(token string, want PermitExpect) (Permit, error) {
	return verifyPermit(s.ring(PermitKind), token, want)
}

func verifyPermit(keys *ring, token string, want PermitExpect) (Permit, error) {
	var c Permit
	if _, err := verify(PermitKind, keys, token, want.Now, &c); err != nil {
		return Permit{}, err
	}
	if want.Arguments == nil {
		return Permit{}, PermitKind.fail(Unbound, "Arguments")
	}
	err := compare(PermitKind, []expectation{
		{"Issuer", "iss", c.Issuer, want.Issuer},
		{"Tenant", "ten", c.Tenant, want.Tenant},
		{"Audience", "aud", c.Audience, want.Audience},
		{"Arguments", "args_sha256", c.ArgumentsDigest, Digest(want.Arguments)},
	})
	if err != nil {
		return Permit{}, err
	}
	return c, nil
}

// claims are the pointers to the claim structs.
type claims interface{ fields() []field }

// verify opens a token and decodes its claims into c.
func verify(kind Kind, keys *ring, token string, now time.Time, c claims) (*key, error) {
	body, k, err := open(kind, keys, token, now)
	if err != nil {
		return nil, err
	}
	return k, decode(kind, body, c.fields(), now)
}

// Public returns the JWK Set of the public keys that verify permits, challenges and
// signed receipts at a time or later: those that are revoked or past their overlap are
// left out, MAC keys are never in. Each key has the member hallmark_kind, which says the
// one kind that it verifies: permit, challenge or receipt.
func (s *KeySet) Public(now time.Time) []byte {
	var keys []*jwk
	for _, kind := range []Kind{PermitKind, ChallengeKind, ReceiptKind} {
		for _, k := range s.ring(kind).keys {
			past := !k.life.notAfter.IsZero() && !now.Before(k.life.notAfter.Add(Skew))
			if k.public == nil || past || !k.life.revoked.IsZero() {
				continue
			}
			j := *k.public
			j.kind = text(kind.String())
			keys = append(keys, &j)
		}
	}
	set, _ := appendSet(nil, keys) // what was loaded can be written
	return set
}

// Ready refuses with [NoKey] where some kind of token could not be issued now.
func (s *KeySet) Ready(now time.Time) error {
	for _, set := range sets {
		if s.ring(set.kind).active(set.alg, now) == nil {
			return set.kind.fail(NoKey, string(set.name))
		}
	}
	return nil
}

const hiddenKeys = "(keys)"

// Format prints a fixed word for every verb.
func (KeySet) Format(f fmt.State, _ rune) { io.WriteString(f, hiddenKeys) }

func (KeySet) String() string { return hiddenKeys }

// MarshalText writes the same fixed word.
func (KeySet) MarshalText() ([]byte, error) { return []byte(hiddenKeys), nil }

// LogValue likewise.
func (KeySet) LogValue() slog.Value { return slog.StringValue(hiddenKeys) }
