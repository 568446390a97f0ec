package schema

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func repeat(item string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func members(n int, value string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%s`, i, value)
	}
	return "{" + b.String()[1:] + "}"
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"r%d"`, i)
	}
	return "[" + b.String()[1:] + "]"
}

func nested(depth int) string {
	return strings.Repeat(`{"c":`, depth) + "1" + strings.Repeat("}", depth)
}

// exponential is case 060 in the form that no look at required ends early: both
// branches descend into everything, and fail at the leaf.
const exponential = `{"$defs":{"n":{"anyOf":[
	{"type":"object","properties":{"c":{"$ref":"#/$defs/n"}},"required":["c"]},
	{"type":"object","properties":{"c":{"$ref":"#/$defs/n"}},"minProperties":1},{"type":"null"}]}},"$ref":"#/$defs/n"}`

// expression is a recursive union told apart by a const: it costs one branch a value.
const expression = `{"$defs":{"e":{"oneOf":[{"$ref":"#/$defs/add"},{"$ref":"#/$defs/mul"},{"type":"integer"}]},
	"add":{"type":"object","properties":{"op":{"const":"add"},"c":{"$ref":"#/$defs/e"}},"required":["op","c"],"additionalProperties":false},
	"mul":{"type":"object","properties":{"op":{"const":"mul"},"c":{"$ref":"#/$defs/e"}},"required":["op","c"],"additionalProperties":false}},"$ref":"#/$defs/e"}`

const tree = `{"$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"c":{"type":"array","items":{"$ref":"#/$defs/n"}}},
	"required":["v"],"additionalProperties":false}},"$ref":"#/$defs/n"}`

// 060: a hundred milliseconds is what a schema that explodes may cost.
func TestBudgetEndsExponentialWork(t *testing.T) {
	s := mustCompile(t, exponential, Options{})
	within(t, 100*time.Millisecond*slower, func() {
		if got, err := s.Validate(context.Background(), parse(t, nested(60))); !errors.Is(err, ErrBudget) || got != nil {
			t.Errorf("%v %v", got, err)
		}
	})
	within(t, 100*time.Millisecond*slower, func() {
		s := mustCompile(t, recursive60, Options{})
		got, err := s.Validate(context.Background(), parse(t, nested(20)))
		if err != nil || show(got) != "anyOf /$defs/n/anyOf" {
			t.Errorf("%v %v", got, err)
		}
	})
	within(t, 100*time.Millisecond*slower, func() {
		s := mustCompile(t, expression, Options{})
		got, err := s.Validate(context.Background(), parse(t, strings.Repeat(`{"op":"mul","c":`, 60)+`"x"`+strings.Repeat("}", 60)))
		if err != nil || len(got) != 1 || got[0].Keyword != "oneOf" || len(got[0].At) != 60 {
			t.Errorf("%v %v", got, err)
		}
	})
}

// What is large and harmless passes.
func TestBudgetLetsLargeValuesPass(t *testing.T) {
	for _, c := range []struct{ name, schema, instance string }{
		{"a recursive tree of 100,000 values", tree, `{"v":1,"c":` + repeat(`{"v":1,"c":[]}`, 33_000) + `}`},
		{"100,000 numbers", `{"items":{"type":"number","minimum":0,"maximum":1e300,"multipleOf":0.01}}`, repeat("1.25", 99_000)},
		{"100,000 enumerated strings", `{"items":{"enum":` + names(3000) + `}}`, repeat(`"r2999"`, 99_000)},
		{"100,000 names", `{"propertyNames":{"pattern":"^k[0-9]+$"},"additionalProperties":{"type":"integer"}}`, members(99_000, "1")},
		{"a long string", `{"type":"string","minLength":1,"pattern":"^[a-z]+$"}`, `"` + strings.Repeat("a", 1_000_000) + `"`},
		{"60 levels", tree, strings.Repeat(`{"v":1,"c":[`, 30) + strings.Repeat(`]}`, 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.schema, Options{})
			within(t, time.Second*slower, func() {
				if got, err := s.Validate(context.Background(), parse(t, c.instance)); err != nil || len(got) > 0 {
					t.Errorf("%v %v", got, err)
				}
			})
		})
	}
}

