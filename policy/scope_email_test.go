package policy

import (
	"net/mail"
	"strings"
	"testing"
)

var emailRows = []row{
	{"equal", "ana@example.test", "ana@example.test", inside},
	{"123 domain", "@example.test", "x@example.test", inside},
	{"123 domain in capitals", "@example.test", "x@EXAMPLE.test", inside},
	{"123 suffix", "@example.test", "x@evilexample.test", outside},
	{"123 prefix", "@example.test", "x@example.test.evil.test", outside},
	{"123 subdomain", "@example.test", "x@sub.example.test", outside},
	{"other local part", "ana@example.test", "eve@example.test", outside},
	{"case of the local part", "ana@example.test", "Ana@example.test", outside},
	{"plus tag", "ana@example.test", "ana+x@example.test", outside},
	{"plus tag, listed", "ana+x@example.test", "ana+x@example.test", inside},
	{"dots are not ignored", "ana@example.test", "a.na@example.test", outside},
	{"all characters", "Az09._+'-z@example.test", "Az09._+'-z@example.test", inside},
	{"125 two ats", "@example.test", "a@example.test@evil.test", malformed},
	{"125 quoted local part", "@evil.test", `"a@example.test"@evil.test`, malformed},
	{"125 display name", "ana@example.test", "ana@example.test <x@evil.test>", malformed},
	{"125 comma list", "ana@example.test", "ana@example.test,x@evil.test", malformed},
	{"125 semicolon list", "ana@example.test", "x@evil.test;ana@example.test", malformed},
	{"125 encoded nul", "@evil.test", "ana@example.test%00@evil.test", malformed},
	{"percent routing", "@example.test", "x%evil.test@example.test", malformed},
	{"bang routing", "@example.test", "evil.test!x@example.test", malformed},
	{"angle brackets", "ana@example.test", "<ana@example.test>", malformed},
	{"comment", "ana@example.test", "ana(x)@example.test", malformed},
	{"group", "ana@example.test", "all:ana@example.test;", malformed},
	{"source route", "ana@example.test", "@evil.test:ana@example.test", malformed},
	{"leading hyphen", "@example.test", "-oQ@example.test", malformed},
	{"inner hyphen", "@example.test", "a-b@example.test", inside},
	{"leading dot", "@example.test", ".a@example.test", malformed},
	{"trailing dot of the local part", "@example.test", "a.@example.test", malformed},
	{"two dots", "@example.test", "a..b@example.test", malformed},
	{"no local part", "@example.test", "@example.test", malformed},
	{"no at", "@example.test", "example.test", malformed},
	{"no domain", "@example.test", "a@", malformed},
	{"empty", "@example.test", "", malformed},
	{"trailing dot of the domain", "@example.test", "a@example.test.", malformed},
	{"trailing dot of the grant", "@example.test.", "a@example.test", void},
	{"header", "@example.test", "a@example.test\r\nBcc: x@evil.test", malformed},
	{"line end", "@example.test", "a@example.test\n", malformed},
	{"nul", "@example.test", "a\x00@example.test", malformed},
	{"blank", "@example.test", " a@example.test", malformed},
	{"non-ASCII local part", "@example.test", "\u00e4@example.test", malformed},
	{"fullwidth at", "@example.test", "a\uff20example.test", malformed},
	{"address literal", "@example.test", "a@[192.0.2.1]", malformed},
	{"address", "@192.0.2.1", "a@192.0.2.1", inside},
	{"address otherwise", "@127.0.0.1", "a@127.1", outside},
	{"star", "*@example.test", "a@example.test", void},
	{"bare domain as grant", "example.test", "a@example.test", void},
	{"display name in the grant", "Ana <ana@example.test>", "ana@example.test", void},
	{"local part of 64", "@example.test", strings.Repeat("a", 64) + "@example.test", inside},
	{"local part of 65", "@example.test", strings.Repeat("a", 65) + "@example.test", malformed},
	{"address of 255", "@example.test", strings.Repeat("a", 60) + "@" + strings.Repeat("a.", 95) + "test", malformed},
}

// B9: area F 123, 125 and 134.
func TestEmail(t *testing.T) {
	check(t, Email, emailRows, func(s string) bool { _, ok := parseMailbox(s); return ok })
}

func FuzzEmail(f *testing.F) {
	seed(f, emailRows)
	f.Fuzz(func(t *testing.T, granted, used string) {
		v := text(t, strings.ToValidUTF8(used, "?"))
		_, domain, _ := strings.Cut(used, "@")
		for _, g := range []string{granted, used, "@" + domain} {
			if ok, _ := covers(t, Email, g, v); !ok {
				continue
			}
			used := v.Text()
			list, err := mail.ParseAddressList(used)
			if err != nil || len(list) != 1 || list[0].Address != used || list[0].Name != "" {
				t.Fatalf("net/mail reads the covered address %q as %v, %v", used, list, err)
			}
			i, j := strings.LastIndexByte(g, '@'), strings.LastIndexByte(used, '@')
			if i > 0 && g[:i] != used[:j] {
				t.Errorf("the grant %q covers %q", g, used)
			}
			sameHost(t, g[i+1:], used[j+1:])
		}
	})
}
