package text

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxBackUp bounds how far a cut moves back for the sake of a grapheme cluster,
// in code points.
const maxBackUp = 32

// cut returns at most maxChars code points of s, ending at a grapheme boundary
// (UAX #29) if there is one among the last 32; otherwise exactly maxChars.
func cut(s string, maxChars int) (out string, truncated bool) {
	end := runeOffset(s, maxChars)
	if end == len(s) {
		return s, false
	}
	// From a certain boundary before the end the clusters are read up to it.
	at := certainBoundary(s, end)
	state := -1
	for rest := s[at:]; ; {
		var cluster string
		cluster, rest, _, state = uniseg.StepString(rest, state)
		if at+len(cluster) > end {
			break
		}
		at += len(cluster)
	}
	if utf8.RuneCountInString(s[at:end]) > maxBackUp {
		at = end
	}
	return s[:at], true
}

// runeOffset returns the offset of the code point number n, from 0, or len(s).
func runeOffset(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// certainBoundary returns the last offset at or before end, other than end
// itself, that is a grapheme boundary whatever surrounds it: between two ASCII
// characters that are not CR and LF, or the start of the text.
func certainBoundary(s string, end int) int {
	for i := end - 1; i > 0; i-- {
		if s[i] < utf8.RuneSelf && s[i-1] < utf8.RuneSelf && (s[i] != '\n' || s[i-1] != '\r') {
			return i
		}
	}
	return 0
}
