package receipt_test

import (
	"crypto"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/hallmark-gate/hallmark/receipt"
)

// go-jose takes every token of ours under the key's algorithm, and finds the same kid,
// thumbprint and claims.
func TestGoJoseReadsOurs(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		var key jose.JSONWebKey
		must(t, key.UnmarshalJSON([]byte(k.secret)))
		alg := jose.EdDSA
		verifier := any(key.Public().Key)
		if secret, ok := key.Key.([]byte); ok {
			alg, verifier = jose.HS256, secret
		} else if k.name == "grant ES256" {
			alg = jose.ES256
		}
		parsed, err := jose.ParseSignedCompact(k.token, []jose.SignatureAlgorithm{alg})
		must(t, err)
		payload, err := parsed.Verify(verifier)
		must(t, err)
		if _, claims, _ := parts(t, k.token); string(payload) != claims {
			t.Errorf("%s: %s", k.name, payload)
		}
		if alg != jose.HS256 {
			sum, err := key.Thumbprint(crypto.SHA256)
			must(t, err)
			if got := b64(sum); got != parsed.Signatures[0].Header.KeyID {
				t.Errorf("%s: kid is not the thumbprint %s", k.name, got)
			}
		}
	}
	var set jose.JSONWebKeySet
	must(t, json.Unmarshal(w.keys.Public(now), &set))
	for _, k := range set.Keys {
		if !k.Valid() || !k.IsPublic() || k.Use != "sig" || k.Algorithm != "EdDSA" {
			t.Errorf("%+v", k)
		}
	}
}

// We take what go-jose signs, with its order of header members.
func TestWeReadGoJose(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		var key jose.JSONWebKey
		must(t, key.UnmarshalJSON([]byte(k.secret)))
		_, claims, _ := parts(t, k.token)
		key.KeyID = kidOf(t, k.token)
		alg := jose.EdDSA
		switch {
		case k.name == "receipt HS256":
			alg = jose.HS256
		case k.name == "grant ES256":
			alg = jose.ES256
		}
		options := (&jose.SignerOptions{}).WithType(jose.ContentType(k.kind.Type())).WithHeader("kid", key.KeyID)
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key.Key}, options)
		must(t, err)
		signed, err := signer.Sign([]byte(claims))
		must(t, err)
		token, err := signed.CompactSerialize()
		must(t, err)
		if err := k.verify(token, now); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
	}
}

// An issuer signs its grants as its ProtoJSON library writes the API's message Grant.
func TestGrantsOfOtherWriters(t *testing.T) {
	w := newWorld(t)
	token, err := w.issuer.SignGrant(aGrant())
	must(t, err)
	header, claims, _ := parts(t, token)
	before, _, _ := strings.Cut(claims, `"grants":`)
	for _, row := range []struct {
		name, grant string
		want        receipt.Grant
	}{
		{
			"lowerCamelCase",
			`{"id":"g1","tool":"mail_send","scopes":[{"name":"recipient","values":{"values":["ada@example.test"]}},{"name":"folder","any":true}],"notAfter":"2026-01-15T13:00:00.500Z","maxUses":2}`,
			receipt.Grant{ID: "g1", Tool: "mail_send", Scopes: []receipt.Scope{{Name: "recipient", Values: []string{"ada@example.test"}}, {Name: "folder", Any: true}}, NotAfter: now.Add(time.Hour + time.Second/2), MaxUses: 2},
		},
		{
			"names of the .proto file, values alone",
			`{"id":"g1","tool":"mail_send","scopes":[{"name":"recipient","values":["ada@example.test"]}],"not_after":"2026-01-15T13:00:00.000Z","unlimited_uses":true}`,
			receipt.Grant{ID: "g1", Tool: "mail_send", Scopes: []receipt.Scope{{Name: "recipient", Values: []string{"ada@example.test"}}}, NotAfter: now.Add(time.Hour), Unlimited: true},
		},
		{
			"lists of none",
			`{"id":"g1","tool":"mail_send","scopes":[{"name":"recipient","values":{}},{"name":"folder","values":{"values":[]}},{"name":"other","values":[]}],"notAfter":"2026-01-15T13:00:00Z","unlimitedUses":true}`,
			receipt.Grant{ID: "g1", Tool: "mail_send", Scopes: []receipt.Scope{{Name: "recipient"}, {Name: "folder"}, {Name: "other"}}, NotAfter: now.Add(time.Hour), Unlimited: true},
		},
		{
			"no scopes",
			`{"id":"g1","tool":"mail_send","notAfter":"2026-01-15T13:00:00Z","unlimitedUses":true}`,
			receipt.Grant{ID: "g1", Tool: "mail_send", NotAfter: now.Add(time.Hour), Unlimited: true},
		},
	} {
		got, err := w.issuers.Verify(forge(t, header, before+`"grants":[`+row.grant+`]}`, string(w.private[issuer])), grantExpect(now))
		if err != nil || len(got.Grants) != 1 || !reflect.DeepEqual(got.Grants[0], row.want) {
			t.Errorf("%s: %+v, %v", row.name, got.Grants, err)
		}
	}
}

