package strictjson

import (
	"math/big"
	"strings"
)

// Decimal is an exact decimal number: sign × 0.digits × 10^exp with neither leading
// nor trailing zeros in its digits. The zero Decimal is 0. It is immutable and
// comparable only by [Decimal.Cmp].
type Decimal struct {
	negative bool
	// The digits are those of head and then those of tail, the two sides of a point, which
	// are not copied to stand together.
	head, tail string
	exp        int
}

// digits returns how many there are.
func (d Decimal) digits() int { return len(d.head) + len(d.tail) }

// maxWrittenExponent bounds the exponent that ParseDecimal takes; beyond it nothing
// is computed at all.
const maxWrittenExponent = 10_000

// ParseDecimal reads a number token (RFC 8259 section 6). It takes time linear in the
// token and never expands an exponent. ok is false for anything that is no such token
// and for exponents beyond ±10,000.
func ParseDecimal(token string) (d Decimal, ok bool) {
	if token == "" {
		return Decimal{}, false
	}
	end, fault := numberEnd(token, 0)
	if fault != "" || end != len(token) {
		return Decimal{}, false
	}
	return decimalOf(token)
}

// decimalOf is ParseDecimal of what is known to be a number token.
func decimalOf(token string) (d Decimal, ok bool) {
	from := 0
	if token[0] == '-' {
		d.negative = true
		from = 1
	}
	end := digitsEnd(token, from)
	whole, fraction, written := token[from:end], "", 0
	if end < len(token) && token[end] == '.' {
		from = end + 1
		end = digitsEnd(token, from)
		fraction = withoutZeros(token[from:end])
	}
	if end < len(token) { // an exponent
		if written, ok = smallInt(token[end+1:]); !ok {
			return Decimal{}, false
		}
	}
	exp := written + len(whole)
	for whole != "" && whole[0] == '0' {
		whole = whole[1:]
		exp--
	}
	if whole == "" {
		for fraction != "" && fraction[0] == '0' {
			fraction = fraction[1:]
			exp--
		}
	}
	if fraction == "" {
		if whole = withoutZeros(whole); whole == "" {
			return Decimal{exp: written + 1}, true
		}
	}
	d.head, d.tail, d.exp = whole, fraction, exp
	return d, true
}

// withoutZeros cuts the zeros at the end.
func withoutZeros(digits string) string {
	for digits != "" && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits
}

// smallInt reads a signed exponent of at most maxWrittenExponent.
func smallInt(s string) (int, bool) {
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		s = s[1:]
	}
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
		if n > maxWrittenExponent {
			return 0, false
		}
	}
	if negative {
		n = -n
	}
	return n, true
}

// magnitude is e in d.ddd × 10^e; for zero the exponent that was written.
func (d Decimal) magnitude() int { return d.exp - 1 }

// IsZero reports whether d is 0 (or -0).
func (d Decimal) IsZero() bool { return d.digits() == 0 }

// IsInteger reports whether d has no fractional part; 1.0 and 1e2 are integers (JSON
// Schema Validation section 6.1.1).
func (d Decimal) IsInteger() bool { return d.IsZero() || d.exp >= d.digits() }

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.IsZero():
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// Cmp compares exactly and returns -1, 0 or 1. -0 equals 0.
func (d Decimal) Cmp(e Decimal) int {
	if s, t := d.Sign(), e.Sign(); s != t {
		if s < t {
			return -1
		}
		return 1
	} else if s == 0 {
		return 0
	}
	order := compareMagnitude(d, e)
	if d.negative {
		return -order
	}
	return order
}

func compareMagnitude(d, e Decimal) int {
	switch {
	case d.exp < e.exp:
		return -1
	case d.exp > e.exp:
		return 1
	}
	n := min(len(d.head), len(e.head))
	if order := strings.Compare(d.head[:n], e.head[:n]); order != 0 {
		return order
	}
	if len(d.head) < len(e.head) {
		return -compareParts(e.head[n:], e.tail, d.tail)
	}
	return compareParts(d.head[n:], d.tail, e.tail)
}

// compareParts compares the digits of a and then of b with those of c.
func compareParts(a, b, c string) int {
	n := min(len(a), len(c))
	if order := strings.Compare(a[:n], c[:n]); order != 0 || n < len(a) {
		if order == 0 {
			return 1
		}
		return order
	}
	return strings.Compare(b, c[n:])
}

// Int64 returns d as an int64; ok is false, and n 0, where d is no integer or does not
// fit.
func (d Decimal) Int64() (n int64, ok bool) {
	if d.IsZero() {
		return 0, true
	}
	if !d.IsInteger() || d.exp > 19 {
		return 0, false
	}
	z := d.scaled(0)
	if !z.IsInt64() {
		return 0, false
	}
	return z.Int64(), true
}

// MultipleOf reports whether d is an integer multiple of step, exactly. A step that
// is not greater than 0 has no multiples. Numbers that [Parse] let pass cost at most
// a few hundred digits of arithmetic.
func (d Decimal) MultipleOf(step Decimal) bool {
	if step.Sign() <= 0 {
		return false
	}
	if d.IsZero() {
		return true
	}
	low := min(d.exp-d.digits(), step.exp-step.digits())
	return new(big.Int).Rem(d.scaled(low), step.scaled(low)).Sign() == 0
}

// scaled returns d × 10^-low as an integer; low is at most the place of d's last
// digit.
func (d Decimal) scaled(low int) *big.Int {
	z, _ := new(big.Int).SetString(d.head+d.tail, 10)
	shift := d.exp - d.digits() - low
	z.Mul(z, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), nil))
	if d.negative {
		z.Neg(z)
	}
	return z
}
