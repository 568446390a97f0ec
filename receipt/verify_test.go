package receipt_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// What goes in comes out, the bytes of facts and arguments exactly. // D5 D6
func TestRoundTrip(t *testing.T) {
	w := newWorld(t)
	for _, signed := range []bool{false, true} {
		in := aReceipt()
		in.Signed = signed
		token, err := w.keys.SignReceipt(in)
		must(t, err)
		out, err := w.keys.VerifyReceipt(token, receiptExpect(now))
		must(t, err)
		if out.KeyID == "" {
			t.Error("no key id")
		}
		in.KeyID = out.KeyID
		equal(t, out, in)
	}
	token, err := w.keys.SignPermit(aPermit(), aPermit().IssuedAt)
	must(t, err)
	permit, err := w.keys.VerifyPermit(token, permitExpect(now))
	must(t, err)
	equal(t, permit, aPermit())
	if again, _ := w.keys.SignPermit(aPermit(), aPermit().IssuedAt); again != token {
		t.Error("the same permit is another token")
	}

	token, err = w.challenge(aChallenge())
	must(t, err)
	challenge, err := w.openChallenge(token, challengeExpect(now))
	must(t, err)
	equal(t, challenge, aChallenge())

	token, err = w.approver.SignApproval(anApproval())
	must(t, err)
	approval, err := w.approvers.Verify(token, approvalExpect(now))
	must(t, err)
	wantApproval := anApproval()
	wantApproval.Approver = approver
	equal(t, approval, wantApproval)

	for _, s := range []*receipt.Signer{w.issuer, w.issuerES} {
		token, err = s.SignGrant(aGrant())
		must(t, err)
		grant, err := w.issuers.Verify(token, grantExpect(now))
		must(t, err)
		wantGrant := aGrant()
		wantGrant.Issuer = issuer
		equal(t, grant, wantGrant)
	}
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// The wire form of each kind, claim by claim: other languages read it.
func TestWireForm(t *testing.T) {
	w := newWorld(t)
	for i, wantClaims := range []string{
		`{"iss":"hallmark.example.test","iat":1768478400,"exp":1768479000,"jti":"0199-r1","ten":"acme","sub":"spiffe://example.test/adapter","sid":"task-1","tool":"job_status","ver":2,"cdg":"` + receipt.Digest([]byte("contract")) + `","req":"req.A1b2C3d4","areq":"` + receipt.Digest([]byte("{}")) + `","src":"https://jobs.example.test/","trust":"internal","dig":"` + receipt.Digest([]byte("data")) + `","obs":"2026-01-15T11:59:58.5Z","data":{"state":"failed", "n":1.50e0,"s":"\u003c<é"}}`,
		"",
		`{"iss":"hallmark.example.test","iat":1768478400,"exp":1768478460,"jti":"0199-p1","ten":"acme","sid":"task-1","tool":"mail_send","ver":3,"req":"req.A1b2C3d4","principal":"ada@example.test","dec":"0199-d1","args_sha256":"` + receipt.Digest([]byte(args)) + `","aud":"mailer.example.test","obl":["no-redirects"]}`,
		`{"iss":"hallmark.example.test","iat":1768478400,"exp":1768492800,"jti":"0199-c1","ten":"acme","sid":"task-1","sub":"spiffe://example.test/agent","principal":"ada@example.test","tool":"mail_send","ver":3,"args":` + args + `,"disclosed":[{"tool":"web_read","trust":"public"}]}`,
		`{"iss":"grace@example.test","iat":1768478400,"exp":1768479000,"sub":"grace@example.test","aud":"hallmark.example.test","challenge":"` + receipt.Digest([]byte("challenge")) + `","decision":"approve"}`,
		`{"iss":"https://tasks.example.test","iat":1768478400,"exp":1768482000,"jti":"g-1","aud":"hallmark.example.test","ten":"acme","sid":"task-1","principal":"ada@example.test","grants":[{"id":"g1","tool":"mail_send","scopes":[{"name":"recipient","values":{"values":["ada@example.test"]}},{"name":"folder","any":true},{"name":"none"}],"not_after":"2026-01-15T13:00:00Z","max_uses":1},{"id":"g2","tool":"job_restart","not_after":"2026-01-15T13:00:00Z","unlimited_uses":true}]}`,
	} {
		k := w.kinds(t)[i]
		header, claims, _ := parts(t, k.token)
		if wantClaims != "" && claims != wantClaims {
			t.Errorf("%s:\n got %s\nwant %s", k.name, claims, wantClaims)
		}
		var h struct{ Alg, Typ, Kid string }
		must(t, json.Unmarshal([]byte(header), &h))
		if wantHeader := fmt.Sprintf(`{"alg":%q,"typ":%q,"kid":%q}`, h.Alg, k.kind.Type(), h.Kid); header != wantHeader {
			t.Errorf("%s: %s, want %s", k.name, header, wantHeader)
		}
	}
}

// Each byte of each kind of token, changed in several ways: never accepted.
func TestTamperedByte(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		must(t, k.verify(k.token, now))
		for i := range len(k.token) {
			for _, c := range []byte{k.token[i] ^ 1, k.token[i] ^ 0x20, '.', '\n'} {
				if c == k.token[i] {
					continue
				}
				bad := []byte(k.token)
				bad[i] = c
				if k.verify(string(bad), now) == nil {
					t.Errorf("%s: byte %d may be %q", k.name, i, c)
				}
			}
			if k.verify(k.token[:i]+k.token[i+1:], now) == nil {
				t.Errorf("%s: byte %d may be missing", k.name, i)
			}
		}
	}
}

