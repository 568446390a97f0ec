package text

import "net/url"

// Profile says which kind of writing a text is. The zero value is Prose.
type Profile uint8

const (
	// Prose is text to be read: NFKC, and four line feeds or more become three.
	Prose Profile = iota
	// Code is text whose form has a meaning (code, tables, legal text): NFC, and
	// indentation and runs of blank lines stay. Blank lines at the start and
	// white space at the end go all the same.
	Code
)

// Defaults of [Options]. DefaultMaxItems is the service's ceiling.
const (
	DefaultMaxBytes       = 2_000_000
	DefaultMaxOutputChars = 20_000
	DefaultMaxItems       = 100_000
	DefaultMaxLinks       = 100

	// maxShortText bounds titles, the texts of links and their addresses, in
	// code points.
	maxShortText = 2048
)

// Options say how [Process] treats a text. The zero value is prose within the
// default limits, without links. Options are only read and may be shared.
type Options struct {
	Profile Profile

	// MaxBytes bounds the raw input. 0 is DefaultMaxBytes.
	MaxBytes int
	// MaxOutputChars bounds the content and, together with it, the links, in
	// code points after cleaning. 0 is DefaultMaxOutputChars.
	MaxOutputChars int
	// MaxItems bounds the rows of a text/csv. 0 is DefaultMaxItems.
	MaxItems int
	// MaxLinks bounds Result.Links. 0 is DefaultMaxLinks.
	MaxLinks int

	// RawSource gives the source of text/html and text/csv itself, cleaned
	// under Code whatever Profile says. It weakens the promise of visible text:
	// what no reader sees is then part of the content.
	RawSource bool

	HTML HTMLOptions

	// Base is the address that the page came from; links are resolved against
	// it. nil: links that are not absolute keep their text only.
	Base *url.URL
}

// HTMLOptions concern text/html only.
type HTMLOptions struct {
	// KeepLinks fills Result.Links.
	KeepLinks bool
	// Drop names further elements that are dropped with their content, in lower
	// case: "nav", "footer".
	Drop []string
	// Within names the only elements whose content is wanted: "main",
	// "article". A page that has none of them has no content. Empty: the whole
	// page.
	Within []string
}

// withDefaults returns o with every 0 replaced.
func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&o.MaxBytes, DefaultMaxBytes},
		{&o.MaxOutputChars, DefaultMaxOutputChars},
		{&o.MaxItems, DefaultMaxItems},
		{&o.MaxLinks, DefaultMaxLinks},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if o.RawSource {
		o.Profile = Code
	}
	return o
}

// Result is a text made fit to be shown. It shares no memory with the input.
type Result struct {
	Content string
	// Title is the title of a page, "" elsewhere; cleaned, on one line, at most
	// 2048 code points.
	Title string
	// Links are the links of a page in the order of their texts.
	Links []Link
	// Truncated says that content, title or links were cut.
	Truncated bool
	// Normalization is "NFKC" or "NFC".
	Normalization string
	// Removed counts what cleaning took out of the content. Where it was cut,
	// what lies behind the cut counts too.
	Removed Counts
	// Noticed counts what is worth a look though nothing follows from it.
	Noticed Noticed
}

// Link is a link of a page.
type Link struct {
	// Text is what a reader sees of it, cleaned, on one line, never empty.
	Text string
	// Href is absolute: http, https or mailto, ASCII, without user info, at
	// most 2048 characters.
	Href string
}
