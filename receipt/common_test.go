package receipt_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

const (
	service  = "hallmark.example.test"
	approver = "grace@example.test"
	issuer   = "https://tasks.example.test"
	args     = `{"to":"ada@example.test","subject":"caf\u00e9 é <b>"}`
)

// now is when everything here is issued.
var now = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// world is a service with fresh keys, an approver and two issuers' keys.
type world struct {
	dir       receipt.Dir
	keys      *receipt.KeySet
	published *receipt.ChallengeKeys // of keys
	approvers *receipt.Approvers
	issuers   *receipt.Issuers
	approver  *receipt.Signer
	issuer    *receipt.Signer
	issuerES  *receipt.Signer
	jwks      map[string][]byte // the public sets, by who keeps them
	private   map[string][]byte // the private JWKs
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{
		dir: receipt.Dir(filepath.Join(t.TempDir(), "keys")), jwks: make(map[string][]byte), private: make(map[string][]byte),
	}
	must2(t)(w.dir.Init(now))
	w.reload(t)
	for _, who := range []string{approver, issuer} {
		private, public, err := receipt.NewSigner(who, now)
		must(t, err)
		w.jwks[who], w.private[who] = public, private
	}
	w.private["es"] = jwkOf(t, must2(t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).(*ecdsa.PrivateKey))
	w.jwks[issuer] = []byte(strings.TrimSuffix(string(w.jwks[issuer]), "]}") + "," + withoutSecret(t, w.private["es"]) + "]}")
	w.trust(t)
	return w
}

// fixedWorld has the same keys in every process, as fuzzing needs, whose workers get
// their seeds from another one.
func fixedWorld(t testing.TB) *world {
	t.Helper()
	w := &world{
		dir: receipt.Dir(t.TempDir()), jwks: make(map[string][]byte), private: make(map[string][]byte),
	}
	must(t, os.Chmod(string(w.dir), 0o700))
	file := func(set receipt.Set, jwk string) {
		must(t, os.WriteFile(filepath.Join(string(w.dir), string(set)+".json"), []byte(`{"keys":[`+jwk+`]}`), 0o600))
	}
	file(receipt.ReceiptMACs, `{"kty":"oct","kid":"mac","k":"`+b64([]byte("thirty-two bytes that are no key"))+`"}`)
	file(receipt.SignedReceipts, fixedKey(1, ""))
	file(receipt.Permits, fixedKey(2, ""))
	file(receipt.Challenges, fixedKey(3, ""))
	w.reload(t)
	w.private[approver], w.private[issuer] = []byte(fixedKey(4, approver)), []byte(fixedKey(5, issuer))
	w.private["es"] = jwkOf(t, must2(t)(ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{6}, 32))).(*ecdsa.PrivateKey))
	for _, who := range []string{approver, issuer} {
		w.jwks[who] = []byte(`{"keys":[` + withoutSecret(t, w.private[who]) + `]}`)
	}
	w.jwks[issuer] = []byte(strings.TrimSuffix(string(w.jwks[issuer]), "]}") + "," + withoutSecret(t, w.private["es"]) + "]}")
	w.trust(t)
	return w
}

// fixedKey is a private Ed25519 JWK made of one byte.
func fixedKey(seed byte, owner string) string {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
	x := b64(private[32:])
	print := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	jwk := `{"kty":"OKP","crv":"Ed25519","kid":"` + b64(print[:]) + `","x":"` + x + `","d":"` + b64(private.Seed()) + `"`
	if owner != "" {
		jwk += `,"owner":"` + owner + `"`
	}
	return jwk + "}"
}

// trust reads the keys of those outside.
func (w *world) trust(t testing.TB) {
	t.Helper()
	w.approver = must2(t)(receipt.ParseSigner(w.private[approver])).(*receipt.Signer)
	w.issuer = must2(t)(receipt.ParseSigner(w.private[issuer])).(*receipt.Signer)
	w.issuerES = must2(t)(receipt.ParseSigner(w.private["es"])).(*receipt.Signer)
	w.approvers = must2(t)(receipt.ParseApprovers(w.jwks[approver])).(*receipt.Approvers)
	w.issuers = must2(t)(receipt.ParseIssuers(map[string][]byte{issuer: w.jwks[issuer]})).(*receipt.Issuers)
}

// challenge signs by the key that signs now.
func (w *world) challenge(c receipt.Challenge) (string, error) {
	return w.keys.SignChallenge(w.keys.ChallengeKeys(now)[0], c)
}

func (w *world) reload(t testing.TB) {
	t.Helper()
	w.keys = must2(t)(w.dir.Load()).(*receipt.KeySet)
	w.published = must2(t)(receipt.ParseChallengeKeys(w.keys.Public(now))).(*receipt.ChallengeKeys)
}

