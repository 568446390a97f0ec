//go:build unix

package text

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
)

// browser returns the path of a Chromium. Without one the test is skipped, and
// fails where HALLMARK_REQUIRE_CHROMIUM is set.
func browser(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if named := os.Getenv("HALLMARK_CHROMIUM"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const absent = "absent: a browser (chromium, chromium-browser or google-chrome on the PATH, or HALLMARK_CHROMIUM)"
	if os.Getenv("HALLMARK_REQUIRE_CHROMIUM") != "" {
		t.Fatal(absent)
	}
	t.Skip(absent)
	return ""
}

// browserHarness loads the pages as frames of one page and writes the innerText
// of each into itself as a JSON array, in ASCII and without markup.
const browserHarness = `<!doctype html><title>pages</title><pre id=out></pre>
%s<script>
onload = () => {
	const texts = Array.from(document.querySelectorAll("iframe"), f => {
		try { return f.contentDocument.body.innerText } catch (e) { return null }
	});
	document.getElementById("out").textContent = JSON.stringify(texts).replace(/[^ -~]|[<>&]/g,
		c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
};
</script>`

// innerTexts returns what a browser gives as innerText of the body of each page.
func innerTexts(t *testing.T, chromium string, pages []string) []string {
	t.Helper()
	dir := t.TempDir()
	var frames strings.Builder
	for i, page := range pages {
		name := fmt.Sprintf("%03d.html", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&frames, "<iframe src=%s></iframe>\n", name)
	}
	harness := filepath.Join(dir, "harness.html")
	if err := os.WriteFile(harness, fmt.Appendf(nil, browserHarness, frames.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	dom := dumpDOM(t, chromium, dir, harness)
	_, rest, _ := strings.Cut(dom, `<pre id="out">`)
	list, _, _ := strings.Cut(rest, "</pre>")
	var texts []*string
	if err := json.Unmarshal([]byte(list), &texts); err != nil || len(texts) != len(pages) {
		t.Fatalf("the browser gave %d texts for %d pages (%v):\n%.2000s", len(texts), len(pages), err, dom)
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		if text == nil {
			t.Fatalf("the browser did not load page %d", i)
		}
		out[i] = *text
	}
	return out
}

// dumpDOM runs the browser on a local file and returns what became of the page.
// All processes of the browser are in one group, which is killed at the end.
func dumpDOM(t *testing.T, chromium, dir, file string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-breakpad",
		// No name resolves, so no page reaches a network.
		"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9",
		// The frames are of one origin with the page that reads them.
		"--allow-file-access-from-files",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--virtual-time-budget=20000", "--dump-dom", "file://"+filepath.ToSlash(file))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.Process != nil {
		if killed := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); killed != nil && !errors.Is(killed, syscall.ESRCH) {
			t.Errorf("the browser's processes: %v", killed)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", chromium, err, stderr.String())
	}
	return stdout.String()
}

// withoutSpace returns s without white space.
func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// joined returns a word of ours that white space separates in theirs, "" if there
// is none. Both have the same characters otherwise.
func joined(theirs, ours string) string {
	ends := map[int]bool{}
	n := 0
	for _, word := range strings.Fields(theirs) {
		ends[n] = true
		n += len(word)
	}
	n = 0
	for _, word := range strings.Fields(ours) {
		for i := 1; i < len(word); i++ {
			if ends[n+i] {
				return word
			}
		}
		n += len(word)
	}
	return ""
}

// takeOut removes pieces, in order, from a text without white space.
func takeOut(t *testing.T, whose, text string, pieces []string) string {
	t.Helper()
	var out strings.Builder
	for _, piece := range pieces {
		before, after, found := strings.Cut(text, piece)
		if !found {
			t.Errorf("%s does not have %q: %q", whose, piece, text)
		}
		out.WriteString(before)
		text = after
	}
	return out.String() + text
}

// B5: on every page a browser's innerText is our text, white space aside, except
// for what a page states; and what innerText parts our text parts too. Both are
// cleaned.
func TestBrowserAgreement(t *testing.T) {
	chromium := browser(t)
	all := append(append([]browserPage{}, agreeingPages...), differingPages...)
	sources := make([]string, len(all))
	for i, p := range all {
		if sources[i] = p.page; !p.raw {
			sources[i] = "\ufeff<!doctype html>\n" + p.page
		}
	}
	texts := innerTexts(t, chromium, sources)
	for i, p := range all {
		if (p.theirs != nil || p.ours != nil) != (p.why != "") {
			t.Errorf("%s: a difference without a reason, or a reason without one", p.name)
		}
		t.Run(p.name, func(t *testing.T) {
			for _, profile := range []Profile{Prose, Code} {
				theirs, _, _ := CleanText(texts[i], profile, DefaultMaxOutputChars)
				ours := process(t, sources[i], "text/html", Options{Profile: profile}).Content
				a := takeOut(t, "innerText", withoutSpace(theirs), p.theirs)
				b := takeOut(t, "our text", withoutSpace(ours), p.ours)
				if a != b || b == "" {
					t.Errorf("profile %d of %q\n innerText %q\n ours      %q", profile, p.page, theirs, ours)
				}
				if p.why == "" && !p.close {
					if missing := joined(theirs, ours); missing != "" {
						t.Errorf("profile %d of %q: %q is in one piece\n innerText %q\n ours      %q", profile, p.page, missing, theirs, ours)
					}
				}
			}
		})
	}
	t.Logf("%d pages", len(all))
}
