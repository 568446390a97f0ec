package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// copied adds a copy of job_status/v1 under another folder, tool and version.
func copied(folder, tool string, version int) change {
	return func(t testing.TB, m fstest.MapFS) {
		t.Helper()
		dir := fmt.Sprintf("%s/v%d/", folder, version)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if rest, ok := strings.CutPrefix(name, jobFolder); ok {
				m[dir+rest] = &fstest.MapFile{Data: slices.Clone(m[name].Data)}
			}
		}
		if tool != "job_status" {
			edit(t, m, dir+mainFile, "aliases: [\"mcp__ci__job_status\", \"état du travail\"]\n", "")
			edit(t, m, dir+mainFile, "tool: job_status", "tool: "+tool)
		}
		if version != 1 {
			edit(t, m, dir+mainFile, "version: 1", fmt.Sprintf("version: %d", version))
		}
	}
}

const (
	restartYAML  = "job_restart/v1/contract.yaml"
	restartCases = "job_restart/v1/cases"
)

// restart adds a side effect that requires evidence of job_status.
func restart(requires string) change {
	return both(copied("job_restart", "job_restart", 1),
		in(restartYAML, "effect: read_only", "effect: side_effect"),
		in(restartYAML, "retry: {max_attempts: 3, budget: 30s, delay: 500ms, on: [UPSTREAM_UNAVAILABLE]}\n", ""),
		in(restartYAML, "requires: []", "requires:\n    - "+requires))
}

const freshCheck = "    - {use: fresh, with: {field: /observed_at, max_age: 5m, max_skew: 30s}}\n"

// noTime takes everything that looks at time out of job_status.
func noTime() change { return y(freshCheck, "") }

// enveloped turns job_status into an envelope with the cases that it needs then.
func enveloped() change {
	want := func(file, at string) change {
		return in(jobFolder+"cases/"+file, "at: "+at, "at: /data"+at)
	}
	return both(y("framing: payload", "framing: envelope"),
		want("other-project.yaml", "/project_id"), want("other-run.yaml", "/run_id"),
		file(jobFolder+"cases/success-with-error-both.yaml", caseText("SCHEMA")),
		file(jobFolder+"cases/other-request-id.yaml", caseText("BINDING")))
}

func caseText(reason string) string {
	return "why: x\nnow: 2026-01-15T12:00:00Z\nraw: x\nwant: {failure: INVALID_RESPONSE, reason: " + reason + "}\n"
}

