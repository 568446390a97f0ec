package text

import (
	"context"
	"mime"
	"strings"
)

// Process judges and cleans a text from outside. mediaType is one of
// text/plain, text/markdown, text/html and text/csv, with or without a charset
// parameter.
//
//   - text/plain and text/markdown are cleaned as they are;
//   - text/html gives its visible text;
//   - text/csv is parsed by RFC 4180, every record with the same number of
//     fields, and given as lines of cells separated by tabs; a tab or line end
//     inside a cell becomes a space.
//
// The content then passes charset decision, line ends, terminal sequences, long
// runs of marks, normalisation, removal of the invisible, collapse, trim and
// cut, as the package's documentation says. Processing the content again as
// text/plain in UTF-8 with the same options gives the same content.
//
// A refusal is an [*Error]. Where ctx ends, the refusal's Err is its error. raw
// is only read, and not kept.
func Process(ctx context.Context, raw []byte, mediaType string, opts Options) (Result, error) {
	opts = opts.withDefaults()
	kind, label, err := parseMediaType(mediaType)
	if err != nil {
		return Result{}, err
	}
	if len(raw) > opts.MaxBytes {
		return Result{}, refuse(ByteLimit, opts.MaxBytes, "the text is longer than its limit")
	}
	s, err := decode(raw, label, kind == "text/html")
	if err != nil {
		return Result{}, err
	}
	var out Result
	switch {
	case opts.RawSource:
	case kind == "text/html":
		if s, err = out.readHTML(ctx, s, opts); err != nil {
			return Result{}, err
		}
	case kind == "text/csv":
		if s, out.Removed, err = csvLines(s, opts.MaxItems); err != nil {
			return Result{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, ended(err)
	}
	out.finish(s, opts)
	return out, nil
}

// finish cleans the content s and everything that depends on it.
func (r *Result) finish(s string, opts Options) {
	content, cut, removed := clean(s, opts.Profile, opts.MaxOutputChars)
	r.Content = content
	r.Truncated = r.Truncated || cut
	r.Normalization = opts.Profile.normalization()
	r.Removed.Add(removed)
	r.fitLinks(opts)
	r.Noticed.MixedScript = mixedScriptWords(content)
	r.Noticed.Phrases = instructionPhrases(content)
}

// ended is the refusal of a text whose context ended.
func ended(cause error) *Error {
	return &Error{Reason: HTMLLimit, Offset: -1, Detail: "the time is over", Err: cause}
}

// parseMediaType splits a media type into its lower-case name and its charset
// label, "" where there is none.
func parseMediaType(mediaType string) (kind, label string, err error) {
	kind, params, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return "", "", refuse(MediaType, -1, "the media type is malformed")
	}
	switch kind {
	case "text/plain", "text/markdown", "text/html", "text/csv":
	default:
		return "", "", refuse(MediaType, -1, "the media type is not one of the text path")
	}
	label, declared := params["charset"]
	if declared && strings.TrimSpace(label) == "" {
		return "", "", refuse(Encoding, -1, "the charset parameter is empty")
	}
	return kind, label, nil
}