// The recipe of a verifier in another language: a permit under the published keys.
const python = `
import base64, hashlib, json, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
d = lambda s: base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))
e = lambda b: base64.urlsafe_b64encode(b).rstrip(b"=").decode()
case = json.load(open(sys.argv[1], encoding="utf-8"))
head, body, signature = case["permit"].split(".")
header = json.loads(d(head))
assert header["typ"] == "hallmark-permit+jwt" and header["alg"] == "EdDSA", header
[key] = [k for k in case["jwks"]["keys"] if k["kid"] == header["kid"] and k["hallmark_kind"] == "permit"]
Ed25519PublicKey.from_public_bytes(d(key["x"])).verify(d(signature), (head + "." + body).encode())
claims = json.loads(d(body))
assert claims["args_sha256"] == hashlib.sha256(case["args"].encode()).hexdigest()
assert claims["aud"] == "mailer.example.test" and claims["exp"] - claims["iat"] == 60

# and an approval in return
key = json.loads(case["approver"])
head = e(json.dumps({"typ": "hallmark-approval+jwt", "alg": "EdDSA", "kid": key["kid"]}).encode())
body = e(json.dumps(case["approval"]).encode())
signature = Ed25519PrivateKey.from_private_bytes(d(key["d"])).sign((head + "." + body).encode())
print(head + "." + body + "." + e(signature))
`

