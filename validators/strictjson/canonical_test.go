package strictjson_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// canonical is the form of a text that has one, "" for a refused number.
func canonical(t testing.TB, src string, big strictjson.BigNumbers) string {
	t.Helper()
	v := mustParse(t, src)
	text, err := strictjson.AppendCanonical(nil, v, big)
	if err != nil {
		var fault *strictjson.Error
		if !errors.As(err, &fault) || fault.Reason != strictjson.NumberLimit || text != nil {
			t.Fatalf("%s: %v", brief(src), err)
		}
		return ""
	}
	checkCanonical(t, v)
	return string(text)
}

// RFC 8785 appendix B, table 1: doubles and how ECMAScript writes them. Where the
// service reads or writes less than RFC 8785 does, the row says why.
func TestCanonicalNumbersOfAppendixB(t *testing.T) {
	const integer, tiny = "an integer beyond 2^53−1", "an exponent below -308"
	for _, row := range []struct {
		bits    uint64
		want    string
		refused string
	}{
		{0x0000000000000000, "0", ""},
		{0x8000000000000000, "0", ""},
		{0x0000000000000001, "5e-324", tiny},
		{0x8000000000000001, "-5e-324", tiny},
		{0x7fefffffffffffff, "1.7976931348623157e+308", integer},
		{0xffefffffffffffff, "-1.7976931348623157e+308", integer},
		{0x4340000000000000, "9007199254740992", integer},
		{0xc340000000000000, "-9007199254740992", integer},
		{0x4430000000000000, "295147905179352830000", integer},
		{0x44b52d02c7e14af5, "9.999999999999997e+22", integer},
		{0x44b52d02c7e14af6, "1e+23", integer},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23", integer},
		{0x444b1ae4d6e2ef4e, "999999999999999700000", integer},
		{0x444b1ae4d6e2ef4f, "999999999999999900000", integer},
		{0x444b1ae4d6e2ef50, "1e+21", integer},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7", ""},
		{0x3eb0c6f7a0b5ed8d, "0.000001", ""},
		{0x41b3de4355555553, "333333333.3333332", ""},
		{0x41b3de4355555554, "333333333.33333325", ""},
		{0x41b3de4355555555, "333333333.3333333", ""},
		{0x41b3de4355555556, "333333333.3333334", ""},
		{0x41b3de4355555557, "333333333.33333343", ""},
		{0xbecbf647612f3696, "-0.0000033333333333333333", ""},
		{0x43143ff3c1cb0959, "1424953923781206.2", ""},
	} {
		f := math.Float64frombits(row.bits)
		if back, err := strconv.ParseFloat(row.want, 64); err != nil || back != f {
			t.Fatalf("%#x is not %s", row.bits, row.want)
		}
		for _, src := range []string{row.want, strconv.FormatFloat(f, 'E', -1, 64), strconv.FormatFloat(f, 'f', -1, 64) + ".0"} {
			if strings.Count(src, ".") > 1 || len(src) > 128 {
				continue // the third spelling is for integers
			}
			switch row.refused {
			case tiny:
				if fault := refusal(t, src, strictjson.Ceilings()); fault.Reason != strictjson.NumberLimit {
					t.Errorf("%s: %v", src, fault)
				}
			case integer:
				if got := canonical(t, src, strictjson.RefuseBigNumbers); got != "" {
					t.Errorf("%s becomes %s", src, got)
				}
				if got := canonical(t, src, strictjson.KeepBigNumbers); got != src {
					t.Errorf("%s is kept as %s", src, got)
				}
			default:
				if got := canonical(t, src, strictjson.RefuseBigNumbers); got != row.want {
					t.Errorf("%s becomes %q, want %s", src, got, row.want)
				}
			}
		}
	}
}

