package validators

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Verdict is what judging one reply came to. The zero Verdict refuses: it is neither
// accepted nor does it name a code, and its readers take that for INVALID_RESPONSE.
type Verdict struct {
	// Accepted is true where every layer let the reply pass.
	Accepted bool
	// Output is what the agent gets where the reply was accepted.
	Output Output
	// Code is what the agent is told where the reply was refused.
	Code contract.FailureCode
	// Rejections say which layers refused and where, for operators; the first is the
	// one that counts. There are at most MaxRejections.
	Rejections []Rejection
	// Display is what people may be shown of a failure that the tool itself reported,
	// where the contract allows any of it; else nil.
	Display *DisplayText
	// Signals are counts for monitoring: "removed." and the kind of characters,
	// "dropped_blocks." and the type of content, "dropped_members", "cut_items",
	// "hidden_html", "css_unevaluated", "mixed_script", "instruction_phrase".
	Signals map[string]uint64
}

// Output is what an accepted reply gives to the agent.
type Output struct {
	// JSON is one compact value, made anew from the promised members; nil for kind text.
	JSON []byte
	// Text is what a reply of kind text gives; nil for other kinds.
	Text *Text
	// UntrustedText are the JSON Pointers into JSON of strings that hold outside text.
	UntrustedText []string
	// Truncated is true where text or items were cut.
	Truncated bool
	// ObservedAt is when the facts were true, where the contract says which member
	// tells; else zero.
	ObservedAt time.Time
	// FreshUntil is the end of the freshness window, exclusive; else zero.
	FreshUntil time.Time
}

// MaxRejections is the number of rejections of one verdict: one and four more.
const MaxRejections = 5

// Rejection says what refused a reply, and where. It never holds a value of the reply.
type Rejection struct {
	Layer  contract.Layer
	Reason contract.Reason
	// At is a JSON Pointer into the received bytes, or into the object that an adapter
	// made, or that was made of a command's output. Names are escaped and cut, since
	// they may be the reply's own.
	At         string
	SchemaPath string
	Keyword    string
	Check      string // name of the semantic check
	// CheckIndex is that check's place in contract.Result.Checks, from 1, since names
	// need not be unique; 0 where no check refused.
	CheckIndex int
	Detail     string // a sentence of our own
	Offset     int    // byte offset, for faults of syntax and limits
}

// Refuse makes the verdict of a reply that broke its contract.
func Refuse(rejections ...Rejection) Verdict {
	if len(rejections) > MaxRejections {
		rejections = rejections[:MaxRejections]
	}
	return Verdict{Code: contract.InvalidResponse, Rejections: rejections}
}

// fromReader turns a refusal of the strict reader into a rejection.
func fromReader(e *strictjson.Error) Rejection {
	layer := contract.LayerSyntax
	if e.Reason.IsLimit() {
		layer = contract.LayerLimits
	}
	at, err := strictjson.ParsePointer(e.Pointer)
	if err != nil {
		at = nil
	}
	return Rejection{
		Layer: layer, Reason: contract.Reason(e.Reason.String()),
		At: shownPointer(at), Detail: e.Detail, Offset: e.Offset,
	}
}

// fromSchema turns the failures of a schema into rejections; under is where the judged
// value stands in the received bytes.
func fromSchema(failures []schema.Failure, under strictjson.Pointer) []Rejection {
	out := make([]Rejection, 0, min(len(failures), MaxRejections))
	for _, f := range failures[:min(len(failures), MaxRejections)] {
		out = append(out, Rejection{
			Layer: contract.LayerSchema, Reason: contract.ReasonSchema,
			At:         shownPointer(join(under, f.At)),
			SchemaPath: f.SchemaPath, Keyword: f.Keyword,
			Detail: fmt.Sprintf("the schema's %q refuses this place", f.Keyword),
		})
	}
	return out
}

// fromCheck turns the refusal of a semantic check into a rejection; index is the
// check's place in the contract, from 1.
func fromCheck(name string, index int, f *CheckFailure, under strictjson.Pointer) Rejection {
	return Rejection{
		Layer: contract.LayerSemantic, Reason: f.Reason, Check: name, CheckIndex: index,
		At: shownPointer(join(under, f.At)), Detail: f.Detail,
	}
}

func join(a, b strictjson.Pointer) strictjson.Pointer {
	return append(append(make(strictjson.Pointer, 0, len(a)+len(b)), a...), b...)
}

// maxShownName is the number of code points of a name from a reply that are shown.
const maxShownName = 64

// shownPointer writes a pointer for operators. Its names may come from the reply: they
// are cut, and characters that do not print are escaped, so that a record cannot be
// made to look like something else.
func shownPointer(p strictjson.Pointer) string {
	shown := make(strictjson.Pointer, len(p))
	for i, name := range p {
		shown[i] = ShownName(name)
	}
	return shown.String()
}

// ShownName writes a name that came from outside for operators: at most 64 code points,
// and characters that do not print escaped as \u{XXXX}.
func ShownName(name string) string {
	var b strings.Builder
	n := 0
	for _, r := range name {
		if n == maxShownName {
			b.WriteString("…")
			break
		}
		n++
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%04X}`, r)
		}
	}
	return b.String()
}
