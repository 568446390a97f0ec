package gate

import (
	"context"
	"reflect"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
)

// judgeCall judges one call of the tool t with a request id and the given call id.
func judgeCall(t testing.TB, set *Set, raw []byte, callID string, s Status) Outcome {
	t.Helper()
	o, err := Judge(context.Background(), set, Call{
		Request: Request{Tool: "t", RequestID: "req.A1b2C3d4", CallID: callID}, Raw: raw, Upstream: Upstream{Status: s},
	}, Judgement{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const oneNumber = `{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer"}}}`

// A response belongs to the call whose id it has, in type and in value (case 015).
func TestConformanceCallID(t *testing.T) { // A6, D2
	set := oneTool(t, oneNumber, func(c *contract.Contract) {
		c.Result.Framing, c.Result.DisplayText = contract.FramingJSONRPC, 20
	})
	const result = `,"result":{"content":[],"structuredContent":{"n":1}}}`
	const failure = `,"error":{"code":-32602,"message":"no such query"}}`
	for _, row := range []struct {
		line, callID, id string
		bound            bool
	}{
		{"a number", "7", `,"id":7`, true},
		{"an equal number", "7", `,"id":7.0`, true},
		{"the number as a string", "7", `,"id":"7"`, false},
		{"another number", "7", `,"id":8`, false},
		{"numbers that no double tells apart", "9007199254740993", `,"id":9007199254740992`, false},
		{"a string", "call_1", `,"id":"call_1"`, true},
		{"a string with escapes", "call_1", `,"id":"call\u005f1"`, true},
		{"another case", "call_1", `,"id":"Call_1"`, false},
		{"a string literal", `"7"`, `,"id":"7"`, true},
		{"a string literal and a number", `"7"`, `,"id":7`, false},
		{"no JSON after all", "07", `,"id":"07"`, true},
		{"no JSON after all, and a number", "07", `,"id":7`, false},
		{"white space makes it a string", " 7", `,"id":" 7"`, true},
		{"a word of JSON is a string", "null", `,"id":"null"`, true},
		{"a word of JSON is not its value", "null", `,"id":null`, false},
		{"an object is a string", "{}", `,"id":{}`, false},
		{"no id", "7", ``, false},
		{"no call id", "", `,"id":""`, false},
		{"no call id and a number", "", `,"id":0`, false},
	} {
		t.Run(row.line, func(t *testing.T) {
			o := judgeCall(t, set, []byte(`{"jsonrpc":"2.0"`+row.id+result), row.callID, Status{})
			if (o.Result.Data != nil) != row.bound {
				t.Errorf("result: %+v %+v", o.Result, o.Verdict.Rejections)
			}
			f := judgeCall(t, set, []byte(`{"jsonrpc":"2.0"`+row.id+failure), row.callID, Status{}).Result.Failure
			if (f.Code == contract.InvalidArguments) != row.bound || (f.DisplayText != nil) != row.bound {
				t.Errorf("failure: %+v", f)
			}
			if row.bound {
				return
			}
			first := o.Verdict.Rejections[0]
			if first.Reason != contract.ReasonBinding || first.At != "/id" || first.Check != "id" || first.Layer != contract.LayerSemantic {
				t.Errorf("%+v", first)
			}
		})
	}
}

// A command's output comes with the exit codes that its contract lists.
func TestExitCodes(t *testing.T) { // A16
	set := oneTool(t, oneNumber, func(c *contract.Contract) {
		c.Result.Kind = contract.KindCommand
		c.Result.Command = &contract.Command{Pattern: `(?P<n>[0-9]*)\n?`, ExitCodes: []int{3, 4}, Convert: map[string]string{"n": contract.ConvertInteger}}
	})
	exit := func(code int) Status { return Status{Kind: StatusExit, Code: code} }
	for _, row := range []struct {
		line   string
		raw    []byte
		status Status
		reason contract.Reason // "": accepted
	}{
		{"a listed code", []byte("12\n"), exit(3), ""},
		{"another listed code", []byte("12"), exit(4), ""},
		{"no status", []byte("12"), Status{}, ""},
		{"success that the contract does not list", []byte("12"), exit(0), contract.ReasonUpstreamStatus},
		{"a code that it does not list", []byte("12"), exit(1), contract.ReasonUpstreamStatus},
		{"a listed code and no output at all", nil, exit(3), contract.ReasonCommandOutput},
		{"a listed code and empty output", []byte{}, exit(3), contract.ReasonCommandOutput},
		{"leading zeros", []byte("007"), exit(3), contract.ReasonCommandOutput},
	} {
		t.Run(row.line, func(t *testing.T) {
			o := judgeCall(t, set, row.raw, "", row.status)
			if row.reason == "" {
				if o.Result.Data == nil || o.Result.Data.JSON != `{"n":12}` {
					t.Errorf("%+v %+v", o.Result, o.Verdict.Rejections)
				}
				return
			}
			if o.Result.Data != nil || o.Result.Failure.Code != contract.InvalidResponse || o.Verdict.Rejections[0].Reason != row.reason {
				t.Errorf("%+v %+v", o.Result, o.Verdict.Rejections)
			}
		})
	}
}

// An extension travels in its own named sub-object, is judged, and is given to nobody
// who did not ask for it.
func TestExtension(t *testing.T) { // A13, A15
	const schema = `{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer"},
		"ext_v1":{"type":"object","additionalProperties":false,"properties":{"hint":{"enum":["a","b"]}}}}}`
	of := func(fields ...string) *Set {
		return oneTool(t, schema, func(c *contract.Contract) {
			c.Result.AgentFields = nil
			for _, f := range fields {
				c.Result.AgentFields = append(c.Result.AgentFields, []string{f})
			}
		})
	}
	for _, row := range []struct {
		line, raw, data string
		set             *Set
	}{
		{"not named", `{"n":1,"ext_v1":{"hint":"a"}}`, `{"n":1}`, of("n")},
		{"named", `{"n":1,"ext_v1":{"hint":"a"}}`, `{"n":1,"ext_v1":{"hint":"a"}}`, of("n", "ext_v1")},
		{"absent", `{"n":1}`, `{"n":1}`, of("n", "ext_v1")},
		{"judged though not named", `{"n":1,"ext_v1":{"hint":"c"}}`, "", of("n")},
		{"closed though not named", `{"n":1,"ext_v1":{"note":"a"}}`, "", of("n")},
		{"another version", `{"n":1,"ext_v2":{"hint":"a"}}`, "", of("n")},
		{"a free map", `{"n":1,"metadata":{"hint":"a"}}`, "", of("n")},
	} {
		t.Run(row.line, func(t *testing.T) {
			o := judgeRaw(t, row.set, row.raw)
			if (o.Result.Data == nil) != (row.data == "") || (row.data != "" && o.Result.Data.JSON != row.data) {
				t.Errorf("%+v %+v", o.Result, o.Verdict.Rejections)
			}
		})
	}
}

// What people are shown of a failure is in the reply and counted in the record; it is
// never data.
func TestDisplayText(t *testing.T) { // A7, B11
	set := oneTool(t, oneNumber, func(c *contract.Contract) {
		c.Result.Framing, c.Result.DisplayText = contract.FramingMCP, 5
	})
	raw := []byte(`{"isError":true,"content":[{"type":"text","text":"ab\u200bcdéfg"}]}`)
	o := judgeCall(t, set, raw, "", Status{})
	if d := o.Result.Failure.DisplayText; d == nil || !reflect.DeepEqual(*d, Text{Content: "abcdé", Truncated: true, Normalization: "NFKC"}) {
		t.Fatalf("%+v", d)
	}
	if size := resultSize(o.Result); size != resultSize(ToolResult{})+6 {
		t.Errorf("the reply is taken for one of %d bytes", size)
	}
	r := newRecord(Caller{}, "d", set, prepared{Call: Call{Raw: raw}}, o)
	if r.OutputBytes != 6 || !r.Truncated || r.FailureCode != "TOOL_FAILED" || r.Signals["removed.format"] != 1 {
		t.Errorf("%+v", r)
	}
}
