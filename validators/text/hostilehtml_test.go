package text

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// attributes returns n distinct attributes.
func attributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d", i)
	}
	return b.String()
}

// each returns n strings made from a format with a number.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// hostilePages ask the most of a parser or walker for their bytes. Refused are
// those that would need memory or time out of proportion.
func hostilePages(size int) []struct {
	name, page string
	refused    bool
} {
	fill := func(head, piece string) string { return head + strings.Repeat(piece, (size-len(head))/len(piece)) }
	return []struct {
		name, page string
		refused    bool
	}{
		{"paragraphs", fill("", "<p>x"), false},
		{"breaks", fill("", "<br>"), false},
		{"text", fill("", "a b "), false},
		{"entities", fill("", "&amp;"), false},
		{"broken entities", fill("", "&am"), false},
		{"less-than signs", fill("", "< "), false},
		{"comments", fill("", "<!---->"), false},
		{"an open comment full of tags", fill("<!--", "x<b "), true},
		{"an open quote", fill("<a b=\"", "x<b "), true},
		{"open tags", fill("", "<a "), true},
		{"nested", fill("", "<div>"), true},
		{"nested, not closed", fill("", "<font color=red>x"), true},
		{"formatting made anew", fill("<p>"+each(400, "<font a=%d>")+"</p>", "<p>x</p>"), true},
		{"formatting hidden from a count", fill("<p>"+each(400, "<font a=%d><!--</font>-->")+"</p>", "<p>x</p>"), true},
		{"one wide element made anew", fill("<p><b"+attributes(500)+"></p>", "<p>x</p>"), true},
		{"many attributes", "<a" + attributes(size/8) + ">x</a>", false},
		{"many attributes, then tags", fill("<p"+attributes(size/16)+">x</p>", "<p b>"), true},
		{"adoption", fill("", "<b><i><u><p></b></i></u>"), true},
		{"adoption, shallow", fill("", "<b><p>x</b></p>"), false},
		{"links", fill("", "<a href=//x>y</a>"), false},
		{"cells", fill("<table><tr>", "<td>"), false},
		{"cells with comments", fill("<table><tr>", "<td><!---->"), false},
		{"rows", fill("<table>", "<tr><td>x<td>"), false},
		{"foster parents", fill("<table>", "<tr>x"), false},
		{"tables in tables", strings.Repeat("<table><tr><td>x<td>", 100) + fill("", "<p>x"), false},
		{"lists of options", fill("<select>", "<option>x"), false},
		{"svg", fill("", "<svg><g/></svg>"), false},
		{"styles", fill("", "<p style='a:b'>x"), false},
		{"one long style", "<p style='" + fill("", "a:b;") + "'>x", false},
		{"open brackets in a style", "<p style='" + fill("a:", "(") + "'>x", false},
		{"comments in a style", "<p style='" + fill("", "/*") + "'>x", false},
		{"escapes in a style", "<p style='" + fill("", "\\6e ") + "'>x", false},
		{"nested functions in a style", "<p style='" + fill("color:", "rgb(") + "'>x", false},
		{"backgrounds", "<p style='" + fill("background:", "rgb( ") + "'>x", false},
		{"one long link", "<a href='" + fill("//x/", "a") + "'>x</a>", false},
		{"scripts", fill("", "<script>x</script>"), false},
		{"titles", fill("", "<title>x</title>"), false},
		{"zeros", fill("", "\x00<\x00b>"), false},
		{"growing text", fill("", "\ufdfa"), false},
		{"line feeds", fill("<pre>", "\n"), false},
		{"white space", fill("", " \n"), false},
	}
}

// B5: no page takes time or memory out of proportion, refused or not.
func TestHostilePages(t *testing.T) {
	const size, bound, memory = 300_000, 8 * time.Second, 1500
	for _, tt := range hostilePages(size) {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Process(context.Background(), []byte(tt.page), "text/html; charset=utf-8", Options{HTML: HTMLOptions{KeepLinks: true}})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var refused *Error
			if errors.As(err, &refused) != tt.refused || refused != nil && refused.Reason != HTMLLimit {
				t.Errorf("refused: %v, want %v", err, tt.refused)
			}
			if took > bound {
				t.Errorf("%d bytes took %v", len(tt.page), took)
			}
			if grown := (after.TotalAlloc - before.TotalAlloc) / uint64(len(tt.page)); grown > memory {
				t.Errorf("%d bytes allocated for each byte", grown)
			}
		})
	}
}

// The guard lets ordinary pages through, and what it refuses is out of the
// ordinary.
func TestMarkupGuard(t *testing.T) {
	article := "<div class='x'><h2><a href='/a?b=c'><b>Title</b></a></h2><p>Some <em>text</em> with <code class='go'>code</code> and <i class='icon i-%d'></i>.</p><a href=/z><div><strong>x</strong></div></a></div>\n"
	page := "<!doctype html><script>if (a<b && c>\"<i>\") {}</script>" + each(9000, article)
	if len(page) > 1_800_000 {
		page = page[:1_800_000]
	}
	if err := guardMarkup(page); err != nil {
		t.Errorf("%d bytes: %v", len(page), err)
	}
	for name, page := range map[string]string{
		"attributes":   "<p" + attributes(20_000) + ">" + strings.Repeat("<p b>", 10_000),
		"by quotes":    "<p" + strings.Repeat(" a='>'", 20_000) + ">" + strings.Repeat("<p b>", 10_000),
		"on an end":    "</p" + attributes(20_000) + ">" + strings.Repeat("<p b>", 10_000),
		"upper case":   each(300, "<FONT A=%d>") + strings.Repeat("<p>x", 10_000),
		"in quotes":    each(300, "<font title='>' a=%d>") + strings.Repeat("<p>x", 10_000),
		"false ending": each(300, "<b a=%d>x</i>") + strings.Repeat("<p>x", 10_000),
	} {
		var refused *Error
		if err := guardMarkup(page); !errors.As(err, &refused) {
			t.Errorf("%s: let through", name)
		}
	}
}

// B5: the time budget ends the parser and the walk.
func TestTimeBudget(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Process(ctx, []byte(strings.Repeat("<p>x", 400_000)), "text/html", Options{})
	var refused *Error
	if !errors.As(err, &refused) || refused.Reason != HTMLLimit || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want HTMLLimit for the deadline", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