// jwkOf writes a P-256 key as a private JWK of the issuer.
func jwkOf(t testing.TB, private *ecdsa.PrivateKey) []byte {
	t.Helper()
	point := must2(t)(private.PublicKey.Bytes()).([]byte)
	d := must2(t)(private.Bytes()).([]byte)
	return []byte(`{"kty":"EC","crv":"P-256","alg":"ES256","owner":"` + issuer + `","x":"` + b64(point[1:33]) +
		`","y":"` + b64(point[33:]) + `","d":"` + b64(d) + `"}`)
}

func withoutSecret(t testing.TB, jwk []byte) string {
	t.Helper()
	var m map[string]any
	must(t, json.Unmarshal(jwk, &m))
	delete(m, "d")
	return string(must2(t)(json.Marshal(m)).([]byte))
}

// kindCase is one kind of token, with a good one and how it is verified.
type kindCase struct {
	name   string
	kind   receipt.Kind
	token  string
	secret string // the private key's JWK
	verify func(token string, at time.Time) error
}

func aReceipt() receipt.Receipt {
	return receipt.Receipt{
		Issuer: service, IssuedAt: now, Expires: now.Add(10 * time.Minute), ID: "0199-r1", Tenant: "acme", Caller: "spiffe://example.test/adapter",
		Session: "task-1", Tool: "job_status", Version: 2, ContractDigest: receipt.Digest([]byte("contract")), Request: "req.A1b2C3d4",
		ArgumentsDigest: receipt.Digest([]byte("{}")), Source: "https://jobs.example.test/", Trust: "internal", Digest: receipt.Digest([]byte("data")),
		Observed: now.Add(-1500 * time.Millisecond), Facts: json.RawMessage(`{"state":"failed", "n":1.50e0,"s":"\u003c<é"}`),
	}
}

func aPermit() receipt.Permit {
	return receipt.Permit{
		Issuer: service, IssuedAt: now, Expires: now.Add(time.Minute), ID: "0199-p1", Tenant: "acme", Session: "task-1", Tool: "mail_send", Version: 3,
		Request: "req.A1b2C3d4", Principal: "ada@example.test", Decision: "0199-d1", ArgumentsDigest: receipt.Digest([]byte(args)),
		Audience: "mailer.example.test", Obligations: []string{"no-redirects"},
	}
}

func aChallenge() receipt.Challenge {
	return receipt.Challenge{
		Issuer: service, IssuedAt: now, Expires: now.Add(4 * time.Hour), ID: "0199-c1", Tenant: "acme", Session: "task-1", Caller: "spiffe://example.test/agent",
		Principal: "ada@example.test", Tool: "mail_send", Version: 3, Arguments: json.RawMessage(args),
		Disclosed: []receipt.Source{{Tool: "web_read", Trust: "public"}},
	}
}

func anApproval() receipt.Approval {
	return receipt.Approval{
		IssuedAt: now, Expires: now.Add(10 * time.Minute), Audience: service, Challenge: receipt.Digest([]byte("challenge")), Approved: true,
	}
}

func aGrant() receipt.GrantToken {
	return receipt.GrantToken{
		IssuedAt: now, Expires: now.Add(time.Hour), ID: "g-1", Audience: service, Tenant: "acme", Session: "task-1", Principal: "ada@example.test",
		Grants: []receipt.Grant{
			{ID: "g1", Tool: "mail_send", Scopes: []receipt.Scope{{Name: "recipient", Values: []string{"ada@example.test"}}, {Name: "folder", Any: true}, {Name: "none"}}, NotAfter: now.Add(time.Hour), MaxUses: 1},
			{ID: "g2", Tool: "job_restart", NotAfter: now.Add(time.Hour), Unlimited: true},
		},
	}
}

func receiptExpect(at time.Time) receipt.ReceiptExpect {
	return receipt.ReceiptExpect{Issuer: service, Tenant: "acme", Session: "task-1", Now: at}
}

func permitExpect(at time.Time) receipt.PermitExpect {
	return receipt.PermitExpect{Issuer: service, Tenant: "acme", Audience: "mailer.example.test", Arguments: []byte(args), Now: at}
}

// challengeExpected is what an approver knows of a challenge.
type challengeExpected struct {
	Issuer string
	Now    time.Time
}

func challengeExpect(at time.Time) challengeExpected { return challengeExpected{service, at} }

// openChallenge checks a challenge as an approver does.
func (w *world) openChallenge(token string, want challengeExpected) (receipt.Challenge, error) {
	return w.published.Verify(token, want.Issuer, want.Now)
}

func approvalExpect(at time.Time) receipt.ApprovalExpect {
	return receipt.ApprovalExpect{Audience: service, Challenge: receipt.Digest([]byte("challenge")), Caller: "spiffe://example.test/agent", Now: at}
}

func grantExpect(at time.Time) receipt.GrantExpect {
	return receipt.GrantExpect{Audience: service, Tenant: "acme", Session: "task-1", Principal: "ada@example.test", Now: at}
}

