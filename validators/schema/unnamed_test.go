package schema

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// unnamedTable says which members a schema does not name. want are their places; total
// counts more where the limit of 5 is passed. D8: what an adapter's watch counts.
var unnamedTable = []struct {
	name, schema, instance, want string
	total                        int
}{
	{"all named", `{"properties":{"a":true,"b":{"type":"object"}}}`, `{"a":1,"b":{}}`, "", 0},
	{"one", `{"properties":{"a":true}}`, `{"a":1,"x":2}`, "/x", 1},
	{"in the order of the input", `{"properties":{"a":true}}`, `{"z":1,"a":{"q":1},"b":2}`, "/z /b", 2},
	{"true knows as a whole", `{"properties":{"a":true,"b":{},"c":{"type":"object"}}}`, `{"a":{"x":{"y":1}},"b":{"x":1},"c":{"x":1}}`, "", 0},
	{"the root names nothing", `{"type":"object"}`, `{"x":1}`, "", 0},
	{"true as additional names nothing", `{"properties":{"a":true},"additionalProperties":true}`, `{"x":1}`, "/x", 1},
	{"a schema as additional names all", `{"properties":{"a":true},"additionalProperties":{"properties":{"b":true}}}`, `{"x":{"b":1,"y":2}}`, "/x/y", 1},
	{"not inside what is unnamed", `{"properties":{"a":true}}`, `{"x":{"y":{"z":1}}}`, "/x", 1},
	{"deep", `{"properties":{"a":{"properties":{"b":{"properties":{"c":true}}}}}}`, `{"a":{"b":{"c":1,"x":1},"y":1},"z":1}`, "/a/b/x /a/y /z", 3},
	{"in arrays", `{"items":{"properties":{"a":true}}}`, `[{"a":1},{"x":1},[1],{"a":1,"y":2}]`, "/1/x /3/y", 2},
	{"prefix and items", `{"prefixItems":[{"properties":{"a":true}}],"items":{"properties":{"b":true}}}`, `[{"b":1},{"a":1},{"b":1}]`, "/0/b /1/a", 2},
	{"contains", `{"contains":{"properties":{"a":true},"required":["a"]}}`, `[{"b":1},{"a":1,"c":2}]`, "/1/c", 1},
	{"unevaluated items", `{"prefixItems":[true],"unevaluatedItems":{"properties":{"a":true}}}`, `[{"b":1},{"b":2}]`, "/1/b", 1},
	{"patterns", `{"patternProperties":{"^x-":{"properties":{"a":true}}}}`, `{"x-1":{"a":1,"b":2},"y":1}`, "/x-1/b /y", 2},
	{"property names name nothing", `{"propertyNames":{"maxLength":3},"properties":{"a":true}}`, `{"b":1}`, "/b", 1},
	{"through $ref", `{"$ref":"#/$defs/d","$defs":{"d":{"properties":{"a":{"$ref":"#/$defs/d"}}}}}`, `{"a":{"a":{},"x":1}}`, "/a/x", 1},
	{"allOf adds up", `{"allOf":[{"properties":{"a":true}},{"properties":{"b":{"properties":{"c":true}}}}],"properties":{"b":{"properties":{"d":true}}}}`, `{"a":1,"b":{"c":1,"d":1,"e":1}}`, "/b/e", 1},
	{"the branch that matches", `{"anyOf":[{"required":["a"],"properties":{"a":true,"b":true}},{"required":["c"],"properties":{"c":true,"d":true}}]}`, `{"a":1,"b":1,"d":1}`, "/d", 1},
	{"both branches match", `{"anyOf":[{"required":["a"],"properties":{"a":true,"b":true}},{"required":["c"],"properties":{"c":true,"d":true}}]}`, `{"a":1,"b":1,"c":1,"d":1}`, "", 0},
	{"oneOf", `{"oneOf":[{"properties":{"k":{"const":1},"a":true},"required":["k"]},{"properties":{"k":{"const":2},"b":true},"required":["k"]}]}`, `{"k":2,"a":1,"b":1}`, "/a", 1},
	{"if and then", `{"if":{"required":["k"],"properties":{"k":{"const":1}}},"then":{"properties":{"a":true}},"else":{"properties":{"b":true}}}`, `{"k":1,"a":1,"b":1}`, "/b", 1},
	{"else", `{"if":{"required":["k"],"properties":{"k":{"const":1}}},"then":{"properties":{"a":true}},"else":{"properties":{"b":true}}}`, `{"k":2,"a":1,"b":1}`, "/k /a", 2},
	{"then alone means nothing", `{"then":{"properties":{"a":true}},"properties":{"b":true}}`, `{"a":1}`, "/a", 1},
	{"not names nothing", `{"not":{"required":["q"],"properties":{"a":true}},"properties":{"b":true}}`, `{"a":1}`, "/a", 1},
	{"dependent schemas", `{"properties":{"k":true},"dependentSchemas":{"k":{"properties":{"a":true}}}}`, `{"k":1,"a":1}`, "", 0},
	{"dependent schemas, absent", `{"properties":{"k":true},"dependentSchemas":{"k":{"properties":{"a":true}}}}`, `{"a":1}`, "/a", 1},
	{"unevaluated properties", `{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":{"properties":{"b":true}}}`, `{"a":{"q":1},"x":{"b":1,"c":1}}`, "/x/c", 1},
	{"unevaluated properties true", `{"properties":{"a":true},"unevaluatedProperties":true}`, `{"x":1}`, "/x", 1},
	{"at most five places, all counted", `{"properties":{"a":true}}`, `{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0}`, "/1 /2 /3 /4 /5", 7},
	{"names are escaped in pointers only", `{"properties":{"a":true}}`, `{"x/y~z":0}`, "/x~1y~0z", 1},
	{"a scalar", `{"properties":{"a":true}}`, `3`, "", 0},
	{"no schema", `true`, `{"a":{"b":1}}`, "", 0},
}

