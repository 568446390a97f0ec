package text

import (
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
)

const (
	england  = blackFlag + "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	scotland = blackFlag + "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	wales    = blackFlag + "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
)

// kept is text that needs its invisible characters.
var kept = []struct{ name, in string }{
	{"family", "\U0001f468\u200d\U0001f469\u200d\U0001f467"},
	{"mending heart", "\u2764\ufe0f\u200d\U0001fa79"},
	{"heart on fire", "\u2764\ufe0f\u200d\U0001f525"},
	{"rainbow flag", "\U0001f3f3\ufe0f\u200d\U0001f308"},
	{"pirate flag", "\U0001f3f4\u200d\u2620\ufe0f"},
	{"woman running, skin tone", "\U0001f3c3\U0001f3fd\u200d\u2640\ufe0f"},
	{"handshake of two skin tones", "\U0001faf1\U0001f3fb\u200d\U0001faf2\U0001f3ff"},
	{"astronaut", "\U0001f9d1\u200d\U0001f680"},
	{"eye in speech bubble", "\U0001f441\ufe0f\u200d\U0001f5e8\ufe0f"},
	{"service dog", "\U0001f415\u200d\U0001f9ba"},
	{"polar bear", "\U0001f43b\u200d\u2744\ufe0f"},
	{"kiss", "\U0001f469\U0001f3fe\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f468\U0001f3fc"},
	{"emoji of a later Unicode", "\U0001f9d1\u200d\U0001fae9"},

	{"red heart", "\u2764\ufe0f"},
	{"text heart", "\u2764\ufe0e"},
	{"keycap one", "1\ufe0f\u20e3"},
	{"keycap hash", "#\ufe0f\u20e3"},
	{"keycap star", "*\ufe0f\u20e3"},
	{"copyright", "\u00a9\ufe0f"},
	{"trade mark", "\u2122\ufe0f"},
	{"sun", "\u2600\ufe0f"},
	{"check mark", "\u2714\ufe0f"},
	{"aeroplane", "\u2708\ufe0e"},
	{"information", "\u2139\ufe0f"},
	{"play button", "\u25b6\ufe0f"},
	{"hand with skin tone", "\u261d\U0001f3fd"},
	{"country flag", "\U0001f1e9\U0001f1ea"},

	{"England", england},
	{"Scotland", scotland},
	{"Wales", wales},
	{"two flags", wales + england},

	{"Persian: I want", "می\u200cخواهم"},
	{"Persian: books", "کتاب\u200cها"},
	{"Persian: house of", "خانه\u200cای"},
	{"Persian with a vowel sign", "کتابِ\u200cمن"},
	{"Persian after tatweel", "هـ\u200cا"},
	{"Urdu", "علم\u200cبر"},
	{"Syriac", "\u072b\u200c\u0720"},
	{"N'Ko", "\u07ca\u200d\u07cb"},
	{"Mongolian", "\u182a\u200d\u1820"},
	{"Hindi explicit virama", "क्\u200cष"},
	{"Hindi half form", "क्\u200dष"},
	{"Hindi eyelash ra", "दर्\u200dया"},
	{"Hindi half form at the end of a word", "क्\u200d है"},
	{"Marathi", "वाऱ्\u200dयाचा"},
	{"Bengali ya-phalaa after ra: RAB", "র\u200d্যাব"},
	{"Bengali explicit virama", "উদ্\u200cঘাটন"},
	{"Bengali khanda ta, old spelling", "হঠাত্\u200d"},
	{"Gujarati", "ક્\u200dષ"},
	{"Tamil", "க்\u200cஷ"},
	{"Telugu", "సాఫ్ట్\u200cవేర్"},
	{"Kannada ra before virama", "ರ\u200d್ಯ"},
	{"Malayalam chillu, old spelling", "അവന്\u200d"},
	{"Sinhala Sri Lanka", "ශ්\u200dරී ලංකා"},
	{"Sinhala touching letters", "ක\u200d්ෂ"},
	{"Khmer register shifter", "ប\u200c៊ី"},
	{"Myanmar", "က္\u200dက"},

	{"unassigned code points", "done \U0001fae9 name \U0002ebf0"},
	{"replacement character", "a\ufffdb"},
	{"line feed and tab", "a\n\tb"},
	{"Hebrew and Arabic", "שלום مرحبا"},
}

// D10: no emoji and no word is damaged.
func TestStripInvisibleKeeps(t *testing.T) {
	for _, tt := range kept {
		t.Run(tt.name, func(t *testing.T) {
			if got, removed := StripInvisible(tt.in); got != tt.in || removed != (Counts{}) {
				t.Errorf("%+q became %+q", tt.in, got)
			}
			if got, _ := CleanMember(tt.in); got != tt.in {
				t.Errorf("CleanMember: %+q became %+q", tt.in, got)
			}
		})
	}
}

