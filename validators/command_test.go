package validators

import (
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func commandOf(pattern string, convert map[string]string) func(*contract.Contract) {
	return func(c *contract.Contract) {
		c.Result.Kind = contract.KindCommand
		c.Result.Command = &contract.Command{Pattern: pattern, ExitCodes: []int{0}, Convert: convert}
		c.Result.Limits.MaxBytes, c.Result.Limits.MaxStringChars, c.Result.Limits.MaxNumberChars = 64, 8, 4
	}
}

// What a command printed becomes an object, or nothing at all. A2, A16, D11
func TestCommand(t *testing.T) {
	tool := toolOf(t, `true`, commandOf(`^revision=(?P<revision>[^ ]+)(?: state=(?P<state>[a-z]+))?( .)?\n?$`, nil))
	judgeRows(t, tool, []framedRow{
		{"the whole line", "revision=4f2a9c1 state=up\n", `{"revision":"4f2a9c1","state":"up"}`, nil},
		{"without a line end", "revision=4f2a9c1 state=up", `{"revision":"4f2a9c1","state":"up"}`, nil},
		{"a group that took no part is absent", "revision=4f2a9c1", `{"revision":"4f2a9c1"}`, nil},
		{"a group without a name gives nothing", "revision=4f2a9c1 x", `{"revision":"4f2a9c1"}`, nil},
		{"digits stay a string", "revision=007", `{"revision":"007"}`, nil},
		{"characters that JSON escapes", `revision="\"`, `{"revision":"\"\\\""}`, nil},
		{"a line more", "revision=4f2a9c1 state=up\nSECRET\n", "INVALID_RESPONSE COMMAND_OUTPUT", nil},
		{"an empty line more", "revision=4f2a9c1 state=up\n\n", "INVALID_RESPONSE COMMAND_OUTPUT", nil},
		{"a line before", "SECRET\nrevision=4f2a9c1 state=up\n", "INVALID_RESPONSE COMMAND_OUTPUT", nil},
		{"white space before", " revision=4f2a9c1 state=up\n", "INVALID_RESPONSE COMMAND_OUTPUT", nil},
		{"a byte order mark", "\ufeffrevision=4f2a9c1", "INVALID_RESPONSE COMMAND_OUTPUT", nil},
		{"nothing", "", "INVALID_RESPONSE COMMAND_OUTPUT", nil},
		{"exactly as long a group", "revision=12345678", `{"revision":"12345678"}`, nil},
		{"too long a group", "revision=123456789", "INVALID_RESPONSE STRING_LIMIT /revision", nil},
		{"code points are counted", "revision=éééééééé", `{"revision":"éééééééé"}`, nil},
		{"a hidden character in a machine value", "revision=4f\u200b2a", "INVALID_RESPONSE CHARACTER /revision", nil},
		{"not UTF-8", "revision=4f\xff2a", "INVALID_RESPONSE ENCODING", nil},
		{"half a character at the end", "revision=4f2a\xc3", "INVALID_RESPONSE ENCODING", nil},
		{"too many bytes", "revision=4f2a9c1 state=" + strings.Repeat("u", 42), "INVALID_RESPONSE BYTE_LIMIT", nil},
		{"the limit of bytes comes before the encoding", strings.Repeat("\xff", 65), "INVALID_RESPONSE BYTE_LIMIT", nil},
		{"the encoding comes before the pattern", "SECRET\xff", "INVALID_RESPONSE ENCODING", nil},
	})
	if v, _ := verdictOf(tool, "ok\xff"); v.Rejections[0].Offset != 2 || v.Rejections[0].Layer != contract.LayerSyntax {
		t.Errorf("%+v", v.Rejections[0])
	}
	if v, _ := verdictOf(tool, "revision=4f\u200b2a"); v.Rejections[0].Offset != 0 {
		t.Errorf("an offset into a text that nobody has seen: %+v", v.Rejections[0])
	}
	if v, _ := verdictOf(tool, "no"); v.Rejections[0].Layer != contract.LayerAdapter {
		t.Errorf("%+v", v.Rejections[0])
	}
}

// No output is not empty output, even where a pattern lets that pass.
func TestCommandWithoutOutput(t *testing.T) {
	tool := toolOf(t, `true`, commandOf(`(?P<x>[a-z]*)`, nil))
	if v := tool.Judge(t.Context(), []byte{}, Facts{}); !v.Accepted || string(v.Output.JSON) != `{"x":""}` {
		t.Errorf("empty output: %+v", v)
	}
	if v := tool.Judge(t.Context(), nil, Facts{}); v.Accepted || v.Rejections[0].Reason != contract.ReasonCommandOutput {
		t.Errorf("no output: %+v", v)
	}
}

// The limit of bytes is that of the output; the object around it may be longer.
func TestCommandBytes(t *testing.T) {
	tool := toolOf(t, `true`, func(c *contract.Contract) {
		commandOf(`(?P<revision>.*)`, nil)(c)
		c.Result.Limits.MaxBytes = 8
	})
	judgeRows(t, tool, []framedRow{
		{"at the limit", "12345678", `{"revision":"12345678"}`, nil},
		{"over it", "123456789", "INVALID_RESPONSE BYTE_LIMIT", nil},
	})
}

// Groups are converted where the contract says so, and only from what JSON writes.
func TestCommandConvert(t *testing.T) { // A16
	convert := map[string]string{"i": contract.ConvertInteger, "n": contract.ConvertNumber, "b": contract.ConvertBoolean}
	tool := toolOf(t, `{"type":"object","properties":{"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"}}}`,
		commandOf(`(?:i=(?P<i>.*))?(?:n=(?P<n>.*))?(?:b=(?P<b>.*))?`, convert))
	refused := func(group string) string { return "INVALID_RESPONSE COMMAND_OUTPUT /" + group }
	judgeRows(t, tool, []framedRow{
		{"an integer", "i=12", `{"i":12}`, nil},
		{"a negative one", "i=-12", `{"i":-12}`, nil},
		{"zero", "i=0", `{"i":0}`, nil},
		{"leading zeros", "i=007", refused("i"), nil},
		{"a plus sign", "i=+7", refused("i"), nil},
		{"a fraction", "i=1.0", refused("i"), nil},
		{"an exponent", "i=1e2", refused("i"), nil},
		{"hexadecimal", "i=0x1f", refused("i"), nil},
		{"nothing", "i=", refused("i"), nil},
		{"digits of another script", "i=١٢", refused("i"), nil},
		{"white space", "i=1 ", refused("i"), nil},
		{"an object", "i={}", refused("i"), nil},
		{"more members", `i=1,"x":2`, refused("i"), nil},
		{"a number", "n=1.50", `{"n":1.50}`, nil},
		{"with an exponent", "n=-1E3", `{"n":-1E3}`, nil},
		{"without digits before the point", "n=.5", refused("n"), nil},
		{"a point at the end", "n=1.", refused("n"), nil},
		{"infinity", "n=Infinity", refused("n"), nil},
		{"too many digits", "n=12345", "INVALID_RESPONSE NUMBER_LIMIT /n", nil},
		{"a large one", "n=1e99", `{"n":1e99}`, nil},
		{"true", "b=true", `{"b":true}`, nil},
		{"false", "b=false", `{"b":false}`, nil},
		{"yes", "b=yes", refused("b"), nil},
		{"True", "b=True", refused("b"), nil},
		{"one", "b=1", refused("b"), nil},
		{"null", "b=null", refused("b"), nil},
	})
}

// The pattern is held at both ends of the output, whatever it says.
func TestCommandAnchors(t *testing.T) {
	for _, row := range []struct{ pattern, raw, want string }{
		{`a|(?P<x>ab)`, "ab", `{"x":"ab"}`},
		{`a|(?P<x>b)`, "ab", "INVALID_RESPONSE COMMAND_OUTPUT"},
		{`(?m)^(?P<x>.)$`, "a\nb", "INVALID_RESPONSE COMMAND_OUTPUT"},
		{`(?i)(?P<x>a)`, "A", `{"x":"A"}`},
		{`(?s)(?P<x>.*)`, "a\nb", `{"x":"a\nb"}`},
		{`(?P<x>.*)$`, "a\n", "INVALID_RESPONSE COMMAND_OUTPUT"},
	} {
		tool := toolOf(t, `true`, func(c *contract.Contract) {
			commandOf(row.pattern, nil)(c)
			c.Result.TextFields = []contract.TextField{{At: strictjson.Pointer{"x"}}}
		})
		if _, got := verdictOf(tool, row.raw); got != row.want {
			t.Errorf("%s on %q: got %s, want %s", row.pattern, row.raw, got, row.want)
		}
	}
}

// The output of a command can be JSON; the strict reader then has the word.
func TestCommandJSON(t *testing.T) {
	tool := toolOf(t, numberSchema, func(c *contract.Contract) {
		c.Result.Kind, c.Result.Command = contract.KindCommand, &contract.Command{JSON: true, ExitCodes: []int{0}}
	})
	judgeRows(t, tool, []framedRow{
		{"one value", "{\"n\": 1}\n", `{"n":1}`, nil},
		{"a banner", "SECRET\n{\"n\":1}", "INVALID_RESPONSE JSON_SYNTAX", nil},
		{"two values", `{"n":1}{"n":2}`, "INVALID_RESPONSE JSON_SYNTAX", nil},
		{"a duplicate", `{"n":1,"n":2}`, "INVALID_RESPONSE DUPLICATE_NAME /n", nil},
		{"nothing", ``, "INVALID_RESPONSE JSON_SYNTAX", nil},
	})
}

// A pattern that a contract's lint would have refused is a fault, not a panic.
func TestCommandPatternFault(t *testing.T) {
	registry, err := NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &contract.Contract{Dir: "t/v1", Tool: "t", Result: contract.Result{Command: &contract.Command{Pattern: "("}}}
	if _, err := registry.Compile(&contract.Tree{Contracts: []*contract.Contract{c}}); err == nil || !strings.Contains(err.Error(), "t/v1/contract.yaml: result.command.pattern cannot be compiled") {
		t.Errorf("%v", err)
	}
}
