package strictjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// JSON Schema Core section 4.2.2: one row is a class; members of one class are equal,
// those of two are not.
func TestEqual(t *testing.T) {
	var up, down strings.Builder
	for i := range 30 {
		fmt.Fprintf(&up, `"k%d":[%d],`, i, i)
		fmt.Fprintf(&down, `"\u006b%d":[%d.0],`, 29-i, 29-i)
	}
	classes := [][]string{
		{"null"},
		{"true"},
		{"false"},
		{"0", "-0", "0.0", "0e9"},
		{"1", "1.0", "10e-1"},
		{"-1"},
		{"9007199254740993"},
		{"9007199254740992"},
		{"0.1", "1e-1"},
		{"0.1000000000000000055511151231257827"},
		{`""`},
		{`"1"`, `"\u0031"`},
		{`"true"`},
		{`"é"`, `"\u00e9"`},
		{`"e\u0301"`},
		{"[]", " [ ] "},
		{"{}"},
		{"[null]"},
		{"[[]]"},
		{"[1,2]", "[1.0,2e0]"},
		{"[2,1]"},
		{"[1,2,3]"},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"\u0061":1}`},
		{`{"a":1,"b":[3]}`},
		{`{"a":1,"c":[2]}`},
		{`{"a":1}`},
		{`{"A":1}`},
		{`{"a":null}`},
		{`{"b":null}`},
		{"{" + up.String() + `"z":0}`, "{" + `"z":0,` + down.String()[:down.Len()-1] + "}"},
		{"{" + up.String() + `"z":1}`},
		{"{" + up.String() + `"y":0}`},
	}
	for i, class := range classes {
		for _, a := range class {
			for j, other := range classes {
				for _, b := range other {
					if got := strictjson.Equal(mustParse(t, a), mustParse(t, b)); got != (i == j) {
						t.Errorf("%s and %s: %v", brief(a), brief(b), got)
					}
				}
			}
			if strictjson.Equal(mustParse(t, a), strictjson.Value{}) || strictjson.Equal(strictjson.Value{}, mustParse(t, a)) {
				t.Errorf("%s equals an absent value", brief(a))
			}
		}
	}
	if !strictjson.Equal(strictjson.Value{}, strictjson.Value{}) {
		t.Error("absent values differ")
	}
}

// Parts of one tree are compared like trees.
func TestEqualParts(t *testing.T) {
	v := mustParse(t, `[{"a":[1,{"b":2}]},{"a":[1.0,{"b":2}]},[1,{"b":2}],[1,{"b":2},3]]`)
	at := func(pointer string) strictjson.Value {
		p, err := strictjson.ParsePointer(pointer)
		if err != nil {
			t.Fatal(err)
		}
		return v.At(p)
	}
	if !strictjson.Equal(at("/0"), at("/1")) || !strictjson.Equal(at("/0/a"), at("/2")) || strictjson.Equal(at("/2"), at("/3")) {
		t.Error("parts")
	}
}
