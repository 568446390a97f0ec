package projection

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func adapt(t testing.TB, upstream string, limits strictjson.Limits, pairs ...string) (string, error) {
	t.Helper()
	var fields []Field
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, Field{Member: pairs[i], Expr: pairs[i+1]})
	}
	a, faults := NewAdapter(fields, condition.Variable{Name: "upstream"})
	if faults != nil {
		t.Fatal(faults)
	}
	v, err := strictjson.Parse([]byte(upstream), strictjson.Ceilings())
	if err != nil {
		t.Fatal(err)
	}
	made, err := a.Adapt(context.Background(), map[string]condition.Input{"upstream": condition.JSON(v)}, limits)
	return string(strictjson.AppendJSON(nil, made)), err
}

// A10: exactly the fields, in their order, those left out left out.
func TestAdapt(t *testing.T) {
	const none = `optional.none()`
	for i, row := range []struct {
		fields []string
		want   string
	}{
		{nil, `{}`},
		{[]string{"b", "1", "a", "2"}, `{"b":1,"a":2}`},
		{[]string{"a", none}, `{}`},
		{[]string{"a", none, "b", "1"}, `{"b":1}`},
		{[]string{"b", "1", "a", none}, `{"b":1}`},
		{[]string{"b", "1", "a", none, "c", none, "d", "2"}, `{"b":1,"d":2}`},
		{[]string{"a\"\n", "upstream.?x"}, `{"a\"\n":[1,2.50]}`},
		{[]string{"é", "upstream", "f", "upstream.x[1]"}, `{"é":{"x":[1,2.50]},"f":2.50}`},
	} {
		got, err := adapt(t, `{"x":[1, 2.50]}`, strictjson.Ceilings(), row.fields...)
		if got != row.want || err != nil {
			t.Errorf("row %d: got %s, %v; want %s", i, got, err, row.want)
		}
	}
}

func TestAdaptRefuses(t *testing.T) {
	narrow := strictjson.Ceilings()
	narrow.MaxBytes, narrow.MaxItems, narrow.MaxNumberChars = 40, 4, 5
	for i, row := range []struct {
		fields []string
		at     string
		cause  condition.Cause
		reason strictjson.Reason
	}{
		{[]string{"a", "1", "b/c", "upstream.y"}, "/b~1c", condition.Failed, 0},
		{[]string{"a", "upstream.n + 1"}, "/a", condition.Unfaithful, 0},
		{[]string{"a", "dyn(b'x')"}, "/a", condition.Unwritable, 0},
		{[]string{"a", `"1234567890123456789012345678901234"`}, "/a", condition.TooLarge, 0},
		{[]string{"a", `"123456789012345678901234567890123"`}, "", 0, strictjson.ByteLimit},
		{[]string{"a", `"1234567890123456789012345678901"`, "b", "1"}, "/b", condition.TooLarge, 0},
		{[]string{"a", `[1, 2, 3, 4]`}, "/a", 0, strictjson.ItemLimit},
		{[]string{"a", `"x"`, "b", "[1, 123456]"}, "/b/1", 0, strictjson.NumberLimit},
	} {
		got, err := adapt(t, `{"n":1e30}`, narrow, row.fields...)
		var failed *AdaptError
		if !errors.As(err, &failed) || got != "" || failed.At.String() != row.at || strings.Contains(err.Error(), row.fields[0]+"/") {
			t.Errorf("row %d: got %s, %v", i, got, err)
			continue
		}
		var expression *condition.Error
		var limit *strictjson.Error
		switch {
		case row.cause != 0 && (!errors.As(err, &expression) || expression.Cause != row.cause):
			t.Errorf("row %d: %v", i, err)
		case row.reason != 0 && (!errors.As(err, &limit) || limit.Reason != row.reason):
			t.Errorf("row %d: %v", i, err)
		}
	}
}

func TestNewAdapterListsEveryFault(t *testing.T) {
	a, faults := NewAdapter([]Field{{Member: "a", Expr: "1 +"}, {Member: "b", Expr: "1"}, {Member: "c", Expr: "nope"}}, condition.Variable{Name: "upstream"})
	if a != nil || len(faults) != 2 || faults[0].Field != 0 || faults[1].Field != 2 {
		t.Error(a, faults)
	}
	if a, faults := NewAdapter(nil, condition.Variable{}); a != nil || len(faults) != 1 {
		t.Error(a, faults)
	}
}
