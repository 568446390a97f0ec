package text

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// ordinary is what texts without special characters are made of.
var ordinary = []string{
	"a", "B", "z ", " ", "  ", "\t", "\n", "\n", "\n\n", "\n\n\n\n", "\n\n\n\n\n\n", "\r\n", "\r\n\r\n\r\n\r\n", "\r", "7", "1,5", "«", "—", "…", "é", "ß", "Ω",
	"слово ", "Ж", "日本語", "한국", "עברית", "Ελλ", "(x)", "<b>", "&amp;", "x²", "½", "ﬁ", "Ａ", "①", "\u00a0", "\u3000", "\u2009", "™", "№", "ǆ",
	"the end. ", "{\"a\":1}", "e\u0301", "\u1112\u1161\u11ab",
}

func ordinaryText(rng *rand.Rand) string {
	var b strings.Builder
	n := rng.IntN(60)
	if rng.IntN(50) == 0 {
		n = 12_000 // beyond the cut
	}
	for range n {
		b.WriteString(ordinary[rng.IntN(len(ordinary))])
	}
	return b.String()
}

// seedsAnswer is what the seeds' function returned for a text.
type seedsAnswer struct {
	Text      string `json:"text"`
	Truncated bool   `json:"truncated"`
}

// runSeeds runs the seeds' own normalize_text, as their document prints it.
func runSeeds(t *testing.T, texts []string) []seedsAnswer {
	t.Helper()
	document, err := os.ReadFile(shared(t, "seeds/004_e52e187f2a01eb82.txt"))
	if err != nil {
		t.Fatal(err)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("absent: python3, which runs the seeds' function; TestSeedsPinned holds without it")
	}
	source := string(document)
	const first, last = "import re\nimport unicodedata", "return text[:MAX_TOOL_CHARS], truncated\n"
	from, to := strings.Index(source, first), strings.Index(source, last)
	if from < 0 || to < from {
		t.Fatal("the seeds' document does not contain the function")
	}
	program := source[from:to+len(last)] + `
import json, sys
sys.stdin.reconfigure(encoding="utf-8", newline="")
print(json.dumps([dict(zip(("text", "truncated"), normalize_text(s))) for s in json.loads(sys.stdin.read())]))
`
	input, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []seedsAnswer
	if err := json.Unmarshal(output, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// checkSeeds compares with the seeds' answer up to what the design adds: the
// trim after the cut, and the cut at a grapheme boundary.
func checkSeeds(t *testing.T, in string, want seedsAnswer) {
	t.Helper()
	got := process(t, in, "text/plain", Options{})
	text := strings.TrimSpace(want.Text)
	if want.Truncated {
		lost, found := strings.CutPrefix(text, got.Content)
		if found && utf8.RuneCountInString(lost) <= 1 {
			text = got.Content
		}
	}
	if got.Content != text || got.Truncated != want.Truncated {
		t.Errorf("%.200q\n got %.200q %v\nwant %.200q %v", in, got.Content, got.Truncated, text, want.Truncated)
	}
}

// B3: 2,000 random texts without special characters give what the seeds'
// function gives.
func TestSeedsRandom(t *testing.T) {
	seed := seedOf(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	texts := make([]string, 2000)
	for i := range texts {
		texts[i] = ordinaryText(rng)
	}
	answers := runSeeds(t, texts)
	if len(answers) != len(texts) {
		t.Fatalf("%d answers", len(answers))
	}
	for i, in := range texts {
		checkSeeds(t, in, answers[i])
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// B3: answers of the seeds' function that hold without python3.
func TestSeedsPinned(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want seedsAnswer
	}{
		{"", seedsAnswer{"", false}},
		{" \n a \t b \r\n c\rd \n", seedsAnswer{"a \t b \n c\nd", false}},
		{"a\n\n\n\nb\n\n\nc\n\nd", seedsAnswer{"a\n\n\nb\n\n\nc\n\nd", false}},
		{"a\r\n\r\n\r\n\r\n\r\nb", seedsAnswer{"a\n\n\nb", false}},
		{"x² ½ ﬁ Ａ ① ™ №", seedsAnswer{"x2 1⁄2 fi A 1 TM No", false}},
		{"e\u0301 \u1112\u1161\u11ab", seedsAnswer{"é 한", false}},
		{"\u00a0a\u3000b\u2009", seedsAnswer{"a b", false}},
		{strings.Repeat("я", 20_000), seedsAnswer{strings.Repeat("я", 20_000), false}},
		{strings.Repeat("я", 20_001), seedsAnswer{strings.Repeat("я", 20_000), true}},
		{strings.Repeat("a", 20_000) + "  \n", seedsAnswer{strings.Repeat("a", 20_000), false}},
		{strings.Repeat("a", 19_999) + " b", seedsAnswer{strings.Repeat("a", 19_999), true}},
	} {
		checkSeeds(t, tt.in, tt.want)
	}
}
