package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
)

// exampleText is the text of made-up replies. No cleaning changes it, and it is the same
// as a page, as Markdown and as a table of one cell.
const exampleText = "example text"

// textMedia are the media types of a reply that is a text.
var textMedia = []string{"text/plain", "text/html", "text/markdown", "text/csv"}

// textKey writes what a contract says about replies that are texts: the source promises
// no members, so the agent gets the text and no facts.
func (w *writer) textKey(b *strings.Builder) {
	fmt.Fprintf(b, "result:\n  kind: text\n  framing: %s\n", w.framing)
	b.WriteString(w.question(2, "the source has no schema of replies, so the agent gets text and no facts. Is that enough for its decision, or can the vendor promise a schema?"))
	w.asks(b, w.resultAsks)
	if w.framing == string(contract.FramingMCP) {
		b.WriteString(w.question(2, "the text of the blocks is read as plain text. Is it HTML, Markdown or CSV (then add that media type)?"))
	}
	fmt.Fprintf(b, "  media_types: [%s]\n", strings.Join(w.mediaTypes, ", "))
	b.WriteString(w.question(2, "are these limits enough for real replies, and no more than the task needs?"))
	b.WriteString("  text: {profile: prose, max_response_bytes: 2000000, max_output_chars: 20000}\n")
	if w.notFound {
		b.WriteString("  not_found: {http_status: [404]}\n")
	}
}

// textCases derives the cases of a text: what passes, what a server reports or nobody
// knows, and the lack of a reply.
func (w *writer) textCases() []caseFile {
	payload := exampleText
	if w.framing == string(contract.FramingMCP) {
		payload = `{"content": [{"type": "text", "text": "` + exampleText + `"}]}`
	}
	list := []caseFile{w.framedReply("accepted-example", "A made-up text; put a recorded reply in its place.", payload, "{text: "+exampleText+"}")}
	if w.framing == string(contract.FramingMCP) {
		at := "/content/0/type"
		list = append(list,
			w.framedReply("reported-error", "The tool says that it failed; nothing of what it says goes on.",
				`{"content": [{"type": "text", "text": "`+exampleText+`"}], "isError": true}`,
				fmt.Sprintf("{failure: %s, layer: TRANSPORT, reason: %s}", contract.ToolFailed, contract.ReasonToolReported)),
			w.framedReply("unknown-block", "A block of a type that nobody knows.", `{"content": [{"type": "unknown_block"}]}`,
				w.refusal(contract.LayerSchema, contract.ReasonMCPResult, &at, "")))
	}
	return append(list, w.noReply()...)
}

// textContent returns the media types of a body that are texts, in the order of
// textMedia.
func textContent(names []string) []string {
	return slices.DeleteFunc(slices.Clone(textMedia), func(m string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return mediaBase(n) == m })
	})
}