// The rules that need more than one key, file or contract.
func TestTreeFaults(t *testing.T) {
	const serving = "serving.yaml"
	cases := jobFolder + "cases"
	runRows(t, []row{
		// The layout.
		r(drop(yamlOf), yamlOf+": the file is missing (create it, or remove the folder)"),
		r(file("contract.yaml", "x"), "contract.yaml: nothing reads this file (contracts stand in <folder>/v<N>/contract.yaml)"),
		r(file("job_status/contract.yaml", "x"), "job_status/contract.yaml: nothing reads this file"),
		r(both(file("job_status/V2/contract.yaml", "x"), file("job_status/V2/cases/a.yaml", "x")), "job_status/V2: not a version folder"),
		r(file("job_status/v01/contract.yaml", "x"), "job_status/v01: not a version folder"),
		r(file("job_status/v1/contract.yml", "x"), "job_status/v1/contract.yml: nothing reads this file"),
		r(file("job_status/v1/old.schema.json", "{}"), "job_status/v1/old.schema.json: nothing reads this file"),
		r(file("job_status/v1/cases/more.yml", "x"), cases+"/more.yml: nothing reads this file (rename it to .yaml)"),
		r(file("job_status/v1/cases/more/a.yaml", "x"), cases+"/more/a.yaml: nothing reads this file"),
		r(both(file("README.md", "x"), file("LICENSE", "x"), file("job_status/notes.txt", "x"), file("docs/a/b.md", "x"), file(".x.yaml", "x"), file("..data/a.yaml", "x"))),
		r(func(_ testing.TB, m fstest.MapFS) { clear(m) }, ".: the directory holds no contract"),
		r(func(_ testing.TB, m fstest.MapFS) { clear(m); m["serving.yaml"] = &fstest.MapFile{Data: []byte("{}")} }, ".: the directory holds no contract"),

		r(both(y("  agent_fields:", "    - {use: own, with: {keys: keys/ci.json}}\n  agent_fields:"), file("job_status/v1/keys/ci.json", "{}"))),

		// Folders, tools and names.
		r(copied("job_status", "job_status", 2)),
		r(copied("job_status", "job_state", 2), "job_status/v2/contract.yaml:1:7: the folder holds two tools: job_status/v1 says \"job_status\""),
		r(both(copied("other", "job_state", 1), in("other/v1/contract.yaml", "tool: job_state", "tool: job_status")),
			"other/v1/contract.yaml:1:7: tool \"job_status\" is declared in the folder \"job_status\" too"),
		r(both(copied("other", "job_state", 1), in("other/v1/contract.yaml", "version: 1", "aliases: [job_status]\nversion: 1")),
			`other/v1/contract.yaml:2:11: the alias "job_status" is a name of the tool "job_status" already`),
		r(both(copied("other", "job_state", 1), in("other/v1/contract.yaml", "version: 1", "aliases: [a, mcp__ci__job_status]\nversion: 1")),
			`other/v1/contract.yaml:2:14: the alias "mcp__ci__job_status" is a name of the tool "job_status" already`),

		// serving.yaml.
		r(both(copied("job_status", "job_status", 2), file(serving, "job_status: {current: 1, drain: [2]}"))),
		r(file(serving, "[]"), "serving.yaml:1:1: the file: expected a mapping, found a list"),
		r(file(serving, "job_state: {current: 1}"), `serving.yaml:1:1: there is no contract for the tool "job_state"`),
		r(file(serving, "job_status: {current: 2}"), `serving.yaml:1:23: job_status.current: there is no version 2 of "job_status"`),
		r(file(serving, "job_status: {current: 1, drain: [1]}"), "serving.yaml:1:13: job_status: version 1 is current and drained"),
		r(file(serving, "job_status: {drain: []}"), "serving.yaml:1:13: job_status.current is missing"),
		r(file(serving, "job_status: {current: 1, next: 2}"), `serving.yaml:1:26: unknown key "next"`),
		r(file(serving, "job_status: 1"), "serving.yaml:1:13: job_status: expected a mapping, found a number"),
		r(file(serving, "job_status: {current: 1}\njob_status: {current: 1}"), `serving.yaml:2:1: "job_status" is given twice`),

		// Effects, retries and evidence.
		r(restart("{tool: job_status, max_age: 5m, match: {/run_id: /run_id}, when: evidence.state == \"failed\"}")),
		r(both(restart("{tool: job_status, match: {}}"), in(restartYAML, "receipt:", "retry: {max_attempts: 3, budget: 30s, on: [TOOL_FAILED]}\nreceipt:")),
			restartYAML+":32:8: retry on a side effect that is not idempotent"),
		r(both(restart("{tool: job_status, match: {}}"), in(restartYAML, "receipt:", "retry: {max_attempts: 3, budget: 30s, on: [TOOL_FAILED]}\nreceipt:"), in(restartYAML, "idempotent: false", "idempotent: true"))),
		r(both(copied("job_restart", "job_restart", 1), in(restartYAML, "effect: read_only", "effect: side_effect\nidempotent: true"), in(restartYAML, "idempotent: false\n", ""), cutArguments(restartYAML)),
			restartYAML+":5:9: a side effect has no arguments.schema"),
		r(restart("{tool: job_stat, match: {}}"), restartYAML+`:43:14: evidence of "job_stat", for which there is no contract`),
		r(restart("{tool: job_status, versions: [1, 3], match: {}}"), restartYAML+`:43:40: evidence of "job_status" version 3, for which there is no contract`),
		r(both(restart("{tool: job_status, max_age: 5m, match: {}}"), in(yamlOf, freshCheck, ""), drop(cases+"/stale-observation.yaml", cases+"/future-observation.yaml")),
			restartYAML+`:43:35: max_age for evidence of "job_status" version 1, whose contract has no fresh check`),
		r(both(restart("{tool: job_status, max_age: 5m, versions: [1], match: {}}"), copied("job_status", "job_status", 2), in(yamlOf, freshCheck, "")),
			restartYAML+`:43:35: max_age for evidence of "job_status" version 1, whose contract has no fresh check`),
		r(both(restart("{tool: job_status, max_age: 5m, match: {}}"), copied("job_status", "job_status", 2), in(yamlOf, freshCheck, ""))),
		r(both(restart("{tool: job_status, max_age: 5m, match: {}}"), copied("job_status", "job_status", 2), in(yamlOf, freshCheck, ""), file(serving, "job_status: {current: 1}")),
			restartYAML+`:43:35: max_age for evidence of "job_status" version 1`),
		r(both(restart("{tool: job_status, match: {}}"), y("receipt: {ttl: 10m, facts: true, signed: false}\n", "")),
			restartYAML+`:43:14: evidence of "job_status" version 1, whose contract issues no receipts`),
		r(both(y("egress: none", "egress: granted"), y("  scopes:\n    - {name: project, type: string, at: [/project_id]}\n", "")),
			":7:9: egress: granted without any scope"),

		// Trust and binding.
		r(both(y("trust: untrusted", "trust: trusted"), y("trusted_sources: []", "trusted_sources: [https://ci.example.test/]"), y("trusted_callers: []", "trusted_callers: [ci-adapter]"))),
		r(both(y("trust: untrusted", "trust: trusted"), y("trusted_sources: []", "trusted_sources: 5"), y("trusted_callers: []", "trusted_callers: [ci-adapter]")),
			":10:18: trusted_sources: expected a list, found a number"),
		r(noEquals(), ":14:1: nothing binds a result to its request: there is no equals check (add an equals check, or say why"),
		r(both(noEquals(), y("  agent_fields:", "  unbound: There is only one.\n  agent_fields:"))),
		r(enveloped()),
		r(both(enveloped(), noEquals())),
		r(both(enveloped(), noEquals(), y("  agent_fields:", "  unbound: There is only one.\n  agent_fields:"))),

		// Obligatory cases (A22).
		r(drop(caseOf), cases+": there is no case accepted-*.yaml with want.data (create job_status/v1/cases/accepted-….yaml with it)"),
		r(drop(cases+"/extra-property-owner.yaml"), cases+": there is no case extra-property-*.yaml with want.reason: SCHEMA"),
		r(drop(cases+"/null-for-object-root.yaml"), cases+": no case null-for-object-*.yaml with want.reason: SCHEMA"),
		r(drop(cases+"/empty-id-run.yaml"), cases+": no case empty-id-*.yaml with want.reason: SCHEMA or BINDING"),
		r(drop(cases+"/duplicate-member-state.yaml"), cases+": no case duplicate-member-*.yaml with want.reason: DUPLICATE_NAME"),
		r(drop(cases+"/array-for-object-root.yaml"), cases+": no case array-for-object-*.yaml with want.reason: SCHEMA"),
		r(drop(cases+"/too-long-trace.yaml"), cases+": no case too-long-*.yaml with want.reason: SCHEMA or STRING_LIMIT or BYTE_LIMIT"),
		r(drop(cases+"/stale-observation.yaml"), cases+": no case stale-*.yaml with want.reason: FRESHNESS"),
		r(drop(cases+"/future-observation.yaml"), cases+": no case future-*.yaml with want.reason: FRESHNESS"),
		r(drop(cases+"/upstream-down-503.yaml"), cases+": no case upstream-down-*.yaml with want.failure: UPSTREAM_UNAVAILABLE"),
		r(drop(cases+"/other-project.yaml"), cases+`: no case other-*.yaml with want.reason: BINDING and want.at: "/project_id"`),
		r(drop(cases+"/other-run.yaml", caseOf), cases+": no case accepted-", cases+`: no case other-*.yaml with want.reason: BINDING and want.at: "/run_id"`),
		r(in(cases+"/other-run.yaml", "at: /run_id", "at: /project_id"), cases+`: no case other-*.yaml with want.reason: BINDING and want.at: "/run_id"`),
		r(y("name: same-run}", "name: same-run}\n    - {use: equals, with: {result: /run_id, argument: /project_id}}"),
			cases+`: no case other-*.yaml with want.reason: BINDING and want.at: "/run_id" (1 of 2)`),
		r(both(enveloped(), drop(cases+"/success-with-error-both.yaml")), cases+": no case success-with-error-*.yaml with want.reason: SCHEMA"),
		r(both(enveloped(), drop(cases+"/other-request-id.yaml")), cases+": no case other-request-*.yaml with want.reason: BINDING"),
		// What shows that another id is refused shows nothing about the values.
		r(both(enveloped(), drop(cases+"/other-run.yaml"), in(cases+"/other-request-id.yaml", "reason: BINDING", "reason: BINDING, at: /data/run_id")),
			cases+`: no case other-*.yaml with want.reason: BINDING and want.at: "/data/run_id"`),
		r(in(cases+"/too-long-trace.yaml", "reason: SCHEMA", "reason: ITEM_LIMIT"),
			cases+"/too-long-trace.yaml:7:7: the case does not show what too-long- promises; expected want.reason: SCHEMA or STRING_LIMIT or BYTE_LIMIT"),
		r(in(cases+"/stale-observation.yaml", "reason: FRESHNESS", "reason: BINDING"), cases+"/stale-observation.yaml:7:7: does not show what stale- promises"),
		r(both(in(cases+"/stale-observation.yaml", "reason: FRESHNESS", "reason: BINDING"), file(cases+"/stale-too.yaml", caseText("FRESHNESS")))),
		r(in(cases+"/upstream-down-503.yaml", "reason: UPSTREAM_STATUS", "reason: TOOL_REPORTED"), cases+"/upstream-down-503.yaml:5:7: does not show what upstream-down- promises"),
		r(in(cases+"/upstream-down-503.yaml", "layer: TRANSPORT, reason: UPSTREAM_STATUS", "layer: TRANSPORT")),
		r(in(cases+"/upstream-down-503.yaml", "UPSTREAM_UNAVAILABLE", "OUTCOME_UNKNOWN"), cases+"/upstream-down-503.yaml:5:7: does not show what upstream-down- promises; expected want.failure: UPSTREAM_UNAVAILABLE, for"),
		// A side effect that failed on the way may have been done.
		r(both(restart("{tool: job_status, match: {}}"), in(restartCases+"/upstream-down-503.yaml", "UPSTREAM_UNAVAILABLE", "OUTCOME_UNKNOWN"))),
		r(both(restart("{tool: job_status, match: {}}"), in(restartYAML, "idempotent: false", "idempotent: true"), in(restartCases+"/upstream-down-503.yaml", "UPSTREAM_UNAVAILABLE", "OUTCOME_UNKNOWN")),
			restartCases+"/upstream-down-503.yaml:5:7: does not show what upstream-down- promises"),
		r(both(noTime(), drop(cases+"/stale-observation.yaml", cases+"/future-observation.yaml"))),
	})
}

