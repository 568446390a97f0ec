package seal_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit/seal"
)

// Made up, in the forms of real ones; written in two parts so that no scanner of
// repositories takes them for real.
const (
	jwt    = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJhIn0" + ".c2lnbmF0dXJl"
	aws    = "AKIA" + "ABCDEFGHIJ234567"
	github = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	slack  = "xoxb-" + "123456789012-abcdefABCDEF"
	random = "q8Zt3Lm0Xv7Bn2Kc5Jh9Gd4Fs1Ap6RwYuT"
	hash   = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	id     = "0198c3a4-7b21-7c3d-8e4f-0123456789ab"
)

type row struct {
	line     string // names the row
	in, want string
}

func check(t *testing.T, kinds []seal.Kind, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.line, func(t *testing.T) {
			before := strings.Clone(r.in)
			got, counts := seal.Redact([]byte(r.in), kinds)
			if string(got) != r.want {
				t.Errorf("%s\n became %s\n    want %s", r.in, got, r.want)
			}
			n := 0
			for _, c := range counts {
				n += c
			}
			if r.in == r.want && n != 0 || r.in != r.want && n == 0 {
				t.Errorf("counts %v", counts)
			}
			if r.in != before {
				t.Error("the input was changed")
			}
			holds(t, []byte(r.in), kinds)
		})
	}
}

// holds are the properties of every redaction.
func holds(t *testing.T, in []byte, kinds []seal.Kind) {
	t.Helper()
	out, _ := seal.Redact(in, kinds)
	if len(out) > 4*len(in) {
		t.Errorf("%d bytes became %d", len(in), len(out))
	}
	if json.Valid(in) && !json.Valid(out) {
		t.Errorf("JSON became something else: %q -> %q", in, out)
	}
	if again, counts := seal.Redact(out, kinds); !bytes.Equal(again, out) || len(counts) != 0 {
		t.Errorf("a second redaction changed %q to %q", out, again)
	}
}

