package receipt

import (
	"maps"
	"slices"
	"time"
)

// PermitKeys are the published keys that verify permits. They are immutable and safe for
// concurrent use; nil and zero refuse everything.
type PermitKeys struct{ ring *ring }

// ParsePermitKeys reads the JWK Set that [KeySet.Public] publishes and keeps the keys of
// permits. Keys of other kinds are no keys for permits, whatever they are. Fetch the set
// again when a permit names an unknown key, and at least every few minutes, because
// revoked keys vanish from it.
func ParsePermitKeys(jwks []byte) (*PermitKeys, error) {
	r, err := readPublished(PermitKind, jwks)
	return &PermitKeys{r}, err
}

// Verify checks a permit like [KeySet.VerifyPermit].
func (p *PermitKeys) Verify(token string, want PermitExpect) (Permit, error) {
	if p == nil {
		return Permit{}, PermitKind.fail(NoKey, "")
	}
	return verifyPermit(p.ring, token, want)
}

// ChallengeKeys are the published keys that verify challenges, like [PermitKeys].
type ChallengeKeys struct{ ring *ring }

// ParseChallengeKeys reads the JWK Set that [KeySet.Public] publishes, for approvers.
func ParseChallengeKeys(jwks []byte) (*ChallengeKeys, error) {
	r, err := readPublished(ChallengeKind, jwks)
	return &ChallengeKeys{r}, err
}

// Verify checks a challenge of an issuer, so that an approver is shown what the service
// asked and nothing else. An approver knows no more of the call than the challenge says.
func (p *ChallengeKeys) Verify(token, issuer string, now time.Time) (Challenge, error) {
	if p == nil {
		return Challenge{}, ChallengeKind.fail(NoKey, "")
	}
	var c Challenge
	if _, err := verify(ChallengeKind, p.ring, token, now, &c); err != nil {
		return Challenge{}, err
	}
	if err := compare(ChallengeKind, []expectation{{"issuer", "iss", c.Issuer, issuer}}); err != nil {
		return Challenge{}, err
	}
	return c, nil
}

// Approvers are the public keys of those who may approve. They are immutable and safe
// for concurrent use; nil and zero refuse everything.
type Approvers struct{ ring *ring }

// ParseApprovers reads the operator's JWK Set of Ed25519 public keys. Each key has the
// member owner, the name of the approver, in which alone it signs; one owner may have
// several keys. not_before, not_after and revoked (RFC 3339 with Z) are understood.
func ParseApprovers(jwks []byte) (*Approvers, error) {
	keys, err := readPublic(ApprovalKind, jwks, edDSA)
	if err != nil {
		return nil, err
	}
	r := &ring{}
	for _, k := range keys {
		switch {
		case k.owner == "":
			return nil, ApprovalKind.fail(BadKeys, "owner")
		case !r.add(k):
			return nil, ApprovalKind.fail(BadKeys, "kid")
		}
	}
	return &Approvers{r}, nil
}

// ApprovalExpect is what the verifier of an approval knows. All fields are needed.
type ApprovalExpect struct {
	Audience  string // the issuer of the challenge
	Challenge string // Digest of the challenge
	Caller    string // who calls Authorize, and so may not approve
	Now       time.Time
}

// Verify checks an approval. A valid one that says no is returned with an error of
// reason [Refused], so that no verifier can forget to look; with every other error the
// claims are zero. That an approval is used once is the caller's to see to.
func (a *Approvers) Verify(token string, want ApprovalExpect) (Approval, error) {
	if a == nil {
		return Approval{}, ApprovalKind.fail(NoKey, "")
	}
	c := approval{Approval: new(Approval)}
	k, err := verify(ApprovalKind, a.ring, token, want.Now, &c)
	if err != nil {
		return Approval{}, err
	}
	err = compare(ApprovalKind, []expectation{
		{"owner", "iss", c.issuer, k.owner},
		{"owner", "sub", c.Approver, k.owner},
		{"Audience", "aud", c.Audience, want.Audience},
		{"Challenge", "challenge", c.Challenge, want.Challenge},
	})
	switch {
	case err != nil:
		return Approval{}, err
	case want.Caller == "":
		return Approval{}, ApprovalKind.fail(Unbound, "Caller")
	case want.Caller == c.Approver:
		return Approval{}, ApprovalKind.fail(Mismatch, "sub")
	case !c.Approved:
		return *c.Approval, ApprovalKind.fail(Refused, "")
	}
	return *c.Approval, nil
}

// approval is an Approval with its iss, which repeats the approver.
type approval struct {
	*Approval
	issuer string
}

func (c *approval) fields() []field { return c.Approval.fields(&c.issuer) }

