package condition

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func parse(t testing.TB, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.Ceilings())
	if err != nil {
		t.Fatalf("test data %.60q: %v", text, err)
	}
	return v
}

func schemaShape(t testing.TB, text string) *Shape {
	t.Helper()
	return ShapeOf("s.json", map[string]strictjson.Value{"s.json": parse(t, text)})
}

// test compiles expr over one variable, result, and evaluates it.
func test(t testing.TB, schema, expr, data string) (bool, error) {
	t.Helper()
	p, err := Compile(expr, Variable{"result", schemaShape(t, schema)})
	if err != nil {
		t.Fatalf("%s: does not compile: %v", expr, err)
	}
	return p.Test(context.Background(), map[string]Input{"result": JSON(parse(t, data))})
}

func causeOf(err error) Cause {
	var e *Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return 0
}

const runSchema = `{"type":"object","additionalProperties":false,"properties":{
 "run_id":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},"done":{"type":"boolean"},
 "gone":{"type":"null"},"state":{"enum":["failed","passed"]},"any":true,"a-b":{"type":"string"},"in":{"type":"string"},
 "maybe":{"type":["string","null"]},
 "tags":{"type":"array","items":{"type":"string"}},
 "counts":{"type":"array","items":{"type":"integer"}},
 "labels":{"type":"object","additionalProperties":{"type":"string"}},
 "owner":{"$ref":"#/$defs/owner"},"owners":{"type":"array","items":{"$ref":"#/$defs/owner"}},
 "tree":{"$ref":"#/$defs/tree"}},
 "$defs":{
  "owner":{"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"},"age":{"type":"integer"}}},
  "tree":{"type":"object","additionalProperties":false,"properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`

var instant = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
