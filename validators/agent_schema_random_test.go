package validators_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// shapes makes random schemas, fields and values over few names, so that they meet.
type shapes struct{ *rand.Rand }

func (g shapes) pick(options ...string) string { return options[g.IntN(len(options))] }

func (g shapes) value(depth int) string {
	switch n := g.IntN(6); {
	case depth > 0 && n < 3:
		var members []string
		for _, name := range []string{"a", "b", "c"} {
			if g.IntN(3) > 0 {
				members = append(members, fmt.Sprintf("%q:%s", name, g.value(depth-1)))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	case depth > 0 && n == 3:
		var items []string
		for range g.IntN(3) {
			items = append(items, g.value(depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return g.pick(`1`, `2`, `"x"`, `"yy"`, `null`, `true`)
}

func (g shapes) schema(depth int) string {
	if depth == 0 {
		return g.pick(`true`, `true`, `{"type":"integer"}`, `{"type":["string","null"]}`, `{"const":1}`, `{"enum":["x",2,null]}`, `{"$ref":"#/$defs/d"}`)
	}
	keywords := []string{}
	used := map[string]bool{}
	for range 1 + g.IntN(4) {
		name, value, _ := strings.Cut(g.keyword(depth-1), ":")
		if branch := name == `"then"` || name == `"else"`; !used[name] && (!branch || used[`"if"`]) {
			used[name] = true
			keywords = append(keywords, name+":"+value)
		}
	}
	return "{" + strings.Join(keywords, ",") + "}"
}

func (g shapes) keyword(depth int) string {
	s := func() string { return g.schema(depth) }
	props := func() string { return fmt.Sprintf(`{"a":%s,%q:%s}`, s(), g.pick("b", "c"), s()) }
	switch g.IntN(22) {
	case 0, 1, 2, 3:
		return `"properties":` + props()
	case 4:
		return `"type":` + g.pick(`"object"`, `["object","array"]`, `["object","string","null"]`, `"array"`)
	case 5:
		return `"required":` + g.pick(`["a"]`, `["b"]`, `["a","c"]`)
	case 6:
		return `"additionalProperties":` + g.pick(`false`, s())
	case 7:
		return `"unevaluatedProperties":` + g.pick(`false`, s())
	case 8:
		return fmt.Sprintf(`"%s":[%s,%s]`, g.pick("allOf", "anyOf", "oneOf"), s(), s())
	case 9:
		return fmt.Sprintf(`"%s":[%s,{"properties":%s}]`, g.pick("allOf", "anyOf", "oneOf"), s(), props())
	case 10:
		return `"not":` + s()
	case 11:
		return `"if":` + g.pick(`{"required":["a"]}`, `{"properties":{"b":{"const":1}}}`, s())
	case 12:
		return `"then":` + s() // dropped where no if came before
	case 13:
		return `"else":` + s()
	case 14:
		return `"items":` + s()
	case 15:
		return fmt.Sprintf(`"prefixItems":[%s,%s]`, s(), s())
	case 16:
		return g.pick(`"unevaluatedItems":false`, `"minItems":1`, `"maxItems":1`, `"uniqueItems":true`, `"minProperties":2`, `"maxProperties":1`)
	case 17:
		return `"contains":` + s()
	case 18:
		return fmt.Sprintf(`"dependentSchemas":{"a":%s,"c":%s}`, s(), s())
	case 19:
		return `"dependentRequired":{"a":["b"],"b":["a","c"]}`
	case 20:
		return `"enum":[` + g.value(1) + `,` + g.value(2) + `,{"a":1}]`
	}
	return `"propertyNames":` + g.pick(`{"enum":["a","b"]}`, `true`)
}

// fields returns agent fields of which none contains another.
func (g shapes) fields() []string {
	return [][]string{
		{"/a"}, {"/a", "/b"}, {"/b/a"}, {"/a/*"}, {"/a/*/b", "/c"}, {"/*"}, {"/*/a", "/*/b"}, {"/a/a", "/a/b", "/b"}, {"/c/*/a"},
	}[g.IntN(9)]
}

// agentSchemaSeeds is how many random schemas are tried.
var agentSchemaSeeds = flag.Uint64("agent-schema-seeds", 600, "random schemas that TestAgentSchemaRandom tries")

// Whatever the payload's schema is made of, what the agent gets of a value that conforms
// conforms to the agent's schema; and where it gets everything, the two say the same.
func TestAgentSchemaRandom(t *testing.T) {
	held := 0
	for seed := range uint64(*agentSchemaSeeds) {
		g := shapes{rand.New(rand.NewPCG(seed, 1))}
		text := fmt.Sprintf(`{"allOf":[%s],"$defs":{"d":%s}}`, g.schema(3), g.pick(`{"properties":{"a":{"type":"integer"}}}`, `{"type":["object","array","integer"],"items":{"type":"integer"}}`, `true`))
		p := newPromise(t, text, g.fields()...)
		same := newPromise(t, text, "")
		for range 15 {
			payload := g.value(3)
			ok := p.holds(t, payload)
			if ok {
				held++
			}
			if again := conforms(t, same.agent, parseValue(t, payload)); again != ok {
				t.Errorf("%s conforms to %s: %v, to %s: %v", payload, text, ok, same.text, again)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d: schema %s", seed, text)
		}
	}
	if held < 500 {
		t.Errorf("only %d values conformed", held)
	}
}
