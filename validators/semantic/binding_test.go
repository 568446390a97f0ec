package semantic

import (
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

const binding = contract.ReasonBinding

// A14: the result belongs to the request. Row 015 is the public case of that number.
func TestEquals(t *testing.T) {
	const argument = `{"result":"/id","argument":"/id"}`
	for _, row := range []struct {
		name, with, result, arguments string
		reason                        contract.Reason
	}{
		{"equal", argument, `{"id":"a"}`, `{"id":"a"}`, ""},
		{"other", argument, `{"id":"a"}`, `{"id":"b"}`, binding},
		{"015: the text of a number", argument, `{"id":"1"}`, `{"id":1}`, binding},
		{"015: the number of a text", argument, `{"id":1}`, `{"id":"1"}`, binding},
		{"equal numbers written otherwise", argument, `{"id":1.0}`, `{"id":1}`, ""},
		{"beyond double precision", argument, `{"id":9007199254740993}`, `{"id":9007199254740992}`, binding},
		{"false is not 0", argument, `{"id":false}`, `{"id":0}`, binding},
		{"null is not absent", argument, `{"id":null}`, `{}`, binding},
		{"null is null", argument, `{"id":null}`, `{"id":null}`, ""},
		{"escaped alike", argument, `{"id":"\u0061"}`, `{"id":"a"}`, ""},
		{"another case", argument, `{"id":"A"}`, `{"id":"a"}`, binding},
		{"another normal form", argument, `{"id":"\u00e9"}`, `{"id":"e\u0301"}`, binding},
		{"white space", argument, `{"id":"a "}`, `{"id":"a"}`, binding},
		{"missing in the result", argument, `{}`, `{"id":"a"}`, binding},
		{"missing in the request", argument, `{"id":"a"}`, `{}`, binding},
		{"missing in both", argument, `{}`, `{}`, binding},
		{"no arguments", argument, `{"id":"a"}`, ``, binding},
		{"objects without order", argument, `{"id":{"a":1,"b":2}}`, `{"id":{"b":2,"a":1.0}}`, ""},
		{"an array is no element", argument, `{"id":["a"]}`, `{"id":"a"}`, binding},
		{"constant", `{"result":"/id","constant":"x"}`, `{"id":"x"}`, ``, ""},
		{"other constant", `{"result":"/id","constant":"x"}`, `{"id":"y"}`, `{"id":"y"}`, binding},
		{"constant null, absent member", `{"result":"/id","constant":null}`, `{}`, ``, binding},
		{"when given, given", `{"result":"/id","argument":"/id","when_given":true}`, `{"id":"a"}`, `{"id":"a"}`, ""},
		{"when given, other", `{"result":"/id","argument":"/id","when_given":true}`, `{"id":"a"}`, `{"id":"b"}`, binding},
		{"when given, given as null", `{"result":"/id","argument":"/id","when_given":true}`, `{"id":"a"}`, `{"id":null}`, binding},
		{"when given, not given", `{"result":"/id","argument":"/id","when_given":true}`, `{"id":"a"}`, `{}`, ""},
		{"when given, no arguments", `{"result":"/id","argument":"/id","when_given":true}`, `{"id":"a"}`, ``, ""},
		{"when given false", `{"result":"/id","argument":"/id","when_given":false}`, `{"id":"a"}`, `{}`, binding},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := mustCompile(t, "equals", row.with).Check(validators.Facts{
				Result: value(t, row.result), Request: validators.Request{Arguments: value(t, row.arguments)},
			})
			expect(t, got, row.reason, "/id")
		})
	}
}

