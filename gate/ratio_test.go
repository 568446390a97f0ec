package gate

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/interleave"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

const slice = 20 * time.Millisecond

// counting is a store that only counts: what the gate costs without one.
type counting struct {
	audit.Store
	n int
}

func (c *counting) Append(context.Context, audit.Entry) (audit.Outcome, error) {
	c.n++
	return audit.Outcome{}, nil
}

// shippedTree is the tree of the contracts that ship.
func shippedTree(t testing.TB) *contract.Tree {
	t.Helper()
	s, err := contract.SnapshotOf("../contracts", "")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// copies is a tree of the shipped review_status and n-1 copies of it under other names.
func copies(t testing.TB, n int) *contract.Tree {
	t.Helper()
	tree := &contract.Tree{Current: map[string]int{}, Digest: "d"}
	for _, c := range shippedTree(t).Contracts {
		if c.Tool != "review_status" {
			continue
		}
		for i := range n {
			one := *c
			if i > 0 {
				one.Tool = "review_status_" + strconv.Itoa(i)
				one.Dir = one.Tool + "/v1"
			}
			tree.Contracts = append(tree.Contracts, &one)
			tree.Current[one.Tool] = one.Version
		}
	}
	return tree
}

func compiled(t testing.TB, tree *contract.Tree) *Set {
	t.Helper()
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	set, err := NewLoader(registry).CompileTree(tree)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// smallCall is a reply of 160 bytes with its request.
func smallCall() Call {
	return Call{
		Request: Request{Tool: "review_status", RequestID: "req.J7q94MkP", SessionID: "s1", ArgumentsJSON: `{"change_id":"CR-1042"}`},
		Upstream: Upstream{
			Source: "https://reviews.example.test/changes/1042", MediaType: "application/json", Status: Status{Kind: StatusHTTP, Code: 200},
		},
		Raw: []byte(`{"tool":"review_status","request_id":"req.J7q94MkP","outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"Ana Petrova Lee"}}`),
	}
}

// judging returns a function that judges one call and insists on what comes of it.
func judging(t testing.TB, set *Set, call Call, accepted bool) func() {
	return func() {
		o, err := Judge(context.Background(), set, call, Judgement{Caller: local, Now: noon})
		if err != nil || o.Verdict.Accepted != accepted {
			t.Fatalf("%+v %v", o.Verdict.Rejections, err)
		}
	}
}

// BenchmarkRatio measures the goals that need no wire.
func BenchmarkRatio(b *testing.B) {
	one := compiled(b, copies(b, 1))
	b.Run("small/allocations", func(b *testing.B) {
		b.ReportMetric(testing.AllocsPerRun(1000, judging(b, one, smallCall(), true)), "value")
		b.ReportMetric(10, "goal")
	})
	b.Run("small/validate-allocations", func(b *testing.B) {
		g := New(&counting{}, func() time.Time { return noon })
		g.Publish(one)
		b.ReportMetric(testing.AllocsPerRun(1000, func() {
			if reply, err := g.Validate(context.Background(), local, decision, smallCall()); err != nil || reply.Result.Data == nil {
				b.Fatal(reply, err)
			}
		}), "value")
	})
	b.Run("contracts=10000", func(b *testing.B) {
		many := compiled(b, copies(b, 10_000))
		runtime.GC()
		r := interleave.Compare(15, slice, judging(b, many, smallCall(), true), judging(b, one, smallCall(), true))
		b.ReportMetric(r.Ratio(0, 1), "value")
		b.ReportMetric(1.05, "goal")
		b.ReportMetric(r.Time(1), "cpu-ns")
	})
	b.Run("hostile", benchHostile)
}

// hostile are replies of 1 MB that are made to be slow, by what they try.
func hostile() map[string]string {
	const size = 1_000_000
	return map[string]string{
		"many-members":    `{"a":{` + joined(size, func(i int) string { return fmt.Sprintf(`"m%07d":0`, i) }) + `}}`,
		"alike-names":     `{"a":{` + joined(size, func(i int) string { return fmt.Sprintf(`"%s%07d":0`, strings.Repeat("x", 100), i) }) + `}}`,
		"escaped-names":   `{"a":{` + joined(size, func(i int) string { return fmt.Sprintf(`"\u0061%07d":0`, i) }) + `}}`,
		"many-objects":    `{"a":[` + joined(size, func(int) string { return `{"b":0,"c":0}` }) + `]}`,
		"nested":          `{"a":[` + joined(size, func(int) string { return strings.Repeat("[", 25) + strings.Repeat("]", 25) }) + `]}`,
		"long-numbers":    `{"a":[` + joined(size, func(int) string { return strings.Repeat("9", 60) + "e10" }) + `]}`,
		"one-string":      `{"a":["` + strings.Repeat("x", size) + `"]}`,
		"escapes":         `{"a":["` + strings.Repeat(`\u00e9`, size/6) + `"]}`,
		"surrogates":      `{"a":["` + strings.Repeat(`\ud83d\ude00`, size/12) + `"]}`,
		"white-space":     `{"a":[` + strings.Repeat(" ", size) + `0]}`,
		"same-items":      `{"a":[` + joined(size, func(int) string { return `"0123456789"` }) + `]}`,
		"missing-bracket": `{"a":[` + joined(size, func(int) string { return `{"b":0,"c":0}` }),
		"last-duplicate":  `{"a":{` + joined(size, func(i int) string { return fmt.Sprintf(`"m%07d":0`, i) }) + `,"m0000000":0}}`,
	}
}

// joined repeats elements until they fill so many bytes, or are as many as a reply may have.
func joined(bytes int, element func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes && i < 45_000; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(element(i))
	}
	return b.String()
}

const (
	rowsSchema = `{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"array","items":{
		"type":"object","additionalProperties":false,"required":["id","name","price"],"properties":{
		"id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":400},"price":{"type":"number"},"active":{"type":"boolean"}}}}}}`
	anySchema = `{"type":"object","required":["a"],"properties":{"a":{}}}`
)

func rows(bytes int) string {
	return `{"a":[` + joined(bytes, func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"A name of some length, and then some more%s","price":19.99,"active":true}`, i, strings.Repeat(", and more", 13))
	}) + `]}`
}

// fullLimits are the service's own.
func fullLimits(c *contract.Contract) { c.Result.Limits = strictjson.Ceilings() }

// benchHostile compares each with a benign list of the same size, byte for byte: what a
// caller pays for is bytes.
func benchHostile(b *testing.B) {
	benign := rows(1_000_000)
	good := judging(b, oneTool(b, rowsSchema, fullLimits), Call{Request: Request{Tool: "t", RequestID: "req.A1b2C3d4"}, Raw: []byte(benign)}, true)
	closed, open := oneTool(b, rowsSchema, fullLimits), oneTool(b, anySchema, fullLimits)
	worst := 0.0
	shapes := hostile()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		text := shapes[name]
		call := Call{Request: Request{Tool: "t", RequestID: "req.A1b2C3d4"}, Raw: []byte(text)}
		for schema, set := range map[string]*Set{"closed": closed, "open": open} {
			b.Run(name+"/"+schema, func(b *testing.B) {
				bad := func() { _, _ = Judge(context.Background(), set, call, Judgement{Caller: local, Now: noon}) }
				r := interleave.Compare(5, slice, bad, good)
				ratio := r.Ratio(0, 1) * float64(len(benign)) / float64(len(text))
				worst = max(worst, ratio)
				b.ReportMetric(ratio, "value")
			})
		}
	}
	b.Run("worst", func(b *testing.B) {
		b.ReportMetric(worst, "value")
		b.ReportMetric(3, "goal")
	})
}

// BenchmarkGrowth shows what grows how: value is the cost of a unit beside that of a unit
// at the smallest size, so that 1 is linear, and for what should not grow at all the cost
// of a call beside the smallest.
func BenchmarkGrowth(b *testing.B) {
	set := oneTool(b, rowsSchema, fullLimits)
	grow := func(name string, sizes []int, make func(size int) func()) {
		var first float64
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s=%d", name, size), func(b *testing.B) {
				cost := interleave.Compare(5, slice, make(size)).Time(0)
				if first == 0 {
					first = cost / float64(size)
				}
				b.ReportMetric(cost/float64(size)/first, "value")
				b.ReportMetric(cost, "cpu-ns")
			})
		}
	}
	judge := func(set *Set, text string) func() {
		call := Call{Request: Request{Tool: "t", RequestID: "req.A1b2C3d4"}, Raw: []byte(text)}
		return func() { _, _ = Judge(context.Background(), set, call, Judgement{Caller: local, Now: noon}) }
	}
	grow("bytes", []int{1 << 10, 16 << 10, 256 << 10, 1 << 20, 4 << 20}, func(n int) func() { return judge(set, rows(n)) })
	open := oneTool(b, anySchema, fullLimits)
	grow("members", []int{10, 100, 1000, 10_000, 40_000}, func(n int) func() {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(`"m%07d":0`, i))
		}
		return judge(open, `{"a":{`+strings.Join(parts, ",")+`}}`)
	})
	grow("nesting", []int{4, 8, 16, 30}, func(n int) func() {
		return judge(open, `{"a":[`+strings.TrimSuffix(strings.Repeat(strings.Repeat("[", n)+strings.Repeat("]", n)+",", 1000), ",")+`]}`)
	})
	grow("grants", []int{1, 10, 100, 1000}, func(n int) func() { return deciding1000(b, n) })
	var first float64
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("contracts=%d", n), func(b *testing.B) {
			cost := interleave.Compare(9, slice, judging(b, compiled(b, copies(b, n)), smallCall(), true)).Time(0)
			if first == 0 {
				first = cost
			}
			b.ReportMetric(cost/first, "value")
			b.ReportMetric(cost, "cpu-ns")
		})
	}
}

// deciding1000 decides one call under n grants, of which the last alone covers it.
func deciding1000(t testing.TB, n int) func() {
	set := compiled(t, shippedTree(t))
	p := Proposal{Tool: "mail_send", RequestID: "req.A1b2C3d4", SessionID: "s1", Principal: "u1", Raw: []byte(`{"to":["ana@example.test"],"subject":"s","body":"b"}`)}
	known := Known{Caller: Caller{Tenant: "local", Name: "local", MayGrant: true}, Now: noon}
	for i := range n {
		who := fmt.Sprintf("u%d@example.test", i)
		if i == n-1 {
			who = "@example.test"
		}
		known.Grants = append(known.Grants, policy.Grant{
			ID: "g" + strconv.Itoa(i), Tool: "mail_send", NotAfter: noon.Add(time.Hour), Unlimited: true,
			Scopes: []policy.Allowed{{Scope: "recipient", Values: []string{who}}},
		})
	}
	return func() {
		if r := Decide(context.Background(), set, p, known); r.Decision.Effect != policy.Allow {
			t.Fatalf("%+v", r.Decision)
		}
	}
}

// BenchmarkCompile states what contracts cost to compile, and to keep.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("contracts=%d", n), func(b *testing.B) {
			tree := copies(b, n)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var set *Set
			took := interleave.Compare(1, time.Millisecond, func() { set = compiled(b, tree) }).Time(0)
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(took/float64(n), "cpu-ns/contract")
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "bytes/contract")
			runtime.KeepAlive(set)
		})
	}
}