// Whatever it answers, it answers within two seconds, and has not kept much.
func TestHostilePairsEnd(t *testing.T) {
	long := `"` + strings.Repeat("a", 1_000_000) + `"`
	var collide strings.Builder
	for i := range 16_000 {
		fmt.Fprintf(&collide, `,["a%d","a\u0004b"],["a%d\u0004a","b"]`, i, i)
	}
	var chain strings.Builder
	for i := range 400 {
		fmt.Fprintf(&chain, `"c%d":{"$ref":"#/$defs/c%d"},`, i, i+1)
	}
	for _, c := range []struct{ name, schema, instance string }{
		{"100,000 failures in items", tree, `{"v":1,"c":` + repeat(`{"w":"1"}`, 49_000) + `}`},
		{"100,000 failures in members", `{"additionalProperties":{"allOf":[{"type":"string"},{"minimum":5},{"const":9}]}}`, members(99_000, "1")},
		{"100,000 unexpected members", `{"unevaluatedProperties":false}`, members(99_000, "1")},
		{"failures backwards", `{"allOf":[{"contains":{"type":"string"}},{"items":{"type":"string"}},{"items":{"anyOf":[{"type":"string"},{"minimum":2}]}}]}`, repeat("1", 99_000)},
		{"a pattern with many states", `{"pattern":"(a?){500}a{500}b"}`, long},
		{"a pattern with many states, in the budget", `{"pattern":"(a?){500}a{500}b"}`, long[:30_000] + `"`},
		{"nested quantifiers", `{"pattern":"(a+a+)+b"}`, long},
		{"colliding items", `{"uniqueItems":true}`, "[" + collide.String()[1:] + "]"},
		{"large numbers", `{"items":{"multipleOf":1e-307,"maximum":1e307}}`, repeat("1.2345678901234567890123e307", 90_000)},
		{"many required", `{"required":` + names(20_000) + `}`, members(99_000, "1")},
		{"many dependent", `{"dependentRequired":{"k0":` + names(20_000) + `}}`, members(99_000, "1")},
		{"unevaluated through a chain", `{"$ref":"#/$defs/c0","unevaluatedProperties":true,"$defs":{` + chain.String() + `"c400":{"minProperties":1}}}`, members(99_000, "1")},
		{"equality at every level", `{"$defs":{"n":{"enum":[` + nested(100) + `,1],"properties":{"c":{"$ref":"#/$defs/n"}}}},"items":{"$ref":"#/$defs/n"}}`, repeat(nested(60), 1500)},
		{
			"unique at every level", `{"$defs":{"n":{"uniqueItems":true,"items":{"$ref":"#/$defs/n"}}},"$ref":"#/$defs/n"}`,
			strings.Repeat("[", 60) + repeat("1", 90_000)[1:] + strings.Repeat("]", 59),
		},
		{"branches that meet again", `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/c"}]},"b":{"anyOf":[{"$ref":"#/$defs/c"},{"$ref":"#/$defs/a"}]},
			"c":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}},"items":{"$ref":"#/$defs/a"}}`, repeat("1", 99_000)},
		{"exponential, many times", `{"items":` + strings.Replace(exponential, `"$ref":"#/$defs/n"}`, `"$ref":"#/items/$defs/n"}`, 3) + `}`, repeat(nested(30), 3000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, strings.ReplaceAll(c.schema, "#/items/items", "#/items"), Options{})
			v := parse(t, c.instance)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			within(t, 2*time.Second*slower, func() {
				got, err := s.Validate(context.Background(), v)
				if len(got) > MaxFailures || (err != nil && !errors.Is(err, ErrBudget)) {
					t.Errorf("%d failures, %v", len(got), err)
				}
			})
			runtime.GC()
			runtime.ReadMemStats(&after)
			if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 1<<20 {
				t.Errorf("%d bytes are kept", kept)
			}
		})
	}
}

