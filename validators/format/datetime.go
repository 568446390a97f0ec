package format

import "time"

// DateTime parses s as a strict RFC 3339 date-time (see the package doc).
//
// t is the instant in UTC; digits of the fraction beyond nanoseconds are cut
// off, not rounded. leap reports a leap second, which [time.Time] cannot
// represent: t is then the zero time and must not be used, nor replaced by
// :59. On an error, an [*Error] of format "date-time", t is the zero time too.
func DateTime(s string) (t time.Time, leap bool, err error) {
	e := guarded(func(s string) *Error {
		var bad *Error
		t, leap, bad = dateTime(s)
		return bad
	}, s)
	if e != nil {
		e.Format = "date-time"
		return time.Time{}, false, e
	}
	return t, leap, nil
}

// Date reports whether s is an RFC 3339 full-date; nil means yes, the error is
// an [*Error].
func Date(s string) error { return run("date", checkDate, s) }

// Time reports whether s is an RFC 3339 full-time, offset included; nil means
// yes, the error is an [*Error].
func Time(s string) error { return run("time", checkTime, s) }

// dateLen is the length of YYYY-MM-DD, clockLen that of HH:MM:SS, both bytes.
const (
	dateLen  = 10
	clockLen = 8
	// maxFraction bounds the digits of a fraction of a second. RFC 3339 has no bound, but
	// a time is taken for a short value wherever one is allowed.
	maxFraction = 32
)

func checkDateTime(s string) *Error {
	_, _, e := dateTime(s)
	return e
}

func checkDate(s string) *Error {
	if len(s) > dateLen {
		// A prefix fault is more telling than the length, so look there first.
		if _, _, _, e := date(s[:dateLen]); e != nil {
			return e
		}
		return fault(dateLen, "something follows the day")
	}
	_, _, _, e := date(s)
	return e
}

func checkTime(s string) *Error {
	c, e := parseClock(s)
	if e != nil {
		return e
	}
	const minutesOfDay = 24 * 60
	utc := (c.hour*60 + c.minute - c.offset + minutesOfDay) % minutesOfDay
	if c.second == 60 && utc != minutesOfDay-1 {
		return fault(6, leapElsewhere)
	}
	return nil
}

const leapElsewhere = "a leap second can only be 23:59:60 UTC at the end of a month"

func dateTime(s string) (t time.Time, leap bool, e *Error) {
	if len(s) <= dateLen {
		if e = checkDate(s); e == nil {
			e = fault(len(s), "no time follows the date")
		}
		return time.Time{}, false, e
	}
	year, month, day, e := date(s[:dateLen])
	if e != nil {
		return time.Time{}, false, e
	}
	if s[dateLen] != 'T' && s[dateLen] != 't' {
		return time.Time{}, false, fault(dateLen, "T expected between date and time")
	}
	c, e := parseClock(s[dateLen+1:])
	if e != nil {
		return time.Time{}, false, e.at(dateLen + 1)
	}
	minute := time.Date(year, time.Month(month), day, c.hour, c.minute-c.offset, 0, 0, time.UTC)
	if c.second < 60 {
		return minute.Add(time.Duration(c.second)*time.Second + time.Duration(c.nanos)), false, nil
	}
	// The minute of a leap second ends where a UTC month begins.
	next := minute.Add(time.Minute)
	if next.Day() != 1 || next.Hour() != 0 || next.Minute() != 0 {
		return time.Time{}, false, fault(dateLen+7, leapElsewhere)
	}
	return time.Time{}, true, nil
}