// exp and iat, to the second, with the stated skew.
func TestTimes(t *testing.T) {
	w := newWorld(t)
	life := []time.Duration{10 * time.Minute, 10 * time.Minute, time.Minute, 4 * time.Hour, 10 * time.Minute, time.Hour, time.Hour}
	for i, k := range w.kinds(t) {
		end := now.Add(life[i])
		for _, row := range []struct {
			at     time.Time
			reason receipt.Reason
		}{
			{now.Add(-receipt.Skew - 1), receipt.NotYet},
			{now.Add(-receipt.Skew), 0},
			{end, 0},
			{end.Add(receipt.Skew - 1), 0},
			{end.Add(receipt.Skew), receipt.Expired},
			{end.Add(time.Hour), receipt.Expired},
			{time.Time{}, receipt.Unbound},
		} {
			err := k.verify(k.token, row.at)
			if got := reasonOf(t, err); got != row.reason && !(row.reason == receipt.NotYet && got == receipt.ExpiredKey) {
				t.Errorf("%s at %v: %q, want %q", k.name, row.at.Sub(now), got, row.reason)
			}
		}
	}
}

// The longest life of each kind, at the signer and at the verifier.
func TestLifetimes(t *testing.T) {
	w := newWorld(t)
	for _, k := range w.kinds(t) {
		header, claims, _ := parts(t, k.token)
		var m map[string]any
		must(t, json.Unmarshal([]byte(claims), &m))
		seconds := int64(k.kind.MaxLife() / time.Second)
		for _, row := range []struct {
			life   int64
			reason receipt.Reason
		}{{1, 0}, {seconds, 0}, {seconds + 1, receipt.LifeTooLong}, {0, receipt.LifeTooLong}, {-1, receipt.LifeTooLong}} {
			iat := now.Unix()
			c := replaceNumber(claims, "exp", iat+row.life)
			if got := reasonOf(t, k.verify(forge(t, header, c, k.secret), now)); got != row.reason {
				t.Errorf("%s of %d s: %q, want %q", k.name, row.life, got, row.reason)
			}
		}
	}
	p := aPermit()
	p.Expires = now.Add(61 * time.Second)
	_, err := w.keys.SignPermit(p, p.IssuedAt)
	want(t, err, receipt.LifeTooLong)
	p.Expires = now.Add(time.Second + 1)
	_, err = w.keys.SignPermit(p, p.IssuedAt)
	want(t, err, receipt.Malformed) // no whole second
	p.Expires, p.IssuedAt = now, time.Time{}
	_, err = w.keys.SignPermit(p, p.IssuedAt)
	want(t, err, receipt.LifeTooLong)
}

// replaceNumber sets a member of the claims' text that is a number.
func replaceNumber(claims, name string, n int64) string {
	from := strings.Index(claims, `"`+name+`":`) + len(name) + 3
	to := from + strings.IndexAny(claims[from:], ",}")
	return claims[:from] + fmt.Sprint(n) + claims[to:]
}

// Whatever is expected and not met is a mismatch; whatever is not said refuses. // D5 D6
func TestExpectations(t *testing.T) {
	w := newWorld(t)
	k := w.kinds(t)
	for i, row := range []struct {
		expect any
		verify func(token string, e any) error
	}{
		{receiptExpect(now), func(s string, e any) error { _, err := w.keys.VerifyReceipt(s, e.(receipt.ReceiptExpect)); return err }},
		{receiptExpect(now), func(s string, e any) error { _, err := w.keys.VerifyReceipt(s, e.(receipt.ReceiptExpect)); return err }},
		{permitExpect(now), func(s string, e any) error { _, err := w.keys.VerifyPermit(s, e.(receipt.PermitExpect)); return err }},
		{challengeExpect(now), func(s string, e any) error {
			_, err := w.openChallenge(s, e.(challengeExpected))
			return err
		}},
		{approvalExpect(now), func(s string, e any) error { _, err := w.approvers.Verify(s, e.(receipt.ApprovalExpect)); return err }},
		{grantExpect(now), func(s string, e any) error { _, err := w.issuers.Verify(s, e.(receipt.GrantExpect)); return err }},
		{grantExpect(now), func(s string, e any) error { _, err := w.issuers.Verify(s, e.(receipt.GrantExpect)); return err }},
	} {
		must(t, row.verify(k[i].token, row.expect))
		typ := reflect.TypeOf(row.expect)
		for f := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(f).Name
			changed := reflect.New(typ).Elem()
			changed.Set(reflect.ValueOf(row.expect))
			changed.Field(f).SetZero()
			if got := reasonOf(t, row.verify(k[i].token, changed.Interface())); got != receipt.Unbound {
				t.Errorf("%s: without %s: %q, want %q", k[i].name, name, got, receipt.Unbound)
			}
			switch changed.Field(f).Interface().(type) {
			case string:
				changed.Field(f).SetString("another")
			case []byte:
				changed.Field(f).SetBytes([]byte(args + " "))
			default:
				continue // Now
			}
			reason := receipt.Mismatch
			if name == "ApprovalExpect.Caller" {
				reason = 0 // anyone but the approver
			}
			if got := reasonOf(t, row.verify(k[i].token, changed.Interface())); got != reason {
				t.Errorf("%s: another %s: %q, want %q", k[i].name, name, got, reason)
			}
		}
	}
}

