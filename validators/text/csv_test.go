package text

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// B15: tables keep their structure.
func TestCSV(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"rows", "a,b\r\n1,2\r\n", "a\tb\n1\t2"},
		{"no last line end", "a,b\n1,2", "a\tb\n1\t2"},
		{"records ended by CR", "id,amount\r1,10\r2,20\r", "id\tamount\n1\t10\n2\t20"},
		{"CR in quotes", "\"a\rb\",c\r1,2", "a b\tc\n1\t2"},
		{"quotes", `"a ""x""","b,c"`, "a \"x\"\tb,c"},
		{"line ends and tabs in cells", "\"a\r\nb\tc\u2028d\fe\",f", "a b c d e\tf"},
		{"empty cells", "x,y,z\n,,3\n1,,", "x\ty\tz\n\t\t3\n1"},
		{"a sequence within a cell", "\x1b[31mred\x1b[0m,b", "red\tb"},
		{"a sequence over two cells", "a,\x1b]0;x,y\a,b", "a\t]0;x\ty\tb"},
		{"nothing", "", ""},
		{"NFKC", "x²,½", "x2\t1⁄2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := process(t, tt.in, "text/csv", Options{}).Content; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// B4, B15: rows are bounded, and only CSV is taken for one.
func TestCSVRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Reason
		offset   int64
	}{
		{"rows", "a\nb\nc\nd\n", ItemLimit, 8},
		{"fields", "a,b\nc\n", Syntax, 6},
		{"a bare quote", "a\"b,c\n", Syntax, 6},
		{"after a quote", "\"a\"b,c\n", Syntax, 7},
		{"an open quote", "\"a", Syntax, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refusal(t, tt.in, "text/csv", Options{MaxItems: 3}); got.Reason != tt.want || got.Offset != tt.offset {
				t.Errorf("%v, want %v at %d", got, tt.want, tt.offset)
			}
		})
	}
	if got := process(t, "a\nb\nc\n", "text/csv", Options{MaxItems: 3}); got.Content != "a\nb\nc" {
		t.Errorf("as many rows as the limit: %q", got.Content)
	}
}

// B3, B5, B6: media types, byte limits, raw sources, ended contexts.
func TestProcessEdges(t *testing.T) {
	for _, tt := range []struct {
		raw, mediaType string
		opts           Options
		want           Reason
	}{
		{"a", "application/json", Options{}, MediaType},
		{"a", "", Options{}, MediaType},
		{"a", "text/plain; charset", Options{}, MediaType},
		{"abcd", "text/plain", Options{MaxBytes: 3}, ByteLimit},
		{strings.Repeat("a", DefaultMaxBytes+1), "text/plain", Options{}, ByteLimit},
	} {
		if got := refusal(t, tt.raw, tt.mediaType, tt.opts); got.Reason != tt.want {
			t.Errorf("%q: %v, want %v", tt.mediaType, got, tt.want)
		}
	}
	process(t, strings.Repeat("a", DefaultMaxBytes), "text/plain", Options{})
	if got := process(t, "  <b>x²</b>\n\n\n\n\ny\u200b", "text/html", Options{RawSource: true}); got.Content != "  <b>x²</b>\n\n\n\n\ny" || got.Normalization != "NFC" {
		t.Errorf("raw source: %+v", got)
	}
	if got := process(t, "*a* [b](https://example.test)", "text/markdown", Options{HTML: HTMLOptions{KeepLinks: true}}); got.Content != "*a* [b](https://example.test)" || got.Links != nil {
		t.Errorf("markdown: %+v", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, mediaType := range []string{"text/plain", "text/html", "text/csv"} {
		if _, err := Process(ctx, []byte("a"), mediaType, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s under an ended context: %v", mediaType, err)
		}
	}
}
