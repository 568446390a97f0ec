package semantic

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// value parses test data; "" is an absent value.
func value(t testing.TB, text string) strictjson.Value {
	t.Helper()
	if text == "" {
		return strictjson.Value{}
	}
	v, err := strictjson.Parse([]byte(text), strictjson.Ceilings())
	if err != nil {
		t.Fatalf("test data %.60q: %v", text, err)
	}
	return v
}

func shape(t testing.TB, schema string) *condition.Shape {
	t.Helper()
	if schema == "" {
		return nil
	}
	return condition.ShapeOf("s", map[string]strictjson.Value{"s": value(t, schema)})
}

func compile(t testing.TB, use string, c validators.CheckContext) (validators.Check, error) {
	t.Helper()
	for _, kind := range Builtins() {
		if kind.Use == use {
			return kind.Compile(c)
		}
	}
	t.Fatalf("no check %q", use)
	return nil, nil
}

func mustCompile(t testing.TB, use, with string) validators.Check {
	t.Helper()
	check, err := compile(t, use, validators.CheckContext{With: value(t, with)})
	if err != nil {
		t.Fatalf("%s %s: %v", use, with, err)
	}
	return check
}

// expect asks for a pass (reason "") or for a refusal with this reason and place.
func expect(t testing.TB, got *validators.CheckFailure, reason contract.Reason, at string) {
	t.Helper()
	switch {
	case reason == "" && got != nil:
		t.Errorf("refused: %s at %q: %s", got.Reason, got.At, got.Detail)
	case reason != "" && got == nil:
		t.Errorf("passed, want %s", reason)
	case reason != "" && (got.Reason != reason || got.At.String() != at || got.Detail == ""):
		t.Errorf("got %s at %q: %s; want %s at %q", got.Reason, got.At, got.Detail, reason, at)
	}
}

const (
	resultSchema = `{"type":"object","additionalProperties":false,"properties":{"project_id":{"type":"string"},"count":{"type":"integer"},
	 "at":{"type":"string"},"runs":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"run_id":{"type":"string"}}}}}}`
	argumentSchema = `{"type":"object","additionalProperties":false,"properties":{"project_id":{"type":"string"},"since":{"type":"string"}}}`
)