// An approver cannot approve what she asked for, nor sign in another's name; a no is an
// error that still says who said it.
func TestApprovals(t *testing.T) {
	w := newWorld(t)
	token, err := w.approver.SignApproval(anApproval())
	must(t, err)
	e := approvalExpect(now)
	e.Caller = approver
	_, err = w.approvers.Verify(token, e)
	want(t, err, receipt.Mismatch)

	no := anApproval()
	no.Approved = false
	token, err = w.approver.SignApproval(no)
	must(t, err)
	said, err := w.approvers.Verify(token, approvalExpect(now))
	want(t, err, receipt.Refused)
	if said.Approver != approver || said.Approved {
		t.Errorf("%+v", said)
	}

	other := anApproval()
	other.Approver = "mallory@example.test"
	_, err = w.approver.SignApproval(other)
	want(t, err, receipt.Mismatch)
	_, err = w.issuerES.SignApproval(anApproval())
	want(t, err, receipt.WrongAlgorithm)
	_, err = w.issuer.SignGrant(receipt.GrantToken{Issuer: "another"})
	want(t, err, receipt.Mismatch)

	k := w.kinds(t)[4]
	header, claims, _ := parts(t, k.token)
	for _, name := range []string{"iss", "sub"} {
		c := strings.Replace(claims, `"`+name+`":"`+approver, `"`+name+`":"mallory@example.test`, 1)
		want(t, k.verify(forge(t, header, c, k.secret), now), receipt.Mismatch)
	}
	k = w.kinds(t)[5]
	header, claims, _ = parts(t, k.token)
	c := strings.Replace(claims, `"iss":"`+issuer, `"iss":"https://other.example.test`, 1)
	want(t, k.verify(forge(t, header, c, k.secret), now), receipt.Mismatch)
}

// A receipt without a session is made, and is no evidence for any session.
func TestReceiptWithoutSession(t *testing.T) {
	w := newWorld(t)
	c := aReceipt()
	c.Session = ""
	token, err := w.keys.SignReceipt(c)
	must(t, err)
	_, err = w.keys.VerifyReceipt(token, receiptExpect(now))
	want(t, err, receipt.Mismatch)
	e := receiptExpect(now)
	e.Session = ""
	_, err = w.keys.VerifyReceipt(token, e)
	want(t, err, receipt.Unbound)
}

// Nothing to verify with is never a reason to accept.
func TestNoKeys(t *testing.T) {
	w := newWorld(t)
	k := w.kinds(t)
	var none *receipt.KeySet
	for _, s := range []*receipt.KeySet{none, {}} {
		_, err := s.VerifyReceipt(k[0].token, receiptExpect(now))
		want(t, err, receipt.UnknownKey)
		_, err = s.SignPermit(aPermit(), aPermit().IssuedAt)
		want(t, err, receipt.NoKey)
		if got := string(s.Public(now)); got != `{"keys":[]}` {
			t.Error(got)
		}
		want(t, s.Ready(now), receipt.NoKey)
	}
	_, err := (*receipt.Approvers)(nil).Verify(k[4].token, approvalExpect(now))
	want(t, err, receipt.NoKey)
	_, err = new(receipt.Approvers).Verify(k[4].token, approvalExpect(now))
	want(t, err, receipt.UnknownKey)
	_, err = (*receipt.Issuers)(nil).Verify(k[5].token, grantExpect(now))
	want(t, err, receipt.NoKey)
	_, err = (*receipt.PermitKeys)(nil).Verify(k[2].token, permitExpect(now))
	want(t, err, receipt.NoKey)
	_, err = (*receipt.ChallengeKeys)(nil).Verify(k[3].token, service, now)
	want(t, err, receipt.NoKey)
}

// An approver reads a challenge with published keys and sees all of it.
func TestPublishedChallenge(t *testing.T) {
	w := newWorld(t)
	keys, err := receipt.ParseChallengeKeys(w.keys.Public(now))
	must(t, err)
	token := w.kinds(t)[3].token
	c, err := keys.Verify(token, service, now)
	must(t, err)
	equal(t, c, aChallenge())
	_, err = keys.Verify(token, "other.example.test", now)
	want(t, err, receipt.Mismatch)
	_, err = keys.Verify(token, "", now)
	want(t, err, receipt.Unbound)
}
