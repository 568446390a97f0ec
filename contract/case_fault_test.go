package contract

import (
	"bytes"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

const rawOf = `  {"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6","state":"failed","observed_at":"2026-01-15T11:59:00Z","trace":"abc","message":"exit 1"}` + "\n"

// Every fault of a case is found, at its place (A22), and names nothing of the payload.
func TestCaseFaults(t *testing.T) {
	const extra = jobFolder + "cases/extra-property-owner.yaml"
	runRows(t, []row{
		r(file(caseOf, ""), "+:1:1: the file is empty"),
		r(k("why: A failed run", "why: A failed run\n---\nwhy: another"), "+:2:1: a second YAML document"),
		r(k("why: A failed run as the service reports it.\n", ""), "+:1:1: why is missing"),
		r(k("why: A", "why: A\nreason: x\nwhen: A"), `+:2:1: unknown key "reason"`, `+:3:1: unknown key "when"`),
		r(k("now: \"2026-01-15T12:00:00Z\"\n", ""), "+:1:1: now is missing; the contract has a check that looks at time"),
		r(both(k("now: \"2026-01-15T12:00:00Z\"\n", ""), noTime(), drop(jobFolder+"cases/stale-observation.yaml", jobFolder+"cases/future-observation.yaml"))),
		r(both(k("now: \"2026-01-15T12:00:00Z\"\n", ""), noTime(), y("'result.run_id.startsWith(\"run_\")'", "result.at < now"), drop(jobFolder+"cases/stale-observation.yaml", jobFolder+"cases/future-observation.yaml")),
			"+:1:1: now is missing"),
		r(both(k("now: \"2026-01-15T12:00:00Z\"\n", ""), noTime(), y("'result.run_id.startsWith(\"run_\")'", "result.known"), drop(jobFolder+"cases/stale-observation.yaml", jobFolder+"cases/future-observation.yaml"))),
		r(k("12:00:00Z\"", "12:00:00\""), `+:2:6: now: "2026-01-15T12:00:00" is not an RFC 3339 date-time`),
		r(k("12:00:00Z\"", "12:00:00,5Z\""), "+:2:6: not an RFC 3339"),
		r(k("12:00:00Z\"", "12:00:00+24:00\""), "+:2:6: not an RFC 3339"),
		r(k("2026-01-15T12:00:00Z", "2026-02-30T12:00:00Z"), "+:2:6: not an RFC 3339"),
		r(k("request_id: req.A1b2C3d4", "request_id: r1"), `+:3:23: request.request_id: "r1" is not a request id`),
		r(k("session_id: s1", "session_id: s 1"), "+:3:49: is not a session id"),
		r(k("arguments: {project_id", "arguments: [1], arguments_json: {project_id"), "+:3:10: request has arguments and arguments_json", "+:3:64: request.arguments: expected a mapping, found a list", "+:3:85: request.arguments_json: expected a string, found a mapping"),
		r(k("arguments: {project_id: bluebird, run_id: run_A1b2C3d4E5f6}", "arguments_json: '{\"a\":1,\"a\":2}'"), "+:3:69: request.arguments_json is not one strict JSON object"),
		r(k("arguments: {project_id: bluebird, run_id: run_A1b2C3d4E5f6}", "arguments_json: '[]'"), "+:3:69: request.arguments_json is not one strict JSON object"),
		r(k("session_id: s1", "attempt: 0"), `+:3:46: "0" is not a whole number from 1`),
		r(k("request: {", "evidence: [{tool: list_runs, version: 1}]\nrequest: {"), "+:3:12: evidence[0].data is missing"),
		r(k("request: {", "evidence: [{tool: list_runs, version: 1, data: {}, observed_at: 5}]\nrequest: {"), "+:3:65: evidence[0].observed_at: expected a string, found a number"),
		r(k("http_status: 200", "http_status: 200, exit_code: 1"), "+:4:11: upstream.http_status and upstream.exit_code are given; a reply has one status at most"),
		r(k("http_status: 200", "transport_error: SLOW"), `+:4:101: "SLOW" is not one of TIMEOUT, CONNECT, TLS, CANCELLED, OTHER, TOO_LARGE`),
		r(k("http_status: 200", "tool_raised: false"), "+:4:97: upstream.tool_raised can only be true"),
		r(k("http_status: 200", "redirects: -1"), "+:4:95: not a whole number from 0"),
		r(k("http_status: 200", "retry_after: soon"), `+:4:97: upstream.retry_after: "soon" is not a duration`),
		r(k("raw: |\n"+rawOf, "raw: {project_id: SECRET}\n"), "+:5:6: raw: expected a string, found a mapping"),
		r(k("raw: |\n"+rawOf, "raw_base64: c2VjcmV0!\n"), "+:5:13: raw_base64 is not base64 (RFC 4648 section 4, padded)"),
		r(k("raw: |\n"+rawOf, "raw_base64: c2VjcmV0eR\n"), "+:5:13: raw_base64 is not base64"),
		r(k("raw: |\n"+rawOf, "raw_base64: eB==\n"), "+:5:13: raw_base64 is not base64"),
		r(k("raw: |\n"+rawOf, "raw: x\nraw_base64: eA==\n"), "+:1:1: raw and raw_base64 are given; a case has one of them"),
		r(k("raw: |\n"+rawOf, "raw_file: cases/absent.bin\n"), `+:5:11: raw_file: there is no file "cases/absent.bin" (give the path relative to the contract's folder)`),
		r(k("raw: |\n"+rawOf, "raw_file: ../v1/README.md\n"), "+:5:11: is not a path below the contract's folder"),
		r(k("raw: |\n"+rawOf, "raw_file: /etc/hostname\n"), "+:5:11: is not a path below the contract's folder"),
		r(both(k("raw: |\n"+rawOf, "raw_file: cases/run.json\n"), file(jobFolder+"cases/run.json", "{}"))),
		r(both(k("raw: |\n"+rawOf, "raw_file: run.json\n"), file(jobFolder+"cases/run.json", "{}"))),
		r(k("upstream: {", `upstream: {received_at: "2026-01-15T12:00:00Z", reserialized: true, `)),

		r(in(extra, "want: {", "#ant: {"), extra+":1:1: want is missing"),
		r(in(extra, "want: {", "want: {data: {}, "), extra+":7:7: want has failure and data or text; a verdict is one of them"),
		r(in(extra, "failure: INVALID_RESPONSE, ", ""), extra+":7:7: want has neither failure, data nor text (write {failure: …}, {data: …} or {text: …})"),
		r(in(extra, "failure: INVALID_RESPONSE, ", "data: null, "), extra+":7:7: want.retryable belongs to a failure, and data or text is wanted"),
		r(in(extra, "retryable: false", "truncated: false"), extra+":7:7: want.truncated belongs to data or text, and a failure is wanted"),
		r(in(extra, "INVALID_RESPONSE", "INVALID"), extra+`:7:17: want.failure: "INVALID" is not one of INVALID_RESPONSE, NOT_FOUND`),
		r(in(extra, "layer: SCHEMA", "layer: Schema"), extra+`:7:60: want.layer: "Schema" is not one of TRANSPORT,`),
		r(in(extra, "reason: SCHEMA", "reason: CLOSED"), extra+`:7:76: want.reason: "CLOSED" is not one of BYTE_LIMIT,`),
		r(in(extra, "at: /owner", "at: owner"), extra+`:7:88: want.at: "owner" is not a JSON Pointer`),
		r(in(extra, "at: /owner", "check: fresher"), extra+`:7:91: want.check: the contract has no check named "fresher"`),
		r(k("[/message]", "[message]"), `+:9:20: want.untrusted_text[0]: "message" is not a JSON Pointer`),
		r(k("[/message]", "[/message, /message]"), `+:9:30: want.untrusted_text[1] is given twice`),
		r(k("message: exit 1}", "message: 1e400}"), "+:8:117: want.data is beyond the service's limits"),
		r(k("message: exit 1}", "message: "+deep(70)+"}"), "+:8:180: want.data is beyond the service's limits"),

		r(k("  truncated: false", "  truncated: false\n  text: hello"), "+:8:3: want has data and text; a result is one of them"),
	})
}

// The ways to give the bytes of a reply, and what a case leaves out.
func TestCaseRaw(t *testing.T) {
	files := map[string][]byte{"cases/a.bin": {0xff, 0, '\n'}}
	for _, row := range []struct {
		name, text string
		want       []byte
	}{
		{"none", "", nil},
		{"empty", "raw: ''\n", []byte{}},
		{"block", "raw: |\n  {}\n", []byte("{}\n")},
		{"block without the line end", "raw: |-\n  {}\n", []byte("{}")},
		{"escapes", `raw: "\ufeff{}\x00\t"` + "\n", []byte("\ufeff{}\x00\t")},
		{"empty base64", "raw_base64: ''\n", []byte{}},
		{"base64", "raw_base64: /wA=\n", []byte{0xff, 0}},
		{"base64 in lines", "raw_base64: |\n  /w\n  A=\n", []byte{0xff, 0}},
		{"file", "raw_file: cases/a.bin\n", []byte{0xff, 0, '\n'}},
	} {
		t.Run(row.name, func(t *testing.T) {
			files["cases/a.yaml"] = []byte("why: x\n" + row.text + "want: {failure: NOT_FOUND}\n")
			d := readCase("a/v1", "cases/a.yaml", files)
			if len(d.faults) > 0 || !bytes.Equal(d.Raw, row.want) || (d.Raw == nil) != (row.want == nil) {
				t.Errorf("%q, %v", d.Raw, d.faults)
			}
		})
	}
}

// Which checks make a case need a clock.
func TestLooksAtTime(t *testing.T) {
	for text, want := range map[string]bool{
		"{use: equals, with: {result: /now}}": false, "{use: fresh, with: {}}": true, "{use: after, with: {}}": true,
		"{use: signature, with: {}}": true, "{use: listed, with: {}}": false, "{cel: result.at <= now}": true,
		"{cel: result.known}": false, "{cel: nowhere == 1}": false,
	} {
		root, s := readYAML("f", []byte(text))
		d := &draft{source: s, contract: &Contract{}}
		d.check(root, "check")
		if got := d.contract.Result.looksAtTime(); got != want || len(s.faults) > 0 {
			t.Errorf("%s: %v, %v", text, got, s.faults)
		}
	}
}

// The members of a case that the good contract's cases do not use.
func TestCaseMembers(t *testing.T) {
	text := `why: x
now: 2026-01-15T12:00:00.25+01:00
request:
  request_id: req-12345678
  call_id: call_1
  arguments_json: '{"id": 010.0}'
  attempt: 2
  issued_at: 2026-01-15T11:00:00Z
  first_attempt_at: 2026-01-15T10:00:00Z
evidence:
  - {tool: list_runs, version: 3, arguments: {n: 12345678901234567890}, data: [010, ~], observed_at: 2026-01-15T11:00:00Z}
upstream: {adapter: ci@1.2, redirects: 3, jsonrpc_error: -32602}
want: {failure: INVALID_ARGUMENTS, retryable: true, layer: TRANSPORT, at: ""}
`
	files := map[string][]byte{"cases/a.yaml": []byte(text)}
	if d := readCase("a/v1", "cases/a.yaml", files); len(d.faults) != 1 {
		t.Fatalf("arguments that are not JSON: %v", d.faults)
	}
	files["cases/a.yaml"] = bytes.Replace(files["cases/a.yaml"], []byte("010.0"), []byte("10.0"), 1)
	d := readCase("a/v1", "cases/a.yaml", files)
	if len(d.faults) > 0 {
		t.Fatal(d.faults)
	}
	at := func(hour int) time.Time { return time.Date(2026, 1, 15, hour, 0, 0, 0, time.UTC) }
	request, e, u, w := d.Request, d.Evidence[0], d.Upstream, d.Want
	if !d.Now.Equal(at(11).Add(250*time.Millisecond)) || request.Arguments != `{"id": 10.0}` || request.CallID != "call_1" ||
		request.Attempt != 2 || !request.IssuedAt.Equal(at(11)) || !request.FirstAttemptAt.Equal(at(10)) {
		t.Errorf("%+v", request)
	}
	if e.Tool != "list_runs" || e.Version != 3 || !e.ObservedAt.Equal(at(11)) ||
		string(strictjson.AppendJSON(nil, e.Arguments)) != `{"n":12345678901234567890}` ||
		string(strictjson.AppendJSON(nil, e.Data)) != `["010","~"]` {
		t.Errorf("%+v", e)
	}
	if u.Adapter != "ci@1.2" || u.Redirects != 3 || *u.JSONRPCError != -32602 || u.HTTPStatus != nil {
		t.Errorf("%+v", u)
	}
	if !*w.Retryable || w.At == nil || *w.At != "" || w.Line != 13 {
		t.Errorf("%+v", w)
	}
}

// FuzzCase reads arbitrary case files: no panic, and a case without faults has a
// verdict.
func FuzzCase(f *testing.F) {
	for name, file := range good(f) {
		if bytes.Contains([]byte(name), []byte("cases/")) {
			f.Add(file.Data)
		}
	}
	f.Add([]byte("why: x\nraw_base64: eA==\nevidence: [{tool: a, version: 1, data: [~]}]\nwant: {data: 010}\n"))
	f.Add([]byte("why: x\nraw_file: ../a\nwant: {text: a}\ncall: {}\n"))
	f.Add([]byte(callText))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := readCase("a/v1", "cases/a.yaml", map[string][]byte{"cases/a.yaml": b})
		if len(d.faults) == 0 && !d.inCall && (d.Want.Failure != "") == (d.Want.Data.Exists() || d.Want.Text != nil) {
			t.Errorf("a verdict that is both or neither: %+v", d.Want)
		}
		if len(d.faults) == 0 && d.inCall && (d.Call == nil || d.Call.Raw == nil || d.Want.Decision == "") {
			t.Errorf("a call without a decision, or the other way round: %+v", d.Case)
		}
		if (len(d.faults) == 0) && (d.Call != nil) != d.inCall {
			t.Errorf("%+v", d.Case)
		}
		checkPlaces(t, d.faults, b)
	})
}

