package text

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"
)

// benchText is 10 KB of ordinary text in several scripts.
func benchText(sentence string) string {
	return strings.Repeat(sentence, 10_240/len(sentence))
}

var benchTexts = []struct{ name, sentence string }{
	{"English", "The deployment of revision a83f19c finished at 12:04; everything is healthy.\n"},
	{"Russian", "Развёртывание завершилось в 12:04, всё в порядке.\n"},
	{"mixed", "Café “naïve” — 10 €, ½ done: das heißt, alles läuft, всё в порядке, 完了しました。\n"},
}

// benchPage is an ordinary page of 100 KB.
func benchPage() string {
	const item = `<div class="item card" id="i"><h3><a href="/items/123?x=1">A heading of an item</a></h3>` +
		`<p style="margin:0;color:#333">Some text with <b>bold</b> and <i class="i">italic</i> words, and a longer sentence that goes on for a while, ` +
		`until it ends &amp; another begins.</p><ul><li>one</li><li>two</li></ul><table><tr><td>1</td><td>2</td></tr></table></div>` + "\n"
	return "<!doctype html><html><head><title>Items</title><link rel=stylesheet href=x></head><body>" +
		strings.Repeat(item, 100_000/len(item)) + "</body></html>"
}

// compare runs work and baseline in turn and reports their shortest times and
// the ratio of these, which holds on a busy machine too.
func compare(b *testing.B, size int, work, baseline func() error) {
	shortest := [2]time.Duration{1 << 62, 1 << 62}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for i, f := range []func() error{work, baseline} {
			start := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			shortest[i] = min(shortest[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(shortest[0].Nanoseconds()), "ns-shortest")
	b.ReportMetric(float64(shortest[1].Nanoseconds()), "ns-baseline")
	b.ReportMetric(float64(shortest[0])/float64(shortest[1]), "ratio")
}

// Goal: Process at most twice norm.NFKC.
func BenchmarkText(b *testing.B) {
	for _, tt := range benchTexts {
		in := benchText(tt.sentence)
		raw := []byte(in)
		b.Run(tt.name, func(b *testing.B) {
			compare(b, len(in), func() error {
				_, err := Process(b.Context(), raw, "text/plain", Options{})
				return err
			}, func() error {
				norm.NFKC.String(in)
				return nil
			})
		})
	}
}

// Goal: Process at most 1.3 times html.Parse.
func BenchmarkHTML(b *testing.B) {
	page := benchPage()
	raw := []byte(page)
	compare(b, len(page), func() error {
		_, err := Process(b.Context(), raw, "text/html", Options{HTML: HTMLOptions{KeepLinks: true}})
		return err
	}, func() error {
		_, err := html.Parse(strings.NewReader(page))
		return err
	})
}
