package contract

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// shipped replaces the tree by one shipped contract, which the changes break.
func shipped(tool string, changes ...change) change {
	return func(t testing.TB, m fstest.MapFS) {
		t.Helper()
		files, faults, err := readFiles(os.DirFS("../contracts"))
		if err != nil || len(faults) > 0 {
			t.Fatal(err, faults)
		}
		clear(m)
		for name, b := range files {
			if strings.HasPrefix(name, tool+"/") {
				m[name] = &fstest.MapFile{Data: slices.Clone(b)}
			}
		}
		both(changes...)(t, m)
	}
}

// command breaks the shipped contract of a command.
func command(old, replacement string) change {
	return shipped("deployed_revision", in("deployed_revision/v1/contract.yaml", old, replacement))
}

// search breaks the shipped contract of an MCP tool.
func search(old, replacement string) change {
	return shipped("mcp_search", in("mcp_search/v1/contract.yaml", old, replacement))
}

const (
	theCommand = "deployed_revision/v1/contract.yaml"
	theSearch  = "mcp_search/v1/contract.yaml"
	thePattern = `'^revision=(?P<revision>[0-9a-f]{7,40}) state=(?P<state>[a-z]+)\n?$'`
)

// What a command's contract may say (A16).
func TestCommandFaults(t *testing.T) {
	pattern := func(p string) change { return command(thePattern, "'"+p+"'") }
	runRows(t, []row{
		r(shipped("deployed_revision")),
		r(command("  command:\n    pattern: "+thePattern+"\n    exit_codes: [0]\n", ""), theCommand+":10:3: result.command is missing, and the kind is command"),
		r(command("kind: command", "kind: json"), theCommand+":13:3: result.command of a result that is none of a command"),
		r(command("kind: command\n", "kind: command\n  framing: mcp\n"), theCommand+":11:12: framing: mcp of a command"),
		r(command("kind: command\n", "kind: command\n  framing: envelope\n"), theCommand+":11:12: framing: envelope of a command"),
		r(command("kind: command\n", "kind: command\n  framing: payload\n")),
		r(command("    pattern: "+thePattern+"\n", ""), theCommand+":14:5: result.command has neither pattern nor json"),
		r(command("    pattern: "+thePattern+"\n", "    json: false\n"), theCommand+":14:5: has neither pattern nor json"),
		r(command("    pattern:", "    json: true\n    pattern:"), theCommand+":14:5: result.command has pattern and json"),
		r(command("    pattern:", "    json: false\n    pattern:")),
		r(pattern(""), theCommand+":14:14: result.command.pattern is empty"),
		r(pattern("(?P<a>"), theCommand+":14:14: result.command.pattern: no RE2 expression: missing closing )"),
		r(pattern("(?=x)(?P<revision>x)"), theCommand+":14:14: no RE2 expression: look-around (?=…) does not exist there"),
		r(pattern(`(?P<revision>x)\1`), theCommand+":14:14: no RE2 expression: back-references do not exist there"),
		r(pattern(`(?P<revision>x)\Qy`), theCommand+":14:14: no RE2 expression: missing closing )"),
		r(pattern(`(?P<revision>x)|y)(z`), theCommand+":14:14: no RE2 expression: unexpected )"),
		r(pattern("(?P<revision>a)(?P<revision>b)"), theCommand+`:14:14: result.command.pattern: two groups are named "revision"`),
		r(pattern("(?P<revision>[0-9a-f]{1000}){100}"), theCommand+":14:14: no RE2 expression"),
		r(pattern("(?P<revision>([0-9a-f]|x){900})(?P<state>[a-z]{1000})([a-z]|1|yy){900}"), theCommand+":14:14: the pattern is larger than 5000 instructions"),
		r(command("limits: {max_bytes: 4096, max_string_chars: 64}", "limits: {max_string_chars: 64}")),
		r(both(pattern("(?P<revision>[0-9a-f]{7,300}) (?P<state>[a-z]+)"), in(theCommand, "max_bytes: 4096", "max_bytes: 1048576"))),
		r(both(pattern("(?P<revision>[0-9a-f]{7,300}) (?P<state>[a-z]+)"), in(theCommand, "max_bytes: 4096", "max_bytes: 4194304")),
			theCommand+":14:14: matching an output of 4194304 bytes by this pattern can take too long (narrow limits.max_bytes"),
		r(pattern("revision=([0-9a-f]+)"), theCommand+":14:14: result.command.pattern has no named group"),
		r(pattern("(?P<revision>[0-9a-f]+)"), theCommand+":14:14: the schema requires /state, which no group gives"),
		r(pattern("(?P<revision>a) (?P<state>b) (?P<note>c)"), theCommand+":14:14: result.command.pattern: the schema knows no member /note"),
		r(pattern("(?P<revision>a) (?P<state>b) (c|d)")),
		r(pattern("(?P<revision>"+strings.Repeat("a", 4096)+")"), theCommand+":14:14: result.command.pattern is longer than 4096 bytes"),
		r(command("exit_codes: [0]", "exit_codes: [0, 3, -1]")),
		r(command("    exit_codes: [0]\n", "")),
		r(command("exit_codes: [0]", "exit_codes: []"), theCommand+":15:17: result.command.exit_codes is empty"),
		r(command("exit_codes: [0]", "exit_codes: [0, 0]"), theCommand+":15:21: exit_codes[1] is given twice"),
		r(command("exit_codes: [0]", "exit_codes: [ok]"), theCommand+":15:18: expected a number, found a string"),
		r(command("exit_codes: [0]", "convert: {revision: integer}")),
		r(command("exit_codes: [0]", "convert: {revision: int}"), theCommand+`:15:25: "int" is not one of integer, number, boolean`),
		r(command("exit_codes: [0]", "convert: {rev: integer}"), theCommand+`:15:15: the pattern has no group "rev"`),
		r(command("    pattern: "+thePattern+"\n", "    json: true\n    convert: {revision: integer}\n"), theCommand+":15:14: result.command.convert beside json"),
		r(command("    exit_codes: [0]", "    exit_code: [0]"), theCommand+`:15:5: unknown key "exit_code"`),
		r(command("  unbound: \"the tool prints one line for the environment that it was started with, and does not name it\"\n", ""), theCommand+":9:1: nothing binds a result to its request"),
	})
}

