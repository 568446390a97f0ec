package validators_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func registry(t testing.TB) *validators.Registry {
	t.Helper()
	r, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// version makes one version of a tool that promises one bounded member.
func version(tool string, n int, change func(*contract.Contract)) *contract.Contract {
	c := &contract.Contract{
		Dir: tool + "/v1", Tool: tool, Version: n, Effect: contract.ReadOnly,
		Result: contract.Result{
			Kind: contract.KindJSON, Framing: contract.FramingPayload,
			MediaTypes: []string{"application/json"}, Limits: strictjson.Ceilings(),
			Schema: &contract.Schema{File: "r.json", Files: map[string][]byte{
				"r.json": []byte(`{"type":"object","additionalProperties":false,"properties":{"a":{"enum":["x","y"]}},"required":["a"]}`),
			}},
			AgentFields: []strictjson.Pointer{{"a"}},
		},
	}
	if change != nil {
		change(c)
	}
	return c
}

func tree(current map[string]int, drain map[string][]int, contracts ...*contract.Contract) *contract.Tree {
	return &contract.Tree{Contracts: contracts, Current: current, Drain: drain, Digest: "digest"}
}

func TestNothingIsRegisteredTwice(t *testing.T) {
	if _, err := validators.NewRegistry(append(semantic.Builtins(), semantic.Builtins()[0])); err == nil {
		t.Error("a check was registered twice")
	}
	r := registry(t)
	if err := r.RegisterReader("t", 1, fixedReader{}); err != nil {
		t.Fatal(err)
	}
	if err := r.RegisterReader("t", 1, fixedReader{}); err == nil {
		t.Error("a reader was registered twice")
	}
	if err := r.RegisterReader("u", 1, nil); err == nil {
		t.Error("no reader at all was registered")
	}
}

// Every fault of every contract is reported at once, and then there is no set.
func TestCompileReportsAllFaults(t *testing.T) {
	r := registry(t)
	if err := r.RegisterReader("nobody", 3, fixedReader{}); err != nil {
		t.Fatal(err)
	}
	with, _ := strictjson.Parse([]byte(`{"field":"/nope"}`), strictjson.Ceilings())
	set, err := r.Compile(tree(nil, nil,
		version("a", 1, func(c *contract.Contract) {
			c.Result.Schema.Files["r.json"] = []byte(`{"$ref":"other.json"}`)
		}),
		version("b", 1, func(c *contract.Contract) {
			c.Result.Checks = []contract.Check{{Use: "fresh", Name: "fresh", With: with, Line: 7, Column: 9}, {Use: "no-such-check", Name: "n"}}
		}),
	))
	if set != nil {
		t.Error("a set came out of faulty contracts")
	}
	var faults contract.Faults
	if !errors.As(err, &faults) || len(faults) != 4 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{"nobody v3", "a/v1/r.json", "b/v1/contract.yaml", "b/v1/contract.yaml:7:9"} {
		if !strings.Contains(faults[i].String(), want) {
			t.Errorf("fault %d is %s, want %s", i, faults[i], want)
		}
	}
}

func TestLookup(t *testing.T) {
	alias := func(c *contract.Contract) { c.Aliases = []string{"mcp__x__t"} }
	set, err := registry(t).Compile(tree(map[string]int{"t": 3}, map[string][]int{"t": {2}},
		version("t", 1, alias), version("t", 2, alias), version("t", 3, alias)))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		line    string
		name    string
		version int
		want    int // 0: none
		known   bool
	}{
		{"the current one", "t", 0, 3, true},
		{"the current one by its number", "t", 3, 3, true},
		{"a drained one", "t", 2, 2, true},
		{"one that is neither", "t", 1, 0, true},
		{"one that never was", "t", 4, 0, true},
		{"by alias", "mcp__x__t", 0, 3, true},
		{"names are exact", "T", 0, 0, false},
		{"nor with space", "t ", 0, 0, false},
	} {
		t.Run(row.line, func(t *testing.T) {
			tool, known := set.Lookup(row.name, row.version)
			got := 0
			if tool != nil {
				got = tool.Contract.Version
			}
			if got != row.want || known != row.known {
				t.Errorf("version %d, known %v", got, known)
			}
		})
	}
	if set.Name("mcp__x__t") != "t" || set.Name("x") != "" || len(set.Tools()) != 3 {
		t.Error("names or tools are wrong")
	}
}

