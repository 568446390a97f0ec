package format

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// row is a line of a table: a string, and where it is refused, or conforms.
type row struct {
	line   int
	s      string
	offset int // of the fault, conforms if it is none
}

const conforms = -1

// yes is a row that conforms.
func yes(s string) row { return row{callerLine(), s, conforms} }

// no is a row that is refused at the given byte.
func no(offset int, s string) row { return row{callerLine(), s, offset} }

func callerLine() int {
	_, _, line, _ := runtime.Caller(2)
	return line
}

// checkRows names the line of the table of each row that is judged wrongly.
func checkRows(t *testing.T, name string, rows []row) {
	t.Helper()
	check, known := Lookup(name)
	if !known {
		t.Fatalf("format %s is not known", name)
	}
	for _, r := range rows {
		got := conforms
		if err := check(r.s); err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Format != name || e.Reason == "" {
				t.Fatalf("line %d: %s: error %#v is not an *Error of this format with a reason", r.line, name, err)
			}
			got = e.Offset
		}
		if got != r.offset {
			t.Errorf("line %d: %s %+.60q: fault at %d, want %d (%d means that it conforms)", r.line, name, r.s, got, r.offset, conforms)
		}
	}
}

// tables are all rows of this package by format; they seed the fuzzers.
func tables() map[string][]row {
	return map[string][]row{
		"date": dateRows(), "time": timeRows(), "date-time": dateTimeRows(), "duration": durationRows(),
		"email": emailRows(), "idn-email": idnEmailRows(),
		"hostname": hostnameRows(), "idn-hostname": idnHostnameRows(),
		"ipv4": ipv4Rows(), "ipv6": ipv6Rows(),
		"uri": uriRows(), "uri-reference": uriReferenceRows(), "iri": iriRows(), "iri-reference": iriReferenceRows(),
		"uri-template": templateRows(),
		"json-pointer": pointerRows(), "relative-json-pointer": relativePointerRows(),
		"regex": regexRows(), "uuid": uuidRows(),
	}
}

// A12: each format is asserted by a strict parser; cases 043 to 052.
func TestFormats(t *testing.T) {
	for name, rows := range tables() {
		t.Run(name, func(t *testing.T) { checkRows(t, name, rows) })
	}
}

func TestNames(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	for _, name := range names {
		if check, known := Lookup(name); !known || check == nil {
			t.Errorf("%s is named but not known", name)
		}
		if len(tables()[name]) == 0 {
			t.Errorf("%s has no table of its own", name)
		}
	}
	if len(names) != 19 || len(tables()) != len(names) {
		t.Errorf("%d names and %d tables, want the 19 formats of 2020-12", len(names), len(tables()))
	}
	names[0] = "changed"
	if Names()[0] == "changed" {
		t.Error("Names gives away a slice that it keeps")
	}
}

// A name that nobody defined is never taken for one that somebody did.
func TestLookupUnknown(t *testing.T) {
	for _, name := range []string{"", "unknown", "Date", "date ", "date_time", "int32", "uuid\n"} {
		if check, known := Lookup(name); known || check != nil {
			t.Errorf("%q is known", name)
		}
	}
}

// Whatever is not valid UTF-8 or too long is refused by every format, even
// where the grammar would take any character.
func TestEveryFormatRefuses(t *testing.T) {
	for _, name := range Names() {
		checkRows(t, name, []row{
			no(0, "\xff"),
			no(3, "/a/\xed\xa0\x80"), // a surrogate
			no(MaxBytes, strings.Repeat("/", MaxBytes+1)),
		})
		check, _ := Lookup(name)
		for _, s := range []string{"\n", "\x00", " "} {
			if err := check(s); err == nil && name != "regex" {
				t.Errorf("%s takes %q", name, s)
			}
		}
	}
	checkRows(t, "json-pointer", []row{yes(strings.Repeat("/", MaxBytes))})
	checkRows(t, "json-pointer", []row{yes("/\ufffd")}) // U+FFFD itself is a character
	checkRows(t, "json-pointer", []row{no(4, "/\ufffd\xff")})
}

// No part of a value goes into an error text.
func TestErrorHoldsNoValue(t *testing.T) {
	const secret = "zqxjkv"
	for _, name := range Names() {
		check, _ := Lookup(name)
		for _, s := range []string{secret, secret + "\x00", "[" + secret, "(?<" + secret, "xn--" + secret + ".", `"` + secret + "\n", "{" + secret} {
			if err := check(s); err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	e := &Error{Format: "date", Offset: 5, Reason: "no such month"}
	if got, want := e.Error(), "not a valid date: no such month (byte 5)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNamedChecks(t *testing.T) {
	for name, check := range map[string]func(string) error{
		"date": Date, "time": Time, "uuid": UUID, "email": Email, "hostname": Hostname, "uri": URI,
	} {
		for _, r := range tables()[name] {
			err := check(r.s)
			var e *Error
			if (err == nil) != (r.offset == conforms) || err != nil && (!errors.As(err, &e) || e.Format != name) {
				t.Errorf("line %d: %s: %v", r.line, name, err)
			}
		}
	}
}

// Input built to be slow takes linear time: 64 KiB cost well under a
// millisecond per pass, a quadratic walk over them seconds.
func TestHostileShapesAreCheap(t *testing.T) {
	units := []string{
		"(", "(?:", "(?=", "(a)*", "(?<a>", "a|", "[a-", "[", `\p{`, `\p{L}`, `\u{`, `\u{0`, `\ud83d`, `\1`, `\k<a>`, "a{1", "{", "{a,",
		"a.", "a:", "a@", `"`, `\`, `"\"`, "%", "%41", "::", "1:", ":", "/", "~0", "~", "0", "9", "P1Y", "-", "--",
		"xn--", "xn--a.", "\u0628", "\u200c", "\u0628\u200c", "\u0300", "\u05d0", "\uff0e", "\u3002", "\U0001f600", "http://[", "?", "#", "{a}", "{a:1}",
	}
	// What leads into the parts of a format that a bare repetition never enters.
	prefixes := map[string][]string{
		"email": {"a@", `"`, "a@["}, "idn-email": {"a@", `"`, "\u03b4@"}, "uri": {"a:", "a://", "a:?"}, "iri": {"a:", "a://", "a:?"},
		"uri-reference": {"//"}, "json-pointer": {"/"}, "relative-json-pointer": {"0/"}, "duration": {"P", "P1YT"},
		"regex": {"(?<a>x)", "["}, "uri-template": {"{"}, "date-time": {"2026-01-15T12:00:00."}, "hostname": {"a.xn--"},
	}
	const limit = time.Minute // for a busy machine; a quadratic walk takes longer
	for _, name := range Names() {
		check, _ := Lookup(name)
		for _, prefix := range append([]string{""}, prefixes[name]...) {
			for _, unit := range units {
				s := prefix + strings.Repeat(unit, (MaxBytes-len(prefix))/len(unit))
				start := time.Now()
				_ = check(s)
				if took := time.Since(start); took > limit {
					t.Errorf("%s: %d times %q after %q took %v", name, len(s)/len(unit), unit, prefix, took)
				}
			}
		}
	}
	// Distinct names at growing depth, the worst case of duplicate detection.
	var deep strings.Builder
	for i := 0; deep.Len() < MaxBytes-64; i++ {
		deep.WriteString("(?<a" + strings.Repeat("b", i%7) + ">x)|(?:")
	}
	start := time.Now()
	_ = checkRegex(deep.String())
	if took := time.Since(start); took > limit {
		t.Errorf("names at depth took %v", took)
	}
}
