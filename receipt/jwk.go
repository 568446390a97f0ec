package receipt

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"time"

	"github.com/hallmark-gate/hallmark/internal/base64url"
)

// algorithm is the alg of a key (RFC 7518 section 3.1, RFC 8037 section 3.1).
type algorithm string

const (
	hs256 algorithm = "HS256"
	edDSA algorithm = "EdDSA"
	es256 algorithm = "ES256"
)

// jwk is one key as a file or a publication has it (RFC 7517 section 4): the members of
// the RFC that are needed, and after them our own. It is short-lived; what stays in
// memory is a [key].
type jwk struct {
	kty, crv, kid, alg, use text
	x, y                    octets
	d, k                    secret
	kind                    text      // hallmark_kind: what a published key verifies
	owner                   text      // owner: the only name in which the key signs
	created                 time.Time // the rest: its life
	notBefore, notAfter     time.Time
	revoked                 time.Time
}

func (j *jwk) fields() object {
	return object{
		{"kty", &j.kty, needed},
		{"crv", &j.crv, maybe},
		{"kid", &j.kid, maybe},
		{"alg", &j.alg, maybe},
		{"use", &j.use, maybe},
		{"x", &j.x, maybe},
		{"y", &j.y, maybe},
		{"d", &j.d, maybe},
		{"k", &j.k, maybe},
		{"hallmark_kind", &j.kind, maybe},
		{"owner", &j.owner, maybe},
		{"created", (*instant)(&j.created), maybe},
		{"not_before", (*instant)(&j.notBefore), maybe},
		{"not_after", (*instant)(&j.notAfter), maybe},
		{"revoked", (*instant)(&j.revoked), maybe},
	}
}

// octets are bytes as base64url.
type octets []byte

func (v *octets) empty() bool { return len(*v) == 0 }

func (v *octets) append(dst []byte) ([]byte, bool) {
	return append(base64url.AppendEncode(append(dst, '"'), *v), '"'), true
}

func (v *octets) read(raw []byte) bool {
	s, ok := readText(raw)
	if !ok {
		return false
	}
	*v, ok = base64url.Decode(s)
	return ok
}

// secret is octets that nothing prints.
type secret []byte

func (v *secret) empty() bool                      { return len(*v) == 0 }
func (v *secret) append(dst []byte) ([]byte, bool) { return (*octets)(v).append(dst) }
func (v *secret) read(raw []byte) bool             { return (*octets)(v).read(raw) }

const hiddenText = "(secret)"

func (secret) Format(f fmt.State, _ rune)   { io.WriteString(f, hiddenText) }
func (secret) String() string               { return hiddenText }
func (secret) GoString() string             { return hiddenText }
func (secret) MarshalText() ([]byte, error) { return []byte(hiddenText), nil }
func (secret) LogValue() slog.Value         { return slog.StringValue(hiddenText) }

// thumbprint is the kid of a public key (RFC 7638), base64url of SHA-256 over its
// required members in lexical order. A key without one has "".
func (j *jwk) thumbprint() string {
	members := object{{"crv", &j.crv, needed}, {"kty", &j.kty, needed}, {"x", &j.x, needed}, {"y", &j.y, maybe}}
	text, reason, _ := appendObject(nil, members)
	if reason != 0 {
		return ""
	}
	sum := sha256.Sum256(text)
	return base64url.Encode(sum[:])
}

// public is the key without its secrets and without what only its keeper needs.
func (j *jwk) public() *jwk {
	return &jwk{kty: j.kty, crv: j.crv, kid: j.kid, alg: j.alg, use: "sig", x: j.x, y: j.y, owner: j.owner}
}