// noEquals takes the equals checks out of job_status.
func noEquals() change {
	return both(y("    - {use: equals, with: {result: /project_id, argument: /project_id}}\n", ""),
		y("    - {use: equals, with: {result: /run_id, argument: /run_id}, name: same-run}\n", ""),
		in(jobFolder+"cases/other-run.yaml", ", check: same-run", ""))
}

// cutArguments removes the last section of a contract.
func cutArguments(name string) change {
	return func(_ testing.TB, m fstest.MapFS) {
		text, _, _ := strings.Cut(string(m[name].Data), "arguments:\n")
		m[name].Data = []byte(text)
		delete(m, strings.TrimSuffix(name, mainFile)+"arguments.schema.json")
	}
}

// What is served, with and without serving.yaml.
func TestServing(t *testing.T) {
	three := both(copied("job_status", "job_status", 2), copied("job_status", "job_status", 10))
	for _, row := range []struct {
		name, serving string
		current       int
		drain         []int
	}{
		{"no file: the highest is current, all others drain", "", 10, []int{1, 2}},
		{"no entry: the same", "{}", 10, []int{1, 2}},
		{"an entry without drain: nothing else is live", "job_status: {current: 2}", 2, nil},
		{"an entry with drain, sorted", "job_status: {current: 2, drain: [10, 1]}", 2, []int{1, 10}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := good(t)
			three(t, m)
			if row.serving != "" {
				m["serving.yaml"] = &fstest.MapFile{Data: []byte(row.serving)}
			}
			tree := mustLoad(t, m)
			if tree.Current["job_status"] != row.current || !slices.Equal(tree.Drain["job_status"], row.drain) {
				t.Errorf("current %v, drain %v", tree.Current, tree.Drain)
			}
			var versions []int
			for _, c := range tree.Contracts {
				versions = append(versions, c.Version)
			}
			if !slices.Equal(versions, []int{1, 2, 10}) {
				t.Errorf("order %v", versions)
			}
		})
	}
}
