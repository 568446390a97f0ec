package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// ofSchema is a contract whose agent gets all that a schema lets pass. The lint for our
// own schemas is not asked: what a vendor's may do is compared too.
func ofSchema(t *testing.T, src string) *Contract {
	t.Helper()
	s, faults := readSchema(map[string][]byte{"s": []byte(src)}, "s")
	if len(faults) > 0 {
		t.Fatalf("%s\n%v", src, faults)
	}
	return &Contract{Result: Result{Schema: s, AgentFields: []strictjson.Pointer{{}}}}
}

const (
	tagA = `{"type":"object","properties":{"k":{"const":"a"},"x":{"type":"integer"}},"required":["k"],"additionalProperties":false}`
	tagB = `{"type":"object","properties":{"k":{"const":"b"},"y":{"type":"integer"}},"required":["k"],"additionalProperties":false}`
	tagC = `{"type":"object","properties":{"k":{"const":"c"}},"required":["k"],"additionalProperties":false}`
)

// schemaPairs are schemas that no contract of ours may have, or that need no contract
// around them. want has a change a line.
var schemaPairs = []struct{ name, old, now, want string }{
	// closed and open
	{
		"opened", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"type":"object","properties":{"a":{}}}`,
		`breaking closed-opened s#/additionalProperties: closed -> open`,
	},
	{
		"closed", `{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}},"additionalProperties":false}`,
		`breaking opened-closed s#/additionalProperties: open -> closed`,
	},
	{"closed in another way", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"type":"object","properties":{"a":{}},"unevaluatedProperties":false}`, ``},
	{
		"part closed too early", `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"type":"object","unevaluatedProperties":false}`,
		`{"allOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}],"type":"object","unevaluatedProperties":false}`,
		`breaking member-removed s#/allOf/1/properties/b: any -> nothing`,
	},
	{
		"described in an open object", `{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`,
		`breaking member-described s#/properties/a: any -> string`,
	},
	{"described as anything", `{"type":"object"}`, `{"type":"object","properties":{"a":true,"b":{}}}`, ``},
	{
		"no longer described", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object"}`,
		`breaking member-undescribed s#/properties/a: string -> any`,
	},
	{
		"forbidden by false", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":false}}`,
		`breaking member-removed s#/properties/a: string -> nothing`,
	},
	{
		"forbidden by values that exclude each other", `{"type":"object","properties":{"a":{"enum":[1,2]}}}`, `{"type":"object","properties":{"a":{"allOf":[{"enum":[1]},{"enum":[2]}]}}}`,
		`breaking member-removed s#/properties/a: 1|2 -> nothing`,
	},
	{
		"free map", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"string","maxLength":9}}`,
		`breaking condition-changed s#/additionalProperties: additionalProperties -> additionalProperties`,
	},
	{
		"pattern of names", `{"type":"object","patternProperties":{"^a":{}}}`, `{"type":"object","patternProperties":{"^b":{}}}`,
		"breaking condition-added s#/patternProperties: nothing -> patternProperties\nbreaking condition-removed s#/patternProperties: patternProperties -> nothing",
	},

	// arrays
	{
		"positions", `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`, `{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":false}`,
		`breaking type-widened s#/prefixItems/1: integer -> number`,
	},
	{
		"position more", `{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, `{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":false}`,
		`contract element-added s#/prefixItems/1: nothing -> number`,
	},
	{"positions that say what items say", `{"type":"array","items":{"type":"string"}}`, `{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}}`, ``},
	{
		"elements opened", `{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, `{"type":"array","prefixItems":[{"type":"string"}]}`,
		`breaking closed-opened s#/items: closed -> open`,
	},
	{"elements closed", `{"type":"array"}`, `{"type":"array","unevaluatedItems":false}`, `breaking opened-closed s#: open -> closed`},
	{
		"contains", `{"type":"array","contains":{"const":1}}`, `{"type":"array","contains":{"const":1},"minContains":2}`,
		`breaking condition-changed s#/contains: contains -> contains`,
	},

	// numbers and strings
	{"numbers with equal value", `{"minimum":1,"enum":[1,2.0]}`, `{"minimum":1.0,"enum":[1.0,2]}`, ``},
	{"a bound that an enum implies", `{"enum":["a","bb"]}`, `{"enum":["a","bb","ccc"],"maxLength":2,"type":"string"}`, ``},
	{"an enum cut by a pattern", `{"enum":["a","bb"]}`, `{"enum":["a","bb"],"pattern":"^a"}`, `breaking enum-narrowed s#: "bb" -> nothing`},
	{
		"an enum gives way to texts that hold all of it", `{"enum":["a","b"]}`, `{"type":"string","maxLength":9}`,
		`breaking enum-removed s#: "a"|"b" -> nothing`,
	},
	{
		"an enum gives way to texts of which one is too long", `{"enum":["a","bbb"]}`, `{"type":"string","maxLength":2}`,
		"breaking enum-narrowed s#: \"bbb\" -> nothing\nbreaking enum-removed s#: \"a\"|\"bbb\" -> nothing",
	},
	{
		"an enum gives way to numbers, some beyond", `{"enum":[1,2,30]}`, `{"type":"integer","maximum":9}`,
		"breaking enum-narrowed s#: 30 -> nothing\nbreaking enum-removed s#: 1|2|30 -> nothing",
	},
	{
		"an enum gives way to some of its types", `{"enum":["a",null]}`, `{"type":"string","maxLength":9}`,
		"breaking enum-removed s#: \"a\"|null -> nothing\nbreaking type-narrowed s#: null|string -> string",
	},
	{
		"an enum for texts", `{"type":"string","maxLength":2}`, `{"enum":["a","b"]}`,
		`breaking enum-added s#: nothing -> "a"|"b"`,
	},
	{
		"an enum for texts, of which one was too long", `{"type":"string","maxLength":2}`, `{"enum":["a","bbb"]}`,
		"breaking enum-added s#: nothing -> \"a\"|\"bbb\"\ncontract enum-widened s#/enum/1: nothing -> \"bbb\"",
	},
	{
		"lists listed, their length bounded later", `{"enum":[[1],[1,2]]}`, `{"type":"array","maxItems":1}`,
		"breaking enum-removed s#: [1,2]|[1] -> nothing\nbreaking bound-narrowed s#/maxItems: nothing -> 1",
	},
	{"integers up to a fraction", `{"type":"integer","maximum":10}`, `{"type":"integer","maximum":10.5}`, ``},
	{"integers from a fraction", `{"type":"integer","minimum":-3}`, `{"type":"integer","exclusiveMinimum":-3.000001}`, ``},
	{"integers below a fraction", `{"type":"integer","exclusiveMaximum":0.5}`, `{"type":"integer","maximum":1e-300}`, ``},
	{"integers up to a larger fraction", `{"type":"integer","maximum":10}`, `{"type":"integer","maximum":11.5}`, `contract bound-widened s#/maximum: 10 -> 11.5`},
	{"integers up to a smaller fraction", `{"type":"integer","maximum":10}`, `{"type":"integer","maximum":9.99}`, `breaking bound-narrowed s#/maximum: 10 -> 9.99`},
	{"numbers up to a fraction", `{"type":"number","maximum":10}`, `{"type":"number","maximum":10.5}`, `contract bound-widened s#/maximum: 10 -> 10.5`},
	{"large integers", `{"type":"integer","exclusiveMaximum":9007199254740993}`, `{"type":"integer","maximum":9007199254740992}`, ``},
	{"far integers", `{"type":"integer","maximum":1e30}`, `{"type":"integer","maximum":1e30}`, ``},
	{"bounds of other types", `{"type":"integer"}`, `{"type":"integer","maxLength":3,"required":["a"],"uniqueItems":true}`, ``},
	{"exclusive", `{"type":"number","minimum":1}`, `{"type":"number","exclusiveMinimum":1}`, `breaking bound-narrowed s#/exclusiveMinimum: 1 -> exclusive 1`},
	{"inclusive and exclusive", `{"type":"number","minimum":1}`, `{"type":"number","minimum":1,"exclusiveMinimum":1}`, `breaking bound-narrowed s#/exclusiveMinimum: 1 -> exclusive 1`},
	{"inclusive", `{"type":"number","exclusiveMaximum":1}`, `{"type":"number","maximum":1}`, `contract bound-widened s#/maximum: exclusive 1 -> 1`},
	{"tightest of several", `{"type":"string","maxLength":5}`, `{"allOf":[{"type":"string","maxLength":5},{"maxLength":9}],"maxLength":7}`, ``},
	{"coarser step", `{"type":"number","multipleOf":2}`, `{"type":"number","multipleOf":4}`, `breaking multipleof-narrowed s#/multipleOf: 2 -> 4`},
	{"finer step", `{"type":"number","multipleOf":0.5}`, `{"type":"number","multipleOf":0.25}`, `contract multipleof-widened s#/multipleOf: 0.5 -> 0.25`},
	{"other step", `{"type":"number","multipleOf":2}`, `{"type":"number","multipleOf":3}`, `breaking multipleof-changed s#/multipleOf: 2 -> 3`},
	{"other format", `{"type":"string","format":"date"}`, `{"type":"string","format":"time"}`, `breaking format-changed s#/format: date -> time`},
	{"null and type", `{"type":["string","null"]}`, `{"type":["null","string"]}`, ``},
	{"integer or number", `{"type":["integer","number"]}`, `{"type":"number"}`, ``},

	// unions and conditions
	{"tags in another order", `{"oneOf":[` + tagA + `,` + tagB + `]}`, `{"oneOf":[` + tagB + `,` + tagA + `]}`, ``},
	{
		"tag replaced", `{"oneOf":[` + tagA + `,` + tagB + `,` + tagC + `]}`, `{"oneOf":[` + tagA + `,` + strings.Replace(tagB, `"b"`, `"d"`, 1) + `,` + strings.Replace(tagC, `"c"`, `"e"`, 1) + `]}`,
		"breaking branch-removed s#/oneOf/1: k=\"b\" -> nothing\nbreaking branch-removed s#/oneOf/2: k=\"c\" -> nothing\n" +
			"contract branch-added s#/oneOf/1: nothing -> k=\"d\"\ncontract branch-added s#/oneOf/2: nothing -> k=\"e\"",
	},
	{"one branch as a union", tagA, `{"anyOf":[` + tagA + `]}`, ``},
	{
		"union of another kind", `{"anyOf":[` + tagA + `,` + tagB + `]}`, `{"oneOf":[` + tagA + `,` + tagB + `]}`,
		"breaking condition-removed s#/anyOf: anyOf -> nothing\nbreaking condition-added s#/oneOf: nothing -> oneOf",
	},
	{
		"branches are repeated in the same union", `{"anyOf":[` + tagA + `,` + tagB + `]}`, `{"anyOf":[` + tagA + `,` + tagB + `,` + tagB + `]}`,
		`contract branch-added s#/anyOf/2: nothing -> k="b"`,
	},
	{
		"closed around a union", `{"type":"object","oneOf":[{"properties":{"k":{"const":1}},"required":["k"]},{"properties":{"k":{"const":2}},"required":["k"]}],"unevaluatedProperties":false}`,
		`{"type":"object","oneOf":[{"properties":{"k":{"const":1},"n":{"type":"null"}},"required":["k"]},{"properties":{"k":{"const":2}},"required":["k"]}],"unevaluatedProperties":false}`,
		`contract member-added s#/oneOf/0/properties/n: nothing -> null`,
	},
	{
		"elements under a closed object", `{"type":["object","array"],"contains":{"required":["k"]},"unevaluatedProperties":false}`,
		`{"type":["object","array"],"contains":{"required":["k"],"properties":{"b":false}},"unevaluatedProperties":false}`,
		`breaking condition-changed s#/contains: contains -> contains`,
	},
	{
		"a branch refuses what is named around it", `{"type":"object","properties":{"p":{}},"anyOf":[{"required":["a"],"properties":{"a":{}}},{"required":["b"],"properties":{"b":{}}}],"unevaluatedProperties":false}`,
		`{"type":"object","properties":{"p":{}},"anyOf":[{"required":["a"],"properties":{"a":{},"p":false}},{"required":["b"],"properties":{"b":{}}}],"unevaluatedProperties":false}`,
		`breaking member-removed s#/anyOf/0/properties/p: any -> nothing`,
	},
	{"what is excluded", `{"not":{"const":1}}`, `{"not":{"enum":[1,2]}}`, `breaking condition-changed s#/not: not -> not`},
	{"excluded by other words", `{"not":{"const":1}}`, `{"not":{"$ref":"#/$defs/one"},"$defs":{"one":{"enum":[1]}}}`, ``},
	{"if", `{"if":{"const":1},"then":{"type":"integer"}}`, `{"if":{"const":1},"then":{"type":"integer"},"else":false}`, `breaking condition-changed s#/if: if -> if`},
	{"if in allOf", `{"if":{"const":1},"then":{"type":"integer"}}`, `{"allOf":[{"if":{"const":1},"then":{"type":"integer"}}]}`, ``},
	{"then for else", `{"if":{"const":1},"then":{"type":"integer"}}`, `{"if":{"const":1},"else":{"type":"integer"}}`, `breaking condition-changed s#/if: if -> if`},
	{
		"condition gone", `{"type":"object","dependentSchemas":{"a":{"required":["b"]}}}`, `{"type":"object"}`,
		`breaking condition-removed s#/dependentSchemas: dependentSchemas -> nothing`,
	},

	// recursion
	{
		"the same tree, unrolled once", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`,
		`{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/n"}},"additionalProperties":false,"$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`, ``,
	},
	{
		"a change in a tree is told once", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`,
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"number"},"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`,
		`breaking type-widened s#/$defs/n/properties/v: integer -> number`,
	},
	{"nothing ever passes", `false`, `{"enum":[1],"type":"string"}`, ``},
}

