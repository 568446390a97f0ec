package receipt_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/receipt"
)

// own seeds a fuzzer with a kind's tokens and holds it to them: nothing else verifies.
func own(f *testing.F, kind receipt.Kind) {
	w := fixedWorld(f)
	var judges []kindCase
	mine := make(map[string]bool)
	for _, k := range w.kinds(f) {
		header, claims, _ := parts(f, k.token)
		k.token = forge(f, header, claims, k.secret) // the same in every process, for ES256 too
		must(f, k.verify(k.token, now))
		f.Add(k.token)
		f.Add(forge(f, strings.Replace(header, `"alg"`, `"zip":1,"alg"`, 1), claims, k.secret))
		if k.kind == kind {
			judges = append(judges, k)
			mine[k.token] = true
		}
	}
	f.Add("")
	f.Add("..")
	f.Add(strings.Repeat("A", 100) + "." + strings.Repeat("_", 9000) + ".")
	f.Fuzz(func(t *testing.T, token string) {
		for _, k := range judges {
			err := k.verify(token, now)
			if (err == nil) != mine[token] {
				t.Errorf("%q: %v", token, err)
			}
		}
	})
}

func FuzzReceipt(f *testing.F)   { own(f, receipt.ReceiptKind) }
func FuzzPermit(f *testing.F)    { own(f, receipt.PermitKind) }
func FuzzChallenge(f *testing.F) { own(f, receipt.ChallengeKind) }
func FuzzApproval(f *testing.F)  { own(f, receipt.ApprovalKind) }
func FuzzGrant(f *testing.F)     { own(f, receipt.GrantKind) }

// FuzzSigned lets the holder of each key sign anything: whatever verifies is JSON to
// encoding/json too, and says there what it said to us.
func FuzzSigned(f *testing.F) {
	w := fixedWorld(f)
	kinds := w.kinds(f)
	for i, k := range kinds {
		header, claims, _ := parts(f, k.token)
		f.Add(i, header, claims)
		f.Add(i, header, strings.Replace(claims, "example", `\u0065x\ud83d\ude00ample`, 1))
		f.Add(i, header, strings.Replace(claims, ":1", ":1.0e0", 1))
	}
	f.Fuzz(func(t *testing.T, i int, header, claims string) {
		if i < 0 || i >= len(kinds) || len(claims) > 40000 {
			return
		}
		k := kinds[i]
		token := forge(t, header, claims, k.secret)
		if k.verify(token, now) != nil {
			return
		}
		if !utf8.ValidString(header+claims) || !json.Valid([]byte(header)) || !json.Valid([]byte(claims)) {
			t.Fatalf("%q %q", header, claims)
		}
		var h struct{ Alg, Typ, Kid string }
		must(t, json.Unmarshal([]byte(header), &h))
		if h.Typ != k.kind.Type() || h.Kid != kidOf(t, k.token) {
			t.Errorf("%q", header)
		}
		if k.kind != receipt.ReceiptKind {
			return
		}
		c, err := w.keys.VerifyReceipt(token, receiptExpect(now))
		must(t, err)
		var other struct {
			Tool string          `json:"tool"`
			Ver  uint32          `json:"ver"`
			Data json.RawMessage `json:"data"`
		}
		must(t, json.Unmarshal([]byte(claims), &other))
		if other.Tool != c.Tool || other.Ver != c.Version || string(other.Data) != string(c.Facts) {
			t.Errorf("%+v\n%+v", other, c)
		}
	})
}

// FuzzKeys reads any set of keys: it never panics, and what is read never holds secrets.
func FuzzKeys(f *testing.F) {
	w := fixedWorld(f)
	f.Add(w.keys.Public(now))
	f.Add(w.jwks[approver])
	f.Add(w.jwks[issuer])
	f.Add(w.private[approver])
	f.Fuzz(func(t *testing.T, set []byte) {
		_, err1 := receipt.ParseApprovers(set)
		_, err2 := receipt.ParseIssuers(map[string][]byte{issuer: set})
		_, err3 := receipt.ParsePermitKeys(set)
		if (err1 == nil || err2 == nil || err3 == nil) && !json.Valid(set) {
			t.Errorf("%q", set)
		}
		if s, err := receipt.ParseSigner(set); err == nil && s.Owner() == "" {
			t.Error("no owner")
		}
	})
}
