package condition

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// vendorSchema is what a vendor's reply is known to hold: open everywhere.
const vendorSchema = `{"type":"object","properties":{
 "number":{"type":"integer"},"ratio":{"type":"number"},"state":{"type":"string"},"done":{"type":"boolean"},
 "gone":{"type":"null"},"any":true,"a-b":{"type":"string"},
 "user":{"type":"object","properties":{"login":{"type":"string"}}},
 "nullable":{"type":["object","null"]},
 "tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},
 "rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}}}},
 "labels":{"type":"object","additionalProperties":{"type":"string"}}}}`

func formulas(t testing.TB) *Formulas {
	t.Helper()
	f, err := NewFormulas(
		Variable{"upstream", schemaShape(t, vendorSchema)},
		Variable{"request", Record(map[string]*Shape{"arguments": nil, "tool": Text(), "attempt": Int(), "issued_at": Time()})},
	)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func bind(t testing.TB, f *Formulas, upstream, arguments string) *Binding {
	t.Helper()
	args := Input{}
	if arguments != "" {
		args = JSON(parse(t, arguments))
	}
	return f.Bind(map[string]Input{
		"upstream": JSON(parse(t, upstream)),
		"request": Fields(map[string]Input{
			"arguments": args, "tool": String("t\"<"), "attempt": Integer(2), "issued_at": Instant(instant),
		}),
	})
}

const wide = 1 << 20

// formulaTable seeds the fuzzer too. A10: members made out of a vendor's reply. A want
// of "-" is a member that is left out.
var formulaTable = []struct {
	expr, upstream, want string
	cause                Cause
}{
	// Pure paths copy what was received, byte for byte.
	{`upstream.number`, `{"number":12345678901234567890123}`, `12345678901234567890123`, 0},
	{`upstream.number`, `{"number":1.0}`, `1.0`, 0},
	{`upstream.number`, `{"number":-0}`, `-0`, 0},
	{`upstream.number`, `{"number":1E+2}`, `1E+2`, 0},
	{`upstream.ratio`, `{"ratio":0.10000000000000000000000001}`, `0.10000000000000000000000001`, 0},
	{`upstream.ratio`, `{"ratio":1e308}`, `1e308`, 0},
	{`upstream.state`, `{"state":"\u0041\/\u00e9é"}`, `"\u0041\/\u00e9é"`, 0},
	{`upstream.user.login`, `{"user":{"login":"ann"}}`, `"ann"`, 0},
	{`upstream.any`, `{"any":{"b":[1, 2.50,{"c" : null}],"a":1e5}}`, `{"b":[1,2.50,{"c":null}],"a":1e5}`, 0},
	{`upstream.any.b[1].c`, `{"any":{"b":[0,{"c":1e30}]}}`, `1e30`, 0},
	{`upstream.any["b"][0]`, `{"any":{"b":[9007199254740993]}}`, `9007199254740993`, 0},
	{"upstream.`a-b`", `{"a-b":"x"}`, `"x"`, 0},
	{`upstream.labels.x`, `{"labels":{"x":"y"}}`, `"y"`, 0},
	{`upstream.rows[1].id`, `{"rows":[{},{"id":7}]}`, `7`, 0},
	{`upstream.gone`, `{"gone":null}`, `null`, 0},
	{`upstream.done`, `{"done":false}`, `false`, 0},
	{`upstream`, `{"x":1}`, `{"x":1}`, 0},
	{`request.arguments.id`, `{}`, `"CR-1"`, 0},
	{`request.arguments.big`, `{}`, `1e40`, 0},
	{`request.tool`, `{}`, `"t\"<"`, 0},
	{`request.attempt`, `{}`, `2`, 0},

	// Paths to nothing.
	{`upstream.state`, `{}`, "", Failed},
	{`upstream.user.login`, `{"user":null}`, "", Failed},
	{`upstream.user.login`, `{"user":[]}`, "", Failed},
	{`upstream.rows[2]`, `{"rows":[1,2]}`, "", Failed},
	{`upstream.rows[-1]`, `{"rows":[1,2]}`, "", Failed},
	{`upstream.rows[9223372036854775807]`, `{"rows":[1,2]}`, "", Failed},
	{`upstream.any[0]`, `{"any":{"0":1}}`, "", Failed},
	{`upstream.any["0"]`, `{"any":[1]}`, "", Failed},
	{`upstream.any.x`, `{"any":"x"}`, "", Failed},
	{`request.arguments.absent`, `{}`, "", Failed},
	{`request`, `{}`, "", Unwritable},

	// Optional paths.
	{`upstream.?state`, `{"state":"x"}`, `"x"`, 0},
	{`upstream.?state`, `{}`, "-", 0},
	{`upstream.?state`, `{"state":null}`, `null`, 0},
	{`upstream.?user.login`, `{}`, "-", 0},
	{`upstream.?user.login`, `{"user":{}}`, "-", 0},
	{`upstream.?user.login`, `{"user":{"login":"a"}}`, `"a"`, 0},
	{`upstream.?user.login`, `{"user":null}`, "", Failed},
	{`upstream.user.?login`, `{}`, "", Failed},
	{`upstream.?rows[?1].?id`, `{"rows":[{"id":1}]}`, "-", 0},
	{`upstream.?rows[0].?id`, `{"rows":[{"id":1e3}]}`, `1e3`, 0},
	{`upstream.any[?"x"]`, `{"any":{}}`, "-", 0},
	{`upstream.?any.x.y`, `{"any":{"x":3}}`, "", Failed},
	{`request.?arguments.absent`, `{}`, "-", 0},

	// Computed values.
	{`"CR-" + string(upstream.number)`, `{"number":1042}`, `"CR-1042"`, 0},
	{`"CR-" + string(upstream.number)`, `{"number":1042.0}`, `"CR-1042"`, 0},
	{`"CR-" + string(upstream.number)`, `{"number":12345678901234567890123}`, "", Unfaithful},
	{`"CR-" + string(upstream.number)`, `{"number":"1042"}`, "", Unfaithful},
	{`"CR-" + string(upstream.number)`, `{}`, "", Failed},
	{`{"A":"a","B":"b"}[upstream.state]`, `{"state":"B"}`, `"b"`, 0},
	{`{"A":"a","B":"b"}[upstream.state]`, `{"state":"C"}`, "", Failed},
	{`{"A":"a","B":"b"}[upstream.state]`, `{"state":{"name":"A"}}`, "", Unfaithful},
	{`{"A":"a"}[?upstream.state]`, `{"state":"C"}`, "-", 0},
	{`{"A":"a"}[?upstream.state].orValue("other")`, `{"state":"C"}`, `"other"`, 0},
	{`upstream.number + 1`, `{"number":9223372036854775806}`, `9223372036854775807`, 0},
	{`upstream.number + 1`, `{"number":9223372036854775807}`, "", Failed},
	{`upstream.number + 0`, `{"number":9223372036854775808}`, "", Unfaithful},
	{`upstream.number == 1 || true`, `{"number":9223372036854775808}`, "", Unfaithful},
	{`upstream.ratio * 2.0`, `{"ratio":0.1}`, `0.2`, 0},
	{`upstream.ratio + 0.2`, `{"ratio":0.1}`, `0.30000000000000004`, 0},
	{`upstream.ratio * 1.0`, `{"ratio":0.10000000000000000000000001}`, "", Unfaithful},
	{`upstream.ratio * 1e21`, `{"ratio":1}`, `1e+21`, 0},
	{`upstream.ratio * 1e-7`, `{"ratio":1}`, `1e-07`, 0},
	{`upstream.ratio * 10.0`, `{"ratio":1e308}`, "", Unwritable},
	{`0.0 / 0.0`, `{}`, "", Unwritable},
	{`-0.0`, `{}`, `0`, 0},
	{`5u`, `{}`, `5`, 0},
	{`null`, `{}`, `null`, 0},
	{`true`, `{}`, `true`, 0},
	{`"a\"\u0001é"`, `{}`, `"a\"\u0001é"`, 0},
	{`[1, 2.5, "x", null, [true]]`, `{}`, `[1,2.5,"x",null,[true]]`, 0},
	{`{"b": 1, "a": {"z": [], "y": {}}}`, `{}`, `{"a":{"y":{},"z":[]},"b":1}`, 0},
	{`upstream.tags + ["c"]`, `{"tags":["\u0061"]}`, `["a","c"]`, 0},
	{`upstream.ids + upstream.ids`, `{"ids":[1.0]}`, `[1,1]`, 0},
	{`upstream.ids + upstream.ids`, `{"ids":[1e30]}`, "", Unfaithful},
	{`upstream.rows.map(r, r.name)`, `{"rows":[{"name":"a"},{"name":"b"}]}`, `["a","b"]`, 0},
	{`upstream.rows.filter(r, r.id > 1)`, `{"rows":[{"id":1},{"id":2.0,"x":1e40}]}`, `[{"id":2.0,"x":1e40}]`, 0},
	{`upstream.rows.map(r, {"id": r.id, ?"name": r.?name})`, `{"rows":[{"id":1},{"name":"n","id":2}]}`, `[{"id":1},{"id":2,"name":"n"}]`, 0},
	{`[?upstream.?state, "x"]`, `{}`, `["x"]`, 0},
	{`has(upstream.user) ? dyn(upstream.user) : dyn({})`, `{"user":{"login":"\u0061","n":1e99}}`, `{"login":"\u0061","n":1e99}`, 0},
	{`upstream.nullable == null ? optional.none() : optional.of(upstream.nullable.login)`, `{"nullable":null}`, "-", 0},
	{`upstream.nullable == null ? optional.none() : optional.of(upstream.nullable.login)`, `{"nullable":{"login":"a"}}`, `"a"`, 0},
	{`optional.none()`, `{}`, "-", 0},
	{`optional.of(1)`, `{}`, `1`, 0},
	{`optional.of(upstream.number + 0)`, `{"number":1e30}`, "", Unfaithful},
	{`upstream.?number.optMap(n, n + 1)`, `{"number":1}`, `2`, 0},
	{`upstream.?number.optMap(n, n + 1)`, `{}`, "-", 0},
	{`upstream.?user.?login.orValue("nobody")`, `{}`, `"nobody"`, 0},
	{`upstream.any`, `{"any":[[[]]]}`, `[[[]]]`, 0},
	{`has(upstream.state)`, `{"state":"x"}`, `true`, 0},
	{`has(upstream.state)`, `{}`, `false`, 0},
	{`upstream.?any.?x.orValue("none")`, `{"any":{}}`, `"none"`, 0},
	{`upstream.?any.?x.orValue("none")`, `{"any":3}`, "", Failed},
	{`dyn(request.issued_at)`, `{}`, "", Unwritable},
	{`string(request.issued_at)`, `{}`, `"2026-01-15T12:00:00Z"`, 0},
	{`dyn([b"x"])`, `{}`, "", Unwritable},
	{`dyn([optional.none()])`, `{}`, "", Unwritable},
	{`dyn({1: 2})`, `{}`, "", Unwritable},
	{`dyn(duration("1s"))`, `{}`, "", Unwritable},
	{`dyn(type(1))`, `{}`, "", Unwritable},
	{`[request]`, `{}`, "", Unwritable},
	{`upstream.labels.map(k, k)`, `{"labels":{"z":"1","a":"2"}}`, `["z","a"]`, 0},
	{`[[1, 2]].map(l, l.map(x, {"k": x}))`, `{}`, `[[{"k":1},{"k":2}]]`, 0},
}

const formulaArguments = `{"id":"CR-1","big":1e40}`

func TestFormula(t *testing.T) {
	f := formulas(t)
	for i, row := range formulaTable {
		t.Run(fmt.Sprintf("%d %s", i, row.expr), func(t *testing.T) {
			p, err := f.Compile(row.expr, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // two runs agree
				out, present, err := p.Append(context.Background(), []byte("<"), wide, bind(t, f, row.upstream, formulaArguments))
				got := strings.TrimPrefix(string(out), "<")
				if !present && err == nil {
					got = "-"
				}
				if got != row.want || causeOf(err) != row.cause || present != (err == nil && row.want != "-") {
					t.Fatalf("%s: got %s, cause %d (%v); want %s, cause %d", row.upstream, got, causeOf(err), err, row.want, row.cause)
				}
			}
		})
	}
}

// What can never be right is a fault at load.
func TestFormulaFaults(t *testing.T) {
	f := formulas(t)
	shape := func(schema string) *Shape { return schemaShape(t, schema) }
	for i, row := range []struct {
		expr string
		want *Shape
		part string // of the fault; "" where there is none
	}{
		{`upstream.nubmer`, nil, "undefined field 'nubmer'"},
		{`upstream.user.name`, nil, "undefined field"},
		{`upstream.rows[0].nope`, nil, "undefined field"},
		{`upstream.?nope`, nil, "undefined field"},
		{`nope`, nil, "undeclared reference"},
		{`upstream.number +`, nil, "mismatched input"},
		{`b"x"`, nil, "gives bytes"},
		{`request.issued_at`, nil, "gives timestamp"},
		{`duration("1s")`, nil, "gives duration"},
		{`type(1)`, nil, "gives type"},
		{`[b"x"]`, nil, "gives list(bytes)"},
		{`{1: "x"}`, nil, "gives map(int, string)"},
		{`[optional.none()]`, nil, "gives list(optional"},
		{`optional.of(b"x")`, nil, "gives bytes"},
		{`upstream.number`, shape(`{"type":"string"}`), "gives int, but the schema wants a string here"},
		{`upstream.?number`, shape(`{"type":"string"}`), "gives int, but the schema wants a string here"},
		{`upstream.state`, shape(`{"type":"integer"}`), "wants an integer"},
		{`upstream.state`, shape(`{"type":"number"}`), "wants a number"},
		{`upstream.state`, shape(`{"type":"boolean"}`), "wants a boolean"},
		{`upstream.state`, shape(`{"type":"null"}`), "wants null"},
		{`upstream.done`, shape(`{"enum":["a"]}`), "gives bool"},
		{`null`, shape(`{"type":"string"}`), "gives null"},
		{`upstream.tags`, shape(`{"type":"array","items":{"type":"integer"}}`), "wants an array, each element an integer"},
		{`upstream.tags`, shape(`{"type":"array","items":{"type":"array"}}`), "wants an array of arrays"},
		{`upstream.user`, shape(`{"type":"array"}`), "wants an array"},
		{`upstream.state`, shape(`{"type":"object"}`), "wants an object"},
		{`upstream.state`, Time(), "wants something else"},
		{`upstream.state`, shape(`{"type":["string","null"]}`), ""},
		{`upstream.state`, shape(`{"type":"string","maxLength":3}`), ""},
		{`upstream.number`, shape(`{"type":"number"}`), ""},
		{`upstream.ratio`, shape(`{"type":"integer"}`), ""},
		{`upstream.any`, shape(`{"type":"string"}`), ""},
		{`upstream.user`, shape(`{"type":"object","properties":{"login":true}}`), ""},
		{`{"login": "x"}`, shape(`{"type":"object","properties":{"login":true}}`), ""},
		{`[]`, shape(`{"type":"array","items":{"type":"integer"}}`), ""},
		{`optional.none()`, shape(`{"type":"integer"}`), ""},
		{`{"a": 1, "b": 2}.map(k, k)`, nil, "has no order"},
		{`[{"a": 1, "b": 2}].map(m, m.map(k, k))`, nil, "has no order"},
		{`dyn({"a": 1}).all(k, true)`, nil, "has no order"},
		{`upstream.tags.map(t, {"a": 1}[t])`, nil, ""},
		{`"x".matches(upstream.state)`, nil, "literal"},
		{`optional.unwrap([optional.of(1)])`, nil, "undeclared reference"},
		{strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100), nil, "recursion"},
	} {
		_, err := f.Compile(row.expr, row.want)
		switch {
		case row.part == "" && err != nil:
			t.Errorf("row %d, %s: %v", i, row.expr, err)
		case row.part != "" && (err == nil || !strings.Contains(err.Error(), row.part)):
			t.Errorf("row %d, %s: got %v, want …%s…", i, row.expr, err, row.part)
		}
	}
	if _, err := NewFormulas(Variable{Name: "x"}, Variable{Name: "x"}); err == nil {
		t.Error("two variables of one name")
	}
}

