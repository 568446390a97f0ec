package validators

import (
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Which strings may be given as links.
func TestIsLink(t *testing.T) { // B5, D9
	for _, row := range []struct {
		url  string
		want bool
	}{
		{"https://example.test/", true},
		{"http://example.test", true},
		{"HTTPS://example.test/a?b=c#d", true},
		{"https://example.test:8443/a%20b", true},
		{"http://[2001:db8::1]/", true},
		{"https://xn--e1afmkfd.example.test/", true},
		{"https://example.test/@user", true},
		{"https://example.test?a@b", true},
		{"mailto:a@example.test", true},
		{"", false},
		{"example.test", false},
		{"/path", false},
		{"//example.test/", false},
		{"https:", false},
		{"https:/example.test", false},
		{"https://", false},
		{"https:///path", false},
		{"https://:80/", false},
		{"https://user@example.test/", false},
		{"https://bank.example.test:443@evil.example.test/", false},
		{"https://exam%70le.test/", false},
		{"https://example.test\\@evil.example.test/", false},
		{"https://пример.test/", false},
		{"https://example.test/a b", false},
		{" https://example.test/", false},
		{"https://example.test/\n", false},
		{"javascript:alert(1)", false},
		{"JavaScript://example.test/%0aalert(1)", false},
		{"data:text/html,x", false},
		{"file:///etc/passwd", false},
		{"ftp://example.test/", false},
		{"mailto:", false},
		{"mailto:a", false},
		{"mailto:a@example.test?bcc=b@example.test", false},
		{"mailto:a@example.test%0Abcc:b@example.test", false},
	} {
		if got := isLink(row.url); got != row.want {
			t.Errorf("%q: %t", row.url, got)
		}
	}
}

const linkSchema = `{"type":"array","items":{"type":"object","properties":{"url":{"type":["string","null"]}}}}`

// A text field that is a link is cleaned like any other, and refused where it is none.
func TestLinkFields(t *testing.T) {
	tool := toolOf(t, linkSchema, func(c *contract.Contract) {
		c.Result.TextFields = []contract.TextField{{At: strictjson.Pointer{"*", "url"}, As: contract.AsURL, MaxChars: 30}}
	})
	long := "https://example.test/" + strings.Repeat("a", 10)
	judgeRows(t, tool, []framedRow{
		{"fine", `[{"url":"https://example.test/a"},{},{"url":null}]`, `[{"url":"https://example.test/a"},{},{"url":null}]`, nil},
		{"cleaned", `[{"url":"https://exam\u200bple.test/a"}]`, `[{"url":"https://example.test/a"}]`, map[string]uint64{"removed.format": 1}},
		{"exactly as long", `[{"url":"` + long[:30] + `"}]`, `[{"url":"` + long[:30] + `"}]`, nil},
		{"never cut", `[{"url":"` + long + `"}]`, "INVALID_RESPONSE SCHEMA /0/url url", nil},
		{"the first bad one", `[{"url":"https://example.test/a"},{"url":"javascript:SECRET"},{"url":"x"}]`, "INVALID_RESPONSE SCHEMA /1/url url", nil},
		{"the schema comes first", `[{"url":"javascript:SECRET"},{"url":1}]`, "INVALID_RESPONSE SCHEMA /1/url type", nil},
	})
}

// Of several bad links the first in the input is named.
func TestLinkOrder(t *testing.T) {
	tool := toolOf(t, `true`, func(c *contract.Contract) {
		c.Result.TextFields = []contract.TextField{
			{At: strictjson.Pointer{"a"}, As: contract.AsURL}, {At: strictjson.Pointer{"b"}, As: contract.AsURL},
		}
	})
	judgeRows(t, tool, []framedRow{
		{"a first", `{"a":"x","b":"y"}`, "INVALID_RESPONSE SCHEMA /a url", nil},
		{"b first", `{"b":"y","a":"x"}`, "INVALID_RESPONSE SCHEMA /b url", nil},
	})
}

// One list has a limit of its own.
func TestMaxList(t *testing.T) { // B4
	const schema = `{"type":"object","properties":{"l":{"type":["array","string"],"items":{"type":"integer"}},"m":{"type":"array"}}}`
	of := func(cut bool) *Tool {
		return toolOf(t, schema, func(c *contract.Contract) {
			c.Result.Framing = contract.FramingMCP
			c.Result.MaxList = &contract.ListLimit{At: strictjson.Pointer{"l"}, Items: 2, Cut: cut}
		})
	}
	in := func(payload string) string { return `{"structuredContent":` + payload + `}` }
	none := map[string]uint64{}
	judgeRows(t, of(false), []framedRow{
		{"as many as allowed", in(`{"l":[1,2],"m":[1,2,3]}`), `{"l":[1,2],"m":[1,2,3]}`, none},
		{"one more", in(`{"l":[1,2,3]}`), "INVALID_RESPONSE ITEM_LIMIT /structuredContent/l", none},
		{"before the schema", in(`{"l":["x","y","z"]}`), "INVALID_RESPONSE ITEM_LIMIT /structuredContent/l", none},
		{"no list", in(`{"l":"abc"}`), `{"l":"abc"}`, none},
		{"absent", in(`{}`), `{}`, none},
	})
	judgeRows(t, of(true), []framedRow{
		{"as many as allowed, cut", in(`{"l":[1,2],"m":[1,2,3]}`), `{"l":[1,2],"m":[1,2,3]}`, none},
		{"two more", in(`{"l":[1,2,3,4],"m":[1,2,3]}`), `{"l":[1,2],"m":[1,2,3]}`, map[string]uint64{"cut_items": 2}},
		{"what is cut is not judged", in(`{"l":[1,2,"x"]}`), `{"l":[1,2]}`, map[string]uint64{"cut_items": 1}},
		{"what stays is", in(`{"l":[1,"x",2]}`), "INVALID_RESPONSE SCHEMA /structuredContent/l/1 type", map[string]uint64{"cut_items": 1}},
	})
	if v, _ := verdictOf(of(true), in(`{"l":[1,2,3]}`)); !v.Output.Truncated {
		t.Error("the result does not say that it was cut")
	}
	if v, _ := verdictOf(of(true), in(`{"l":[1,2]}`)); v.Output.Truncated {
		t.Error("nothing was cut")
	}
}
