package format

import (
	"strings"
	"testing"
	"time"
)

func dateRows() []row {
	return []row{
		yes("2026-01-15"),
		yes("0000-02-29"), // the proleptic year 0 is a leap year
		yes("2000-02-29"),
		yes("9999-12-31"),
		no(8, "1900-02-29"),
		no(8, "2026-04-31"),
		no(8, "2026-06-00"),
		no(5, "2026-13-01"),
		no(5, "2026-00-01"),
		no(0, ""),
		no(9, "2026-01-1"),
		no(10, "2026-01-15\n"),
		no(10, "2026-01-15T00:00:00Z"),
		no(0, "\u0662026-01-15"), // ARABIC-INDIC DIGIT TWO
		no(4, "2026\u201301\u201315"),
		no(0, "-026-01-15"),
		no(0, " 2026-01-15"),
	}
}

func timeRows() []row {
	return []row{
		yes("00:00:00Z"),
		yes("23:59:59.999999999+23:59"),
		yes("10:00:00z"),
		yes("10:00:00-00:00"), // RFC 3339 section 4.3, unknown local offset
		yes("23:59:60Z"),
		yes("00:59:60+01:00"),
		yes("18:59:60-05:00"),
		no(6, "23:59:60+01:00"),
		no(6, "00:00:60Z"),
		no(6, "10:00:61Z"),
		no(0, "24:00:00Z"),
		no(3, "23:60:00Z"),
		no(8, "10:00:00"),
		no(8, "10:00:00,5Z"),
		no(9, "10:00:00.Z"),
		no(10, "10:00:00.5"),
		no(9, "10:00:00+24:00"),
		no(12, "10:00:00+00:60"),
		no(11, "10:00:00+01"),
		no(14, "10:00:00+01:00Z"),
		no(9, "10:00:00Z "),
		no(8, "10:00:00\u221201:00"), // MINUS SIGN
		no(9, "10:00:00++1:00"),
		no(5, "10:00Z"),
		no(1, "1:00:00Z"),
	}
}

func dateTimeRows() []row {
	return []row{
		yes("2026-01-15T12:00:00Z"),
		yes("2026-01-15t12:00:00.000000000001z"),
		yes("2026-01-15T12:00:00+14:00"),
		// 043
		no(0, "someinvalid datetime"),
		// 045: June and December, and shown in another offset
		yes("1990-12-31T23:59:60Z"),
		yes("2015-06-30T23:59:60Z"),
		yes("2016-12-31T23:59:60.5Z"),
		yes("2017-01-01T08:59:60+09:00"),
		yes("2016-12-31T15:59:60-08:00"),
		// 046: impossible instants
		no(17, "2009-05-31T14:53:60Z"),
		no(17, "2016-12-31T23:59:60+01:00"),
		no(17, "2016-12-30T23:59:60Z"), // the right minute of a day inside a month
		no(17, "2017-01-01T23:59:60Z"),
		no(17, "2016-12-31T00:59:60+01:00"),
		no(17, "2017-01-01T00:30:60Z"),
		no(17, "2016-12-31T23:59:61Z"),
		// 048: what time.Parse lets pass
		no(19, "2026-03-01T10:00:00,5Z"),
		no(12, "2026-03-01T1:00:00Z"),
		no(20, "2026-03-01T10:00:00+24:00"),
		no(23, "2026-03-01T10:00:00+00:60"),
		no(5, "0000-00-01T00:00:00+-0:+0"),
		no(20, "0000-01-01T00:00:00+-0:+0"),
		// others
		no(0, ""),
		no(10, "2026-01-15"),
		no(10, "2026-01-15 12:00:00Z"),
		no(10, "2026-01-15_12:00:00Z"),
		no(8, "2026-02-30T12:00:00Z"),
		no(20, "2026-01-15T12:00:00Z\n"),
		no(19, "2026-01-15T12:00:00"),
		no(20, "2026-01-15T12:00:00.Z"),
		no(11, "2026-01-15T"),
		no(4, "20260115T120000Z"),
		no(0, "\u00d7026-01-15T12:00:00Z"),
	}
}

func durationRows() []row {
	return []row{
		yes("P1Y"),
		yes("P1Y2M3DT4H5M6S"),
		yes("P3W"),
		yes("PT1M2S"),
		yes("P1MT1M"),
		yes("P1YT6S"), // a part of the date and a part of the time, each without gaps
		no(0, ""),
		no(0, "p1Y"),
		no(1, "P"),
		no(2, "P1y"),
		no(2, "P1"),
		no(2, "PT"),
		no(4, "P1YT"),
		no(1, "PW"),
		no(4, "P1Y1D"),
		no(5, "PT1H1S"),
		no(4, "P1D1M"),
		no(4, "P1Y1Y"),
		no(3, "P1W1D"),
		no(4, "P1D1W"),
		no(3, "PT1W"),
		no(4, "PT1HT1M"),
		no(3, "PT1.5S"),
		no(1, "P-1D"),
		no(3, "P1D\n"),
		no(1, "PP1D"),
	}
}

// A12: dates are parsed for real. Instants by hand, and what is not one.
func TestDateTime(t *testing.T) {
	for _, tt := range []struct {
		s    string
		want time.Time
		leap bool
	}{
		{s: "2026-01-15T12:00:00Z", want: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)},
		{s: "2026-01-15t12:00:00.25z", want: time.Date(2026, 1, 15, 12, 0, 0, 250_000_000, time.UTC)},
		{s: "2026-01-01T00:30:00+01:00", want: time.Date(2025, 12, 31, 23, 30, 0, 0, time.UTC)},
		{s: "2026-01-01T00:30:00-01:30", want: time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)},
		{s: "2026-01-15T12:00:00-00:00", want: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)},
		{s: "2026-01-15T12:00:00.9999999999Z", want: time.Date(2026, 1, 15, 12, 0, 0, 999_999_999, time.UTC)},
		{s: "1990-12-31T23:59:60Z", leap: true},
		{s: "2017-01-01T08:59:60+09:00", leap: true},
	} {
		got, leap, err := DateTime(tt.s)
		if err != nil || leap != tt.leap || !got.Equal(tt.want) || got.Location() != time.UTC {
			t.Errorf("%s: got %v, leap %v, %v", tt.s, got, leap, err)
		}
	}
	for _, s := range []string{"2026-01-15T12:00:00+24:00", "1990-12-31T23:58:60Z", "2026-01-15T12:00:00Z\xff", strings.Repeat("0", MaxBytes+1)} {
		if got, leap, err := DateTime(s); err == nil || leap || !got.IsZero() {
			t.Errorf("%.40q: got %v, leap %v, no error", s, got, leap)
		}
	}
}

// Every day that the calendar of time.Time has is a date, and no other.
func TestDateAgreesWithCalendar(t *testing.T) {
	for _, year := range []int{0, 1, 4, 100, 400, 1582, 1900, 2000, 2023, 2024, 2100, 9999} {
		for month := 1; month <= 12; month++ {
			for day := 1; day <= 31; day++ {
				d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
				if real := d.Day() == day; real != (day <= daysIn(year, month)) {
					t.Errorf("%d-%d-%d: real is %v", year, month, day, real)
				}
			}
		}
	}
}
