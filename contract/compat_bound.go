package contract

import (
	"math"
	"strconv"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// bound is the tightest of the bounds of one kind.
type bound struct {
	set  bool
	at   strictjson.Decimal
	open bool // the bound itself is excluded
	text string
	site site
}

func (s *shape) tighten(kind string, least bool, b bound) {
	old := s.bounds[kind]
	order := 0
	if old.set {
		order = b.at.Cmp(old.at)
	}
	if !least {
		order = -order
	}
	if !old.set || order > 0 || (order == 0 && b.open) {
		s.bounds[kind] = b
	}
}

// ofIntegers is a bound of integers as the outermost one that passes: more than 0 is at
// least 1, at most 10.5 is at most 10. Bounds too far out to be counted stay as they are.
func (b bound) ofIntegers(least bool) bound {
	n, ok := b.near()
	if !ok {
		return b
	}
	inward := int64(-1)
	if least {
		inward = 1
	}
	for _, n := range [...]int64{n - inward, n, n + inward, n + 2*inward} { // rounding may be off by one
		at, _ := strictjson.ParseDecimal(strconv.FormatInt(n, 10))
		order := at.Cmp(b.at) * int(inward)
		if order > 0 || (order == 0 && !b.open) {
			b.at, b.open = at, false
			return b
		}
	}
	return b
}

// near is an integer less than 1 away from a bound; ok is false for one far out.
func (b bound) near() (n int64, ok bool) {
	if n, ok = b.at.Int64(); ok {
		const far = 1 << 62
		return n, n < far && n > -far
	}
	const far = 1 << 52 // up to here a float64 is less than 1 away
	f, err := strconv.ParseFloat(b.site.v.Digits(), 64)
	return int64(math.Round(max(-far, min(f, far)))), err == nil && math.Abs(f) < far
}
