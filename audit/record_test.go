package audit

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// size counts a record as MaxRecordBytes does: its JSON and the columns.
func size(t testing.TB, r *Record) int {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	n := len(b) + len(r.DecisionID) + 8
	for _, s := range []string{
		r.RPC, r.Tenant, r.Tool, r.RequestID, r.SessionID, r.FailureCode, r.Decision, r.ArgumentsDigest, r.Delivered,
	} {
		n += len(s)
	}
	return n
}

// checkSane fails unless r is what Sanitize promises.
func checkSane(t testing.TB, r *Record) {
	t.Helper()
	if n := size(t, r); n > MaxRecordBytes {
		t.Errorf("record has %d bytes, more than %d", n, MaxRecordBytes)
	}
	walkStrings(reflect.ValueOf(r).Elem(), func(s string) {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("not fit to be written: %.60q", s)
		}
	})
	again := clone(r)
	again.Sanitize()
	if !reflect.DeepEqual(&again, r) {
		t.Errorf("Sanitize is not idempotent: signals %v, then %v", r.Signals[SignalCut], again.Signals[SignalCut])
	}
}

// clone is deep, so that a change of what is shared is seen.
func clone(r *Record) Record {
	c := *r
	c.MoreRejections = append([]Rejection(nil), r.MoreRejections...)
	c.Reasons = append([]Reason(nil), r.Reasons...)
	c.GrantIDs = append([]string(nil), r.GrantIDs...)
	c.EvidenceIDs = append([]string(nil), r.EvidenceIDs...)
	if r.Signals != nil {
		c.Signals = map[string]uint64{}
		for k, v := range r.Signals {
			c.Signals[k] = v
		}
	}
	return c
}

// walkStrings calls f for each string, map keys included.
func walkStrings(v reflect.Value, f func(string)) {
	switch v.Kind() {
	case reflect.String:
		f(v.String())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			walkStrings(v.Field(i), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkStrings(v.Index(i), f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			walkStrings(k, f)
		}
	}
}

// fill sets every field of a record: strings to text, lists to n items.
func fill(v reflect.Value, text string, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(math.MaxUint64 >> (64 - v.Type().Bits()))
	case reflect.Int64:
		v.SetInt(math.MinInt64)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 2)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), text, n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(uint64(math.MaxUint64)))
			text += "x"
		}
	}
}

// Cases 039, 040, 154: no text makes a record unfit to be written.
func TestSanitizeStrings(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "mail_send", "mail_send"},
		{"NUL", "a\x00b", "a\ufffdb"},
		{"invalid", "caf\xe9", "caf\ufffd"},
		{"each invalid byte", "\xff\xfe", "\ufffd\ufffd"},
		{"cut rune", "a\xf0\x9f\x98", "a\ufffd\ufffd\ufffd"},
		{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"own U+FFFD stays", "\ufffd", "\ufffd"},
		{"U+2028 stays", "a\u2028b", "a\u2028b"},
		{"controls stay", "a\x1b[31m\n\x7f", "a\x1b[31m\n\x7f"},
		{"just fits", strings.Repeat("x", maxName), strings.Repeat("x", maxName)},
		{"one too many", strings.Repeat("x", maxName+1), strings.Repeat("x", maxName-3) + "…"},
		{"quotes count twice", strings.Repeat(`"`, maxName/2+1), strings.Repeat(`"`, maxName/2-2) + "…"},
		{"angles count six times", strings.Repeat(`<`, maxName), strings.Repeat(`<`, (maxName-3)/6) + "…"},
		{"NUL counts as U+FFFD", strings.Repeat("\x00", maxName), strings.Repeat("\ufffd", (maxName-3)/3) + "…"},
		{"no rune is cut", strings.Repeat("😀", maxName), strings.Repeat("😀", (maxName-3)/4) + "…"},
	} {
		r := Record{Tool: c.in}
		r.Sanitize()
		if r.Tool != c.want {
			t.Errorf("%s: %.80q (%d), want %.80q (%d)", c.name, r.Tool, len(r.Tool), c.want, len(c.want))
		}
		if cut := r.Signals[SignalCut]; (cut == 1) != strings.HasSuffix(c.want, "…") {
			t.Errorf("%s: %s = %d", c.name, SignalCut, cut)
		}
		checkSane(t, &r)
	}
}

