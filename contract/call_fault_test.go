package contract

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const callOf = jobFolder + "cases/call-other-project.yaml"

// callText is a case that says everything that one about a call can say.
const callText = `why: A project that no grant names.
now: "2026-01-15T12:00:00Z"
call: {raw: '{"project_id":"SECRET","run_id":"run_A1b2C3d4E5f6"}', principal: ada@example.test, session_id: s1, request_id: req.A1b2C3d4}
grants:
  - {scopes: [{name: project, values: [bluebird, 0..100, 010, 12345678901234567890.50, ""]}], not_after: 2026-01-15T13:00:00Z, max_uses: 4294967295}
  - {id: g-2, tool: mcp__ci__job_status, issuer: tasks.example.test, scopes: [{name: project, any: true}], unlimited_uses: true}
policies: policies/strict.yaml
sources: [{tool: web_read, trust: untrusted}]
approval: approve
evidence: [{tool: list_runs, version: 1, data: {}}]
want:
  decision: DENY
  reasons: [OUT_OF_SCOPE, FORBIDDEN]
  failure: NOT_AUTHORIZED
  at: /project_id
  keyword: maxLength
  arguments_json: '{}'
  obligations: [no-redirects]
`

const strictText = `- name: no-calls
  forbid: {tools: [job_status]}
- {name: a-person, require: {tools: [mcp__ci__job_status], approval: true}}
`

// called adds a case about a call, and the policies that it names.
func called() change {
	return both(file(callOf, callText), file(jobFolder+"policies/strict.yaml", strictText))
}

// c edits the case about a call.
func c(old, replacement string) change { return both(called(), in(callOf, old, replacement)) }

// Values of a scope may be written as the API's message.
func TestLoadCallValues(t *testing.T) {
	grants := func(edit change) []CaseGrant {
		m := good(t)
		edit(t, m)
		for _, k := range mustLoad(t, m).Contracts[0].Cases {
			if k.Call != nil {
				return k.Grants
			}
		}
		return nil
	}
	list, message := grants(called()), grants(c(`values: [bluebird, 0..100, 010, 12345678901234567890.50, ""]`, `values: {values: [bluebird, 0..100, 010, 12345678901234567890.50, ""]}`))
	if !reflect.DeepEqual(list, message) {
		t.Errorf("%+v, and as a message %+v", list, message)
	}
	if none := grants(c(`values: [bluebird, 0..100, 010, 12345678901234567890.50, ""]`, "values: {}")); none[0].Scopes[0].Values == nil {
		t.Error("a message without values says nothing")
	}
}

// Everything that a case about a call says is read as it is meant.
func TestLoadCall(t *testing.T) {
	m := good(t)
	called()(t, m)
	var got Case
	for _, k := range mustLoad(t, m).Contracts[0].Cases {
		if k.Call != nil {
			got = k
		}
	}
	arguments, at := "{}", "/project_id"
	want := Case{
		File: "cases/call-other-project.yaml", Why: "A project that no grant names.",
		Now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC),
		Call: &CaseCall{
			Raw:       []byte(`{"project_id":"SECRET","run_id":"run_A1b2C3d4E5f6"}`),
			Principal: "ada@example.test", SessionID: "s1", RequestID: "req.A1b2C3d4",
		},
		Grants: []CaseGrant{
			{
				ID: "grant-1", Tool: "job_status", NotAfter: time.Date(2026, 1, 15, 13, 0, 0, 0, time.UTC), MaxUses: 4294967295,
				Scopes: []CaseScope{{Name: "project", Values: []string{"bluebird", "0..100", "010", "12345678901234567890.50", ""}}},
			},
			{
				ID: "g-2", Tool: "mcp__ci__job_status", Issuer: "tasks.example.test", Unlimited: true,
				Scopes: []CaseScope{{Name: "project", Any: true}},
			},
		},
		Policies: []Policy{
			{Name: "a-person", Tools: []string{"mcp__ci__job_status"}, Approval: true, File: jobFolder + "policies/strict.yaml", Line: 3, Column: 3},
			{Name: "no-calls", Tools: []string{"job_status"}, Forbid: true, File: jobFolder + "policies/strict.yaml", Line: 1, Column: 3},
		},
		Sources: []CaseSource{{"web_read", "untrusted"}}, Approval: "approve",
		Want: Want{
			Decision: "DENY", Reasons: []string{"OUT_OF_SCOPE", "FORBIDDEN"}, Failure: NotAuthorized, At: &at,
			Keyword: "maxLength", ArgumentsJSON: &arguments, Obligations: []string{"no-redirects"}, Line: 11, Column: 1,
		},
	}
	if len(got.Evidence) != 1 || got.Evidence[0].Tool != "list_runs" {
		t.Errorf("%+v", got.Evidence)
	}
	got.Evidence = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// What a case about a call leaves out.
