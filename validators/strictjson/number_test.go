package strictjson_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// RFC 8259 section 6, and 5-results: magnitude by the digits alone. Cases 032, 034, 035, 037.
func TestNumbers(t *testing.T) {
	const ok = strictjson.Reason(0)
	const limit, syntax = strictjson.NumberLimit, strictjson.Syntax
	zeros := func(n int) string { return strings.Repeat("0", n) }
	for _, row := range []struct {
		src    string
		reason strictjson.Reason
		offset int
	}{
		{"0", ok, 0},
		{"-0", ok, 0},
		{"-0.0e-0", ok, 0},
		{"725653563933458432", ok, 0},
		{"9007199254740993", ok, 0},
		{"1E+2", ok, 0},
		{"1e0000000000000000000000002", ok, 0},
		{"1e308", ok, 0},
		{"1e+308", ok, 0},
		{"-1e308", ok, 0},
		{"9.99e308", ok, 0}, // by its exponent; infinite as a double
		{"1e309", limit, 0},
		{"-1e309", limit, 0},
		{"10e307", ok, 0},
		{"10e308", limit, 0},
		{"100.00e306", ok, 0},
		{"100.00e307", limit, 0},
		{"0.1e309", ok, 0},
		{"0.1e310", limit, 0},
		{"0.001e311", ok, 0},
		{"0.001e312", limit, 0},
		{"0.0012e312", limit, 0},
		{"1e-308", ok, 0},
		{"9.99e-308", ok, 0},
		{"1e-309", limit, 0},
		{"0.1e-307", ok, 0},
		{"0.1e-308", limit, 0},
		{"10e-309", ok, 0},
		{"10e-310", limit, 0},
		{"1" + zeros(100) + "e208", ok, 0},
		{"1" + zeros(100) + "e209", limit, 0},
		{"1" + zeros(100) + "e-408", ok, 0},
		{"1" + zeros(100) + "e-409", limit, 0},
		{"0." + zeros(99) + "1e408", ok, 0},
		{"0." + zeros(99) + "1e409", limit, 0},
		{"0." + zeros(99) + "1e-208", ok, 0},
		{"0." + zeros(99) + "1e-209", limit, 0},
		{"0e308", ok, 0},
		{"0e309", limit, 0},
		{"0.000e308", ok, 0},
		{"-0e-308", ok, 0},
		{"0e-309", limit, 0},
		{"1e400", limit, 0},
		{"1e-400", limit, 0},
		{"1e2000000", limit, 0},
		{"1e-1000001", limit, 0},
		{"1e999999999", limit, 0},
		{"0e999999999", limit, 0},
		{"1e-" + strings.Repeat("9", 120), limit, 0},
		{"1e18446744073709551616", limit, 0},
		{strings.Repeat("9", 128), ok, 0},
		{strings.Repeat("9", 129), limit, 0},
		{"-" + strings.Repeat("9", 127), ok, 0},
		{"-" + strings.Repeat("9", 128), limit, 0},
		{"1e" + zeros(126), ok, 0},
		{"1e" + zeros(127), limit, 0},
		{"9" + strings.Repeat("9", 262_143), limit, 0},
		{"01", syntax, 1},
		{"-01", syntax, 2},
		{"00", syntax, 1},
		{zeros(200), syntax, 1},
		{"-", syntax, 1},
		{"--1", syntax, 1},
		{"+1", syntax, 0},
		{".5", syntax, 0},
		{"-.5", syntax, 1},
		{"1.", syntax, 2},
		{"1.e5", syntax, 2},
		{"1e", syntax, 2},
		{"1e+", syntax, 3},
		{"1e+-5", syntax, 3},
		{"1.5.5", syntax, 3},
		{"1e5.5", syntax, 3},
		{"0x10", syntax, 1},
		{"1_000", syntax, 1},
		{"1a", syntax, 1},
		{"１", syntax, 0},
	} {
		t.Run(brief(row.src), func(t *testing.T) {
			if row.reason == ok {
				v := mustParse(t, row.src)
				if v.Digits() != row.src || v.Decimal().Cmp(decimal(t, row.src)) != 0 {
					t.Errorf("digits %q", v.Digits())
				}
				return
			}
			if fault := refusal(t, row.src, strictjson.Ceilings()); fault.Reason != row.reason || fault.Offset != row.offset {
				t.Errorf("%v, want %v at byte %d", fault, row.reason, row.offset)
			}
			inside := "[" + row.src + "]" // the same inside a container, one byte later
			if fault := refusal(t, inside, strictjson.Ceilings()); fault.Reason != row.reason || fault.Offset != row.offset+1 {
				t.Errorf("inside an array: %v", fault)
			}
		})
	}
}

