package validators

import (
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/format"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// linksOf returns the text fields that hold a link.
func linksOf(r *contract.Result) []contract.TextField {
	var links []contract.TextField
	for _, f := range r.TextFields {
		if f.As == contract.AsURL {
			links = append(links, f)
		}
	}
	return links
}

// badLink returns the first string in a link's place that may not be given as one; the
// zero Value where all may. A link is never cut, which would lead elsewhere.
func badLink(payload strictjson.Value, links []contract.TextField) strictjson.Value {
	var bad strictjson.Value
	for _, f := range links {
		payload.All(f.At, func(v strictjson.Value) bool {
			if v.Kind() != strictjson.String {
				return true // the schema lets something else stand there
			}
			if isLink(v.Text()) && (f.MaxChars == 0 || v.Chars() <= f.MaxChars) {
				return true
			}
			if !bad.Exists() || v.Offset() < bad.Offset() {
				bad = v
			}
			return false
		})
	}
	return bad
}

// isLink reports whether s is an absolute URL (RFC 3986, so ASCII) that may be shown
// as a link: http or https with a host, without user info or escapes in its
// authority, behind which another host could hide; or mailto without a query, which
// could write the mail. What javascript:, data:, file: and all others lead to is
// nobody's to follow.
func isLink(s string) bool {
	if format.URI(s) != nil {
		return false
	}
	scheme, rest, _ := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		rest, hasAuthority := strings.CutPrefix(rest, "//")
		if end := strings.IndexAny(rest, "/?#"); end >= 0 {
			rest = rest[:end]
		}
		return hasAuthority && rest != "" && rest[0] != ':' && !strings.ContainsAny(rest, "@%")
	case "mailto":
		return strings.Contains(rest, "@") && !strings.ContainsAny(rest, "?#%")
	}
	return false
}
