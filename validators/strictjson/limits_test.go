package strictjson_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// narrow returns the ceilings with one limit changed.
func narrow(change func(*strictjson.Limits)) strictjson.Limits {
	l := strictjson.Ceilings()
	change(&l)
	return l
}

func nested(open, inside, closing string, n int) string {
	return strings.Repeat(open, n) + inside + strings.Repeat(closing, n)
}

// A2; cases 031, 032, 034, 037, 041: every limit lets its own number pass and refuses
// one more, at a place that is told.
func TestLimits(t *testing.T) {
	depth := narrow(func(l *strictjson.Limits) { l.MaxDepth = 3 })
	items := narrow(func(l *strictjson.Limits) { l.MaxItems = 3 })
	str := narrow(func(l *strictjson.Limits) { l.MaxStringChars = 3 })
	name := narrow(func(l *strictjson.Limits) { l.MaxNameChars = 3 })
	number := narrow(func(l *strictjson.Limits) { l.MaxNumberChars = 3 })
	size := narrow(func(l *strictjson.Limits) { l.MaxBytes = 3 })
	for _, row := range []struct {
		name    string
		limits  strictjson.Limits
		at      string // at the limit
		above   string // one more
		reason  strictjson.Reason
		offset  int // where the one above shows
		pointer string
	}{
		{"bytes", size, `"a"`, `"ab"`, strictjson.ByteLimit, 3, ""},
		{"bytes of white space", size, " 1 ", "  1 ", strictjson.ByteLimit, 3, ""},
		{"depth of arrays", depth, `[[[]]]`, `[[[[]]]]`, strictjson.DepthLimit, 3, "/0/0/0"},
		{"depth of objects", depth, `{"a":{"b":{}}}`, `{"a":{"b":{"c":{}}}}`, strictjson.DepthLimit, 15, "/a/b/c"},
		{"depth of a mixture", depth, `[{"a":[1]}]`, `[{"a":[{}]}]`, strictjson.DepthLimit, 7, "/0/a/0"},
		{"depth of the other mixture", depth, `{"a":[{}]}`, `{"a":[{"b":[]}]}`, strictjson.DepthLimit, 11, "/a/0/b"},
		{"depth after siblings", depth, `[[],{},[[]],[[]]]`, `[[],[[]],[[[]]]]`, strictjson.DepthLimit, 11, "/2/0/0"},
		{"depth unclosed", depth, `[[[1]]]`, `[[[[`, strictjson.DepthLimit, 3, "/0/0/0"},
		{"items of an array", items, `[1,2,3]`, `[1,2,3,4]`, strictjson.ItemLimit, 7, ""},
		{"items of an object", items, `{"a":1,"b":2,"c":3}`, `{"a":1,"b":2,"c":3,"d":4}`, strictjson.ItemLimit, 19, ""},
		{"items of both together", items, `{"a":[1,2]}`, `{"a":[1,2,3]}`, strictjson.ItemLimit, 10, "/a"},
		{"items of nested ones", items, `[[[1]]]`, `[[[[]]],0]`, strictjson.ItemLimit, 8, ""},
		{"items that end", items, `[[],[],{}]`, `[[],[],{},`, strictjson.Syntax, 10, ""},
		{"string", str, `["abc"]`, `["abcd"]`, strictjson.StringLimit, 1, "/0"},
		{"string of wide characters", str, `"😀😀😀"`, `"😀😀😀😀"`, strictjson.StringLimit, 0, ""},
		{"string of escapes", str, `"\n\u0061\ud83d\ude00"`, `"\n\u0061\ud83d\ude00x"`, strictjson.StringLimit, 0, ""},
		{"string of plain and escapes", str, `"ab\n"`, `"abc\n"`, strictjson.StringLimit, 0, ""},
		{"string that does not end", str, `"abc"`, `"abcd`, strictjson.StringLimit, 0, ""},
		{"string, then a control", str, `"abc"`, "\"abcd\x01\"", strictjson.StringLimit, 0, ""},
		{"string, then a wrong escape", str, `"\nbc"`, `"\nbcd\q"`, strictjson.StringLimit, 0, ""},
		{"string in an object", str, `{"long name":"abc"}`, `{"long name":"abcd"}`, strictjson.StringLimit, 13, "/long name"},
		{"name", name, `{"abc":"long value"}`, `{"abcd":1}`, strictjson.StringLimit, 1, ""},
		{"name of escapes", name, `{"\u0061\u0062\u0063":1}`, `{"\u0061\u0062\u0063d":1}`, strictjson.StringLimit, 1, ""},
		{"name below", name, `{"a":{"é€😀":1}}`, `{"a":{"é€😀b":1}}`, strictjson.StringLimit, 6, "/a"},
		{"number", number, `[123,-12,1.5,1e9]`, `[1234]`, strictjson.NumberLimit, 1, "/0"},
		{"number with its sign", number, `-12`, `-123`, strictjson.NumberLimit, 0, ""},
		{"number with its point", number, `0.1`, `0.10`, strictjson.NumberLimit, 0, ""},
		{"number that breaks off late", number, `123`, `123.`, strictjson.NumberLimit, 0, ""},
		{"number with a bad end", number, `1e1`, `1e10x`, strictjson.NumberLimit, 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := strictjson.Parse([]byte(row.at), row.limits); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			fault := refusal(t, row.above, row.limits)
			if fault.Reason != row.reason || fault.Offset != row.offset || fault.Pointer != row.pointer {
				t.Errorf("above the limit: %v at %q, want %v at byte %d at %q", fault, fault.Pointer, row.reason, row.offset, row.pointer)
			}
			if fault.Reason.IsLimit() != (row.reason != strictjson.Syntax) {
				t.Error("IsLimit disagrees")
			}
		})
	}
}

