package text

import (
	"iter"
	"unicode/utf8"
)

// Noticed counts what a text contains that is worth a look by an operator.
// Nothing depends on it: neither the text nor a decision.
type Noticed struct {
	// HiddenText counts the texts of a page that an attribute or an inline style
	// hides.
	HiddenText int
	// Unevaluated counts the style sheets of a page, inside or linked. They are
	// not evaluated: what they hide is part of the text.
	Unevaluated int
	// MixedScript counts words that mix Latin letters with Cyrillic or Greek
	// ones that look like Latin letters.
	MixedScript int
	// Phrases counts passages that read like instructions to a model. The list
	// of phrases is short and easily evaded.
	Phrases int
}

// Signals yields the name and the number of everything that was removed or
// noticed at least once, always in the same order: the kinds of [Counts.All],
// then
//
//	hidden_html         Noticed.HiddenText
//	css_unevaluated     Noticed.Unevaluated
//	mixed_script        Noticed.MixedScript
//	instruction_phrase  Noticed.Phrases
//
// The names are stable and never depend on the text.
func (r Result) Signals() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for name, n := range r.Removed.All() {
			if !yield(name, n) {
				return
			}
		}
		for _, s := range [...]struct {
			name string
			n    int
		}{
			{"hidden_html", r.Noticed.HiddenText},
			{"css_unevaluated", r.Noticed.Unevaluated},
			{"mixed_script", r.Noticed.MixedScript},
			{"instruction_phrase", r.Noticed.Phrases},
		} {
			if s.n > 0 && !yield(s.name, s.n) {
				return
			}
		}
	}
}

// lookAlikes are the Cyrillic and Greek letters that are drawn like a Latin one
// (after UTS #39, confusables; those of the common fonts).
const lookAlikes = "аеорсухіјѕԁһԛԝүҮАВЕКМНОРСТУХІЈЅԌԚԜӏӀ" + "ορνικυγαΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳϹ"

// isLookAlike is lookAlikes as a bitmap of U+0370 to U+052F.
var isLookAlike = func() (bits [(0x530 - 0x370) / 64]uint64) {
	for _, r := range lookAlikes {
		bits[(r-0x370)/64] |= 1 << ((r - 0x370) % 64)
	}
	return bits
}()

// mixedScriptWords counts the words with a Latin letter and a look-alike.
func mixedScriptWords(s string) int {
	if plain(s) {
		return 0
	}
	var count int
	var latin, alike bool
	end := func() {
		if latin && alike {
			count++
		}
		latin, alike = false, false
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c|0x20 >= 'a' && c|0x20 <= 'z' {
				latin = true
			} else if latin || alike {
				end()
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r >= 0x370 && r < 0x530:
			alike = alike || isLookAlike[(r-0x370)/64]>>((r-0x370)%64)&1 != 0
		case r >= 0xc0 && r < 0x250 && r != '×' && r != '÷', r >= 0x1e00 && r < 0x1f00:
			latin = true
		case r >= 0x300 && r < 0x370: // marks
		default:
			end()
		}
	}
	end()
	return count
}
