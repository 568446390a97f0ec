package policy

import (
	"math/big"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

var numberRows = []row{
	{"inside", "0..100", "50", inside},
	{"low end", "0..100", "0", inside},
	{"high end", "0..100", "100", inside},
	{"high end written otherwise", "0..100", "1.00e2", inside},
	{"just above", "0..100", "100.00000000000000000000000000001", outside},
	{"just below", "0..100", "-0.00000000000000000000000000001", outside},
	{"minus zero", "0..100", "-0", inside},
	{"beyond double", "0..9007199254740992", "9007199254740993", outside},
	{"large", "..1e300", "1e301", outside},
	{"open below", "..100", "-1e300", inside},
	{"open below, above", "..100", "101", outside},
	{"open above", "5..", "1e300", inside},
	{"open above, below", "5..", "4.9", outside},
	{"negative", "-5..-1", "-3", inside},
	{"fractions", "0.5..1.5", "1.5", inside},
	{"one number", "5..5", "5.0", inside},
	{"backwards", "100..0", "50", outside},
	{"no ends", "..", "5", void},
	{"empty", "", "5", void},
	{"number alone", "5", "5", void},
	{"plus", "+0..100", "5", void},
	{"blank", "0 .. 100", "5", void},
	{"three dots", "0...5", "0.2", void},
	{"four dots", "0....5", "0", void},
	{"leading zero", "00..100", "5", void},
	{"hexadecimal", "0x0..0xff", "5", void},
	{"infinity", "0..Infinity", "5", void},
	{"not a number", "NaN..", "5", void},
	{"comma", "0..1,000", "5", void},
	{"hyphen", "0-100", "5", void},
	{"string", "0..100", `"50"`, malformed},
	{"true", "0..100", "true", malformed},
	{"null", "0..100", "null", malformed},
	{"object", "0..100", "{}", malformed},
}

// B9.
func TestNumber(t *testing.T) {
	check(t, Number, numberRows, func(s string) bool { _, ok := parseInterval(s); return ok })
}

func FuzzNumber(f *testing.F) {
	seed(f, numberRows)
	f.Fuzz(func(t *testing.T, granted, used string) {
		v, err := strictjson.Parse([]byte(used), strictjson.Ceilings())
		if err != nil || v.Kind() == strictjson.Array {
			return
		}
		for _, g := range []string{granted, used + ".." + used} {
			ok, _ := covers(t, Number, g, v)
			if !ok {
				continue
			}
			x, is := new(big.Rat).SetString(strings.TrimSpace(used))
			if !is {
				t.Fatalf("math/big does not read the covered %q", used)
			}
			low, high, _ := strings.Cut(g, "..")
			if strings.ContainsAny(low+high, "eE") && (len(low) > 8 || len(high) > 8) {
				continue // math/big would expand the exponents of the grant
			}
			for i, bound := range []string{low, high} {
				if bound == "" {
					continue
				}
				y, is := new(big.Rat).SetString(bound)
				if !is || x.Cmp(y) == 1-2*(1-i) {
					t.Errorf("the grant %q covers %q", g, used)
				}
			}
			if low == "" && high == "" {
				t.Errorf("the grant %q covers %q", g, used)
			}
		}
	})
}