func unnamed(t testing.TB, source, instance string, limit int) (string, int, error) {
	t.Helper()
	s, err := Compile(map[string][]byte{"s.json": []byte(source)}, "s.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := parse(t, instance)
	failures, err := s.Validate(context.Background(), v)
	if err != nil || len(failures) > 0 {
		t.Fatalf("the instance does not conform: %v %v", failures, err)
	}
	first, total, err := s.Unnamed(context.Background(), v, limit)
	places := make([]string, len(first))
	for i, p := range first {
		places[i] = p.String()
	}
	return strings.Join(places, " "), total, err
}

func TestUnnamed(t *testing.T) {
	for i, row := range unnamedTable {
		t.Run(strconv.Itoa(i)+" "+row.name, func(t *testing.T) {
			got, total, err := unnamed(t, row.schema, row.instance, 5)
			if got != row.want || total != row.total || err != nil {
				t.Errorf("got %q of %d, %v; want %q of %d", got, total, err, row.want, row.total)
			}
		})
	}
}

// The places are relative to the value that was judged.
func TestUnnamedInside(t *testing.T) {
	s, err := Compile(map[string][]byte{"s.json": []byte(`{"properties":{"a":true}}`)}, "s.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, total, err := s.Unnamed(context.Background(), parse(t, `{"data":{"a":1,"x":2}}`).Member("data"), 1)
	if err != nil || total != 1 || !slices.Equal(first[0], strictjson.Pointer{"x"}) {
		t.Error(first, total, err)
	}
}

// A2: the work is linear in the value, and what is not ends with the budget.
func TestUnnamedBudget(t *testing.T) {
	const row = `{"a":{"b":1,"c":[{"d":1}]},"x":1},`
	tree := `{"items":{"properties":{"a":{"properties":{"b":true,"c":{"items":{"properties":{"e":true}}}}}}}}`
	_, total, err := unnamed(t, tree, "["+strings.Repeat(row, 9_999)+strings.TrimSuffix(row, ",")+"]", 5)
	if err != nil || total != 20_000 {
		t.Errorf("%d, %v", total, err)
	}

	s, err := Compile(map[string][]byte{"s.json": []byte(tree)}, "s.json", Options{Budget: 1000})
	if err != nil {
		t.Fatal(err)
	}
	v := parse(t, "["+strings.Repeat(row, 999)+strings.TrimSuffix(row, ",")+"]")
	if first, total, err := s.Unnamed(context.Background(), v, 5); !errors.Is(err, ErrBudget) || first != nil || total != 0 {
		t.Error(first, total, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.Unnamed(ended, v, 5); !errors.Is(err, ErrBudget) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzUnnamed: no panic, the same answer twice, and no schema names what a schema that
// closes the same object refuses.
func FuzzUnnamed(f *testing.F) {
	for _, row := range unnamedTable {
		f.Add(row.schema, row.instance)
	}
	f.Fuzz(func(t *testing.T, source, instance string) {
		if len(source) > 4<<10 || len(instance) > 16<<10 {
			return
		}
		s, err := Compile(map[string][]byte{"s.json": []byte(source)}, "s.json", Options{Formats: Annotate, Budget: 100_000})
		if err != nil {
			return
		}
		v, err := strictjson.Parse([]byte(instance), strictjson.Ceilings())
		if err != nil {
			return
		}
		if failures, err := s.Validate(context.Background(), v); err != nil || len(failures) > 0 {
			return
		}
		first, total, err := s.Unnamed(context.Background(), v, 3)
		again, totalAgain, errAgain := s.Unnamed(context.Background(), v, 3)
		if total != totalAgain || len(first) != len(again) || (err == nil) != (errAgain == nil) || len(first) > 3 || len(first) > total {
			t.Fatalf("%v of %d, %v; then %v of %d, %v", first, total, err, again, totalAgain, errAgain)
		}
		for i, p := range first {
			if !slices.Equal(p, again[i]) || !v.At(p).Exists() {
				t.Fatalf("%v, then %v", p, again[i])
			}
		}
	})
}
