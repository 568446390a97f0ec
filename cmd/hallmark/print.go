package main

import (
	"fmt"
	"strings"
	"unicode"
)

// printable escapes what a terminal would act on or not show, so that no record and no
// file name can draw on the screen of whoever reads it. Line feeds stay.
func printable(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%04X}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cell is printable for a cell of a table, where a line feed is escaped too.
func cell(s string) string { return strings.ReplaceAll(printable(s), "\n", `\n`) }

// hidden reports what a terminal would act on, or what nobody sees on it. Marks count
// among what can be printed, those too that draw nothing; so do fillers and the blank
// braille cell.
func hidden(r rune) bool {
	const blank = '\u2800'
	return r != '\n' && (!unicode.IsPrint(r) || r == blank ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
}

// enumName cuts the prefix that the wire puts before an enum's names.
func enumName(name, prefix string) string {
	short := strings.TrimPrefix(name, prefix)
	if short == "UNSPECIFIED" {
		return ""
	}
	return short
}
