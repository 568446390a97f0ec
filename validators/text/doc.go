// Package text makes text from outside fit to be shown to a model: what a
// person would not see on a screen is not there any more, and what a person
// would see is.
//
// [Process] is the whole path from bytes to content, [CleanText] the part of it
// for strings that are decoded already, [CleanMember] its oldest part alone.
//
// # Order
//
// Charset, visible text of a page or lines of a table, line ends, terminal
// sequences, long runs of marks shortened, NFKC (prose) or NFC (code), invisible
// characters out, the last three again until nothing changes, collapse, trim,
// cut, trim. After the cut the last characters are settled once more, since a
// joiner may have lost its neighbour there. Cleaning comes after everything that
// decodes, and nothing is decoded or parsed again after it. So the whole is
// idempotent, and no check behind it is void.
//
// # Charset
//
// A BOM, else the declared parameter, else, of a page, valid UTF-8 beyond ASCII,
// else its <meta>, else UTF-8. Bytes that are not in that charset, and labels
// that are unknown, are refused: guessing makes confident nonsense. The Encoding
// Standard's tables and labels hold; UTF-16 without a BOM is little-endian.
//
// # Pages
//
// Visible text is what a reader of a browser without style sheets sees. Style
// sheets are not evaluated; Noticed.Unevaluated says that there were some, and
// then more may be hidden than was left out. Scripts count as enabled, so
// <noscript> is not shown. Decisions:
//
//   - Dropped are the elements that the design names, and those that no browser
//     shows (noembed, noframes, rp, closed dialog, popover). A form control,
//     image or frame leaves a space, so that no two numbers become one.
//   - What a browser never renders is hidden: in a formula mphantom, mspace, text
//     outside of token elements and all but the first child of semantics and
//     maction; of the host of a declarative shadow tree the children for which
//     the tree shows no slot. The tree itself is a template, and dropped.
//   - An inline style that takes an element away (display, opacity, transform,
//     clip, an empty box, a far position) drops its content for good. Sizes,
//     visibility and colours are inherited and content can undo them, as in
//     mails whose cells have no font size but whose texts do: then it is shown.
//   - "Far" is 999 pixels. A colour is compared with the background of the same
//     style only; what lies behind an element is not known. var() is not
//     resolved, so a display or colour by var() is not known. calc() is zero
//     where all its numbers are.
//   - Blocks end lines, and only <br> and <pre> make empty ones. A table is rows
//     of cells separated by tabs; a cell beside others is one line, unless it
//     contains lists, headings, tables or the like.
//   - Links are collected where a reader sees their text. <base> counts. A link
//     that is dropped leaves its text. Names of hosts are given in ASCII.
//   - "hidden" wins over an inline display, by the design.
//
// The parser nests at most 512 elements; what it does not bound itself, elements
// made anew for every block and attributes by the thousand, is bounded before it
// runs, by counting tags. Only pages that are made for it come near.
//
// # Runs of marks
//
// 30 combining marks after one character stay. Package norm would put U+034F
// into longer runs, and does so in runs of Hangul vowels, which are letters and
// stay; there it is taken out again.
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
// itself never gets a notice or a placeholder. [Noticed] counts what stays.
//
// Markup in pages that is decoded into text is text; it is never parsed again.
// Phrases that read like instructions stay where they are: they are data, and
// counted.
//
// # Bad UTF-8
//
// [Process] refuses it. The functions on strings take valid UTF-8 by contract:
// the reader of the bytes refuses anything else. Should invalid bytes arrive all the same, each one counts as a
// removable character of kind "invalid_byte" and is removed; it never becomes
// U+FFFD, and output is always valid UTF-8. A U+FFFD that the input contains is
// a visible character and stays.
//
// # Cost
//
// Every function is linear in its input for every input, but that a page's
// parser may take the time that its budget of nodes allows. Memory is at most
// one copy of the input for each step that changes something, and one piece of
// normalised text, which may be eleven times as long as its 64 KiB (or 4 bytes
// for each character of the limit, where that is more); a page needs its tree
// besides. All functions are pure and safe for concurrent use.
package text
