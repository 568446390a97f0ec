package strictjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// A3; cases 018, 019, 021: names are compared after unescaping and byte for byte, and
// neither folded nor normalised.
func TestDuplicateNames(t *testing.T) {
	for _, row := range []struct {
		name, src string
		offset    int // -1 where the names differ
		pointer   string
	}{
		{"plain", `{"to":"a@example.com","to":"b@example.net"}`, 22, "/to"},
		{"same value", `{"a":1,"a":1}`, 7, "/a"},
		{"escaped second", `{"name":"first","n\u0061me":"second"}`, 16, "/name"},
		{"escaped first", `{"n\u0061me":1,"name":2}`, 15, "/name"},
		{"escaped both", `{"\u006eame":1,"n\u0061me":2}`, 15, "/name"},
		{"pair and raw", `{"😀":1,"\ud83d\ude00":2}`, 10, "/😀"},
		{"pair in two cases", `{"\uD83D\uDE00":1,"\ud83d\ude00":2}`, 18, "/😀"},
		{"short escape and long", `{"\n":1,"\u000a":2}`, 8, "/\n"},
		{"solidus", `{"a\/b":1,"a/b":2}`, 10, "/a~1b"},
		{"empty", `{"":1,"":2}`, 6, "/"},
		{"NUL", `{"\u0000":1,"\u0000":2}`, 12, "/\x00"},
		{"far apart", `{"a":{"a":{"a":[]}},"b":[{"a":1}],"a":1}`, 34, "/a"},
		{"inside an array", `[{"a":1},{"a":1,"a":2}]`, 16, "/1/a"},
		{"inside a member", `{"x":{"a":1,"a":2}}`, 12, "/x/a"},
		{"three times", `{"a":1,"a":2,"a":3}`, 7, "/a"},
		{"same name at other levels", `{"a":{"a":{"a":1}}}`, -1, ""},
		{"same name in siblings", `[{"a":1},{"a":1}]`, -1, ""},
		{"name as value", `{"a":"a","b":"a"}`, -1, ""},
		{"case", `{"a":1,"A":2}`, -1, ""},
		{"long s and Kelvin", `{"s":1,"\u017f":2,"k":3,"\u212a":4}`, -1, ""},
		{"NFC and NFD", `{"\u00e9":1,"e\u0301":2}`, -1, ""},
		{"width", `{"a":1,"ａ":2}`, -1, ""},
		{"white space", `{"a":1,"a ":2," a":3}`, -1, ""},
		{"prefix", `{"ab":1,"a":2,"abc":3}`, -1, ""},
		{"escaped backslash", `{"\\u0061":1,"a":2}`, -1, ""},
		{"cut by NUL in C", `{"a\u0000b":1,"a\u0000c":2,"a":3}`, -1, ""},
		{"escape and plain of equal length", `{"\u0061b":1,"ac":2,"\u0061d":3}`, -1, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.offset < 0 {
				checkTree(t, []byte(row.src), mustParse(t, row.src))
				return
			}
			fault := refusal(t, row.src, strictjson.Ceilings())
			if fault.Reason != strictjson.DuplicateName || fault.Offset != row.offset || fault.Pointer != row.pointer {
				t.Errorf("%v at %q, want byte %d at %q", fault, fault.Pointer, row.offset, row.pointer)
			}
		})
	}
}

// A name is found and compared whatever its length and however it is written.
func TestLongNames(t *testing.T) {
	const most = 1<<16 - 1 // the longest that a node points at in the source
	for _, n := range []int{most - 1, most, most + 1, 2*most + 2, 3 * most} {
		long := strings.Repeat("x", n-1) + "y"
		escaped := `\u0078` + long[1:]
		src := `{"first":0,"` + long + `":{"a":"\n"},"` + long + `z":[true],"` + escaped + `e":"last"}`
		v, err := strictjson.Parse([]byte(src), wide())
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		for name, want := range map[string]string{"first": "0", long: `{"a":"\n"}`, long + "z": "[true]", long + "e": `"last"`} {
			if m := v.Member(name); string(strictjson.AppendJSON(nil, m)) != want || m.Path().String() != "/"+name {
				t.Errorf("%d bytes: a name of %d has another value or path", n, len(name))
			}
		}
		if got, want := string(strictjson.AppendJSON(nil, v)), strings.Replace(src, escaped, long, 1); got != want {
			t.Errorf("%d bytes: written otherwise", n)
		}
		for _, second := range []string{long, escaped} {
			src := `{"` + long + `":0,"b":1,"` + second + `":2}`
			if fault := refusal(t, src, wide()); fault.Reason != strictjson.DuplicateName || fault.Offset != n+12 || fault.Pointer != "/"+long {
				t.Errorf("%d bytes: %v", n, fault)
			}
		}
	}
}

// A3: around the size from which names are kept in a map, every pair of equal names is
// found, however both are spelled, and no other.
func TestDuplicatesAroundTheMap(t *testing.T) {
	spell := func(i int, escaped bool) string {
		if escaped {
			return fmt.Sprintf(`"\u006b%d"`, i)
		}
		return fmt.Sprintf(`"k%d"`, i)
	}
	for _, members := range []int{2, 11, 12, 13, 14, 15, 40} {
		for first := range members {
			for way := range 4 {
				var b strings.Builder
				b.WriteString(`[{"k0":{"k1":1}},{`)
				for i := range members {
					fmt.Fprintf(&b, `%s:{"k%d":[]},`, spell(i, i == first && way&1 != 0), i)
				}
				unique := b.String() + `"last":1}]`
				mustParse(t, unique)
				offset := b.Len()
				for _, behind := range []string{"", `,"more":1`, "," + spell(0, false) + ":2"} {
					src := b.String() + spell(first, way&2 != 0) + ":1" + behind + "}]"
					fault := refusal(t, src, strictjson.Ceilings())
					if fault.Reason != strictjson.DuplicateName || fault.Offset != offset || fault.Pointer != fmt.Sprintf("/1/k%d", first) {
						t.Fatalf("%d members, the name of %d again, spelled %d: %v at %q", members, first, way, fault, fault.Pointer)
					}
				}
			}
		}
	}
}

// A large object inside a large object, and one after another: names of one are not
// those of the other.
func TestLargeObjectsDoNotShareNames(t *testing.T) {
	var row strings.Builder
	for i := range 20 {
		fmt.Fprintf(&row, `"k%d":%d,`, i, i)
	}
	flat := "{" + row.String() + `"z":0}`
	deep := "{" + row.String() + `"z":` + "{" + row.String() + `"z":` + flat + "}}"
	src := "[" + flat + "," + deep + "," + flat + "]"
	checkTree(t, []byte(src), mustParse(t, src))
	// The outer object goes on after the inner one, and still knows its names.
	src = "{" + row.String() + `"z":` + flat + `,"k7":1}`
	if fault := refusal(t, src, strictjson.Ceilings()); fault.Reason != strictjson.DuplicateName || fault.Pointer != "/k7" {
		t.Errorf("%v at %q", fault, fault.Pointer)
	}
}

// Duplicates count as members on the way to the map too.
func TestManyDuplicates(t *testing.T) {
	src := `{` + strings.Repeat(`"a":1,`, 30) + `"b":2,"b":3}`
	if fault := refusal(t, src, strictjson.Ceilings()); fault.Reason != strictjson.DuplicateName || fault.Offset != 7 {
		t.Errorf("%v", fault)
	}
}
