package validators_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func readValue(t testing.TB, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.Ceilings())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func schemaOf(t testing.TB, file, text string) *contract.Schema {
	t.Helper()
	return &contract.Schema{
		File: file, Files: map[string][]byte{file: []byte(text)},
		Roots: map[string]strictjson.Value{file: readValue(t, text)},
	}
}

const (
	wideReply = `{"type":"object","required":["n"],"properties":{
	 "n":{"type":"integer"},"big":{"type":"number"},"state":{"type":"string"},
	 "user":{"type":["object","null"],"properties":{"login":{"type":"string"}}},
	 "rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}}}}}}`
	closedReply = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{
	 "id":{"type":"string","pattern":"^CR-[0-9]{1,10}$"},"big":{"type":"number"},
	 "state":{"enum":["open","done"]},"name":{"type":"string","maxLength":20},
	 "rows":{"type":"array","maxItems":3,"items":{"type":"object","additionalProperties":false,"properties":{"id":{"type":"string","maxLength":5}}}},
	 "asked":{"type":"string","maxLength":20}}}`
)

func fields(pairs ...string) []contract.AdapterField {
	var list []contract.AdapterField
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, contract.AdapterField{Member: pairs[i], Expr: pairs[i+1], Line: 7, Column: i + 1})
	}
	return list
}

// wide is a contract whose payload an adapter makes.
func wide(t testing.TB, change func(*contract.Contract)) *contract.Contract {
	return version("t", 1, func(c *contract.Contract) {
		c.Result.Schema = schemaOf(t, "r.json", closedReply)
		c.Result.AgentFields = []strictjson.Pointer{{"id"}, {"big"}, {"state"}, {"name"}, {"rows"}, {"asked"}}
		c.Result.TextFields = []contract.TextField{{At: strictjson.Pointer{"name"}}}
		c.Result.Adapter = &contract.Adapter{
			Schema: schemaOf(t, "v.json", wideReply), Watch: contract.WatchDrop,
			Fields: fields(
				"big", `upstream.?big`,
				"id", `"CR-" + string(upstream.n)`,
				"state", `has(upstream.state) ? optional.of({"OPEN": "open", "DONE": "done"}[upstream.state]) : optional.none()`,
				"name", `upstream.?user == optional.of(null) ? optional.none() : upstream.?user.?login`,
				"rows", `upstream.?rows`,
				"asked", `request.?arguments.?q`,
			),
		}
		if change != nil {
			change(c)
		}
	})
}

func compileTool(t testing.TB, c *contract.Contract) *validators.Tool {
	t.Helper()
	set, err := registry(t).Compile(tree(map[string]int{"t": 1}, nil, c))
	if err != nil {
		t.Fatal(err)
	}
	return set.Tools()[0]
}

func refusing(c *contract.Contract) { c.Result.Adapter.Watch = contract.WatchRefuse }

func enveloped(c *contract.Contract) { c.Result.Framing = contract.FramingEnvelope }

func calledTool(c *contract.Contract) { c.Result.Framing = contract.FramingMCP }

func inEnvelope(data string) string {
	return `{"tool":"t","request_id":"req.A1b2C3d4","outcome":"success","data":` + data + `}`
}

// adapterTable seeds the fuzzer too. want is the data, or "LAYER REASON pointer", of
// each rejection.
var adapterTable = []struct {
	name, raw, want string
	dropped         uint64
	change          func(*contract.Contract)
}{
	{"as wanted", `{"n":1,"state":"OPEN","user":{"login":"Ana"}}`, `{"id":"CR-1","state":"open","name":"Ana"}`, 0, nil},
	{"the order is the contract's", `{"state":"DONE","n":1}`, `{"id":"CR-1","state":"done"}`, 0, nil},
	{"digits as they came", `{"n":1,"big":123456789012345678901234567890.50e+3}`, `{"id":"CR-1","big":123456789012345678901234567890.50e+3}`, 0, nil},
	{"null user", `{"n":1,"user":null}`, `{"id":"CR-1"}`, 0, nil},
	{"text is cleaned after it", `{"n":1,"user":{"login":"An\u200ba"}}`, `{"id":"CR-1","name":"Ana"}`, 0, nil},

	{"dropped and counted", `{"n":1,"x":1,"user":{"y":[1],"login":"a"},"z":{"q":1}}`, `{"id":"CR-1","name":"a"}`, 3, nil},
	{"dropped and counted, refused later", `{"n":12345678901,"x":1}`, "SCHEMA SCHEMA /id", 1, nil},
	{"dropped and counted, not adapted", `{"n":1,"x":1,"state":"GONE"}`, "ADAPTER ADAPTER /state", 1, nil},
	{"watched, all named", `{"n":1}`, `{"id":"CR-1"}`, 0, refusing},
	{"watched", `{"n":1,"x":1,"user":{"y":1,"a/b\u202e":2}}`, "ADAPTER ADAPTER /x\nADAPTER ADAPTER /user/y\nADAPTER ADAPTER /user/a~1b\\u{202E}", 0, refusing},
	{"watched, five at most", `{"n":1,"1":1,"2":1,"3":1,"4":1,"5":1,"6":1}`, "ADAPTER ADAPTER /1\nADAPTER ADAPTER /2\nADAPTER ADAPTER /3\nADAPTER ADAPTER /4\nADAPTER ADAPTER /5", 0, refusing},
	{"a copied object takes all of itself", `{"n":1,"rows":[{"id":"a"},{"id":"b","x":1}]}`, "SCHEMA SCHEMA /rows/1/x", 1, nil},

	{"the vendor's schema", `{"n":"1","state":5}`, "ADAPTER ADAPTER /n\nADAPTER ADAPTER /state", 0, nil},
	{"the vendor's schema, missing", `{}`, "ADAPTER ADAPTER /n", 0, nil},
	{"the vendor's schema, the whole", `[]`, "ADAPTER ADAPTER ", 0, nil},
	{"the vendor's schema comes before its members", `{"n":"1","x":2}`, "ADAPTER ADAPTER /n", 0, refusing},
	{"a number beyond int64", `{"n":9223372036854775808}`, "ADAPTER ADAPTER /id", 0, nil},
	{"a machine value of the new object", `{"n":1}`, "SYNTAX CHARACTER /asked", 0, func(c *contract.Contract) {
		c.Result.Adapter.Fields = fields("asked", `"a\u200b"`, "id", `"CR-1"`)
	}},
	{"a required member that was left out", `{"n":1}`, "SCHEMA SCHEMA /id", 0, func(c *contract.Contract) {
		c.Result.Adapter.Fields = fields("id", `optional.none()`)
	}},
	{"beyond the bytes", `{"n":1,"state":"12345678"}`, "ADAPTER ADAPTER /id", 0, func(c *contract.Contract) {
		c.Result.Limits.MaxBytes = 27
		c.Result.Adapter.Fields = fields("id", `upstream.state + upstream.state + upstream.state`)
	}},
	{"beyond the bytes by the last bracket", `{"n":1,"state":"1234567"}`, "ADAPTER ADAPTER ", 0, func(c *contract.Contract) {
		c.Result.Limits.MaxBytes = 25
		c.Result.Adapter.Fields = fields("id", `"01234567890123456"`)
	}},
	{"beyond the characters", `{"n":1,"state":"OPEN"}`, "ADAPTER ADAPTER /id", 0, func(c *contract.Contract) {
		c.Result.Limits.MaxStringChars = 7
		c.Result.Adapter.Fields = fields("id", `upstream.state + upstream.state`)
	}},
	{"beyond the depth", `{"n":1}`, "ADAPTER ADAPTER /rows/0", 0, func(c *contract.Contract) {
		c.Result.Limits.MaxDepth = 2
		c.Result.Adapter.Fields = fields("rows", `[dyn({})]`)
	}},

	{"in an envelope", inEnvelope(`{"n":1,"x":2}`), `{"id":"CR-1"}`, 1, enveloped},
	{"in an envelope, received bytes", inEnvelope(`{"n":null}`), "ADAPTER ADAPTER /data/n", 0, enveloped},
	{"in an envelope, watched", inEnvelope(`{"n":1,"x":2}`), "ADAPTER ADAPTER /data/x", 0, func(c *contract.Contract) { enveloped(c); refusing(c) }},
	{"in an envelope, new object", inEnvelope(`{"n":1,"state":"GONE"}`), "ADAPTER ADAPTER /state", 0, enveloped},
	{"in an envelope, schema of the new object", inEnvelope(`{"n":-1}`), "SCHEMA SCHEMA /id", 0, enveloped},
	{"in an envelope of another request", strings.Replace(inEnvelope(`{"n":1}`), "A1b2", "XXXX", 1), "SEMANTIC BINDING /request_id", 0, enveloped},
	{"in a result of MCP", `{"structuredContent":{"n":1,"x":2},"content":[]}`, `{"id":"CR-1"}`, 1, calledTool},
	{"in a result of MCP, received bytes", `{"structuredContent":{"n":""},"content":[]}`, "ADAPTER ADAPTER /structuredContent/n", 0, calledTool},
	{"in a result of MCP, new object", `{"structuredContent":{"n":-1},"content":[]}`, "SCHEMA SCHEMA /id", 0, calledTool},
	{"the one list of the new object", `{"n":1,"rows":[{"id":"a"},{"id":"b"}]}`, `{"id":"CR-1","rows":[{"id":"a"}]}`, 0, func(c *contract.Contract) {
		c.Result.MaxList = &contract.ListLimit{At: strictjson.Pointer{"rows"}, Items: 1, Cut: true}
	}},
	{"the one list of the new object, refused", `{"n":1,"rows":[{"id":"a"},{"id":"b"}]}`, "LIMITS ITEM_LIMIT /rows", 0, func(c *contract.Contract) {
		c.Result.MaxList = &contract.ListLimit{At: strictjson.Pointer{"rows"}, Items: 1}
	}},
	{"in a broken envelope", `{"tool":"t"}`, "SCHEMA SCHEMA /request_id\nSCHEMA SCHEMA /outcome", 0, enveloped},
}

func judgeOnce(t testing.TB, tool *validators.Tool, raw, arguments string) validators.Verdict {
	t.Helper()
	f := validators.Facts{Request: validators.Request{Tool: "t", RequestID: "req.A1b2C3d4", Attempt: 1}}
	if arguments != "" {
		f.Request.Arguments = readValue(t, arguments)
	}
	return tool.Judge(context.Background(), []byte(raw), f)
}

func told(v validators.Verdict) string {
	if v.Accepted {
		return string(v.Output.JSON)
	}
	var lines []string
	for _, r := range v.Rejections {
		lines = append(lines, fmt.Sprintf("%s %s %s", r.Layer, r.Reason, r.At))
	}
	return strings.Join(lines, "\n")
}

// A10, A18, D8: a vendor's changes stop at the adapter.
func TestAdapter(t *testing.T) {
	for _, row := range adapterTable {
		t.Run(row.name, func(t *testing.T) {
			v := judgeOnce(t, compileTool(t, wide(t, row.change)), row.raw, "")
			got := told(v)
			if got != row.want || v.Signals[validators.SignalUnnamed] != row.dropped {
				t.Errorf("got\n%s\n%v\nwant\n%s\n%d dropped", got, v.Signals, row.want, row.dropped)
			}
			for _, r := range v.Rejections {
				if r.Detail == "" || strings.Contains(r.Detail, "GONE") || r.Offset != 0 {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

func TestAdapterUsesTheRequest(t *testing.T) {
	tool := compileTool(t, wide(t, nil))
	if got := told(judgeOnce(t, tool, `{"n":1}`, `{"q":"why"}`)); got != `{"id":"CR-1","asked":"why"}` {
		t.Error(got)
	}
	if got := told(judgeOnce(t, tool, `{"n":1}`, `{"q":5}`)); got != "SCHEMA SCHEMA /asked" {
		t.Error(got)
	}
}

// The detail says which kind of refusal it was, and the vendor's schema says where.
func TestAdapterDetails(t *testing.T) {
	tool := compileTool(t, wide(t, nil))
	for raw, part := range map[string]string{
		`{"n":1,"state":"GONE"}`:    "could not be evaluated",
		`{"n":9223372036854775808}`: "cannot hold exactly",
		`{"n":[]}`:                  `"type" refuses`,
	} {
		if r := judgeOnce(t, tool, raw, "").Rejections[0]; !strings.Contains(r.Detail, part) {
			t.Errorf("%s: %s", raw, r.Detail)
		}
	}
	r := judgeOnce(t, tool, `{"n":[]}`, "").Rejections[0]
	if r.Keyword != "type" || r.SchemaPath != "/properties/n/type" {
		t.Errorf("%+v", r)
	}
}

func TestAdapterEndsWithTheCall(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	v := compileTool(t, wide(t, nil)).Judge(ended, []byte(`{"n":1}`), validators.Facts{})
	if got := told(v); got != "ADAPTER EVALUATION_BUDGET " {
		t.Error(got)
	}
}

// What can be known at load is a fault at load, at the field.
func TestAdapterFaultsAtLoad(t *testing.T) {
	for _, row := range []struct{ expr, part string }{
		{`upstream.nope`, "line 1, column 9 of the expression: undefined field"},
		{`upstream.user.nope`, ""}, // object or null: nothing is known
		{`upstream.n`, "gives int, but the schema wants a string here"},
		{`request.nope`, "undefined field"},
		{`evidence`, "undeclared reference"},
		{`now`, "undeclared reference"},
		{`b"x"`, "gives bytes"},
	} {
		_, err := registry(t).Compile(tree(map[string]int{"t": 1}, nil, wide(t, func(c *contract.Contract) {
			c.Result.Adapter.Fields = fields("id", row.expr)
		})))
		if row.part == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), row.part) || !strings.Contains(err.Error(), `t/v1/contract.yaml:7:1: adapter, field "id": `) {
			t.Errorf("%s: %v", row.expr, err)
		}
	}
	for _, s := range []*contract.Schema{nil, {File: "v.json", Files: map[string][]byte{"v.json": []byte(`{"type":"nope"}`)}}} {
		if _, err := registry(t).Compile(tree(map[string]int{"t": 1}, nil, wide(t, func(c *contract.Contract) {
			c.Result.Adapter.Schema = s
		}))); err == nil {
			t.Error("an adapter without a schema was compiled")
		}
	}
}

// FuzzAdapter: whatever a vendor sends, there is one closed object or a refusal, and
// the same one again; a pure path comes out byte for byte.
func FuzzAdapter(f *testing.F) {
	for _, row := range adapterTable {
		f.Add(row.raw, false)
	}
	dropping, watching := compileTool(f, wide(f, nil)), compileTool(f, wide(f, refusing))
	allowed := map[string]bool{"id": true, "big": true, "state": true, "name": true, "rows": true, "asked": true}
	f.Fuzz(func(t *testing.T, raw string, watch bool) {
		tool := dropping
		if watch {
			tool = watching
		}
		v, again := judgeOnce(t, tool, raw, ""), judgeOnce(t, tool, raw, "")
		if !reflect.DeepEqual(v, again) {
			t.Fatalf("%+v, then %+v", v, again)
		}
		if !v.Accepted {
			if len(v.Rejections) == 0 || len(v.Rejections) > validators.MaxRejections || v.Output.JSON != nil {
				t.Fatalf("%+v", v)
			}
			return
		}
		out := readValue(t, string(v.Output.JSON))
		if out.Kind() != strictjson.Object {
			t.Fatalf("%s", v.Output.JSON)
		}
		for name := range out.Members() {
			if !allowed[name] {
				t.Fatalf("the member %q: %s", name, v.Output.JSON)
			}
		}
		if watch && v.Signals[validators.SignalUnnamed] > 0 {
			t.Fatalf("dropped, though watched: %s", raw)
		}
		in := readValue(t, raw)
		if got, want := out.Member("big"), in.Member("big"); got.Digits() != want.Digits() {
			t.Fatalf("%s became %s", want.Digits(), got.Digits())
		}
		if got, want := strictjson.AppendJSON(nil, out.Member("rows")), strictjson.AppendJSON(nil, in.Member("rows")); string(got) != string(want) {
			t.Fatalf("%s became %s", want, got)
		}
	})
}

// A2: what a vendor sends costs time in proportion to its size.
func TestAdapterHostile(t *testing.T) {
	for name, raw := range map[string]string{
		"members without a name":  `{"n":1,"user":{"x":0` + many(`,"k%d":0`, 99_000) + `}}`,
		"elements that have one":  `{"n":1,"rows":[{}` + many(`,{"id":"%d"}`, 49_000) + `]}`,
		"elements that have none": `{"n":1,"rows":[{}` + many(`,{"x%d":{"y":1}}`, 33_000) + `]}`,
		"one long text":           `{"n":1,"state":"` + strings.Repeat("x", 999_999) + `"}`,
	} {
		tool := compileTool(t, wide(t, nil))
		began := time.Now()
		v := judgeOnce(t, tool, raw, "")
		took := time.Since(began)
		t.Logf("%s: %d bytes, %v, accepted %v, %v", name, len(raw), took, v.Accepted, v.Signals)
		if took > 3*time.Minute {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func many(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}
