package receipt_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// Headers signed by the right key that are refused all the same (RFC 8725 section 3).
func TestHeaders(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		good, claims, _ := parts(t, k.token)
		var h struct{ Alg, Typ, Kid string }
		must(t, json.Unmarshal([]byte(good), &h))
		with := func(member string) string { return strings.TrimSuffix(good, "}") + "," + member + "}" }
		for _, row := range []struct {
			name, header string
			reason       receipt.Reason
		}{
			{"as it is", good, 0},
			{"other order, white space", fmt.Sprintf(" {\n\t\"kid\" : %q , \"typ\":%q,\"alg\":%q}\r", h.Kid, h.Typ, h.Alg), 0},
			{"jku", with(`"jku":"https://keys.example.test/"`), receipt.HeaderRefused},
			{"jwk", with(`"jwk":{"kty":"oct","k":"AA"}`), receipt.HeaderRefused},
			{"x5u", with(`"x5u":"https://keys.example.test/"`), receipt.HeaderRefused},
			{"x5c", with(`"x5c":["AA"]`), receipt.HeaderRefused},
			{"x5t", with(`"x5t":"AA"`), receipt.HeaderRefused},
			{"x5t#S256", with(`"x5t#S256":"AA"`), receipt.HeaderRefused},
			{"crit", with(`"crit":["exp"]`), receipt.HeaderRefused},
			{"crit empty", with(`"crit":[]`), receipt.HeaderRefused},
			{"b64", with(`"b64":false`), receipt.HeaderRefused},
			{"b64 true", with(`"b64":true`), receipt.HeaderRefused},
			{"zip", with(`"zip":"DEF"`), receipt.HeaderRefused},
			{"cty", with(`"cty":"JWT"`), receipt.HeaderRefused},
			{"enc", with(`"enc":"A128GCM"`), receipt.HeaderRefused},
			{"unheard of", with(`"zzz":null`), receipt.HeaderRefused},
			{"case", strings.Replace(good, `"alg"`, `"ALG"`, 1), receipt.HeaderRefused},
			{"long s", strings.Replace(good, `"kid"`, `"K`+"\u0131"+`d"`, 1), receipt.HeaderRefused},
			{"alg twice", with(`"alg":"` + h.Alg + `"`), receipt.Malformed},
			{"kid twice, escaped", with(`"\u006bid":"` + h.Kid + `"`), receipt.Malformed},
			{"typ twice", with(`"typ":"` + h.Typ + `"`), receipt.Malformed},
			{"alg of a wrong type", strings.Replace(good, `"`+h.Alg+`"`, "1", 1), receipt.Malformed},
			{"kid null", strings.Replace(good, `"`+h.Kid+`"`, "null", 1), receipt.Malformed},
			{"typ list", strings.Replace(good, `"`+h.Typ+`"`, `["`+h.Typ+`"]`, 1), receipt.Malformed},
			{"no typ", strings.Replace(good, `"typ":"`+h.Typ+`",`, "", 1), receipt.WrongType},
			{"typ JWT", strings.Replace(good, h.Typ, "JWT", 1), receipt.WrongType},
			{"typ in capitals", strings.Replace(good, h.Typ, strings.ToUpper(h.Typ), 1), receipt.WrongType},
			{"typ with application/", strings.Replace(good, h.Typ, "application/"+h.Typ, 1), receipt.WrongType},
			{"typ with a space", strings.Replace(good, h.Typ, h.Typ+" ", 1), receipt.WrongType},
			{"no kid", strings.Replace(good, `,"kid":"`+h.Kid+`"`, "", 1), receipt.UnknownKey},
			{"kid empty", strings.Replace(good, h.Kid, "", 1), receipt.UnknownKey},
			{"kid unknown", strings.Replace(good, h.Kid, "nobody", 1), receipt.UnknownKey},
			{"kid with a path", strings.Replace(good, h.Kid, "../receipt", 1), receipt.UnknownKey},
			{"no alg", strings.Replace(good, `"alg":"`+h.Alg+`",`, "", 1), receipt.WrongAlgorithm},
			{"alg none", strings.Replace(good, h.Alg, "none", 1), receipt.WrongAlgorithm},
			{"alg NoNe", strings.Replace(good, h.Alg, "NoNe", 1), receipt.WrongAlgorithm},
			{"alg in small letters", strings.Replace(good, h.Alg, strings.ToLower(h.Alg), 1), receipt.WrongAlgorithm},
			{"alg HS512", strings.Replace(good, h.Alg, "HS512", 1), receipt.WrongAlgorithm},
			{"alg RS256", strings.Replace(good, h.Alg, "RS256", 1), receipt.WrongAlgorithm},
			{"empty", "", receipt.Malformed},
			{"not an object", `"` + h.Kid + `"`, receipt.Malformed},
			{"a list", "[" + good + "]", receipt.Malformed},
			{"something after it", good + "{}", receipt.Malformed},
			{"byte order mark", "\ufeff" + good, receipt.Malformed},
			{"not UTF-8", strings.Replace(good, h.Kid, "\xff", 1), receipt.Malformed},
			{"lone surrogate", strings.Replace(good, h.Kid, `\ud800`, 1), receipt.Malformed},
			{"too long", strings.Replace(good, h.Kid, strings.Repeat("a", 1024), 1), receipt.Malformed},
		} {
			token := forge(t, row.header, claims, k.secret)
			if got := reasonOf(t, k.verify(token, now)); got != row.reason {
				t.Errorf("%s, %s: %q, want %q", k.name, row.name, got, row.reason)
			}
		}
	}
}

