// Package text makes text from outside fit to be shown to a model: what a
// person would not see on a screen is not there any more, and what a person
// would see is.
//
// # Terms
//
// A removable character is a code point of general category Cc (line feed and
// tab excepted), Cf, Co or Cs, a noncharacter, or a Default_Ignorable_Code_Point
// (UAX #44: variation selectors, tags, Hangul fillers, U+034F, U+00AD …).
// Unassigned code points are not removable unless they are default-ignorable,
// so that text written with a newer Unicode than ours survives.
//
// A keep-rule protects a removable character in the one place where writing
// needs it. There are four:
//
//   - ZWJ between two Extended_Pictographic characters, U+FE0F and skin tones
//     between the first of them and the ZWJ not counting;
//   - U+FE0E or U+FE0F directly after a character for which UTS #51 lists an
//     emoji variation sequence (keycap digits included);
//   - ZWJ or ZWNJ after a letter or mark of a cursive or Indic script, where that
//     mark is a virama or a letter or mark of the same script follows; of several
//     joiners in a row only the first;
//   - the tag characters of the flags of England, Scotland and Wales, complete
//     and directly after U+1F3F4.
//
// "Directly" and "between" mean the text as it came: a character that is itself
// removed still separates its neighbours. So a kept character needs nothing
// but visible neighbours, and cleaning a second time changes nothing.
//
// # What it defends against
//
// Text that a person cannot see and a model reads: tag characters spelling out
// ASCII, bytes encoded as variation selectors or as runs of zero-width
// characters, words split by soft hyphens to slip past a comparison, text
// displayed in another order than it is read (bidi controls), and text hidden
// by terminal control sequences (ECMA-48). What remains possible is one bit or
// two for each visible character that a keep-rule names; closing that would
// break the scripts that need it.
//
// Whatever is removed is counted by kind ([Counts]) for the operator; the text
// itself never gets a notice or a placeholder.
//
// # Bad UTF-8
//
// Input is valid UTF-8 by contract: the reader of the bytes refuses anything
// else. Should invalid bytes arrive all the same, each one counts as a
// removable character of kind "invalid_byte" and is removed; it never becomes
// U+FFFD, and output is always valid UTF-8. A U+FFFD that the input contains is
// a visible character and stays.
//
// # Cost
//
// Every function is linear in its input for every input. Memory is at most one
// copy of the input for each step that changes something. All functions are
// pure and safe for concurrent use.
package text
