package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// A1, A2, A3, D1; cases 023, 025, 026, 027, 028, 030: what is refused, where, and as what.
func TestRefusals(t *testing.T) {
	const encoding, syntax = strictjson.Encoding, strictjson.Syntax
	for _, row := range []struct {
		name, src string
		reason    strictjson.Reason
		offset    int
		pointer   string
	}{
		{"nothing", "", syntax, 0, ""},
		{"white space only", " \t\r\n", syntax, 4, ""},
		{"no-break space", "\u00a01", syntax, 0, ""},
		{"form feed", "\f1", syntax, 0, ""},
		{"byte order mark", "\ufeff{}", syntax, 0, ""},
		{"byte order mark alone", "\ufeff", syntax, 0, ""},
		{"byte order mark behind", "1\ufeff", syntax, 1, ""},
		{"byte order mark cut", "\xef\xbb{}", encoding, 0, ""},
		{"NUL", "\x00", syntax, 0, ""},
		{"NUL after the value", "1\x00", syntax, 1, ""},
		{"NUL in a string", "[\"a\x00b\"]", syntax, 3, "/0"},
		{"UTF-16LE with mark", "\xff\xfe1\x00", encoding, 0, ""},
		{"UTF-16BE with mark", "\xfe\xff\x001", encoding, 0, ""},
		{"UTF-16LE", "1\x00", syntax, 1, ""},
		{"UTF-16BE", "\x001", syntax, 0, ""},
		{"Latin-1", "{\"n\":\"caf\xe9\"}", encoding, 9, "/n"},
		{"cut sequence", "{\"n\":\"\xc3(\"}", encoding, 6, "/n"},
		{"cut sequence at the end", "\"\xe2\x82", encoding, 1, ""},
		{"CESU-8 half", "{\"n\":\"\xed\xa0\x80\"}", encoding, 6, "/n"},
		{"CESU-8 pair", "[1,\"\xed\xa0\xbd\xed\xb8\x80\"]", encoding, 4, "/1"},
		{"overlong slash", "{\"n\":\"..\xc0\xaf\"}", encoding, 8, "/n"},
		{"overlong NUL", "\"\xc0\x80\"", encoding, 1, ""},
		{"beyond U+10FFFF", "\"\xf4\x90\x80\x80\"", encoding, 1, ""},
		{"six-byte form", "\"\xfc\x83\xbf\xbf\xbf\xbf\"", encoding, 1, ""},
		{"continuation byte", "\"\x80\"", encoding, 1, ""},
		{"bad bytes in a name", "{\"a\xff\":1}", encoding, 3, ""},
		{"bad bytes behind a good name", "{\"a\":1,\"\xff\":2}", encoding, 8, ""},
		{"bad bytes between tokens", "[1,\xff]", encoding, 3, "/1"},
		{"bad bytes for a comma", "[1\xff]", encoding, 2, ""},
		{"bad bytes for a name", "{\xff:1}", encoding, 1, ""},
		{"bad bytes after the value", "1\xff", encoding, 1, ""},
		{"bad bytes in a number", "-\xff", encoding, 1, ""},
		{"bad bytes in an escape", "\"\\\xff\"", syntax, 1, ""},
		{"lone high surrogate", `{"note":"\ud800"}`, encoding, 9, "/note"},
		{"lone low surrogate", `["\udc00"]`, encoding, 2, "/0"},
		{"surrogates turned", `"\ude00\ud83d"`, encoding, 1, ""},
		{"two high surrogates", `"\ud83d\ud83d\ude00"`, encoding, 1, ""},
		{"high surrogate, letter", `"\ud800\u0061"`, encoding, 1, ""},
		{"high surrogate, bad escape", `"\ud800\uzzzz"`, encoding, 1, ""},
		{"high surrogate, end", `"\ud800`, encoding, 1, ""},
		{"high surrogate, cut escape", `"\ud83d\ude0`, encoding, 1, ""},
		{"lone surrogate in a name", `{"a":{"\uDEAD":1}}`, encoding, 7, "/a"},
		{"NaN", `{"score":NaN}`, syntax, 9, "/score"},
		{"Infinity", `Infinity`, syntax, 0, ""},
		{"-Infinity", `[-Infinity]`, syntax, 2, "/0"},
		{"undefined", `undefined`, syntax, 0, ""},
		{"capitals", `True`, syntax, 0, ""},
		{"cut literal", `nul`, syntax, 0, ""},
		{"long literal", `nulll`, syntax, 4, ""},
		{"second value", `{"ok":true}{"ok":false}`, syntax, 11, ""},
		{"second value after space", "1 2", syntax, 2, ""},
		{"closing bracket too many", "[]]", syntax, 2, ""},
		{"wrong closing bracket", `{"a":[1}}`, syntax, 7, "/a"},
		{"array in the open", `[`, syntax, 1, ""},
		{"array cut after a value", `[[1]`, syntax, 4, ""},
		{"array cut after a comma", `[1,`, syntax, 3, ""},
		{"comma at the end", `[1,]`, syntax, 3, ""},
		{"comma at the start", `[,1]`, syntax, 1, "/0"},
		{"two commas", `[1,,2]`, syntax, 3, "/1"},
		{"no comma", `[1 2]`, syntax, 3, ""},
		{"comma alone in an object", `{,}`, syntax, 1, ""},
		{"comma at an object's end", `{"a":1,}`, syntax, 7, ""},
		{"object cut after its name", `{"a"`, syntax, 4, "/a"},
		{"object cut after its colon", `{"a":`, syntax, 5, "/a"},
		{"no colon", `{"a" 1}`, syntax, 5, "/a"},
		{"two colons", `{"a"::1}`, syntax, 5, "/a"},
		{"no value", `{"a":}`, syntax, 5, "/a"},
		{"name without quotes", `{a:1}`, syntax, 1, ""},
		{"number for a name", `{"x":{1:1}}`, syntax, 6, "/x"},
		{"single quotes", `['a']`, syntax, 1, "/0"},
		{"comment", `[1/*x*/]`, syntax, 2, ""},
		{"comment before", `// x`, syntax, 0, ""},
		{"tab in a string", "\"a\tb\"", syntax, 2, ""},
		{"line feed after an escape", "\"\\n\n\"", syntax, 3, ""},
		{"string in the open", `["a`, syntax, 3, "/0"},
		{"string in the open after an escape", `"\n`, syntax, 3, ""},
		{"string ends in a backslash", `"\`, syntax, 2, ""},
		{"quote escaped at the end", `"\"`, syntax, 3, ""},
		{"no such escape", `{"name":"1","na\me":"2"}`, syntax, 15, ""},
		{"capital escape", `"\N"`, syntax, 1, ""},
		{"hexadecimal escape", `"\x41"`, syntax, 1, ""},
		{"octal escape", `"\0"`, syntax, 1, ""},
		{"short unicode escape", `"\u123"`, syntax, 1, ""},
		{"escape pointer tokens", `{"a/b":{"~":[0,}]}`, syntax, 15, "/a~1b/~0/1"},
		{"member without a name", `{"":[x]}`, syntax, 5, "//0"},
		{"the outer place after an inner container", `[{"a":[1]} 2]`, syntax, 11, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			fault := refusal(t, row.src, strictjson.Ceilings())
			if fault.Reason != row.reason || fault.Offset != row.offset || fault.Pointer != row.pointer {
				t.Errorf("%v at %q, want %v at byte %d at %q", fault, fault.Pointer, row.reason, row.offset, row.pointer)
			}
			if says := strings.Contains(fault.Detail, "BOM"); says != strings.HasPrefix(row.src, "\ufeff") {
				t.Errorf("detail %q", fault.Detail)
			}
		})
	}
}