// Claims signed by the right key that are refused all the same.
func TestClaims(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		header, good, _ := parts(t, k.token)
		var m map[string]json.RawMessage
		must(t, json.Unmarshal([]byte(good), &m))
		judge := func(name, claims string, reason receipt.Reason) {
			t.Helper()
			if got := reasonOf(t, k.verify(forge(t, header, claims, k.secret), now)); got != reason {
				t.Errorf("%s, %s: %q, want %q\n%s", k.name, name, got, reason, claims)
			}
		}
		judge("as it is", good, 0)
		judge("white space", strings.Replace(good, ",", " ,\n\t", 1)+" ", 0)
		with := func(member string) string { return strings.TrimSuffix(good, "}") + "," + member + "}" }
		optional := map[string]bool{"areq": true, "src": true, "obs": true, "data": true}
		for name, value := range m {
			member := `"` + name + `":` + string(value)
			judge(name+" twice", with(member), receipt.Malformed)
			judge(name+" twice, escaped", with(fmt.Sprintf(`"\u%04x%s":%s`, name[0], name[1:], value)), receipt.Malformed)
			without := strings.Replace(strings.Replace(good, member+",", "", 1), ","+member, "", 1)
			reason := receipt.MissingClaim
			if optional[name] {
				reason = 0
			}
			judge("without "+name, without, reason)
			for _, bad := range []string{"null", "true", "[]", "{}", `""`, `"\u0000"`, "1.5", "-1", "1e3", "01", "99999999999999999999", `"1"`} {
				if name == "data" || name == "args" || bad == "[]" && (name == "obl" || name == "disclosed") || bad == `""` && (name == "sid" || name == "principal") || bad == `"1"` {
					continue
				}
				judge(name+" = "+bad, strings.Replace(good, member, `"`+name+`":`+bad, 1), receipt.Malformed)
			}
		}
		judge("unknown claim", with(`"nbf":1`), receipt.Malformed)
		judge("capitals", strings.Replace(good, `"exp"`, `"EXP"`, 1), receipt.Malformed)
		judge("empty", "", receipt.Malformed)
		judge("no object", "1", receipt.Malformed)
		judge("null", "null", receipt.Malformed)
		judge("after it", good+"1", receipt.Malformed)
		judge("a comma more", strings.TrimSuffix(good, "}")+",}", receipt.Malformed)
		judge("no colon", `{"iss"}`, receipt.Malformed)
		judge("unfinished", good[:len(good)-1], receipt.Malformed)
		judge("not UTF-8", strings.Replace(good, "example", "ex\xc0\xafmple", 1), receipt.Malformed)
		judge("surrogate", strings.Replace(good, "example", `\udc00\ud800`, 1), receipt.Malformed)
		judge("text too long", strings.Replace(good, "example.test", strings.Repeat("e", 2049), 1), receipt.Malformed)
		judge("control character", strings.Replace(good, "example.test", `example\u007f`, 1), receipt.Malformed)
		judge("raw control character", strings.Replace(good, "example.test", "example\x01", 1), receipt.Malformed)
		judge("bad escape", strings.Replace(good, "example.test", `example\x41`, 1), receipt.Malformed)
		judge("escaped letter", strings.Replace(good, "example", `\u0065xample`, 1), 0)
	}
}

