package format

import (
	"strings"
	"testing"
)

func regexRows() []row {
	return []row{
		yes(""),
		yes("^[a-z0-9]{1,64}$"),
		yes(`^(?:a|b)+?\.\d{4}\/$`),
		yes(`(?<year>\d{4})-\k<year>`),
		yes(`\k<later>(?<later>x)`),
		yes(`(?<\u0061>x)\k<a>`),
		yes(`(?<n>a)|(?<n>b)`), // ES2025: in different alternatives
		yes(`(?:(?<n>a)|b(?<n>c))`),
		yes(`(?=a)(?!b)(?<=c*)(?<!d)`),
		yes(`(?i:a)(?i-ms:b)(?-i:c)`),
		yes(`[]`), yes(`[^]`), yes(`[-a]`), yes(`[a-]`), yes(`[\w-]`), yes(`[\b\-]`), yes(`[\d\s]`),
		yes(`\p{Lu}\P{Script=Greek}\p{sc=Grek}\p{ASCII}\p{gc=Nd}\p{Letter}`),
		yes(`\u{1F600}\uD83D\uDE00\x41\cA\0`),
		yes(`[\uD83D\uDE00-\u{1F64F}]`),
		yes(`a{00002,3}`),
		yes(`a{99999999999999999999,999999999999999999999}`),
		yes(`(a)\1`), yes(`\1(a)`),
		yes("\u00e9|\U0001f600*"),
		no(0, "("), no(1, "a)"), no(1, "a]"), no(1, "a}"), no(0, "["), no(0, "[a"), no(0, "[a-"), no(0, "(?:(?=)"),
		no(0, "*a"), no(2, "a**"), no(3, "a+??"), no(1, "^*"), no(2, `\b+`), no(4, `(?=)*`), no(5, `(?<=)*`), no(0, "{1}"),
		no(1, "a{2,1}"), no(1, "a{,1}"), no(1, "a{1"), no(1, "a{ 1}"), no(1, "a{10,9}"),
		no(0, `\`), no(0, `\a`), no(0, `\-`), no(0, `\_`), no(0, `\01`), no(0, `\c1`), no(0, `\x4`), no(2, `\u004`), no(2, `\u{110000}`), no(2, `\u{}`),
		no(0, `\Z`), no(0, `\k`), no(0, `\k<a>`), no(3, `\k<a`), no(0, `\1`), no(3, `(a)\2`), no(0, `\99999999999999999999`),
		no(1, `[b-a]`), no(1, `[a-\d]`), no(1, `[\d-a]`), no(1, `[\1]`), no(1, `[\B]`), no(1, `[\k]`),
		no(2, `\p`), no(2, `\p{`), no(2, `\p{}`), no(2, `\p{lu}`), no(2, `\p{Foo}`), no(2, `\p{Script=}`), no(2, `\p{Lu=a}`), no(2, `\p{Basic_Emoji}`), no(2, `\p{AHex Alphabetic}`),
		no(7, `(?<n>a)(?<n>b)`), no(5, `(?<n>(?<n>a))`), no(19, `(?:(?<n>a))|(?<n>b)(?<n>c)`), no(11, `(?:(?<n>a))(?<n>c)|`),
		no(3, `(?<>a)`), no(3, `(?<1>a)`), no(4, `(?<a-b>a)`), no(3, `(?<a`), no(3, `(?<\x41>a)`),
		no(2, `(?P<n>a)`), no(2, `(?#c)`), no(3, `(?i)a`), no(2, `(?)`), no(3, `(?ii:a)`), no(4, `(?i-i:a)`), no(3, `(?-:a)`), no(2, `(?`), no(2, `(?>a)`),
	}
}

// RE2 is another language: what it cannot compile is a lint elsewhere, and
// what only it has is refused here.
func TestRegexIsNotRE2(t *testing.T) {
	checkRows(t, "regex", []row{
		no(0, `\A\d+\z`), no(0, `\Qa\E`), no(10, `[[:alpha:]]`), no(2, `\pL`), no(0, `\C`),
		yes(`a(?=b)`), yes(`(?<!a)b`), yes(`(a)\1`), yes(`a{1001}`),
	})
}

// A pattern of nothing but open groups needs no stack of the goroutine.
func TestRegexDepth(t *testing.T) {
	half := MaxBytes / 2
	checkRows(t, "regex", []row{
		yes(strings.Repeat("(", half) + strings.Repeat(")", half)),
		no(MaxBytes-1, strings.Repeat("(", MaxBytes)),
		yes(strings.Repeat("(", 99) + strings.Repeat(")", 99) + `\99`),
	})
}
