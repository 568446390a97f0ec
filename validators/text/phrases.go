package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrases are beginnings of sentences that try to instruct a model, in lower
// case, one space between words. The list is for monitoring: it is neither
// complete nor a defence, and ordinary text about such attacks matches too. The
// first word of each is at least 6 bytes long.
var phrases = [...]string{
	// English
	"ignore all previous instruct", "ignore previous instruct", "ignore the previous instruct",
	"ignore all prior instruct", "ignore your instruct", "ignore the above", "ignore everything above",
	"disregard all previous", "disregard previous", "disregard the above", "disregard your instruct",
	"forget all previous", "forget your instruct", "forget everything you were told",
	"reveal your system prompt", "without telling the user",
	// Russian, Ukrainian
	"игнорируй предыдущие", "игнорируй все предыдущие", "игнорируйте предыдущие", "игнорируйте все предыдущие",
	"забудь предыдущие", "забудь все предыдущие", "забудьте все предыдущие",
	"системный промпт", "ігноруй попередні", "ігноруй усі попередні",
	// German
	"ignoriere alle vorherigen", "ignoriere die vorherigen", "ignoriere vorherige", "ignorieren sie alle vorherigen",
	"vergiss alle vorherigen", "vergiss deine anweisungen",
	// French
	"ignore les instructions précédentes", "ignore toutes les instructions", "ignorez les instructions précédentes",
	"ignorez toutes les instructions", "oublie les instructions", "oubliez les instructions",
	// Spanish, Portuguese, Italian
	"ignora las instrucciones", "ignora todas las instrucciones", "ignore las instrucciones",
	"olvida las instrucciones", "olvida todas las instrucciones",
	"ignore as instruções", "ignore todas as instruções", "esqueça as instruções",
	"ignora le istruzioni", "ignora tutte le istruzioni", "dimentica le istruzioni",
	// Turkish, Polish
	"önceki talimatları", "önceki tüm talimatları", "zignoruj poprzednie", "zignoruj wszystkie poprzednie",
	// Chinese, Japanese, Korean
	"忽略之前的指令", "忽略以上指令", "忽略所有先前", "忽略先前的", "無視先前的", "忽略之前的所有",
	"以前の指示を無視", "これまでの指示を無視", "上記の指示を無視", "이전 지시를 무시", "이전의 모든 지시", "모든 이전 지시",
	// Arabic, Hindi
	"تجاهل التعليمات السابقة", "تجاهل جميع التعليمات", "पिछले निर्देशों को अनदेखा", "पिछले सभी निर्देशों",
}

// Candidates are found by looking at four bytes in every four: a phrase of
// seven bytes or more shows one of its first four windows of that size there.
const (
	windowSize   = 4
	windowStride = 4
	windowBits   = 13
)

// windowTable is the filter: which hashes of four bytes can lie at the start of
// a phrase, and the windows themselves with what they are part of.
type windowTable struct {
	bits [1 << windowBits / 64]uint64
	at   map[uint32][]phraseAt
}

// phraseAt says that the window lies offset bytes into a phrase.
type phraseAt struct {
	phrase string
	offset int
}

var windows = newWindowTable(phrases[:])

func newWindowTable(list []string) *windowTable {
	t := &windowTable{at: map[uint32][]phraseAt{}}
	for _, p := range list {
		seen := map[uint32]bool{}
		_, first := utf8.DecodeRuneInString(p)
		title := strings.ToUpper(p[:first]) + p[first:]
		for _, form := range []string{p, title, strings.ToUpper(p)} {
			for _, form := range []string{form, strings.Replace(form, " ", "\n", 1), strings.Replace(form, " ", "\t", 1)} {
				for offset := range windowStride {
					w := window(form[offset:])
					if !seen[w] {
						seen[w] = true
						t.at[w] = append(t.at[w], phraseAt{p, offset})
						h := windowHash(w)
						t.bits[h/64] |= 1 << (h % 64)
					}
				}
			}
		}
	}
	return t
}

func window(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func windowHash(w uint32) uint32 { return w * 0x9e3779b1 >> (32 - windowBits) }

// instructionPhrases counts the phrases in s, whatever their case and white
// space.
func instructionPhrases(s string) int {
	count, end := 0, 0
	for i := 0; i+windowSize <= len(s); i += windowStride {
		w := window(s[i:])
		if h := windowHash(w); windows.bits[h/64]>>(h%64)&1 == 0 {
			continue
		}
		for _, c := range windows.at[w] {
			if i-c.offset < end {
				continue
			}
			if n := matchPhrase(s[i-c.offset:], c.phrase); n > 0 {
				count++
				end = i - c.offset + n
			}
		}
	}
	return count
}

// matchPhrase returns the length of the match of phrase at the start of s, or 0.
func matchPhrase(s, phrase string) int {
	rest := s
	for _, want := range phrase {
		got, size := utf8.DecodeRuneInString(rest)
		switch {
		case want == ' ':
			trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
			if len(trimmed) == len(rest) {
				return 0
			}
			rest = trimmed
			continue
		case want == 'ı' && got == 'I': // Turkish
		case size == 0 || got != want && unicode.ToLower(got) != want:
			return 0
		}
		rest = rest[size:]
	}
	return len(s) - len(rest)
}
