package schema

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// grammar makes random schemas and instances over few names and values, so that they
// meet often.
type grammar struct{ *rand.Rand }

func (g grammar) pick(options ...string) string { return options[g.IntN(len(options))] }

func (g grammar) scalar() string {
	return g.pick(`1`, `1.0`, `2`, `-3`, `0.5`, `1e1`, `"a"`, `"bb"`, `"ccc"`, `true`, `false`, `null`, `""`)
}

func (g grammar) instance(depth int) string {
	switch n := g.IntN(5); {
	case depth > 0 && n < 2:
		var members []string
		for _, name := range []string{"a", "b", "c", "kind"} {
			if g.IntN(2) == 0 {
				members = append(members, fmt.Sprintf(`%q:%s`, name, g.instance(depth-1)))
			}
		}
		g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, ",") + "}"
	case depth > 0 && n == 2:
		items := make([]string, g.IntN(4))
		for i := range items {
			items[i] = g.instance(depth - 1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return g.scalar()
}

func (g grammar) list(n int, f func() string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = f()
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (g grammar) keyword(depth int) string {
	sub := func() string { return g.schema(depth - 1) }
	if depth <= 0 {
		sub = func() string { return g.pick(`true`, `false`, `{"type":"integer"}`, `{"type":"string"}`) }
	}
	members := func() string {
		return fmt.Sprintf(`{"a":%s,%q:%s}`, sub(), g.pick("b", "c", "kind"), sub())
	}
	branch := func() string {
		return fmt.Sprintf(`{"properties":{"kind":{%s},"a":%s},"required":[%s]}`,
			g.pick(`"const":1`, `"const":"a"`, `"enum":[2,"bb"]`, `"enum":["a",null]`), sub(), g.pick(``, `"kind"`, `"kind","a"`))
	}
	switch g.IntN(24) {
	case 0:
		return `"type":` + g.pick(`"object"`, `"array"`, `"string"`, `"integer"`, `"number"`, `["object","null"]`, `["integer","object","array"]`)
	case 1:
		return `"const":` + g.instance(1)
	case 2:
		return `"enum":` + g.list(1+g.IntN(3), func() string { return g.instance(1) })
	case 3, 4:
		return `"properties":` + members()
	case 5:
		return `"additionalProperties":` + sub()
	case 6:
		return fmt.Sprintf(`"patternProperties":{%q:%s,"^.$":%s}`, g.pick("a", "^k", "b|c"), sub(), sub())
	case 7:
		return `"required":` + g.pick(`["a"]`, `["a","kind"]`, `["b"]`)
	case 8, 9:
		return `"unevaluatedProperties":` + g.pick(`false`, `false`, sub())
	case 10:
		return `"unevaluatedItems":` + g.pick(`false`, `false`, sub())
	case 11:
		return `"items":` + sub()
	case 12:
		return `"prefixItems":` + g.list(1+g.IntN(2), sub)
	case 13:
		return fmt.Sprintf(`"contains":%s,"minContains":%d,"maxContains":%d`, sub(), g.IntN(3), 1+g.IntN(2))
	case 14:
		return `"allOf":` + g.list(1+g.IntN(2), sub)
	case 15:
		return `"anyOf":` + g.list(1+g.IntN(3), sub)
	case 16:
		return `"oneOf":` + g.list(1+g.IntN(3), sub)
	case 17:
		return g.pick(`"anyOf"`, `"oneOf"`) + `:` + g.list(1+g.IntN(3), branch)
	case 18:
		return `"not":` + sub()
	case 19:
		return fmt.Sprintf(`"if":%s,"then":%s,"else":%s`, sub(), sub(), sub())
	case 20:
		return fmt.Sprintf(`"dependentSchemas":{"a":%s},"dependentRequired":{"b":["c"]}`, sub())
	case 21:
		return g.pick(`"uniqueItems":true`, `"minItems":1`, `"maxItems":2`, `"minProperties":2`, `"maxProperties":2`,
			`"minLength":2`, `"maxLength":1`, `"pattern":"^.b"`, `"minimum":1`, `"exclusiveMaximum":2`, `"multipleOf":0.5`)
	case 22:
		return `"propertyNames":` + g.pick(`{"maxLength":1}`, `{"pattern":"^k|a"}`, `{"enum":["a","b"]}`)
	}
	return g.pick(`"$ref":"root#/$defs/x"`, `"$ref":"root#/$defs/y"`, `"$ref":"root"`, `"$dynamicRef":"#d"`, `"$ref":"other"`)
}

func (g grammar) schema(depth int) string {
	seen := make(map[string]bool)
	var parts []string
	for range 1 + g.IntN(4) {
		k := g.keyword(depth)
		clash := false
		for _, name := range strings.Split(k, `"`) {
			clash = clash || seen[name]
		}
		if name := strings.Split(k, `"`)[1]; !seen[name] && !clash {
			seen[name] = true
			parts = append(parts, k)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Random schemas, each with eight instances: both engines agree, references that lead
// back to themselves included.
func TestOracleRandom(t *testing.T) {
	schemas, pairs, invalid := 1_500, 0, 0
	if testing.Short() || slower > 3 {
		schemas = 200
	}
	for seed := range schemas {
		g := grammar{rand.New(rand.NewPCG(uint64(seed), 7))}
		body := strings.TrimPrefix(g.schema(3), "{")
		source := fmt.Sprintf(`{"$id":"https://example.test/root","$defs":{"x":%s,"y":%s,"d":{"$dynamicAnchor":"d","required":["a"]},
			"o":{"$id":"other","$defs":{"d":{"$dynamicAnchor":"d","type":"object"}},"properties":{"b":{"$dynamicRef":"#d"},"c":%s}}},%s`,
			g.schema(1), g.schema(2), g.schema(1), body)
		if body == "}" {
			continue
		}
		ours, err := Compile(map[string][]byte{"schema.json": []byte(source)}, "schema.json", Options{Formats: Annotate})
		theirs, theirErr := oracle([]byte(source), nil)
		if err != nil || theirErr != nil {
			t.Fatalf("seed %d: %v %v\n%s", seed, err, theirErr, source)
		}
		for range 8 {
			instance := g.instance(3)
			v := parse(t, instance)
			got, err := ours.Validate(context.Background(), v)
			if err != nil {
				continue // nor would the library end
			}
			want, ok := ask(theirs, plain(v))
			if !ok {
				continue
			}
			pairs++
			if !want {
				invalid++
			}
			if (len(got) == 0) != want {
				t.Fatalf("seed %d: the library says %v, ours:\n%s\n%s\n%s", seed, want, show(got), source, instance)
			}
		}
	}
	if pairs < 7*schemas || invalid < pairs/10 || invalid > pairs*9/10 {
		t.Errorf("%d pairs, %d of them invalid, of %d schemas", pairs, invalid, schemas)
	}
}