// Which cases a command owes (A22): those that its output can have.
func TestCommandObligations(t *testing.T) {
	const dir = "deployed_revision/v1/cases"
	lost := func(names ...string) change {
		for i, n := range names {
			names[i] = path.Join(dir, n+".yaml")
		}
		return shipped("deployed_revision", drop(names...))
	}
	asJSON := in(theCommand, "pattern: "+thePattern, "json: true")
	runRows(t, []row{
		r(lost("extra-line-warning", "extra-line-empty", "banner-before", "exit-code-one", "no-output")),
		r(lost("accepted-healthy", "accepted-no-line-end", "accepted-without-status"), dir+": there is no case accepted-*.yaml"),
		r(lost("empty-id-revision"), dir+": there is no case empty-id-*.yaml with want.reason: COMMAND_OUTPUT or SCHEMA or BINDING"),
		r(lost("too-long-revision", "too-long-output"), dir+": there is no case too-long-*.yaml"),
		r(lost("upstream-down-timeout"), dir+": there is no case upstream-down-*.yaml"),
		r(shipped("deployed_revision", asJSON),
			dir+": there is no case array-for-object-*.yaml", dir+": there is no case duplicate-member-*.yaml",
			dir+": there is no case extra-property-*.yaml", dir+": there is no case null-for-object-*.yaml",
			dir+"/empty-id-revision.yaml:5:7: the case does not show what empty-id- promises; expected want.reason: SCHEMA or BINDING"),
	})
}

// What a contract framed by MCP may say, and which cases it owes.
func TestMCPFaults(t *testing.T) {
	const dir = "mcp_search/v1/cases"
	const unbound = "  unbound: \"a CallToolResult names neither the call nor the query; whoever calls binds it to its connection\"\n"
	runRows(t, []row{
		r(shipped("mcp_search")),
		r(search(unbound, "")),
		r(search("framing: mcp", "framing: jsonrpc")),
		r(both(search("framing: mcp", "framing: jsonrpc"), in(theSearch, unbound, ""))),
		r(both(search("framing: mcp", "framing: jsonrpc"), in(theSearch, unbound, ""),
			in(dir+"/bare-payload.yaml", "at: ", "check: id, at: "), in(dir+"/no-structured-content.yaml", "at: ", "check: request_id, at: ")),
			dir+`/no-structured-content.yaml:6:91: want.check: the contract has no check named "request_id"`),
		r(search("kind: json", "kind: text"), theSearch+":14:11: of a text, which has no members: schema, agent_fields, text_fields, max_list"),
		r(shipped("mcp_search", drop(dir+"/is-error-with-structured.yaml", dir+"/is-error-word.yaml", dir+"/no-structured-content.yaml"))),
		r(shipped("mcp_search", drop(dir+"/null-for-object-result.yaml", dir+"/null-for-object-structured.yaml")), dir+": there is no case null-for-object-*.yaml"),
		r(search("as: url}", "as: link}"), theSearch+`:17:32: "link" is not one of text/plain, text/html, url`),
		r(search("as: url}", "as: text/html}")),
	})
}