// Failing 100,000 times allocates no more than failing a few times does.
func TestFailuresAreNotCollected(t *testing.T) {
	s := mustCompile(t, tree, Options{})
	v := parse(t, `{"v":1,"c":`+repeat(`{"w":"1"}`, 49_000)+`}`)
	allocations := testing.AllocsPerRun(3, func() {
		if got, err := s.Validate(context.Background(), v); err != nil || len(got) != MaxFailures {
			t.Fatalf("%d failures, %v", len(got), err)
		}
	})
	if allocations > 500 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestContextEnds(t *testing.T) {
	s := mustCompile(t, exponential, Options{Budget: 1 << 60})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	within(t, 200*time.Millisecond*slower, func() {
		_, err := s.Validate(ctx, parse(t, nested(60)))
		if !errors.Is(err, ErrBudget) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	cancel()
	if _, err := mustCompile(t, `true`, Options{}).Validate(ctx, parse(t, `1`)); !errors.Is(err, ErrBudget) {
		t.Error(err)
	}
}

// The stack is bounded apart from the work.
func TestNestingIsBounded(t *testing.T) {
	var chain strings.Builder
	for i := range 400 {
		fmt.Fprintf(&chain, `"c%d":{"$ref":"#/$defs/c%d"},`, i, i+1)
	}
	s := mustCompile(t, `{"$ref":"#/$defs/c0","$defs":{`+chain.String()+`"c400":{"properties":{"c":{"$ref":"#/$defs/c0"}}}}}`, Options{Budget: 1 << 60})
	if _, err := s.Validate(context.Background(), parse(t, nested(40))); err != nil {
		t.Error(err)
	}
	if _, err := s.Validate(context.Background(), parse(t, nested(60))); !errors.Is(err, ErrBudget) {
		t.Error(err)
	}
}

// An explicit budget is spent exactly: one visit for each application.
func TestBudgetIsCounted(t *testing.T) {
	const source = `{"items":{"type":"integer"}}`
	v := parse(t, `[1,2,3]`) // one visit for the array, one for each element
	for _, c := range []struct {
		budget int64
		ends   bool
	}{{3, true}, {4, false}} {
		_, err := mustCompile(t, source, Options{Budget: c.budget}).Validate(context.Background(), v)
		if errors.Is(err, ErrBudget) != c.ends {
			t.Errorf("budget %d: %v", c.budget, err)
		}
	}
}

// 032, 034, 037: what made the library panic or run for seconds never gets past the
// reader, and what does get past costs little against every numeric keyword.
func TestNumbersOfTheReader(t *testing.T) {
	for _, number := range []string{"1e2000000", "1e-1000001", "1e1000001", "1e400", "1e-400", "0." + strings.Repeat("1", 262_144)} {
		if _, err := strictjson.Parse([]byte(`{"v":`+number+`}`), strictjson.Ceilings()); err == nil {
			t.Errorf("%.20s passes the reader", number)
		}
	}
	s := mustCompile(t, `{"minimum":-1e308,"maximum":1e308,"exclusiveMinimum":-1e308,"exclusiveMaximum":1e308,"multipleOf":1e-308,"not":{"enum":[1e308,5e-308]}}`, Options{})
	for _, number := range []string{"9.99e307", "1e-308", "-9.99e307", "0e308", strings.Repeat("9", 120)} {
		within(t, 50*time.Millisecond*slower, func() {
			if got, err := s.Validate(context.Background(), parse(t, number)); err != nil || len(got) > 0 {
				t.Errorf("%s: %v %v", number, err, show(got))
			}
		})
	}
}
