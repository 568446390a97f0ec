package policy

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// interval is a range of numbers, both ends included.
type interval struct {
	low, high       strictjson.Decimal
	hasLow, hasHigh bool
}

var numberKind = kind[strictjson.Decimal, interval]{
	value: func(v strictjson.Value) (strictjson.Decimal, bool) {
		return strictjson.ParseDecimal(v.Digits())
	},
	pattern: parseInterval,
	covers: func(p *interval, v *strictjson.Decimal) bool {
		return !(p.hasLow && v.Cmp(p.low) < 0) && !(p.hasHigh && v.Cmp(p.high) > 0)
	},
}

// parseInterval reads low..high, either of which may be left out, but not both. The
// bounds have the form of JSON numbers, as the values do.
func parseInterval(s string) (interval, bool) {
	low, high, found := strings.Cut(s, "..")
	if !found || low == "" && high == "" {
		return interval{}, false
	}
	r := interval{hasLow: low != "", hasHigh: high != ""}
	ok := true
	if r.hasLow {
		r.low, ok = strictjson.ParseDecimal(low)
	}
	if ok && r.hasHigh {
		r.high, ok = strictjson.ParseDecimal(high)
	}
	return r, ok
}