// Every field is bounded, and the whole is.
func TestSanitizeBounds(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "letters": strings.Repeat("x", 5000), "controls": strings.Repeat("\x01", 5000),
		"NUL": strings.Repeat("\x00", 5000), "invalid": strings.Repeat("\xff", 5000), "angles": strings.Repeat("<", 5000),
		"U+2028": strings.Repeat("\u2028", 5000), "emoji": strings.Repeat("😀", 5000), "quotes": strings.Repeat(`"\`, 5000),
		"large": strings.Repeat("x", 1<<20),
	} {
		for _, n := range []int{0, 1, 40, 300} {
			var r Record
			fill(reflect.ValueOf(&r).Elem(), text, n)
			r.DecisionID = "0195000a-0001-7000-8000-00000000000a"
			before, shared := clone(&r), r
			r.Sanitize()
			checkSane(t, &r)
			if !slices.Equal(shared.Reasons, before.Reasons) || !slices.Equal(shared.MoreRejections, before.MoreRejections) ||
				!slices.Equal(shared.GrantIDs, before.GrantIDs) || !slices.Equal(shared.EvidenceIDs, before.EvidenceIDs) ||
				len(shared.Signals) != n {
				t.Errorf("%s, %d items: Sanitize wrote to what the caller holds", name, n)
			}
			if (len(text) > 4096 || n > maxReasons) && r.Signals[SignalCut] == 0 {
				t.Errorf("%s, %d items: nothing says that the record was cut", name, n)
			}
		}
	}
}

// What the wire accepts and the service writes is never cut.
func TestSanitizeKeepsOrdinary(t *testing.T) {
	r := Record{
		Tool: strings.Repeat("t", 256), RequestID: strings.Repeat("r", 64), SessionID: strings.Repeat("s", 128),
		Principal: strings.Repeat("p", 128), Source: strings.Repeat("/", 2048), Adapter: strings.Repeat("a", 128),
		MediaType: strings.Repeat("m", 256), RawDigest: strings.Repeat("d", 64), Caller: "spiffe://example.test/" + strings.Repeat("c", 512),
		Signals: map[string]uint64{"bidi": 1},
	}
	for range 64 {
		id := strings.Repeat("g", 64)
		r.GrantIDs = append(r.GrantIDs, id)
		r.Reasons = append(r.Reasons, Reason{Code: "OUT_OF_SCOPE", GrantID: id, Scope: "scope", Argument: "/to/0"})
	}
	for range 16 {
		r.EvidenceIDs = append(r.EvidenceIDs, "0195000a-0001-7000-8000-00000000000a")
		r.MoreRejections = append(r.MoreRejections, Rejection{
			Layer: "SCHEMA", Reason: "SCHEMA", InstancePath: strings.Repeat("/x", 100),
			SchemaPath: strings.Repeat("/properties/x", 20), Keyword: "additionalProperties", Detail: strings.Repeat("d", 200),
		})
	}
	want := clone(&r)
	r.Sanitize()
	if !reflect.DeepEqual(r, want) {
		t.Errorf("an ordinary record was changed: %v", r.Signals)
	}
}

// What is left out of the signals does not depend on the order of the map.
func TestSanitizeSignals(t *testing.T) {
	in := map[string]uint64{SignalCut: 2, "a\xff": math.MaxUint64, "a\xfe": 5}
	for range 200 {
		in[strings.Repeat("s", 1+rand.IntN(100))+string(rune('a'+rand.IntN(26)))] = 1
	}
	var first map[string]uint64
	for range 5 {
		r := Record{Signals: in}
		r.Sanitize()
		if first == nil {
			first = r.Signals
		}
		if !reflect.DeepEqual(first, r.Signals) {
			t.Fatal("the signals differ from one time to the next")
		}
	}
	if first["a\ufffd"] != math.MaxUint64 {
		t.Errorf("equal names: %d, want them added without wrapping", first["a\ufffd"])
	}
	if want := uint64(2 + len(in) - 2 - maxSignals); first[SignalCut] != want {
		t.Errorf("%s = %d, want %d", SignalCut, first[SignalCut], want)
	}
}

func TestCheck(t *testing.T) {
	good := Record{DecisionID: "0195000a-0001-7000-8000-00000000000a", At: time.Unix(0, 0)}
	if err := good.Check(); err != nil {
		t.Errorf("Check = %v", err)
	}
	for _, id := range []string{
		"", "x", "0195000A-0001-7000-8000-00000000000A", "0195000a00017000800000000000000a",
		"0195000a-0001-7000-8000-00000000000", "0195000a-0001-7000-8000-00000000000aa",
		"0195000a-0001-7000-8000_00000000000a", "0195000a-0001-7000-8000-0000000000\x00a", "{195000a-0001-7000-8000-00000000000a",
	} {
		r := good
		r.DecisionID = id
		if err := r.Check(); !errors.Is(err, ErrInvalidRecord) || (len(id) > 1 && strings.Contains(err.Error(), id)) {
			t.Errorf("Check of id %q = %v", id, err)
		}
	}
	for year, ok := range map[int]bool{1: false, 1969: false, 1970: true, 2261: true, 2262: false, 9999: false} {
		r := good
		r.At = time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		if err := r.Check(); (err == nil) != ok {
			t.Errorf("Check of year %d = %v", year, err)
		}
	}
}

// The stored form: names of the wire, nothing that a store keeps in columns.
func TestStoredForm(t *testing.T) {
	r := Record{DecisionID: "id", RPC: "x", Tool: "x", Source: "a\u2028<b", Rejection: Rejection{Layer: "SYNTAX"}, Duration: 5}
	b, err := json.Marshal(r)
	const want = `{"source":"a\u2028\u003cb","rejection":{"layer":"SYNTAX"},"duration_ns":5}`
	if err != nil || string(b) != want {
		t.Errorf("got  %s, %v\nwant %s", b, err, want)
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"", "a\x00b", "caf\xe9", "a\u2028b", "\x01\x02<>&\"\\", strings.Repeat("😀", 300)} {
		f.Add(s, s+s, uint16(3))
		f.Add(s, strings.Repeat(s, 100), uint16(1000))
	}
	f.Fuzz(func(t *testing.T, a, b string, n uint16) {
		var r Record
		fill(reflect.ValueOf(&r).Elem(), a, int(n%300))
		r.DecisionID = "0195000a-0001-7000-8000-00000000000a"
		r.Tool, r.Rejection.Detail = b, b
		r.Sanitize()
		checkSane(t, &r)
		filter := Filter{Tool: b}.Sanitized()
		if filter.Tool != r.Tool {
			t.Errorf("filter %q does not meet %q", filter.Tool, r.Tool)
		}
	})
}
