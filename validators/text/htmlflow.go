package text

import "strings"

// flow lays out text as lines: white space collapses, blocks begin on lines of
// their own, cells are separated by tabs. Separators are written only once text
// follows, so none pile up at the ends of lines.
type flow struct {
	out     strings.Builder
	pending []byte // line feeds and tabs to be written before the next text
	space   bool   // a space is due, unless something else separates
	fresh   bool   // at the start of a line or cell: a block needs no line feed
	texts   int    // number of texts written, to see whether something has come

	// cellStart is the length of pending at the start of the cell; line feeds
	// after it are the cell's own.
	cellStart int
}

func newFlow() flow { return flow{fresh: true} }

// begin writes the separators that are due before a text.
func (f *flow) begin() {
	if len(f.pending) > 0 {
		f.out.Write(f.pending)
		f.pending = f.pending[:0]
		f.cellStart = 0
	} else if f.space && !f.fresh {
		f.out.WriteByte(' ')
	}
	f.space, f.fresh = false, false
	f.texts++
}

// text adds text whose white space collapses (CSS Text Level 3, section 4.1.1).
func (f *flow) text(s string) {
	for i := 0; i < len(s); {
		if cssSpace(s[i]) {
			f.space = true
			i++
			continue
		}
		end := i + 1
		for end < len(s) && !cssSpace(s[end]) {
			end++
		}
		f.begin()
		f.out.WriteString(s[i:end])
		i = end
	}
}

// verbatim adds text as it stands. Line feeds at its end are held back like
// those between blocks.
func (f *flow) verbatim(s string) {
	body := strings.TrimRight(s, "\n")
	if body != "" {
		f.begin()
		f.out.WriteString(body)
	}
	for range len(s) - len(body) {
		f.lineFeed()
	}
}

// lineFeed ends the line, be it empty or not.
func (f *flow) lineFeed() {
	f.pending = append(f.pending, '\n')
	f.fresh = true
}

// block ends the line if there is something on it.
func (f *flow) block() {
	if !f.fresh {
		f.lineFeed()
	}
}

// enterCell begins a cell; all but the first of a row are set off by a tab.
func (f *flow) enterCell(first bool) {
	if !first {
		f.pending = append(f.pending, '\t')
	}
	f.cellStart = len(f.pending)
	f.fresh = true
}

// leaveCell ends a cell; line feeds at its end do not count.
func (f *flow) leaveCell() {
	for len(f.pending) > f.cellStart && f.pending[len(f.pending)-1] == '\n' {
		f.pending = f.pending[:len(f.pending)-1]
	}
	f.fresh = false
}

// rowMark is the state at the start of a row.
type rowMark struct{ texts, pending int }

func (f *flow) enterRow() rowMark {
	f.block()
	return rowMark{f.texts, len(f.pending)}
}

// leaveRow ends a row. One without text leaves nothing.
func (f *flow) leaveRow(start rowMark) {
	if f.texts == start.texts {
		f.pending = f.pending[:start.pending]
		f.fresh = true
		return
	}
	f.block()
}