func TestLoadSmallCall(t *testing.T) {
	m := good(t)
	file(callOf, "why: x\nnow: 2026-01-15T12:00:00Z\ncall: {raw_base64: /wA=}\ngrants: [{scopes: [{name: a, values: []}], max_uses: 1}]\nwant: {decision: ALLOW, reasons: []}\n")(t, m)
	for _, k := range mustLoad(t, m).Contracts[0].Cases {
		if k.Call == nil {
			continue
		}
		w := k.Want
		if string(k.Call.Raw) != "\xff\x00" || k.Raw != nil || k.Policies != nil || k.Grants[0].Scopes[0].Values == nil || k.Sources != nil ||
			w.Reasons == nil || len(w.Reasons) > 0 || w.Obligations != nil || w.ArgumentsJSON != nil || w.Failure != "" {
			t.Errorf("%+v", k)
		}
		return
	}
	t.Error("no case about a call")
}

// The ids of a call may stand in request, as those of every other case.
func TestLoadCallNamedInRequest(t *testing.T) {
	m := good(t)
	c(", session_id: s1, request_id: req.A1b2C3d4}", "}\nrequest: {session_id: s1, request_id: req.A1b2C3d4}")(t, m)
	for _, k := range mustLoad(t, m).Contracts[0].Cases {
		if k.Call == nil {
			continue
		}
		if k.Call.SessionID != "s1" || k.Call.RequestID != "req.A1b2C3d4" || k.Request != (CaseRequest{}) {
			t.Errorf("call %+v, request %+v", k.Call, k.Request)
		}
		return
	}
	t.Error("no case about a call")
}

