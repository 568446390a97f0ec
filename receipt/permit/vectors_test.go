package permit_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt/permit"
)

var update = flag.Bool("update", false, "write the file of permits that the clients in all languages read")

// permitsFile is what every recipe of an executor is held against.
const permitsFile = "../../clients/permits.json"

// vectors are that file; clients/README.md says what its members mean.
type vectors struct {
	JWKS      json.RawMessage `json:"jwks"`
	Now       int64           `json:"now"`
	Arguments string          `json:"arguments"`
	Expect    bound           `json:"expect"`
	Permits   []vector        `json:"permits"`
}

type bound struct {
	Issuer      string   `json:"iss"`
	Tenant      string   `json:"ten"`
	Audience    string   `json:"aud"`
	Tool        string   `json:"tool"`
	Version     uint32   `json:"ver"`
	Principal   string   `json:"principal"`
	Obligations []string `json:"obligations"`
}

type vector struct {
	Name      string  `json:"name"`
	Taken     bool    `json:"taken"`
	Now       *int64  `json:"now,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Token     string  `json:"token"`
}

const (
	start      = 1_800_000_000
	bytesToRun = `{"run_id":"run_A1b2C3d4E5f6"}`
	goodHeader = `{"alg":"EdDSA","typ":"hallmark-permit+jwt","kid":"k1"}`
	goodClaims = `{"iss":"gate.example.test","iat":1800000000,"exp":1800000060,"jti":"p1","ten":"acme","sid":"s",` +
		`"tool":"job_restart","ver":1,"req":"req.A1b2C3d4","principal":"ana","dec":"d1",` +
		`"args_sha256":"51fac5ebd4f8ee7d0cd4a9e8d2b2c9a0","aud":"ci","obl":["no-redirects"]}`
)

// The keys are nobody's: they are here for everyone to read.
var (
	permitKey    = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	challengeKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
)

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func claimsText() string {
	sum := sha256.Sum256([]byte(bytesToRun))
	return strings.Replace(goodClaims, "51fac5ebd4f8ee7d0cd4a9e8d2b2c9a0", fmt.Sprintf("%x", sum), 1)
}

// signedBy makes a token of any two texts.
func signedBy(key ed25519.PrivateKey, header, claims string) string {
	input := encoded([]byte(header)) + "." + encoded([]byte(claims))
	return input + "." + encoded(ed25519.Sign(key, []byte(input)))
}

// collection gathers vectors.
type collection struct{ rows []vector }

func (c *collection) refused(name, token string) {
	c.rows = append(c.rows, vector{Name: name, Token: token})
}

func (c *collection) taken(name, token string) {
	c.rows = append(c.rows, vector{Name: name, Token: token, Taken: true})
}

// at and with change the circumstances of the last one.
func (c *collection) at(now int64) { c.rows[len(c.rows)-1].Now = &now }

func (c *collection) with(arguments string) { c.rows[len(c.rows)-1].Arguments = &arguments }

// header is a permit with another header, claim one with a claim in other words; "" leaves
// the member out.
func (c *collection) header(name, old, replacement string) {
	header := replace(goodHeader, old, replacement)
	c.refused("header: "+name, signedBy(permitKey, header, claimsText()))
}

func (c *collection) claim(name, old, replacement string) {
	c.refused("claim: "+name, signedBy(permitKey, goodHeader, replace(claimsText(), old, replacement)))
}

func replace(text, old, replacement string) string {
	changed := strings.Replace(text, old, replacement, 1)
	if changed == text {
		panic("nothing is " + old)
	}
	return changed
}

func (c *collection) good() {
	token := signedBy(permitKey, goodHeader, claimsText())
	c.taken("as it was issued", token)
	c.taken("five seconds early", token)
	c.at(start - 5)
	c.taken("in the last second", token)
	c.at(start + 64)
	c.taken("without obligations", signedBy(permitKey, goodHeader, replace(claimsText(), `["no-redirects"]`, `[]`)))
	c.taken("header in another order", signedBy(permitKey, `{"kid":"k1","typ":"hallmark-permit+jwt","alg":"EdDSA"}`, claimsText()))
	c.taken("of a second", signedBy(permitKey, goodHeader, replace(claimsText(), "1800000060", "1800000001")))
	c.refused("six seconds early", token)
	c.at(start - 6)
	c.refused("over", token)
	c.at(start + 65)
	c.refused("long over", token)
	c.at(start + 86400)
	for _, arguments := range []string{"", bytesToRun + " ", bytesToRun + "\n", `{"run_id":"run_A1b2C3d4E5f7"}`, `{"run_id": "run_A1b2C3d4E5f6"}`} {
		c.refused(fmt.Sprintf("for other bytes: %q", arguments), token)
		c.with(arguments)
	}
}

func (c *collection) headers() {
	for _, alg := range []string{`"none"`, `"None"`, `""`, `"HS256"`, `"ES256"`, `"eddsa"`, `"Ed25519"`, `null`, `["EdDSA"]`} {
		c.header("alg "+alg, `"EdDSA"`, alg)
	}
	for _, typ := range []string{"JWT", "hallmark-challenge+jwt", "hallmark-receipt+jwt", "application/hallmark-permit+jwt", "Hallmark-Permit+JWT", ""} {
		c.header(fmt.Sprintf("typ %q", typ), "hallmark-permit+jwt", typ)
	}
	for _, kid := range []string{`"k9"`, `""`, `"../k1"`, `"K1"`, `["k1"]`, `null`, `1`, `"constructor"`} {
		c.header("kid "+kid, `"k1"`, kid)
	}
	for _, member := range []string{`"jku":"https://evil.example.test/jwks.json"`, `"jwk":{"kty":"OKP"}`, `"x5u":""`, `"x5c":[]`, `"crit":[]`, `"crit":["exp"]`, `"b64":false`, `"zip":"DEF"`, `"cty":"JWT"`, `"kid":"k1"`, `"alg":"EdDSA"`} {
		c.header("with "+member, `"kid":"k1"`, `"kid":"k1",`+member)
	}
	c.header("without alg", `"alg":"EdDSA",`, "")
	c.header("without typ", `"typ":"hallmark-permit+jwt",`, "")
	c.header("without kid", `,"kid":"k1"`, "")
	for _, header := range []string{`null`, `[]`, `"EdDSA"`, `{}`, "", `["EdDSA","hallmark-permit+jwt","k1"]`, goodHeader + "x", goodHeader + "{}", "\ufeff" + goodHeader, "\xff"} {
		c.refused(fmt.Sprintf("header: %q", header), signedBy(permitKey, header, claimsText()))
	}
	c.refused("key of another kind", signedBy(challengeKey, replace(goodHeader, "k1", "k2"), claimsText()))
	c.refused("signed by another", signedBy(challengeKey, goodHeader, claimsText()))
}

func (c *collection) claims() {
	for _, name := range []string{"iss", "ten", "aud", "tool", "principal"} {
		text := between(claimsText(), `"`+name+`":"`, `"`)
		c.claim("other "+name, text, text+"x")
		c.claim("no "+name, text+",", "")
		c.claim(name+" in a list", text, strings.Replace(text, `:`, `:[`, 1)+"]")
		c.claim(name+" null", text, `"`+name+`":null`)
		c.claim(name+" twice", text, text+","+text)
	}
	digest := between(claimsText(), `"args_sha256":"`, `"`)
	c.claim("digest in capitals", digest, `"args_sha256":`+strings.ToUpper(strings.TrimPrefix(digest, `"args_sha256":`)))
	c.claim("no digest", digest+",", "")
	c.claim("no jti", `"jti":"p1",`, "")
	c.claim("jti empty", `"p1"`, `""`)
	c.claim("jti a number", `"p1"`, "1")
	for _, ver := range []string{`2`, `"1"`, `true`, `1.0`, `1.5`, `[1]`, `null`, `4294967297`} {
		c.claim("ver "+ver, `"ver":1`, `"ver":`+ver)
	}
	for _, exp := range []string{`"1800000060"`, `1800000060.5`, `1800000060.0`, `18e8`, `1e400`, `99999999999999999999`, `-1`, `null`, `[1800000060]`, `true`, `1800000061`, `1800003600`, `1800000000`, `1799999999`} {
		c.claim("exp "+exp, `"exp":1800000060`, `"exp":`+exp)
	}
	for _, iat := range []string{`"1800000000"`, `1800000000.5`, `-1`, `null`, `0`, `1799999999`, `1800000006`, `99999999999999999999`} {
		c.claim("iat "+iat, `"iat":1800000000`, `"iat":`+iat)
	}
	c.claim("no exp", `"exp":1800000060,`, "")
	c.claim("no iat", `"iat":1800000000,`, "")
	c.claim("exp twice", `"exp":1800000060`, `"exp":1800000060,"exp":1800000060`)
	for _, obl := range []string{`["open-beneath"]`, `["no-redirects","open-beneath"]`, `"no-redirects"`, `{"no-redirects":true}`, `[["no-redirects"]]`, `[1]`, `[null]`, `null`} {
		c.claim("obl "+obl, `["no-redirects"]`, obl)
	}
	c.claim("no obl", `,"obl":["no-redirects"]`, "")
	for _, claims := range []string{"null", "[]", "{}", "", "[" + claimsText() + "]", claimsText() + "}", "\ufeff" + claimsText()} {
		c.refused(fmt.Sprintf("claims: %.12q", claims), signedBy(permitKey, goodHeader, claims))
	}
}

// between is the part of a text from a beginning to the end that follows it.
func between(text, from, to string) string {
	i := strings.Index(text, from)
	j := strings.Index(text[i+len(from):], to)
	return text[i : i+len(from)+j+len(to)]
}

func (c *collection) forms() {
	token := signedBy(permitKey, goodHeader, claimsText())
	part := strings.Split(token, ".")
	head, body, tail := part[0], part[1], part[2]
	for i, form := range []string{"", ".", "..", head, head + "." + body, head + "." + body + ".", token + ".", "." + token, token + "." + tail, token + "==", token + "\n", " " + token, "Bearer " + token, head + ".." + tail} {
		c.refused(fmt.Sprintf("form %d, of %d parts", i+1, strings.Count(form, ".")+1), form)
	}
	c.refused("form: JSON", fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q}`, head, body, tail))
	c.refused("form: another alphabet", head+"."+body+"."+strings.NewReplacer("-", "+", "_", "/").Replace(tail))
	c.refused("form: padded header", head+"="+"."+body+"."+tail)
	c.refused("form: bits that no byte has", token[:len(token)-1]+string(token[len(token)-1]+1))
	c.refused("form: too long", signedBy(permitKey, goodHeader, replace(claimsText(), `"s"`, `"`+strings.Repeat("s", 9000)+`"`)))
	mac := hmac.New(sha256.New, permitKey.Public().(ed25519.PublicKey))
	input := encoded([]byte(replace(goodHeader, "EdDSA", "HS256"))) + "." + body
	mac.Write([]byte(input))
	c.refused("a MAC under the public key", input+"."+encoded(mac.Sum(nil)))
	c.refused("no algorithm, no signature", encoded([]byte(replace(goodHeader, "EdDSA", "none")))+"."+body+".")
	c.refused("the same signature, greater by the order of the group", head+"."+body+"."+encoded(malleated(tail)))
	c.refused("a signature of zeros", head+"."+body+"."+encoded(make([]byte, ed25519.SignatureSize)))
	c.refused("other claims under the signature", head+"."+encoded([]byte(replace(claimsText(), "ana", "eve")))+"."+tail)
}