// A14: the run belongs to the project.
func TestListedInArgument(t *testing.T) {
	check := mustCompile(t, "listed", `{"result":"/id","argument":"/ids"}`)
	for _, row := range []struct {
		name, result, arguments string
		reason                  contract.Reason
	}{
		{"in", `{"id":"b"}`, `{"ids":["a","b"]}`, ""},
		{"not in", `{"id":"c"}`, `{"ids":["a","b"]}`, binding},
		{"of another type", `{"id":1}`, `{"ids":["1"]}`, binding},
		{"empty list", `{"id":"a"}`, `{"ids":[]}`, binding},
		{"no list", `{"id":"a"}`, `{"ids":"a"}`, binding},
		{"an object is no list", `{"id":"a"}`, `{"ids":{"0":"a"}}`, binding},
		{"absent list", `{"id":"a"}`, `{}`, binding},
		{"absent member", `{}`, `{"ids":["a"]}`, binding},
		{"nested lists are not flattened", `{"id":"a"}`, `{"ids":[["a"]]}`, binding},
	} {
		t.Run(row.name, func(t *testing.T) {
			expect(t, check.Check(validators.Facts{
				Result: value(t, row.result), Request: validators.Request{Arguments: value(t, row.arguments)},
			}), row.reason, "/id")
		})
	}
}

// A14: the run belongs to the project, by the newest list that was seen of it.
func TestListedInEvidence(t *testing.T) {
	check := mustCompile(t, "listed", `{"result":"/run_id","evidence":{"tool":"list_runs","items":"/runs","field":"/run_id","match":{"/project_id":"/project_id"}}}`)
	evidence := func(age time.Duration, arguments, data string) validators.Evidence {
		return validators.Evidence{Tool: "list_runs", Version: 1, Arguments: value(t, arguments), Data: value(t, data), ObservedAt: noon.Add(-age)}
	}
	const mine, other = `{"project_id":"blue"}`, `{"project_id":"red"}`
	has := `{"runs":[{"run_id":"r0"},{"run_id":"r1"}]}`
	lacks := `{"runs":[{"run_id":"r0"}]}`
	wrongTool := evidence(0, mine, has)
	wrongTool.Tool = "list_jobs"
	for _, row := range []struct {
		name     string
		evidence []validators.Evidence
		reason   contract.Reason
	}{
		{"listed, matched by arguments", []validators.Evidence{evidence(0, mine, has)}, ""},
		{"listed, matched by data", []validators.Evidence{evidence(0, `{}`, `{"project_id":"blue","runs":[{"run_id":"r1"}]}`)}, ""},
		{"no evidence", nil, binding},
		{"another tool", []validators.Evidence{wrongTool}, binding},
		{"another project", []validators.Evidence{evidence(0, other, has)}, binding},
		{"data and arguments disagree", []validators.Evidence{evidence(0, mine, `{"project_id":"red","runs":[{"run_id":"r1"}]}`)}, binding},
		{"arguments and data disagree", []validators.Evidence{evidence(0, other, `{"project_id":"blue","runs":[{"run_id":"r1"}]}`)}, binding},
		{"match found nowhere", []validators.Evidence{evidence(0, `{}`, has)}, binding},
		{"not listed", []validators.Evidence{evidence(0, mine, lacks)}, binding},
		{"an older list had it", []validators.Evidence{evidence(time.Minute, mine, has), evidence(0, mine, lacks)}, binding},
		{"a newer list has it", []validators.Evidence{evidence(0, mine, has), evidence(time.Minute, mine, lacks)}, ""},
		{"a newer list of another project does not count", []validators.Evidence{evidence(time.Minute, mine, has), evidence(0, other, lacks)}, ""},
		{"equally new, one lacks it", []validators.Evidence{evidence(0, mine, has), evidence(0, mine, lacks)}, binding},
		{"items is no list", []validators.Evidence{evidence(0, mine, `{"runs":{"run_id":"r1"}}`)}, binding},
		{"of another type", []validators.Evidence{evidence(0, mine, `{"runs":[{"run_id":["r1"]}]}`)}, binding},
		{"zero evidence", []validators.Evidence{{}}, binding},
	} {
		t.Run(row.name, func(t *testing.T) {
			facts := validators.Facts{
				Result: value(t, `{"run_id":"r1"}`), Request: validators.Request{Arguments: value(t, mine)}, Evidence: row.evidence,
			}
			expect(t, check.Check(facts), row.reason, "/run_id")
			facts.Request.Arguments = value(t, `{}`) // no subject: nothing matches
			expect(t, check.Check(facts), binding, "/run_id")
		})
	}
}