// A23 D7
func TestCompareSchemas(t *testing.T) {
	for _, p := range schemaPairs {
		t.Run(p.name, func(t *testing.T) {
			got := strings.Join(changeLines(Compare(ofSchema(t, p.old), ofSchema(t, p.now))), "\n")
			if got != p.want {
				t.Errorf("got\n%s\nwant\n%s", got, p.want)
			}
		})
	}
}

// What was opened is refused to be called compatible, whatever it is.
func TestCompareSchemasSwapped(t *testing.T) {
	for _, p := range schemaPairs {
		t.Run(p.name, func(t *testing.T) {
			var want, got []string
			for _, c := range Compare(ofSchema(t, p.old), ofSchema(t, p.now)) {
				want = append(want, counterpart(c.Kind))
			}
			for _, c := range Compare(ofSchema(t, p.now), ofSchema(t, p.old)) {
				got = append(got, c.Kind)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Schemas that are tangled cost bounded time, and are not called compatible.
func TestCompareTangledSchemas(t *testing.T) {
	var branches, deep [2][]string
	for side := range 2 {
		for i := range 60 {
			branches[side] = append(branches[side], fmt.Sprintf(`{"type":"object","properties":{"n":{"$ref":"#/$defs/u"},"v":{"maxLength":%d}}}`, 100*side+i+1))
		}
		for i := range 60 {
			deep[side] = append(deep[side], fmt.Sprintf(`{"properties":{"a%d":{"$ref":"#/$defs/u"}},"minProperties":%d}`, i, i+side+1))
		}
	}
	schema := func(list []string) string {
		return `{"$ref":"#/$defs/u","$defs":{"u":{"anyOf":[` + strings.Join(list, ",") + `]}}}`
	}
	for _, pair := range [][2]string{{schema(branches[0]), schema(branches[1])}, {schema(deep[0]), schema(deep[1])}} {
		old, now := unlinted(pair[0]), unlinted(pair[1])
		start := time.Now()
		changes := Compare(old, now)
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("took %s", took)
		}
		if len(changes) == 0 || changes[0].Class != Breaking {
			t.Errorf("%q", changeLines(changes))
		}
	}
}

// unlinted is a contract with a schema that the lint for cost would refuse.
func unlinted(src string) *Contract {
	s, _ := readSchema(map[string][]byte{"s": []byte(src)}, "s")
	return &Contract{Result: Result{Schema: s, AgentFields: []strictjson.Pointer{{}}}}
}
