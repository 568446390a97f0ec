package gate

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
)

// maxSource bounds a source in ASCII characters.
const maxSource = 128

// provenance says where a reply came from, without anything of the payload.
func provenance(c *contract.Contract, caller Caller, u Upstream) Provenance {
	p := Provenance{
		Source:    c.SourceLabel,
		MediaType: mediaType(c.Result.MediaTypes, u.MediaType),
		Trusted:   trusted(c.Trust, caller, u.Source),
	}
	if p.Source == "" {
		p.Source = cleanSource(u.Source, u.Redirects > 0)
	}
	return p
}

// trusted reports whether configuration lets this source, reported by this caller, be
// believed (B1, B13): it lies below a listed prefix and has no user info, so that no
// host can pose as another's user.
func trusted(t contract.Trust, caller Caller, source string) bool {
	if !t.Trusted || !slices.Contains(t.Callers, caller.Name) {
		return false
	}
	if u, err := url.Parse(source); err != nil || u.User != nil {
		return false
	}
	return slices.ContainsFunc(t.Sources, func(prefix string) bool { return below(source, prefix) })
}

// below reports whether source is what prefix names, or lies below it: the prefix ends
// where a part of the URL ends, so that https://a.example does not cover
// https://a.example.test.
func below(source, prefix string) bool {
	rest, is := strings.CutPrefix(source, prefix)
	if !is || prefix == "" {
		return false
	}
	return rest == "" || strings.HasSuffix(prefix, "/") || strings.ContainsRune("/?#", rune(rest[0]))
}

// cleanSource reduces an endpoint to scheme, host and path, or a command line to the
// name of the command: user info, query, fragment and arguments may hold secrets.
// Where a request was redirected the path is another's and is left out.
func cleanSource(source string, redirected bool) string {
	if scheme, rest, is := strings.Cut(source, "://"); is && isScheme(scheme) {
		return asciiOnly(cleanURL(strings.ToLower(scheme), rest, redirected))
	}
	name, _, _ := strings.Cut(strings.TrimSpace(source), " ")
	name, _, _ = strings.Cut(name, "\t")
	name = path.Base(name)
	if name == "." || name == "/" || strings.ContainsAny(name, "@?=:#") {
		return ""
	}
	return asciiOnly(name)
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}

// cleanURL keeps host and path of what follows "://". It parses by hand so that
// nothing is kept of what a URL parser would refuse.
func cleanURL(scheme, rest string, redirected bool) string {
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	authority, pathPart, hasPath := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	if strings.Contains(pathPart, "@") {
		// "user:pa/ss@host": where the authority ends is in doubt.
		return scheme + "://"
	}
	out := scheme + "://" + authority
	if hasPath && !redirected {
		out += "/" + pathPart
	}
	return out
}

// asciiOnly replaces what is no printing ASCII by "?" and cuts at maxSource.
func asciiOnly(s string) string {
	out := make([]byte, 0, min(len(s), maxSource))
	for _, r := range s {
		if len(out) == maxSource {
			break
		}
		if r <= ' ' || r >= 0x7F {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return string(out)
}
