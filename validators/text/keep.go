package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:generate go run gen_tables.go /usr/share/unicode

// protected returns how many bytes of s from offset i on a keep-rule protects:
// 0 where the removable character r at i must go, more than r's own size for a
// tag sequence.
//
// The rules look at s as it came and accept only characters that are not
// removable as neighbours, joiners of the same run and emoji modifiers aside.
// Such neighbours survive, therefore so does the protection when the result is
// stripped again.
func protected(s string, i int, r rune) int {
	var ok bool
	switch r {
	case vs15, vs16:
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		ok = unicode.Is(emojiVariationBase, before)
	case zwj:
		ok = joinsPictographs(s, i) || joinsLetters(s, i)
	case zwnj:
		ok = joinsLetters(s, i)
	case flagTagG:
		return flagTags(s, i)
	}
	if !ok {
		return 0
	}
	return utf8.RuneLen(r)
}

const (
	blackFlag = "\U0001f3f4"
	flagTagG  = '\U000e0067' // all three sequences begin with g
)

// rgiFlagTags are the tag parts of the three RGI_Emoji_Tag_Sequences: gbeng,
// gbsct, gbwls, each with its cancel tag. No other sequence is recommended for
// interchange, and any wider rule would let arbitrary tags through.
var rgiFlagTags = [...]string{
	"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
	"\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
}

// flagTags returns the length of the tag sequence at i, if it is one of the
// three and directly follows the black flag.
func flagTags(s string, i int) int {
	if !strings.HasSuffix(s[:i], blackFlag) {
		return 0
	}
	for _, tags := range rgiFlagTags {
		if strings.HasPrefix(s[i:], tags) {
			return len(tags)
		}
	}
	return 0
}

// joinsPictographs reports whether the ZWJ at i stands between two
// Extended_Pictographic characters, with U+FE0F and skin tones skipped on its
// left. The walk to the left ends at the ZWJ before it, so all walks together
// stay linear.
func joinsPictographs(s string, i int) bool {
	after, _ := utf8.DecodeRuneInString(s[i+len("\u200d"):])
	if !unicode.Is(extendedPictographic, after) {
		return false
	}
	for i > 0 {
		before, size := utf8.DecodeLastRuneInString(s[:i])
		if before != vs16 && !skinTone(before) {
			return unicode.Is(extendedPictographic, before)
		}
		i -= size
	}
	return false
}

func skinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// joinsLetters reports whether the joiner at i changes how the letters of a
// cursive or Indic script around it are drawn. A mark may follow as well as a
// letter: Bengali, Kannada and Sinhala put ZWJ before a virama, Khmer puts ZWNJ
// before a register shifter.
func joinsLetters(s string, i int) bool {
	script, virama := scriptBefore(s[:i])
	if script == nil || virama {
		return virama
	}
	// Only the first joiner of a run comes this far: the others have a joiner
	// before them, not a letter. So the walk over the run happens once.
	rest := strings.TrimLeft(s[i:], "\u200c\u200d")
	after, size := utf8.DecodeRuneInString(rest)
	return !invalid(after, size) && joiningScript(after) == script
}

// scriptBefore returns the joining script of the letter or mark at the end of
// s, or nil, and whether that character is a virama. Marks that take the script
// of their letter (Arabic vowel signs) and the tatweel, which several scripts
// share, pass on the script of what precedes them.
func scriptBefore(s string) (script *unicode.RangeTable, virama bool) {
	r, size := utf8.DecodeLastRuneInString(s)
	for size > 0 && passesScriptOn(r) {
		s = s[:len(s)-size]
		r, size = utf8.DecodeLastRuneInString(s)
	}
	script = joiningScript(r)
	if script == nil {
		return nil, false
	}
	const viramaClass = 9 // Canonical_Combining_Class=Virama
	return script, norm.NFD.PropertiesString(s[len(s)-size:]).CCC() == viramaClass
}

func passesScriptOn(r rune) bool {
	const tatweel = '\u0640'
	return r == tatweel || r >= 0x300 && unicode.Is(unicode.Inherited, r) && unicode.IsMark(r) && !Removable(r)
}

// joiningScripts are the scripts in which ZWNJ and ZWJ choose letter forms:
// those with joining letters (ArabicShaping: types D, R and L) and those with a
// conjunct-forming virama (Indic_Syllabic_Category Virama or
// Invisible_Stacker). Scripts whose killer only silences a vowel (Thai, Lao,
// Tibetan …) have no use for joiners.
var joiningScripts = []*unicode.RangeTable{
	// joining
	unicode.Adlam, unicode.Arabic, unicode.Chorasmian, unicode.Hanifi_Rohingya,
	unicode.Mandaic, unicode.Manichaean, unicode.Mongolian, unicode.Nko,
	unicode.Old_Uyghur, unicode.Phags_Pa, unicode.Psalter_Pahlavi,
	unicode.Sogdian, unicode.Syriac,
	// virama or stacker
	unicode.Balinese, unicode.Bengali, unicode.Bhaiksuki, unicode.Brahmi,
	unicode.Chakma, unicode.Devanagari, unicode.Dives_Akuru, unicode.Dogra,
	unicode.Grantha, unicode.Gujarati, unicode.Gunjala_Gondi,
	unicode.Gurmukhi, unicode.Javanese, unicode.Kaithi, unicode.Kannada,
	unicode.Kawi, unicode.Kharoshthi, unicode.Khmer, unicode.Khojki,
	unicode.Malayalam, unicode.Masaram_Gondi, unicode.Meetei_Mayek,
	unicode.Modi, unicode.Myanmar, unicode.Nandinagari, unicode.Newa,
	unicode.Oriya, unicode.Saurashtra, unicode.Sharada, unicode.Siddham,
	unicode.Sinhala, unicode.Soyombo, unicode.Sundanese,
	unicode.Syloti_Nagri, unicode.Tai_Tham, unicode.Takri, unicode.Tamil,
	unicode.Telugu, unicode.Tirhuta, unicode.Zanabazar_Square,
}

// scriptRange is a range of code points of one joining script.
type scriptRange struct {
	lo, hi rune
	script *unicode.RangeTable
}

// joiningRanges are the ranges of all joiningScripts in order. One binary
// search in it replaces 53 searches, which hostile text could ask for at every
// third byte.
var joiningRanges = rangesOf(joiningScripts)

func rangesOf(scripts []*unicode.RangeTable) []scriptRange {
	var out []scriptRange
	add := func(lo, hi, stride rune, script *unicode.RangeTable) {
		if stride == 1 {
			out = append(out, scriptRange{lo, hi, script})
			return
		}
		for r := lo; r <= hi; r += stride {
			out = append(out, scriptRange{r, r, script})
		}
	}
	for _, script := range scripts {
		for _, r := range script.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride), script)
		}
		for _, r := range script.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride), script)
		}
	}
	slices.SortFunc(out, func(a, b scriptRange) int { return cmp.Compare(a.lo, b.lo) })
	return out
}

// joiningScript returns the script of r if it is one of joiningScripts and r is
// a letter or a mark that is not removable itself, or nil.
func joiningScript(r rune) *unicode.RangeTable {
	i, found := slices.BinarySearchFunc(joiningRanges, r, func(s scriptRange, r rune) int {
		switch {
		case s.hi < r:
			return -1
		case s.lo > r:
			return 1
		}
		return 0
	})
	if !found || !unicode.In(r, unicode.L, unicode.M) || Removable(r) {
		return nil
	}
	return joiningRanges[i].script
}
