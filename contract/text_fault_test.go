package contract

import (
	"slices"
	"testing"
	"testing/fstest"
)

const thePage = "web_read/v1/contract.yaml"

// page breaks the shipped contract of pages.
func page(old, replacement string) change { return shipped("web_read", in(thePage, old, replacement)) }

// What the contract of a text may say, and which cases it owes. B5, B14, A22
func TestTextFaults(t *testing.T) {
	const (
		media = "media_types: [text/html, text/plain, text/markdown]"
		html  = "html: {keep_links: true, max_redirects: 3, drop: [nav, footer], within: []}"
		cases = "web_read/v1/cases"
	)
	runRows(t, []row{
		r(shipped("web_read")),
		r(shipped("document_read")),
		r(shipped("mail_read")),
		r(page("kind: text", "kind: json"), thePage+":10:3: result.agent_fields is missing", thePage+":10:3: result.schema is missing", thePage+":13:3: result.text of a result that is no text"),
		r(page(media, media+"\n  schema: arguments.schema.json\n  checks: []"), thePage+":13:11: of a text, which has no members: schema, checks (remove them"),
		r(page(media, media+"\n  agent_fields: [/a]"), thePage+":13:17: of a text, which has no members: agent_fields"),
		r(page(media, media+"\n  adapter: {schema: arguments.schema.json, watch: refuse, fields: {a: b}}"), thePage+":13:12: of a text, which has no members: adapter"),
		r(page("framing: payload", "framing: envelope"), thePage+":11:12: framing: envelope of a text"),
		r(page("media_types: [text/html,", "media_types: [application/pdf,"), thePage+`:12:17: "application/pdf" of a text; known are`),
		r(page("media_types: [text/html,", "media_types: [application/json,"), thePage+`:12:17: "application/json" of a text`),
		r(both(page("framing: payload", "framing: mcp"), in(thePage, media, "media_types: [application/json, text/html, text/plain]")), thePage+":12:16: several kinds of text in blocks"),
		r(page("profile: prose", "profile: verse"), thePage+`:14:14: "verse" is not one of prose, code`),
		r(page("max_redirects: 3", "max_redirects: 21"), thePage+":15:45: is not a whole number from 0 to 20"),
		r(page("drop: [nav, footer]", "drop: [nav, nav]"), thePage+":15:60: is given twice"),
		r(page("drop: [nav, footer]", "drop: [NAV]"), thePage+":15:55: is not the name of an element, in lower case"),
		r(page(html, "html: {keep: true}"), thePage+`:15:12: unknown key "keep" (known here: keep_links, max_redirects, drop, within)`),
		r(page("max_response_bytes: 2000000", "max_response_bytes: 4194305"), thePage+":16:25: is not a whole number from 1 to 4194304"),
		r(page("max_output_chars: 20000", "max_output_chars: 0"), thePage+":17:23: is not a whole number from 1 to 1000000"),
		r(page("raw_source: refused", "raw_source: granted"), thePage+`:18:17: "granted" is not one of refused, allowed`),
		r(page("raw_source: refused", "raw_source: allowed")),
		r(page("  not_found:", "  unbound: a page names no request\n  not_found:")),
		r(page("egress: open\n", ""), thePage+": egress: the argument /url"),

		r(shipped("web_read", drop(cases+"/upstream-down-503.yaml")), cases+": there is no case upstream-down-*.yaml"),
		r(shipped("web_read", in(cases+"/accepted-page.yaml", "want: {text:", "want: {data:")), cases+"/accepted-page.yaml:5:14: want.data of a result of kind text (write text: …)"),
		r(k("  truncated: false", "  text: hello"), "+:8:3: want has data and text"),
		r(shipped("web_read", in(cases+"/accepted-links.yaml", "{text: page, href:", "{text: page, url:")), cases+"/accepted-links.yaml:5:70: want.links[0].href is missing", cases+`/accepted-links.yaml:5:83: unknown key "url" (known here: text, href)`),
		r(shipped("web_read", in(cases+"/accepted-page.yaml", "normalization: NFKC", "normalization: NFD")), cases+`/accepted-page.yaml:5:176: "NFD" is not one of NFKC, NFC`),
	})
}

// What a contract that says little about its text gets.
func TestTextDefaults(t *testing.T) {
	load := func(c change) *Result {
		t.Helper()
		m := fstest.MapFS{}
		c(t, m)
		tree, err := Load(m)
		if err != nil {
			t.Fatal(err)
		}
		return &tree.Contracts[0].Result
	}
	const rules = `  text:
    profile: prose
    html: {keep_links: true, max_redirects: 3, drop: [nav, footer], within: []}
    max_response_bytes: 2000000
    max_output_chars: 20000
    raw_source: refused
`
	const media = "  media_types: [text/html, text/plain, text/markdown]\n"
	result := load(shipped("web_read", in(thePage, rules, ""), in(thePage, media, "")))
	if got := result.Text; got.Profile != "prose" || !got.KeepLinks || got.MaxRedirects != 3 || got.Drop != nil || got.Within != nil ||
		got.MaxResponseBytes != 2_000_000 || got.MaxOutputChars != 20_000 || got.RawSource {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(result.MediaTypes, []string{"text/plain"}) {
		t.Error(result.MediaTypes)
	}
	result = load(shipped("web_read", in(thePage, media, ""), in(thePage, "framing: payload", "framing: mcp")))
	if !slices.Equal(result.MediaTypes, []string{"application/json"}) || result.BlockMediaType() != "text/plain" {
		t.Error(result.MediaTypes, result.BlockMediaType())
	}
	if got := (&Result{MediaTypes: []string{"application/json", "text/html"}}).BlockMediaType(); got != "text/html" {
		t.Error(got)
	}
	if got := (&Result{}).MaxRedirects(); got != 3 {
		t.Error(got)
	}
}
