package validators_test

import (
	"context"
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
			if k.Call != nil || k.Want.Failure != "" {
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