// 5-results: a limit first, then the earliest of encoding, syntax and duplicate name.
func TestOrderOfFaults(t *testing.T) {
	limits := strictjson.Limits{MaxBytes: 100, MaxDepth: 3, MaxItems: 9, MaxStringChars: 9, MaxNameChars: 9, MaxNumberChars: 9}
	for _, row := range []struct {
		name, src string
		reason    strictjson.Reason
		offset    int
		pointer   string
	}{
		{"bytes before all", "\xff" + strings.Repeat(" ", 100), strictjson.ByteLimit, 100, ""},
		{"depth after a duplicate", `{"a":1,"a":[[[1]]]}`, strictjson.DepthLimit, 13, "/a/0/0"},
		{"depth after bad bytes", "[\"\xff\",[[[1]]]]", strictjson.DepthLimit, 7, "/1/0/0"},
		{"depth below a bad name", "{\"\xff\":[[[1]]]}", strictjson.DepthLimit, 7, "/\ufffd/0/0"},
		{"depth below a lone surrogate", `{"a\ud800b":[[[1]]]}`, strictjson.DepthLimit, 14, "/a\ufffdb/0/0"},
		{"items after a duplicate", `{"a":1,"a":2,"b":[1,2,3,4,5,6,7]}`, strictjson.ItemLimit, 30, "/b"},
		{"string after a lone surrogate", `["\ud800","1234567890"]`, strictjson.StringLimit, 10, "/1"},
		{"the same string", `"\ud800123456789"`, strictjson.StringLimit, 0, ""},
		{"the same string of bad bytes", "\"\xff123456789\"", strictjson.StringLimit, 0, ""},
		{"name after a duplicate", `{"a":1,"a":2,"1234567890":3}`, strictjson.StringLimit, 13, ""},
		{"number after a duplicate", `{"a":1,"a":1234567890}`, strictjson.NumberLimit, 11, "/a"},
		{"magnitude after a duplicate", `{"a":1,"a":1e999}`, strictjson.NumberLimit, 11, "/a"},
		{"first limit", `[1e999,[[[]]]]`, strictjson.NumberLimit, 1, "/0"},
		{"syntax hides a limit behind it", `[1,,[[[[]]]]]`, strictjson.Syntax, 3, "/1"},
		{"duplicate, encoding", "{\"a\":1,\"a\":\"\xff\"}", strictjson.DuplicateName, 7, "/a"},
		{"duplicate, syntax", `{"a":1,"a":}`, strictjson.DuplicateName, 7, "/a"},
		{"duplicate, no colon", `{"a":1,"a"`, strictjson.DuplicateName, 7, "/a"},
		{"duplicate, trailing data", `{"a":1,"a":1}x`, strictjson.DuplicateName, 7, "/a"},
		{"encoding, duplicate", "{\"a\":\"\xff\",\"a\":1}", strictjson.Encoding, 6, "/a"},
		{"encoding, syntax", "[\"\xff\",]", strictjson.Encoding, 2, "/0"},
		{"encoding in a name, no duplicate of what it becomes", `{"\ufffd":1,"\ud800":2}`, strictjson.Encoding, 13, ""},
		{"encoding twice", "[\"\xff\",\"\\ud800\"]", strictjson.Encoding, 2, "/0"},
		{"syntax, encoding", "[1,,\"\xff\"]", strictjson.Syntax, 3, "/1"},
		{"syntax, duplicate", `[{a:1},{"a":1,"a":1}]`, strictjson.Syntax, 2, "/0"},
		{"duplicate twice", `[{"a":1,"a":1},{"b":1,"b":1}]`, strictjson.DuplicateName, 8, "/0/a"},
		{"inner duplicate before outer", `{"a":{"b":1,"b":1},"a":1}`, strictjson.DuplicateName, 12, "/a/b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			fault := refusal(t, row.src, limits)
			if fault.Reason != row.reason || fault.Offset != row.offset || fault.Pointer != row.pointer {
				t.Errorf("%v at %q, want %v at byte %d at %q", fault, fault.Pointer, row.reason, row.offset, row.pointer)
			}
		})
	}
}