// FuzzContract reads arbitrary contract.yaml files beside a good contract's others.
func FuzzContract(f *testing.F) {
	base := good(f)
	f.Add(base[yamlOf].Data)
	f.Add([]byte("tool: a\nresult: {kind: text}\n"))
	f.Add([]byte("a: &x [*x]\n<<: {? [a] : b}\n"))
	f.Add([]byte("{result: {checks: [{use: equals, with: {result: {}}}], limits: {max_bytes: 1e3}}, arguments: {requires: [{tool: a, match: {/a: b}}]}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := make(fstest.MapFS, len(base))
		for name, file := range base {
			m[name] = file
		}
		m[yamlOf] = &fstest.MapFile{Data: b}
		tree, err := Load(m)
		if err == nil {
			if len(tree.Contracts) != 1 || tree.Contracts[0].Tool == "" || tree.Contracts[0].Result.Schema == nil {
				t.Errorf("%+v", tree)
			}
			return
		}
		if len(b) > maxFileBytes {
			return
		}
		var faults Faults
		if !errors.As(err, &faults) {
			t.Fatal(err)
		}
		checkPlaces(t, faults, b)
	})
}

// checkPlaces sees that faults have texts of bounded length and lines that exist.
func checkPlaces(t *testing.T, faults Faults, b []byte) {
	t.Helper()
	lines := bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) + 2
	lines += bytes.Count(b, []byte("\u0085")) + bytes.Count(b, []byte("\u2028")) + bytes.Count(b, []byte("\u2029"))
	for _, f := range faults {
		if f.Message == "" || len(f.Message) > 1500 || f.Line < 0 || f.File == yamlOf && f.Line > lines {
			t.Errorf("%+v", f)
		}
	}
}
