package scaffold_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/scaffold"
)

// A8, A11, A13, A22: tools of an MCP server become closed contracts with their cases.
func TestFromMCP(t *testing.T) {
	src, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, effect string }{
		{"search", "read_only"},
		{"get_weather", "read_only"},
		{"create_ticket", "side_effect"},
		{"delete_file", "side_effect"}, // its hints contradict each other,
		{"fetch/page", "read_only"},
		{"tree", "side_effect"},
		{"query_table", "read_only"},
		{"shape", "read_only"},
		{"status", "read_only"},
		{"list_users", "read_only"},
		{"say", "side_effect"}, // declares no outputSchema: a text
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := scaffold.FromMCP(src, c.name, scaffold.Options{Compile: engine})
			if err != nil {
				t.Fatal(err)
			}
			yaml := string(d.Files[d.Dir+"/contract.yaml"])
			if !strings.Contains(yaml, "nobody vouches for it. What does the tool do?\neffect: "+c.effect+"\n") {
				t.Errorf("effect is not asked about, or not %s:\n%s", c.effect, yaml)
			}
			if !strings.Contains(yaml, "\n  framing: mcp\n") {
				t.Error("framing is not mcp")
			}
			refusedFirst(t, d)
			passes(t, d)
			dump(t, d)
		})
	}
}

func TestFromMCPRefuses(t *testing.T) {
	for _, c := range []struct{ line, src, name, want string }{
		{"not JSON", `{`, "", "cannot be read"},
		{"duplicate member", `{"tools":[],"tools":[]}`, "", "DUPLICATE_NAME"},
		{"no list", `{"resources":[]}`, "", "no list of tools"},
		{"several", `[{"name":"a"},{"name":"b"}]`, "", `"a", "b"`},
		{"unknown", `[{"name":"a"}]`, "c", `no tool "c"`},
		{"unnameable", `[{"name":"../../etc","outputSchema":{"type":"object"}}]`, "", "not a tool's name"},
		{"unnameable, with the cure", `[{"name":"weird name!","outputSchema":{"type":"object"}}]`, "", "a name of its own (TOOL), and this one becomes an alias"},
	} {
		if _, err := scaffold.FromMCP([]byte(c.src), c.name, scaffold.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
	one := `[{"name":"a.b","outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`
	for line, src := range map[string]string{
		"array": one, "list": `{"tools":` + one + `}`, "message": `{"jsonrpc":"2.0","id":1,"result":{"tools":` + one + `}}`,
	} {
		if d, err := scaffold.FromMCP([]byte(src), "", scaffold.Options{}); err != nil || d.Dir != "a.b/v1" {
			t.Errorf("%s: %v %v", line, d, err)
		}
	}
}

// A tool that promises no schema is drafted as one whose results are texts, and asked
// about.
func TestFromMCPText(t *testing.T) {
	const src = `[{"name":"fetch","inputSchema":{"type":"object","required":["link"],"properties":{"link":{"type":"string"}}},"annotations":{"readOnlyHint":true}}]`
	d, err := scaffold.FromMCP([]byte(src), "", scaffold.Options{Compile: engine})
	if err != nil {
		t.Fatal(err)
	}
	yaml := string(d.Files[d.Dir+"/contract.yaml"])
	for _, want := range []string{"kind: text\n  framing: mcp\n", "no schema of replies", "looks like a destination", "is read as plain text"} {
		if !strings.Contains(yaml, want) {
			t.Errorf("%s is not in:\n%s", want, yaml)
		}
	}
	if _, has := d.Files[d.Dir+"/result.schema.json"]; has {
		t.Error("a text has a schema")
	}
	refusedFirst(t, d)
	passes(t, d)
}

// A name that is none of a contract's becomes a proposed alias, and so does one that
// the contract replaces.
func TestFromMCPAlias(t *testing.T) {
	long := strings.Repeat("é", 129)
	for _, c := range []struct{ name, tool, want, forbids string }{
		{"weird name!", "my_weird", "tool: my_weird\n# QUESTION 1: the source calls the tool by this name. Is it called so?\naliases: [\"weird name!\"]\nversion: 1\n", ""},
		{"search", "find", `aliases: ["search"]`, ""},
		{"search", "search", "tool: search\nversion: 1\n", "aliases"},
		{"search", "", "tool: search\nversion: 1\n", "aliases"},
		{long, "long", "by a name of 258 bytes", "aliases"},
		{"a\u200b\"b", "hidden", `aliases: ["a\u200b\"b"]`, ""},
	} {
		src := `[{"name":` + strconv.Quote(c.name) + `,"outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}]`
		d, err := scaffold.FromMCP([]byte(src), "", scaffold.Options{Tool: c.tool, Compile: engine})
		if err != nil {
			t.Fatal(c.name, err)
		}
		yaml := string(d.Files[d.Dir+"/contract.yaml"])
		if !strings.Contains(yaml, c.want) || c.forbids != "" && strings.Contains(yaml, c.forbids) {
			t.Errorf("%q: want %s, not %s in:\n%s", c.name, c.want, c.forbids, yaml)
		}
		passes(t, d)
	}
}
