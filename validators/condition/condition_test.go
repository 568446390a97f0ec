package condition

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// evalTable seeds the fuzzer too. A14: conditions of a contract, over typed values.
var evalTable = []struct {
	name, expr, data string
	want             bool
	cause            Cause // where it fails
}{
	{"prefix", `result.run_id.startsWith("run_")`, `{"run_id":"run_1"}`, true, 0},
	{"prefix, no", `result.run_id.startsWith("run_")`, `{"run_id":"nur_1"}`, false, 0},
	{"1.0 is an integer", `result.count == 1`, `{"count":1.0}`, true, 0},
	{"1e2 is an integer", `result.count + 1 == 101`, `{"count":1e2}`, true, 0},
	{"int64 max", `result.count == 9223372036854775807`, `{"count":9223372036854775807}`, true, 0},
	{"int64 min", `result.count == -9223372036854775808`, `{"count":-9223372036854775808}`, true, 0},
	{"beyond int64", `result.count > 0`, `{"count":9223372036854775808}`, false, Unfaithful},
	{"beyond int64, absorbed", `true || result.counts.exists(c, c == 1)`, `{"counts":[9223372036854775808]}`, true, 0},
	{"beyond int64, met and absorbed", `result.counts.exists(c, c == 1)`, `{"counts":[9223372036854775808,1]}`, false, Unfaithful},
	{"beyond int64, in", `1 in result.counts`, `{"counts":[1e30,1]}`, false, Unfaithful},
	{"overflow", `result.count + 1 > 0`, `{"count":9223372036854775807}`, false, Failed},
	{"double", `result.ratio == 0.1`, `{"ratio":0.1}`, true, 0},
	{"double written otherwise", `result.ratio == 0.1`, `{"ratio":1.0e-1}`, true, 0},
	{"integer as double", `result.ratio == 5.0`, `{"ratio":5}`, true, 0},
	{"a neighbour of 0.1", `result.ratio == 0.1`, `{"ratio":0.10000000000000000001}`, false, Unfaithful},
	{"2^53+1 as double", `result.ratio > 0.0`, `{"ratio":9007199254740993}`, false, Unfaithful},
	{"null", `result.gone == null`, `{"gone":null}`, true, 0},
	{"enum has a type", `result.state == "failed"`, `{"state":"failed"}`, true, 0},
	{"absent", `result.run_id == ""`, `{}`, false, Failed},
	{"absent, has", `!has(result.run_id) || result.run_id == "x"`, `{}`, true, 0},
	{"present, has", `has(result.run_id)`, `{"run_id":""}`, true, 0},
	{"null is present", `has(result.maybe) && result.maybe == null`, `{"maybe":null}`, true, 0},
	{"wrong kind behind the schema's back", `result.run_id == "1"`, `{"run_id":1}`, false, Unfaithful},
	{"escaped member", "result.`a-b` == 'x'", `{"a-b":"x"}`, true, 0},
	{"escaped keyword", "result.`in` == 'x'", `{"in":"x"}`, true, 0},
	{"list", `result.tags == ["a","b"] && result.tags[1] == "b" && size(result.tags) == 2 && "a" in result.tags`, `{"tags":["a","b"]}`, true, 0},
	{"list, reversed equality", `["a","b"] == result.tags`, `{"tags":["a","b"]}`, true, 0},
	{"list, longer", `result.tags == ["a"]`, `{"tags":["a","b"]}`, false, 0},
	{"list, concatenated", `(result.tags + ["c"]).size() == 3 && (["z"] + result.tags)[1] == "a"`, `{"tags":["a","b"]}`, true, 0},
	{"list, index out of range", `result.tags[2] == "a"`, `{"tags":["a","b"]}`, false, Failed},
	{"list, negative index", `result.tags[-1] == "a"`, `{"tags":["a","b"]}`, false, Failed},
	{"map", `result.labels["k"] == "v" && result.labels.k == "v" && "k" in result.labels && size(result.labels) == 1`, `{"labels":{"k":"v"}}`, true, 0},
	{"map, absent", `result.labels.z == "v"`, `{"labels":{"k":"v"}}`, false, Failed},
	{"map, has", `has(result.labels.k) && !has(result.labels.z)`, `{"labels":{"k":"v"}}`, true, 0},
	{"map, literal", `result.labels == {"k":"v"} && {"k":"v"} == result.labels`, `{"labels":{"k":"v"}}`, true, 0},
	{"map, all names", `result.labels.all(k, k.startsWith("k"))`, `{"labels":{"k":"v","k2":"w"}}`, true, 0},
	{"objects", `result.owners.all(o, o.age >= 18) && result.owners.exists(o, o.name == "ann")`, `{"owners":[{"name":"bob","age":20},{"name":"ann","age":18}]}`, true, 0},
	{"objects, equality by value", `result.owner == result.owners[0]`, `{"owner":{"name":"a","age":1.0},"owners":[{"age":1,"name":"a"}]}`, true, 0},
	{"filter and map", `result.owners.filter(o, o.age > 1).map(o, o.name) == ["b"]`, `{"owners":[{"name":"a","age":1},{"name":"b","age":2}]}`, true, 0},
	{"tree", `result.tree.kids[0].kids[0].v == 3`, `{"tree":{"v":1,"kids":[{"v":2,"kids":[{"v":3}]}]}}`, true, 0},
	{"dyn object", `result.any.x.y[0] == 1`, `{"any":{"x":{"y":[1]}}}`, true, 0},
	{"dyn is no coercion", `result.any == "1"`, `{"any":1}`, false, 0},
	{"dyn, unknown member", `result.any.z == 1`, `{"any":{"x":1}}`, false, Failed},
	{"dyn, has", `has(result.any.x) && !has(result.any.z)`, `{"any":{"x":1}}`, true, 0},
	{"dyn outcome that is no bool", `result.any`, `{"any":1}`, false, NotBool},
	{"dyn outcome that is one", `result.any`, `{"any":true}`, true, 0},
	{"type lost on the way", `dyn(result).run_id == "x" && has(dyn(result).run_id) && !has(dyn(result).count)`, `{"run_id":"x"}`, true, 0},
	{"type lost, unknown member", `dyn(result).nope == "x"`, `{"run_id":"x"}`, false, Failed},
	{"type()", `type(result.count) == int && type(result.any) == string`, `{"count":1,"any":"s"}`, true, 0},
	{"matches is RE2", `result.run_id.matches("^run_[0-9]+$")`, `{"run_id":"run_12"}`, true, 0},
	{"timestamps", `timestamp(result.run_id) < timestamp("2026-01-02T00:00:00Z")`, `{"run_id":"2026-01-01T00:00:00Z"}`, true, 0},
	{"lenient timestamp", `timestamp(result.run_id) < timestamp("2027-01-02T00:00:00Z")`, `{"run_id":"2026-01-01T00:00:00,5Z"}`, false, Failed},
	{"division by zero", `1 / result.count == 1`, `{"count":0}`, false, Failed},
	{"many members", `result.labels.m19 == "19"`, manyMembers(20), true, 0},
}