// The magnitude of tokens without an exponent is judged where longer ones are allowed.
func TestMagnitudeByLength(t *testing.T) {
	long := narrow(func(l *strictjson.Limits) { l.MaxNumberChars = 1000 })
	for n := 300; n < 320; n++ {
		for src, ok := range map[string]bool{
			"1" + strings.Repeat("0", n):         n <= strictjson.MaxExponent,
			"-9" + strings.Repeat("9", n) + ".9": n <= strictjson.MaxExponent,
			"0." + strings.Repeat("0", n) + "1":  n+1 <= strictjson.MaxExponent,
			"0." + strings.Repeat("0", n):        true,
		} {
			if _, err := strictjson.Parse([]byte(src), long); (err == nil) != ok {
				t.Errorf("%s: %v", brief(src), err)
			}
		}
	}
}

// D1: near both ends of the range, exactly the numbers from 10^-308 up to 10^309 pass,
// math/big being the judge.
func TestMagnitudeAgainstRat(t *testing.T) {
	lowest, beyond := rat("1e-308"), rat("1e309")
	w := newWriter(9)
	passed := 0
	for range 4000 {
		zeros, more := strings.Repeat("0", w.IntN(50)), strings.Repeat("0", w.IntN(50))
		src := w.pick("", "-") + w.pick("1", "9.99", "0."+zeros+"1", "0."+zeros+"25"+more, "7"+more, "12"+more+".5")
		src += fmt.Sprintf("%s%d", w.pick("e", "E-"), 308-60+w.IntN(120))
		x := rat(src)
		x.Abs(x)
		want := x.Cmp(lowest) >= 0 && x.Cmp(beyond) < 0
		if want {
			passed++
		}
		if _, err := strictjson.Parse([]byte(src), strictjson.Ceilings()); (err == nil) != want {
			t.Errorf("%s: %v", src, err)
		}
	}
	if passed < 1000 || passed > 3000 {
		t.Errorf("%d of 4000 pass: too one-sided", passed)
	}
}

func decimal(t testing.TB, token string) strictjson.Decimal {
	t.Helper()
	d, ok := strictjson.ParseDecimal(token)
	if !ok {
		t.Fatalf("%s is no decimal", brief(token))
	}
	return d
}

// ParseDecimal takes number tokens and nothing else, up to its own exponent.
func TestParseDecimal(t *testing.T) {
	for _, src := range []string{"", "-", "+1", " 1", "1 ", "01", "1.", ".1", "1e", "1e+", "0x1", "1,5", "NaN", "1e10001", "1e-10001", "1e99999999999999999999", "1\x00"} {
		if d, ok := strictjson.ParseDecimal(src); ok || !d.IsZero() {
			t.Errorf("%q is a decimal", src)
		}
	}
	for _, src := range []string{"1e10000", "-1e-10000", "0e10000", "1" + strings.Repeat("0", 20_000)} {
		decimal(t, src)
	}
	if zero := (strictjson.Decimal{}); !zero.IsZero() || !zero.IsInteger() || zero.Sign() != 0 || zero.Cmp(decimal(t, "-0.0e5")) != 0 {
		t.Error("the zero Decimal is not 0")
	}
}

// JSON Schema Validation section 6.1.1: what counts as an integer, and which fit.
func TestInt64(t *testing.T) {
	for _, row := range []struct {
		src     string
		integer bool
		n       int64
		fits    bool
	}{
		{"0", true, 0, true},
		{"-0", true, 0, true},
		{"0.0e-300", true, 0, true},
		{"1.0", true, 1, true},
		{"1e2", true, 100, true},
		{"-120e-1", true, -12, true},
		{"1.5", false, 0, false},
		{"1e-1", false, 0, false},
		{"0.999999999999999999999", false, 0, false},
		{"9223372036854775807", true, 1<<63 - 1, true},
		{"9223372036854775807.00", true, 1<<63 - 1, true},
		{"9223372036854775808", true, 0, false},
		{"-9223372036854775808", true, -1 << 63, true},
		{"-9223372036854775809", true, 0, false},
		{"9.223372036854775807e18", true, 1<<63 - 1, true},
		{"9999999999999999999", true, 0, false},
		{"1e19", true, 0, false},
		{"1e308", true, 0, false},
	} {
		d := decimal(t, row.src)
		n, fits := d.Int64()
		if d.IsInteger() != row.integer || n != row.n || fits != row.fits {
			t.Errorf("%s: integer %v, %d, fits %v", row.src, d.IsInteger(), n, fits)
		}
	}
}