// Nested members of facts, arguments and grants.
func TestNested(t *testing.T) {
	w := newWorld(t)
	kinds := w.kinds(t)
	deep := strings.Repeat("[", 98) + strings.Repeat("]", 98)
	tooDeep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, row := range []struct {
		kind           int
		old, new, name string
		reason         receipt.Reason
	}{
		{0, `"n":1.50e0`, `"n":1,"n":2`, "duplicate in the facts", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":[{"a":1,"\u0061":2}]`, "deep duplicate", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":` + deep, "deep", 0},
		{0, `"n":1.50e0`, `"n":` + tooDeep, "too deep", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":01`, "leading zero", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":.5`, "no digit", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":1.`, "no fraction", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":1e`, "no exponent", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":-`, "a sign", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":NaN`, "NaN", receipt.Malformed},
		{0, `"n":1.50e0`, `"n":-0E+0,"m":-0.0e-1,"o":[true,false,null,{}]`, "all of JSON", 0},
		{0, `"n":1.50e0`, `"n":tru`, "half a word", receipt.Malformed},
		{0, `\u003c`, `\ud83d\ude00`, "a pair", 0},
		{0, `\u003c`, `\ud83d`, "half a pair", receipt.Malformed},
		{0, `\u003c`, `\ud83d\u0041`, "half a pair and a letter", receipt.Malformed},
		{0, `\u003c`, `\ude00`, "the other half", receipt.Malformed},
		{0, `\u003c`, `\u00g0`, "no hex digit", receipt.Malformed},
		{0, "11:59:58.5Z", "11:59:58.50Z", "instant with a digit more", receipt.Malformed},
		{0, "11:59:58.5Z", "11:59:58,5Z", "instant with a comma", receipt.Malformed},
		{0, "11:59:58.5Z", "11:59:58.5+00:00", "instant with an offset", receipt.Malformed},
		{0, "2026-01-15T", "2026-02-30T", "no such day", receipt.Malformed},
		{0, `"ver":2`, `"ver":4294967296`, "version too large", receipt.Malformed},
		{0, `"ver":2`, `"ver":0`, "version 0", receipt.Malformed},
		{0, receipt.Digest([]byte("data")), strings.ToUpper(receipt.Digest([]byte("data"))), "digest in capitals", receipt.Malformed},
		{0, receipt.Digest([]byte("data")), receipt.Digest([]byte("data"))[1:], "digest too short", receipt.Malformed},
		{0, receipt.Digest([]byte("data")), "g" + receipt.Digest([]byte("data"))[1:], "no digest", receipt.Malformed},
		{2, `["no-redirects"]`, `["no-redirects",""]`, "empty obligation", receipt.Malformed},
		{2, `["no-redirects"]`, `["no-redirects",1]`, "obligation of a wrong type", receipt.Malformed},
		{2, `["no-redirects"]`, `["a"` + strings.Repeat(`,"a"`, 16) + `]`, "too many obligations", receipt.Malformed},
		{2, `["no-redirects"]`, `["a",]`, "a comma more", receipt.Malformed},
		{2, `["no-redirects"]`, `["a" "b"]`, "no comma", receipt.Malformed},
		{3, `"trust":"public"`, `"trust":"public","x":1`, "unknown member", receipt.Malformed},
		{3, `,"trust":"public"`, ``, "no trust", receipt.Malformed},
		{4, `"approve"`, `"approved"`, "unknown decision", receipt.Malformed},
		{4, `"approve"`, `"APPROVE"`, "decision in capitals", receipt.Malformed},
		{4, `"approve"`, `"reject"`, "no", receipt.Refused},
		{5, `"any":true`, `"any":false`, "any false", receipt.Malformed},
		{5, `"any":true`, `"any":true,"values":["x"]`, "any and values", receipt.Malformed},
		{5, `"any":true`, `"any":true,"values":{"values":["x"]}`, "any and the message Values", receipt.Malformed},
		{5, `"any":true`, `"values":{"values":["x"],"any":true}`, "unknown member of Values", receipt.Malformed},
		{5, `"any":true`, `"values":{"values":"x"}`, "values of a wrong type", receipt.Malformed},
		{5, `"any":true`, `"values":"x"`, "a value alone", receipt.Malformed},
		{5, `"any":true`, `"any":1`, "any of a wrong type", receipt.Malformed},
		{5, `"any":true`, `"every":true`, "unknown member of a scope", receipt.Malformed},
		{5, `"max_uses":1`, `"max_uses":1,"unlimited_uses":true`, "both uses", receipt.Malformed},
		{5, `,"max_uses":1`, ``, "neither use", receipt.Malformed},
		{5, `"max_uses":1`, `"max_uses":0`, "no uses", receipt.Malformed},
		{5, `"unlimited_uses":true`, `"unlimited_uses":false`, "limited without a limit", receipt.Malformed},
		{5, `"not_after":"2026-01-15T13:00:00Z","max`, `"max`, "without an end", receipt.Malformed},
		{5, `"not_after":"2026-01-15T13:00:00Z","max`, `"not_after":"2026-01-15T13:00:00Z","notAfter":"2027-01-15T13:00:00Z","max`, "two ends", receipt.Malformed},
		{5, `"max_uses":1`, `"maxUses":1`, "names of two forms", receipt.Malformed},
		{5, `T13:00:00Z","max`, `T13:00:00.Z","max`, "end without a fraction", receipt.Malformed},
		{5, `T13:00:00Z","max`, `T13:00:00.0000","max`, "end without Z", receipt.Malformed},
		{5, `T13:00:00Z","max`, `T13:00:00+0000","max`, "end with an offset", receipt.Malformed},
		{5, `"id":"g1"`, `"id":"g1","effect":"deny"`, "unknown member of a grant", receipt.Malformed},
	} {
		k := kinds[row.kind]
		header, claims, _ := parts(t, k.token)
		bad := strings.Replace(claims, row.old, row.new, 1)
		if bad == claims {
			t.Fatalf("%s changes nothing", row.name)
		}
		if got := reasonOf(t, k.verify(forge(t, header, bad, k.secret), now)); got != row.reason {
			t.Errorf("%s, %s: %q, want %q", k.name, row.name, got, row.reason)
		}
	}
}

// Algorithm confusion: the attacker knows every public key. // RFC 8725 section 2.1
func TestAlgorithmConfusion(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		header, claims, signature := parts(t, k.token)
		var j struct{ Alg, Kty, X, Y string }
		must(t, json.Unmarshal([]byte(k.secret), &j))
		body := func(alg string) string {
			return b64([]byte(strings.Replace(header, j.Alg, alg, 1))) + "." + b64([]byte(claims))
		}
		for _, secret := range [][]byte{[]byte(j.X), bytesOf(j.X), append(append([]byte{4}, bytesOf(j.X)...), bytesOf(j.Y)...), w.keys.Public(now), {}} {
			for _, alg := range []string{"HS256", j.Alg} {
				token := body(alg) + "." + b64(mac(secret, body(alg)))
				if k.verify(token, now) == nil {
					t.Errorf("%s: a MAC under public bytes is taken with alg %s", k.name, alg)
				}
			}
		}
		for _, alg := range []string{"none", "ES256", "EdDSA", "HS256"} {
			if alg == j.Alg {
				continue
			}
			want(t, k.verify(body(alg)+".", now), receipt.WrongAlgorithm)
			want(t, k.verify(body(alg)+"."+b64(signature), now), receipt.WrongAlgorithm)
		}
		want(t, k.verify(body(j.Alg)+".", now), receipt.BadSignature)
		want(t, k.verify(body(j.Alg)+"."+b64(make([]byte, len(signature))), now), receipt.BadSignature)
		want(t, k.verify(body(j.Alg)+"."+b64(signature[:len(signature)-1]), now), receipt.BadSignature)
		want(t, k.verify(body(j.Alg)+"."+b64(append(bytes.Clone(signature), 0)), now), receipt.BadSignature)
		if j.Kty == "EC" { // the ASN.1 form is not the one of RFC 7518
			der := append([]byte{0x30, 0x44, 2, 32}, signature[:32]...)
			der = append(append(der, 2, 32), signature[32:]...)
			want(t, k.verify(body(j.Alg)+"."+b64(der), now), receipt.BadSignature)
		}
	}
}

// bytesOf decodes base64url, "" where it is none.
func bytesOf(s string) []byte {
	b, _ := base64.RawURLEncoding.DecodeString(s)
	return b
}

// No kind passes for another: neither as it is, nor with the other's typ under its own
// key, nor with the other's kid.
func TestKindsAreApart(t *testing.T) {
	w := newWorld(t)
	kinds := w.kinds(t)
	for _, a := range kinds {
		for _, b := range kinds {
			if a.kind == b.kind {
				continue
			}
			if reason := reasonOf(t, b.verify(a.token, now)); reason != receipt.WrongType && reason != receipt.TooLarge {
				t.Errorf("%s as %s: %q", a.name, b.name, reason)
			}
			headerA, _, _ := parts(t, a.token)
			headerB, claimsB, _ := parts(t, b.token)
			typA := strings.Replace(headerA, a.kind.Type(), b.kind.Type(), 1)
			want(t, b.verify(forge(t, typA, claimsB, a.secret), now), receipt.UnknownKey)
			reason := reasonOf(t, b.verify(forge(t, headerB, claimsB, a.secret), now))
			if reason != receipt.BadSignature {
				t.Errorf("%s signed by the key of %s: %q", b.name, a.name, reason)
			}
		}
	}
	// HS256 and EdDSA receipts share a kind and no key.
	header, claims, _ := parts(t, kinds[0].token)
	want(t, kinds[0].verify(forge(t, header, claims, kinds[1].secret), now), receipt.BadSignature)
}

// Spellings of the same token that are not the token. // RFC 7515 section 2, RFC 4648 section 3.5
func TestSpelling(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		s := strings.Split(k.token, ".")
		for name, token := range map[string]string{
			"padding":            k.token + "=",
			"padding inside":     s[0] + "=." + s[1] + "." + s[2],
			"line feed":          s[0] + "." + s[1] + ".\n" + s[2],
			"carriage return":    k.token + "\r",
			"space":              " " + k.token,
			"tab":                k.token + "\t",
			"stray bits":         k.token[:len(k.token)-1] + nextLetter(k.token[len(k.token)-1]),
			"standard alphabet":  strings.NewReplacer("-", "+", "_", "/").Replace(k.token) + "+",
			"one segment":        s[0],
			"two segments":       s[0] + "." + s[1],
			"four segments":      k.token + ".",
			"five segments":      k.token + ".AA.AA",
			"one letter":         s[0] + "." + s[1] + ".A",
			"empty":              "",
			"dots":               "..",
			"JSON serialisation": fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q}`, s[0], s[1], s[2]),
		} {
			if got := reasonOf(t, k.verify(token, now)); got != receipt.Malformed {
				t.Errorf("%s, %s: %q", k.name, name, got)
			}
		}
	}
}