func manyMembers(n int) string {
	var b strings.Builder
	b.WriteString(`{"labels":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"m` + strconv.Itoa(i) + `":"` + strconv.Itoa(i) + `"`)
	}
	return b.String() + `}}`
}

func TestEvaluate(t *testing.T) {
	for _, row := range evalTable {
		t.Run(row.name, func(t *testing.T) {
			got, err := test(t, runSchema, row.expr, row.data)
			if causeOf(err) != row.cause || got != row.want {
				t.Fatalf("got %v, %v; want %v, cause %d", got, err, row.want, row.cause)
			}
		})
	}
}

func TestRefusedAtLoad(t *testing.T) {
	for _, row := range []struct{ name, expr, message string }{
		{"unknown member", `result.run == "x"`, "undefined field 'run'"},
		{"unknown member of a list's element", `result.owners.all(o, o.nam == "x")`, "undefined field 'nam'"},
		{"unknown member deep in a tree", `result.tree.kids[0].w == 1`, "undefined field 'w'"},
		{"unknown member in has", `has(result.nope)`, "undefined field 'nope'"},
		{"unknown variable", `results.run_id == "x"`, "undeclared reference"},
		{"a type error", `result.run_id == 1`, "no matching overload"},
		{"string for int", `result.count == "1"`, "no matching overload"},
		{"no condition", `result.run_id`, "is no condition"},
		{"syntax", `result.run_id ==`, "mismatched input"},
		{"empty", ``, "mismatched input"},
		{"pattern from the data", `result.run_id.matches(result.run_id)`, "literal"},
		{"pattern from the data, function", `matches(result.run_id, result.run_id)`, ""},
		{"bad pattern", `result.run_id.matches("(")`, "invalid"},
		{"look-around", `result.run_id.matches("(?=a)")`, "invalid"},
		{"huge pattern", `result.run_id.matches("(a{100}){10}(a{100}){10}(a{100}){10}")`, ""},
		{"time zone", `timestamp("2026-01-01T00:00:00Z").getHours("Europe/Paris") == 1`, "time zone"},
		{"bad literal", `timestamp("yesterday") < timestamp("2026-01-01T00:00:00Z")`, "invalid"},
		{"object construction", `google.protobuf.Struct{} == result.any`, ""},
		{"too long", strings.Repeat("true && ", 2000) + "true", ""},
		{"too deep", strings.Repeat("!(", 200) + "true" + strings.Repeat(")", 200), ""},
		{"replace is left out", `result.run_id.replace("a","b") == "x"`, "undeclared reference"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := Compile(row.expr, Variable{"result", schemaShape(t, runSchema)})
			if err == nil {
				t.Fatalf("compiled: %v", p)
			}
			if !strings.Contains(err.Error(), row.message) {
				t.Fatalf("message %q does not say %q", err, row.message)
			}
		})
	}
}

func TestFaultHasItsPlace(t *testing.T) {
	_, err := Compile("true &&\n  result.nope", Variable{"result", schemaShape(t, runSchema)})
	f, ok := err.(*Fault)
	if !ok || f.Line != 2 || f.Column != 9 {
		t.Fatalf("got %#v", err)
	}
}

