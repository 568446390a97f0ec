package scaffold

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
)

// FromMCP drafts a contract from the result of MCP's tools/list, {"tools": […]}, or
// from the array of tools alone. name chooses the tool and may be "" where there is
// one. The results of a tool that declares no output schema are drafted as texts. The tool's
// hints about itself become questions: whoever serves the tool wrote them.
// Options.Tool, "" for the MCP name, is the name of the contract's tool.
func FromMCP(src []byte, name string, o Options) (*Draft, error) {
	v, err := parse(src)
	if err != nil {
		return nil, fmt.Errorf("the list of tools cannot be read: %w", err)
	}
	tools, ok := v.([]any)
	if doc := asObject(v); doc != nil {
		if r := asObject(doc.get("result")); r != nil { // the whole response message
			doc = r
		}
		tools, ok = doc.get("tools").([]any)
	}
	if !ok {
		return nil, errors.New(`this is no list of tools: expected {"tools": […]} or an array`)
	}
	tool, err := oneTool(tools, name)
	if err != nil {
		return nil, err
	}
	if o.Tool == "" {
		o.Tool = text(tool.get("name"))
	}
	output := asObject(tool.get("outputSchema"))
	input := tool.get("inputSchema")
	s := source{
		from: "an MCP tools/list", description: text(tool.get("description")), framing: string(contract.FramingMCP),
		result: output, arguments: input, alias: text(tool.get("name")), text: output == nil,
	}
	if asObject(input) == nil {
		s.arguments, s.argumentsUnknown = noArguments(), true
	}
	// A $ref means its own schema's document.
	if output != nil {
		s.examples, s.lookup = list(output.get("examples")), pointerLookup(output)
	}
	s.inputLookup = pointerLookup(s.arguments)
	s.effect, s.effectWhy = mcpEffect(asObject(tool.get("annotations")))
	return draft(s, o)
}

// mcpEffect proposes an effect from hints that nobody vouches for: only a tool that
// claims to read, and not to destroy, is proposed as reading.
func mcpEffect(hints *object) (effect, why string) {
	var said []string
	for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if b, ok := hints.get(name).(bool); ok {
			said = append(said, fmt.Sprintf("%s: %t", name, b))
		}
	}
	claims := "nothing"
	if len(said) > 0 {
		claims = strings.Join(said, ", ")
	}
	why = "the server says " + claims + ", and nobody vouches for it. What does the tool do?"
	if isTrue(hints.get("readOnlyHint")) && !isTrue(hints.get("destructiveHint")) {
		return string(contract.ReadOnly), why
	}
	return string(contract.SideEffect), why
}

// oneTool finds the tool of a name, or the only one.
func oneTool(tools []any, name string) (*object, error) {
	var names []string
	for _, t := range tools {
		tool := asObject(t)
		if tool == nil {
			continue
		}
		if n := text(tool.get("name")); n == name || name == "" && len(tools) == 1 {
			return tool, nil
		} else if len(names) < 20 {
			names = append(names, fmt.Sprintf("%.60q", n))
		}
	}
	what := "several tools; choose one by name"
	if name != "" {
		what = fmt.Sprintf("no tool %.80q", name)
	}
	return nil, fmt.Errorf("the list has %s; it has: %s", what, strings.Join(names, ", "))
}
