package format

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// FuzzFormats: no check panics, every error has its place inside the string,
// and what one parser takes, its wider relatives and the standard library take.
func FuzzFormats(f *testing.F) {
	for _, rows := range tables() {
		for _, r := range rows {
			f.Add(r.s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		conforming := map[string]bool{}
		for _, name := range Names() {
			check, _ := Lookup(name)
			err := check(s)
			conforming[name] = err == nil
			var e *Error
			if err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(s) || e.Reason == "") {
				t.Errorf("%s: %#v has no place inside %q", name, err, s)
			}
			if err == nil && (!utf8.ValidString(s) || len(s) > MaxBytes) {
				t.Errorf("%s takes %q", name, s)
			}
		}
		fuzzDateTime(t, s, conforming)
		fuzzInclusions(t, s, conforming)
		if utf8.ValidString(s) && !agreesWithNetip(s) {
			t.Errorf("%q is judged otherwise by net/netip", s)
		}
	})
}

// fuzzDateTime: what is accepted is the same instant for time.Parse, and a
// date-time is a date and a time around a T.
func fuzzDateTime(t *testing.T, s string, conforming map[string]bool) {
	got, leap, err := DateTime(s)
	if (err == nil) != conforming["date-time"] {
		t.Errorf("%q: DateTime and its check differ", s)
	}
	if err != nil {
		return
	}
	if !conforms3339(s) {
		t.Errorf("%q is a date-time whose parts are none", s)
	}
	want, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
	if leap {
		if err == nil || !got.IsZero() {
			t.Errorf("%q: a leap second with time %v, time.Parse says %v, %v", s, got, want, err)
		}
		return
	}
	if err != nil || !got.Equal(want) {
		t.Errorf("%q: got %v, time.Parse says %v, %v", s, got, want, err)
	}
}

func conforms3339(s string) bool {
	return Date(s[:dateLen]) == nil && Time(s[dateLen+1:]) == nil
}

func fuzzInclusions(t *testing.T, s string, conforming map[string]bool) {
	for _, pair := range [][2]string{
		{"hostname", "idn-hostname"},
		{"email", "idn-email"},
		{"uri", "uri-reference"},
		{"uri", "iri"},
		{"uri-reference", "iri-reference"},
		{"iri", "iri-reference"},
	} {
		if conforming[pair[0]] && !conforming[pair[1]] {
			t.Errorf("%q is a %s and no %s", s, pair[0], pair[1])
		}
	}
	if s == "" || s[0] == '/' {
		if relative, _ := Lookup("relative-json-pointer"); len(s) < MaxBytes && conforming["json-pointer"] != (relative("0"+s) == nil) {
			t.Errorf("%q: a pointer and 0 before it differ", s)
		}
	}
	if conforming["idn-hostname"] && !strings.ContainsFunc(s, isWideDot) {
		a, err := idna.Punycode.ToASCII(s)
		if err != nil || checkHostname(a) != nil {
			t.Errorf("%q conforms, its A-label form %q does not (%v)", s, a, err)
		}
	}
	if conforming["hostname"] {
		if e := checkURI("https://" + s + "/"); e != nil || checkEmail("a@"+s) != nil {
			t.Errorf("%q is a host name, but none in a URI or an address", s)
		}
	}
	if conforming["uri"] && strings.HasPrefix(s, "https://") && !strings.ContainsAny(s, "[@%") {
		if u, err := url.Parse(s); err != nil {
			t.Errorf("%q is a URI, but net/url says %v", s, err)
		} else if u.Host != "" && !strings.HasPrefix(s[len("https://"):], u.Host) {
			t.Errorf("%q: net/url sees another host %q", s, u.Host)
		}
	}
}

// FuzzDateTime looks for a date-time near a conforming one, where random
// strings seldom lead.
func FuzzDateTime(f *testing.F) {
	for _, r := range dateTimeRows() {
		f.Add(r.s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		check, _ := Lookup("date-time")
		fuzzDateTime(t, s, map[string]bool{"date-time": check(s) == nil})
	})
}

func BenchmarkChecks(b *testing.B) {
	for name, s := range map[string]string{
		"date-time":    "2026-01-15T12:00:00.123Z",
		"email":        "first.last@example.test",
		"hostname":     "www.example.test",
		"idn-hostname": "b\u00fccher.example.test",
		"uri":          "https://example.test/a/b?c=d",
		"regex":        `^[a-z0-9]{1,64}(?:-[a-z]+)*$`,
		"uuid":         "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
	} {
		check, _ := Lookup(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := check(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
