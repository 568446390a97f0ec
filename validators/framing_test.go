package validators

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// toolOf compiles a tool without checks, whose agent fields are the whole payload.
func toolOf(t testing.TB, schema string, change func(*contract.Contract)) *Tool {
	t.Helper()
	c := &contract.Contract{
		Dir: "t/v1", Tool: "t", Version: 1, Effect: contract.ReadOnly,
		Result: contract.Result{
			Kind: contract.KindJSON, Framing: contract.FramingPayload, Limits: strictjson.Ceilings(),
			Schema:      &contract.Schema{File: "s.json", Files: map[string][]byte{"s.json": []byte(schema)}},
			AgentFields: []strictjson.Pointer{{}},
		},
	}
	if change != nil {
		change(c)
	}
	registry, err := NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.Compile(&contract.Tree{Contracts: []*contract.Contract{c}, Current: map[string]int{"t": 1}})
	if err != nil {
		t.Fatal(err)
	}
	return set.Tools()[0]
}

// verdictOf judges a reply to the request req.A1b2C3d4, call 7, and writes the verdict
// in one line: the data, or code, reason, place and keyword of the first rejection.
func verdictOf(tool *Tool, raw string) (Verdict, string) {
	v := tool.Judge(context.Background(), []byte(raw), Facts{Request: Request{RequestID: "req.A1b2C3d4", CallID: "7"}})
	if v.Accepted {
		return v, string(v.Output.JSON)
	}
	first := v.Rejections[0]
	return v, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", v.Code, first.Reason, first.At, first.Keyword))
}

// A framedRow is one reply and the verdict on it.
type framedRow struct {
	line, raw, want string
	signals         map[string]uint64 // nil: not looked at
}

func judgeRows(t *testing.T, tool *Tool, rows []framedRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.line, func(t *testing.T) {
			v, got := verdictOf(tool, row.raw)
			if got != row.want {
				t.Errorf("got  %s\nwant %s\n%+v", got, row.want, v.Rejections)
			}
			if row.signals != nil && !maps.Equal(row.signals, v.Signals) {
				t.Errorf("signals %v, want %v", v.Signals, row.signals)
			}
			if len(v.Rejections) > MaxRejections {
				t.Errorf("%d rejections", len(v.Rejections))
			}
			for _, r := range v.Rejections {
				if strings.Contains(fmt.Sprintf("%+v", r), "SECRET") {
					t.Errorf("a value is shown: %+v", r)
				}
			}
		})
	}
}

const numberSchema = `{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer"}}}`

