package validators

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/text"
)

// DisplayText is what people may be shown of a tool's own message about a failure: it
// is outside text, cleaned and cut, and never a reason for anything.
type DisplayText struct {
	// Content is cleaned as prose.
	Content string
	// Truncated is true where Content was cut.
	Truncated bool
	// Normalization is that of Content: NFKC.
	Normalization string
}

// show makes texts the display text of a refusal: cleaned, one below the other, cut at
// limit code points. Nothing is shown where limit is 0 or where nothing is left.
func (v *Verdict) show(texts []string, limit int) {
	if limit <= 0 {
		return
	}
	var lines []string
	truncated := false
	for _, t := range texts {
		clean, cut, removed := text.CleanText(t, text.Prose, limit)
		v.countRemoved(removed)
		truncated = truncated || cut
		if clean != "" {
			lines = append(lines, clean)
		}
	}
	content, cut, _ := text.CleanText(strings.Join(lines, "\n"), text.Prose, limit)
	if content != "" {
		v.Display = &DisplayText{Content: content, Truncated: truncated || cut, Normalization: "NFKC"}
	}
}