// Every fault of a case about a call is found, at its place (A22, C7).
func TestCallFaults(t *testing.T) {
	const (
		raw  = `raw: '{"project_id":"SECRET","run_id":"run_A1b2C3d4E5f6"}', `
		rule = jobFolder + "policies/strict.yaml"
		f    = callOf
	)
	runRows(t, []row{
		r(called()),

		// What goes with a call, and what does not.
		r(c("approval: approve", "approval: approve\nrequest: {session_id: s1, arguments: {}}\nupstream: {http_status: 200}"),
			f+":10:23: session_id stands in call and in request (keep one of them)", // the call's own counts
			f+`:10:27: unknown key "arguments" (known here: request_id, session_id)`,
			f+":11:11: upstream belongs to a case about a reply; this one has call"),
		r(c("approval: approve", "approval: approve\nraw: SECRET\nraw_base64: eA==\nraw_file: README.md"),
			f+":10:6: raw belongs to a case about a reply", f+":11:13: raw_base64 belongs", f+":12:11: raw_file belongs"),
		r(c("call:", "raw: SECRET\ncall:"), f+":3:6: raw belongs to a case about a reply"),
		r(k("want:", "grants: []\nsources: []\napproval: reject\nwant:"),
			"+:7:9: grants belongs to a case about a call; this one has no call (add call, or remove it)",
			"+:8:10: sources belongs to a case about a call", "+:9:11: approval belongs to a case about a call"),
		r(both(called(), k("want:", "policies: policies/strict.yaml\nwant:")), "+:7:11: policies belongs to a case about a call"),
		r(k("want:\n", "want:\n  decision: DENY\n  reasons: [FORBIDDEN]\n  keyword: type\n  arguments_json: '{}'\n  obligations: []\n"),
			"+:8:13: want.decision belongs to a case about a call; this one has no call", "+:9:12: want.reasons belongs", "+:10:12: want.keyword belongs",
			"+:11:19: want.arguments_json belongs", "+:12:16: want.obligations belongs"),
		r(c("  at: /project_id\n", "  data: {}\n  text: a\n  retryable: false\n  layer: SCHEMA\n  reason: SCHEMA\n  check: c\n  display_text: ''\n  truncated: false\n"),
			f+":15:9: want.data belongs to a case about a reply; this one has call", f+":16:9: want.text belongs", f+":17:14: want.retryable belongs",
			f+":18:10: want.layer belongs", f+":19:11: want.reason belongs", f+":20:10: want.check belongs", f+":21:17: want.display_text belongs", f+":22:14: want.truncated belongs"),
		r(both(called(), cutArguments(yamlOf)),
			f+":3:7: a case about a call's arguments, and the contract has no arguments (declare arguments.schema in the contract, or remove the case)"),

		// The clock.
		r(c("now: \"2026-01-15T12:00:00Z\"\n", ""), f+":1:1: now is missing; grants and evidence look at time"),
		r(file(f, "why: x\ncall: {raw: ''}\nevidence: [{tool: a, version: 1, data: 1}]\nwant: {decision: DENY}"), f+":1:1: now is missing"),
		r(file(f, "why: x\ncall: {raw: ''}\ngrants: [{unlimited_uses: true}]\nwant: {decision: DENY}"), f+":1:1: now is missing"),
		r(file(f, "why: x\ncall: {raw: ''}\ngrants: []\nevidence: []\nsources: [{tool: a, trust: trusted}]\nwant: {decision: DENY}")),

		// The call.
		r(c(raw, ""), f+":3:7: call has neither raw nor raw_base64 (write raw: '{…}')"),
		r(c(raw, raw+"raw_base64: eA==, "), f+":3:7: call.raw and call.raw_base64 are given; a call has one of them"),
		r(c(raw, "raw_base64: SECRET!, "), f+":3:20: call.raw_base64 is not base64"),
		r(c(raw, "raw: {a: SECRET}, "), f+":3:13: call.raw: expected a string, found a mapping"),
		r(c(raw, "raw_file: a.bin, "), f+`:3:7: call has neither`, f+`:3:8: unknown key "raw_file" (known here: raw, raw_base64, principal, session_id, request_id)`),
		r(c("principal: ada@example.test", "principal: a b"), f+`:3:79: call.principal: "a b" is not a principal`),
		r(c("session_id: s1", "session_id: s 1"), f+`:3:109: call.session_id: "s 1" is not a session id`),
		r(c("request_id: req.A1b2C3d4", "request_id: r1"), f+`:3:125: call.request_id: "r1" is not a request id`),
		r(file(f, "why: x\ncall: 5\nwant: {decision: DENY}"), f+":2:7: call: expected a mapping, found a number"),

		// Grants.
		r(c("id: g-2", "id: g 2"), f+`:6:10: grants[1].id: "g 2" is not a grant's id`),
		r(c("tool: mcp__ci__job_status", "tool: ''"), f+":6:21: grants[1].tool: a name has 1 to 256 bytes of UTF-8"),
		r(c("issuer: tasks.example.test", "issuer: ' '"), f+":6:50: grants[1].issuer is empty"),
		r(c(", max_uses: 4294967295", ""), f+":5:5: grants[0] has neither max_uses nor unlimited_uses"),
		r(c(", max_uses: 4294967295", ", max_uses: 1, unlimited_uses: true"), f+":5:5: grants[0].max_uses and grants[0].unlimited_uses are given; a grant has one of them"),
		r(c("4294967295", "4294967296"), f+`:5:138: grants[0].max_uses: "4294967296" is not a whole number from 1 to 4294967295`),
		r(c("4294967295", "0"), f+`:5:138: grants[0].max_uses: "0" is not`),
		r(c("4294967295", "1e3"), f+`:5:138: grants[0].max_uses: "1e3" is not`),
		r(c("4294967295", "'1'"), f+":5:138: grants[0].max_uses: expected a number, found a string"),
		r(c("unlimited_uses: true", "unlimited_uses: false"), f+":6:124: grants[1].unlimited_uses can only be true (remove it)"),
		r(c("2026-01-15T13:00:00Z", "2026-01-15"), f+`:5:106: grants[0].not_after: "2026-01-15" is not an RFC 3339 date-time`),
		r(c("2026-01-15T13:00:00Z, max", "2026-01-15T13:00:00Z, max_use: 1, max"), f+`:5:128: unknown key "max_use"`),
		r(c("any: true", "any: false"), f+":6:100: grants[1].scopes[0].any can only be true"),
		r(c("any: true", "any: true, values: []"), f+":6:79: grants[1].scopes[0].any and grants[1].scopes[0].values are given; a scope has one of them"),
		r(c(", any: true", ""), f+":6:79: grants[1].scopes[0] has neither values nor any (write values: […], or any: true)"),
		r(c("{name: project, any", "{name: Project, any"), f+`:6:86: grants[1].scopes[0].name: "Project" is not a scope name`),
		r(c("{name: project, any", "{any"), f+":6:79: grants[1].scopes[0].name is missing"),
		r(c("values: [bluebird, 0..100, 010", "values: [true, {a: 1}, null"),
			f+":5:40: grants[0].scopes[0].values[0]: expected a string, found true or false (quote it)", f+":5:46: values[1]: expected a string, found a mapping",
			f+":5:54: values[2]: expected a string, found nothing"),
		r(c("values: [bluebird, 0..100, 010", "values: {values: [true], any: true}, x: [a"),
			f+":5:49: grants[0].scopes[0].values.values[0]: expected a string", f+`:5:56: unknown key "any"`, f+`:5:68: unknown key "x"`),
		r(c("[bluebird,", "["+long(2049)+","), f+":5:40: grants[0].scopes[0].values[0] is longer than 2048 bytes"),
		r(c("[bluebird,", "["+strings.Repeat("a, ", 300)), f+":5:39: grants[0].scopes[0].values has more than 256 elements"),
		r(c("scopes: [{name: project, any: true}]", "scopes: ["+strings.Repeat("{name: project, any: true}, ", 33)+"]"), f+":6:78: grants[1].scopes has more than 32 elements"),
		r(c("scopes: [{name: project, any: true}]", "scopes: ["+strings.Repeat("{name: project, any: true}, ", 32)+"]")),
		r(c("grants:\n", "grants:\n"+strings.Repeat("  - {unlimited_uses: true}\n", 63)), f+":5:3: grants has more than 64 elements"),

		// Policies, sources and approval.
		r(c("policies/strict.yaml", "policies/absent.yaml"), f+`:7:11: policies: there is no file "policies/absent.yaml" (give the path relative to the contract's folder)`, rule+": nothing reads this file"),
		r(c("policies/strict.yaml", "../v1/strict.yaml"), f+`:7:11: policies: "../v1/strict.yaml" is not a path below the contract's folder`, rule+": nothing reads this file"),
		r(c("policies/strict.yaml", "[a]"), f+":7:11: policies: expected a string, found a list", rule+": nothing reads this file"),
		r(both(called(), in(rule, "{tools: [job_status]}", "{tools: [job_state]}")), rule+`:2:20: no contract has the tool "job_state"`),
		r(both(called(), in(rule, "a-person", "no-calls")), rule+`:3:10: policies[1].name: a policy "no-calls" stands in `+rule+":1 too"),
		r(both(called(), in(rule, ", approval: true", "")), rule+":3:29: policies[1].require requires nothing"),
		// One file of two cases has its faults once.
		r(both(called(), file(jobFolder+"cases/call-too.yaml", callText), in(rule, "[job_status]", "[job_state]")), rule+`:2:20: no contract has the tool "job_state"`),
		r(c("trust: untrusted", "trust: unknown"), f+`:8:35: sources[0].trust: "unknown" is not one of trusted, untrusted`),
		r(c(", trust: untrusted", ""), f+":8:11: sources[0].trust is missing"),
		r(c("tool: web_read, ", ""), f+":8:11: sources[0].tool is missing"),
		r(c("approval: approve", "approval: 'yes'"), f+`:9:11: approval: "yes" is not one of approve, reject`),

		// The decision.
		r(c("  decision: DENY\n", ""), f+":12:3: want.decision is missing (write decision: DENY or ALLOW or NEEDS_APPROVAL)"),
		r(c("decision: DENY", "decision: REFUSE"), f+`:12:13: want.decision: "REFUSE" is not one of DENY, ALLOW, NEEDS_APPROVAL`),
		r(c("decision: DENY", "decision: ALLOW"), f+":14:12: want.failure belongs to a refusal, and ALLOW is wanted (remove it)"),
		r(c("decision: DENY", "decision: NEEDS_APPROVAL")),
		r(c("failure: NOT_AUTHORIZED", "failure: INVALID_RESPONSE"), f+":14:12: want.failure: INVALID_RESPONSE is not one of NOT_AUTHORIZED, INVALID_ARGUMENTS, UNKNOWN_TOOL, EVIDENCE_REQUIRED, APPROVAL_REQUIRED, which"),
		r(c("FORBIDDEN]", "FORBIDEN]"), f+`:13:27: want.reasons[1]: "FORBIDEN" is not one of UNKNOWN_TOOL,`),
		r(c("FORBIDDEN]", "OUT_OF_SCOPE]"), f+":13:27: want.reasons[1] is given twice"),
		r(c("keyword: maxLength", "keyword: max length"), f+`:16:12: want.keyword: "max length" is not a keyword of a schema`),
		r(c("arguments_json: '{}'", "arguments_json: '[]'"), f+":17:19: want.arguments_json is not one strict JSON object"),
		r(c("arguments_json: '{}'", "arguments_json: {a: SECRET}"), f+":17:19: want.arguments_json: expected a string, found a mapping"),
		r(c("[no-redirects]", "[No redirects]"), f+`:18:17: want.obligations[0]: "No redirects" is not an obligation`),
		r(file(f, "why: x\ncall: {raw: ''}\nwant: 5"), f+":3:7: want: expected a mapping, found a number"),
	})
}

// A case about a call shows nothing of what the cases about replies must show, and is
// held to nothing that they are held to.
func TestCallProvesNothing(t *testing.T) {
	const accepted = jobFolder + "cases/accepted-call.yaml"
	text := "why: x\ncall: {raw: '{}'}\nwant: {decision: ALLOW}\n"
	runRows(t, []row{
		r(file(accepted, text)),
		r(file(jobFolder+"cases/other-call.yaml", text)),
		r(both(file(accepted, text), drop(caseOf)), jobFolder+"cases: there is no case accepted-*.yaml with want.data"),
		r(both(file(accepted, text+"x: 1\n"), drop(caseOf)), jobFolder+"cases: there is no case accepted-*.yaml", accepted+`:4:1: unknown key "x"`),
	})
}