// Issuers are the public keys of those who may sign grants. They are immutable and safe
// for concurrent use; nil and zero refuse everything.
type Issuers struct{ ring *ring }

// ParseIssuers reads a JWK Set of Ed25519 or P-256 public keys for each configured
// issuer, by its iss. An issuer's keys sign in its name alone. A kid that two issuers
// use is refused.
func ParseIssuers(jwks map[string][]byte) (*Issuers, error) {
	r := &ring{}
	for _, issuer := range slices.Sorted(maps.Keys(jwks)) {
		keys, err := readPublic(GrantKind, jwks[issuer], edDSA, es256)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			switch {
			case issuer == "" || k.owner != "" && k.owner != issuer:
				return nil, GrantKind.fail(BadKeys, "owner")
			case !r.add(k):
				return nil, GrantKind.fail(BadKeys, "kid")
			}
			k.owner = issuer
		}
	}
	return &Issuers{r}, nil
}

// GrantExpect is what the verifier of a grant token knows. All fields are needed.
type GrantExpect struct {
	Audience  string // this service
	Tenant    string
	Session   string
	Principal string
	Now       time.Time
}

// Verify checks a grant token.
func (i *Issuers) Verify(token string, want GrantExpect) (GrantToken, error) {
	if i == nil {
		return GrantToken{}, GrantKind.fail(NoKey, "")
	}
	var c GrantToken
	k, err := verify(GrantKind, i.ring, token, want.Now, &c)
	if err != nil {
		return GrantToken{}, err
	}
	err = compare(GrantKind, []expectation{
		{"owner", "iss", c.Issuer, k.owner},
		{"Audience", "aud", c.Audience, want.Audience},
		{"Tenant", "ten", c.Tenant, want.Tenant},
		{"Session", "sid", c.Session, want.Session},
		{"Principal", "principal", c.Principal, want.Principal},
	})
	if err != nil {
		return GrantToken{}, err
	}
	return c, nil
}

// Signer holds the private key of an approver or of an issuer of grants. It is immutable
// and safe for concurrent use, and prints nothing of the key.
type Signer struct{ key *key }

// NewSigner makes an Ed25519 key for an owner and returns it as a private JWK, to be
// kept by the owner (mode 0600), and as a JWK Set with the public key alone, for the
// operator's file of approvers or issuers.
func NewSigner(owner string, now time.Time) (private, public []byte, err error) {
	j, err := generate(edDSA, now)
	if err != nil {
		return nil, nil, err
	}
	j.owner = text(owner)
	private, reason, place := appendObject(nil, j.fields())
	if reason != 0 || owner == "" {
		return nil, nil, Kind(0).fail(BadKeys, place)
	}
	public, _ = appendSet(nil, []*jwk{j.public()})
	return private, public, nil
}

// ParseSigner reads a private JWK: Ed25519, or P-256 for an issuer.
func ParseSigner(private []byte) (*Signer, error) {
	var j jwk
	if len(private) > maxSet {
		return nil, Kind(0).fail(TooLarge, "keys")
	}
	if reason, place := readObject(private, j.fields()); reason != 0 {
		return nil, Kind(0).fail(BadKeys, place)
	}
	if j.kid == "" {
		j.kid = text(j.thumbprint())
	}
	k, fault := j.load()
	switch {
	case fault != "":
		return nil, Kind(0).fail(BadKeys, fault)
	case k.sign == nil:
		return nil, Kind(0).fail(BadKeys, "d")
	case k.alg == hs256:
		return nil, Kind(0).fail(BadKeys, "kty")
	case k.owner == "":
		return nil, Kind(0).fail(BadKeys, "owner")
	}
	return &Signer{k}, nil
}

// Owner is the name in which the key signs.
func (s *Signer) Owner() string { return s.key.owner }

// SignApproval answers a challenge. The approver is the owner of the key; c.Approver may
// be left empty and otherwise must be the owner.
func (s *Signer) SignApproval(c Approval) (string, error) {
	if s.key.alg != edDSA {
		return "", ApprovalKind.fail(WrongAlgorithm, "")
	}
	if c.Approver == "" {
		c.Approver = s.key.owner
	}
	if c.Approver != s.key.owner {
		return "", ApprovalKind.fail(Mismatch, "sub")
	}
	return seal(ApprovalKind, s.key, c.fields(&c.Approver))
}

// SignGrant issues a grant token. The issuer is the owner of the key; c.Issuer may be
// left empty and otherwise must be the owner.
func (s *Signer) SignGrant(c GrantToken) (string, error) {
	if c.Issuer == "" {
		c.Issuer = s.key.owner
	}
	if c.Issuer != s.key.owner {
		return "", GrantKind.fail(Mismatch, "iss")
	}
	return seal(GrantKind, s.key, c.fields())
}
