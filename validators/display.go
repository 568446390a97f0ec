package validators

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/text"
)

// DisplayText is what people may be shown of a tool's own message about a failure: it
// is outside text, cleaned and cut, and never a reason for anything.
type DisplayText struct {
	// Content has its invisible characters and terminal sequences taken out, its line
	// ends are LF; it is not normalised.
	Content string
	// Truncated is true where Content was cut.
	Truncated bool
}

// show makes texts the display text of a refusal: cleaned, one below the other, cut at
// limit code points. Nothing is shown where limit is 0 or where nothing is left.
func (v *Verdict) show(texts []string, limit int) {
	if limit <= 0 {
		return
	}
	var lines []string
	for _, t := range texts {
		clean, removed := text.CleanMember(t)
		v.countRemoved(removed)
		if strings.TrimSpace(clean) != "" {
			lines = append(lines, clean)
		}
	}
	whole := strings.Join(lines, "\n")
	if whole == "" {
		return
	}
	content := firstChars(whole, limit)
	v.Display = &DisplayText{Content: content, Truncated: len(content) < len(whole)}
}

// firstChars returns at most n code points of s.
func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
