package validators

import (
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
)

// Replies as large as the service takes, made to be slow, are judged in time linear in
// their size. The bound is far above what is measured and far below what any power
// of the size would take.
func TestHostileReplies(t *testing.T) { // A2
	const large = 1 << 20
	mcp := toolOf(t, `true`, func(c *contract.Contract) {
		c.Result.Framing, c.Result.DisplayText = contract.FramingMCP, 2000
	})
	command := toolOf(t, `true`, func(c *contract.Contract) {
		c.Result.Kind = contract.KindCommand
		c.Result.Command = &contract.Command{Pattern: `(?P<x>(?:a|aa|a*a*)*)b?(?P<y>(?:[a-c]|cc)*)c`, ExitCodes: []int{0}}
	})
	list := func(element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", min(large/len(element), 20_000)), ",") + "]"
	}
	for _, row := range []struct {
		line string
		tool *Tool
		raw  string
	}{
		{"many blocks", mcp, `{"structuredContent":1,"content":` + list(`{"type":"x"}`) + `}`},
		{"many faults", mcp, `{"content":` + list(`0`) + `}`},
		{"many texts of an error", mcp, `{"isError":true,"content":` + list(`{"type":"text","text":"\u001b["}`) + `}`},
		{"one long text of an error", mcp, `{"isError":true,"content":[{"type":"text","text":"` + strings.Repeat(`\u001b]x`, large/8/2) + `"}]}`},
		{"an ambiguous pattern", command, strings.Repeat("a", large)},
		{"almost the end", command, strings.Repeat("a", large) + "c"},
	} {
		t.Run(row.line, func(t *testing.T) {
			began := time.Now()
			_, got := verdictOf(row.tool, row.raw)
			if took := time.Since(began); took > 3*time.Minute {
				t.Errorf("%v for %d bytes: %.80s", took, len(row.raw), got)
			} else {
				t.Logf("%v for %d bytes: %.60s", took, len(row.raw), got)
			}
		})
	}
}
