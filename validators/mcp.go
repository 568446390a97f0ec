package validators

import (
	"slices"
	"strconv"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// callResult is the framing of MCP's tools/call: a CallToolResult of the protocol's
// versions 2025-06-18 to 2026-07-28. Two results that say different things stand in
// one, structuredContent and content, and clients have shown the one after checking
// the other; here only structuredContent is judged and only it goes on (D3). It must
// be there: nothing to judge is never a success.
//
// The protocol lets a result carry more members than it names. They are dropped and
// counted, like the blocks of content; a member that it does name has its type, and a
// block has a type that the protocol knows, though nothing of it goes on: whoever sends
// another speaks a protocol that nobody has looked at. An absent content passes, since
// nothing would be taken from it.
type callResult struct {
	display int // code points of a reported failure's own text that may be shown
	// text is true for kind text, where content is judged in place of structuredContent
	// and goes on.
	text bool
}

func callResultOf(c *contract.Contract) callResult {
	return callResult{display: c.Result.DisplayText, text: c.Result.Kind == contract.KindText}
}

// payload is the member that goes on.
func (c callResult) payload() string {
	if c.text {
		return "content"
	}
	return "structuredContent"
}

func (c callResult) unframe(v strictjson.Value, _ Request) (frame, *Verdict) {
	s := shape{name: "mcp"}
	c.check(&s, v, "")
	if refused := s.refusal(); refused != nil {
		return frame{}, refused
	}
	return c.open(v, strictjson.Pointer{})
}

// check notes what is wrong with the result v, which stands at under.
func (c callResult) check(s *shape, v strictjson.Value, under string) {
	if !s.is(v, strictjson.Object, under) {
		return
	}
	if kind := v.Member("resultType"); kind.Exists() && (kind.Kind() != strictjson.String || kind.Text() != "complete") {
		s.mcpFault(under+"/resultType", "const", kind.Offset(), "the result is not a complete one")
	}
	content := v.Member("content")
	if s.is(content, strictjson.Array, under+"/content") {
		c.checkBlocks(s, content, under+"/content/")
	}
	failed := v.Member("isError")
	s.is(failed, strictjson.Bool, under+"/isError")
	if !failed.IsTrue() {
		s.require(v, under, c.payload())
	}
}

// checkBlocks looks at what every block has: its type, and the text of a text.
func (c callResult) checkBlocks(s *shape, content strictjson.Value, under string) {
	for i, block := range content.Elements() {
		if s.full() {
			return
		}
		at := under + strconv.Itoa(i)
		if !s.is(block, strictjson.Object, at) {
			continue
		}
		s.require(block, at, "type")
		kind := block.Member("type")
		switch {
		case !s.is(kind, strictjson.String, at+"/type"):
		case kind.Text() == "text":
			s.require(block, at, "text")
			s.is(block.Member("text"), strictjson.String, at+"/text")
		case kind.Text() == blockLink && c.text:
			s.require(block, at, "uri", "name")
			for _, name := range []string{"uri", "name", "title"} {
				s.is(block.Member(name), strictjson.String, at+"/"+name)
			}
		case !slices.Contains(blockTypes, kind.Text()):
			s.mcpFault(at+"/type", "enum", kind.Offset(), "no version of the protocol has this type of block")
		}
	}
}

// mcpFault notes what is well-formed and yet no result that anybody promised.
func (s *shape) mcpFault(at, keyword string, order int, detail string) {
	s.fault(at, keyword, order)
	s.faults[len(s.faults)-1].Reason = contract.ReasonMCPResult
	s.faults[len(s.faults)-1].Detail = detail
}

// open takes the payload out of a result of the right shape, or the reported failure.
func (c callResult) open(v strictjson.Value, under strictjson.Pointer) (frame, *Verdict) {
	content := v.Member("content")
	if v.Member("isError").IsTrue() {
		failed := reported(contract.ToolFailed, shownPointer(under.Append("isError")), "the result reports an error")
		failed.show(textsOf(content), c.display)
		dropBlocks(&failed.Signals, content, c.display > 0)
		dropMembers(&failed.Signals, v, "content", "isError", "resultType", "_meta")
		return frame{}, &failed
	}
	f := frame{payload: v.Member(c.payload()), under: under.Append(c.payload())}
	if !c.text {
		dropBlocks(&f.dropped, content, false)
	}
	dropMembers(&f.dropped, v, "content", "isError", "resultType", "_meta", c.payload())
	return f, nil
}

func textsOf(content strictjson.Value) []string {
	var texts []string
	for _, block := range content.Elements() {
		if block.Member("type").Text() == "text" {
			texts = append(texts, block.Member("text").Text())
		}
	}
	return texts
}

// blockTypes are the content blocks of the protocol.
var blockTypes = []string{"text", "image", "audio", blockLink, "resource"}

const blockLink = "resource_link"

// dropBlocks counts blocks that go no further, by type.
func dropBlocks(signals *map[string]uint64, content strictjson.Value, textShown bool) {
	for _, block := range content.Elements() {
		kind := block.Member("type").Text()
		if kind == "text" && textShown {
			continue
		}
		count(signals, "dropped_blocks."+kind, 1)
	}
}

// dropMembers counts members that go no further.
func dropMembers(signals *map[string]uint64, v strictjson.Value, known ...string) {
	for name := range v.Members() {
		if !slices.Contains(known, name) {
			count(signals, "dropped_members", 1)
		}
	}
}