var emailRows = []row{
	{"plain", `write to a.b+c@example.test now`, `write to [redacted-email] now`},
	{"in JSON", `{"mail":"a@example.test","n":1}`, `{"mail":"[redacted-email]","n":1}`},
	{"as a name of JSON", `{"a@example.test":1}`, `{"[redacted-email]":1}`},
	{"JSON escape of the at", `{"mail":"a\u0040example.test"}`, `{"mail":"[redacted-email]"}`},
	{"all of it in JSON escapes", `"\u0061\u0040\u0062\u002e\u0063"`, `"[redacted-email]"`},
	{"behind an escape", `"x\na@example.test\ny"`, `"x\n[redacted-email]\ny"`},
	{"JSON in a string of JSON", `{"text":"{\"m\":\"a\\u0040example.test\\n\"}"}`, `{"text":"{\"m\":\"[redacted-email]\\n\"}"}`},
	{"behind an escape of a string in a string", `"{\"m\":\"x\\na@example.test\"}"`, `"{\"m\":\"x\\n[redacted-email]\"}"`},
	{"percent-encoded", `https://example.test/?to=a%40example.test&x=1`, `https://example.test/?to=[redacted-email]&x=1`},
	{"percent-encoded twice", `to=a%2540example.test`, `to=[redacted-email]`},
	{"reference of HTML", `<a href="mailto:a&#64;example.test">a&#x40;example.test</a> a&commat;example.test`, `<a href="mailto:[redacted-email]">[redacted-email]</a> [redacted-email]`},
	{"in angle brackets", `A B <a@example.test>, <c@example.test>`, `A B <[redacted-email]>, <[redacted-email]>`},
	{"in quotes", `'a@example.test'`, `'[redacted-email]'`},
	{"end of a sentence", `ask a@example.test.`, `ask [redacted-email].`},
	{"before a number", `a@example.test.12`, `[redacted-email].12`},
	{"letters beyond ASCII", `müller@exämple.test жора@пример.test`, `[redacted-email] [redacted-email]`},
	{"escaped letters", `"m\u00fcller@example.test"`, `"[redacted-email]"`},
	{"Latin-1", "m\xfcller@example.test", `[redacted-email]`},
	{"text without spaces stays", `联系foo@example.test。谢谢`, `联系[redacted-email]。谢谢`},
	{"full width", "ａ＠example．test", `[redacted-email]`},
	{"password of a URL", `https://u:p@example.test/x`, `https://u:[redacted-email]/x`},
	{"among bytes that are no text", "\x00\x80a@example.test\x80\x00", "\x00\x80[redacted-email]\x80\x00"},
	{"two at", `a@b.test@c.test`, `[redacted-email]@c.test`},
	{"a handle", `@example.test and a@host`, `@example.test and a@host`},
	{"a package and its version", `left@1.2.3`, `left@1.2.3`},
	{"redacted before, in part", `[redacted-email]a@b.test[redacted-token]`, `[redacted-email][redacted-email][redacted-token]`},
	{"redacted before", `[redacted-email] [redacted-phone]`, `[redacted-email] [redacted-phone]`},
	{"a half escape", `a\u004example.test \`, `a\u004example.test \`},
	{"a half reference", `a&#64 b&#; c&#x; d&#12345678;`, `a&#64 b&#; c&#x; d&#12345678;`},
	{"nothing", ``, ``},
}

func TestRedactEmail(t *testing.T) { check(t, []seal.Kind{seal.Email}, emailRows) } // B11

var phoneRows = []row{
	{"international", `call +49 170 1234567 now`, `call [redacted-phone] now`},
	{"with the trunk zero", `+49 (0) 170 / 123 45-67`, `[redacted-phone]`},
	{"in brackets", `(555) 123-4567`, `([redacted-phone]`},
	{"points", `555.123.4567`, `[redacted-phone]`},
	{"no group", `"tel":"01701234567"`, `"tel":"[redacted-phone]"`},
	{"two of them", `0170 1234567 0171 7654321`, `[redacted-phone]`},
	{"plus alone", `+491701234567`, `[redacted-phone]`},
	{"percent-encoded", `tel=%2B49%20170%201234567`, `tel=[redacted-phone]`},
	{"JSON escapes", `"\u002b49\u00a0170\u00a01234567"`, `"[redacted-phone]"`},
	{"hyphens and spaces beyond ASCII", "+49\u202f170\u20111234567", `[redacted-phone]`},
	{"a number of JSON", `{"tel":491701234567,"n":[1, -491701234567 ]}`, `{"tel":0,"n":[1, 0 ]}`},
	{"a string after a number of JSON", `[491701234567,"491701234567"]`, `[0,"[redacted-phone]"]`},
	{"a number with a quote before", `{"a\"":491701234567}`, `{"a\"":0}`},
	{"a number of no JSON", `tel: 491701234567,`, `tel: [redacted-phone],`},
	{"after a word", `a12 0170 1234567`, `a12 [redacted-phone]`},
	{"before a word", `0170 1234567 12b`, `[redacted-phone] 12b`},
	{"after a date", `2026-01-15 0170 1234567`, `2026-01-15 [redacted-phone]`},
	{"dates and times", `{"at":"2026-01-15T12:00:00.123456789Z","d":"2026-01-15 12:00:00","e":"2026/01/15"}`, `{"at":"2026-01-15T12:00:00.123456789Z","d":"2026-01-15 12:00:00","e":"2026/01/15"}`},
	{"no date", `2026-13-15`, `[redacted-phone]`},
	{"fractions", `3.14159265, 0.123456789 {"v":1234567.5}`, `3.14159265, 0.123456789 {"v":1234567.5}`},
	{"a fraction that is none", `0170.1234567`, `[redacted-phone]`},
	{"IPv4", `192.168.100.200`, `192.168.100.200`},
	{"short numbers", `1234 56, 12345678`, `1234 56, 12345678`},
	{"in words", `a1234567890 1234567890b run_1234567890`, `a1234567890 1234567890b run_1234567890`},
	{"a UUID", id, id},
	{"too long for one", `1234567890123456`, `1234567890123456`},
}

func TestRedactPhone(t *testing.T) { check(t, []seal.Kind{seal.Phone}, phoneRows) } // B11

var tokenRows = []row{
	{"JWT", `{"jwt":"` + jwt + `"}`, `{"jwt":"[redacted-token]"}`},
	{"JWT at the end of a sentence", jwt + `.`, `[redacted-token].`},
	{"JWE", jwt + ".YQ.YQ", `[redacted-token]`},
	{"bearer", `Authorization: Bearer abc.def-1~2+3/4==`, `Authorization: Bearer [redacted-token]`},
	{"bearer in other ways", `"BEARER\u0020abcdef" bearer%20abcdef bearer:abcdef`, `"BEARER\u0020[redacted-token]" bearer%20[redacted-token] bearer:[redacted-token]`},
	{"bearer of a UUID", `Bearer ` + id, `Bearer [redacted-token]`},
	{"bearer of a word", `the bearer of it`, `the bearer of it`},
	{"basic", `Authorization: Basic dXNlcjpwYXNz`, `Authorization: Basic [redacted-token]`},
	{"basic of a word", `basic information`, `basic information`},
	{"AWS", `id=` + aws + `;`, `id=[redacted-token];`},
	{"GitHub", `"` + github + `"`, `"[redacted-token]"`},
	{"GitHub behind an escape", `"x\n` + github + `"`, `"x\n[redacted-token]"`},
	{"Slack", `https://example.test/?t=` + slack, `https://example.test/?t=[redacted-token]`},
	{"a key in a URL", `https://u:` + github + `@host/`, `https://u:[redacted-token]@host/`},
	{"random", `k: ` + random, `k: [redacted-token]`},
	{"base64 with padding", `k=` + random + `+/ab==&x`, `k=[redacted-token]&x`},
	{"base64 with escapes", `"` + random[:20] + `\/` + random[20:] + `"`, `"[redacted-token]"`},
	{"two parted by padding", random + `==` + random, `[redacted-token][redacted-token]`},
	{"hex", `"digest":"` + hash + `"`, `"digest":"[redacted-token]"`},
	{"digits", `{"n":12345678901234567890123456789012345}`, `{"n":0}`},
	{"cases", `aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgHiJ`, `[redacted-token]`},
	{"words", `/a/path/of/words/that-goes/on-and-on/v1/p42/index.html`, `/a/path/of/words/that-goes/on-and-on/v1/p42/index.html`},
	{"a long word", strings.Repeat("a", 100), strings.Repeat("a", 100)},
	{"UUID", `{"request_id":"` + id + `"}`, `{"request_id":"` + id + `"}`},
	{"path with a UUID", `/projects/` + id + `/runs/17`, `/projects/` + id + `/runs/17`},
	{"no UUID", `x` + id, `[redacted-token]`},
	{"in a word", `X` + aws, `X` + aws},
	{"a short mixture", `a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d`, `a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d`},
	{"short", `ghp_x eyJ.x AKIA sk-`, `ghp_x eyJ.x AKIA sk-`},
}

func TestRedactToken(t *testing.T) { check(t, []seal.Kind{seal.Token}, tokenRows) } // B11

func TestRedactAll(t *testing.T) {
	check(t, seal.Kinds(), []row{
		{"one of each", `a@example.test, +491701234567, ` + github, `[redacted-email], [redacted-phone], [redacted-token]`},
		{"an address that looks like a key", github + `@example.test`, `[redacted-email]`},
		{"bearer of an address", `Bearer a@example.test`, `Bearer [redacted-email]`},
		{"a number behind padding", random + `==01701234567`, `[redacted-token][redacted-phone]`},
		{"two in a number of JSON", `{"n":12345678901234567890123456789012.345678901}`, `{"n":0}`},
		{"neighbours", `a@b.test'c@d.test`, `[redacted-email]'[redacted-email]`},
	})
	in := []byte(`a@example.test b@example.test 0170 1234567 ` + github)
	if _, counts := seal.Redact(in, seal.Kinds()); !maps.Equal(counts, map[seal.Kind]int{seal.Email: 2, seal.Phone: 1, seal.Token: 1}) {
		t.Error(counts)
	}
	for _, kinds := range [][]seal.Kind{nil, {"address"}} {
		if out, counts := seal.Redact(in, kinds); !bytes.Equal(out, in) || len(counts) != 0 {
			t.Errorf("%v: %s %v", kinds, out, counts)
		}
	}
}

// What a contract asks to be redacted is redacted in the header too.
func TestRedactHeader(t *testing.T) {
	h := seal.Header{
		Request:  seal.Request{ArgumentsJSON: `{"to":"a@example.test"}`},
		Evidence: []seal.Evidence{{ArgumentsJSON: `{"x":"b@example.test"}`, DataJSON: `{"tel":491701234567}`}},
	}
	got, out, counts := h.Redact([]byte(`c@example.test`), []seal.Kind{seal.Phone, seal.Email, seal.Email})
	if got.Request.ArgumentsJSON != `{"to":"[redacted-email]"}` || got.Evidence[0].ArgumentsJSON != `{"x":"[redacted-email]"}` ||
		got.Evidence[0].DataJSON != `{"tel":0}` || string(out) != `[redacted-email]` || counts[seal.Email] != 1 {
		t.Errorf("%+v %s %v", got, out, counts)
	}
	if !slices.Equal(got.Redacted, []seal.Kind{seal.Email, seal.Phone}) || got.OriginalBytes != 14 {
		t.Errorf("%+v", got)
	}
	if h.Request.ArgumentsJSON != `{"to":"a@example.test"}` || h.Evidence[0].DataJSON != `{"tel":491701234567}` {
		t.Error("the receiver was changed")
	}
	if same, out, _ := h.Redact([]byte("a@b.test"), nil); string(out) != "a@b.test" || same.Redacted != nil {
		t.Errorf("%+v %s", same, out)
	}
}

// Text made to make a reader look again and again costs what other text does.
func TestRedactIsLinear(t *testing.T) {
	for _, piece := range []string{
		"a@", "@", "a", "a.", "eyJ", "-eyJaaaaaaaaaa", ".eyJ", "basic ", "basic/", "bearer ", "sk-", "xoxb-1-", "1 ", "1-", "2026-01-15 ", "+",
		"\\", "\\u", "%25", "&#", "[redacted-", "a/", "1234567890(", "aB/", "0198c3a4-", "a@b.c ", "=",
	} {
		in := []byte(strings.Repeat(piece, (1<<20)/len(piece)))
		began := time.Now()
		seal.Redact(in, seal.Kinds())
		// Linear is some 50 ms here; quadratic would be minutes.
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%q took %v", piece, took)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, rows := range [][]row{emailRows, phoneRows, tokenRows} {
		for _, r := range rows {
			f.Add([]byte(r.in), byte(7))
			f.Add([]byte(r.in), byte(1))
			f.Add([]byte(r.in), byte(4))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, which byte) {
		var kinds []seal.Kind
		for i, k := range seal.Kinds() {
			if which>>i&1 == 1 {
				kinds = append(kinds, k)
			}
		}
		before := bytes.Clone(in)
		holds(t, in, kinds)
		if !bytes.Equal(in, before) {
			t.Error("the input was changed")
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	in := []byte(strings.Repeat(`{"author":"a@example.test","state":"approved","note":"call 0170 1234567 \n"},`, 800))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		seal.Redact(in, seal.Kinds())
	}
}