// A2: neither cost nor size is the data's to choose.
func TestFormulaBounds(t *testing.T) {
	f := formulas(t)
	big := `{"tags":["` + strings.Repeat(`x","`, 20_000) + `"],"any":"` + strings.Repeat("é", 100_000) + `","state":"` + strings.Repeat(`\u0001`, 1000) + `",
	 "rows": [ {"name":"a"}, {"name":"b"}, {"name":"c"} ]}`
	for _, row := range []struct {
		expr  string
		limit int
		cause Cause
	}{
		{`upstream.tags.all(x, upstream.tags.all(y, x != y || true))`, wide, CostLimit},
		{`upstream.tags.map(x, upstream.any)`, wide, TooLarge},
		{`upstream.tags.map(x, upstream)`, wide, TooLarge},
		{`upstream.any`, 200_000, TooLarge},
		{`upstream.any`, 200_002, 0},
		{`upstream.any + ""`, 200_001, TooLarge},
		{`upstream.any + ""`, 200_002, 0},
		{`upstream.state + ""`, 6001, TooLarge},
		{`upstream.state + ""`, 6002, 0},
		{`upstream.rows`, 39, TooLarge},
		{`upstream.rows`, 40, 0},
		{`1`, 0, TooLarge},
		{`1`, 1, 0},
		{`[]`, 1, TooLarge},
	} {
		p, err := f.Compile(row.expr, nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		out, _, err := p.Append(context.Background(), nil, row.limit, bind(t, f, big, ""))
		if causeOf(err) != row.cause || len(out) > row.limit {
			t.Errorf("%s, limit %d: %d bytes, %v", row.expr, row.limit, len(out), err)
		}
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("%s: %v", row.expr, took)
		}
	}

	// The evaluations over one binding share one allowance.
	p, _ := f.Compile(`upstream.tags.all(x, x != "y")`, nil)
	b, spent := bind(t, f, big, ""), 0
	for ; spent < 1000; spent++ {
		if _, _, err := p.Append(context.Background(), nil, wide, b); err != nil {
			if causeOf(err) != CostLimit {
				t.Fatal(err)
			}
			break
		}
	}
	if spent == 0 || spent == 1000 {
		t.Errorf("%d evaluations over one binding", spent)
	}

	// A value that could not be held by one formula says nothing about the next.
	bad, _ := f.Compile(`upstream.number + 1`, nil)
	fine, _ := f.Compile(`upstream.state + ""`, nil)
	b = bind(t, f, `{"number":1e30,"state":"x"}`, "")
	if _, _, err := bad.Append(context.Background(), nil, wide, b); causeOf(err) != Unfaithful {
		t.Error(err)
	}
	if out, _, err := fine.Append(context.Background(), nil, wide, b); string(out) != `"x"` || err != nil {
		t.Error(string(out), err)
	}

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := p.Append(ended, nil, wide, bind(t, f, `{}`, "")); causeOf(err) != Interrupted {
		t.Error(err)
	}
	for _, b := range []*Binding{nil, f.Bind(nil), f.Bind(map[string]Input{"upstream": {}, "nope": {}})} {
		if _, _, err := p.Append(context.Background(), nil, wide, b); causeOf(err) != NoProgram {
			t.Error(err)
		}
	}
	if _, _, err := (*Formula)(nil).Append(context.Background(), nil, wide, bind(t, f, `{}`, "")); causeOf(err) != NoProgram {
		t.Error(err)
	}
}

