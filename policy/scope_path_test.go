package policy

import (
	"path/filepath"
	"strings"
	"testing"
)

const share = "/srv/share/"

var pathRows = []row{
	{"119 itself", share, "/srv/share/", inside},
	{"119 itself without the slash", share, "/srv/share", inside},
	{"119 below", share, "/srv/share/a.md", inside},
	{"119 sibling", share, "/srv/share-secret/loot.md", outside},
	{"119 sibling of one letter more", share, "/srv/shared", outside},
	{"138 a link", share, "/srv/share/leak", inside},
	{"a folder below", share, "/srv/share/a/b/", inside},
	{"parent", share, "/srv", outside},
	{"exact", "/srv/share/a.md", "/srv/share/a.md", inside},
	{"exact, with a slash", "/srv/share/a.md", "/srv/share/a.md/", outside},
	{"exact, below", "/srv/share/a.md", "/srv/share/a.md/b", outside},
	{"case", share, "/srv/Share/a", outside},
	{"root", "/", "/etc/passwd", inside},
	{"root itself", "/", "/", inside},
	{"root not covered", share, "/", outside},
	{"relative", share, "srv/share/a.md", malformed},
	{"130 relative to here", share, "./srv/share/a.md", malformed},
	{"relative grant", "srv/share/", "/srv/share/a.md", void},
	{"dots", share, "/srv/share/../etc/passwd", malformed},
	{"dots at the end", share, "/srv/share/..", malformed},
	{"one dot", share, "/srv/share/./a", malformed},
	{"one dot at the end", share, "/srv/share/a/.", malformed},
	{"dots in the grant", "/srv/share/../", "/srv/a", void},
	{"dots and a blank", share, "/srv/share/.. /a", malformed},
	{"three dots", share, "/srv/share/.../a", malformed},
	{"hidden file", share, "/srv/share/.git", inside},
	{"dots in a name", share, "/srv/share/a..b/c.", inside},
	{"blank in a name", share, "/srv/share/a b", inside},
	{"two slashes", share, "/srv/share//a", malformed},
	{"two slashes in front", share, "//srv/share/a", malformed},
	{"two slashes at the end", share, "/srv/share//", malformed},
	{"two slashes alone", "/", "//", malformed},
	{"home", share, "/srv/share/~root", malformed},
	{"backup", share, "/srv/share/a~", malformed},
	{"backslash", share, `/srv/share/..\a`, malformed},
	{"encoded", share, "/srv/share/%2e%2e/a", malformed},
	{"percent", share, "/srv/share/100%", malformed},
	{"nul", share, "/srv/share/a\x00.md", malformed},
	{"line end", share, "/srv/share/a\n", malformed},
	{"delete", share, "/srv/share/a\x7f", malformed},
	{"C1", share, "/srv/share/a\u0085", malformed},
	{"NFC", share, "/srv/share/\u00e9", inside},
	{"not NFC", share, "/srv/share/e\u0301", malformed},
	{"singleton", share, "/srv/share/\u212b", malformed},
	{"NFC in the grant", "/srv/\u00e9/", "/srv/\u00e9/a", inside},
	{"not NFC in the grant", "/srv/e\u0301/", "/srv/\u00e9/a", void},
	{"fullwidth slash is a letter", share, "/srv/share\uff0fa", outside},
	{"empty", share, "", malformed},
	{"empty grant", "", "/a", void},
	{"star", "/srv/*/", "/srv/share/a", outside},
}

// B9: area F 119 and 138.
func TestPath(t *testing.T) {
	check(t, Path, pathRows, func(s string) bool { _, ok := parsePath(s); return ok })
	for _, s := range []string{"/a\xff", "/a\xc0\xae"} {
		if _, ok := parsePath(s); ok {
			t.Errorf("%q is not UTF-8 and is a path", s)
		}
	}
}

func FuzzPath(f *testing.F) {
	seed(f, pathRows)
	f.Fuzz(func(t *testing.T, granted, used string) {
		v := text(t, strings.ToValidUTF8(used, "?"))
		used = v.Text()
		up := used[:strings.LastIndexByte(used, '/')+1]
		for _, g := range []string{granted, used, up} {
			ok, _ := covers(t, Path, g, v)
			if !ok {
				continue
			}
			clean := filepath.Clean(used)
			if clean != used && clean+"/" != used {
				t.Fatalf("path/filepath opens the covered %q as %q", used, clean)
			}
			if !strings.HasSuffix(g, "/") {
				if g != used {
					t.Errorf("the grant %q covers %q", g, used)
				}
				continue
			}
			rel, err := filepath.Rel(filepath.Clean(g), clean)
			if err != nil || !filepath.IsAbs(used) || !filepath.IsLocal(rel) {
				t.Errorf("the grant %q covers %q, which is %q from there (%v)", g, used, rel, err)
			}
		}
	})
}
