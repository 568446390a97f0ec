package contract

import (
	"errors"
	"strings"
	"testing"
)

// A8, A22: what a scaffold leaves open is refused until a person has answered.
func TestOpenQuestions(t *testing.T) {
	for _, c := range []struct {
		line   string
		change change
		want   string // of the first fault; "" where there is none
	}{
		{"a question at the root of a schema", in("job_status/v1/result.schema.json", "\"type\": \"object\",\n  \"properties\"", `"type": "object", "x-question": "open?", "properties"`), `#/x-question: an open question: "open?"`},
		{"a question beside a member", in("job_status/v1/result.schema.json", `"format": "date-time"`, `"format": "date-time", "x-question": "how old?"`), `an open question: "how old?"`},
		{"a question that is no text", in("job_status/v1/result.schema.json", `"format": "date-time"`, `"format": "date-time", "x-question": 1`), "an open question"},
		{"in the arguments' schema", in("job_status/v1/arguments.schema.json", "\"type\": \"object\",\n  \"properties\"", `"type": "object", "x-question": "which?", "properties"`), `an open question: "which?"`},
		{"another annotation", in("job_status/v1/result.schema.json", `"format": "date-time"`, `"format": "date-time", "x-questions": "how old?"`), ""},
		{"a value of contract.yaml", in("job_status/v1/contract.yaml", "owner: build-platform", `owner: "QUESTION: who?"`), `job_status/v1/contract.yaml:4:8: an open question: "QUESTION: who?"`},
		{"a comment", in("job_status/v1/contract.yaml", "owner: build-platform", "# QUESTION 1: who?\nowner: build-platform"), `an open question: "QUESTION 1: who?"`},
		{"an indented comment", in("job_status/v1/contract.yaml", "  kind: json", "    #QUESTION: which?\n  kind: json"), `an open question: "QUESTION: which?"`},
		{"a comment that only mentions one", in("job_status/v1/contract.yaml", "owner: build-platform", "# The QUESTION was who.\nowner: build-platform"), ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			m := good(t)
			c.change(t, m)
			_, err := Load(m)
			var faults Faults
			switch errors.As(err, &faults); {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (len(faults) == 0 || !strings.Contains(faults[0].String(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestMachinePattern(t *testing.T) {
	for _, c := range []struct {
		line, expr string
		want       bool
	}{
		{"an id", `^CR-[0-9]{1,10}$`, true},
		{"not anchored", `[0-9]{1,10}`, false},
		{"endless", `^[0-9]+$`, false},
		{"with spaces", `^[a-z ]{1,9}$`, false},
		{"no RE2", `^(?!x)$`, false},
		{"nothing", "", false},
	} {
		if got := MachinePattern(c.expr); got != c.want {
			t.Errorf("%s: %v", c.line, got)
		}
	}
}
