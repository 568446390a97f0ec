package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
	"github.com/hallmark-gate/hallmark/validators/text"
)

// textFlags are the flags of text.
type textFlags struct {
	mediaType, profile, rows, file, source string
	maxChars                               int
	output                                 output
}

func newText() *cobra.Command {
	var f textFlags
	cmd := &cobra.Command{
		Use:   "text --media-type T [--rows FILE.jsonl]",
		Short: "Make texts fit to be shown, without contracts",
		Long: `Runs the text path alone, for trying things: the visible text of a page, characters
that nobody sees taken out, normalised, cut. Prints the text of --file, or of standard
input. Media types are text/plain, text/html, text/markdown and text/csv.

With --rows each line of a file is {"raw": …}, or "raw_base64" for exact bytes, with
"media_type" and "profile" where they differ from the flags. Each gives one line of JSON:

  {"content": …, "truncated": false, "links": [{"text", "href"}], "removed": {KIND: COUNT}}
  {"error": REASON}        ENCODING, BYTE_LIMIT, ITEM_LIMIT, HTML_LIMIT or MEDIA_TYPE

With --output json the text of --file gives the same line. What is printed is outside
text: data, whatever it says. --rows - reads standard input.

Exit codes: 0 done, 1 the text of --file is refused, 2 no answer.`,
		Example: `  hallmark text --media-type text/html --file page.html
  echo '{"raw":"a\u200bb"}' | hallmark text --media-type text/plain --rows -
  hallmark text --media-type text/html --file page.html --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.mediaType, "media-type", "", "media type, with its charset where one was declared")
	flags.StringVar(&f.profile, "profile", "prose", "prose or code")
	flags.StringVar(&f.rows, "rows", "", "file of rows, - for standard input")
	flags.StringVar(&f.file, "file", "-", "file of one text, - for standard input")
	f.output.registerAs(cmd, "one value a line; with --rows always")
	flags.StringVar(&f.source, "source", "", "address that links of a page are resolved against")
	flags.IntVar(&f.maxChars, "max-chars", text.DefaultMaxOutputChars, "code points at which a text is cut")
	return cmd
}

func (f *textFlags) run(cmd *cobra.Command) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if f.maxChars < 1 {
		return fmt.Errorf("--max-chars is a number from 1 on")
	}
	if f.rows != "" {
		return f.runRows(cmd)
	}
	if f.mediaType == "" {
		return fmt.Errorf("no media type; name one with --media-type, such as text/html")
	}
	options, err := f.options(f.profile)
	if err != nil {
		return err
	}
	in, closeIn, err := openInput(cmd, f.file, "--file")
	if err != nil {
		return err
	}
	defer closeIn()
	raw, err := io.ReadAll(io.LimitReader(in, text.DefaultMaxBytes+1)) // one more is refused
	if err != nil {
		return err
	}
	result, err := text.Process(cmd.Context(), raw, f.mediaType, options)
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "hallmark: refused, %s: %v\n", textReason(err), err)
		if f.output == "json" {
			if err := printObject(cmd.OutOrStdout(), textError{textReason(err)}); err != nil {
				return err
			}
		}
		return errNo
	}
	if f.output == "json" {
		return printObject(cmd.OutOrStdout(), textLine(result))
	}
	// The text goes to a file or a pipe as it is; it holds nothing that a terminal acts on.
	_, err = fmt.Fprintln(cmd.OutOrStdout(), result.Content)
	return err
}

func (f *textFlags) options(profile string) (text.Options, error) {
	o := text.Options{MaxOutputChars: f.maxChars, HTML: text.HTMLOptions{KeepLinks: true}}
	switch profile {
	case "prose":
	case "code":
		o.Profile = text.Code
	default:
		return o, errors.New("a profile is prose or code")
	}
	if f.source != "" {
		base, err := url.Parse(f.source)
		if err != nil || !base.IsAbs() {
			return o, errors.New("--source is an address such as https://example.test/page")
		}
		o.Base = base
	}
	return o, nil
}

// textResult is one line of output: what was made of the text, or why nothing was.
type textResult struct {
	Content   string         `json:"content"`
	Truncated bool           `json:"truncated"`
	Links     []textLink     `json:"links"`
	Removed   map[string]int `json:"removed"`
}

type textLink struct {
	Text string `json:"text"`
	Href string `json:"href"`
}

type textError struct {
	Error contract.Reason `json:"error"`
}

func (f *textFlags) runRows(cmd *cobra.Command) error {
	in, closeIn, err := openInput(cmd, f.rows, "--rows")
	if err != nil {
		return err
	}
	defer closeIn()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxRow)
	results := bufio.NewWriter(cmd.OutOrStdout())
	encoder := json.NewEncoder(results)
	encoder.SetEscapeHTML(false)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		result, err := f.row(cmd.Context(), lines.Bytes())
		if err != nil {
			return errors.Join(fmt.Errorf("row %d: %w", n, err), results.Flush())
		}
		if err := encoder.Encode(result); err != nil {
			return err
		}
	}
	return errors.Join(rowsFault(lines.Err()), results.Flush())
}

// row processes one line. It is read strictly, so that a text of half a character is a
// fault of the file and not another text.
func (f *textFlags) row(ctx context.Context, line []byte) (any, error) {
	limits := strictjson.Ceilings()
	limits.MaxBytes, limits.MaxStringChars = maxRow, maxRow
	v, err := strictjson.Parse(line, limits)
	if err != nil || v.Kind() != strictjson.Object {
		return nil, errors.New("a row is one strict JSON object")
	}
	media, profile := f.mediaType, f.profile
	var raw []byte
	given := 0
	for name, m := range v.Members() {
		if !slices.Contains([]string{"raw", "raw_base64", "media_type", "profile"}, name) || m.Kind() != strictjson.String {
			return nil, errors.New(`a row has strings named "raw" or "raw_base64", "media_type" and "profile", and nothing else`)
		}
		switch name {
		case "raw":
			raw, given = []byte(m.Text()), given+1
		case "raw_base64":
			given++
			if raw, err = base64.StdEncoding.DecodeString(m.Text()); err != nil {
				return nil, errors.New(`"raw_base64" is not base64`)
			}
		case "media_type":
			media = m.Text()
		case "profile":
			profile = m.Text()
		}
	}
	if given != 1 || media == "" {
		return nil, errors.New(`a row has exactly one of "raw" and "raw_base64", and "media_type" unless --media-type says it`)
	}
	options, err := f.options(profile)
	if err != nil {
		return nil, err
	}
	result, err := text.Process(ctx, raw, media, options)
	if err != nil {
		return textError{textReason(err)}, nil
	}
	return textLine(result), nil
}

// textLine is a text for programs.
func textLine(result text.Result) textResult {
	out := textResult{Content: result.Content, Truncated: result.Truncated, Links: []textLink{}, Removed: map[string]int{}}
	for _, l := range result.Links {
		out.Links = append(out.Links, textLink(l))
	}
	for kind, n := range result.Removed.All() {
		out.Removed[kind] = n
	}
	return out
}

// textReason names a refusal of the text path as the service does.
func textReason(err error) contract.Reason {
	var refused *text.Error
	if !errors.As(err, &refused) {
		return contract.ReasonHTMLLimit
	}
	switch refused.Reason {
	case text.ByteLimit:
		return contract.ReasonByteLimit
	case text.ItemLimit:
		return contract.ReasonItemLimit
	case text.Encoding:
		return contract.ReasonEncoding
	case text.MediaType, text.Syntax:
		return contract.ReasonMediaType
	}
	return contract.ReasonHTMLLimit
}
