package semantic

import (
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

const freshness = contract.ReasonFreshness

// A12, A14: neither stale nor in the future, both ends inclusive to the nanosecond. The
// numbered rows are the public cases of these numbers.
func TestFresh(t *testing.T) {
	check := mustCompile(t, "fresh", `{"field":"/at","max_age":"5m","max_skew":"30s"}`)
	for _, row := range []struct {
		name, result string
		reason       contract.Reason
	}{
		{"now", `{"at":"2026-01-15T12:00:00Z"}`, ""},
		{"136: the oldest", `{"at":"2026-01-15T11:55:00Z"}`, ""},
		{"136: older by a second", `{"at":"2026-01-15T11:54:59Z"}`, freshness},
		{"older by a nanosecond", `{"at":"2026-01-15T11:54:59.999999999Z"}`, freshness},
		{"136: within the skew", `{"at":"2026-01-15T12:00:20Z"}`, ""},
		{"the newest", `{"at":"2026-01-15T12:00:30Z"}`, ""},
		{"newer by a nanosecond", `{"at":"2026-01-15T12:00:30.000000001Z"}`, freshness},
		{"136: an hour ahead", `{"at":"2026-01-15T13:00:00Z"}`, freshness},
		{"far future", `{"at":"9999-12-31T23:59:59Z"}`, freshness},
		{"far past", `{"at":"0001-01-01T00:00:00Z"}`, freshness},
		{"year 0", `{"at":"0000-01-01T00:00:00Z"}`, freshness},
		{"another offset, the same instant", `{"at":"2026-01-15T17:30:00+05:30"}`, ""},
		{"another offset, another instant", `{"at":"2026-01-15T12:00:00+05:30"}`, freshness},
		{"045: a real leap second", `{"at":"1990-12-31T23:59:60Z"}`, freshness},
		{"046: an impossible leap second", `{"at":"2009-05-31T14:53:60Z"}`, freshness},
		{"048: comma", `{"at":"2026-01-15T12:00:00,5Z"}`, freshness},
		{"048: one-digit hour", `{"at":"2026-01-15T1:00:00Z"}`, freshness},
		{"048: offset of a day", `{"at":"2026-01-16T12:00:00+24:00"}`, freshness},
		{"048: offset of sixty minutes", `{"at":"2026-01-15T13:00:00+00:60"}`, freshness},
		{"048: signs", `{"at":"2026-01-15T12:00:00+-0:+0"}`, freshness},
		{"no zone", `{"at":"2026-01-15T12:00:00"}`, freshness},
		{"a date", `{"at":"2026-01-15"}`, freshness},
		{"white space", `{"at":" 2026-01-15T12:00:00Z"}`, freshness},
		{"other digits", `{"at":"２０２６-01-15T12:00:00Z"}`, freshness},
		{"empty", `{"at":""}`, freshness},
		{"seconds since 1970", `{"at":1768478400}`, freshness},
		{"null", `{"at":null}`, freshness},
		{"missing", `{}`, freshness},
	} {
		t.Run(row.name, func(t *testing.T) {
			expect(t, check.Check(validators.Facts{Result: value(t, row.result), Now: noon}), row.reason, "/at")
		})
	}
	expect(t, check.Check(validators.Facts{Result: value(t, `{"at":"0001-01-01T00:00:00Z"}`)}), freshness, "/at")
}

// TestFreshLeapSecondNearNow: a leap second is refused for what it is, not for its age.
func TestFreshLeapSecondNearNow(t *testing.T) {
	check := mustCompile(t, "fresh", `{"field":"/at","max_age":"5m","max_skew":"30s"}`)
	f := validators.Facts{Result: value(t, `{"at":"2016-12-31T23:59:60Z"}`), Now: time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)}
	expect(t, check.Check(f), freshness, "/at")
	if _, ok := check.(validators.Freshness).FreshUntil(f); ok {
		t.Error("a leap second has a window")
	}
}

