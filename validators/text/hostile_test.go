package text

import (
	"strings"
	"testing"
	"time"
)

// hostile are pieces whose repetition asks for the most work per byte, or would
// make a naive search quadratic.
var hostile = []struct{ name, piece string }{
	{"ASCII", "plain text. "},
	{"Cyrillic", "обычный текст "},
	{"zero width spaces", "\u200b"},
	{"every second character removed", "a\u200b"},
	{"joiners", "\u200d"},
	{"joiners of both kinds", "\u200c\u200d"},
	{"letters and joiners", "م\u200c"},
	{"letters of the last script and joiners", "\U00011a00\u200c"},
	{"ideographs and joiners", "日\u200c"},
	{"viramas and joiners", "्\u200c\u200d"},
	{"inherited marks", "\u064e"},
	{"inherited marks and joiners", "\u064e\u064e\u064e\u200c"},
	{"tatweels and joiners", "ــــ\u200d"},
	{"emoji and joiners", "\U0001f468\u200d"},
	{"emoji selectors", "\u2764\ufe0f"},
	{"emoji selectors and joiners", "\ufe0f\ufe0f\ufe0f\u200d"},
	{"skin tones", "\U0001f3fd"},
	{"skin tones and joiners before an emoji", "\U0001f3fd\U0001f3fd\u200d\U0001f468"},
	{"selectors", "\U000e0100"},
	{"black flags", blackFlag},
	{"flag tags that lead nowhere", blackFlag + "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074"},
	{"flags", scotland},
	{"escapes", "\x1b"},
	{"control sequence openings", "\x1b["},
	{"endless parameters", "\x1b[" + strings.Repeat("1;", 40)},
	{"control string openings", "\x1b]"},
	{"control string openings, C1", "\u009d"},
	{"control strings just too long", "\x1b]" + strings.Repeat("x", maxControlString)},
	{"terminators", "\x1b\\"},
	{"carriage returns", "\r"},
	{"line separators", "\u2028"},
	{"invalid bytes", "\xff"},
	{"cut sequences", "\xf0\x9f\x91"},
}

// No repetition of anything, nor one long run between two ends, makes cleaning
// slow: a megabyte takes milliseconds; quadratic work would take minutes.
func TestHostileInputIsLinear(t *testing.T) {
	const size, bound = 1 << 20, time.Minute
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			run := strings.Repeat(tt.piece, size/len(tt.piece))
			for _, in := range []string{"م" + run + "م\U0001f468" + run[:len(run)/4] + "\u200d\U0001f468", "\x1b]" + run[:len(run)/4] + "\a"} {
				start := time.Now()
				out, removed := CleanMember(in)
				FirstRemovable(in)
				if took := time.Since(start); took > bound {
					t.Errorf("%d bytes took %v", len(in), took)
				}
				if len(out) > len(in) || removed.Total() > len(in) {
					t.Errorf("%d bytes in, %d out, %d removed", len(in), len(out), removed.Total())
				}
			}
		})
	}
}

func BenchmarkCleanMember(b *testing.B) {
	for _, tt := range hostile {
		b.Run(strings.ReplaceAll(tt.name, " ", "-"), func(b *testing.B) {
			in := strings.Repeat(tt.piece, 1<<16/len(tt.piece))
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				CleanMember(in)
			}
		})
	}
}
