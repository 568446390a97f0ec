package text

import (
	"bytes"
	"encoding/binary"
	"mime"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// decode turns raw into valid UTF-8, without a BOM. label is the declared
// charset, or "". The first that applies decides:
//
//  1. a BOM (UTF-8, UTF-16);
//  2. label; one that is unknown is refused, as are those that the Encoding
//     Standard keeps only to disarm them (iso-2022-kr, x-user-defined …);
//  3. of a page: valid UTF-8 with characters beyond ASCII, whatever its <meta>
//     claims; such text does not arise by chance;
//  4. of a page: <meta> in its first 1024 bytes; a label that is unknown there
//     counts as none, as in a browser;
//  5. UTF-8.
//
// Labels mean what they mean on the web (iso-8859-1 is windows-1252). Bytes
// that the charset does not have are refused: no U+FFFD is ever put in. One
// that the input has in UTF-8 or UTF-16 stays.
func decode(raw []byte, label string, isHTML bool) (string, error) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")):
		return "", refuse(Encoding, 0, "UTF-32 is not supported")
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return decodeUTF8(raw, 3)
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		return decodeUTF16(raw, 2, binary.LittleEndian)
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return decodeUTF16(raw, 2, binary.BigEndian)
	case label != "":
		enc, name := charset.Lookup(label)
		if !usable(enc, name) {
			return "", refuse(Encoding, -1, "the declared charset is not supported")
		}
		return decodeAs(raw, enc, name)
	case utf8.Valid(raw):
		// ASCII is the same in every charset that <meta> could name, except in
		// ISO-2022-JP and its like, which have escape sequences.
		if !isHTML || bytes.IndexByte(raw, '\x1b') < 0 || hasHigh(raw) {
			return string(raw), nil
		}
	}
	if isHTML {
		if enc, name := metaCharset(raw); enc != nil {
			return decodeAs(raw, enc, name)
		}
	}
	return decodeUTF8(raw, 0)
}

func hasHigh(raw []byte) bool {
	for _, c := range raw {
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// usable reports whether text in an encoding can be read without loss.
func usable(enc encoding.Encoding, name string) bool {
	return enc != nil && enc != encoding.Replacement && name != "replacement" && name != "x-user-defined"
}

func decodeAs(raw []byte, enc encoding.Encoding, name string) (string, error) {
	switch name {
	case "utf-8":
		return decodeUTF8(raw, 0)
	case "utf-16le":
		return decodeUTF16(raw, 0, binary.LittleEndian)
	case "utf-16be":
		return decodeUTF16(raw, 0, binary.BigEndian)
	}
	out, err := enc.NewDecoder().Bytes(raw)
	// Of these charsets only GB 18030 can write U+FFFD itself; there it cannot
	// be told from a broken sequence, and is refused with it.
	if err != nil || bytes.Contains(out, []byte("\ufffd")) || !utf8.Valid(out) {
		return "", refuse(Encoding, -1, "the text is not in its declared charset")
	}
	return string(out), nil
}

func decodeUTF8(raw []byte, from int) (string, error) {
	if rest := raw[from:]; utf8.Valid(rest) {
		return string(rest), nil
	}
	for from < len(raw) {
		r, size := utf8.DecodeRune(raw[from:])
		if invalid(r, size) {
			break
		}
		from += size
	}
	return "", refuse(Encoding, from, "the text is not UTF-8")
}

func decodeUTF16(raw []byte, from int, order binary.ByteOrder) (string, error) {
	var out strings.Builder
	out.Grow(len(raw) - from)
	for i := from; i < len(raw); i += 2 {
		if i+1 == len(raw) {
			return "", refuse(Encoding, i, "the text ends inside a UTF-16 unit")
		}
		r := rune(order.Uint16(raw[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(raw) {
				return "", refuse(Encoding, i, "a surrogate stands alone")
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(raw[i+2:]))); r == utf8.RuneError {
				return "", refuse(Encoding, i, "a surrogate stands alone")
			}
			i += 2
		}
		out.WriteRune(r)
	}
	return out.String(), nil
}

// metaCharset finds the charset that a <meta> in the first 1024 bytes of a page
// declares, or nil. One that names UTF-16 is written in ASCII and thereby wrong:
// it means UTF-8.
func metaCharset(raw []byte) (encoding.Encoding, string) {
	z := html.NewTokenizer(bytes.NewReader(raw[:min(len(raw), 1024)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return nil, ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			if !hasAttr || string(name) != "meta" {
				continue
			}
			enc, found := charset.Lookup(metaLabel(z))
			if strings.HasPrefix(found, "utf-16") {
				enc, found = charset.Lookup("utf-8")
			}
			if usable(enc, found) {
				return enc, found
			}
		}
	}
}

// metaLabel returns the charset label of the <meta> that z stands at, or "".
func metaLabel(z *html.Tokenizer) string {
	var label, content string
	isContentType := false
	for more := true; more; {
		var key, val []byte
		key, val, more = z.TagAttr()
		switch string(key) {
		case "charset":
			label = string(val)
		case "http-equiv":
			isContentType = strings.EqualFold(string(val), "content-type")
		case "content":
			content = string(val)
		}
	}
	if label != "" || !isContentType {
		return strings.TrimSpace(label)
	}
	if _, params, err := mime.ParseMediaType(content); err == nil {
		return params["charset"]
	}
	// The web's own rule for what mime does not accept.
	_, after, _ := strings.Cut(strings.ToLower(content), "charset")
	after, ok := strings.CutPrefix(strings.TrimLeft(after, " \t\n\f\r"), "=")
	if !ok {
		return ""
	}
	after = strings.Trim(after, " \t\n\f\r\"'")
	if end := strings.IndexAny(after, "; \t\n\f\r\"'"); end >= 0 {
		after = after[:end]
	}
	return after
}
