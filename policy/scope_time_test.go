package policy

import (
	"strings"
	"testing"
	"time"
)

const january = "2026-01-01T00:00:00Z/2026-02-01T00:00:00Z"

var timeRows = []row{
	{"inside", january, "2026-01-15T12:00:00Z", inside},
	{"start", january, "2026-01-01T00:00:00Z", inside},
	{"end", january, "2026-02-01T00:00:00Z", outside},
	{"last nanosecond", january, "2026-01-31T23:59:59.999999999Z", inside},
	{"nanosecond before", january, "2025-12-31T23:59:59.999999999Z", outside},
	{"tenth digit", january, "2026-01-31T23:59:59.9999999999Z", malformed},
	{"tenth digit with an offset", january, "2026-01-31T23:59:59.0000000001+00:00", malformed},
	{"offset, inside", january, "2026-02-01T00:59:59+01:00", inside},
	{"offset, outside", january, "2026-01-31T23:00:00-01:00", outside},
	{"offset of the grant", "2026-01-01T01:00:00+01:00/2026-02-01T01:00:00+01:00", "2026-01-01T00:00:00Z", inside},
	{"unknown offset", january, "2026-01-15T12:00:00-00:00", inside},
	{"leap second", "2016-12-31T00:00:00Z/2017-01-02T00:00:00Z", "2016-12-31T23:59:60Z", malformed},
	{"leap second of the grant", "2016-12-31T23:59:60Z/2017-01-02T00:00:00Z", "2017-01-01T00:00:00Z", void},
	{"small t", january, "2026-01-15t12:00:00Z", malformed},
	{"small z", january, "2026-01-15T12:00:00z", malformed},
	{"no offset", january, "2026-01-15T12:00:00", malformed},
	{"date", january, "2026-01-15", malformed},
	{"blank for T", january, "2026-01-15 12:00:00Z", malformed},
	{"comma", january, "2026-01-15T12:00:00,5Z", malformed},
	{"offset of a day", january, "2026-01-15T12:00:00+24:00", malformed},
	{"no such day", january, "2026-01-32T00:00:00Z", malformed},
	{"24 hours", january, "2026-01-15T24:00:00Z", malformed},
	{"line end", january, "2026-01-15T12:00:00Z\n", malformed},
	{"two", january, "2026-01-15T12:00:00Z/2026-01-16T12:00:00Z", malformed},
	{"empty", january, "", malformed},
	{"no start", "/2026-02-01T00:00:00Z", "2026-01-15T12:00:00Z", void},
	{"no end", "2026-01-01T00:00:00Z/", "2026-01-15T12:00:00Z", void},
	{"no range", "2026-01-15T12:00:00Z", "2026-01-15T12:00:00Z", void},
	{"three parts", january + "/2026-03-01T00:00:00Z", "2026-01-15T12:00:00Z", void},
	{"duration", "2026-01-01T00:00:00Z/P1M", "2026-01-15T12:00:00Z", void},
	{"dates", "2026-01-01/2026-02-01", "2026-01-15T12:00:00Z", void},
	{"backwards", "2026-02-01T00:00:00Z/2026-01-01T00:00:00Z", "2026-01-15T12:00:00Z", outside},
	{"nothing", "2026-01-01T00:00:00Z/2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", outside},
}

// B9.
func TestTime(t *testing.T) {
	check(t, Time, timeRows, func(s string) bool { _, ok := parsePeriod(s); return ok })
}

func FuzzTime(f *testing.F) {
	seed(f, timeRows)
	f.Fuzz(func(t *testing.T, granted, used string) {
		v := text(t, strings.ToValidUTF8(used, "?"))
		for _, g := range []string{granted, used + "/9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z/" + used} {
			ok, _ := covers(t, Time, g, v)
			if !ok {
				continue
			}
			x, err := time.Parse(time.RFC3339Nano, v.Text())
			if err != nil {
				t.Fatalf("time refuses the covered %q: %v", v.Text(), err)
			}
			from, to, _ := strings.Cut(g, "/")
			start, err1 := time.Parse(time.RFC3339Nano, from)
			end, err2 := time.Parse(time.RFC3339Nano, to)
			if err1 != nil || err2 != nil || x.Before(start) || !x.Before(end) {
				t.Errorf("the grant %q covers %q (%v, %v)", g, v.Text(), err1, err2)
			}
		}
	})
}
