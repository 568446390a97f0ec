package validators

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// framedText is a tool whose text stands in the blocks of a CallToolResult.
func framedText(t testing.TB, framing contract.Framing, media ...string) *Tool {
	t.Helper()
	registry, err := NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	tool, faults := registry.compile(&contract.Contract{
		Dir: "t/v1", Tool: "t", Version: 1, Effect: contract.ReadOnly,
		Result: contract.Result{
			Kind: contract.KindText, Framing: framing, MediaTypes: media, Limits: strictjson.Ceilings(), DisplayText: 20,
			Text: &contract.TextRules{Profile: "prose", KeepLinks: true, MaxResponseBytes: 5000, MaxOutputChars: 60},
		},
	})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return tool
}

// Text blocks go through the text path, resource links become inert links, other known
// blocks are dropped and counted, unknown ones refused. B2, B5, D2, D3
func TestTextOfBlocks(t *testing.T) {
	tool := framedText(t, contract.FramingMCP, "application/json")
	for _, row := range []struct {
		line, raw string
		want      string // "content | text href | …", or "CODE REASON at"
		signals   map[string]uint64
	}{
		{"one block", `{"content":[{"type":"text","text":"a\u200bb x²"}]}`, "ab x2", map[string]uint64{"removed.format": 1}},
		{"blocks are lines", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\r\n"}],"isError":false}`, "a\nb", nil},
		{"markup is text", `{"content":[{"type":"text","text":"<p hidden>a</p>"}]}`, "<p hidden>a</p>", nil},
		{"no block", `{"content":[]}`, "", nil},
		{"a link", `{"content":[{"type":"text","text":"see"},{"type":"resource_link","uri":"https://a.example.test/q3","name":"q3","title":" Third\u202e\nquarter "}]}`, "see | Third quarter https://a.example.test/q3", nil},
		{"a link without a name", `{"content":[{"type":"resource_link","uri":"https://a.example.test/","name":""}]}`, " | https://a.example.test/ https://a.example.test/", nil},
		{"a link to nowhere", `{"content":[{"type":"resource_link","uri":"reports://q3","name":"q3"},{"type":"resource_link","uri":"javascript:x()","name":"q3"}]}`, "", map[string]uint64{"dropped_blocks.resource_link": 2}},
		{"a link to a host that nobody sees", `{"content":[{"type":"resource_link","uri":"http://\u200b","name":"n"}]}`, "", map[string]uint64{"dropped_blocks.resource_link": 1}},
		{"a link that poses as another", `{"content":[{"type":"resource_link","uri":"https://bank.example.test@a.example.test/","name":"bank"}]}`, " | bank https://a.example.test/", nil},
		{"links count as characters", `{"content":[{"type":"text","text":"` + strings.Repeat("a", 40) + `"},{"type":"resource_link","uri":"https://a.example.test/","name":"n"}]}`, strings.Repeat("a", 40) + " (cut)", nil},
		{"other blocks", `{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"audio"},{"type":"resource","resource":{"uri":"x:y","text":"SECRET"}}],"structuredContent":{"a":1},"extra":1}`, "a", map[string]uint64{"dropped_blocks.image": 1, "dropped_blocks.audio": 1, "dropped_blocks.resource": 1, "dropped_members": 2}},
		{"an unknown block", `{"content":[{"type":"text","text":"a"},{"type":"video"}]}`, "INVALID_RESPONSE MCP_RESULT /content/1/type", nil},
		{"a block that is a list", `{"content":[[]]}`, "INVALID_RESPONSE SCHEMA /content/0", nil},
		{"a text that is none", `{"content":[{"type":"text","text":1}]}`, "INVALID_RESPONSE SCHEMA /content/0/text", nil},
		{"a link without an address", `{"content":[{"type":"resource_link","name":"n"}]}`, "INVALID_RESPONSE SCHEMA /content/0/uri", nil},
		{"no content", `{"structuredContent":{"a":"b"}}`, "INVALID_RESPONSE SCHEMA /content", nil},
		{"not complete", `{"resultType":"input_required","content":[]}`, "INVALID_RESPONSE MCP_RESULT /resultType", nil},
		{"an error", `{"isError":true,"content":[{"type":"text","text":"no index\u200b"}]}`, "TOOL_FAILED TOOL_REPORTED /isError no index", map[string]uint64{"removed.format": 1}},
		{"no JSON", "hello", "INVALID_RESPONSE JSON_SYNTAX ", nil},
		{"two contents", `{"content":[],"content":[]}`, "INVALID_RESPONSE DUPLICATE_NAME /content", nil},
		{"too long", `{"content":[{"type":"text","text":"` + strings.Repeat("a", 5000) + `"}]}`, "INVALID_RESPONSE BYTE_LIMIT ", nil},
		{"cut", `{"content":[{"type":"text","text":"` + strings.Repeat("a", 61) + `"}]}`, strings.Repeat("a", 60) + " (cut)", nil},
	} {
		t.Run(row.line, func(t *testing.T) {
			v := tool.Judge(context.Background(), []byte(row.raw), Facts{})
			if got := shownText(v); got != row.want {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
			if !maps.Equal(v.Signals, row.signals) {
				t.Errorf("signals %v, want %v", v.Signals, row.signals)
			}
		})
	}
}

func shownText(v Verdict) string {
	if !v.Accepted {
		out := fmt.Sprintf("%s %s %s", v.Code, v.Rejections[0].Reason, v.Rejections[0].At)
		if v.Display != nil {
			out += " " + v.Display.Content
		}
		return out
	}
	out := v.Output.Text.Content
	for _, l := range v.Output.Text.Links {
		out += " | " + l.Text + " " + l.Href
	}
	if v.Output.Truncated {
		out += " (cut)"
	}
	return out
}

// Inside of a response the id binds the text to its call; blocks hold what the contract
// says. A6
func TestTextOfResponse(t *testing.T) {
	tool := framedText(t, contract.FramingJSONRPC, "application/json", "text/html")
	for _, row := range []struct{ line, raw, want string }{
		{"a page", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"<p hidden>a</p><p>b"}]}}`, "b"},
		{"of another call", `{"jsonrpc":"2.0","id":8,"result":{"content":[{"type":"text","text":"a"}]}}`, "INVALID_RESPONSE BINDING /id"},
		{"a page beyond the budget", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("<b>", 600) + `"}]}}`, "INVALID_RESPONSE HTML_LIMIT /result/content"},
		{"an error", `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}`, "INVALID_ARGUMENTS TOOL_REPORTED /error/code no"},
	} {
		t.Run(row.line, func(t *testing.T) {
			if got := shownText(tool.Judge(context.Background(), []byte(row.raw), Facts{Request: Request{CallID: "7"}})); got != row.want {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

// A text that is over its time is refused.
func TestTextTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v := framedText(t, contract.FramingPayload, "text/html").Judge(ctx, []byte("<p>a"), Facts{})
	if v.Accepted || v.Rejections[0].Layer != contract.LayerText {
		t.Errorf("%+v", v)
	}
}

// A reader makes values; a text is none.
func TestReaderOfText(t *testing.T) {
	registry, err := NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.RegisterReader("t", 1, jsonReader{}); err != nil {
		t.Fatal(err)
	}
	_, faults := registry.compile(framedText(t, contract.FramingPayload, "text/plain").Contract)
	if len(faults) != 1 || !strings.Contains(faults[0].String(), "reader") {
		t.Errorf("%v", faults)
	}
}

// FuzzTextOfBlocks: whatever stands in a CallToolResult, the verdict is whole, and every
// link of it may be shown.
func FuzzTextOfBlocks(f *testing.F) {
	tool := framedText(f, contract.FramingMCP, "application/json", "text/html")
	f.Add([]byte(`{"content":[{"type":"text","text":"<p>a<a href=https://a.example.test>b"},{"type":"resource_link","uri":"https://a.example.test/\u200b","name":"n"},{"type":"image"}]}`))
	f.Add([]byte(`{"isError":true,"content":[{"type":"text","text":"no"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := tool.Judge(context.Background(), raw, Facts{})
		if !v.Accepted {
			if len(v.Rejections) == 0 || v.Code == "" || v.Output.Text != nil {
				t.Fatalf("%+v", v)
			}
			return
		}
		chars := utf8.RuneCountInString(v.Output.Text.Content)
		for _, l := range v.Output.Text.Links {
			chars += utf8.RuneCountInString(l.Text) + len(l.Href)
			if !isLink(l.Href) || l.Text == "" {
				t.Errorf("%q", l)
			}
		}
		if chars > 60 || !utf8.ValidString(v.Output.Text.Content) {
			t.Errorf("%d characters: %+v", chars, *v.Output.Text)
		}
	})
}
