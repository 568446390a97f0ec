package receipt_test

import (
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/hallmark-gate/hallmark/receipt"
)

// BenchmarkReceipt signs and verifies one, by each algorithm.
func BenchmarkReceipt(b *testing.B) {
	w := newWorld(b)
	for _, signed := range []bool{false, true} {
		name := map[bool]string{false: "HS256", true: "EdDSA"}[signed]
		c := aReceipt()
		c.Signed = signed
		token, err := w.keys.SignReceipt(c)
		must(b, err)
		b.Run("sign/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.keys.SignReceipt(c); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("verify/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.keys.VerifyReceipt(token, receiptExpect(now)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGoJose does with go-jose the part of HS256 that it can: no claims are read.
func BenchmarkGoJose(b *testing.B) {
	w := newWorld(b)
	k := w.kinds(b)[0]
	var key jose.JSONWebKey
	must(b, key.UnmarshalJSON([]byte(k.secret)))
	_, claims, _ := parts(b, k.token)
	options := (&jose.SignerOptions{}).WithType(jose.ContentType(receipt.ReceiptKind.Type())).WithHeader("kid", key.KeyID)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: key.Key}, options)
	must(b, err)
	b.Run("sign/HS256", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			signed, err := signer.Sign([]byte(claims))
			must(b, err)
			if _, err := signed.CompactSerialize(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify/HS256", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			parsed, err := jose.ParseSignedCompact(k.token, []jose.SignatureAlgorithm{jose.HS256})
			must(b, err)
			if _, err := parsed.Verify(key.Key); err != nil {
				b.Fatal(err)
			}
		}
	})
}