// TestParameters: every fault of parameters is found at load and names its parameter.
func TestParameters(t *testing.T) {
	const (
		listedOK    = `"tool":"list_runs","items":"/runs","field":"/run_id","match":{"/project_id":"/project_id"}`
		signatureOK = `"field":"/at","keys":"keys.json","issuers":["i"],"claims":{"sub":"/project_id"},"max_age":"5m"`
	)
	for _, row := range []struct{ use, with, parameter string }{
		{"equals", `{"result":"/project_id","argument":"/project_id"}`, "ok"},
		{"equals", `{"result":"/project_id","argument":"/project_id","when_given":true}`, "ok"},
		{"equals", `{"result":"/project_id","constant":null}`, "ok"},
		{"equals", `{"result":"","constant":{"a":1}}`, "ok"},
		{"equals", ``, ""},
		{"equals", `[]`, ""},
		{"equals", `{}`, "result"},
		{"equals", `{"argument":"/project_id"}`, "result"},
		{"equals", `{"result":"/project_id"}`, "argument"},
		{"equals", `{"result":"/project_id","argument":"/project_id","constant":1}`, "constant"},
		{"equals", `{"result":7,"argument":"/project_id"}`, "result"},
		{"equals", `{"result":"project_id","argument":"/project_id"}`, "result"},
		{"equals", `{"result":"/project~2id","argument":"/project_id"}`, "result"},
		{"equals", `{"result":"/projectid","argument":"/project_id"}`, "result"},
		{"equals", `{"result":"/runs/*/run_id","constant":"x"}`, "result"},
		{"equals", `{"result":"/project_id","argument":"/projectid","when_given":true}`, "argument"},
		{"equals", `{"result":"/project_id","argument":"/project_id","when_given":"yes"}`, "when_given"},
		{"equals", `{"result":"/project_id","constant":"x","when_given":true}`, "when_given"},
		{"equals", `{"result":"/project_id","argument":"/project_id","optional":true}`, "optional"},
		{"fresh", `{"field":"/at","max_age":"5m","max_skew":"30s"}`, "ok"},
		{"fresh", `{"field":"/at","max_age":"87600h","max_skew":"1ns"}`, "ok"},
		{"fresh", `{"field":"/at","max_skew":"30s"}`, "max_age"},
		{"fresh", `{"field":"/at","max_age":"5m"}`, "max_skew"},
		{"fresh", `{"field":"/at","max_age":300,"max_skew":"30s"}`, "max_age"},
		{"fresh", `{"field":"/at","max_age":"300","max_skew":"30s"}`, "max_age"},
		{"fresh", `{"field":"/at","max_age":"0s","max_skew":"30s"}`, "max_age"},
		{"fresh", `{"field":"/at","max_age":"-5m","max_skew":"30s"}`, "max_age"},
		{"fresh", `{"field":"/at","max_age":"87600h1ns","max_skew":"30s"}`, "max_age"},
		{"fresh", `{"field":"/at","max_age":"9999999999999h","max_skew":"30s"}`, "max_age"},
		{"fresh", `{"field":"/at","max_age":"5m","max_skew":"5 m"}`, "max_skew"},
		{"fresh", `{"field":"/at","max_age":"5m","max_skew":"30s","skew":"1s"}`, "skew"},
		{"listed", `{"result":"/project_id","argument":"/project_id"}`, "ok"},
		{"listed", `{"result":"/project_id","evidence":{` + listedOK + `}}`, "ok"},
		{"listed", `{"result":"/project_id"}`, "argument"},
		{"listed", `{"result":"/project_id","argument":"/project_id","evidence":{` + listedOK + `}}`, "evidence"},
		{"listed", `{"result":"/project_id","evidence":"list_runs"}`, "evidence"},
		{"listed", `{"result":"/project_id","evidence":{` + listedOK + `,"version":1}}`, "evidence.version"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"","items":"/runs","field":"","match":{"/a":"/project_id"}}}`, "evidence.tool"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"t","field":"","match":{"/a":"/project_id"}}}`, "evidence.items"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"t","items":"/r","field":"x","match":{"/a":"/project_id"}}}`, "evidence.field"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"t","items":"/r","field":""}}`, "evidence.match"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"t","items":"/r","field":"","match":{}}}`, "evidence.match"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"t","items":"/r","field":"","match":{"a":"/project_id"}}}`, "evidence.match"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"t","items":"/r","field":"","match":{"/a":"/nope"}}}`, "evidence.match"},
		{"listed", `{"result":"/project_id","evidence":{"tool":"t","items":"/r","field":"","match":{"/a":1}}}`, "evidence.match"},
		{"after", `{"field":"/at","than":{"field":"/project_id"}}`, "ok"},
		{"after", `{"field":"/at","than":{"argument":"/since"}}`, "ok"},
		{"after", `{"field":"/at"}`, "than"},
		{"after", `{"field":"/at","than":"/since"}`, "than"},
		{"after", `{"field":"/at","than":{}}`, "than.field"},
		{"after", `{"field":"/at","than":{"field":"/at","argument":"/since"}}`, "than.argument"},
		{"after", `{"field":"/at","than":{"argument":"/nope"}}`, "than.argument"},
		{"after", `{"field":"/at","than":{"argument":"/since","or_equal":true}}`, "than.or_equal"},
		{"cel", `{"expr":"result.count > 1"}`, "ok"},
		{"cel", `{}`, "expr"},
		{"cel", `{"expr":""}`, "expr"},
		{"cel", `{"expr":1}`, "expr"},
		{"cel", `{"expr":"result.nope == 1"}`, "expr"},
		{"cel", `{"expr":"request.arguments.nope == 1"}`, "expr"},
		{"cel", `{"expr":"result.count"}`, "expr"},
		{"cel", `{"expr":"true","name":"x"}`, "name"},
		{"signature", `{` + signatureOK + `,"algorithms":["EdDSA","ES256"]}`, "ok"},
		{"signature", `{` + signatureOK + `,"algorithms":["EdDSA","ES256"],"max_skew":"30s"}`, "ok"},
		{"signature", `{` + signatureOK + `,"algorithms":["EdDSA","ES256"],"max_skew":"0s"}`, "ok"},
		{"signature", `{` + signatureOK + `}`, "algorithms"},
		{"signature", `{` + signatureOK + `,"algorithms":[]}`, "algorithms"},
		{"signature", `{` + signatureOK + `,"algorithms":["HS256"]}`, "algorithms"},
		{"signature", `{` + signatureOK + `,"algorithms":["none"]}`, "algorithms"},
		{"signature", `{` + signatureOK + `,"algorithms":["EdDSA","EdDSA"]}`, "algorithms"},
		{"signature", `{` + signatureOK + `,"algorithms":["EdDSA"]}`, "keys"}, // the file holds an ES256 key
		{"signature", `{` + strings.Replace(signatureOK, "keys.json", "no.json", 1) + `,"algorithms":["EdDSA","ES256"]}`, "keys"},
		{"signature", `{` + strings.Replace(signatureOK, `["i"]`, `[]`, 1) + `,"algorithms":["EdDSA"]}`, "issuers"},
		{"signature", `{` + strings.Replace(signatureOK, `["i"]`, `[1]`, 1) + `,"algorithms":["EdDSA"]}`, "issuers"},
		{"signature", `{` + strings.Replace(signatureOK, `{"sub":"/project_id"}`, `{}`, 1) + `,"algorithms":["EdDSA"]}`, "claims"},
		{"signature", `{` + strings.Replace(signatureOK, `"/project_id"`, `"/nope"`, 1) + `,"algorithms":["EdDSA"]}`, "claims"},
		{"signature", `{` + strings.Replace(signatureOK, `"/project_id"`, `1`, 1) + `,"algorithms":["EdDSA"]}`, "claims"},
	} {
		t.Run(row.use+" "+row.with, func(t *testing.T) {
			check, err := compile(t, row.use, validators.CheckContext{
				With:   value(t, row.with),
				Files:  map[string][]byte{"keys.json": publicKeys(t)},
				Result: shape(t, resultSchema), Arguments: shape(t, argumentSchema),
			})
			if row.parameter == "ok" {
				if err != nil || check == nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			var fault *validators.ParameterError
			if !errors.As(err, &fault) || check != nil {
				t.Fatalf("got %v, %v; want a ParameterError", check, err)
			}
			if fault.Parameter != row.parameter || fault.Message == "" || fault.Cure == "" {
				t.Fatalf("got %+v, want parameter %q", fault, row.parameter)
			}
		})
	}
}

// TestZeroFactsRefuse: no check passes on nothing.
func TestZeroFactsRefuse(t *testing.T) {
	for use, with := range map[string]string{
		"equals": `{"result":"/a","argument":"/a","when_given":true}`,
		"fresh":  `{"field":"/a","max_age":"1m","max_skew":"1m"}`,
		"listed": `{"result":"/a","argument":"/a"}`,
		"after":  `{"field":"/a","than":{"field":"/b"}}`,
		"cel":    `{"expr":"true"}`,
	} {
		if mustCompile(t, use, with).Check(validators.Facts{}) == nil {
			t.Errorf("%s passes", use)
		}
	}
	if signer(t).check(t, "").Check(validators.Facts{}) == nil {
		t.Error("signature passes")
	}
}
