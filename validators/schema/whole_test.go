package schema

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// What shows without computing is what computing says; and it does show for what lies
// well inside.
func TestWholeBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	bounds := []string{"0", "-0.0", "1", "-1", "9.5", "-9.5", "10", "1e2", "-12", "1.20e1", "999999999999999", "1000000000000000", "-1e15", "1e300", "1e-300", "9223372036854775807", "-9223372036854775808"}
	tokens := []string{
		"0", "-0", "0.0", "-0.5", "0.5", "1", "1.0", "-1", "-1.000", "9.5", "9.4999999999999999999", "10", "10.0", "10.0000000000000000001", "1e1", "1E+1", "100", "-12", "-12.00", "-11.9",
		"999999999999999", "999999999999999.9", "1000000000000000", "9999999999999999999", "-999999999999999", "-1000000000000000.5", "1e-300", "0.1e1", "12.5e0", "0.1e3", "-1.5E2", "18446744073709551621", "1e300",
	}
	shown := 0
	for range 20_000 {
		var keywords []string
		for _, k := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
			if r.IntN(2) == 0 {
				keywords = append(keywords, fmt.Sprintf("%q:%s", k, pick(bounds)))
			}
		}
		if len(keywords) == 0 {
			continue
		}
		n, token := rulesOf(t, keywords), pick(tokens)
		certain := n.whole.hold(token)
		if certain {
			shown++
		}
		n.whole = wholeBounds{}
		v, l := parse(t, token), &location{number: n}
		if computed := (&run{ctx: context.Background()}).numberFits(l, v, nil); certain && !computed {
			t.Fatalf("%v hold %s, which does not conform", keywords, token)
		}
	}
	if shown < 1000 {
		t.Errorf("only %d show", shown)
	}
	for _, row := range []struct{ keywords, token string }{
		{`"minimum":0`, "0"}, {`"minimum":0`, "19.99"}, {`"exclusiveMinimum":0`, "1.5"}, {`"minimum":-5,"maximum":5`, "-4.5"}, {`"maximum":100`, "100"},
	} {
		if !rulesOf(t, []string{row.keywords}).whole.hold(row.token) {
			t.Errorf("that %s holds %s does not show", row.keywords, row.token)
		}
	}
}

func rulesOf(t *testing.T, keywords []string) *numberRules {
	t.Helper()
	n := &numberRules{}
	v := parse(t, "{"+strings.Join(keywords, ",")+"}")
	for name, to := range map[string]**strictjson.Decimal{
		"minimum": &n.minimum, "maximum": &n.maximum, "exclusiveMinimum": &n.above, "exclusiveMaximum": &n.below,
	} {
		if m := v.Member(name); m.Exists() {
			d := m.Decimal()
			*to = &d
		}
	}
	n.whole = n.wholeBounds()
	return n
}
