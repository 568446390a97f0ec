package contract

import (
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// TextRules say how a result of kind text is made fit to be shown (B3, B5, B14).
type TextRules struct {
	Profile      string   // prose or code
	KeepLinks    bool     // of pages; they are inert
	MaxRedirects int      // how often the request may have been redirected
	Drop         []string // further elements of a page that go with their content
	Within       []string // the only elements of a page that are wanted; empty: all
	// MaxResponseBytes bounds a reply; from 1 to the service's ceiling.
	MaxResponseBytes int
	// MaxOutputChars bounds content and links together, in code points after cleaning.
	MaxOutputChars int
	// RawSource lets callers that may read sources ask for one (B6).
	RawSource bool
}

// The media types of kind text, and that of a CallToolResult around it.
const (
	mediaPlain    = "text/plain"
	mediaHTML     = "text/html"
	mediaMarkdown = "text/markdown"
	mediaCSV      = "text/csv"
	mediaJSON     = "application/json"
)

// DefaultMaxRedirects is how often a request may have been redirected where its
// contract says nothing (B5).
const DefaultMaxRedirects = 3

const (
	defaultResponseBytes = 2_000_000
	defaultOutputChars   = 20_000
	mostRedirects        = 20
)

var elementForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

func defaultTextRules() *TextRules {
	return &TextRules{
		Profile: profileProse, KeepLinks: true, MaxRedirects: DefaultMaxRedirects,
		MaxResponseBytes: defaultResponseBytes, MaxOutputChars: defaultOutputChars,
	}
}

// The profiles of texts.
const (
	profileProse = "prose"
	profileCode  = "code"
)

// textRules reads result.text.
func (d *draft) textRules(n *yaml.Node, path string) {
	t := defaultTextRules()
	raw := ""
	d.object(n, path,
		may("profile", word(d.source, &t.Profile, profileProse, profileCode)),
		may("html", func(n *yaml.Node, path string) {
			d.object(n, path,
				may("keep_links", d.boolean(&t.KeepLinks)),
				may("max_redirects", d.integer(&t.MaxRedirects, 0, mostRedirects)),
				may("drop", d.list(0, collect(d.source, &t.Drop, d.element))),
				may("within", d.list(0, collect(d.source, &t.Within, d.element))),
			)
		}),
		may("max_response_bytes", d.integer(&t.MaxResponseBytes, 1, strictjson.Ceilings().MaxBytes)),
		may("max_output_chars", d.integer(&t.MaxOutputChars, 1, maxTextChars)),
		may("raw_source", word(d.source, &raw, "refused", "allowed")),
	)
	t.RawSource = raw == "allowed"
	d.contract.Result.Text = t
}

func (d *draft) element(dst *string) read {
	return d.matching(dst, elementForm, "the name of an element, in lower case")
}

// isText reports whether a result says that its kind is text, whatever else is wrong
// with it.
func isText(n *yaml.Node) bool {
	if jsonKind(n) != strictjson.Object {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, value := n.Content[i], n.Content[i+1]; key.Value == "kind" {
			return jsonKind(value) == strictjson.String && Kind(value.Value) == KindText
		}
	}
	return false
}

// textKind sees that a text has nothing that only a value with members can have, and
// that nothing else has the rules of a text.
func (d *draft) textKind() {
	r := &d.contract.Result
	if r.Kind != KindText {
		if r.Text != nil && r.Kind != "" {
			d.faultOn("result.text", "say kind: text, or remove it", "result.text of a result that is no text")
		}
		return
	}
	if r.Text == nil {
		r.Text = defaultTextRules()
	}
	var members []string
	for _, key := range []string{"schema", "agent_fields", "text_fields", "max_list", "checks", "not_given", "adapter"} {
		if d.said("result." + key) {
			members = append(members, key)
		}
	}
	if len(members) > 0 {
		d.faultOn("result."+members[0], "remove them, or say kind: json",
			"of a text, which has no members: %s", strings.Join(members, ", "))
	}
	if r.Framing == FramingEnvelope {
		d.faultOn("result.framing", "remove it", "framing: %s of a text; an envelope holds data with members", r.Framing)
	}
	d.textMediaTypes()
}

// textMediaTypes sees that every media type is one of a text. A CallToolResult is JSON,
// and its blocks do not say what their text is: the contract may, once.
func (d *draft) textMediaTypes() {
	r := &d.contract.Result
	framed := r.framesText()
	texts := 0
	for i, media := range r.MediaTypes {
		switch {
		case slices.Contains(textMediaTypes(), media):
			texts++
		case framed && media == mediaJSON:
		default:
			d.faultOn(indexed("result.media_types", i), "", "%s of a text; known are %s", quote(media), joinWords(textMediaTypes()))
		}
	}
	if framed && texts > 1 {
		d.faultOn("result.media_types", "keep the one that the blocks hold", "several kinds of text in blocks that do not say which they hold")
	}
}

func textMediaTypes() []string { return []string{mediaPlain, mediaHTML, mediaMarkdown, mediaCSV} }

func (r *Result) framesText() bool {
	return r.Framing == FramingMCP || r.Framing == FramingJSONRPC
}

// BlockMediaType is what the text blocks of a CallToolResult hold, for kind text; a
// block does not say it itself.
func (r *Result) BlockMediaType() string {
	for _, media := range r.MediaTypes {
		if slices.Contains(textMediaTypes(), media) {
			return media
		}
	}
	return mediaPlain
}

// MaxRedirects is how often the request of a reply may have been redirected.
func (r *Result) MaxRedirects() int {
	if r.Text != nil {
		return r.Text.MaxRedirects
	}
	return DefaultMaxRedirects
}
