package receipt_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/hallmark-gate/hallmark/receipt"
)

// MAC keys and private halves are never published, and nothing prints them.
func TestSecretsStaySecret(t *testing.T) {
	w := newWorld(t)
	var secrets []string
	for _, set := range receipt.Sets() {
		var k struct{ D, K string }
		must(t, json.Unmarshal([]byte(w.secret(t, set)), &k))
		secrets = append(secrets, k.D+k.K, string(bytesOf(k.D+k.K)), fmt.Sprint(bytesOf(k.D + k.K))[1:20], fmt.Sprintf("%x", bytesOf(k.D+k.K)))
	}
	var a struct{ D string }
	must(t, json.Unmarshal(w.private[approver], &a))
	secrets = append(secrets, a.D, string(bytesOf(a.D)), fmt.Sprint(bytesOf(a.D))[1:20], fmt.Sprintf("%x", bytesOf(a.D)))
	hides := func(name, text string) {
		t.Helper()
		for _, s := range secrets {
			if strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
				t.Errorf("%s shows a secret", name)
			}
		}
	}
	public := string(w.keys.Public(now))
	hides("Public", public)
	if strings.Contains(public, "oct") || strings.Contains(public, "HS256") || strings.Contains(public, `"d"`) {
		t.Error(public)
	}
	type holder struct {
		Keys   *receipt.KeySet
		copied receipt.KeySet
		Signer *receipt.Signer
		signer receipt.Signer
	}
	h := holder{w.keys, *w.keys, w.approver, *w.approver}
	for _, v := range []any{w.keys, *w.keys, h, &h, w.approver, *w.approver, []any{w.keys}, map[string]any{"k": *w.keys}, w.approvers, w.issuers} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			hides(verb, fmt.Sprintf(verb, v))
		}
		if text, err := json.Marshal(v); err == nil {
			hides("json", string(text))
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		hides("slog", log.String())
	}
}

// The published set, member by member.
func TestPublic(t *testing.T) {
	w := newWorld(t)
	var set struct{ Keys []map[string]string }
	must(t, json.Unmarshal(w.keys.Public(now), &set))
	kinds := make(map[string]int)
	for _, k := range set.Keys {
		kinds[k["hallmark_kind"]]++
		if len(k) != 7 || k["kty"] != "OKP" || k["crv"] != "Ed25519" || k["alg"] != "EdDSA" || k["use"] != "sig" || len(k["x"]) != 43 || len(k["kid"]) != 43 {
			t.Errorf("%v", k)
		}
	}
	if fmt.Sprint(kinds) != "map[challenge:1 permit:1 receipt:1]" {
		t.Error(kinds)
	}
}

// One KeySet serves many.
func TestConcurrentUse(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, k := range w.kinds(t) {
				if err := k.verify(k.token, now); err != nil {
					t.Error(err)
				}
				w.keys.Public(now)
			}
		})
	}
	wg.Wait()
}