// malleated adds the order of the group to S (RFC 8032 section 5.1.7 refuses that).
func malleated(tail string) []byte {
	signature, _ := base64.RawURLEncoding.DecodeString(tail)
	s := slices.Clone(signature[32:])
	slices.Reverse(s)
	order, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	order.Add(order, new(big.Int).Lsh(big.NewInt(1), 252))
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	return append(signature[:32:32], sum...)
}

func allVectors() vectors {
	jwk := func(kid string, key ed25519.PrivateKey, kind string) string {
		return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","kid":%q,"alg":"EdDSA","use":"sig","x":%q,"hallmark_kind":%q}`, kid, encoded(key.Public().(ed25519.PublicKey)), kind)
	}
	keys := []string{jwk("k1", permitKey, "permit"), jwk("k2", challengeKey, "challenge"), `{"kty":"AKP","kid":"k3","hallmark_kind":"permit","pub":"AA"}`}
	var c collection
	c.good()
	c.headers()
	c.claims()
	c.forms()
	return vectors{
		JWKS: json.RawMessage(`{"keys":[` + strings.Join(keys, ",") + `]}`), Now: start, Arguments: bytesToRun,
		Expect: bound{
			Issuer: "gate.example.test", Tenant: "acme", Audience: "ci", Tool: "job_restart", Version: 1, Principal: "ana",
			Obligations: []string{"no-redirects", "public-address"},
		},
		Permits: c.rows,
	}
}

