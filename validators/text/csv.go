package text

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// csvLines parses a text/csv (RFC 4180; every record has as many fields as the
// first, empty lines are no records) and returns it as lines of cells separated
// by tabs. Cells are cleaned one by one, so that no terminal sequence reaches from
// one into the next; removed says of what.
func csvLines(s string, maxRows int) (out string, removed Counts, err error) {
	r := csv.NewReader(strings.NewReader(recordEnds(s)))
	r.ReuseRecord = true
	var b strings.Builder
	for rows := 0; ; rows++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return b.String(), removed, nil
		}
		if err != nil {
			return "", Counts{}, refuse(Syntax, int(r.InputOffset()), csvDetail(err))
		}
		if rows == maxRows {
			return "", Counts{}, refuse(ItemLimit, int(r.InputOffset()), "the table has more rows than its limit")
		}
		if rows > 0 {
			b.WriteByte('\n')
		}
		for i, cell := range record {
			if i > 0 {
				b.WriteByte('\t')
			}
			cell, gone := CleanMember(cell)
			removed.Add(gone)
			b.WriteString(oneLine.Replace(cell))
		}
	}
}

// recordEnds makes a CR that ends a record a LF: one that stands alone and in no quotes.
// The parser would take it for a part of the cell and join two records into one.
func recordEnds(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	b := []byte(s)
	quoted := false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\r' && !quoted && (i+1 == len(b) || b[i+1] != '\n'):
			b[i] = '\n'
		}
	}
	return string(b)
}

// oneLine makes one line of one cell of a text whose line ends are LF.
var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

// csvDetail words an error of the parser without the text in it.
func csvDetail(err error) string {
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		return "a record has another number of fields than the first"
	case errors.Is(err, csv.ErrBareQuote):
		return "a quote stands inside a field that is not quoted"
	case errors.Is(err, csv.ErrQuote):
		return "a quoted field is not closed, or something follows its quote"
	}
	return "not a CSV"
}
