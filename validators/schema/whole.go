package schema

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// wholeBounds are integers between which every number conforms. Most numbers lie well
// between their bounds, and that shows before they are computed exactly. The zero
// wholeBounds say nothing.
type wholeBounds struct {
	least, most int64
	known       bool
}

const (
	maxWholeDigits = 15
	maxWhole       = 1_000_000_000_000_000 // more than so many digits can be
)

// wholeBounds computes them; of bounds that are no such integers, and of multipleOf, they
// say nothing.
func (n *numberRules) wholeBounds() wholeBounds {
	minimum, a := wholeOr(n.minimum, -maxWhole)
	above, b := wholeOr(n.above, -maxWhole)
	maximum, c := wholeOr(n.maximum, maxWhole)
	below, d := wholeOr(n.below, maxWhole)
	return wholeBounds{max(minimum, above+1), min(maximum, below-1), a && b && c && d && n.multipleOf == nil}
}

// wholeOr returns a bound as an integer, or absent where there is none.
func wholeOr(bound *strictjson.Decimal, absent int64) (i int64, ok bool) {
	if bound == nil {
		return absent, true
	}
	i, ok = bound.Int64()
	return i, ok && i > -maxWhole && i < maxWhole
}

// hold reports whether a number that is written so is certainly between the bounds; of
// one that is near them, long or written with an exponent it says no.
func (w *wholeBounds) hold(token string) bool {
	if !w.known {
		return false
	}
	digits, negative := token, token[0] == '-'
	if negative {
		digits = token[1:]
	}
	below, above := int64(0), int64(0) // the integers on both sides
	for i := range len(digits) {
		c := digits[i]
		if c == '.' {
			if !allDigits(digits[i+1:]) {
				return false
			}
			above++
			break
		}
		if c < '0' || c > '9' || i == maxWholeDigits {
			return false
		}
		below = 10*below + int64(c-'0')
		above = below
	}
	if negative {
		below, above = -above, -below
	}
	return w.least <= below && above <= w.most
}