func TestFreshUntil(t *testing.T) {
	check := mustCompile(t, "fresh", `{"field":"/at","max_age":"5m","max_skew":"30s"}`).(validators.Freshness)
	f := validators.Facts{Result: value(t, `{"at":"2026-01-15T11:58:00.25Z"}`), Now: noon}
	at, ok := check.ObservedAt(f)
	if want := noon.Add(-2*time.Minute + 250*time.Millisecond); !ok || !at.Equal(want) {
		t.Errorf("observed at %v, %v", at, ok)
	}
	until, ok := check.FreshUntil(f)
	if want := noon.Add(3*time.Minute + 250*time.Millisecond); !ok || !until.Equal(want) {
		t.Errorf("fresh until %v, %v", until, ok)
	}
	for _, bad := range []string{`{}`, `{"at":1}`, `{"at":"yesterday"}`} {
		if until, ok := check.FreshUntil(validators.Facts{Result: value(t, bad), Now: noon}); ok || !until.IsZero() {
			t.Errorf("%s: fresh until %v", bad, until)
		}
	}
}

// TestFreshWindow: for any age, the verdict is the comparison of nanoseconds.
func TestFreshWindow(t *testing.T) {
	check := mustCompile(t, "fresh", `{"field":"/at","max_age":"2ns","max_skew":"3ns"}`)
	f := validators.Facts{Result: value(t, `{"at":"2026-01-15T12:00:00Z"}`)}
	for d := time.Duration(-6); d <= 6; d++ {
		f.Now = noon.Add(d)
		if got, want := check.Check(f) == nil, d <= 2 && d >= -3; got != want {
			t.Errorf("now %+d ns after the observation: %v", d, got)
		}
	}
}

func TestAfter(t *testing.T) {
	const check, argument = `{"field":"/end","than":{"field":"/start"}}`, `{"field":"/end","than":{"argument":"/since"}}`
	const reason = contract.ReasonCheck
	for _, row := range []struct {
		name, with, result, arguments string
		reason                        contract.Reason
	}{
		{"later", check, `{"start":"2026-01-15T12:00:00Z","end":"2026-01-15T12:00:00.000000001Z"}`, ``, ""},
		{"equal", check, `{"start":"2026-01-15T12:00:00Z","end":"2026-01-15T12:00:00Z"}`, ``, reason},
		{"equal in another zone", check, `{"start":"2026-01-15T12:00:00Z","end":"2026-01-15T13:00:00+01:00"}`, ``, reason},
		{"later by the text, earlier by the clock", check, `{"start":"2026-01-15T12:00:00Z","end":"2026-01-15T12:30:00+01:00"}`, ``, reason},
		{"earlier", check, `{"start":"2026-01-15T12:00:00Z","end":"2026-01-15T11:00:00Z"}`, ``, reason},
		{"missing end", check, `{"start":"2026-01-15T12:00:00Z"}`, ``, reason},
		{"missing start", check, `{"end":"2026-01-15T12:00:00Z"}`, ``, reason},
		{"leap second", check, `{"start":"1990-12-31T23:59:58Z","end":"1990-12-31T23:59:60Z"}`, ``, reason},
		{"leap second as bound", check, `{"start":"1990-12-31T23:59:60Z","end":"1991-01-01T00:00:01Z"}`, ``, reason},
		{"argument", argument, `{"end":"2026-01-15T12:00:00Z"}`, `{"since":"2026-01-15T11:00:00Z"}`, ""},
		{"argument not given", argument, `{"end":"2026-01-15T12:00:00Z","since":"2026-01-15T11:00:00Z"}`, `{}`, reason},
		{"argument of another type", argument, `{"end":"2026-01-15T12:00:00Z"}`, `{"since":5}`, reason},
	} {
		t.Run(row.name, func(t *testing.T) {
			expect(t, mustCompile(t, "after", row.with).Check(validators.Facts{
				Result: value(t, row.result), Request: validators.Request{Arguments: value(t, row.arguments)},
			}), row.reason, "/end")
		})
	}
}