// A2; case 031: the service's own ceilings, from both sides.
func TestCeilings(t *testing.T) {
	l := strictjson.Ceilings()
	many := func(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for _, row := range []struct {
		name      string
		at, above string
		reason    strictjson.Reason
	}{
		{"bytes", strings.Repeat(" ", l.MaxBytes-1) + "1", strings.Repeat(" ", l.MaxBytes) + "1", strictjson.ByteLimit},
		{"arrays", nested("[", "", "]", l.MaxDepth), nested("[", "", "]", l.MaxDepth+1), strictjson.DepthLimit},
		{"objects", nested(`{"a":`, "1", "}", l.MaxDepth), nested(`{"a":`, "1", "}", l.MaxDepth+1), strictjson.DepthLimit},
		{"both", nested(`[{"a":`, "1", "}]", l.MaxDepth/2), nested(`[{"a":`, "[]", "}]", l.MaxDepth/2), strictjson.DepthLimit},
		{"unclosed arrays", "[]", strings.Repeat("[", 100_000), strictjson.DepthLimit},
		{"unclosed objects", "{}", strings.Repeat(`{"a":`, 100_000), strictjson.DepthLimit},
		{"items", many(l.MaxItems), many(l.MaxItems + 1), strictjson.ItemLimit},
		{"string", text(l.MaxStringChars), text(l.MaxStringChars + 1), strictjson.StringLimit},
		{"name", "{" + text(l.MaxNameChars) + ":1}", "{" + text(l.MaxNameChars+1) + ":1}", strictjson.StringLimit},
		{"number", strings.Repeat("9", l.MaxNumberChars), strings.Repeat("9", l.MaxNumberChars+1), strictjson.NumberLimit},
		{"fraction", "0." + strings.Repeat("1", l.MaxNumberChars-2), "0." + strings.Repeat("1", 262_144), strictjson.NumberLimit},
	} {
		t.Run(row.name, func(t *testing.T) {
			mustParse(t, row.at)
			if fault := refusal(t, row.above, l); fault.Reason != row.reason {
				t.Errorf("above the limit: %v, want %v", fault, row.reason)
			}
		})
	}
}

// A zero limit allows nothing, a negative one no less, and the widest ones overflow
// nowhere.
func TestLimitsAtTheirEnds(t *testing.T) {
	for _, n := range []int{0, -1, -9, math.MinInt} {
		all := strictjson.Limits{MaxBytes: n, MaxDepth: n, MaxItems: n, MaxStringChars: n, MaxNameChars: n, MaxNumberChars: n}
		if fault := refusal(t, "1", all); fault.Reason != strictjson.ByteLimit || fault.Offset != 0 {
			t.Errorf("%d: %v", n, fault)
		}
		all.MaxBytes = 100
		for src, reason := range map[string]strictjson.Reason{
			"[]": strictjson.DepthLimit, `"a"`: strictjson.StringLimit, "1": strictjson.NumberLimit, "": strictjson.Syntax,
		} {
			if fault := refusal(t, src, all); fault.Reason != reason {
				t.Errorf("%d, %s: %v", n, src, fault)
			}
		}
		all.MaxDepth = 1
		for _, src := range []string{"[1]", `{"a":1}`} {
			if fault := refusal(t, src, all); fault.Reason != strictjson.ItemLimit {
				t.Errorf("%d, %s: %v", n, src, fault)
			}
		}
		for _, src := range []string{"null", "true", `""`, "[]", "{}"} {
			if _, err := strictjson.Parse([]byte(src), all); err != nil {
				t.Errorf("%d, %s: %v", n, src, err)
			}
		}
	}
	m := math.MaxInt
	widest := strictjson.Limits{MaxBytes: m, MaxDepth: m, MaxItems: m, MaxStringChars: m, MaxNameChars: m, MaxNumberChars: m}
	if _, err := strictjson.Parse([]byte(`{"a":[1,"b"]}`), widest); err != nil {
		t.Error(err)
	}
}

// No error text holds anything of the input.
func TestErrorsHoldNoPayload(t *testing.T) {
	const secret = "hunter2"
	tiny := strictjson.Limits{MaxBytes: 1 << 20, MaxDepth: 2, MaxItems: 3, MaxStringChars: 9, MaxNameChars: 9, MaxNumberChars: 9}
	for _, src := range []string{
		secret, `"hunter2`, `"hunter2hunter2"`, `{"hunter2hunter2":1}`, `{"hunter2":1,"hunter2":2}`, `{"hunter2":"\ud800"}`,
		`{"hunter2" 1}`, `{"hunter2":1 "hunter2"`, `{"hunter2":{"hunter2":[]}}`, `["hunter2",1,2,3]`, `{"hunter2":1234567890}`,
		`{"hunter2":1e999}`, `"hunter2" hunter2`, "\ufeff\"hunter2\"", "\"hunter2\xff\"", `"hunter2\q"`, `"hunter2\uqqqq"`, `{"hunter2":-}`,
	} {
		fault := refusal(t, src, tiny)
		for _, text := range []string{fault.Error(), fault.Detail} {
			if strings.Contains(text, "hunter") {
				t.Errorf("%s: %q", brief(src), text)
			}
		}
	}
	v := mustParse(t, `{"hunter2":12345678901234567890}`)
	if _, err := strictjson.AppendCanonical(nil, v, strictjson.RefuseBigNumbers); err == nil ||
		strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "12345") {
		t.Errorf("canonical: %v", err)
	}
}

// The names of the reasons are those of the wire API.
func TestReasonNames(t *testing.T) {
	for r, want := range map[strictjson.Reason]string{
		0: "UNSPECIFIED", strictjson.ByteLimit: "BYTE_LIMIT", strictjson.DepthLimit: "DEPTH_LIMIT", strictjson.ItemLimit: "ITEM_LIMIT",
		strictjson.StringLimit: "STRING_LIMIT", strictjson.NumberLimit: "NUMBER_LIMIT", strictjson.Encoding: "ENCODING",
		strictjson.Syntax: "JSON_SYNTAX", strictjson.DuplicateName: "DUPLICATE_NAME", 200: "UNSPECIFIED",
	} {
		if r.String() != want {
			t.Errorf("%d: %q, want %q", r, r, want)
		}
	}
	if strictjson.Reason(0).IsLimit() {
		t.Error("no reason at all is a limit")
	}
}