// 3-api, Canonical arguments: which numbers have a canonical form, and which.
func TestCanonicalNumbers(t *testing.T) {
	for _, row := range []struct{ src, want string }{
		{"0", "0"},
		{"-0", "0"},
		{"-0.0e300", "0"},
		{"1.0", "1"},
		{"100e-2", "1"},
		{"1E2", "100"},
		{"-1.50", "-1.5"},
		{"1e15", "1000000000000000"},
		{"9007199254740991", "9007199254740991"},
		{"-9007199254740991", "-9007199254740991"},
		{"9007199254740991.0", "9007199254740991"},
		{"9007199254740992", ""},
		{"-9007199254740992", ""},
		{"9007199254740993", ""},
		{"9007199254740992.5", ""},
		{"725653563933458432", ""},
		{"1e16", ""},
		{"1e21", ""},
		{"1e308", ""},
		{"9.99e308", ""}, // infinite as a double
		{"0.1", "0.1"},
		{"0.10", "0.1"},
		{"0.30000000000000004", "0.30000000000000004"},
		{"0.1000000000000000055511151231257827", ""}, // the exact value of the double 0.1
		{"0.1000000000000000000000001", ""},
		{"3.141592653589793", "3.141592653589793"},
		{"3.14159265358979323846", ""},
		{"0.000001", "0.000001"},
		{"0.0000001", "1e-7"},
		{"1.5e-7", "1.5e-7"},
		{"0.000000123", "1.23e-7"},
		{"1e-10", "1e-10"},
		{"-1.25e-100", "-1.25e-100"},
		{"1e-308", "1e-308"},
		{"2.2250738585072014e-308", "2.2250738585072014e-308"},
		{"2.2250738585072011e-308", ""}, // its double has a shorter name of another value
	} {
		want := row.want
		if got := canonical(t, row.src, strictjson.RefuseBigNumbers); got != want {
			t.Errorf("%s becomes %q, want %q", row.src, got, want)
		}
		if want == "" {
			want = row.src
		}
		if got := canonical(t, row.src, strictjson.KeepBigNumbers); got != want {
			t.Errorf("%s is kept as %q, want %q", row.src, got, want)
		}
	}
}

// D1: what is written has exactly the value that was read, and equal numbers one form.
func TestCanonicalNumbersKeepTheirValue(t *testing.T) {
	w := newWriter(5)
	for range 3000 {
		src := w.pick(w.number(), strconv.FormatFloat(math.Float64frombits(w.Uint64()), 'e', -1, 64))
		if !tame(src) {
			continue
		}
		got := canonical(t, src, strictjson.RefuseBigNumbers)
		if got == "" {
			continue
		}
		if rat(got).Cmp(rat(src)) != 0 {
			t.Errorf("%s becomes %s", src, got)
		}
		f, err := strconv.ParseFloat(src, 64)
		if err != nil {
			t.Errorf("%s: %v", src, err)
		}
		if other := canonical(t, strconv.FormatFloat(f, 'E', -1, 64), strictjson.RefuseBigNumbers); other != got {
			t.Errorf("%s has the forms %s and %s", src, got, other)
		}
	}
}