// kinds returns every kind once for each algorithm that it may have.
func (w *world) kinds(t testing.TB) []kindCase {
	t.Helper()
	token := func(s string, err error) string {
		t.Helper()
		must(t, err)
		return s
	}
	signed := aReceipt()
	signed.Signed = true
	vReceipt := func(s string, at time.Time) error { _, err := w.keys.VerifyReceipt(s, receiptExpect(at)); return err }
	vGrant := func(s string, at time.Time) error { _, err := w.issuers.Verify(s, grantExpect(at)); return err }
	return []kindCase{
		{"receipt HS256", receipt.ReceiptKind, token(w.keys.SignReceipt(aReceipt())), w.secret(t, receipt.ReceiptMACs), vReceipt},
		{"receipt EdDSA", receipt.ReceiptKind, token(w.keys.SignReceipt(signed)), w.secret(t, receipt.SignedReceipts), vReceipt},
		{"permit", receipt.PermitKind, token(w.keys.SignPermit(aPermit(), aPermit().IssuedAt)), w.secret(t, receipt.Permits), func(s string, at time.Time) error {
			_, err := w.keys.VerifyPermit(s, permitExpect(at))
			return err
		}},
		{"challenge", receipt.ChallengeKind, token(w.challenge(aChallenge())), w.secret(t, receipt.Challenges), func(s string, at time.Time) error {
			_, err := w.openChallenge(s, challengeExpect(at))
			return err
		}},
		{"approval", receipt.ApprovalKind, token(w.approver.SignApproval(anApproval())), string(w.private[approver]), func(s string, at time.Time) error {
			_, err := w.approvers.Verify(s, approvalExpect(at))
			return err
		}},
		{"grant EdDSA", receipt.GrantKind, token(w.issuer.SignGrant(aGrant())), string(w.private[issuer]), vGrant},
		{"grant ES256", receipt.GrantKind, token(w.issuerES.SignGrant(aGrant())), string(w.private["es"]), vGrant},
	}
}

// secret is the first private JWK of a set's file.
func (w *world) secret(t testing.TB, set receipt.Set) string {
	t.Helper()
	var file struct{ Keys []json.RawMessage }
	must(t, json.Unmarshal(must2(t)(os.ReadFile(filepath.Join(string(w.dir), string(set)+".json"))).([]byte), &file))
	return string(file.Keys[0])
}

// parts cuts a token into the texts of its header and claims, and its signature.
func parts(t testing.TB, token string) (header, claims string, signature []byte) {
	t.Helper()
	s := strings.Split(token, ".")
	if len(s) != 3 {
		t.Fatalf("%d segments", len(s))
	}
	decode := func(s string) []byte { return must2(t)(base64.RawURLEncoding.DecodeString(s)).([]byte) }
	return string(decode(s[0])), string(decode(s[1])), decode(s[2])
}

// forge signs any header and claims with a private JWK, as its holder could.
func forge(t testing.TB, header, claims, jwk string) string {
	t.Helper()
	var k struct{ Kty, D, K, X, Y string }
	must(t, json.Unmarshal([]byte(jwk), &k))
	input := b64([]byte(header)) + "." + b64([]byte(claims))
	decode := func(s string) []byte { return must2(t)(base64.RawURLEncoding.DecodeString(s)).([]byte) }
	var signature []byte
	switch k.Kty {
	case "oct":
		signature = mac(decode(k.K), input)
	case "OKP":
		signature = ed25519.Sign(ed25519.NewKeyFromSeed(decode(k.D)), []byte(input))
	case "EC":
		private := must2(t)(ecdsa.ParseRawPrivateKey(elliptic.P256(), decode(k.D))).(*ecdsa.PrivateKey)
		sum := sha256.Sum256([]byte(input))
		der := must2(t)(private.Sign(nil, sum[:], crypto.SHA256)).([]byte) // without randomness (RFC 6979)
		var point struct{ R, S *big.Int }
		_, err := asn1.Unmarshal(der, &point)
		must(t, err)
		signature = make([]byte, 64)
		point.R.FillBytes(signature[:32])
		point.S.FillBytes(signature[32:])
	}
	return input + "." + b64(signature)
}

func mac(key []byte, input string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(input))
	return m.Sum(nil)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// reasonOf is the reason of an error, 0 of none.
func reasonOf(t testing.TB, err error) receipt.Reason {
	t.Helper()
	var e *receipt.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%T is not a *receipt.Error: %v", err, err)
	}
	if e == nil {
		return 0
	}
	return e.Reason
}

func want(t testing.TB, err error, reason receipt.Reason) {
	t.Helper()
	if got := reasonOf(t, err); got != reason {
		t.Errorf("%v: reason %q, want %q", err, got, reason)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must2(t testing.TB) func(any, error) any {
	return func(v any, err error) any {
		t.Helper()
		must(t, err)
		return v
	}
}