// Only structuredContent is judged, and only it goes on. A4, D2, D3, D11
func TestCallResult(t *testing.T) {
	tool := toolOf(t, numberSchema, func(c *contract.Contract) { c.Result.Framing = contract.FramingMCP })
	none := map[string]uint64{}
	judgeRows(t, tool, []framedRow{
		{"2025-06-18", `{"content":[],"structuredContent":{"n":1},"isError":false}`, `{"n":1}`, none},
		{"2026-07-28", `{"resultType":"complete","content":[],"structuredContent":{"n":1}}`, `{"n":1}`, none},
		{"without content", `{"structuredContent":{"n":1}}`, `{"n":1}`, none},
		{"digits stay", `{"structuredContent":{"n":1.0}}`, `{"n":1.0}`, none},
		{
			"every kind of block", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image"},{"type":"audio"},{"type":"resource_link"},{"type":"resource"}],"structuredContent":{"n":1}}`, `{"n":1}`,
			map[string]uint64{"dropped_blocks.text": 2, "dropped_blocks.image": 1, "dropped_blocks.audio": 1, "dropped_blocks.resource_link": 1, "dropped_blocks.resource": 1},
		},
		{"members that the protocol does not name", `{"_meta":{"x":1},"structuredContent":{"n":1},"ttlMs":5,"SECRET":{}}`, `{"n":1}`, map[string]uint64{"dropped_members": 2}},
		{"a name in another case", `{"StructuredContent":{"n":1}}`, "INVALID_RESPONSE SCHEMA /structuredContent required", nil},
		{"no structured content", `{"content":[{"type":"text","text":"{\"n\":1}"}]}`, "INVALID_RESPONSE SCHEMA /structuredContent required", nil},
		{"null", `{"structuredContent":null}`, "INVALID_RESPONSE SCHEMA /structuredContent type", nil},
		{"the schema's own place", `{"structuredContent":{"n":"1"}}`, "INVALID_RESPONSE SCHEMA /structuredContent/n type", nil},
		{"no object", `[]`, "INVALID_RESPONSE SCHEMA  type", nil},
		{"no JSON", `nope`, "INVALID_RESPONSE JSON_SYNTAX", nil},
		{"isError is a word", `{"structuredContent":{"n":1},"isError":"true"}`, "INVALID_RESPONSE SCHEMA /isError type", nil},
		{"isError is null", `{"structuredContent":{"n":1},"isError":null}`, "INVALID_RESPONSE SCHEMA /isError type", nil},
		{"content is text", `{"content":"SECRET","structuredContent":{"n":1}}`, "INVALID_RESPONSE SCHEMA /content type", nil},
		{"a block is text", `{"content":["SECRET"],"structuredContent":{"n":1}}`, "INVALID_RESPONSE SCHEMA /content/0 type", nil},
		{"a block without a type", `{"content":[{"type":"text","text":""},{}],"structuredContent":{"n":1}}`, "INVALID_RESPONSE SCHEMA /content/1/type required", nil},
		{"a block with a number for its type", `{"content":[{"type":1}],"structuredContent":{"n":1}}`, "INVALID_RESPONSE SCHEMA /content/0/type type", nil},
		{"a text without text", `{"content":[{"type":"text"}],"structuredContent":{"n":1}}`, "INVALID_RESPONSE SCHEMA /content/0/text required", nil},
		{"a text of another kind", `{"content":[{"type":"text","text":[]}],"structuredContent":{"n":1}}`, "INVALID_RESPONSE SCHEMA /content/0/text type", nil},
		{"a block that no version knows", `{"content":[{"type":"text","text":""},{"type":"SECRET"}],"structuredContent":{"n":1}}`, "INVALID_RESPONSE MCP_RESULT /content/1/type enum", nil},
		{"input required", `{"resultType":"input_required","inputRequests":{"SECRET":1}}`, "INVALID_RESPONSE MCP_RESULT /resultType const", nil},
		{"a type that nobody knows", `{"resultType":"SECRET","structuredContent":{"n":1}}`, "INVALID_RESPONSE MCP_RESULT /resultType const", nil},
		{"a result type of another kind", `{"resultType":1,"structuredContent":{"n":1}}`, "INVALID_RESPONSE MCP_RESULT /resultType const", nil},
		{"a result type of nothing", `{"resultType":null,"structuredContent":{"n":1}}`, "INVALID_RESPONSE MCP_RESULT /resultType const", nil},
		{"the first fault in the input counts", `{"content":1,"resultType":"x"}`, "INVALID_RESPONSE SCHEMA /content type", nil},
		{"more faults than are reported", `{"content":[0,0,0,0,0,0,0,0]}`, "INVALID_RESPONSE SCHEMA /content/0 type", nil},
		{"a reported error", `{"content":[{"type":"text","text":"SECRET"}],"isError":true}`, "TOOL_FAILED TOOL_REPORTED /isError", map[string]uint64{"dropped_blocks.text": 1}},
		{"a reported error is not judged by the schema", `{"structuredContent":{"n":"SECRET"},"isError":true}`, "TOOL_FAILED TOOL_REPORTED /isError", map[string]uint64{"dropped_members": 1}},
		{"a reported error that is none of a complete result", `{"isError":true,"resultType":"task"}`, "INVALID_RESPONSE MCP_RESULT /resultType const", nil},
	})
}