// What every language takes and refuses, this package first. // D6
func TestPermitsOfAllLanguages(t *testing.T) {
	v := allVectors()
	keys, err := permit.ParseKeys(v.JWKS)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, row := range v.Permits {
		if names[row.Name] {
			t.Errorf("%s: stands here twice", row.Name)
		}
		names[row.Name] = true
		now, arguments := v.Now, v.Arguments
		if row.Now != nil {
			now = *row.Now
		}
		if row.Arguments != nil {
			arguments = *row.Arguments
		}
		_, err := permit.Verify(row.Token, keys, permit.Expect{
			Issuer: v.Expect.Issuer, Tenant: v.Expect.Tenant, Audience: v.Expect.Audience, Tool: v.Expect.Tool,
			Version: v.Expect.Version, Principal: v.Expect.Principal, Now: time.Unix(now, 0), KnownObligations: v.Expect.Obligations,
		}, []byte(arguments))
		if (err == nil) != row.Taken {
			t.Errorf("%s: %v", row.Name, err)
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(permitsFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if file, err := os.ReadFile(permitsFile); err != nil || !bytes.Equal(file, b.Bytes()) {
		t.Errorf("%s is not what is said here; go test ./receipt/permit -run AllLanguages -update (%v)", permitsFile, err)
	}
}