// A1; cases 028, 035, 039, 040: what is accepted, with its text.
func TestAcceptedText(t *testing.T) {
	for _, row := range []struct {
		name, src, text string
		chars           int
	}{
		{"empty", `""`, "", 0},
		{"every short escape", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", 8},
		{"NUL escaped", `"a\u0000b"`, "a\x00b", 3},
		{"digits of both cases", `"\u00aF\uABcd"`, "\u00af\uabcd", 2},
		{"pair", `"\uD83D\ude00!"`, "😀!", 2},
		{"last code point", `"\udbff\udfff"`, "\U0010ffff", 1},
		{"beside the surrogates", `"\ud7ff\ue000"`, "\ud7ff\ue000", 2},
		{"replacement character", `"\ufffd` + "\ufffd" + `"`, "\ufffd\ufffd", 2},
		{"noncharacters", `"\uffff` + "\ufdd0\U0001fffe" + `"`, "\uffff\ufdd0\U0001fffe", 3},
		{"byte order mark inside", "\"\ufeff\"", "\ufeff", 1},
		{"line separators", "\"a\u2028b\u2029\"", "a\u2028b\u2029", 4},
		{"delete", "\"\x7f\"", "\x7f", 1},
		{"C1 controls", "\"\u0080\u009f\"", "\u0080\u009f", 2},
		{"white space around", " \t\r\n\"x\"\n\r\t ", "x", 1},
		{"plain, escape, plain", `"aé\tb€"`, "aé\tb€", 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := mustParse(t, row.src)
			if v.Kind() != strictjson.String || v.Text() != row.text || v.Chars() != row.chars {
				t.Errorf("%v %q of %d", v.Kind(), v.Text(), v.Chars())
			}
		})
	}
}

// Exactly the hexadecimal digits are read after \u, whatever byte stands there.
func TestHexDigits(t *testing.T) {
	for b := range 256 {
		src := []byte(`"\u00` + string(rune('0')) + `0"`)
		src[5] = byte(b)
		_, err := strictjson.Parse(src, strictjson.Ceilings())
		want := strings.IndexByte("0123456789abcdefABCDEF", byte(b)) >= 0
		if (err == nil) != want {
			t.Errorf("byte %#x: %v", b, err)
		}
	}
}

