package text

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// fitLinks takes away the links that exceed the limits of number and, together
// with the content, of characters.
func (r *Result) fitLinks(opts Options) {
	if len(r.Links) == 0 {
		return
	}
	left := opts.MaxOutputChars - utf8.RuneCountInString(r.Content)
	for i, link := range r.Links {
		left -= utf8.RuneCountInString(link.Text) + len(link.Href)
		if i == opts.MaxLinks || left < 0 {
			r.Links = r.Links[:i:i]
			r.Truncated = true
			break
		}
	}
	if len(r.Links) == 0 {
		r.Links = nil
	}
}

// shortText cleans a title or the text of a link and puts it on one line.
func shortText(s string) (out string, truncated bool) {
	if len(s) > 8*utf8.UTFMax*maxShortText {
		s, _ = cut(s, 8*maxShortText) // mostly white space, or far too long
		truncated = true
	}
	s, wasCut, _ := CleanText(s, Prose, maxShortText)
	return strings.Join(strings.Fields(s), " "), truncated || wasCut
}

// parseHref resolves what an href attribute says as a browser would: white space
// and control characters around it and tabs and line ends inside it do not
// count. It returns nil for what is not an address of ours to resolve.
func parseHref(base *url.URL, href string) *url.URL {
	if len(href) > 4*maxShortText {
		return nil
	}
	href = strings.TrimFunc(href, func(r rune) bool { return r <= ' ' })
	href = hrefNoise.Replace(href)
	// To a browser a backslash is a slash; nobody needs it, and it disguises
	// where a link leads.
	if strings.Contains(href, `\`) {
		return nil
	}
	u, err := url.Parse(href)
	if err != nil {
		return nil
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	return u
}

var hrefNoise = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// linkAddress returns the address that a link may keep, or "": http, https or
// mailto, absolute, without user info, a mailto without query, in ASCII, at most
// 2048 characters long.
func linkAddress(base *url.URL, href string) string {
	u := parseHref(base, href)
	if u == nil {
		return ""
	}
	var out string
	switch u.Scheme {
	case "http", "https":
		host, ok := asciiHost(u)
		if !ok {
			return ""
		}
		clean := *u
		clean.User, clean.Host = nil, host
		out = clean.String()
	case "mailto":
		if !strings.Contains(u.Opaque, "@") {
			return ""
		}
		out = "mailto:" + u.Opaque
	default:
		return ""
	}
	if out = escapeRest(out); len(out) > maxShortText {
		return ""
	}
	return out
}

// asciiHost returns the host of u with its port, international names in their
// ASCII form, in which look-alike letters show.
func asciiHost(u *url.URL) (string, bool) {
	name, port := u.Hostname(), u.Port()
	if name == "" || u.Opaque != "" {
		return "", false
	}
	if strings.Contains(name, ":") {
		return u.Host, !strings.Contains(name, "%") && plain(name)
	}
	name, err := idna.Lookup.ToASCII(name)
	if err != nil || strings.ContainsAny(name, "%") {
		return "", false
	}
	if port != "" {
		name += ":" + port
	}
	return name, true
}

// escapeRest percent-encodes what has no place in an address but that package
// url lets through in a query.
func escapeRest(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > ' ' && c < 0x7f && strings.IndexByte("\"<>\\^`{|}", c) < 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}
