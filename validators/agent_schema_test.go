package validators_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/projection"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/semantic"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// promise is a payload's schema and agent fields, and the schema of what the agent gets.
type promise struct {
	payload, agent *schema.Schema
	plan           *projection.Plan
	text           string // of agent
}

func parseValue(t *testing.T, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.Ceilings())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func compile(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(map[string][]byte{"s.json": []byte(text)}, "s.json", schema.Options{Formats: schema.Assert})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func newPromise(t *testing.T, text string, fields ...string) promise {
	t.Helper()
	c := contract.Contract{Result: contract.Result{Schema: &contract.Schema{
		File: "s.json", Files: map[string][]byte{"s.json": []byte(text)},
		Roots: map[string]strictjson.Value{"s.json": parseValue(t, text)},
	}}}
	for _, f := range fields {
		p, err := strictjson.ParsePointer(f)
		if err != nil {
			t.Fatal(err)
		}
		c.Result.AgentFields = append(c.Result.AgentFields, p)
	}
	agent, err := c.AgentSchema()
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.AgentSchema()
	if err != nil || string(again) != string(agent) {
		t.Fatalf("made twice, it differs: %s, %s, %v", agent, again, err)
	}
	return promise{
		payload: compile(t, text), agent: compile(t, string(agent)), text: string(agent),
		plan: projection.New(c.Result.AgentFields, nil),
	}
}

func conforms(t *testing.T, s *schema.Schema, v strictjson.Value) bool {
	t.Helper()
	failures, err := s.Validate(context.Background(), v)
	return err == nil && len(failures) == 0
}

// holds reports whether a payload conforms, and fails the test where what the agent
// gets of it does not.
func (p promise) holds(t *testing.T, payload string) bool {
	t.Helper()
	v := parseValue(t, payload)
	if !conforms(t, p.payload, v) {
		return false
	}
	given, _, ok := p.plan.Project(nil, v)
	if ok && !conforms(t, p.agent, parseValue(t, string(given))) {
		t.Errorf("of %s the agent gets %s, which is not %s", payload, given, p.text)
	}
	return true
}

func lineOf() int { _, _, line, _ := runtime.Caller(1); return line }

// A15: what the agent gets is described exactly: the given members, closed, required
// where the payload requires them.
func TestAgentSchema(t *testing.T) {
	const head = `{"$schema":"https://json-schema.org/draft/2020-12/schema",`
	person := `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"],"additionalProperties":false}`
	for _, row := range []struct {
		line   int
		schema string
		fields []string
		want   string
	}{
		{lineOf(), person, []string{"/name"}, `"type":"object","required":["name"],"properties":{"name":{"type":"string"}},"additionalProperties":false}`},
		{lineOf(), person, []string{""}, person[1:]},
		{lineOf(), `{"$id":"https://example.test/s","$comment":"ours","x-owner":"us","title":"T","type":"string","maxLength":3}`, []string{""}, `"title":"T","type":"string","maxLength":3}`},
		{
			lineOf(), `{"type":"array","maxItems":3,"uniqueItems":true,"items":` + person + `}`,
			[]string{"/*/age"},
			`"type":"array","maxItems":3,"items":{"type":"object","required":["age"],"properties":{"age":{"type":"integer"}},"additionalProperties":false}}`,
		},
		{
			lineOf(), `{"type":["object","string"],"properties":{"a":{"const":1},"b":{"const":2}},"additionalProperties":false}`,
			[]string{"/a"},
			`"type":["null","object"],"properties":{"a":{"const":1}},"additionalProperties":false}`,
		},
		{
			lineOf(), `{"type":"object","properties":{"p":` + person + `,"q":{"type":"null"}},"required":["q"],"unevaluatedProperties":false}`,
			[]string{"/p/name"},
			`"type":"object","properties":{"p":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}},"additionalProperties":false}},"additionalProperties":false}`,
		},
		// Unions, conditions, composition.
		{
			lineOf(), `{"type":"object","oneOf":[{"properties":{"k":{"const":1}},"required":["k"]},{"properties":{"k":{"const":2}},"required":["k"]}],"unevaluatedProperties":false}`,
			[]string{"/k"},
			`"type":"object","properties":{"k":true},"additionalProperties":false,"anyOf":[{"required":["k"],"properties":{"k":{"const":1}}},{"required":["k"],"properties":{"k":{"const":2}}}]}`,
		},
		{
			lineOf(), `{"type":"object","properties":{"k":{"type":"integer"},"a":{"type":"string"}},"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"additionalProperties":false}`,
			[]string{"/a"},
			`"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		},
		{
			lineOf(), `{"type":"object","properties":{"k":{"type":"integer"},"a":{"type":"string"}},"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"properties":{"a":false}},"additionalProperties":false}`,
			[]string{"/a"},
			`"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"anyOf":[{"allOf":[{},{"required":["a"]}]},{"properties":{"a":false}}]}`,
		},
		{
			lineOf(), `{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"dependentRequired":{"a":["b","c"],"c":["a"]},"not":{"required":["c"]},"minProperties":2,"additionalProperties":false}`,
			[]string{"/a", "/b"},
			`"type":"object","dependentRequired":{"a":["b"]},"properties":{"a":{"type":"null"},"b":{"type":"null"}},"additionalProperties":false}`,
		},
		// References, recursion.
		{
			lineOf(), `{"$ref":"#/$defs/p","$defs":{"p":` + person + `,"unused":true}}`,
			[]string{"/age"},
			`"type":"object","$ref":"#/$defs/p","properties":{"age":true},"additionalProperties":false,"$defs":{"p":{"type":"object","required":["age"],"properties":{"age":{"type":"integer"}}}}}`,
		},
		{lineOf(), `{"$ref":"#/$defs/p","$defs":{"p":` + person + `}}`, []string{""}, `"$ref":"#/$defs/p","$defs":{"p":` + person + `}}`},
		{
			lineOf(), `{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"}},"additionalProperties":false}`,
			[]string{""},
			`"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"}},"additionalProperties":false}`,
		},
		{
			lineOf(), `{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"}},"additionalProperties":false}`,
			[]string{"/next/v", "/v"},
			`"type":"object","properties":{"v":{"type":"integer"},"next":{"type":"object","$ref":"#/$defs/s","properties":{"v":true},"additionalProperties":false}},"additionalProperties":false,` +
				`"$defs":{"s":{"type":"object","properties":{"v":{"type":"integer"}}}}}`,
		},
		{
			lineOf(), `{"type":"array","maxItems":1,"prefixItems":[` + person + `],"unevaluatedItems":false}`,
			[]string{"/*/name"},
			`"type":"array","maxItems":1,"prefixItems":[{"type":"object","required":["name"],"properties":{"name":{"type":"string"}},"additionalProperties":false}],"items":false}`,
		},
		{
			lineOf(), `{"type":"array","maxItems":2,"allOf":[{"prefixItems":[` + person + `]}],"unevaluatedItems":false}`,
			[]string{"/*/name"},
			`"type":"array","maxItems":2,"allOf":[{"prefixItems":[{"type":"object","required":["name"],"properties":{"name":{"type":"string"}},"additionalProperties":false}]}]}`,
		},
		{
			lineOf(), `{"type":["array","object"],"items":false,"minItems":1,"properties":{"a":{"const":1}},"additionalProperties":false}`,
			[]string{"/a"},
			`"type":["array","object"],"properties":{"a":{"const":1}},"additionalProperties":false,"maxItems":0}`,
		},
		{lineOf(), `false`, []string{""}, `"not":{}}`},
	} {
		if got, want := newPromise(t, row.schema, row.fields...).text, head+row.want; got != want {
			t.Errorf("row of line %d: %s, want %s", row.line, got, want)
		}
	}
}

// Text that is cut is not longer than where it is cut, wherever it stands.
func TestAgentSchemaOfText(t *testing.T) {
	const text = `{"type":"object","properties":{"t":{"type":"string","maxLength":900},"u":{"$ref":"#/$defs/u"},"v":{"type":"string","maxLength":5},"w":{"type":"array","maxItems":2,"prefixItems":[{"type":"string"}],"items":{"type":["string","null"]}}},"additionalProperties":false,"$defs":{"u":{"type":"string"}}}`
	for _, fields := range [][]strictjson.Pointer{{{}}, {{"t"}, {"u"}, {"v"}, {"w"}}} {
		c := contract.Contract{Result: contract.Result{
			Schema: &contract.Schema{
				File: "s.json", Files: map[string][]byte{"s.json": []byte(text)},
				Roots: map[string]strictjson.Value{"s.json": parseValue(t, text)},
			},
			AgentFields: fields,
			TextFields: []contract.TextField{
				{At: strictjson.Pointer{"t"}, MaxChars: 500},
				{At: strictjson.Pointer{"u"}, MaxChars: 40},
				{At: strictjson.Pointer{"v"}, MaxChars: 50},
				{At: strictjson.Pointer{"w", strictjson.EveryElement}, MaxChars: 9},
			},
		}}
		got, err := c.AgentSchema()
		const want = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"t":{"type":"string","maxLength":500},"u":{"$ref":"#/$defs/u"},"v":{"type":"string","maxLength":5},"w":{"type":"array","maxItems":2,"prefixItems":[{"type":"string","maxLength":9}],"items":{"type":["string","null"],"maxLength":9}}},"additionalProperties":false,"$defs":{"u":{"type":"string","maxLength":40}}}`
		if err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
}

// A list that has a limit of its own is not longer than that, reduced or not.
func TestAgentSchemaOfLimitedList(t *testing.T) {
	const item = `{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"additionalProperties":false}`
	for _, row := range []struct {
		line                int
		array, field, wants string
	}{
		{lineOf(), `"type":"array","items":` + item, "/l/*/a", `"maxItems":20}`},
		{lineOf(), `"type":"array","items":` + item, "/l", `"maxItems":20}`},
		{lineOf(), `"type":"array","maxItems":30,"items":` + item, "/l/*/a", `"maxItems":20,"items"`},
		{lineOf(), `"type":"array","maxItems":30,"items":` + item, "", `"maxItems":20,"items"`},
		{lineOf(), `"type":"array","maxItems":10,"items":` + item, "/l/*", `"maxItems":10,"items"`},
	} {
		text := `{"type":"object","properties":{"l":{` + row.array + `}},"additionalProperties":false}`
		at, err := strictjson.ParsePointer(row.field)
		if err != nil {
			t.Fatal(err)
		}
		c := contract.Contract{Result: contract.Result{
			Schema: &contract.Schema{
				File: "s.json", Files: map[string][]byte{"s.json": []byte(text)},
				Roots: map[string]strictjson.Value{"s.json": parseValue(t, text)},
			},
			AgentFields: []strictjson.Pointer{at},
			MaxList:     &contract.ListLimit{At: strictjson.Pointer{"l"}, Items: 20, Cut: true},
		}}
		got, err := c.AgentSchema()
		if err != nil || !strings.Contains(string(got), row.wants) || strings.Count(string(got), "maxItems") != 1 {
			t.Errorf("row of line %d: %s, %v", row.line, got, err)
		}
		compile(t, string(got))
	}
}

// A22: what the cases of the shipped contracts give to the agent conforms to the schema
// that the agent's side is told.
func TestAgentSchemaOfShipped(t *testing.T) {
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := contract.Load(os.DirFS("../contracts"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.Compile(tree)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for _, tool := range set.Tools() {
		c := tool.Contract
		text, err := c.AgentSchema()
		if err != nil {
			t.Fatal(err)
		}
		if text == nil {
			continue // kind text
		}
		agent := compile(t, string(text))
		arguments, err := c.ArgumentsSchema()
		if err != nil {
			t.Fatal(err)
		}
		var own *schema.Schema
		if arguments != nil {
			own, err = schema.Compile(c.Arguments.Schema.Files, c.Arguments.Schema.File, schema.Options{Formats: schema.Assert})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, k := range c.Cases {
			if a := k.Request.Arguments; a != "" && arguments != nil {
				before := conforms(t, own, parseValue(t, a))
				if after := conforms(t, compile(t, string(arguments)), parseValue(t, a)); before != after {
					t.Errorf("%s: arguments conform: %v, in one document %v", k.File, before, after)
				}
			}
			if k.Want.Failure != "" {
				continue
			}
			accepted++
			if !conforms(t, agent, parseValue(t, k.Want.DataText())) {
				t.Errorf("%s/%s: %s is not %s", c.Dir, k.File, k.Want.DataText(), text)
			}
		}
	}
	if accepted < len(set.Tools()) {
		t.Errorf("%d accepted cases", accepted)
	}
}

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
