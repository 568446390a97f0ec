package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// oracleStrip says in the simplest way what StripInvisible must return for
// valid UTF-8: a list of code points, each judged alone, quadratic.
func oracleStrip(s string) string {
	in := []rune(s)
	var out []rune
	for i, r := range in {
		if !removableByDefinition(r) || oracleKeeps(in, i) {
			out = append(out, r)
		}
	}
	return string(out)
}

func oracleKeeps(in []rune, i int) bool {
	at := func(j int) rune {
		if j < 0 || j >= len(in) {
			return -1
		}
		return in[j]
	}
	switch r := in[i]; {
	case r == 0xfe0e || r == 0xfe0f:
		return unicode.Is(emojiVariationBase, at(i-1))
	case r >= 0xe0020 && r <= 0xe007f:
		for _, flag := range []string{england, scotland, wales} {
			points := []rune(flag)
			for start := max(0, i-6); start < i; start++ {
				if start+7 <= len(in) && string(in[start:start+7]) == string(points) {
					return true
				}
			}
		}
		return false
	case r != 0x200c && r != 0x200d:
		return false
	}
	left := i - 1
	for at(left) == 0xfe0f || at(left) >= 0x1f3fb && at(left) <= 0x1f3ff {
		left--
	}
	if in[i] == 0x200d && unicode.Is(extendedPictographic, at(left)) && unicode.Is(extendedPictographic, at(i+1)) {
		return true
	}
	left = i - 1
	for at(left) == 0x640 || unicode.Is(unicode.Inherited, at(left)) && unicode.Is(unicode.M, at(left)) && !removableByDefinition(at(left)) {
		left--
	}
	script := oracleScript(at(left))
	if script == "" {
		return false
	}
	if norm.NFC.PropertiesString(string(at(left))).CCC() == 9 {
		return true
	}
	right := i + 1
	for at(right) == 0x200c || at(right) == 0x200d {
		right++
	}
	return oracleScript(at(right)) == script
}

// oracleScript names the script of a letter or mark that has joiners.
func oracleScript(r rune) string {
	if !unicode.In(r, unicode.Letter, unicode.Mark) || removableByDefinition(r) {
		return ""
	}
	for _, name := range oracleScripts {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	return ""
}

var oracleScripts = strings.Fields("Adlam Arabic Chorasmian Hanifi_Rohingya Mandaic Manichaean Mongolian Nko Old_Uyghur" +
	" Phags_Pa Psalter_Pahlavi Sogdian Syriac Balinese Bengali Bhaiksuki Brahmi Chakma Devanagari Dives_Akuru Dogra" +
	" Grantha Gujarati Gunjala_Gondi Gurmukhi Javanese Kaithi Kannada Kawi Kharoshthi Khmer Khojki Malayalam" +
	" Masaram_Gondi Meetei_Mayek Modi Myanmar Nandinagari Newa Oriya Saurashtra Sharada Siddham Sinhala Soyombo" +
	" Sundanese Syloti_Nagri Tai_Tham Takri Tamil Telugu Tirhuta Zanabazar_Square")

// pieces are what random strings are made of: everything that a rule mentions,
// so that rules meet often.
var pieces = []string{
	"a", " ", "1", "\n", "\r", "\x1b", "[", "]", "m", "\a", "\\", "\u0085", "\u2028", "\u009b", "\u009c", "\u0301", "\u064e",
	"\u200c", "\u200c", "\u200d", "\u200d", "\u200d", "\ufe0f", "\ufe0f", "\ufe0e", "\ufe00", "\U000e0100",
	"\u200b", "\u202e", "\u00ad", "\u034f", "\u3164", "\ue000", "\ufffe", "\U000e0067",
	"م", "ه", "ـ", "ᠠ", "\u180b", "क", "्", "़", "ष", "র", "্", "ශ", "්", "ប", "\u17b4", "日", "\U0001fae9",
	"\u2764", "\U0001f468", "\U0001f469", "\U0001f3fd", "\U0001f600", blackFlag, scotland, scotland[4:],
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(14) {
		if rng.IntN(8) > 0 {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		} else if r := rune(rng.IntN(unicode.MaxRune + 1)); utf8.ValidRune(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// checkStrip and checkClean hold what is true for every string.
func checkStrip(t *testing.T, in string) {
	t.Helper()
	out, removed := StripInvisible(in)
	if !utf8.ValidString(out) {
		t.Errorf("%+q: output is not UTF-8: %+q", in, out)
	}
	if again, n := StripInvisible(out); again != out || n.Total() != 0 {
		t.Errorf("%+q: first %+q, then %+q", in, out, again)
	}
	if (removed.Total() == 0) != (out == in) {
		t.Errorf("%+q: %d removed, output %+q", in, removed.Total(), out)
	}
	if FirstRemovable(in) < 0 && out != in {
		t.Errorf("%+q: nothing is removable, output %+q", in, out)
	}
	if !utf8.ValidString(in) {
		return
	}
	if want := oracleStrip(in); out != want {
		t.Errorf("%+q: got %+q, want %+q", in, out, want)
	}
	if lost := utf8.RuneCountInString(in) - utf8.RuneCountInString(out); lost != removed.Total() {
		t.Errorf("%+q: %d lost, %d counted", in, lost, removed.Total())
	}
}

func checkClean(t *testing.T, in string) {
	t.Helper()
	out, _ := CleanMember(in)
	if !utf8.ValidString(out) {
		t.Errorf("%+q: output is not UTF-8: %+q", in, out)
	}
	if again, n := CleanMember(out); again != out || n.Total() != 0 {
		t.Errorf("%+q: first %+q, then %+q", in, out, again)
	}
	if strings.ContainsAny(out, "\r\v\f\u0085\u2028\u2029\x1b\u009b") {
		t.Errorf("%+q: a line end or an escape is left: %+q", in, out)
	}
	if want := oracleStrip(out); out != want {
		t.Errorf("%+q: something invisible is left: %+q", in, out)
	}
}

// D10: idempotence, validity and agreement with the oracle, whatever comes.
func TestRandomTexts(t *testing.T) {
	seed := seedOf(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 30_000 {
		in := randomText(rng)
		checkStrip(t, in)
		checkClean(t, in)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzStripInvisible(f *testing.F) {
	for _, tt := range kept {
		f.Add(tt.in)
	}
	for _, tt := range edges {
		f.Add(tt.in)
	}
	f.Fuzz(checkStrip)
}

func FuzzCleanMember(f *testing.F) {
	for _, tt := range members {
		if len(tt.in) < 1000 {
			f.Add(tt.in)
		}
	}
	f.Fuzz(checkClean)
}
