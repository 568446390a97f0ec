package semantic

import (
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/format"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// fresh bounds the age of an observation on both sides: one from the future would
// otherwise stay fresh for ever.
type fresh struct {
	field           strictjson.Pointer
	maxAge, maxSkew time.Duration
}

var _ validators.Freshness = fresh{}

func compileFresh(c validators.CheckContext) (validators.Check, error) {
	p := read(c.With)
	f := fresh{
		field:   p.pointer("field", c.Result),
		maxAge:  p.duration("max_age"),
		maxSkew: p.allowance("max_skew"),
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	return f, nil
}

// Check implements [validators.Check]. Both ends of the window are inside.
func (c fresh) Check(f validators.Facts) *validators.CheckFailure {
	at, problem := instant(f.Result.At(c.field))
	switch {
	case problem != "":
		return refuse(contract.ReasonFreshness, c.field, problem)
	case f.Now.IsZero():
		return refuse(contract.ReasonFreshness, c.field, "there is no clock to compare with")
	case at.Before(f.Now.Add(-c.maxAge)):
		return refuse(contract.ReasonFreshness, c.field, "the observation is older than allowed")
	case at.After(f.Now.Add(c.maxSkew)):
		return refuse(contract.ReasonFreshness, c.field, "the observation lies in the future")
	}
	return nil
}

// ObservedAt implements [validators.Freshness].
func (c fresh) ObservedAt(f validators.Facts) (time.Time, bool) {
	at, problem := instant(f.Result.At(c.field))
	return at, problem == ""
}

// FreshUntil implements [validators.Freshness]: the observation plus max_age. The check
// itself still passes at that instant; whoever uses the result stops before it.
func (c fresh) FreshUntil(f validators.Facts) (time.Time, bool) {
	at, ok := c.ObservedAt(f)
	if !ok {
		return time.Time{}, false
	}
	return at.Add(c.maxAge), true
}

// instant reads a date-time member, or says why it is none. A leap second has a valid
// format and no place on a clock that does not have it: to move it would be to make an
// observation up.
func instant(v strictjson.Value) (at time.Time, problem string) {
	if !v.Exists() {
		return time.Time{}, "the date-time is missing"
	}
	if v.Kind() != strictjson.String {
		return time.Time{}, "the member is no string and so no date-time"
	}
	at, leap, err := format.DateTime(v.Text())
	switch {
	case err != nil:
		return time.Time{}, "the member is no date-time (RFC 3339)"
	case leap:
		return time.Time{}, "a leap second cannot be compared"
	}
	return at, ""
}
