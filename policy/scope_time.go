package policy

import (
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/validators/format"
)

// period is a range of time, its end excluded.
type period struct{ start, end time.Time }

var timeKind = kind[time.Time, period]{
	value:   fromText(parseTime),
	pattern: parsePeriod,
	covers:  func(p *period, v *time.Time) bool { return !v.Before(p.start) && v.Before(p.end) },
	text:    func(v *time.Time) string { return v.UTC().Format(time.RFC3339Nano) },
}

// maxFraction is how many digits of a second an instant of Go holds. What has more
// would be cut, and could be moved over a bound.
const maxFraction = 9

// parseTime is the canonicaliser of type time. Small letters are well-formed (RFC 3339
// section 5.6) but no parser of Go's library reads them, and a leap second is no
// instant that executors agree about.
func parseTime(s string) (time.Time, bool) {
	if strings.ContainsAny(s, "tz") {
		return time.Time{}, false
	}
	_, fraction, _ := strings.Cut(s, ".")
	if len(fraction)-len(strings.TrimLeft(fraction, "0123456789")) > maxFraction {
		return time.Time{}, false
	}
	t, leap, err := format.DateTime(s)
	return t, err == nil && !leap
}

// parsePeriod reads start/end.
func parsePeriod(s string) (period, bool) {
	from, to, found := strings.Cut(s, "/")
	start, ok1 := parseTime(from)
	end, ok2 := parseTime(to)
	return period{start, end}, found && ok1 && ok2
}
