package receipt_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/receipt"
)

// Sizes, at the verifier and at the signer.
func TestSizes(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		long := k.token + strings.Repeat("A", k.kind.MaxBytes()-len(k.token))
		if got := reasonOf(t, k.verify(long, now)); got != receipt.BadSignature && got != receipt.Malformed {
			t.Errorf("%s of the largest size: %q", k.name, got)
		}
		want(t, k.verify(long+"A", now), receipt.TooLarge)
	}
	c := aReceipt()
	c.Facts = json.RawMessage(`"` + strings.Repeat("a", receipt.MaxFacts-2) + `"`)
	token, err := w.keys.SignReceipt(c)
	must(t, err)
	out, err := w.keys.VerifyReceipt(token, receiptExpect(now))
	must(t, err)
	if !bytes.Equal(out.Facts, c.Facts) {
		t.Error("the largest facts differ")
	}
	for _, bad := range []string{" 1", "1 ", "1,", `{"a":1,"a":2}`, "\"\xff\"", "{", "nul", "\ufeff1"} {
		c.Facts = json.RawMessage(bad)
		_, err = w.keys.SignReceipt(c)
		want(t, err, receipt.Malformed)
	}
	c.Facts = json.RawMessage(`"` + strings.Repeat("a", receipt.MaxFacts-1) + `"`)
	_, err = w.keys.SignReceipt(c)
	want(t, err, receipt.TooLarge)
	ch := aChallenge()
	ch.Arguments = json.RawMessage(`"` + strings.Repeat("a", receipt.MaxArguments-2) + `"`)
	token, err = w.challenge(ch)
	must(t, err)
	if shown, err := w.openChallenge(token, challengeExpect(now)); err != nil || !bytes.Equal(shown.Arguments, ch.Arguments) {
		t.Errorf("the largest arguments: %v", err)
	}
	ch.Arguments = json.RawMessage(`"` + strings.Repeat("a", receipt.MaxArguments-1) + `"`)
	_, err = w.challenge(ch)
	want(t, err, receipt.TooLarge)
}
