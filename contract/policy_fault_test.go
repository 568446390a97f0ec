package contract

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const policiesText = `# What this deployment adds.
- name: no-status-after-web
  forbid: {tools: [job_status]}
  when: 'session.sources.exists(s, s.tool == "web_read")'

- name: fresh-status
  require:
    tools: ["mcp__ci__job_status", "état du travail"]
    approval: false
    evidence:
      - tool: job_status
        versions: [1]
        max_age: 5m
        match: {/project_id: /project_id}
        when: evidence.state == "failed"
        from: [ci-connector]
        reusable: true
  when: |
    call.principal != "" &&
      true
- {name: a-person, require: {tools: [job_status], approval: true}, when: now != null}
`

// withPolicies loads the good contract beside a policies directory.
func withPolicies(t testing.TB, policies map[string]string) (*Tree, Snapshot, error) {
	t.Helper()
	m := make(fstest.MapFS, len(policies))
	for name, text := range policies {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s, err := TakeSnapshot(good(t), m)
	if err != nil {
		return nil, s, err
	}
	tree, err := s.Load()
	return tree, s, err
}

// Everything that a policy says is read as it is meant, over all files.
func TestLoadPolicies(t *testing.T) {
	tree, _, err := withPolicies(t, map[string]string{
		"deployment.yaml": policiesText, "team/more.yml": "- {name: 0.last, forbid: {tools: [job_status]}, when: \"true\"}", "empty.yaml": "[]",
		".hidden/x.md": "", ".swp": "", "..data/deployment.yaml": "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Policy{
		{
			Name: "0.last", Tools: []string{"job_status"}, Forbid: true, When: "true",
			File: "policies/team/more.yml", Line: 1, Column: 3, WhenLine: 1, WhenColumn: 56,
		},
		{
			Name: "a-person", Tools: []string{"job_status"}, Approval: true, When: "now != null",
			File: "policies/deployment.yaml", Line: 21, Column: 3, WhenLine: 21, WhenColumn: 74,
		},
		{
			Name: "fresh-status", Tools: []string{"mcp__ci__job_status", "état du travail"},
			Evidence: []Evidence{{
				Tool: "job_status", Versions: []int{1}, MaxAge: 5 * time.Minute, Match: map[string]string{"/project_id": "/project_id"},
				When: `evidence.state == "failed"`, From: []string{"ci-connector"}, Reusable: true,
			}},
			When: "call.principal != \"\" &&\n  true\n",
			File: "policies/deployment.yaml", Line: 6, Column: 3, WhenLine: 19, WhenColumn: 5,
		},
		{
			Name: "no-status-after-web", Tools: []string{"job_status"}, Forbid: true, When: `session.sources.exists(s, s.tool == "web_read")`,
			File: "policies/deployment.yaml", Line: 2, Column: 3, WhenLine: 4, WhenColumn: 10,
		},
	}
	if !reflect.DeepEqual(tree.Policies, want) {
		t.Errorf("got  %+v\nwant %+v", tree.Policies, want)
	}
}

// Every fault of every policy file is found, at its place.
func TestPolicyFaults(t *testing.T) {
	type row struct {
		line  int
		files map[string]string
		want  []string
	}
	r := func(text string, want ...string) row {
		_, _, line, _ := runtime.Caller(1)
		return row{line, map[string]string{"p.yaml": text}, want}
	}
	several := func(files map[string]string, want ...string) row {
		_, _, line, _ := runtime.Caller(1)
		return row{line, files, want}
	}
	const rule = "- {name: a, forbid: {tools: [job_status]}"
	requires := func(evidence string) string {
		return "- {name: a, require: {tools: [job_status], evidence: [" + evidence + "]}}"
	}
	for _, row := range []row{
		r(rule + "}"),
		r("[]"),
		r("", ":1:1: the file is empty"),
		r("# nothing\n", ":1:1: the file is empty"),
		r("policies: []", ":1:1: the file: expected a list, found a mapping"),
		r("- a\n- 5", ":1:3: policies[0]: expected a mapping, found a string", ":2:3: policies[1]: expected a mapping, found a number"),
		r(rule+"}\n---\n"+rule+"}", ":2:1: a second YAML document begins"),
		r("- &a {name: a}", ":1:3: an anchor is used"),

		// Names.
		r("- {forbid: {tools: [job_status]}}", ":1:3: policies[0].name is missing"),
		r("- {name: a b, forbid: {tools: [job_status]}}", `:1:10: policies[0].name: "a b" is not a policy's name: letters, digits and _.-, at most 128`),
		r("- {name: 5, forbid: {tools: [job_status]}}", ":1:10: policies[0].name: expected a string, found a number (quote it)"),
		r(rule+"}\n"+rule+"}", `:2:10: policies[1].name: a policy "a" stands in policies/p.yaml:1 too (name one of them otherwise)`),
		several(map[string]string{"b/1.yaml": rule + "}", "a.yaml": "\n" + rule + "}", "c.yml": rule + "}"},
			`b/1.yaml:1:10: policies[0].name: a policy "a" stands in policies/a.yaml:2 too`, `c.yml:1:10: policies[0].name: a policy "a" stands in policies/a.yaml:2 too`),

		// Keys.
		r(rule+", whne: a}", `:1:44: unknown key "whne" (known here: name, forbid, require, when)`),
		r(rule+", name: b}", `:1:44: "name" is given twice`),
		r("- {name: a, forbid: {tools: [job_status], approval: true}}", `:1:43: unknown key "approval" (known here: tools)`),
		r("- {name: a, require: {tools: [job_status], evidences: [], approval: true}}", `:1:44: unknown key "evidences" (known here: tools, approval, evidence)`),
		r("- {name: a}", ":1:3: policies[0] has neither forbid nor require (write forbid: {tools: […]}, or require:"),
		r(rule+", require: {tools: [job_status], approval: true}}", ":1:3: policies[0] has forbid and require; a policy has one of them (write two policies)"),
		r("- {name: a, forbid: [job_status]}", ":1:21: policies[0].forbid: expected a mapping, found a list"),
		r("- {name: a, require: {tools: [job_status]}}", ":1:22: policies[0].require requires nothing (add approval: true, or evidence)"),
		r("- {name: a, require: {tools: [job_status], approval: false, evidence: []}}", ":1:22: policies[0].require requires nothing"),
		r("- {name: a, require: {tools: [job_status], approval: 'true'}}", ":1:54: policies[0].require.approval: expected true or false, found a string"),
		r(rule+", when: ''}", ":1:50: policies[0].when is empty"),
		r(rule+", when: true}", ":1:50: policies[0].when: expected a string, found true or false (quote it)"),
		r(rule+", when: "+long(4097)+"}", ":1:50: policies[0].when is longer than 4096 bytes"),

		// Tools.
		r("- {name: a, forbid: {}}", ":1:21: policies[0].forbid.tools is missing"),
		r("- {name: a, forbid: {tools: []}}", ":1:29: policies[0].forbid.tools is empty; expected at least 1"),
		r("- {name: a, require: {approval: true}}", ":1:22: policies[0].require.tools is missing"),
		r("- {name: a, forbid: {tools: [job_status, job_status]}}", ":1:42: policies[0].forbid.tools[1] is given twice"),
		r("- {name: a, forbid: {tools: [5, job_state]}}", ":1:30: policies[0].forbid.tools[0]: expected a string, found a number", `:1:33: no contract has the tool "job_state"`),
		r("- {name: a, forbid: {tools: [Job_status, job_status, \"job_status \"]}}",
			`:1:30: no contract has the tool "Job_status" (write a contract's tool or one of its aliases, byte for byte)`, `:1:54: no contract has the tool "job_status "`),
		r("- {name: a, forbid: {tools: ["+strings.Repeat("x", 257)+"]}}", ":1:30: policies[0].forbid.tools[0]: a name has 1 to 256 bytes"),

		// Evidence.
		r(requires("{tool: job_status, match: {/run_id: /run_id}}")),
		r(requires("{tool: job_status, match: {}}"), ":1:81: policies[0].require.evidence[0].match: nothing binds the evidence to the call (say which member"),
		r(requires("{tool: job_status}"), ":1:55: policies[0].require.evidence[0].match is missing"),
		r(requires("{tool: job_state, match: {/a: /a}}"), `:1:62: evidence of "job_state", for which there is no contract`),
		r(requires("{tool: mcp__ci__job_status, match: {/a: /a}}"), `:1:62: evidence of "mcp__ci__job_status", for which there is no contract`),
		r(requires("{tool: job_status, match: {/a: /a}}, {tool: job_status, versions: [2], match: {/a: /a}}"),
			`:1:122: evidence of "job_status" version 2, for which there is no contract`),
		r(requires("{tool: job_status, match: {a: /a}, max_age: 5}"), `:1:82: policies[0].require.evidence[0].match[a]: "a" is not a JSON Pointer`,
			":1:99: policies[0].require.evidence[0].max_age: expected a duration, found a number"),

		// Files.
		several(map[string]string{"README.md": "", "a.json": "[]", "b": "", "c.yaml": rule + "}"},
			"README.md: nothing reads this file (policies stand in .yaml files; take it away)", "a.json: nothing reads", "b: nothing reads"),
		several(map[string]string{"p.yaml": rule + ", x: 1}", "q.yaml": "- {name: b}"}, `p.yaml:1:44: unknown key "x"`, "q.yaml:1:3: policies[0] has neither"),
	} {
		t.Run(fmt.Sprintf("line%d", row.line), func(t *testing.T) {
			tree, _, err := withPolicies(t, row.files)
			if len(row.want) == 0 {
				if err != nil || len(tree.Policies) == 0 && row.files["p.yaml"] != "[]" {
					t.Errorf("line %d: %v", row.line, err)
				}
				return
			}
			var faults Faults
			if !errors.As(err, &faults) || len(faults) != len(row.want) {
				t.Fatalf("line %d: %d faults, want %d:\n%v", row.line, len(faults), len(row.want), err)
			}
			for i, w := range row.want {
				if strings.HasPrefix(w, ":") {
					w = "p.yaml" + w
				}
				place, fragment, _ := strings.Cut("policies/"+w, ": ")
				if got := faults[i].String(); !strings.HasPrefix(got, place+": ") || !strings.Contains(got, fragment) {
					t.Errorf("line %d:\ngot  %s\nwant %s: …%s…", row.line, got, place, fragment)
				}
			}
		})
	}
}

// Which tools there are is not known while a contract cannot be read; what follows from
// that is not reported.
func TestPolicyBesideFaultyContract(t *testing.T) {
	m := good(t)
	both(called(), file(yamlOf, "[]"))(t, m)
	s, err := TakeSnapshot(m, fstest.MapFS{"p.yaml": {Data: []byte("- {name: a, forbid: {tools: [job_status]}}\n- {name: b}")}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "job_status/v1/contract.yaml:1:1: the file: expected a mapping, found a list\npolicies/p.yaml:2:3: policies[1] has neither"
	if _, err := s.Load(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v", err)
	}
	if tree := s.Sound(); len(tree.Contracts)+len(tree.Policies) != 0 {
		t.Errorf("%+v", tree)
	}
}

// What a policy asks of the contract that its evidence comes from is what a contract
// asks.
func TestPolicyEvidence(t *testing.T) {
	m := good(t)
	both(noTime(), y("receipt: {ttl: 10m, facts: true, signed: false}\n", ""), drop(jobFolder+"cases/stale-observation.yaml", jobFolder+"cases/future-observation.yaml"))(t, m)
	s, err := TakeSnapshot(m, fstest.MapFS{"p.yaml": {Data: []byte("- {name: a, require: {tools: [job_status], evidence: [{tool: job_status, max_age: 5m, match: {/a: /a}}]}}")}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `policies/p.yaml:1:62: evidence of "job_status" version 1, whose contract issues no receipts (add receipt to that contract)
policies/p.yaml:1:83: max_age for evidence of "job_status" version 1, whose contract has no fresh check (add a fresh check to that contract)`
	if _, err := s.Load(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// Where the text of a condition begins, however it is written.
func TestWhenPlace(t *testing.T) {
	for _, row := range []struct {
		name, text   string
		line, column int
	}{
		{"plain", "  when: a == b\n", 3, 9},
		{"plain on the next line", "  when:\n    a == b\n", 4, 5},
		{"quoted", "  when: 'a == b'\n", 3, 10},
		{"double quotes", "  when:   \"a == b\"\n", 3, 12},
		{"block", "  when: |\n    a == b\n", 4, 5},
		{"folded block", "  when: >-\n        a ==\n        b\n", 4, 9},
		{"block with an indicator", "  when: |1\n     a == b\n", 4, 4},
		{"block that begins with an empty line", "  when: |\n\n    a == b\n", 4, 5},
		{"block with both", "  when: |1\n\n     a == b\n", 4, 4},
		{"behind letters of two bytes", "  'when': 'é'\n", 3, 12},
		{"block at the end of the file", "  when: |\n    a", 4, 5},
	} {
		f := readPolicies("f", []byte("- name: a\n  forbid: {tools: [x]}\n"+row.text))
		if len(f.faults) > 0 || len(f.rules) != 1 {
			t.Errorf("%s: %v", row.name, f.faults)
			continue
		}
		if p := f.rules[0]; p.WhenLine != row.line || p.WhenColumn != row.column {
			t.Errorf("%s: %d:%d, want %d:%d (%q)", row.name, p.WhenLine, p.WhenColumn, row.line, row.column, p.When)
		}
	}
}

// Sound says what could be compiled without faults that follow from others.
func TestSoundPolicies(t *testing.T) {
	m := good(t)
	both(copied("other", "job_state", 1), in("other/v1/contract.yaml", "kind: json", "kind: jsn"))(t, m)
	s, err := TakeSnapshot(m, fstest.MapFS{
		"good.yaml": {Data: []byte("- {name: a, forbid: {tools: [job_status]}}\n- {name: b, forbid: {tools: [job_status, job_state]}}\n" +
			"- {name: c, require: {tools: [job_status], evidence: [{tool: job_state, match: {/a: /a}}]}}\n")},
		"faulty.yaml": {Data: []byte("- {name: d, forbid: {tools: [job_status]}}\n- {name: e}")},
		// A file whose path is that of the sound contract with "policies" before it.
		"job_status/v1/contract.yaml": {Data: []byte("- {name: f}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	tree := s.Sound()
	if len(tree.Contracts) != 1 || tree.Contracts[0].Tool != "job_status" || len(tree.Policies) != 1 || tree.Policies[0].Name != "a" {
		t.Errorf("%d contracts, %+v", len(tree.Contracts), tree.Policies)
	}
	// What no engine reads may be at fault.
	for _, what := range []change{y("owner: build", "ownr: build"), drop(caseOf), k("why: A", "because: A")} {
		m = good(t)
		what(t, m)
		if s, err = TakeSnapshot(m, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(); err == nil || len(s.Sound().Contracts) != 1 {
			t.Errorf("%v, and %d contracts can be compiled", err, len(s.Sound().Contracts))
		}
	}
	// A contracts folder that is named as the policies are in faults.
	m = good(t)
	copied("policies", "job_state", 1)(t, m)
	if s, err = TakeSnapshot(m, fstest.MapFS{"v1/p.yaml": {Data: []byte("5")}}); err != nil {
		t.Fatal(err)
	}
	if tree := s.Sound(); len(tree.Contracts) != 2 {
		t.Errorf("%d contracts are sound beside a faulty policy", len(tree.Contracts))
	}
}

// FuzzPolicy reads arbitrary policy files: no panic, and a rule without faults does one
// thing to somebody, at a place that exists.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(policiesText))
	f.Add([]byte(strictText))
	f.Add([]byte("- {name: a, require: {tools: [job_status], evidence: [{tool: job_status, match: {}}]}, forbid: {}}\n- {name: a}"))
	f.Add([]byte("- name: a\n  forbid: {tools: [b]}\n  when: |2\n\n     x\n"))
	f.Add([]byte("- {when: >+\n}\r- [\u2028]"))
	base, err := TakeSnapshot(good(f), nil)
	if err != nil {
		f.Fatal(err)
	}
	l := &loader{files: base.files, entries: make(map[string]entry)}
	l.layout()
	for _, v := range l.versions {
		l.read(v)
	}
	current, _ := l.serving()
	f.Fuzz(func(t *testing.T, b []byte) {
		l.faults = nil
		rules := l.readPolicies(map[string][]byte{"p.yaml": b, "q.yml": []byte(strictText)}, current)
		checkPlaces(t, l.faults, b)
		lines := bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) + bytes.Count(b, []byte("\u0085")) +
			bytes.Count(b, []byte("\u2028")) + bytes.Count(b, []byte("\u2029")) + 2
		for _, p := range rules {
			if p.Name == "" || len(p.Tools) == 0 || p.Forbid == (p.Approval || len(p.Evidence) > 0) || p.Line < 1 || p.Column < 1 {
				t.Errorf("%+v", p)
			}
			if p.File == "policies/p.yaml" && (p.Line > lines || p.WhenLine > lines) || (p.When == "") != (p.WhenLine == 0) || (p.When == "") != (p.WhenColumn == 0) {
				t.Errorf("places of %+v", p)
			}
		}
	})
}
