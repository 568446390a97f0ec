package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// colour is how a terminal is told to show a text; "" is as it is.
type colour string

// The colours, as SGR parameters (ECMA-48, 8.3.117).
const (
	uncoloured colour = ""
	bold       colour = "1"
	dim        colour = "2"
	red        colour = "31"
	green      colour = "32"
	yellow     colour = "33"
)

// palette colours texts, or leaves them as they are. The zero value leaves them.
type palette bool

// paletteFor colours what goes to a terminal, unless the environment says that nobody
// wants that (no-color.org), or that the terminal knows no colours.
func paletteFor(w io.Writer, getenv func(string) string) palette {
	return palette(isTerminal(w) && runtime.GOOS != "windows" && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb")
}

func (p palette) paint(c colour, s string) string {
	if !p || c == uncoloured || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// isTerminal reports whether what is written to w is read on a screen, at once.
func isTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	if !isFile {
		return false
	}
	null, nullErr := os.Stat(os.DevNull) // a device like a terminal, and nobody reads it
	info, err := f.Stat()
	return err == nil && nullErr == nil && info.Mode()&os.ModeCharDevice != 0 && !os.SameFile(info, null)
}

// column is one column of the events table. Cells longer than most are cut; 0 cuts none.
type column struct {
	name        string
	least, most int
}

func eventColumns() []column {
	return []column{
		{"TIME (UTC)", 23, 0},
		{"TOOL", 16, 32},
		{"VERDICT", 24, 0},
		{"REASON", 14, 0},
		{"PLACE", 14, 40},
		{"DECISION", 36, 0},
		{"SESSION", 0, 40},
	}
}

// eventTable prints events a line each. It knows no event to come: columns grow and
// never shrink. Nothing of an event reaches the terminal unescaped.
type eventTable struct {
	w      io.Writer
	paint  palette
	column []column
	rows   [][]string
	tints  []colour
}

func newEventTable(w io.Writer, p palette) *eventTable {
	return &eventTable{w: w, paint: p, column: eventColumns()}
}

// header prints the names of the columns, as wide as the rows that wait.
func (t *eventTable) header() error {
	t.widen()
	names := make([]string, len(t.column))
	for i, c := range t.column {
		names[i] = c.name
	}
	return t.line(names, dim)
}

// add keeps an event for flush.
func (t *eventTable) add(e *hallmarkv1.Event) {
	cells := []string{
		e.GetAt().AsTime().Format("2006-01-02 15:04:05.000"), toolCell(e), verdictCell(e), reasonCell(e), placeCell(e),
		e.GetDecisionId(), e.GetSessionId(),
	}
	for i := range cells {
		if cells[i] = cut(cell(cells[i]), t.column[i].most); cells[i] == "" {
			cells[i] = "-"
		}
	}
	t.rows, t.tints = append(t.rows, cells), append(t.tints, tint(e))
}

// flush prints the rows that wait.
func (t *eventTable) flush() error {
	t.widen()
	for i, row := range t.rows {
		if err := t.line(row, t.tints[i]); err != nil {
			return err
		}
	}
	t.rows, t.tints = t.rows[:0], t.tints[:0]
	return nil
}

func (t *eventTable) widen() {
	for _, row := range t.rows {
		for i := range row {
			t.column[i].least = max(t.column[i].least, utf8.RuneCountInString(row[i]))
		}
	}
}

// line prints one line; the tint is for the verdict, or for all where it is dim.
func (t *eventTable) line(cells []string, c colour) error {
	const verdictColumn = 2
	var b strings.Builder
	for i, text := range cells {
		gap := strings.Repeat(" ", max(0, t.column[i].least-utf8.RuneCountInString(text))+2)
		if i == len(cells)-1 {
			gap = ""
		}
		if i == verdictColumn || c == dim {
			text = t.paint.paint(c, text)
		}
		b.WriteString(text + gap)
	}
	_, err := fmt.Fprintln(t.w, b.String())
	return err
}

// cut shortens a cell that was escaped to so many code points; 0 cuts nothing.
func cut(s string, most int) string {
	if most == 0 || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// toolCell names a tool and its version; a permit that does not verify names none.
func toolCell(e *hallmarkv1.Event) string {
	if e.GetTool() == "" || e.GetContractVersion() == 0 {
		return e.GetTool()
	}
	return fmt.Sprintf("%s v%d", e.GetTool(), e.GetContractVersion())
}

// verdictCell is what an event came to. A permit that was used up, or was not, is told from
// the decision that gave it.
func verdictCell(e *hallmarkv1.Event) string {
	if e.GetRpc() == "redeem" {
		return verdict(e) + " (redeem)"
	}
	return verdict(e)
}

// reasonCell is why, in one word: what refused a reply, or the first reason of a decision.
func reasonCell(e *hallmarkv1.Event) string {
	if reason := enumName(e.GetRejection().GetReason().String(), "REJECTION_REASON_"); reason != "" {
		return reason
	}
	if len(e.GetReasons()) > 0 {
		return enumName(e.GetReasons()[0].GetCode().String(), "REASON_CODE_")
	}
	return ""
}

// placeCell is where: in a reply, or in the arguments, the scope or the tool that a decision
// speaks of.
func placeCell(e *hallmarkv1.Event) string {
	if r := e.GetRejection(); r.GetInstancePath() != "" {
		return r.GetInstancePath()
	}
	for _, r := range e.GetReasons() {
		for _, at := range []string{r.GetArgument(), r.GetScope(), r.GetRequiredTool()} {
			if at != "" {
				return at
			}
		}
	}
	return ""
}

// tint is the colour of an event's verdict.
func tint(e *hallmarkv1.Event) colour {
	switch {
	case e.GetDecision() == hallmarkv1.Decision_DECISION_NEEDS_APPROVAL:
		return yellow
	case e.GetDecision() == hallmarkv1.Decision_DECISION_ALLOW, e.GetDecision() == 0 && e.GetFailureCode() == 0 && e.GetRejection() == nil:
		return green
	}
	return red
}