// generate makes a new key from the system's randomness: a MAC key, or an Ed25519 one.
func generate(alg algorithm, now time.Time) (*jwk, error) {
	j := &jwk{alg: text(alg), use: "sig", created: now}
	if alg == hs256 {
		random := make([]byte, 32+16) // 256 bits of key; 128 of name, which says nothing of the key
		rand.Read(random)
		j.kty, j.k, j.kid = "oct", random[:32], text(base64url.Encode(random[32:]))
		return j, nil
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	j.kty, j.crv, j.x, j.d = "OKP", "Ed25519", octets(public), private.Seed()
	j.kid = text(j.thumbprint())
	return j, nil
}

// key is a key in use. Its secret lives in closures, where neither fmt nor an encoder
// can reach it.
type key struct {
	id     string
	alg    algorithm
	owner  string
	life   life
	public *jwk                               // nil for MACs
	sign   func(input []byte) ([]byte, error) // nil where only verifying is possible
	verify func(input, signature []byte) bool
}

// life is when a key may do what. Zero times are no bounds.
type life struct{ created, notBefore, notAfter, revoked time.Time }

// usable refuses a key that may not verify now.
func (k *key) usable(kind Kind, now time.Time) error {
	switch {
	case !k.life.revoked.IsZero():
		return kind.fail(RevokedKey, "kid")
	case !k.life.notAfter.IsZero() && !now.Before(k.life.notAfter.Add(Skew)),
		now.Before(k.life.notBefore.Add(-Skew)):
		return kind.fail(ExpiredKey, "kid")
	}
	return nil
}

// load turns a key of a file into one in use. The string names the member at fault.
func (j *jwk) load() (*key, string) {
	k := &key{id: string(j.kid), owner: string(j.owner), life: life{j.created, j.notBefore, j.notAfter, j.revoked}}
	var fault string
	switch {
	case j.use != "" && j.use != "sig":
		fault = "use"
	case j.kty == "oct":
		fault = k.loadMAC(j)
	case j.kty == "OKP" && j.crv == "Ed25519":
		fault = k.loadEd25519(j)
	case j.kty == "EC" && j.crv == "P-256":
		fault = k.loadP256(j)
	case j.kty == "OKP" || j.kty == "EC":
		fault = "crv"
	default:
		fault = "kty"
	}
	switch {
	case fault != "":
		return nil, fault
	case j.alg != "" && string(j.alg) != string(k.alg):
		return nil, "alg"
	case k.id == "":
		return nil, "kid"
	}
	if k.alg != hs256 {
		k.public = j.public()
		k.public.alg = text(k.alg)
	}
	return k, ""
}

func (k *key) loadMAC(j *jwk) string {
	switch {
	case len(j.k) != 32:
		return "k"
	case len(j.d) > 0:
		return "d"
	case len(j.x)+len(j.y) > 0 || j.crv != "":
		return "x"
	}
	k.alg = hs256
	k.sign = func(input []byte) ([]byte, error) {
		mac := hmac.New(sha256.New, j.k)
		mac.Write(input)
		return mac.Sum(nil), nil
	}
	k.verify = func(input, signature []byte) bool {
		sum, err := k.sign(input)
		return err == nil && subtle.ConstantTimeCompare(sum, signature) == 1
	}
	return ""
}

func (k *key) loadEd25519(j *jwk) string {
	switch {
	case len(j.x) != ed25519.PublicKeySize:
		return "x"
	case len(j.y) > 0:
		return "y"
	case len(j.k) > 0:
		return "k"
	}
	k.alg = edDSA
	public := ed25519.PublicKey(j.x)
	k.verify = func(input, signature []byte) bool {
		return len(signature) == ed25519.SignatureSize && ed25519.Verify(public, input, signature)
	}
	if len(j.d) == 0 {
		return ""
	}
	if len(j.d) != ed25519.SeedSize {
		return "d"
	}
	private := ed25519.NewKeyFromSeed(j.d)
	if !public.Equal(private.Public()) {
		return "d"
	}
	k.sign = func(input []byte) ([]byte, error) { return ed25519.Sign(private, input), nil }
	return ""
}

func (k *key) loadP256(j *jwk) string {
	if len(j.k) > 0 {
		return "k"
	}
	if len(j.x) != 32 || len(j.y) != 32 {
		return "x"
	}
	point := append(append([]byte{4}, j.x...), j.y...)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return "x"
	}
	k.alg = es256
	k.verify = func(input, signature []byte) bool {
		if len(signature) != 64 { // r and s, each as long as the curve's order (RFC 7518 section 3.4)
			return false
		}
		sum := sha256.Sum256(input)
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		return ecdsa.Verify(public, sum[:], r, s)
	}
	if len(j.d) == 0 {
		return ""
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), j.d)
	if err != nil || !public.Equal(private.Public()) {
		return "d"
	}
	k.sign = func(input []byte) ([]byte, error) {
		sum := sha256.Sum256(input)
		r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
		if err != nil {
			return nil, err
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature, nil
	}
	return ""
}