// date parses at most dateLen bytes.
func date(s string) (year, month, day int, e *Error) {
	if e = shape(s, "dddd-dd-dd"); e != nil {
		return 0, 0, 0, e
	}
	year, month, day = number(s[0:4]), number(s[5:7]), number(s[8:10])
	if month < 1 || month > 12 {
		return 0, 0, 0, fault(5, "no such month")
	}
	if day < 1 || day > daysIn(year, month) {
		return 0, 0, 0, fault(8, "no such day in this month")
	}
	return year, month, day, nil
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

// clock is a full-time; second may be 60, offset is in minutes east of UTC.
type clock struct {
	hour, minute, second, nanos, offset int
}

func parseClock(s string) (c clock, e *Error) {
	if e = shape(s[:min(len(s), clockLen)], "dd:dd:dd"); e != nil {
		return clock{}, e
	}
	c.hour, c.minute, c.second = number(s[0:2]), number(s[3:5]), number(s[6:8])
	switch {
	case c.hour > 23:
		return clock{}, fault(0, "no such hour")
	case c.minute > 59:
		return clock{}, fault(3, "no such minute")
	case c.second > 60:
		return clock{}, fault(6, "no such second")
	}
	i := clockLen
	if i < len(s) && s[i] == '.' {
		i++
		from := i
		for scale := 100_000_000; i < len(s) && isDigit(s[i]); i++ {
			c.nanos += int(s[i]-'0') * scale
			scale /= 10
			if i-from == maxFraction {
				return clock{}, fault(i, "a fraction of more than 32 digits")
			}
		}
		if i == from {
			return clock{}, fault(i, "a fraction without digits")
		}
	}
	c.offset, e = parseOffset(s[i:])
	return c, e.at(i)
}

// parseOffset reads "Z" or "+hh:mm" to the end of s, in minutes.
func parseOffset(s string) (minutes int, e *Error) {
	if s == "Z" || s == "z" {
		return 0, nil
	}
	if s == "" || s[0] != '+' && s[0] != '-' {
		if s != "" && (s[0] == 'Z' || s[0] == 'z') {
			return 0, fault(1, "something follows the offset")
		}
		return 0, fault(0, "Z or an offset expected")
	}
	if e = shape(s[1:min(len(s), 6)], "dd:dd"); e != nil {
		return 0, e.at(1)
	}
	if len(s) > 6 {
		return 0, fault(6, "something follows the offset")
	}
	hours, mins := number(s[1:3]), number(s[4:6])
	if hours > 23 {
		return 0, fault(1, "offset hour beyond 23")
	}
	if mins > 59 {
		return 0, fault(4, "offset minute beyond 59")
	}
	if minutes = hours*60 + mins; s[0] == '-' {
		minutes = -minutes
	}
	return minutes, nil
}

// shape compares s with a form in which d stands for an ASCII digit and every
// other byte for itself. s may not be longer than the form.
func shape(s, form string) *Error {
	for i := range len(form) {
		switch {
		case i >= len(s):
			return fault(i, "cut short")
		case form[i] == 'd' && !isDigit(s[i]):
			return fault(i, "a digit expected")
		case form[i] != 'd' && s[i] != form[i]:
			return fault(i, "a separator expected")
		}
	}
	return nil
}

// number reads a short run of digits that shape has seen.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// checkDuration walks the units in their order. Within a part no unit may be
// jumped over: P1Y2D and PT1H2S are not in the grammar.
func checkDuration(s string) *Error {
	if s == "" || s[0] != 'P' {
		return fault(0, "P expected")
	}
	units, clocked := "YMD", false
	i, next := 1, -1 // next: index of the one unit that may follow, -1 any
	for i < len(s) {
		if s[i] == 'T' {
			if clocked {
				return fault(i, "a second T")
			}
			units, clocked, next = "HMS", true, -1
			i++
			if i == len(s) {
				return fault(i, "no time element after T")
			}
			continue
		}
		from := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		if i == from {
			return fault(i, "a number expected")
		}
		if i == len(s) {
			return fault(i, "a number without a unit")
		}
		if s[i] == 'W' && from == 1 {
			if i+1 != len(s) {
				return fault(i+1, "weeks stand alone")
			}
			return nil
		}
		at := indexByte(units, s[i])
		if at < 0 || next >= 0 && at != next {
			return fault(i, "a unit out of place")
		}
		next = at + 1
		i++
	}
	if i == 1 {
		return fault(i, "no element after P")
	}
	return nil
}
