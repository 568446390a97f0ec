package seal

import (
	"encoding/json"
	"slices"
)

// Kind is a kind of data that is redacted, in the word that contracts use.
type Kind string

// The kinds.
const (
	Email Kind = "email"
	Phone Kind = "phone"
	Token Kind = "token"
)

// Kinds returns every kind, sorted.
func Kinds() []Kind { return []Kind{Email, Phone, Token} }

// placeholder is what stands for data of the kind.
func (k Kind) placeholder() string { return "[redacted-" + string(k) + "]" }

// Redact returns original without the data of some kinds, and how often each was found.
// Each find becomes [redacted-email] and the like, with no quotes and no escapes, so that
// strings and markup around it stay what they were; a number of JSON becomes 0. JSON
// that was well-formed stays so. Where nothing was found the result is original itself,
// else new bytes, at most four times as many. Unknown kinds are nothing to look for. It
// takes any bytes, in linear time and with five bytes of memory for each, never panics,
// and finds nothing in what it returned: redacting twice is redacting once.
//
// Data is found in plain bytes and behind escapes: those of JSON, percent-encoding,
// numeric character references of HTML, in up to two layers; full-width forms read as
// ASCII.
//
//   - An e-mail address is letters (ASCII, Latin, Greek, Cyrillic and neighbours), digits
//     and ._%+-'~!$*^`, an @, and a host name whose last label begins with a letter.
//   - A phone number is digits in groups that are parted by up to three of space . - / (
//     and ), seven or more in all; or 9 to 15 without any group; or from 7 on behind a +.
//     Digits that a word continues, what reads as a date (2026-01-15), a decimal fraction
//     and an IPv4 address are none.
//   - A token is a JWT; what follows Bearer, or Basic where it looks encoded; what begins
//     like the keys of well-known services (AKIA, ghp_, glpat-, xoxb-, sk-, AIza and so on);
//     and a run of 32 or more characters of base64, base64url or hex that mixes digits and
//     letters, or cases, beyond what words do.
//
// It redacts too much rather than too little: identifiers that look random, digests, long
// numbers and times such as 1768478400 are redacted too, and a replay may judge what is
// left differently. Two names of one object that were both redacted are equal afterwards.
// UUIDs are kept unless they follow Bearer, since requests are known by them.
//
// It does not find what is written around: user at example.test, numbers in words, other
// digits than ASCII's, addresses with comments or at bare hosts; passwords, short or
// word-like keys; encodings that it does not undo (base64, quoted-printable, UTF-16,
// compression, a third layer of escapes), or names and other personal data. Behind a
// reverse solidus that is no escape, one letter of an address may stay. Redaction lowers
// what a leak of an opened original costs; it is no proof that nothing personal is left.
func Redact(original []byte, kinds []Kind) (redacted []byte, counts map[Kind]int) {
	counts = make(map[Kind]int)
	if len(original) == 0 || uint64(len(original)) >= 1<<32 {
		return original, counts
	}
	s := scan{view: look(original)}
	if slices.Contains(kinds, Email) {
		s.emails()
	}
	if slices.Contains(kinds, Token) {
		s.tokens()
	}
	if slices.Contains(kinds, Phone) {
		s.phones()
	}
	if len(s.finds) == 0 {
		return original, counts
	}
	slices.SortFunc(s.finds, func(a, b find) int { return a.start - b.start })
	return s.replace(original, counts), counts
}

// Redact returns the header and the original as they are to be sealed where a contract
// asks for redaction: kinds are removed from the original and from what the header holds
// in arguments and evidence. counts is of the original alone. The receiver and original
// stay as they are.
func (h Header) Redact(original []byte, kinds []Kind) (_ Header, redacted []byte, counts map[Kind]int) {
	if len(kinds) == 0 {
		return h, original, map[Kind]int{}
	}
	text := func(s string) string {
		out, _ := Redact([]byte(s), kinds)
		return string(out)
	}
	h.OriginalBytes = uint64(len(original))
	h.Redacted = slices.Compact(slices.Sorted(slices.Values(kinds)))
	h.Request.ArgumentsJSON = text(h.Request.ArgumentsJSON)
	h.Evidence = slices.Clone(h.Evidence)
	for i := range h.Evidence {
		e := &h.Evidence[i]
		e.ArgumentsJSON, e.DataJSON = text(e.ArgumentsJSON), text(e.DataJSON)
	}
	redacted, counts = Redact(original, kinds)
	return h, redacted, counts
}

// scan looks for data in a view. What was found is hidden from what looks next, so that
// finds do not overlap. It looks like the brackets of its placeholder, which no data has,
// and every rule takes letters and digits as far as they go: that is why a second
// redaction, which sees the placeholders, sees nothing new.
type scan struct {
	view
	finds []find
}

// find is a stretch of symbols: from start to before end.
type find struct {
	start, end int
	kind       Kind
}

// hidden is the symbol of what was found.
const hidden = '['

func (s *scan) found(start, end int, kind Kind) {
	s.finds = append(s.finds, find{start, end, kind})
	s.mark(start, end, hidden)
}

func (s *scan) mark(start, end int, with byte) {
	for i := start; i < end; i++ {
		s.sym[i] = with
	}
}

// begins reports whether the symbols at i are those of text.
func (s *scan) begins(i int, text string) bool {
	return len(s.sym)-i >= len(text) && string(s.sym[i:i+len(text)]) == text
}

// replace writes the original with what was found replaced. finds are sorted.
func (s *scan) replace(original []byte, counts map[Kind]int) []byte {
	isJSON := json.Valid(original)
	inString := false
	out := make([]byte, 0, len(original)+len(original)/8)
	last := 0
	for _, f := range s.finds {
		start, end := int(s.at[f.start]), int(s.at[f.end])
		if start < last {
			continue // of the number that was replaced before
		}
		counts[f.kind]++
		put := f.kind.placeholder()
		if isJSON {
			if inString = quoted(original[last:start], inString); !inString {
				for start > last && inNumber(original[start-1]) {
					start--
				}
				for end < len(original) && inNumber(original[end]) {
					end++
				}
				put = "0"
			}
		}
		out = append(append(out, original[last:start]...), put...)
		last = end
	}
	return append(out, original[last:]...)
}

// quoted reports whether a piece of JSON ends inside a string, given whether it begins in
// one. Pieces never end inside an escape.
func quoted(piece []byte, inString bool) bool {
	for i := 0; i < len(piece); i++ {
		switch piece[i] {
		case '"':
			inString = !inString
		case '\\':
			i++
		}
	}
	return inString
}

// inNumber reports whether a byte may stand in a number of JSON.
func inNumber(c byte) bool {
	return isDigit(c) || c == '+' || c == '-' || c == '.' || c|0x20 == 'e'
}