// FuzzFormula: whatever is received, there is one JSON value or a refusal, the same in
// two runs; a pure path gives the bytes that stand in the input.
func FuzzFormula(f *testing.F) {
	for i, row := range formulaTable {
		f.Add(uint8(i), row.upstream)
	}
	fs := formulas(f)
	programs := make([]*Formula, len(formulaTable))
	for i, row := range formulaTable {
		p, err := fs.Compile(row.expr, nil)
		if err != nil {
			f.Fatal(err)
		}
		programs[i] = p
	}
	f.Fuzz(func(t *testing.T, which uint8, upstream string) {
		limits := strictjson.Ceilings()
		limits.MaxBytes = 1 << 16
		v, err := strictjson.Parse([]byte(upstream), limits)
		if err != nil {
			return
		}
		p := programs[int(which)%len(programs)]
		compact := string(strictjson.AppendJSON(nil, v))
		run := func() (string, bool, error) {
			out, present, err := p.Append(context.Background(), nil, wide, fs.Bind(map[string]Input{
				"upstream": JSON(v), "request": Fields(nil),
			}))
			return string(out), present, err
		}
		out, present, err := run()
		again, presentAgain, errAgain := run()
		if out != again || present != presentAgain || causeOf(err) != causeOf(errAgain) {
			t.Fatalf("two runs: %s %v %v, %s %v %v", out, present, err, again, presentAgain, errAgain)
		}
		if err != nil || !present {
			if out != "" || (err != nil && causeOf(err) == 0) {
				t.Fatalf("%q, %v", out, err)
			}
			return
		}
		if _, err := strictjson.Parse([]byte(out), strictjson.Ceilings()); err != nil {
			if e := err.(*strictjson.Error); e.Reason != strictjson.NumberLimit { // a double may be too small
				t.Fatalf("%s: %v", out, err)
			}
		}
		if p.path != nil && p.path.variable == "upstream" && !strings.Contains(compact, out) {
			t.Fatalf("a path gave %s, which does not stand in %s", out, compact)
		}
	})
}