// The same inside of a response, which must answer the call. A4, A6, D2
func TestResponse(t *testing.T) {
	tool := toolOf(t, numberSchema, func(c *contract.Contract) { c.Result.Framing = contract.FramingJSONRPC })
	judgeRows(t, tool, []framedRow{
		{"a result", `{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"n":1}}}`, `{"n":1}`, nil},
		{"in another order", `{"result":{"structuredContent":{"n":1}},"id":7,"jsonrpc":"2.0"}`, `{"n":1}`, nil},
		{"dropped blocks", `{"jsonrpc":"2.0","id":7,"result":{"x":1,"content":[{"type":"image"}],"structuredContent":{"n":1}}}`, `{"n":1}`, map[string]uint64{"dropped_blocks.image": 1, "dropped_members": 1}},
		{"places are those of the reply", `{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"n":1,"m":2}}}`, "INVALID_RESPONSE SCHEMA /result/structuredContent/m additionalProperties", nil},
		{"no structured content", `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`, "INVALID_RESPONSE SCHEMA /result/structuredContent required", nil},
		{"a broken block", `{"jsonrpc":"2.0","id":7,"result":{"content":[1]}}`, "INVALID_RESPONSE SCHEMA /result/content/0 type", nil},
		{"a result that is a list", `{"jsonrpc":"2.0","id":7,"result":[]}`, "INVALID_RESPONSE SCHEMA /result type", nil},
		{"input required", `{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required"}}`, "INVALID_RESPONSE MCP_RESULT /result/resultType const", nil},
		{"a reported error", `{"jsonrpc":"2.0","id":7,"result":{"isError":true}}`, "TOOL_FAILED TOOL_REPORTED /result/isError", nil},
		{"a member too many", `{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"n":1}},"method":"x"}`, "INVALID_RESPONSE SCHEMA /method additionalProperties", nil},
		{"both", `{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"n":1}},"error":{"code":1,"message":"SECRET"}}`, "INVALID_RESPONSE SCHEMA /error additionalProperties", nil},
		{"both, though one is null", `{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"n":1}},"error":null}`, "INVALID_RESPONSE SCHEMA /error additionalProperties", nil},
		{"neither", `{"jsonrpc":"2.0","id":7}`, "INVALID_RESPONSE SCHEMA /result required", nil},
		{"no version", `{"id":7,"result":{"structuredContent":{"n":1}}}`, "INVALID_RESPONSE SCHEMA /jsonrpc required", nil},
		{"another version", `{"jsonrpc":"1.0","id":7,"result":{"structuredContent":{"n":1}}}`, "INVALID_RESPONSE SCHEMA /jsonrpc const", nil},
		{"a number for the version", `{"jsonrpc":2.0,"id":7,"result":{"structuredContent":{"n":1}}}`, "INVALID_RESPONSE SCHEMA /jsonrpc const", nil},
		{"a batch", `[{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"n":1}}}]`, "INVALID_RESPONSE SCHEMA  type", nil},
		{"a result of another call", `{"jsonrpc":"2.0","id":8,"result":{"structuredContent":{"n":1}}}`, "INVALID_RESPONSE BINDING /id", nil},
		{"the schema comes before the id", `{"jsonrpc":"2.0","id":8,"result":{"structuredContent":{"n":"1"}}}`, "INVALID_RESPONSE SCHEMA /result/structuredContent/n type", nil},
		{"no id", `{"jsonrpc":"2.0","result":{"structuredContent":{"n":1}}}`, "INVALID_RESPONSE BINDING /id", nil},
		{"an error", `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"SECRET","data":{"SECRET":1}}}`, "TOOL_FAILED TOOL_REPORTED /error/code", nil},
		{"invalid arguments", `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"x"}}`, "INVALID_ARGUMENTS TOOL_REPORTED /error/code", nil},
		{"invalid arguments, written otherwise", `{"jsonrpc":"2.0","id":7,"error":{"code":-3.2602e4,"message":"x"}}`, "INVALID_ARGUMENTS TOOL_REPORTED /error/code", nil},
		{"an error of another call", `{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"x"}}`, "INVALID_RESPONSE BINDING /id", nil},
		{"an error of no call", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, "INVALID_RESPONSE BINDING /id", nil},
		{"a reported error of another call", `{"jsonrpc":"2.0","id":"7","result":{"isError":true}}`, "INVALID_RESPONSE BINDING /id", nil},
		{"an error without a message", `{"jsonrpc":"2.0","id":7,"error":{"code":1}}`, "INVALID_RESPONSE SCHEMA /error/message required", nil},
		{"an error without a code", `{"jsonrpc":"2.0","id":7,"error":{"message":"x"}}`, "INVALID_RESPONSE SCHEMA /error/code required", nil},
		{"a code that is no integer", `{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":"x"}}`, "INVALID_RESPONSE SCHEMA /error/code type", nil},
		{"a code that is a string", `{"jsonrpc":"2.0","id":7,"error":{"code":"1","message":"x"}}`, "INVALID_RESPONSE SCHEMA /error/code type", nil},
		{"a message that is an object", `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":{}}}`, "INVALID_RESPONSE SCHEMA /error/message type", nil},
		{"an error with a member too many", `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x","stack":"SECRET"}}`, "INVALID_RESPONSE SCHEMA /error/stack additionalProperties", nil},
		{"an error that is a string", `{"jsonrpc":"2.0","id":7,"error":"SECRET"}`, "INVALID_RESPONSE SCHEMA /error type", nil},
	})
}

