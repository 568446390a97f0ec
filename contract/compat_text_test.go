package contract

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Every rule of a text is weighed. A23
func TestCompareTexts(t *testing.T) {
	load := func(changes ...change) *Contract {
		t.Helper()
		m := fstest.MapFS{}
		shipped("web_read", changes...)(t, m)
		tree, err := Load(m)
		if err != nil {
			t.Fatal(err)
		}
		return tree.Contracts[0]
	}
	old := load()
	known := map[string]bool{}
	for _, s := range settings() {
		known[s.at] = true
	}
	for _, key := range elsewhere() {
		known[key] = true
	}
	if left := unweighed(old, known); len(left) > 0 {
		t.Errorf("nobody weighs %q", keysOf(left))
	}
	for _, row := range []struct {
		now  change
		want string
	}{
		{in(thePage, "profile: prose", "profile: code"), "breaking profile-changed result.text.profile: prose -> code"},
		{in(thePage, "keep_links: true", "keep_links: false"), "breaking keep-links-changed result.text.html.keep_links: true -> false"},
		{in(thePage, "max_redirects: 3", "max_redirects: 2"), "breaking max-redirects-narrowed result.text.html.max_redirects: 3 -> 2"},
		{in(thePage, "drop: [nav, footer]", "drop: [nav]"), "contract drop-removed result.text.html.drop[footer]: footer -> nothing"},
		{in(thePage, "within: []", "within: [main]"), "breaking within-added result.text.html.within[main]: nothing -> main"},
		{in(thePage, "max_response_bytes: 2000000", "max_response_bytes: 3000000"), "safe max-response-bytes-widened result.text.max_response_bytes: 2000000 -> 3000000"},
		{in(thePage, "max_output_chars: 20000", "max_output_chars: 10000"), "breaking max-output-chars-narrowed result.text.max_output_chars: 20000 -> 10000"},
		{in(thePage, "raw_source: refused", "raw_source: allowed"), "breaking raw-source-changed result.text.raw_source: false -> true"},
		{in(thePage, "egress: open", "egress: open"), ""},
	} {
		var want []string
		if row.want != "" {
			want = []string{row.want}
		}
		if got := changeLines(Compare(old, load(row.now))); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if schema, err := old.AgentSchema(); schema != nil || err != nil {
		t.Errorf("%s %v", schema, err)
	}
	// From a text to data: everything else follows from the kind.
	other := *old
	other.Result.Kind, other.Result.Text = KindJSON, nil
	if got := changeLines(Compare(old, &other)); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