func TestRecords(t *testing.T) {
	shapes := []Variable{
		{"request", Record(map[string]*Shape{"tool": Text(), "attempt": Int(), "issued_at": Time(), "arguments": nil})},
		{"evidence", List(Record(map[string]*Shape{"tool": Text(), "data": nil, "observed_at": Time()}))},
		{"now", Time()},
	}
	inputs := map[string]Input{
		"request": Fields(map[string]Input{"tool": String("t"), "attempt": Integer(2), "arguments": JSON(parse(t, `{"a":[1,2]}`))}),
		"evidence": Items([]Input{
			Fields(map[string]Input{"tool": String("ci"), "data": JSON(parse(t, `{"n":1}`)), "observed_at": Instant(instant)}),
		}),
		"now": Instant(instant.Add(time.Minute)),
	}
	for _, row := range []struct {
		expr  string
		want  bool
		cause Cause
	}{
		{`request.attempt == 2 && request.tool == "t" && request.arguments.a[1] == 2`, true, 0},
		{`request.issued_at < now`, false, Failed},
		{`has(request.issued_at)`, false, 0},
		{`evidence.exists(e, e.tool == "ci" && e.data.n == 1 && now - e.observed_at <= duration("1m"))`, true, 0},
		{`evidence.exists(e, now - e.observed_at < duration("1m"))`, false, 0},
		{`size(evidence) == 1 && evidence[0].tool == "ci"`, true, 0},
		{`evidence == evidence`, false, 0},
		{`evidence + evidence == []`, false, 0},
	} {
		p, err := Compile(row.expr, shapes...)
		if err != nil {
			t.Fatalf("%s: %v", row.expr, err)
		}
		got, err := p.Test(context.Background(), inputs)
		if got != row.want || causeOf(err) != row.cause {
			t.Errorf("%s: got %v, %v", row.expr, got, err)
		}
	}
}

func TestNotPrepared(t *testing.T) {
	var none *Program
	p, err := Compile(`x == 1`, Variable{"x", Int()})
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() (bool, error){
		"nil program":    func() (bool, error) { return none.Test(context.Background(), nil) },
		"zero program":   func() (bool, error) { return new(Program).Test(context.Background(), nil) },
		"no inputs":      func() (bool, error) { return p.Test(context.Background(), nil) },
		"another input":  func() (bool, error) { return p.Test(context.Background(), map[string]Input{"y": Integer(1)}) },
		"absent input":   func() (bool, error) { return p.Test(context.Background(), map[string]Input{"x": {}}) },
		"ill-typed text": func() (bool, error) { return p.Test(context.Background(), map[string]Input{"x": String("1")}) },
	} {
		if ok, err := try(); ok || err == nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	p, _ = Compile(`l.all(x, x == 1)`, Variable{"l", List(Int())})
	if ok, err := p.Test(cancelled, map[string]Input{"l": JSON(parse(t, "["+strings.Repeat("1,", 999)+"1]"))}); ok || causeOf(err) != Interrupted {
		t.Errorf("cancelled: %v, %v", ok, err)
	}
}

// TestErrorsHoldNoValue: what the data says appears in no error text (A17).
func TestErrorsHoldNoValue(t *testing.T) {
	for _, expr := range []string{
		`result.any[result.run_id] == 1`, `int(result.run_id) == 1`, `timestamp(result.run_id) == timestamp("2026-01-01T00:00:00Z")`,
		`duration(result.run_id) == duration("1s")`, `result.labels[result.run_id] == "x"`,
	} {
		_, err := test(t, runSchema, expr, `{"run_id":"SECRET","any":{},"labels":{}}`)
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	p, err := Compile(`result.owners.all(o, o.name in result.tags)`, Variable{"result", schemaShape(t, runSchema)})
	if err != nil {
		t.Fatal(err)
	}
	data := JSON(parse(t, `{"owners":[{"name":"a"},{"name":"b"}],"tags":["a","b"]}`))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if ok, err := p.Test(context.Background(), map[string]Input{"result": data}); !ok || err != nil {
					t.Errorf("%v, %v", ok, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzTest(f *testing.F) {
	for _, row := range evalTable {
		f.Add(row.expr, row.data)
	}
	f.Fuzz(func(t *testing.T, expr, data string) {
		v, err := strictjson.Parse([]byte(data), strictjson.Ceilings())
		if err != nil {
			return
		}
		for _, shape := range []*Shape{nil, schemaShape(t, runSchema)} {
			p, err := Compile(expr, Variable{"result", shape})
			if err != nil {
				continue
			}
			in := map[string]Input{"result": JSON(v)}
			first, err := p.Test(context.Background(), in)
			if err != nil && first {
				t.Fatal("an error and an answer")
			}
			if second, err2 := p.Test(context.Background(), in); second != first || causeOf(err) != causeOf(err2) {
				t.Fatalf("two evaluations differ: %v %v, %v %v", first, err, second, err2)
			}
		}
	})
}
