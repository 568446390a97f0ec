package gate

import (
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

// ToolResult is a judged result: the only part of a reply that may reach an agent. At
// most one of Data, Text and Failure is set; where none is, readers take it for a Failure
// with INVALID_RESPONSE.
type ToolResult struct {
	Tool            string // the contract's name; UnknownTool where no contract has it
	RequestID       string
	ContractVersion int // 0 where no contract judged
	Provenance      Provenance
	Data            *Data
	Text            *Text
	Failure         *Failure
	ValidatedAt     time.Time
	FreshUntil      time.Time // exclusive; zero where the contract has no window
}

// UnknownTool is the name in a result of a tool that no contract has.
const UnknownTool = "unknown"

// Provenance is where a result came from. Nothing in it is taken from the payload.
type Provenance struct {
	Source    string // at most 128 ASCII characters
	Trusted   bool   // only configuration grants it (B1)
	MediaType string // as the contract spells it
}

// Data are facts made anew from the judged value.
type Data struct {
	JSON          string // one compact value; numbers keep the digits of the input
	UntrustedText []string
	Truncated     bool
}

// Failure is the fixed refusal that an agent may see.
type Failure struct {
	Code contract.FailureCode
	// Retryable is true only where the identical call may be repeated now.
	Retryable bool
	// DisplayText is for people, only where the contract allows it: the tool's own
	// words about a failure that it reported, untrusted and without links; else nil.
	DisplayText *Text
}

// Text is outside text after cleaning.
type Text struct {
	Content   string
	Truncated bool // Content, Title or Links were cut
	// Normalization is "NFKC" or "NFC".
	Normalization string
	Title         string // of a page; "" without one
	Links         []Link // of a page, in the order of their texts
}

// Link is a link of a page, inert: nothing follows it.
type Link struct {
	Text string
	Href string // http, https or mailto, absolute, without user info, ASCII
}

// size is the number of bytes of outside text in t.
func (t *Text) size() int {
	if t == nil {
		return 0
	}
	size := len(t.Content) + len(t.Title)
	for _, l := range t.Links {
		size += len(l.Text) + len(l.Href)
	}
	return size
}

// Retry says whether and when the same call may be repeated. The zero Retry forbids.
type Retry struct {
	Allowed      bool
	AttemptsLeft int
	Delay        time.Duration
	NotAfter     time.Time
}

// Outcome is all that judging one call came to: what the agent gets, what the
// orchestrator gets, and what only operators get.
type Outcome struct {
	Tool    *validators.Tool // nil where no contract judged
	Verdict validators.Verdict
	Result  ToolResult
	Retry   *Retry // nil on success
	Attempt int    // the attempt that was judged, from 1
}