// fixedReader reads "a=<value>" lines, as a stand-in for a format that is no JSON.
type fixedReader struct{}

func (fixedReader) Read(raw []byte, limits strictjson.Limits) (strictjson.Value, *validators.Rejection) {
	value, is := strings.CutPrefix(string(raw), "a=")
	if !is {
		return strictjson.Value{}, &validators.Rejection{Layer: contract.LayerSyntax, Reason: contract.ReasonCommandOutput}
	}
	v, _ := strictjson.Parse([]byte(`{"a":"`+value+`"}`), limits)
	return v, nil
}

// What a reader coded in Go returns still passes the contract's schema and projection.
func TestRegisteredReader(t *testing.T) {
	r := registry(t)
	if err := r.RegisterReader("t", 1, fixedReader{}); err != nil {
		t.Fatal(err)
	}
	set, err := r.Compile(tree(map[string]int{"t": 1}, nil, version("t", 1, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup("t", 0)
	for _, row := range []struct {
		raw, data string
		reason    contract.Reason
	}{
		{"a=x", `{"a":"x"}`, ""},
		{"a=z", "", contract.ReasonSchema},
		{"b=x", "", contract.ReasonCommandOutput},
	} {
		v := tool.Judge(context.Background(), []byte(row.raw), validators.Facts{Now: time.Unix(0, 0)})
		if string(v.Output.JSON) != row.data || v.Accepted != (row.data != "") {
			t.Errorf("%s gives %+v", row.raw, v)
		}
		if !v.Accepted && v.Rejections[0].Reason != row.reason {
			t.Errorf("%s is refused by %+v", row.raw, v.Rejections)
		}
	}
}

// The zero verdict refuses, and a context that has ended is a refusal too.
func TestRefusingByDefault(t *testing.T) {
	if (validators.Verdict{}).Accepted {
		t.Error("the zero verdict accepts")
	}
	set, err := registry(t).Compile(tree(map[string]int{"t": 1}, nil, version("t", 1, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup("t", 0)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if v := tool.Judge(ended, []byte(`{"a":"x"}`), validators.Facts{}); v.Accepted || v.Rejections[0].Reason != contract.ReasonEvaluationBudget {
		t.Errorf("%+v", v)
	}
}

// Names from a reply are escaped and cut before an operator sees them. A17
func TestShownNames(t *testing.T) {
	set, err := registry(t).Compile(tree(map[string]int{"t": 1}, nil, version("t", 1, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tool, _ := set.Lookup("t", 0)
	for _, row := range []struct{ line, name, at string }{
		{"plain", `extra`, "/extra"},
		{"pointer characters", `a/b~c`, "/a~1b~0c"},
		{"a terminal sequence", `\u001b[2J`, `/\u{001B}[2J`},
		{"a bidirectional override", `x\u202ey`, `/x\u{202E}y`},
		{"a paragraph", strings.Repeat("x", 200), "/" + strings.Repeat("x", 64) + "…"},
		{"sixty-four", strings.Repeat("я", 64), "/" + strings.Repeat("я", 64)},
	} {
		t.Run(row.line, func(t *testing.T) {
			v := tool.Judge(context.Background(), []byte(`{"a":"x","`+row.name+`":1}`), validators.Facts{})
			if len(v.Rejections) != 1 || v.Rejections[0].At != row.at {
				t.Errorf("got %+v, want %q", v.Rejections, row.at)
			}
		})
	}
}
