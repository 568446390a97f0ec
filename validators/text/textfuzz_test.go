package text

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// more are pieces beside those of the invisible: what normalisation, marks,
// collapse, trim and cut act on.
var more = []string{
	"\n", "\n\n\n\n", "  ", "\t", "\r\n", "\u2029", "\ufdfa", "ﷺ", "™\ufe0f", "x²", "½", "\u0344", "\u0f73", "\u1160", "\uffa0", "\uff9e", "カ\uff9e",
	"e\u0301", strings.Repeat("\u0301", 29), strings.Repeat("\u0316", 40), strings.Repeat("\u1161", 35), "\u1f82", "\u0488", "\u20dd", "\u1112\u1161\u11a8", strings.Repeat("ㅠ", 33), strings.Repeat("\u11a8", 31), "\u1112",
	"\U0001f1e9\U0001f1ea", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2194\ufe0f\u0338", "ℹ\ufe0f", "ℹ\u200dℹ", "\u200d\U0001f17f", "\ufe71\u200c\ufeed",
	"क्\u200dष", "\u0d4d\u200c", "م\u200cم", "\u00a8", "\u1680", "\ufb2c", "\u0958", "ſ", "K", "<", "&lt;",
}

func randomLongText(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(12) {
		piece := randomText(rng)
		if rng.IntN(2) == 0 {
			piece = more[rng.IntN(len(more))]
		}
		b.WriteString(strings.Repeat(piece, 1+rng.IntN(3)))
	}
	return b.String()
}

// checkText holds what is true for every text, whatever the profile.
func checkText(t *testing.T, in string, profile Profile, maxChars int) {
	t.Helper()
	opts := Options{Profile: profile, MaxOutputChars: maxChars}
	got, err := Process(context.Background(), []byte(in), "text/plain; charset=utf-8", opts)
	if err != nil {
		var refused *Error
		if !errors.As(err, &refused) || refused.Reason != Encoding || utf8.ValidString(in) && !strings.HasPrefix(in, "\xff") {
			t.Fatalf("%+q: %v", in, err)
		}
		return
	}
	out := got.Content
	if !utf8.ValidString(out) {
		t.Errorf("%+q: output is not UTF-8: %+q", in, out)
	}
	if n := utf8.RuneCountInString(out); n > maxChars {
		t.Errorf("%+q: %d characters, limit %d", in, n, maxChars)
	}
	// In runs of Hangul vowels beyond 30 package norm puts U+034F.
	if normal := strings.ReplaceAll(profile.form().String(out), "\u034f", ""); normal != out {
		t.Errorf("%+q: output is not normal: %+q", in, out)
	}
	if stripped := oracleStrip(out); stripped != out {
		t.Errorf("%+q: something invisible is left: %+q", in, out)
	}
	if strings.ContainsAny(out, "\r\v\f\u0085\u2028\u2029\x1b\u009b\u034f") {
		t.Errorf("%+q: a line end, an escape or a joiner of norm's is left: %+q", in, out)
	}
	if profile == Prose && strings.Contains(out, "\n\n\n\n") || out != profile.trim(out) {
		t.Errorf("%+q: not collapsed and trimmed: %+q", in, out)
	}
	again, err := Process(context.Background(), []byte(out), "text/plain; charset=utf-8", opts)
	if err != nil || again.Content != out || again.Truncated || again.Removed.Total() != 0 {
		t.Errorf("%+q: first %+q, then %+q %v (%v)", in, out, again.Content, counted(again.Removed), err)
	}
}

