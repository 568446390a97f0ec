package text

import (
	"maps"
	"strings"
	"testing"
)

// members are text members with what must become of them.
var members = []struct {
	name, in, want string
	removed        map[string]int
}{
	{"plain", "Build failed at step 3.", "Build failed at step 3.", nil},
	{"nul", "a\x00b", "ab", map[string]int{"control": 1}},
	{"line and paragraph separator", "a\u2028b\u2029c", "a\nb\nc", nil},
	{"line separator alone", "a\u2028b", "a\nb", nil},
	{"paragraph separator alone", "a\u2029b", "a\nb", nil},
	{"every line end", "a\r\nb\rc\u0085d\ve\ff\u2028g\u2029h\ni", "a\nb\nc\nd\ne\nf\ng\nh\ni", nil},
	{"CR CR LF", "a\r\r\nb", "a\n\nb", nil},
	{"LF CR", "a\n\rb", "a\n\nb", nil},
	{"CR and LF apart", "a\r\u200b\nb", "a\n\nb", map[string]int{"format": 1}},
	{"characters that share a first byte with line ends", "a\u00a0\u2027\u202a", "a\u00a0\u2027", map[string]int{"bidi_control": 1}},

	{"colour", "\x1b[1;31mred\x1b[0m", "red", map[string]int{"terminal_sequence": 2}},
	{"colour, C1", "\u009b1;31mred\u009bm", "red", map[string]int{"terminal_sequence": 2}},
	{"full colour", "\x1b[38:2::255:100:0;48:2::0:0:0mx", "x", map[string]int{"terminal_sequence": 1}},
	{"private mode", "\x1b[?25lx\x1b[?25h", "x", map[string]int{"terminal_sequence": 2}},
	{"intermediate byte", "\x1b[2 qx", "x", map[string]int{"terminal_sequence": 1}},
	{"erase line", "10%\x1b[2K\r20%", "10%\n20%", map[string]int{"terminal_sequence": 1}},
	{"tilde is a final byte", "\x1b[200~x\x1b[201~", "x", map[string]int{"terminal_sequence": 2}},
	{"colour cut off", "red\x1b[1;3", "red", map[string]int{"terminal_sequence": 1}},
	{"introducer cut off", "red\x1b[", "red", map[string]int{"terminal_sequence": 1}},
	{"colour broken by a line end", "\x1b[1;3\nx", "\nx", map[string]int{"terminal_sequence": 1}},
	{"colour broken by a colour", "\x1b[1;\x1b[0mx\u009b3\u009bmy", "xy", map[string]int{"terminal_sequence": 4}},
	{"colour broken by delete", "\x1b[1\x7fmx", "mx", map[string]int{"terminal_sequence": 1, "control": 1}},
	{"not a control sequence", "\x1b[1é", "[1é", map[string]int{"control": 1}},
	{"parameter after intermediate", "\x1b[ 1m", "[ 1m", map[string]int{"control": 1}},
	{"longest control sequence", "\x1b[" + strings.Repeat("1", 64) + "mx", "x", map[string]int{"terminal_sequence": 1}},
	{"too long a control sequence", "\x1b[" + strings.Repeat("1", 65) + "mx", "[" + strings.Repeat("1", 65) + "mx", map[string]int{"control": 1}},
	{"too long and cut off", "\x1b[" + strings.Repeat("1", 65), "[" + strings.Repeat("1", 65), map[string]int{"control": 1}},

	{"title, BEL", "\x1b]0;evil\ax", "x", map[string]int{"terminal_sequence": 1}},
	{"title, ST", "\x1b]0;evil\x1b\\x", "x", map[string]int{"terminal_sequence": 1}},
	{"title, C1", "\u009d0;évil\u009cx", "x", map[string]int{"terminal_sequence": 1}},
	{"hyperlink", "\x1b]8;;https://example.test/\x1b\\here\x1b]8;;\x1b\\.", "here.", map[string]int{"terminal_sequence": 2}},
	{"device control string", "\x1bPq#0;2;0;0;0\x1b\\x", "x", map[string]int{"terminal_sequence": 1}},
	{"application command", "\x1b_Gf=24;AAAA\x1b\\x\u009fG\u009c", "x", map[string]int{"terminal_sequence": 2}},
	{"privacy message, start of string", "\x1b^a\x1b\\x\x1bXb\x1b\\\u009ea\u009c\u0098b\u009c\u0090c\u009c", "x", map[string]int{"terminal_sequence": 5}},
	{"BEL ends an OSC only", "\x1bPa\ab", "Pab", map[string]int{"control": 2}},
	{"unterminated title", "\x1b]0;visible text", "]0;visible text", map[string]int{"control": 1}},
	{"title that ends on another line", "\x1b]0;visible\ntext\a", "]0;visible\ntext", map[string]int{"control": 2}},
	{"title that ends after another escape", "\x1b]0;visible \x1b[1mtext\a", "]0;visible text", map[string]int{"control": 2, "terminal_sequence": 1}},
	{"title that ends after a C1 character", "\x1b]0;visible \u0080text\a", "]0;visible text", map[string]int{"control": 3}},
	{"longest title", "\x1b]" + strings.Repeat("t", 8189) + "\ax", "x", map[string]int{"terminal_sequence": 1}},
	{"too long a title", "\x1b]" + strings.Repeat("t", 8190) + "\ax", "]" + strings.Repeat("t", 8190) + "x", map[string]int{"control": 2}},
	{"terminator alone", "a\x1b\\b\u009cc", "a\\bc", map[string]int{"control": 2}},

	{"character sets", "\x1b(B\x1b)0x", "x", map[string]int{"terminal_sequence": 2}},
	{"not a character set", "\x1b(see below)", "(see below)", map[string]int{"control": 1}},
	{"escape before a letter", "a\x1bb", "ab", map[string]int{"control": 1}},
	{"escape at the end", "a\x1b", "a", map[string]int{"control": 1}},
	{"sequence assembled by a removal", "\x1b\u200b[31mx", "[31mx", map[string]int{"control": 1, "format": 1}},
	{"sequence assembled by a sequence", "\x1b\x1b[m[31mx", "[31mx", map[string]int{"control": 1, "terminal_sequence": 1}},
	{"payload inside a sequence", "\x1b]0;" + "\U000e0041\u202e" + "\ax", "x", map[string]int{"terminal_sequence": 1}},
	{"the joiner sees the text without sequences", "م\x1b[m\u200cم", "م\u200cم", map[string]int{"terminal_sequence": 1}},
	{"invalid byte", "a\x9b1mb", "a1mb", map[string]int{"invalid_byte": 1}},
}

// B3, D10
func TestCleanMember(t *testing.T) {
	for _, tt := range members {
		t.Run(tt.name, func(t *testing.T) {
			got, removed := CleanMember(tt.in)
			if got != tt.want || !maps.Equal(counted(removed), tt.removed) {
				t.Errorf("%+q became %+q %v, want %+q %v", tt.in, got, counted(removed), tt.want, tt.removed)
			}
			if again, removed := CleanMember(got); again != got || removed.Total() != 0 {
				t.Errorf("the second time %+q became %+q", got, again)
			}
		})
	}
}

// D10: what StripInvisible removes, CleanMember removes too.
func TestCleanMemberStrips(t *testing.T) {
	for _, tt := range edges {
		if got, _ := CleanMember(tt.in); got != tt.want {
			t.Errorf("%s: %+q became %+q, want %+q", tt.name, tt.in, got, tt.want)
		}
	}
}
