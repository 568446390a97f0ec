package seal_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/audit/seal"
)

// fragments are what rules look at, so that random rows of them come near every edge.
var fragments = []string{
	"a", "Z", "é", "中", "_", "-", ".", "+", "/", "=", "==", "'", "`", "%", "@", ":", " ", "\n", "(", ")", "[", "]", "\"", "\\", "&", "x1",
	"7", "01701234567", "0170 1234567", "+49 170", "2026-01-15", "3.14159265", "192.168.100.200", "a@b.test", "@b.test", "a@", ".test",
	"Bearer ", "basic ", "eyJhbGciOiJI", ".e30", id, id[:20], aws, github, slack, random, random[:17], hash, jwt, "sk-", "SG.",
	`\n`, `\\n`, `\u0040`, `\\u0040`, "%40", "%2540", "&#64;", "%2B49", `\u00e9`, `\/`, "\xff", "\xa0", "[redacted-email]", "redacted-token]", "[redacted-",
}

// Whatever stands beside what: redacting twice is redacting once, JSON stays JSON, and
// the size stays within its bound.
func TestRedactProperties(t *testing.T) {
	rounds := 300_000
	if testing.Short() {
		rounds = 30_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		var text strings.Builder
		for range 1 + r.IntN(8) {
			text.WriteString(fragments[r.IntN(len(fragments))])
		}
		var kinds []seal.Kind
		for _, k := range seal.Kinds() {
			if r.IntN(3) > 0 {
				kinds = append(kinds, k)
			}
		}
		in := []byte(text.String())
		if r.IntN(2) == 0 {
			quoted, err := json.Marshal(map[string]any{text.String(): []any{r.Uint64(), text.String(), -r.Float64()}})
			if err != nil {
				t.Fatal(err)
			}
			in = quoted
		}
		if holds(t, in, kinds); t.Failed() {
			t.Fatalf("%q %v", in, kinds)
		}
	}
}