func TestMultipleOf(t *testing.T) {
	for _, row := range []struct {
		d, step string
		want    bool
	}{
		{"4.5", "1.5", true},
		{"0.3", "0.1", true}, // false in binary
		{"19.99", "0.01", true},
		{"0.0075", "0.0001", true},
		{"0.00751", "0.0001", false},
		{"-9", "3", true},
		{"7", "2", false},
		{"0", "0.7", true},
		{"1e308", "1e-308", true},
		{"1e308", "3e-308", false},
		{"1e-308", "1e308", false},
		{"5", "0", false},
		{"0", "0", false},
		{"4", "-2", false},
	} {
		if got := decimal(t, row.d).MultipleOf(decimal(t, row.step)); got != row.want {
			t.Errorf("%s of %s: %v", row.d, row.step, got)
		}
	}
}

// compareWithRat holds two decimals against math/big, which computes exactly too.
func compareWithRat(t testing.TB, a, b string) {
	t.Helper()
	d, e, x, y := decimal(t, a), decimal(t, b), rat(a), rat(b)
	if got, want := d.Cmp(e), x.Cmp(y); got != want {
		t.Errorf("%s against %s: %d, want %d", a, b, got, want)
	}
	if d.IsInteger() != x.IsInt() || d.Sign() != x.Sign() || d.IsZero() != (x.Sign() == 0) {
		t.Errorf("%s: integer %v, sign %d", a, d.IsInteger(), d.Sign())
	}
	n, fits := d.Int64()
	if want := x.IsInt() && x.Num().IsInt64(); fits != want || (fits && n != x.Num().Int64()) || (!fits && n != 0) {
		t.Errorf("%s: %d, fits %v", a, n, fits)
	}
	want := y.Sign() > 0 && new(big.Rat).Quo(x, orOne(y)).IsInt()
	if got := d.MultipleOf(e); got != want {
		t.Errorf("%s multiple of %s: %v", a, b, got)
	}
}

func orOne(r *big.Rat) *big.Rat {
	if r.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return r
}

// D1: exact decimals, with math/big.Rat as the judge.
func TestDecimalAgainstRat(t *testing.T) {
	w := newWriter(3)
	for range 4000 {
		a, b := w.number(), w.number()
		compareWithRat(t, a, b)
		compareWithRat(t, a, a)
		small := fmt.Sprintf("%d.%d", w.IntN(20), w.IntN(100))
		step := w.pick("1", "2", "0.5", "0.25", "0.1", "0.01", "1e-2", "3", "-1", "0")
		compareWithRat(t, small, step)
		product := new(big.Rat).Mul(rat(b), big.NewRat(int64(w.IntN(1000)), 1)) // a multiple for certain
		if product.IsInt() && product.Sign() >= 0 && rat(b).Sign() > 0 {
			compareWithRat(t, product.Num().String(), b)
		}
	}
}

// Equal numbers in all their spellings.
func TestDecimalSpellings(t *testing.T) {
	for _, same := range [][]string{
		{"0", "-0", "0.0", "0e5", "-0.00e-7"},
		{"1", "1.0", "1.000", "10e-1", "0.1e1", "1e0", "1E+00"},
		{"-1200", "-1.2e3", "-12e2", "-0.0012E6", "-1200.0"},
		{"0.001", "1e-3", "0.1e-2", "1000e-6"},
	} {
		for _, a := range same {
			for _, b := range same {
				if decimal(t, a).Cmp(decimal(t, b)) != 0 {
					t.Errorf("%s differs from %s", a, b)
				}
				if !strictjson.Equal(mustParse(t, a), mustParse(t, b)) {
					t.Errorf("Equal: %s differs from %s", a, b)
				}
			}
		}
	}
}

func FuzzDecimal(f *testing.F) {
	for _, row := range [][2]string{
		{"0", "-0"}, {"1.50", "0.5"}, {"1e308", "1e-308"}, {"9007199254740993", "3"}, {"-12E+2", "0.0"}, {"", "1"}, {"01", "1e"}, {"1e99999", "1"},
	} {
		f.Add(row[0], row[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 300 {
			t.Skip("longer than any number the service takes")
		}
		v, err := strictjson.Parse([]byte(a), strictjson.Ceilings())
		if d, ok := strictjson.ParseDecimal(a); err == nil && v.Kind() == strictjson.Number && a == v.Digits() && (!ok || d.Cmp(v.Decimal()) != 0) {
			t.Error("Parse and ParseDecimal disagree")
		}
		if !tame(a) || !tame(b) {
			return
		}
		compareWithRat(t, a, b)
	})
}

// tame is true for tokens that Parse accepts, whose exponents math/big can expand.
func tame(token string) bool {
	v, err := strictjson.Parse([]byte(token), strictjson.Ceilings())
	return err == nil && v.Digits() == token
}
