package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// pieceSize bounds what is normalised at once, in bytes, so that text that
// grows in normalisation (U+FDFA becomes 18 characters) is noticed before it
// has grown. It is always enough for a whole text at its limit of characters.
const pieceSize = 64 << 10

// form is the profile's normalisation form.
func (p Profile) form() norm.Form {
	if p == Code {
		return norm.NFC
	}
	return norm.NFKC
}

func (p Profile) normalization() string {
	if p == Code {
		return "NFC"
	}
	return "NFKC"
}

// CleanText cleans a text member like the content of a [Result]: line ends,
// terminal sequences, long runs of marks, normalisation, invisible characters,
// collapse and trim, everything but the cut. maxChars is that cut, in code
// points; 0 is DefaultMaxOutputChars. Cleaning twice is cleaning once. Where
// nothing changes, s itself comes back.
func CleanText(s string, profile Profile, maxChars int) (out string, truncated bool, removed Counts) {
	if maxChars <= 0 {
		maxChars = DefaultMaxOutputChars
	}
	return clean(s, profile, maxChars)
}

// clean is the text path from line ends to the last trim.
func clean(s string, profile Profile, maxChars int) (out string, truncated bool, removed Counts) {
	if plain(s) { // most texts: nothing to remove or to normalise
		s, truncated = cut(profile.trim(profile.collapse(s)), maxChars)
		return profile.trim(s), truncated, removed
	}
	s, sequences := unifyAndStripTerminal(s)
	removed.n[kindTerminalSequence] = sequences
	size := max(pieceSize, utf8.UTFMax*maxChars)
	inPieces := len(s) > size
	var gone Counts
	if inPieces {
		s, truncated, gone = settlePieces(s, size, profile, maxChars)
	} else {
		s, gone = settle(s, profile.form())
	}
	removed.Add(gone)
	s = profile.trim(profile.collapse(s))
	s, wasCut := cut(s, maxChars)
	if wasCut || inPieces {
		// The cut may have left a joiner without its right neighbour, and a
		// piece may have been settled apart from a neighbour that matters.
		s, gone = settle(s, profile.form())
		removed.Add(gone)
		s = profile.trim(profile.collapse(s))
	}
	return s, truncated || wasCut, removed
}

// unifyAndStripTerminal is the part of cleaning that comes before
// normalisation; it never makes a text longer.
func unifyAndStripTerminal(s string) (out string, sequences int) {
	// All that the two steps look for is removable, except LS and PS.
	if FirstRemovable(s) < 0 && !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029") {
		return s, 0
	}
	return stripTerminal(unifyLineEnds(s))
}

// settle shortens runs of marks, normalises and strips what is invisible until
// nothing changes. It ends: after its first pass every single character is
// normal, so later passes only compose and remove, and a pass that removes
// nothing leaves a text that the next would not change. In practice the second
// or third is the last.
func settle(s string, form norm.Form) (out string, removed Counts) {
	if plain(s) {
		return s, removed
	}
	for {
		var excess, inserted int
		var gone Counts
		s, excess = shortenMarks(s)
		s, inserted = normalise(s, form)
		s, gone = StripInvisible(s)
		gone.n[kindDefaultIgnorable] -= inserted
		removed.Add(gone)
		removed.n[kindExcessMark] += excess
		if gone.Total() == 0 {
			return s, removed
		}
	}
}

// normalise is form.String. It also returns how many U+034F package norm put in,
// which it does between the letters of a very long run of Hangul vowels or
// finals. They separate what would not compose anyway, and go with the
// invisible.
func normalise(s string, form norm.Form) (out string, inserted int) {
	const joiner = "\u034f"
	out = form.String(s)
	if strings.Contains(out, joiner) {
		inserted = strings.Count(out, joiner) - strings.Count(s, joiner)
	}
	return out, inserted
}

// plain reports whether s is ASCII without control characters, which no step
// changes.
func plain(s string) bool {
	return scanPlain(s, 0) == len(s)
}

// settlePieces settles and collapses a long text piece by piece. Once there are
// more than maxChars, which more says, the rest is counted and not built. So
// memory is bounded by the input and one grown piece.
func settlePieces(s string, size int, profile Profile, maxChars int) (out string, more bool, removed Counts) {
	s, removed.n[kindExcessMark] = shortenMarks(s)
	for s != "" && !more {
		n := pieceEnd(s, size)
		piece, gone := settle(s[:n], profile.form())
		s = s[n:]
		removed.Add(gone)
		out = profile.collapse(out + piece)
		more = utf8.RuneCountInString(profile.trim(out)) > maxChars
	}
	_, gone := StripInvisible(s)
	removed.Add(gone)
	return out, more, removed
}

// pieceEnd returns where to split the first piece off s: behind a line feed,
// else a space, else before a character that composes with nothing, at size
// bytes or less.
func pieceEnd(s string, size int) int {
	if len(s) <= size {
		return len(s)
	}
	for _, sep := range []byte{'\n', ' '} {
		if i := strings.LastIndexByte(s[:size], sep); i > size/2 {
			return i + 1
		}
	}
	end := size
	for i := size; i > size/2; i-- {
		if utf8.RuneStart(s[i]) {
			end = i
			if standsAlone(s, i) {
				return i
			}
		}
	}
	return end
}

// standsAlone reports whether what precedes offset i and what follows it can be
// settled apart: nothing composes over it, and no keep-rule looks over it. A
// character counts by what its decomposition begins with: a form of presentation
// may begin with one that has no script of its own.
func standsAlone(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	if Removable(before) || Removable(after) {
		return false
	}
	properties := norm.NFKD.PropertiesString(s[i:])
	if d := properties.Decomposition(); len(d) > 0 {
		after, _ = utf8.DecodeRune(d)
	}
	return !unicode.IsMark(after) && !passesScriptOn(after) &&
		!skinTone(after) && !isJamo(s[i:]) && norm.NFKC.PropertiesString(s[i:]).BoundaryBefore()
}

// collapse turns runs of four line feeds or more into three (prose).
func (p Profile) collapse(s string) string {
	const most = "\n\n\n"
	if p == Code || !strings.Contains(s, most+"\n") {
		return s
	}
	e := edit{src: s}
	for i := 0; i < len(s); {
		at := strings.Index(s[i:], most+"\n")
		if at < 0 {
			break
		}
		i += at + len(most)
		end := len(s) - len(strings.TrimLeft(s[i:], "\n"))
		e.replace(i, end, "")
		i = end
	}
	return e.result()
}

// trim takes white space off both ends; of code only blank lines at the start,
// so that the first line keeps its indentation.
func (p Profile) trim(s string) string {
	if p != Code {
		return strings.TrimSpace(s)
	}
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	text := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	return s[strings.LastIndexByte(s[:text], '\n')+1:]
}