// The envelope of A4, with its own faults in the order of the input.
func TestEnvelope(t *testing.T) {
	tool := toolOf(t, numberSchema, func(c *contract.Contract) {
		c.Result.Framing, c.Result.FailureCodes = contract.FramingEnvelope, []contract.FailureCode{contract.NotFound}
	})
	const head = `{"tool":"t","request_id":"req.A1b2C3d4","outcome":`
	judgeRows(t, tool, []framedRow{
		{"success", head + `"success","data":{"n":1}}`, `{"n":1}`, nil},
		{"failure", head + `"failure","error":{"code":"NOT_FOUND","retryable":false}}`, "NOT_FOUND TOOL_REPORTED /error/code", nil},
		{"success with error", head + `"success","data":{"n":1},"error":null}`, "INVALID_RESPONSE SCHEMA /error additionalProperties", nil},
		{"failure with data", head + `"failure","error":{"code":"NOT_FOUND","retryable":false},"data":1}`, "INVALID_RESPONSE SCHEMA /data additionalProperties", nil},
		{"no outcome", `{"tool":"t","request_id":"req.A1b2C3d4","data":{"n":1}}`, "INVALID_RESPONSE SCHEMA /outcome required", nil},
		{"another outcome", head + `"partial","data":{"n":1}}`, "INVALID_RESPONSE SCHEMA /outcome enum", nil},
		{"another tool", `{"tool":"u","request_id":"req.A1b2C3d4","outcome":"success","data":{"n":1}}`, "INVALID_RESPONSE SCHEMA /tool const", nil},
		{"another request", `{"tool":"t","request_id":"req.A1b2C3d5","outcome":"success","data":{"n":1}}`, "INVALID_RESPONSE BINDING /request_id", nil},
		{"a failure of another request", `{"tool":"t","request_id":"req.A1b2C3d5","outcome":"failure","error":{"code":"NOT_FOUND","retryable":false}}`, "INVALID_RESPONSE BINDING /request_id", nil},
		{"a code that was not promised", head + `"failure","error":{"code":"TOOL_FAILED","retryable":false}}`, "INVALID_RESPONSE SCHEMA /error/code enum", nil},
		{"retryable is a word", head + `"failure","error":{"code":"NOT_FOUND","retryable":"no"}}`, "INVALID_RESPONSE SCHEMA /error/retryable type", nil},
		{"an error that is a string", head + `"failure","error":"SECRET"}`, "INVALID_RESPONSE SCHEMA /error type", nil},
		{"a message in the error", head + `"failure","error":{"code":"NOT_FOUND","retryable":false,"message":"SECRET"}}`, "INVALID_RESPONSE SCHEMA /error/message additionalProperties", nil},
		{"a list", `[]`, "INVALID_RESPONSE SCHEMA  type", nil},
	})
}

// What is shown of a tool's own words. A7
func TestShow(t *testing.T) {
	for _, row := range []struct {
		line  string
		texts []string
		limit int
		want  DisplayText // zero: nothing is shown
	}{
		{"nothing allowed", []string{"a"}, 0, DisplayText{}},
		{"nothing said", nil, 9, DisplayText{}},
		{"nothing visible", []string{"\u200b\u2060", " \n"}, 9, DisplayText{}},
		{"one", []string{"no index"}, 9, DisplayText{Content: "no index", Normalization: "NFKC"}},
		{"exactly as much", []string{"no index!"}, 9, DisplayText{Content: "no index!", Normalization: "NFKC"}},
		{"cut", []string{"no index!!"}, 9, DisplayText{Content: "no index!", Truncated: true, Normalization: "NFKC"}},
		{"code points are counted", []string{"éé😀x"}, 3, DisplayText{Content: "éé😀", Truncated: true, Normalization: "NFKC"}},
		{"below each other", []string{"a", "", "b\r\nc"}, 9, DisplayText{Content: "a\nb\nc", Normalization: "NFKC"}},
		{"cut at the line end", []string{"ab", "c"}, 3, DisplayText{Content: "ab", Truncated: true, Normalization: "NFKC"}},
		{"cleaned", []string{"\x1b[31mred\x1b[0m \u202eevil"}, 99, DisplayText{Content: "red evil", Normalization: "NFKC"}},
		{"normalised", []string{"ﬁne"}, 9, DisplayText{Content: "fine", Normalization: "NFKC"}},
	} {
		t.Run(row.line, func(t *testing.T) {
			var v Verdict
			v.show(row.texts, row.limit)
			if (v.Display == nil) != (row.want == DisplayText{}) || (v.Display != nil && *v.Display != row.want) {
				t.Errorf("got %+v, want %+v", v.Display, row.want)
			}
		})
	}
}