// Another language checks a permit with the published keys and signs an approval that
// we take. // D6
func TestPython(t *testing.T) {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	if err := exec.Command(interpreter, "-c", "import cryptography").Run(); err != nil {
		t.Skip("python3 has no module cryptography")
	}
	w := newWorld(t)
	kinds := w.kinds(t)
	_, approval, _ := parts(t, kinds[4].token)
	content, err := json.Marshal(map[string]any{
		"permit": kinds[2].token, "jwks": json.RawMessage(w.keys.Public(now)), "args": args,
		"approver": string(w.private[approver]), "approval": json.RawMessage(approval),
	})
	must(t, err)
	path := filepath.Join(t.TempDir(), "case.json")
	must(t, os.WriteFile(path, content, 0o600))
	out, err := exec.Command(interpreter, "-c", python, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said, err := w.approvers.Verify(strings.TrimSpace(string(out)), approvalExpect(now))
	must(t, err)
	if !said.Approved || said.Approver != approver {
		t.Errorf("%+v", said)
	}
}

// An issuer's file may hold keys as other tools write them.
func TestForeignKeys(t *testing.T) {
	const (
		ed = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
		es = `{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}`
	)
	with := func(key, member string) string { return strings.TrimSuffix(key, "}") + "," + member + "}" }
	set := func(keys ...string) []byte { return []byte(`{"keys":[` + strings.Join(keys, ",") + `]}`) }
	secret := with(ed, `"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"`)
	mac := `{"kty":"oct","kid":"m","k":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	owned := func(key string) string { return with(key, `"owner":"`+approver+`"`) }
	for _, row := range []struct {
		name               string
		jwks               []byte
		issuers, approvers bool
		published          bool
	}{
		{"none", set(), true, true, true},
		{"without kid", set(ed, es), true, false, true},
		{"owned", set(owned(ed)), false, true, true},
		{"owned P-256", set(owned(es)), false, false, true},
		{"kid twice", set(with(ed, `"kid":"a"`), with(es, `"kid":"a"`)), false, false, true},
		{"owned kid twice", set(owned(ed), owned(ed)), false, false, true},
		{"a private key", set(secret), false, false, true},
		{"a private key owned", set(owned(secret)), false, false, true},
		{"a MAC key", set(mac), false, false, true},
		{"a member more", set(with(ed, `"key_ops":["verify"]`)), false, false, true},
		{"for encryption", set(with(owned(ed), `"use":"enc"`)), false, false, true},
		{"not JSON", []byte("keys"), false, false, false},
		{"permit", set(with(ed, `"hallmark_kind":"permit"`)), true, false, true},
		{"permit, later member", set(with(ed, `"hallmark_kind":"permit","later":{"a":[1]},"*":1`), `{"kty":"AKP","hallmark_kind":"permit","pub":"AA"}`), false, false, true},
		{"permit twice", set(with(ed, `"hallmark_kind":"permit"`), with(ed, `"hallmark_kind":"permit"`)), false, false, false},
		{"permit of a wrong size", set(`{"kty":"OKP","crv":"Ed25519","x":"AAAA","hallmark_kind":"permit"}`), false, false, false},
		{"private permit", set(with(secret, `"hallmark_kind":"permit"`)), false, false, false},
	} {
		_, err := receipt.ParseIssuers(map[string][]byte{issuer: row.jwks})
		if (err == nil) != row.issuers {
			t.Errorf("%s as issuers: %v", row.name, err)
		}
		_, err = receipt.ParseApprovers(row.jwks)
		if (err == nil) != row.approvers {
			t.Errorf("%s as approvers: %v", row.name, err)
		}
		_, err = receipt.ParsePermitKeys(row.jwks)
		if (err == nil) != row.published {
			t.Errorf("%s as published: %v", row.name, err)
		}
	}
	_, err := receipt.ParseIssuers(map[string][]byte{"": set(ed)})
	want(t, err, receipt.BadKeys)
	_, err = receipt.ParseIssuers(map[string][]byte{"a": set(ed), "b": set(ed)})
	want(t, err, receipt.BadKeys)
	for _, bad := range []string{ed, mac, secret, owned(ed), owned(mac), "", "[]", with(owned(secret), `"alg":"ES256"`)} {
		_, err := receipt.ParseSigner([]byte(bad))
		want(t, err, receipt.BadKeys)
	}
	_, err = receipt.ParseSigner([]byte(owned(secret)))
	must(t, err)
	_, _, err = receipt.NewSigner("", now)
	want(t, err, receipt.BadKeys)
}

// Keys of approvers end like others. not_after and revoked are the operator's to write.
func TestApproverKeysEnd(t *testing.T) {
	w := newWorld(t)
	token := w.kinds(t)[4].token
	for member, reason := range map[string]receipt.Reason{
		`"not_after":"2026-01-15T11:00:00Z"`:  receipt.ExpiredKey,
		`"not_after":"2026-01-15T12:00:01Z"`:  0,
		`"not_before":"2026-01-15T12:01:00Z"`: receipt.ExpiredKey,
		`"revoked":"2026-01-15T13:00:00Z"`:    receipt.RevokedKey,
	} {
		approvers, err := receipt.ParseApprovers([]byte(strings.Replace(string(w.jwks[approver]), "}", ","+member+"}", 1)))
		must(t, err)
		_, err = approvers.Verify(token, approvalExpect(now))
		want(t, err, reason)
	}
}