// edges are the limits of the keep-rules.
var edges = []struct{ name, in, want string }{
	{"two ZWNJ in a row are one", "می\u200c\u200cخواهم", "می\u200cخواهم"},
	{"a run of joiners is its first", "می\u200d\u200c\u200d\u200cخواهم", "می\u200dخواهم"},
	{"two joiners after a virama are one", "क्\u200d\u200cष", "क्\u200dष"},
	{"ZWNJ before a space", "می\u200c خواهم", "می خواهم"},
	{"ZWNJ at the start", "\u200cمی", "می"},
	{"ZWNJ at the end", "می\u200c", "می"},
	{"ZWNJ after a digit", "۲۰\u200cساله", "۲۰ساله"},
	{"ZWNJ between scripts", "م\u200cक", "مक"},
	{"ZWNJ from Latin to Arabic", "HTML\u200cها", "HTMLها"},
	{"ZWNJ from Arabic to Latin", "ها\u200cHTML", "هاHTML"},
	{"ZWNJ in Hebrew, which has no forms to choose", "ש\u200cל", "של"},
	{"ZWJ in Thai, whose killer stacks nothing", "ก\u0e3a\u200dก", "ก\u0e3aก"},
	{"ZWNJ in Cyrillic", "па\u200cроль", "пароль"},
	{"ZWNJ between ideographs", "日\u200c本", "日本"},
	{"ZWNJ after a Latin letter with an inherited mark", "e\u0301\u200cم", "e\u0301م"},
	{"ZWNJ before an inherited mark", "م\u200c\u064eم", "م\u064eم"},
	{"a removed character separates", "م\u200c\u200fم", "مم"},
	{"and on the left", "م\u200f\u200cم", "مم"},
	{"ZWNJ after a removable mark", "ᠠ\u180b\u200cᠠ", "ᠠᠠ"},
	{"ZWNJ before a removable mark", "ក\u200c\u17b4", "ក"},
	{"ZWNJ before an invalid byte", "م\u200c\xffم", "مم"},

	{"ZWJ after an emoji", "\U0001f468\u200d", "\U0001f468"},
	{"ZWJ before an emoji", "\u200d\U0001f468", "\U0001f468"},
	{"ZWJ between an emoji and a letter", "\U0001f468\u200dx", "\U0001f468x"},
	{"ZWJ between a letter and an emoji", "x\u200d\U0001f468", "x\U0001f468"},
	{"two ZWJ between emoji", "\U0001f468\u200d\u200d\U0001f469", "\U0001f468\U0001f469"},
	{"ZWNJ between emoji", "\U0001f468\u200c\U0001f469", "\U0001f468\U0001f469"},
	{"ZWJ after U+FE0E", "\u2764\ufe0e\u200d\U0001f525", "\u2764\ufe0e\U0001f525"},
	{"ZWJ between skin tones only", "\U0001f3fb\u200d\U0001f468", "\U0001f3fb\U0001f468"},
	{"ZWJ before a skin tone", "\U0001f468\u200d\U0001f3fb", "\U0001f468\U0001f3fb"},
	{"ZWJ between regional indicators", "\U0001f1e9\u200d\U0001f1ea", "\U0001f1e9\U0001f1ea"},
	{"ZWJ between digits", "1\u200d2", "12"},

	{"selector after a letter", "a\ufe0f", "a"},
	{"selector at the start", "\ufe0fa", "a"},
	{"two selectors", "\u2764\ufe0f\ufe0f", "\u2764\ufe0f"},
	{"two different selectors", "\u2764\ufe0e\ufe0f", "\u2764\ufe0e"},
	{"another selector", "\u2764\ufe00", "\u2764"},
	{"selector not directly after", "\u2764\u200b\ufe0f", "\u2764"},
	{"selector where none is listed", "\U0001f600\ufe0f", "\U0001f600"},
	{"selector after a skin tone", "\u261d\U0001f3fd\ufe0f", "\u261d\U0001f3fd"},
	{"ideographic variation sequence", "\u845b\U000e0100", "\u845b"},

	{"payload after a flag", scotland + tagged("obey"), scotland},
	{"flag without its end", scotland[:len(scotland)-4] + " x", blackFlag + " x"},
	{"flag with one tag too many", blackFlag + tagged("gbsctx\x7f"), blackFlag},
	{"flag of Texas, not for interchange", blackFlag + tagged("ustx\x7f"), blackFlag},
	{"flag tags without a flag", tagged("gbsct\x7f"), ""},
	{"flag tags after a letter", "x" + tagged("gbsct\x7f"), "x"},
	{"flag tags not directly after", blackFlag + "\u200b" + tagged("gbsct\x7f"), blackFlag},
	{"flag tags twice", scotland + tagged("gbsct\x7f"), scotland},
}

// D10
func TestStripInvisibleEdges(t *testing.T) {
	for _, tt := range edges {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := StripInvisible(tt.in)
			if got != tt.want {
				t.Errorf("%+q became %+q, want %+q", tt.in, got, tt.want)
			}
			if again, removed := StripInvisible(got); again != got || removed.Total() != 0 {
				t.Errorf("the second time %+q became %+q", got, again)
			}
		})
	}
}

// The generated table agrees with another implementation: GB11 of UAX #29 keeps
// a ZWJ and what follows in one cluster between Extended_Pictographic only.
func TestExtendedPictographicAgreesWithSegmentation(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r <= 0xdfff || Removable(r) {
			continue
		}
		want := uniseg.GraphemeClusterCount(string(r)+"\u200d\U0001f468") == 1
		// Prepend characters stick to anything and are no pictographs.
		want = want && uniseg.GraphemeClusterCount(string(r)+"x") == 2
		if got := unicode.Is(extendedPictographic, r); got != want {
			t.Errorf("%U: Extended_Pictographic is %v, want %v", r, got, want)
		}
	}
}

// The ranges by which scripts are found cover the scripts' own tables exactly.
func TestJoiningScript(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		var want *unicode.RangeTable
		if name := oracleScript(r); name != "" {
			want = unicode.Scripts[name]
		}
		if got := joiningScript(r); got != want {
			t.Errorf("%U: another script than its own", r)
		}
	}
}
