package receipt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/internal/base64url"
)

// Published vectors, against the keys as they are loaded from a JWK.
func TestVectors(t *testing.T) {
	for _, row := range []struct {
		name, jwk, input, signature string
		again                       bool // signing is deterministic: it must give the same
	}{
		{
			"RFC 7520 section 4.4, HS256",
			`{"kty":"oct","kid":"018c0ae5-4d9b-471b-bfd6-eef314bc7037","use":"sig","alg":"HS256","k":"hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg"}`,
			"eyJhbGciOiJIUzI1NiIsImtpZCI6IjAxOGMwYWU1LTRkOWItNDcxYi1iZmQ2LWVlZjMxNGJjNzAzNyJ9.SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4",
			"s0h6KThzkfBBBkLspW1h84VsJZFTsPPqMDA7g1Md7p0", true,
		},
		{
			"RFC 7515 appendix A.3, ES256",
			`{"kty":"EC","crv":"P-256","kid":"a3","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}`,
			"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
			"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q", false,
		},
		{
			"RFC 8037 appendix A.4, EdDSA",
			`{"kty":"OKP","crv":"Ed25519","kid":"a4","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`,
			"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
			"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg", true,
		},
	} {
		var j jwk
		if reason, place := readObject([]byte(row.jwk), j.fields()); reason != 0 {
			t.Fatalf("%s: %v at %s", row.name, reason, place)
		}
		k, fault := j.load()
		if fault != "" {
			t.Fatalf("%s: %s", row.name, fault)
		}
		signature, ok := base64url.Decode(row.signature)
		if !ok || !k.verify([]byte(row.input), signature) {
			t.Errorf("%s does not verify", row.name)
		}
		if k.verify([]byte(row.input+"A"), signature) {
			t.Errorf("%s verifies for another input", row.name)
		}
		made, err := k.sign([]byte(row.input))
		if err != nil || row.again != bytes.Equal(made, signature) || !k.verify([]byte(row.input), made) {
			t.Errorf("%s: signing again: %v", row.name, err)
		}
	}
}

// RFC 8037 appendix A.3, and the P-256 thumbprint of the key of RFC 7515 appendix A.3 as
// two other implementations compute it.
func TestThumbprint(t *testing.T) {
	for _, row := range []struct{ jwk, thumbprint string }{
		{`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"},
		{`{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","kid":"another","use":"sig"}`, "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"},
	} {
		var j jwk
		if reason, place := readObject([]byte(row.jwk), j.fields()); reason != 0 {
			t.Fatal(reason, place)
		}
		if got := j.thumbprint(); got != row.thumbprint {
			t.Errorf("%s: %s", row.thumbprint, got)
		}
	}
}

// Keys that are refused, and the member that is at fault.
func TestUnusableKeys(t *testing.T) {
	const (
		x  = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
		d  = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
		ex = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
		ey = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
	)
	long := strings.Repeat("A", 43)
	for _, row := range []struct{ jwk, fault string }{
		{`{"kid":"a","kty":"oct","k":"` + x + `"}`, ""},
		{`{"kid":"a","kty":"oct","k":"` + long[:42] + `"}`, "k"},
		{`{"kid":"a","kty":"oct","k":"` + x + x + `AA"}`, "k"},
		{`{"kid":"a","kty":"oct"}`, "k"},
		{`{"kid":"a","kty":"oct","k":"` + x + `","alg":"HS512"}`, "alg"},
		{`{"kid":"a","kty":"oct","k":"` + x + `","d":"` + x + `"}`, "d"},
		{`{"kid":"a","kty":"oct","k":"` + x + `","x":"` + x + `"}`, "x"},
		{`{"kty":"oct","k":"` + x + `"}`, "kid"},
		{`{"kid":"a","kty":"oct","k":"` + x + `","use":"enc"}`, "use"},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"` + x + `"}`, ""},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"` + x + `","d":"` + d + `"}`, ""},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"` + x + `","d":"` + x + `"}`, "d"},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"` + x + `","d":"AA"}`, "d"},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"AA"}`, "x"},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"` + x + `","y":"` + x + `"}`, "y"},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"` + x + `","k":"` + x + `"}`, "k"},
		{`{"kid":"a","kty":"OKP","crv":"Ed25519","x":"` + x + `","alg":"HS256"}`, "alg"},
		{`{"kid":"a","kty":"OKP","crv":"X25519","x":"` + x + `"}`, "crv"},
		{`{"kid":"a","kty":"EC","crv":"P-256","x":"` + ex + `","y":"` + ey + `"}`, ""},
		{`{"kid":"a","kty":"EC","crv":"P-256","x":"` + ey + `","y":"` + ex + `"}`, "x"}, // not on the curve
		{`{"kid":"a","kty":"EC","crv":"P-256","x":"` + long + `","y":"` + long + `"}`, "x"},
		{`{"kid":"a","kty":"EC","crv":"P-256","x":"` + ex + `"}`, "x"},
		{`{"kid":"a","kty":"EC","crv":"P-256","x":"` + ex + `","y":"` + ey + `","d":"` + x + `"}`, "d"},
		{`{"kid":"a","kty":"EC","crv":"P-256","x":"` + ex + `","y":"` + ey + `","k":"` + x + `"}`, "k"},
		{`{"kid":"a","kty":"EC","crv":"P-256","x":"` + ex + `","y":"` + ey + `","alg":"ES384"}`, "alg"},
		{`{"kid":"a","kty":"EC","crv":"P-384","x":"` + ex + `","y":"` + ey + `"}`, "crv"},
		{`{"kid":"a","kty":"RSA"}`, "kty"},
		{`{"kid":"a","kty":"okp","crv":"Ed25519","x":"` + x + `"}`, "kty"},
	} {
		var j jwk
		if reason, place := readObject([]byte(row.jwk), j.fields()); reason != 0 {
			t.Fatal(row.jwk, reason, place)
		}
		if _, fault := j.load(); fault != row.fault {
			t.Errorf("%s: %q, want %q", row.jwk, fault, row.fault)
		}
	}
}