// A tree answers for every value, and the zero Value for none.
func TestTree(t *testing.T) {
	v := mustParse(t, ` {"a":[true,false,null,1.50,"x\n"],"b":{}} `)
	if v.Size() != 8 || v.Len() != 2 || v.Offset() != 1 || !v.Exists() {
		t.Errorf("size %d, len %d, offset %d", v.Size(), v.Len(), v.Offset())
	}
	a := v.Member("a")
	if !a.Element(0).IsTrue() || a.Element(1).IsTrue() || a.Element(3).Digits() != "1.50" || a.Element(4).Text() != "x\n" {
		t.Error("elements differ")
	}
	for i, kind := range []string{"boolean", "boolean", "null", "number", "string"} {
		if got := a.Element(i).Kind().String(); got != kind {
			t.Errorf("element %d: %s", i, got)
		}
	}
	for _, none := range []strictjson.Value{{}, v.Member("c"), a.Member("a"), a.Element(5), a.Element(-1), v.Element(0)} {
		if none != (strictjson.Value{}) || none.Kind() != strictjson.Absent || none.Exists() || none.IsTrue() || none.Text() != "" ||
			none.Chars() != 0 || none.Digits() != "" || !none.Decimal().IsZero() || none.Len() != 0 || none.Size() != 0 || none.Offset() != 0 ||
			len(none.Path()) != 0 || none.Member("a").Exists() || none.Element(0).Exists() {
			t.Errorf("an absent value is %+v", none)
		}
	}
	for range v.Members() {
		break // stopping early is allowed
	}
	for range a.Elements() {
		break
	}
	if strictjson.Kind(99).String() != "absent" || strictjson.Array.String() != "array" || strictjson.Object.String() != "object" {
		t.Error("names of kinds")
	}
}

// The caller's bytes are copied.
func TestParseCopies(t *testing.T) {
	src := []byte(`{"name":"value\n"}`)
	v, err := strictjson.Parse(src, strictjson.Ceilings())
	if err != nil {
		t.Fatal(err)
	}
	for i := range src {
		src[i] = 'x'
	}
	if v.Member("name").Text() != "value\n" {
		t.Error("the tree changed with the caller's bytes")
	}
}

// A1, D1: every invariant on random texts.
func TestRandomTexts(t *testing.T) {
	for seed := range uint64(400) {
		src := randomJSON(seed)
		if v := mustParse(t, src); v.Exists() {
			checkTree(t, []byte(src), v)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, src)
		}
	}
}

// Many readers of one Value, for the race detector.
func TestConcurrentReaders(t *testing.T) {
	v := mustParse(t, `{"a":[1,2.50,{"b":"x\n"}],"c":"é","d":{"e":[true,null]}}`)
	want := string(strictjson.AppendJSON(nil, v))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 50 {
				everyValue(v, func(x strictjson.Value) {
					if v.At(x.Path()) != x || !strictjson.Equal(x, x) {
						t.Error("a reader sees another tree")
					}
					_ = x.Decimal().Sign() + x.Chars()
				})
				strictjson.Replace(v, []strictjson.Edit{{At: v.Member("c"), Text: strings.Repeat("y", i)}})
				if _, err := strictjson.AppendCanonical(nil, v, strictjson.RefuseBigNumbers); err != nil {
					t.Error(err)
				}
				if string(strictjson.AppendJSON(nil, v)) != want {
					t.Error("a reader writes another text")
				}
			}
		})
	}
	all.Wait()
}

// Eight bytes are looked at together: every byte is met at every place among them, and
// one behind it that the first must not hide.
func TestEveryByteAtEveryPlace(t *testing.T) {
	for c := range 256 {
		for at := range 10 {
			for _, behind := range []string{"", "\x1f", `\n`, "\u00e9", "\xff"} {
				text := []byte("abcdefghij" + behind + "klmnopqrs")
				text[at] = byte(c)
				src := append(append([]byte{'"'}, text...), '"')
				v, err := strictjson.Parse(src, strictjson.Ceilings())
				var want string
				accepted := utf8.Valid(src) && json.Unmarshal(src, &want) == nil
				if (err == nil) != accepted || v.Text() != want || v.Chars() != utf8.RuneCountInString(want) {
					t.Fatalf("byte %#x at %d, then %q: %v, %q of %d", c, at, behind, err, v.Text(), v.Chars())
				}
				if first, fault := oddByte(text), (*strictjson.Error)(nil); errors.As(err, &fault) && fault.Offset < 1+first {
					t.Fatalf("byte %#x at %d, then %q: refused at %d, before anything is wrong", c, at, behind, fault.Offset)
				}
			}
		}
	}
}

// oddByte returns where the first byte stands that does not stand for itself.
func oddByte(text []byte) int {
	for i, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(text)
}
