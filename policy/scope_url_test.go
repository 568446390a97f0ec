package policy

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

const docs = "https://example.test/docs/"

var urlRows = []row{
	{"itself", docs, "https://example.test/docs/", inside},
	{"below", docs, "https://example.test/docs/a/b", inside},
	{"a folder below", docs, "https://example.test/docs/a/", inside},
	{"without the slash", docs, "https://example.test/docs", outside},
	{"sibling", docs, "https://example.test/docsecret", outside},
	{"parent", docs, "https://example.test/", outside},
	{"case of the path", docs, "https://example.test/Docs/a", outside},
	{"exact", "https://example.test/a", "https://example.test/a", inside},
	{"exact, below", "https://example.test/a", "https://example.test/a/b", outside},
	{"exact, with a slash", "https://example.test/a", "https://example.test/a/", outside},
	{"root", "https://example.test/", "https://example.test/a/b", inside},
	{"root without a path", "https://example.test/", "https://example.test", inside},
	{"no path covers the root", "https://example.test", "https://example.test/", inside},
	{"no path covers nothing below", "https://example.test", "https://example.test/a", outside},
	{"scheme", docs, "http://example.test/docs/a", outside},
	{"scheme in capitals", docs, "HTTPS://example.test/docs/a", inside},
	{"scheme missing", docs, "//example.test/docs/a", malformed},
	{"scheme with a digit in front", docs, "1https://example.test/docs/", malformed},
	{"unknown scheme keeps its path", "x://example.test", "x://example.test/", outside},
	{"unknown scheme keeps its port", "x://example.test/", "x://example.test:443/", outside},
	{"script", docs, "javascript:alert(1)", malformed},
	{"no authority", "file:///etc/", "file:///etc/passwd", malformed},
	{"127 trailing dot", "https://docs.example.test/", "https://docs.example.test./x", inside},
	{"127 trailing dot of the grant", "https://docs.example.test./", "https://docs.example.test/x", inside},
	{"127 default port", "https://docs.example.test/", "https://docs.example.test:443/x", inside},
	{"127 capitals", "https://docs.example.test/", "https://DOCS.example.test/x", inside},
	{"127 two dots", "https://docs.example.test/", "https://docs.example.test../x", malformed},
	{"default port of the grant", "http://example.test:80/", "http://example.test/", inside},
	{"other scheme's port", "http://example.test/", "http://example.test:443/", outside},
	{"port", "https://example.test:8443/", "https://example.test:8443/a", inside},
	{"port not granted", docs, "https://example.test:8443/docs/", outside},
	{"empty port", docs, "https://example.test:/docs/", malformed},
	{"port with zeros", docs, "https://example.test:0443/docs/", malformed},
	{"port 0", docs, "https://example.test:0/docs/", malformed},
	{"port beyond", docs, "https://example.test:65536/docs/", malformed},
	{"port of six digits", docs, "https://example.test:100443/docs/", malformed},
	{"port that is none", docs, "https://example.test:https/docs/", malformed},
	{"two ports", docs, "https://example.test:443:443/docs/", malformed},
	{"123 subdomain", docs, "https://sub.example.test/docs/", outside},
	{"123 suffix", docs, "https://example.test.evil.test/docs/", outside},
	{"120 dot segments", "https://example.test/api/", "https://example.test/api/../admin", malformed},
	{"120 encoded dots", "https://example.test/api/", "https://example.test/api/%2e%2e/admin", malformed},
	{"120 one dot", "https://example.test/api/", "https://example.test/api/./v1", malformed},
	{"120 sibling", "https://example.test/api/", "https://example.test/api123", outside},
	{"120 dots at the end", "https://example.test/api/", "https://example.test/mcp/..", malformed},
	{"half encoded dots", "https://example.test/api/", "https://example.test/api/.%2E/admin", malformed},
	{"twice encoded dots", "https://example.test/api/", "https://example.test/api/%252e%252e/admin", malformed},
	{"thrice encoded dots", "https://example.test/api/", "https://example.test/api/%25252e/admin", malformed},
	{"dots and a blank", "https://example.test/api/", "https://example.test/api/..%20/admin", malformed},
	{"overlong dot", "https://example.test/api/", "https://example.test/api/%c0%ae%c0%ae/admin", malformed},
	{"122 encoded slash", "https://example.test/public/", "https://example.test/public/..%2fadmin", malformed},
	{"122 backslash", "https://example.test/public/", `https://example.test/public/..\admin`, malformed},
	{"122 two slashes", "https://example.test/public/", "https://example.test/public//admin", malformed},
	{"122 semicolon", "https://example.test/public/", "https://example.test/public/..;/admin", malformed},
	{"122 user information", "https://example.com/public/", "https://example.com@evil.example/public/x", malformed},
	{"encoded slash alone", docs, "https://example.test/docs/a%2Fb", malformed},
	{"twice encoded slash", docs, "https://example.test/docs/a%252Fb", malformed},
	{"encoded backslash", docs, "https://example.test/docs/a%5cb", malformed},
	{"encoded semicolon", docs, "https://example.test/docs/a%3bb", malformed},
	{"encoded question mark", docs, "https://example.test/docs/a%3fb", malformed},
	{"encoded nul", docs, "https://example.test/docs/a%00", malformed},
	{"encoded line end", docs, "https://example.test/docs/a%0d%0a", malformed},
	{"encoded beyond ASCII", docs, "https://example.test/docs/%ef%bc%8f", malformed},
	{"encoded blank", docs, "https://example.test/docs/a%20b", inside},
	{"encoded letter is another text", "https://example.test/a", "https://example.test/%61", outside},
	{"encoded letter below", docs, "https://example.test/docs/%61", inside},
	{"broken percent", docs, "https://example.test/docs/%zz", malformed},
	{"cut percent", docs, "https://example.test/docs/%2", malformed},
	{"semicolon", docs, "https://example.test/docs/a;b", malformed},
	{"three dots", docs, "https://example.test/docs/.../a", malformed},
	{"dots in a name", docs, "https://example.test/docs/..a/.b/c..", inside},
	{"sub-delimiters", docs, "https://example.test/docs/@a:b!$&'()*+,=~", inside},
	{"two slashes at the end", docs, "https://example.test/docs//", malformed},
	{"two slashes at the start", "https://example.test/", "https://example.test//docs", malformed},
	{"user", docs, "https://a@example.test/docs/", malformed},
	{"user and password", docs, "https://a:b@example.test/docs/", malformed},
	{"empty user", docs, "https://@example.test/docs/", malformed},
	{"user in the grant", "https://a@example.test/", "https://example.test/", void},
	{"backslash as a slash", docs, `https:\\example.test\docs\`, malformed},
	{"backslash in the authority", docs, `https://example.test\@evil.test/docs/`, malformed},
	{"query", docs, "https://example.test/docs/?q=1", outside},
	{"empty query", docs, "https://example.test/docs/?", outside},
	{"query of the grant", docs + "?q=1", docs + "?q=1", inside},
	{"query of the grant, other", docs + "?q=1", docs + "?q=2", outside},
	{"query of the grant, none", docs + "?q=1", docs, outside},
	{"query that ends in a slash covers nothing below", docs + "?q=/", docs + "a?q=/", outside},
	{"query with encoded slash", docs + "?n=%2Fx;y", docs + "?n=%2Fx;y", inside},
	{"query with a broken percent", docs + "?%", docs + "?%", malformed},
	{"query with a quote", docs, docs + "?\"", malformed},
	{"fragment", docs, docs + "#a", outside},
	{"fragment of the grant", docs + "#a", docs + "#a", inside},
	{"fragment with a slash covers nothing below", docs + "#/", docs + "x#/", outside},
	{"two fragments", docs + "#a#b", docs + "#a#b", malformed},
	{"no path, but a query", docs, "https://example.test?/docs/", outside},
	{"blank", docs, " https://example.test/docs/", malformed},
	{"blank inside", docs, "https://example.test/docs/ a", malformed},
	{"tab", docs, "https://exam\tple.test/docs/", malformed},
	{"line end", docs, docs + "\n", malformed},
	{"non-ASCII path", docs, docs + "\u00e4", malformed},
	{"fullwidth slash", docs, docs + "\uff0f", malformed},
	{"non-ASCII host", docs, "https://ex\u00e4mple.test/docs/", malformed},
	{"quote", docs, docs + "\"", malformed},
	{"address", "http://192.0.2.1/", "http://192.0.2.1/a", inside},
	{"address otherwise", "http://127.0.0.1/", "http://127.1/a", outside},
	{"decimal address", "http://127.0.0.1/", "http://2130706433/", outside},
	{"IPv6", "http://[2001:db8::1]/", "http://[2001:db8::1]:80/a", inside},
	{"IPv6 otherwise", "http://[2001:db8::1]/", "http://[2001:DB8::1]/", outside},
	{"IPv6 without brackets", "http://[::1]/", "http://::1/", malformed},
	{"IPv6 not closed", "http://[::1]/", "http://[::1/", malformed},
	{"IPv6 with more", "http://[::1]/", "http://[::1]x/", malformed},
	{"name in brackets", "http://example.test/", "http://[example.test]/", malformed},
	{"empty", docs, "", malformed},
	{"empty host", docs, "https:///docs/", malformed},
	{"grant without a scheme", "example.test/docs/", docs, void},
	{"star", "https://*.example.test/", "https://a.example.test/", void},
}

// B9: area F 120, 122, 123 and 127.
func TestURL(t *testing.T) {
	check(t, URL, urlRows, func(s string) bool { _, ok := parseURL(s); return ok })
}

// insideURL is what an executor's parser says: net/url, and path.Clean on the path in
// every depth of decoding.
func insideURL(t *testing.T, granted, used string) {
	t.Helper()
	g, err := url.Parse(granted)
	if err != nil {
		t.Fatalf("net/url refuses the grant %q: %v", granted, err)
	}
	u, err := url.Parse(used)
	if err != nil {
		t.Fatalf("net/url refuses the covered %q: %v", used, err)
	}
	if u.Scheme != g.Scheme || u.User != nil || u.Opaque != "" {
		t.Errorf("%q covers %q", granted, used)
	}
	port := map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[u.Scheme]
	if (u.Port() != g.Port()) && !(u.Port() == "" && g.Port() == port || u.Port() == port && g.Port() == "") {
		t.Errorf("%q covers %q of another port", granted, used)
	}
	sameHost(t, g.Hostname(), u.Hostname())
	if u.RawQuery != g.RawQuery || u.ForceQuery != g.ForceQuery || u.Fragment != g.Fragment {
		t.Errorf("%q covers %q with another query or fragment", granted, used)
	}
	base, at := g.EscapedPath(), u.EscapedPath()
	for range 5 {
		clean := path.Clean("/" + at)
		if strings.HasSuffix(at, "/") && clean != "/" {
			clean += "/"
		}
		below := strings.HasSuffix(base, "/") && g.RawQuery == "" && !g.ForceQuery && !strings.Contains(granted, "#")
		if clean != cmpOr(at, "/") || cmpOr(at, "/") != cmpOr(base, "/") && !(below && strings.HasPrefix(at, base)) {
			t.Fatalf("%q covers %q, whose path reads as %q", granted, used, clean)
		}
		if strings.Contains(at, `\`) {
			t.Errorf("%q covers %q with a backslash", granted, used)
		}
		if base, err = url.PathUnescape(base); err != nil {
			return
		}
		if at, err = url.PathUnescape(at); err != nil {
			t.Fatalf("%q covers %q, which decodes to nothing", granted, used)
		}
	}
}

func cmpOr(s, empty string) string {
	if s == "" {
		return empty
	}
	return s
}

func FuzzURL(f *testing.F) {
	seed(f, urlRows)
	f.Fuzz(func(t *testing.T, granted, used string) {
		v := text(t, strings.ToValidUTF8(used, "?"))
		used = v.Text()
		up := used[:strings.LastIndexByte(used, '/')+1]
		for _, g := range []string{granted, used, up} {
			if ok, _ := covers(t, URL, g, v); ok {
				insideURL(t, g, used)
			}
		}
		// The canonical form is a URL of its own and its own canonical form.
		if u, ok := parseURL(used); ok {
			again, ok := parseURL(u.String())
			if !ok || again.String() != u.String() {
				t.Errorf("%q has the form %q, which has %q", used, u.String(), again.String())
			}
			plain := u.plain().String()
			if again, ok := parseURL(plain); !ok || again.plain().String() != plain {
				t.Errorf("%q is %q to conditions, which is %q", used, plain, again.plain().String())
			}
		}
	})
}
