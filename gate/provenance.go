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
		Trusted:   trusted(c.Trust, caller, u),
	}
	if p.Source == "" {
		p.Source = cleanSource(u.Source, u.Redirects > 0)
	}
	return p
}

// trusted reports whether configuration lets this source, reported by this caller, be
// believed (B1, B13): it lies below a listed prefix, and nothing makes it doubtful what
// it is. A request that was redirected came from elsewhere; user info may pose as a
// host; dot segments and encoded delimiters lead out of the prefix.
func trusted(t contract.Trust, caller Caller, u Upstream) bool {
	if !t.Trusted || u.Redirects > 0 || !slices.Contains(t.Callers, caller.Name) {
		return false
	}
	parsed, err := url.Parse(u.Source)
	if err != nil || parsed.User != nil || leadsElsewhere(u.Source) {
		return false
	}
	return slices.ContainsFunc(t.Sources, func(prefix string) bool { return below(u.Source, prefix) })
}

// leadsElsewhere reports whether a path may not mean what it says.
func leadsElsewhere(source string) bool {
	lower := strings.ToLower(source)
	for _, sign := range []string{"/./", "/../", "%2e", "%2f", "%5c", "%25", "\\"} {
		if strings.Contains(lower, sign) {
			return true
		}
	}
	return strings.HasSuffix(lower, "/.") || strings.HasSuffix(lower, "/..")
}

// below reports whether source is what prefix names, or lies below it: the prefix ends
// where a part of the URL ends, so that https://a.example does not cover
// https://a.example.test. A prefix without a scheme names a command, exactly.
func below(source, prefix string) bool {
	_, behind, isURL := strings.Cut(prefix, "://")
	if !isURL {
		return prefix != "" && commandName(source) == prefix
	}
	rest, is := strings.CutPrefix(source, prefix)
	if host, _, _ := strings.Cut(behind, "/"); !is || host == "" {
		return false
	}
	return rest == "" || strings.HasSuffix(prefix, "/") || strings.ContainsRune("/?#", rune(rest[0]))
}

// cleanSource reduces an endpoint to scheme, host and path, or a command line to the
// name of the command: user info, query, fragment and arguments may hold secrets.
// Where a request was redirected the path is another's and is left out.
func cleanSource(source string, redirected bool) string {
	if scheme, rest, is := strings.Cut(source, "://"); is && isScheme(scheme) {
		clean := asciiOnly(cleanURL(strings.ToLower(scheme), rest, redirected))
		if strings.HasPrefix(source, clean) {
			return source[:len(clean)]
		}
		return clean
	}
	return asciiOnly(commandName(source))
}

// commandName returns the name of a command line's command, and "" where the first word
// may be anything else, such as an endpoint without its scheme or an assignment.
func commandName(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	word, _, _ = strings.Cut(word, "\t")
	if strings.ContainsAny(word, "@?=:#%") {
		return ""
	}
	name := path.Base(word)
	isPath := strings.HasPrefix(word, "/") || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
	if name == "." || name == ".." || name == "/" || (name != word && !isPath) {
		return ""
	}
	return name
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
	end := strings.IndexAny(rest, "/?#\\")
	if end < 0 {
		end = len(rest)
	}
	authority, behind := rest[:end], rest[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	} else if strings.Contains(behind, "@") && (behind[0] != '/' || !isHostPort(authority)) {
		// "user:pa#ss@host": where the user info ends is in doubt.
		return scheme + "://"
	}
	pathPart, _, _ := strings.Cut(behind, "#")
	pathPart, _, _ = strings.Cut(pathPart, "?")
	if redirected || !strings.HasPrefix(pathPart, "/") || strings.Contains(behind, "@") {
		pathPart = ""
	}
	return scheme + "://" + authority + pathPart
}

// isHostPort reports whether an authority has the form of a host with at most a
// numeric port, and so cannot be the beginning of user info with a password.
func isHostPort(authority string) bool {
	host, port, has := strings.Cut(authority, ":")
	return strings.Contains(host, ".") && (!has || strings.Trim(port, "0123456789") == "")
}

// asciiOnly replaces what is no printing ASCII by "?" and cuts at maxSource.
func asciiOnly(s string) string {
	if len(s) <= maxSource && isPrinting(s) {
		return s
	}
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

// isPrinting reports whether s is printing ASCII, without spaces.
func isPrinting(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7F {
			return false
		}
	}
	return true
}