// The limit of one list (B4).
func TestMaxListFaults(t *testing.T) {
	limit := func(to string) change { return search("{at: /results, items: 20, over: refuse}", to) }
	runRows(t, []row{
		r(limit("{at: /results, items: 20, over: cut}")),
		r(limit("{at: /results, items: 20}"), theSearch+":19:13: result.max_list.over is missing"),
		r(limit("{at: /results, over: cut}"), theSearch+":19:13: result.max_list.items is missing"),
		r(limit("{items: 20, over: cut}"), theSearch+":19:13: result.max_list.at is missing"),
		r(limit("{at: /results, items: 0, over: cut}"), theSearch+`:19:35: "0" is not a whole number from 1`),
		r(limit("{at: /results, items: 20, over: drop}"), theSearch+`:19:45: "drop" is not one of refuse, cut`),
		r(limit("{at: /results/*/tags, items: 20, over: cut}"), theSearch+`:19:18: "/results/*/tags" stands for many lists`),
		r(limit("{at: /pages, items: 20, over: cut}"), theSearch+":19:18: the schema knows no member /pages"),
		r(limit(`{at: "", items: 20, over: cut}`), theSearch+":19:18: the schema allows no array at"),
		// It is a bound of what reaches the agent, as maxItems is.
		r(shipped("mcp_search", in("mcp_search/v1/result.schema.json", "      \"maxItems\": 20,\n", ""))),
		r(shipped("mcp_search", in("mcp_search/v1/result.schema.json", "      \"maxItems\": 20,\n", ""), in(theSearch, "  max_list: {at: /results, items: 20, over: refuse}\n", "")),
			"mcp_search/v1/result.schema.json:6:16: an array that reaches the agent at /results has no bound"),
	})
}

// Everything of a command's contract is read as it is meant.
func TestReadCommand(t *testing.T) {
	m := fstest.MapFS{}
	both(command("exit_codes: [0]", "exit_codes: [3, 0]\n    convert: {revision: integer}"),
		in(theCommand, "  media_types: [text/plain]\n", ""))(t, m)
	c := mustLoad(t, m).Contracts[0].Result
	if c.Kind != KindCommand || c.Framing != FramingPayload || !slices.Equal(c.MediaTypes, []string{"text/plain"}) {
		t.Errorf("%s %s %s", c.Kind, c.Framing, c.MediaTypes)
	}
	if k := c.Command; k.JSON || !slices.Equal(k.ExitCodes, []int{3, 0}) || k.Convert["revision"] != ConvertInteger ||
		k.Expression() != `\A(?:^revision=(?P<revision>[0-9a-f]{7,40}) state=(?P<state>[a-z]+)\n?$)\z` {
		t.Errorf("%+v", k)
	}
	shipped("mcp_search", in(theSearch, "over: refuse", "over: cut"))(t, m)
	c = mustLoad(t, m).Contracts[0].Result
	if l := c.MaxList; l == nil || l.At.String() != "/results" || l.Items != 20 || !l.Cut || c.TextFields[1].As != AsURL {
		t.Errorf("%+v %+v", l, c.TextFields)
	}
	for f, at := range map[Framing]string{FramingPayload: "", FramingEnvelope: "/data", FramingMCP: "/structuredContent", FramingJSONRPC: "/result/structuredContent"} {
		if got := f.Payload().String(); got != at {
			t.Errorf("%s: %s", f, got)
		}
	}
	if (&Result{Kind: KindCommand, Command: &Command{JSON: true}}).defaultMediaTypes()[0] != "application/json" {
		t.Error("the output of a json command is JSON")
	}
}

// A case can say what people are shown of a failure.
func TestWantDisplayText(t *testing.T) { // A7
	const name = "mcp_search/v1/cases/is-error-with-structured.yaml"
	m := fstest.MapFS{}
	shipped("mcp_search", in(name, `display_text: ""`, "display_text: no such index"))(t, m)
	for _, k := range mustLoad(t, m).Contracts[0].Cases {
		if want := k.Want.DisplayText; strings.HasSuffix(name, k.File) != (want != nil) || (want != nil && *want != "no such index") {
			t.Errorf("%s: %v", k.File, want)
		}
	}
	runRows(t, []row{
		r(shipped("mcp_search", in(name, `display_text: ""`, "display_text: 5")), name+":6:117: want.display_text: expected a string, found a number"),
		r(shipped("mcp_search", in("mcp_search/v1/cases/accepted-no-results.yaml", "untrusted_text: []", "display_text: x")),
			"mcp_search/v1/cases/accepted-no-results.yaml:6:7: want.display_text belongs to a failure, and data or text is wanted"),
	})
}

// Codes that a framing can report are promises that cases should reach.
func TestReportedCodes(t *testing.T) {
	for _, row := range []struct {
		framing Framing
		want    []FailureCode
	}{
		{FramingPayload, []FailureCode{InvalidResponse, UpstreamUnavailable}},
		{FramingEnvelope, []FailureCode{InvalidResponse, NotFound, UpstreamUnavailable}},
		{FramingMCP, []FailureCode{InvalidResponse, UpstreamUnavailable, ToolFailed}},
		{FramingJSONRPC, []FailureCode{InvalidResponse, UpstreamUnavailable, ToolFailed, InvalidArguments}},
	} {
		c := Contract{Result: Result{Framing: row.framing, FailureCodes: []FailureCode{NotFound}}}
		if got := c.ReportableCodes(); !slices.Equal(got, row.want) {
			t.Errorf("%s: %s, want %s", row.framing, got, row.want)
		}
	}
}