// B3, D10: cleaning as a whole is idempotent, bounded, normal, and leaves
// nothing of a removed class.
func TestRandomProcess(t *testing.T) {
	seed := seedOf(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		checkText(t, randomLongText(rng), Profile(rng.IntN(2)), 1+rng.IntN(60))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Long texts, which are cleaned in pieces, give what one piece gives.
func TestPieces(t *testing.T) {
	seed := seedOf(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		var b strings.Builder
		for b.Len() < 4000 {
			b.WriteString(randomLongText(rng))
		}
		in, _ := unifyAndStripTerminal(b.String())
		profile, limit, size := Profile(rng.IntN(2)), 1+rng.IntN(3000), 1024+rng.IntN(500)
		whole, _ := settle(in, profile.form())
		whole = profile.trim(profile.collapse(whole))
		out, more, _ := settlePieces(in, size, profile, limit)
		out, _ = settle(out, profile.form())
		out = profile.trim(profile.collapse(out))
		if more != (utf8.RuneCountInString(whole) > limit) && utf8.RuneCountInString(out) != limit || !more && out != whole {
			t.Fatalf("seed %d: %.3000q in pieces of %d under %d\n got %+q %v\nwant %+q", seed, in, size, limit, out, more, whole)
		}
	}
}

// Wherever a text may be split before a character, both parts give what the whole gives,
// whatever stands around it.
func TestStandsAlone(t *testing.T) {
	lefts := []string{"\u0648", "\u0915\u094d", "\u1820", "\u1112", "\U0001f468", "\U0001f3f4", "1", "a", "\u0648\u0640"}
	rights := []string{"\u200c\u0648", "\u200d\u0937", "\u200d\U0001f469", "\ufe0f", "\ufe0f\u20e3", "\u180b", "\u1161", "\u0301", "\U000e0067\U000e007f"}
	split := 0
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		p := norm.NFKD.PropertiesString(string(r))
		if !utf8.ValidRune(r) || p.Decomposition() == nil && p.BoundaryBefore() && !unicode.IsMark(r) && !Removable(r) && !passesScriptOn(r) && !isJamo(string(r)) {
			continue
		}
		for _, left := range lefts {
			for _, right := range rights {
				s := left + string(r) + right
				if !standsAlone(s, len(left)) {
					continue
				}
				split++
				for _, form := range []norm.Form{norm.NFC, norm.NFKC} {
					whole, _ := settle(s, form)
					a, _ := settle(s[:len(left)], form)
					b, _ := settle(s[len(left):], form)
					if got, _ := settle(a+b, form); got != whole {
						t.Errorf("%+q split before %U gives %+q, whole %+q", s, r, got, whole)
					}
				}
			}
		}
	}
	if split < 100_000 {
		t.Errorf("only %d places to split", split)
	}
}

// However long a run of marks or of Hangul vowels is, package norm leaves no
// U+034F behind, letters stay, and settling ends.
func TestLongRuns(t *testing.T) {
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		p := norm.NFKD.PropertiesString(string(r))
		if !utf8.ValidRune(r) || Removable(r) || p.BoundaryBefore() && p.Decomposition() == nil {
			continue
		}
		for _, base := range []string{"a", "\u1f82", "\u1112"} {
			for _, form := range []norm.Form{norm.NFC, norm.NFKC} {
				in := base + strings.Repeat(string(r), 40) + strings.Repeat("\u0301\u0316", 20)
				out, removed := settle(in, form)
				again, more := settle(out, form)
				if again != out || more.Total() != 0 || strings.ReplaceAll(form.String(out), "\u034f", "") != out {
					t.Errorf("%U after %+q: %+q, then %+q", r, base, out, again)
				}
				if other := removed.Total() - removed.n[kindExcessMark]; other != 0 {
					t.Errorf("%U after %+q: removed %v", r, base, counted(removed))
				}
				if isJamo(string(r)) && strings.Count(form.String(string(r)), "")+38 > strings.Count(out, "") {
					t.Errorf("%U after %+q: letters are lost: %+q", r, base, out)
				}
			}
		}
	}
}

func FuzzText(f *testing.F) {
	for _, tt := range kept {
		f.Add(tt.in, false, uint16(100))
	}
	for _, s := range more {
		f.Add("a"+s+s+"b", true, uint16(5))
	}
	for _, s := range ordinary {
		f.Add(s+" "+s, false, uint16(3))
	}
	f.Fuzz(func(t *testing.T, in string, code bool, limit uint16) {
		profile := Prose
		if code {
			profile = Code
		}
		checkText(t, in, profile, 1+int(limit))
	})
}

// FuzzHTML: no page panics, what is dropped is never shown, and the text of a
// page is a clean text.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{
		"<p>a</p>", "<table><tr><td>1<td>2", "<svg><style>x</style></svg>", "<div hidden><b>", "<select><option>x", "<math><annotation-xml>",
		"<p style='display:none'>x", "<noscript>x</noscript>", "<template>x</template>", "<title>t</title>", "<a href=https://example.test>x</a>", "<!--x-->",
		"<b><p></b>x<table><b>y", "<pre>\n\n a</pre>", "<plaintext>x", "<frameset><noframes>x", "<textarea>x</textarea>", "&#0;&#xD800;", "<br><hr><wbr>",
	} {
		f.Add(s, "after")
	}
	for _, p := range agreeingPages {
		f.Add(p.page, "")
	}
	for _, p := range differingPages {
		f.Add(p.page, "")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "qzqzq"
		if strings.Contains(before+after, secret) || strings.Contains(before, "<!") || !utf8.ValidString(before+after) || strings.Contains(before+after, "\ufeff") {
			return
		}
		for _, around := range [][2]string{
			{"<script>", "</script>"},
			{"<style>", "</style>"},
			{"<!--", "-->"},
			{"<p hidden>", "</p>"},
			{"<svg><text>", "</text></svg>"},
			{"<i style='display:none'>", "</i>"},
			{"<template><p>", "</p></template>"},
			{"<button>", "</button>"},
			{"<textarea>", "</textarea>"},
			{"<div><template shadowrootmode=open></template>", "</div>"},
			{"<math><mphantom><mtext>", "</mtext></mphantom></math>"},
			{"<i style='display:table-column'>", "</i>"},
		} {
			page := before + "<div></div>" + around[0] + secret + around[1] + after
			got, err := Process(t.Context(), []byte(page), "text/html; charset=utf-8", Options{HTML: HTMLOptions{KeepLinks: true}})
			if err != nil {
				continue
			}
			if n := utf8.RuneCountInString(got.Content); n > DefaultMaxOutputChars || len(got.Content) > 11*len(page) {
				t.Errorf("%q: %d characters", page, n)
			}
			checkText(t, got.Content, Prose, DefaultMaxOutputChars)
			// Where the beginning leaves a context open, the element may not be
			// one; only where it does not is its content sure to be dropped.
			if !strings.ContainsAny(before, "<&") && strings.Contains(got.Content+got.Title, secret) {
				t.Errorf("%q: dropped text is shown: %q", page, got.Content)
			}
		}
	})
}