// RFC 8785 section 3.2.3: names in the order of their UTF-16 code units.
func TestCanonicalOrder(t *testing.T) {
	for _, row := range []struct{ src, want string }{
		{ // the names of the RFC's own example
			`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			`{"\r":2,"1":4,"` + "\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001f600\":5,\"\ufb33\":3}",
		},
		{`{"b":1,"a":2,"":3,"ab":4,"B":5}`, `{"":3,"B":5,"a":2,"ab":4,"b":1}`},
		{`{"\uffff":1,"\ud800\udc00":2,"\ud7ff":3,"\ue000":4,"\udbff\udfff":5}`, "{\"\ud7ff\":3,\"\U00010000\":2,\"\U0010ffff\":5,\"\ue000\":4,\"\uffff\":1}"},
		{`{"x\ud83d\ude01":1,"x\ud83d\ude00":2,"x":3,"x\uffff":4}`, "{\"x\":3,\"x\U0001f600\":2,\"x\U0001f601\":1,\"x\uffff\":4}"},
		{` { "z" : [ { "b" : null , "a" : true } , [ ] , { } ] , "a" : false } `, `{"a":false,"z":[{"a":true,"b":null},[],{}]}`},
	} {
		if got := canonical(t, row.src, strictjson.RefuseBigNumbers); got != row.want {
			t.Errorf("%s becomes %s, want %s", row.src, got, row.want)
		}
	}
}

func TestCanonicalOrderAgainstUTF16(t *testing.T) {
	pieces := []string{"", "a", "~", "\x7f", "é", "\ud7ff", "\ue000", "\ufb33", "\uffff", "\U00010000", "\U0001f600", "\U0001f601", "\U0010ffff"}
	for seed := range uint64(200) {
		w := newWriter(seed)
		names := make([]string, 0, 20)
		for range 20 {
			names = append(names, w.pick(pieces...)+w.pick(pieces...)+w.pick(pieces...))
		}
		slices.Sort(names)
		names = slices.Compact(names)
		w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var members []string
		for _, name := range names {
			members = append(members, string(strictjson.AppendString(nil, name))+":0")
		}
		text := canonical(t, "{"+strings.Join(members, ",")+"}", strictjson.RefuseBigNumbers)
		var got []string
		for name := range mustParse(t, text).Members() {
			got = append(got, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		if !slices.Equal(got, names) {
			t.Fatalf("order %q, want %q", got, names)
		}
	}
}

// RFC 8785 section 3.2.2.2: the escapes of strings; text is not normalised.
func TestCanonicalStrings(t *testing.T) {
	for _, row := range []struct{ src, want string }{
		{`"\u0000\u001F\b\t\n\f\r\"\\\/"`, `"\u0000\u001f\b\t\n\f\r\"\\/"`},
		{`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`, "\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\""},
		{`"<\u2028\u2029\u007f>"`, "\"<\u2028\u2029\u007f>\""},
		{`"e\u0301\u00e9"`, "\"e\u0301\u00e9\""},
		{`"\ud83d\ude00"`, `"😀"`},
	} {
		if got := canonical(t, row.src, strictjson.RefuseBigNumbers); got != row.want {
			t.Errorf("%s becomes %s, want %s", row.src, got, row.want)
		}
	}
}

// A refused number is told with its place.
func TestCanonicalRefusal(t *testing.T) {
	v := mustParse(t, `{"a":[0,{"b/c": 12345678901234567890}]}`)
	_, err := strictjson.AppendCanonical(nil, v, strictjson.RefuseBigNumbers)
	var fault *strictjson.Error
	if !errors.As(err, &fault) || fault.Offset != 16 || fault.Pointer != "/a/1/b~1c" || fault.Reason != strictjson.NumberLimit {
		t.Errorf("%+v", fault)
	}
	got, err := strictjson.AppendCanonical([]byte("x"), strictjson.Value{}, strictjson.RefuseBigNumbers)
	if err != nil || string(got) != "x" {
		t.Errorf("an absent value: %q, %v", got, err)
	}
	got, err = strictjson.AppendCanonical([]byte("x"), mustParse(t, `[1]`), strictjson.RefuseBigNumbers)
	if err != nil || string(got) != "x[1]" {
		t.Errorf("appended: %q, %v", got, err)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, src := range []string{
		`{"b":1.50,"a":[1e2,-0,"\u0041\/"]}`, `[9007199254740992,1e-7,0.000001]`, `{"\ud83d\ude00":1,"\uffff":2}`, "[]", `"\u001f"`, "1e21", "-0.0",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := strictjson.Parse(src, strictjson.Ceilings())
		if err != nil {
			return
		}
		checkCanonical(t, v)
		kept, err := strictjson.AppendCanonical(nil, v, strictjson.KeepBigNumbers)
		if err != nil {
			t.Fatal(err)
		}
		if strict, err := strictjson.AppendCanonical(nil, v, strictjson.RefuseBigNumbers); err == nil && !bytes.Equal(strict, kept) {
			t.Error("two forms of one value")
		}
		// The form depends on the value alone: another spelling has the same.
		spaced := strictjson.AppendJSON([]byte(" \n"), v)
		back, err := strictjson.Parse(append(spaced, '\t'), strictjson.Ceilings())
		if err != nil && len(src) < 1000 {
			t.Fatal(err)
		}
		if other, _ := strictjson.AppendCanonical(nil, back, strictjson.KeepBigNumbers); err == nil && !bytes.Equal(other, kept) {
			t.Error("white space shows in the canonical form")
		}
	})
}
