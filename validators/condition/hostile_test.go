package condition

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestHostileData: whatever the data, an evaluation ends soon (A2).
func TestHostileData(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 items")
	}
	numbers := strings.Repeat("1,", 99_989) + "1"
	schema := `{"type":"object","additionalProperties":false,"properties":{
	 "a":{"type":"array","items":{"type":"integer"}},"s":{"type":"string"},"n":true,"o":{"type":"object","additionalProperties":true}}}`
	long := strings.Repeat("é", 900_000)
	for _, row := range []struct {
		name, expr, data string
		cause            Cause
	}{
		{"nested all", `result.a.all(x, result.a.all(y, x == y))`, `{"a":[` + numbers + `]}`, CostLimit},
		{"nested exists that stops at once", `result.a.all(x, result.a.exists(y, true))`, `{"a":[` + numbers + `]}`, CostLimit},
		{"index from the end", `result.a.all(x, result.a[size(result.a) - 1] == 1)`, `{"a":[` + numbers + `]}`, CostLimit},
		{"list equality in a loop", `result.a.all(x, result.a == result.n)`, `{"a":[` + numbers[:99_979] + `],"n":[` + numbers[:99_979] + `]}`, CostLimit},
		{"nested equality in a loop", `result.a.all(x, result.n == result.n)`, `{"a":[` + numbers[:49_989] + `],"n":[[[` + numbers[:49_989] + `]]]}`, CostLimit},
		{"in, in a loop", `result.a.all(x, !(2 in result.a))`, `{"a":[` + numbers + `]}`, CostLimit},
		{"list of lists", `result.a.map(x, result.a).map(y, y == result.a) == []`, `{"a":[` + numbers + `]}`, CostLimit},
		{"long text sized in a loop", `result.a.all(x, size(result.s) > x)`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`, CostLimit},
		{"long text parsed in a loop", `result.a.all(x, int(result.s) > x || true)`, `{"a":[` + numbers[:9_999] + `],"s":"` + strings.Repeat("9", 900_000) + `"}`, CostLimit},
		{"long text joined in a loop", `result.a.map(x, result.s + result.s).size() > 0`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`, CostLimit},
		{"long text searched", `result.a.all(x, result.s.contains("éx") || true)`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`, CostLimit},
		{"long text matched", `result.a.all(x, result.s.matches("(é*)*x") || true)`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`, CostLimit},
		{"long text as a key", `result.a.all(x, !(result.s in result.o))`, `{"a":[` + numbers + `],"s":"` + long + `","o":{}}`, 0},
		{"lists joined", `(result.a + result.a + result.a + result.a).all(x, (result.a + result.a)[199000] == x)`, `{"a":[` + numbers + `]}`, CostLimit},
	} {
		t.Run(row.name, func(t *testing.T) {
			data := JSON(parse(t, row.data))
			p, err := Compile(row.expr, Variable{"result", schemaShape(t, schema)})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = p.test(context.Background(), map[string]Input{"result": data})
			t.Logf("%v", time.Since(began).Round(time.Millisecond))
			if got := causeOf(err); got != row.cause {
				t.Fatalf("cause %d (%v), want %d", got, err, row.cause)
			}
			// What Test itself may take, with room for the race detector; only the cost
			// above is the same on every machine.
			began = time.Now()
			_, _ = p.Test(context.Background(), map[string]Input{"result": data})
			if took := time.Since(began); took > 3*time.Minute {
				t.Fatalf("took %v", took)
			}
		})
	}
}
