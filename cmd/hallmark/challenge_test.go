package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

var shownAt = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func challengeOf(arguments string) receipt.Challenge {
	return receipt.Challenge{
		Issuer: "hallmark", IssuedAt: shownAt, Expires: shownAt.Add(4 * time.Hour), ID: "c-1", Tenant: "local",
		Session: "task-7", Caller: "local", Principal: "ana@example.test", Tool: "deploy", Version: 1,
		Arguments: json.RawMessage(arguments),
	}
}

// What the arguments of a call hold was perhaps written to deceive the person who must
// approve it.
var hostile = []struct{ line, text, want string }{
	{"plain", "Noon?", `"Noon?"`},
	{"letters of the world", "Ünïcode, 正午, полдень", `"Ünïcode, 正午, полдень"`},
	{"right to left override", "safe\u202Egpj.exe", `"safe\u{202E}gpj.exe"`},
	{"isolates", "\u2066a\u2069", `"\u{2066}a\u{2069}"`},
	{"terminal sequence", "\x1b[2J\x1b[1;1Happroved", `"\u{001B}[2J\u{001B}[1;1Happroved"`},
	{"C1 control", "\u009b2J", `"\u{009B}2J"`},
	{"carriage return", "good\rbad", `"good\u{000D}bad"`},
	{"backspaces", "bad\b\b\bgood", `"bad\u{0008}\u{0008}\u{0008}good"`},
	{"lines that pass for ours", "x\ntool       harmless v1", `"x\ntool       harmless v1"`},
	{"line separators", "a\u2028b\u2029c\u0085d", `"a\u{2028}b\u{2029}c\u{0085}d"`},
	{"zero width", "a\u200Bb\u200Dc\u2060d\uFEFFe", `"a\u{200B}b\u{200D}c\u{2060}d\u{FEFF}e"`},
	{"tags", "\U000E0061\U000E007F", `"\u{E0061}\u{E007F}"`},
	{"variation selectors", "a\uFE0Fb\U000E0100", `"a\u{FE0F}b\u{E0100}"`},
	{"fillers", "\u115F\u3164\uFFA0\u034F", `"\u{115F}\u{3164}\u{FFA0}\u{034F}"`},
	{"blank that is no space", "\u2800", `"\u{2800}"`},
	{"spaces that are wider or narrower", "a\u00A0b\u3000c", `"a\u{00A0}b\u{3000}c"`},
	{"private use", "\uE000", `"\u{E000}"`},
	{"a heap of marks", "a" + strings.Repeat("\u0301", 5), "\"a\u0301\u0301\u0301" + `\u{0301}\u{0301}"`},
	{"a mark on the quote", "\u0301a", `"\u{0301}a"`},
	{"a mark on an escape", "\u200B\u0301", `"\u{200B}\u{0301}"`},
	{"quotes", `","environment":"staging`, `"\",\"environment\":\"staging"`},
	{"an escape of ours, written out", `\u{202E}`, `"\\u{202E}"`},
	{"a new line of ours, written out", `a\nb`, `"a\\nb"`},
	{"tab", "a\tb", `"a\tb"`},
}

func TestQuotedShowsEverything(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.line, func(t *testing.T) {
			if got := quoted(tt.text); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// In names and values alike, the screen has one line for each, and nothing moves.
func TestShowChallengeOfHostileArguments(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.line, func(t *testing.T) {
			word := string(strictjson.AppendString(nil, tt.text))
			var b strings.Builder
			if err := showChallenge(&b, challengeOf(`{`+word+`:[`+word+`,1]}`), shownAt); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(b.String(), "\n")
			if len(lines) != 18 {
				t.Errorf("%d lines:\n%s", len(lines), b.String())
			}
			if want := "    " + tt.want + ": ["; lines[8] != want {
				t.Errorf("got %s, want %s", lines[8], want)
			}
			if want := "      " + tt.want + ","; lines[9] != want {
				t.Errorf("got %s, want %s", lines[9], want)
			}
			if strings.ContainsFunc(b.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("unprintable: %q", b.String())
			}
		})
	}
}

