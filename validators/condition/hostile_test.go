package condition

import (
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
	for _, row := range []struct{ name, expr, data string }{
		{"nested all", `result.a.all(x, result.a.all(y, x == y))`, `{"a":[` + numbers + `]}`},
		{"nested exists that stops at once", `result.a.all(x, result.a.exists(y, true))`, `{"a":[` + numbers + `]}`},
		{"index from the end", `result.a.all(x, result.a[size(result.a) - 1] == 1)`, `{"a":[` + numbers + `]}`},
		{"list equality in a loop", `result.a.all(x, result.a == result.n)`, `{"a":[` + numbers[:99_979] + `],"n":[` + numbers[:99_979] + `]}`},
		{"nested equality in a loop", `result.a.all(x, result.n == result.n)`, `{"a":[` + numbers[:49_989] + `],"n":[[[` + numbers[:49_989] + `]]]}`},
		{"in, in a loop", `result.a.all(x, !(2 in result.a))`, `{"a":[` + numbers + `]}`},
		{"list of lists", `result.a.map(x, result.a).map(y, y == result.a) == []`, `{"a":[` + numbers + `]}`},
		{"long text sized in a loop", `result.a.all(x, size(result.s) > x)`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`},
		{"long text parsed in a loop", `result.a.all(x, int(result.s) > x || true)`, `{"a":[` + numbers[:9_999] + `],"s":"` + strings.Repeat("9", 900_000) + `"}`},
		{"long text joined in a loop", `result.a.map(x, result.s + result.s).size() > 0`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`},
		{"long text searched", `result.a.all(x, result.s.contains("éx") || true)`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`},
		{"long text matched", `result.a.all(x, result.s.matches("(é*)*x") || true)`, `{"a":[` + numbers[:9_999] + `],"s":"` + long + `"}`},
		{"long text as a key", `result.a.all(x, !(result.s in result.o))`, `{"a":[` + numbers + `],"s":"` + long + `","o":{}}`},
		{"lists joined", `(result.a + result.a + result.a + result.a).all(x, (result.a + result.a)[199000] == x)`, `{"a":[` + numbers + `]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			data := parse(t, row.data)
			_ = data
			began := time.Now()
			_, err := test(t, schema, row.expr, row.data)
			took := time.Since(began)
			t.Logf("%v, %v", took.Round(time.Millisecond), err)
			if took > 4*time.Second {
				t.Fatalf("took %v", took)
			}
			if causeOf(err) == Interrupted {
				t.Fatal("ended by the clock, not by the cost")
			}
		})
	}
}
