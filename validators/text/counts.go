package text

import "iter"

// kind says what a removed character was. Kinds are exclusive: a character has
// the first kind of kindOf's list that fits.
type kind uint8

const (
	kindControl kind = iota
	kindFormat
	kindBidiControl
	kindJoiner
	kindVariationSelector
	kindTag
	kindDefaultIgnorable
	kindPrivateUse
	kindNoncharacter
	kindInvalidByte
	kindTerminalSequence
	kindExcessMark
	numKinds
)

// kindNames are stable: they end up in metrics and audit records.
var kindNames = [numKinds]string{
	kindControl:           "control",
	kindFormat:            "format",
	kindBidiControl:       "bidi_control",
	kindJoiner:            "joiner",
	kindVariationSelector: "variation_selector",
	kindTag:               "tag",
	kindDefaultIgnorable:  "default_ignorable",
	kindPrivateUse:        "private_use",
	kindNoncharacter:      "noncharacter",
	kindInvalidByte:       "invalid_byte",
	kindTerminalSequence:  "terminal_sequence",
	kindExcessMark:        "excess_mark",
}

// Counts says how much was removed, by kind. It is a plain value: copy it,
// compare it with ==. The zero value counts nothing. One Counts must not be
// changed from several goroutines at once.
type Counts struct {
	n [numKinds]int
}

// Add adds other to c, kind by kind.
func (c *Counts) Add(other Counts) {
	for k, n := range other.n {
		c.n[k] += n
	}
}

// Total is the number of removals of all kinds: code points, invalid bytes,
// and whole terminal sequences, each of which counts once.
func (c Counts) Total() int {
	total := 0
	for _, n := range c.n {
		total += n
	}
	return total
}

// All yields the name and the number of every kind that was removed at least
// once, always in the same order. The names are stable and never depend on the
// text:
//
//	control             Cc, but line feed and tab; invalid escape sequences too
//	format              Cf that no other kind names (U+200B, U+00AD, U+FEFF …)
//	bidi_control        property Bidi_Control
//	joiner              ZWNJ and ZWJ
//	variation_selector  property Variation_Selector
//	tag                 U+E0000 to U+E007F
//	default_ignorable   other default-ignorable code points (fillers, U+034F …)
//	private_use         Co
//	noncharacter        U+FDD0 to U+FDEF and the last two of every plane
//	invalid_byte        a byte that belongs to no valid UTF-8 sequence
//	terminal_sequence   a whole sequence, see [CleanMember]
//	excess_mark         a combining mark beyond the 30th on one character
func (c Counts) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for k, n := range c.n {
			if n > 0 && !yield(kindNames[k], n) {
				return
			}
		}
	}
}