func TestShowChallenge(t *testing.T) {
	c := challengeOf(`{"n":1e2,"list":[],"deep":{"x":[true,null,{}]}}`)
	c.Session, c.Principal = "", "ana\u202E\nb"
	c.Disclosed = []receipt.Source{{Tool: "web_read", Trust: "untrusted"}, {Tool: "mail_read\x1b", Trust: "untrusted"}}
	var b strings.Builder
	if err := showChallenge(&b, c, shownAt.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	const want = `service    hallmark
tenant     local
session    (none)
caller     local
principal  ana\u{202E}\nb
tool       deploy v1
arguments
  {
    "n": 1e2,
    "list": [],
    "deep": {
      "x": [
        true,
        null,
        {}
      ]
    }
  }
seen       web_read (untrusted)
           mail_read\u{001B} (untrusted)
issued     2026-01-15T12:00:00Z
expires    2026-01-15T16:00:00Z, in 3h0m0s
challenge  c-1
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func tokenOf(header, claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode([]byte(claims)) + "." + encode([]byte("signature"))
}

const (
	challengeHeader = `{"alg":"EdDSA","typ":"hallmark-challenge+jwt","kid":"k"}`
	challengeClaims = `{"iss":"hallmark","iat":1768478400,"exp":1768492800,"jti":"c-1","ten":"local","sid":"s","sub":"local",` +
		`"principal":"p","tool":"deploy","ver":1,"args":{"environment":"production"},"disclosed":[{"tool":"web_read","trust":"untrusted"}]}`
)

// unreadable are tokens that are no challenges, each but for one thing.
var unreadable = []struct{ line, token string }{
	{"empty", ""},
	{"two parts", "eyJ.eyJ"},
	{"four parts", tokenOf(challengeHeader, challengeClaims) + ".x"},
	{"padded", strings.Replace(tokenOf(challengeHeader, challengeClaims), ".", "=.", 1)},
	{"white space", tokenOf(challengeHeader, challengeClaims)[:30] + "\n" + tokenOf(challengeHeader, challengeClaims)[30:]},
	{"another kind", tokenOf(strings.Replace(challengeHeader, "challenge", "permit", 1), challengeClaims)},
	{"no header", tokenOf(`[]`, challengeClaims)},
	{"no claims", tokenOf(challengeHeader, `null`)},
	{"a claim twice", tokenOf(challengeHeader, `{"tool":"a",`+challengeClaims[1:])},
	{"a claim that is not shown", tokenOf(challengeHeader, `{"also":"x",`+challengeClaims[1:])},
	{"no tool", tokenOf(challengeHeader, strings.Replace(challengeClaims, `"tool":"deploy",`, "", 1))},
	{"no arguments", tokenOf(challengeHeader, strings.Replace(challengeClaims, `"args":{"environment":"production"},`, "", 1))},
	{"a tool that is no text", tokenOf(challengeHeader, strings.Replace(challengeClaims, `"deploy"`, `{"a":1}`, 1))},
	{"version 0", tokenOf(challengeHeader, strings.Replace(challengeClaims, `"ver":1`, `"ver":0`, 1))},
	{"a version that wraps", tokenOf(challengeHeader, strings.Replace(challengeClaims, `"ver":1`, `"ver":4294967297`, 1))},
	{"a half version", tokenOf(challengeHeader, strings.Replace(challengeClaims, `"ver":1`, `"ver":1.5`, 1))},
	{"a date beyond dates", tokenOf(challengeHeader, strings.Replace(challengeClaims, `1768492800`, `99999999999999`, 1))},
	{"a date in words", tokenOf(challengeHeader, strings.Replace(challengeClaims, `1768492800`, `"2026"`, 1))},
	{"sources that are none", tokenOf(challengeHeader, strings.Replace(challengeClaims, `{"tool":"web_read","trust":"untrusted"}`, `{"tool":"web_read"}`, 1))},
	{"sources with more", tokenOf(challengeHeader, strings.Replace(challengeClaims, `"trust":"untrusted"`, `"trust":"untrusted","x":1`, 1))},
}

func TestReadChallenge(t *testing.T) {
	c, err := readChallenge(tokenOf(challengeHeader, challengeClaims))
	if err != nil {
		t.Fatal(err)
	}
	if string(c.Arguments) != `{"environment":"production"}` || c.Tool != "deploy" || len(c.Disclosed) != 1 || c.Expires.Unix() != 1768492800 {
		t.Errorf("%+v", c)
	}
	for _, tt := range unreadable {
		t.Run(tt.line, func(t *testing.T) {
			if _, err := readChallenge(tt.token); !errors.Is(err, errNoChallenge) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Whatever is read can be shown, and nothing that is shown moves the cursor.
func FuzzReadChallenge(f *testing.F) {
	f.Add([]byte(challengeHeader), []byte(challengeClaims))
	for _, tt := range hostile {
		word := string(strictjson.AppendString(nil, tt.text))
		f.Add([]byte(challengeHeader), []byte(strings.Replace(challengeClaims, `"production"`, word, 1)))
	}
	f.Fuzz(func(t *testing.T, header, claims []byte) {
		c, err := readChallenge(tokenOf(string(header), string(claims)))
		if err != nil {
			return
		}
		var b strings.Builder
		if err := showChallenge(&b, c, shownAt); err != nil {
			return // deeper than can be shown
		}
		if strings.ContainsFunc(b.String(), func(r rune) bool { return r != '\n' && hidden(r) }) {
			t.Errorf("hidden: %q", b.String())
		}
	})
}

// Without a session nobody knows what was seen, which is not nothing.
func TestShowNothingSeen(t *testing.T) {
	for session, want := range map[string]string{"": "seen       unknown: ", "task-7": "seen       nothing: "} {
		c := challengeOf(`{}`)
		c.Session = session
		var b strings.Builder
		if err := showChallenge(&b, c, shownAt); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("session %q: %v, got:\n%s", session, err, b.String())
		}
	}
}
