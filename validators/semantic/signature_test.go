package semantic

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

// signers holds one key of each type, made once.
type signers struct {
	ed    ed25519.PrivateKey
	ec    *ecdsa.PrivateKey
	other ed25519.PrivateKey // in no key set
}

var makeSigners = sync.OnceValue(func() *signers {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	_, other, err2 := ed25519.GenerateKey(rand.Reader)
	ec, err3 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil || err2 != nil || err3 != nil {
		return nil
	}
	return &signers{ed, ec, other}
})

func signer(t testing.TB) *signers {
	t.Helper()
	s := makeSigners()
	if s == nil {
		t.Fatal("no keys could be made")
	}
	return s
}

func jwk(t testing.TB, key any, kid string) string {
	t.Helper()
	b, err := json.Marshal(jose.JSONWebKey{Key: key, KeyID: kid})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func publicKeys(t testing.TB) []byte {
	t.Helper()
	s := signer(t)
	return []byte(`{"keys":[` + jwk(t, s.ed.Public(), "ed") + `,` + jwk(t, s.ec.Public(), "ec") + `]}`)
}

const signatureWith = `{"field":"/sig","keys":"keys.json","issuers":["https://id.example.test"],"algorithms":["EdDSA","ES256"],"claims":{"sub":"/reviewed_by","chg":"/change_id"},"max_age":"5m"`

// check compiles the check under test; more is further parameters, with a comma.
func (s *signers) check(t testing.TB, more string) validators.Check {
	t.Helper()
	check, err := compile(t, "signature", validators.CheckContext{
		With: value(t, signatureWith+more+`}`), Files: map[string][]byte{"keys.json": publicKeys(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return check
}

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// sign makes a token by hand, so that it can be as wrong as a test wants.
func (s *signers) sign(t testing.TB, header, payload string, key any) string {
	t.Helper()
	input := b64(header) + "." + b64(payload)
	var sig []byte
	switch k := key.(type) {
	case ed25519.PrivateKey:
		sig = ed25519.Sign(k, []byte(input))
	case *ecdsa.PrivateKey:
		digest := sha256.Sum256([]byte(input))
		r, ss, err := ecdsa.Sign(rand.Reader, k, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		sig = append(r.FillBytes(make([]byte, 32)), ss.FillBytes(make([]byte, 32))...)
	case []byte:
		mac := hmac.New(sha256.New, k)
		mac.Write([]byte(input))
		sig = mac.Sum(nil)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(sig)
}

// der is a good ES256 token whose signature is written in ASN.1.
func (s *signers) der(t testing.TB) string {
	t.Helper()
	input := b64(ecHeader) + "." + b64(goodClaims)
	digest := sha256.Sum256([]byte(input))
	sig, err := ecdsa.SignASN1(rand.Reader, s.ec, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(sig)
}

const (
	edHeader = `{"alg":"EdDSA","kid":"ed"}`
	ecHeader = `{"alg":"ES256","kid":"ec","typ":"JWT"}`
	// noon is 1768478400.
	goodClaims = `{"iss":"https://id.example.test","sub":"ann@example.test","chg":"CR-7","iat":1768478395}`
)

func (s *signers) facts(t testing.TB, token string) validators.Facts {
	t.Helper()
	return validators.Facts{
		Result: value(t, `{"sig":`+quote(token)+`,"reviewed_by":"ann@example.test","change_id":"CR-7"}`), Now: noon,
	}
}

// A14: a signed identity has a valid signature from a permitted issuer.
func TestSignature(t *testing.T) {
	s := signer(t)
	check := s.check(t, "")
	edPublic := []byte(s.ed.Public().(ed25519.PublicKey))
	claims := func(old, fresh string) string { return strings.Replace(goodClaims, old, fresh, 1) }
	for _, row := range []struct {
		name, token string
		pass        bool
	}{
		{"EdDSA", s.sign(t, edHeader, goodClaims, s.ed), true},
		{"ES256", s.sign(t, ecHeader, goodClaims, s.ec), true},
		{"further claims", s.sign(t, edHeader, claims(`"iat"`, `"jti":"x","deep":{"a":[1]},"iat"`), s.ed), true},
		{"exp and nbf", s.sign(t, edHeader, claims(`"iat"`, `"exp":1768478401,"nbf":1768478400,"iat"`), s.ed), true},
		{"the oldest", s.sign(t, edHeader, claims(`1768478395`, `1768478100`), s.ed), true},
		{"issued now", s.sign(t, edHeader, claims(`1768478395`, `1768478400`), s.ed), true},
		{"too old", s.sign(t, edHeader, claims(`1768478395`, `1768478099`), s.ed), false},
		{"from the future", s.sign(t, edHeader, claims(`1768478395`, `1768478401`), s.ed), false},
		{"expires now", s.sign(t, edHeader, claims(`"iat"`, `"exp":1768478400,"iat"`), s.ed), false},
		{"exp is a string", s.sign(t, edHeader, claims(`"iat"`, `"exp":"1768478401","iat"`), s.ed), false},
		{"exp is null", s.sign(t, edHeader, claims(`"iat"`, `"exp":null,"iat"`), s.ed), false},
		{"not yet valid", s.sign(t, edHeader, claims(`"iat"`, `"nbf":1768478401,"iat"`), s.ed), false},
		{"no iat", s.sign(t, edHeader, claims(`,"iat":1768478395`, ``), s.ed), false},
		{"iat is a string", s.sign(t, edHeader, claims(`1768478395`, `"1768478395"`), s.ed), false},
		{"iat with a fraction", s.sign(t, edHeader, claims(`1768478395`, `1768478395.5`), s.ed), false},
		{"iat is huge", s.sign(t, edHeader, claims(`1768478395`, `9223372036854775807`), s.ed), false},
		{"another issuer", s.sign(t, edHeader, claims(`id.example`, `evil.example`), s.ed), false},
		{"no issuer", s.sign(t, edHeader, claims(`"iss":"https://id.example.test",`, ``), s.ed), false},
		{"issuers as a list", s.sign(t, edHeader, claims(`"https://id.example.test"`, `["https://id.example.test"]`), s.ed), false},
		{"another person", s.sign(t, edHeader, claims(`ann@`, `bob@`), s.ed), false},
		{"another change", s.sign(t, edHeader, claims(`CR-7`, `CR-8`), s.ed), false},
		{"a claim is missing", s.sign(t, edHeader, claims(`"chg":"CR-7",`, ``), s.ed), false},
		{"duplicate claim", s.sign(t, edHeader, claims(`"iat"`, `"sub":"bob@example.test","iat"`), s.ed), false},
		{"duplicate claim, escaped", s.sign(t, edHeader, claims(`"iat"`, `"\u0073ub":"bob@example.test","iat"`), s.ed), false},
		{"claims are a list", s.sign(t, edHeader, `[`+goodClaims+`]`, s.ed), false},
		{"claims with trailing data", s.sign(t, edHeader, goodClaims+`{}`, s.ed), false},
		{"swapped keys", s.sign(t, `{"alg":"EdDSA","kid":"ec"}`, goodClaims, s.ed), false},
		{"swapped kids", s.sign(t, `{"alg":"ES256","kid":"ed"}`, goodClaims, s.ec), false},
		{"a key of nobody", s.sign(t, edHeader, goodClaims, s.other), false},
		{"no kid", s.sign(t, `{"alg":"EdDSA"}`, goodClaims, s.ed), false},
		{"empty kid", s.sign(t, `{"alg":"EdDSA","kid":""}`, goodClaims, s.ed), false},
		{"unknown kid", s.sign(t, `{"alg":"EdDSA","kid":"../ed"}`, goodClaims, s.ed), false},
		{"duplicate kid", s.sign(t, `{"alg":"EdDSA","kid":"no","kid":"ed"}`, goodClaims, s.ed), false},
		{"no alg", s.sign(t, `{"kid":"ed"}`, goodClaims, s.ed), false},
		{"none", b64(`{"alg":"none","kid":"ed"}`) + "." + b64(goodClaims) + ".", false},
		{"none with a signature", s.sign(t, `{"alg":"none","kid":"ed"}`, goodClaims, s.ed), false},
		{"HS256 with the public key", s.sign(t, `{"alg":"HS256","kid":"ed"}`, goodClaims, edPublic), false},
		{"alg in another case", s.sign(t, `{"alg":"eddsa","kid":"ed"}`, goodClaims, s.ed), false},
		{"jwk", s.sign(t, `{"alg":"EdDSA","kid":"ed","jwk":`+jwk(t, s.other.Public(), "ed")+`}`, goodClaims, s.other), false},
		{"jwk beside a good signature", s.sign(t, `{"alg":"EdDSA","kid":"ed","jwk":`+jwk(t, s.ed.Public(), "ed")+`}`, goodClaims, s.ed), false},
		{"jku", s.sign(t, `{"alg":"EdDSA","kid":"ed","jku":"https://evil.example.test"}`, goodClaims, s.ed), false},
		{"x5u", s.sign(t, `{"alg":"EdDSA","kid":"ed","x5u":"https://evil.example.test"}`, goodClaims, s.ed), false},
		{"x5c", s.sign(t, `{"alg":"EdDSA","kid":"ed","x5c":[]}`, goodClaims, s.ed), false},
		{"crit", s.sign(t, `{"alg":"EdDSA","kid":"ed","crit":["exp"]}`, goodClaims, s.ed), false},
		{"b64", s.sign(t, `{"alg":"EdDSA","kid":"ed","b64":true}`, goodClaims, s.ed), false},
		{"zip", s.sign(t, `{"alg":"EdDSA","kid":"ed","zip":"DEF"}`, goodClaims, s.ed), false},
		{"header is a list", s.sign(t, `[]`, goodClaims, s.ed), false},
		{"DER signature", s.der(t), false},
		{"empty", "", false},
		{"dots", "..", false},
		{"four parts", s.sign(t, edHeader, goodClaims, s.ed) + ".e30", false},
		{"padding", s.sign(t, edHeader, goodClaims, s.ed) + "==", false},
		{"a line break inside", "\n" + s.sign(t, edHeader, goodClaims, s.ed), false},
		{"white space behind", s.sign(t, edHeader, goodClaims, s.ed) + " ", false},
		{"too long", s.sign(t, edHeader, claims(`"iat"`, `"x":"`+strings.Repeat("x", maxToken)+`","iat"`), s.ed), false},
		{"JSON serialisation", `{"payload":"e30","signatures":[]}`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			token := strings.ReplaceAll(row.token, "\n", `\n`)
			facts := s.facts(t, strings.ReplaceAll(token, `\n`, ""))
			if token != row.token { // the line break has to get through the test's own quoting
				facts.Result = value(t, `{"sig":"`+token+`","reviewed_by":"ann@example.test","change_id":"CR-7"}`)
			}
			reason := contract.ReasonSignature
			if row.pass {
				reason = ""
			}
			expect(t, check.Check(facts), reason, "/sig")
		})
	}
}

func TestSignatureSkewIsAskedFor(t *testing.T) {
	s := signer(t)
	token := s.sign(t, edHeader, strings.Replace(goodClaims, "1768478395", "1768478430", 1), s.ed)
	expect(t, s.check(t, "").Check(s.facts(t, token)), contract.ReasonSignature, "/sig")
	expect(t, s.check(t, `,"max_skew":"30s"`).Check(s.facts(t, token)), "", "")
	expect(t, s.check(t, `,"max_skew":"29s"`).Check(s.facts(t, token)), contract.ReasonSignature, "/sig")
}

// TestSignatureBindsMembers: what the payload says must be what was signed, type included.
func TestSignatureBindsMembers(t *testing.T) {
	s := signer(t)
	token := s.sign(t, edHeader, goodClaims, s.ed)
	for _, result := range []string{
		`{"sig":"` + token + `","reviewed_by":"bob@example.test","change_id":"CR-7"}`,
		`{"sig":"` + token + `","reviewed_by":"ann@example.test","change_id":"CR-8"}`,
		`{"sig":"` + token + `","reviewed_by":"ann@example.test"}`,
		`{"sig":"` + token + `","reviewed_by":["ann@example.test"],"change_id":"CR-7"}`,
		`{"sig":["` + token + `"],"reviewed_by":"ann@example.test","change_id":"CR-7"}`,
		`{"reviewed_by":"ann@example.test","change_id":"CR-7"}`,
	} {
		f := validators.Facts{Result: value(t, result), Now: noon}
		expect(t, s.check(t, "").Check(f), contract.ReasonSignature, "/sig")
	}
	f := s.facts(t, token)
	f.Now = time.Time{}
	expect(t, s.check(t, "").Check(f), contract.ReasonSignature, "/sig")
}

// TestSignatureTampered changes every byte of good tokens in several ways.
func TestSignatureTampered(t *testing.T) {
	s := signer(t)
	check := s.check(t, "")
	for _, token := range []string{s.sign(t, edHeader, goodClaims, s.ed), s.sign(t, ecHeader, goodClaims, s.ec)} {
		expect(t, check.Check(s.facts(t, token)), "", "")
		for i := range token {
			for _, c := range []byte{'A', 'B', '_', '.', '=', token[i] ^ 1, token[i] ^ 0x20} {
				if c == token[i] || c < ' ' || c == '"' || c == '\\' || c > '~' {
					continue
				}
				changed := token[:i] + string(c) + token[i+1:]
				if check.Check(s.facts(t, changed)) == nil {
					t.Fatalf("byte %d as %q passes", i, c)
				}
			}
			if check.Check(s.facts(t, token[:i]+token[i+1:])) == nil {
				t.Fatalf("without byte %d it passes", i)
			}
		}
	}
}

func TestKeyFiles(t *testing.T) {
	s := signer(t)
	ed, ec := jwk(t, s.ed.Public(), "ed"), jwk(t, s.ec.Public(), "ec")
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	with := func(key, more string) string { return `{"keys":[` + strings.TrimSuffix(key, "}") + more + `}]}` }
	for name, file := range map[string]string{
		"empty":              ``,
		"no object":          `[]`,
		"no keys":            `{"keys":[]}`,
		"keys is an object":  `{"keys":{}}`,
		"more than keys":     `{"keys":[` + ed + `],"x":1}`,
		"duplicate keys":     `{"keys":[` + ed + `],"keys":[` + ed + `]}`,
		"repeated kid":       `{"keys":[` + ed + `,` + ed + `]}`,
		"no kid":             `{"keys":[` + jwk(t, s.ed.Public(), "") + `]}`,
		"private Ed25519":    `{"keys":[` + jwk(t, s.ed, "ed") + `]}`,
		"private P-256":      `{"keys":[` + jwk(t, s.ec, "ec") + `]}`,
		"symmetric":          `{"keys":[{"kty":"oct","kid":"k","k":"AAAA"}]}`,
		"P-384":              `{"keys":[` + jwk(t, p384.Public(), "x") + `]}`,
		"alg of another":     with(ed, `,"alg":"ES256"`),
		"alg HS256":          with(ec, `,"alg":"HS256"`),
		"for encryption":     with(ed, `,"use":"enc"`),
		"x5u":                with(ec, `,"x5u":"https://x.example.test"`),
		"not on the curve":   `{"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":"AAAA","y":"AAAA"}]}`,
		"short Ed25519":      `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"AAAA"}]}`,
		"key is no object":   `{"keys":["x"]}`,
		"duplicate in a key": with(ed, `,"kid":"other"`),
	} {
		if keys, fault := readKeys([]byte(file), []string{"EdDSA", "ES256"}); fault == "" || keys != nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, file := range map[string]string{
		"both": `{"keys":[` + ed + `,` + ec + `]}`, "alg": with(ed, `,"alg":"EdDSA","use":"sig"`), "alg EC": with(ec, `,"alg":"ES256"`),
	} {
		if _, fault := readKeys([]byte(file), []string{"EdDSA", "ES256"}); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	s := signer(t)
	check := s.check(t, "")
	f := s.facts(t, s.sign(t, edHeader, goodClaims, s.ed))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if check.Check(f) != nil {
					t.Error("refused")
				}
			}
		})
	}
	wg.Wait()
}

// FuzzSignature: nothing but the tokens that were signed passes.
func FuzzSignature(f *testing.F) {
	s := signer(f)
	check := s.check(f, "")
	good := map[string]bool{}
	for _, token := range []string{s.sign(f, edHeader, goodClaims, s.ed), s.sign(f, ecHeader, goodClaims, s.ec)} {
		good[token] = true
		f.Add(token)
	}
	f.Add("..")
	f.Add(b64(`{"alg":"none","kid":"ed"}`) + "." + b64(goodClaims) + ".")
	f.Fuzz(func(t *testing.T, token string) {
		quoted, err := json.Marshal(token)
		if err != nil {
			return
		}
		facts := validators.Facts{Result: value(t, `{"sig":`+string(quoted)+`,"reviewed_by":"ann@example.test","change_id":"CR-7"}`), Now: noon}
		if check.Check(facts) == nil && !good[token] {
			t.Fatalf("%q passes", token)
		}
	})
}