// nextLetter differs in the lowest bit, which carries nothing at the end of 32 or 64 bytes.
func nextLetter(c byte) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(letters[strings.IndexByte(letters, c)^1])
}

// A signer refuses what no verifier would take, and names the claim.
func TestSignersRefuse(t *testing.T) {
	w := newWorld(t)
	for _, row := range []struct {
		change func(*receipt.Permit)
		reason receipt.Reason
		place  string
	}{
		{func(p *receipt.Permit) { p.Issuer = "" }, receipt.MissingClaim, "iss"},
		{func(p *receipt.Permit) { p.ID = "" }, receipt.MissingClaim, "jti"},
		{func(p *receipt.Permit) { p.Version = 0 }, receipt.MissingClaim, "ver"},
		{func(p *receipt.Permit) { p.Tenant = "a\nb" }, receipt.Malformed, "ten"},
		{func(p *receipt.Permit) { p.Tool = "\xff" }, receipt.Malformed, "tool"},
		{func(p *receipt.Permit) { p.Request = strings.Repeat("a", 2049) }, receipt.Malformed, "req"},
		{func(p *receipt.Permit) { p.ArgumentsDigest = "0" }, receipt.Malformed, "args_sha256"},
		{func(p *receipt.Permit) { p.Obligations = []string{""} }, receipt.Malformed, "obl"},
		{func(p *receipt.Permit) { p.IssuedAt = now.Add(time.Nanosecond); p.Expires = now.Add(time.Second) }, receipt.Malformed, "iat"},
	} {
		p := aPermit()
		row.change(&p)
		token, err := w.keys.SignPermit(p, p.IssuedAt)
		want := receipt.Error{Kind: receipt.PermitKind, Reason: row.reason, Place: row.place}
		if e, ok := err.(*receipt.Error); !ok || *e != want || token != "" {
			t.Errorf("%v, want %v", err, &want)
		}
	}
	g := aGrant()
	g.Grants[0].Unlimited = true
	_, err := w.issuer.SignGrant(g)
	want(t, err, receipt.Malformed)
	g = aGrant()
	g.Grants = nil
	_, err = w.issuer.SignGrant(g)
	want(t, err, receipt.MissingClaim)
	g = aGrant()
	g.Grants[0].Scopes[0].Any = true
	_, err = w.issuer.SignGrant(g)
	want(t, err, receipt.Malformed)
}

// No error shows a byte of a token. // B: nothing of the data in messages
func TestErrorsQuoteNothing(t *testing.T) {
	w := newWorld(t)
	const canary = "CANARY"
	for _, k := range w.kinds(t) {
		header, claims, _ := parts(t, k.token)
		for _, c := range []string{strings.Replace(claims, "example", canary, 1), strings.Replace(claims, `"iss"`, `"`+canary+`"`, 1)} {
			for _, h := range []string{header, strings.Replace(header, `"kid":"`, `"kid":"`+canary, 1), strings.Replace(header, `"kid"`, `"`+canary+`"`, 1), strings.Replace(header, `"typ":"`, `"typ":"`+canary, 1)} {
				err := k.verify(forge(t, h, c, k.secret), now)
				if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), canary) {
					t.Errorf("%s: %v", k.name, err)
				}
			}
		}
	}
}
