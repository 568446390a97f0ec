package server

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/gate"
)

// entry returns an identities file with one good identity and these members of it
// replaced or added.
func entry(members ...string) string {
	all := map[string]string{"name": "agent", "san": "dns:agent.example.test", "tenant": "red", "roles": "[orchestrator]"}
	order := []string{"name", "san", "tenant", "roles"}
	for _, m := range members {
		key, value, _ := strings.Cut(m, ": ")
		if _, known := all[key]; !known {
			order = append(order, key)
		}
		all[key] = value
	}
	lines := make([]string, len(order))
	for i, key := range order {
		lines[i] = key + ": " + all[key]
	}
	return "identities:\n  - " + strings.Join(lines, "\n    ") + "\n"
}

// faultyDirectories are files that are refused, and what is said about them.
func faultyDirectories() []struct{ line, content, says string } {
	second := "  - {name: b, san: \"dns:b.example.test\", tenant: t, roles: [adapter]}\n"
	return []struct{ line, content, says string }{
		{"empty", "", "empty"},
		{"only a comment", "# nothing\n", "empty"},
		{"a list", "- a\n", ":1:1: is no mapping"},
		{"no identities", "proxies: [\"dns:p.example.test\"]\n", "identities is missing"},
		{"empty identities", "identities: []\n", ":1:13: is an empty list"},
		{"null identities", "identities:\n", "is no list"},
		{"unknown key", entry() + "proxys: []\n", ":6:1: no member is called \"proxys\""},
		{"unknown member", entry("role: adapter"), ":6:5: no member is called \"role\""},
		{"key twice", entry() + "identities: []\n", "second time"},
		{"member twice", "identities:\n  - {name: a, name: b}\n", "name"},
		{"two documents", entry() + "---\na: b\n", "one document"},
		{"no YAML", "identities: [", "i.yaml"},
		{"merge", "identities:\n  - <<: {name: a}\n", "no member"},
		{"alias", "identities:\n  - &a {name: a, san: \"dns:a\", tenant: t, roles: [adapter]}\n  - *a\n", "is no mapping"},
		{"no name", "identities:\n  - {san: \"dns:a\", tenant: t, roles: [adapter]}\n", ":2:5: name is missing"},
		{"no SAN", "identities:\n  - {name: a, tenant: t, roles: [adapter]}\n", "san is missing"},
		{"no tenant", "identities:\n  - {name: a, san: \"dns:a\", roles: [adapter]}\n", "tenant is missing"},
		{"no roles", "identities:\n  - {name: a, san: \"dns:a\", tenant: t}\n", "roles is missing"},
		{"name with a space", entry("name: \"a b\""), ":2:11: \"a b\" is no name"},
		{"empty name", entry("name: \"\""), "is no name"},
		{"long name", entry("name: " + strings.Repeat("a", 65)), "is no name"},
		{"name is a list", entry("name: [a]"), "is no name"},
		{"null tenant", entry("tenant: null"), "is no name"},
		{"tenant beyond ASCII", entry("tenant: café"), "is no name"},
		{"name twice", entry() + strings.Replace(second, "name: b", "name: agent", 1), "second time"},
		{"SAN twice", entry() + strings.Replace(second, "b.example", "agent.example", 1), "second time"},
		{"SAN of a proxy too", entry() + "proxies: [\"dns:agent.example.test\"]\n", "second time"},
		{"SAN without kind", entry("san: agent.example.test"), ":3:10: \"agent.example.test\" is neither"},
		{"SAN in upper case", entry("san: \"dns:Agent.example.test\""), "is neither"},
		{"wildcard", entry("san: \"dns:*.example.test\""), "is neither"},
		{"DNS with a dot at the end", entry("san: \"dns:agent.example.test.\""), "is neither"},
		{"DNS without a name", entry("san: \"dns:\""), "is neither"},
		{"another URI", entry("san: \"https://example.test/agent\""), "is neither"},
		{"a trust domain", entry("san: \"spiffe://example.test\""), "is neither"},
		{"SPIFFE with a slash at the end", entry("san: \"spiffe://example.test/a/\""), "is neither"},
		{"SPIFFE with an empty segment", entry("san: \"spiffe://example.test//a\""), "is neither"},
		{"SPIFFE with dots", entry("san: \"spiffe://example.test/../a\""), "is neither"},
		{"SPIFFE with an escape", entry("san: \"spiffe://example.test/%61\""), "is neither"},
		{"SPIFFE with a query", entry("san: \"spiffe://example.test/a?b\""), "is neither"},
		{"long SAN", entry("san: \"spiffe://example.test/" + strings.Repeat("a", maxSANBytes) + "\""), "is neither"},
		{"unknown role", entry("roles: [admin]"), ":5:13: \"admin\" is no role"},
		{"role in upper case", entry("roles: [Operator]"), "is no role"},
		{"role twice", entry("roles: [adapter, adapter]"), "second time"},
		{"no role", entry("roles: []"), "empty list"},
		{"role as text", entry("roles: adapter"), "is no list"},
		{"the open role", entry("roles: [anyone]"), "is no role"},
		{"no tools", entry("tools: []"), "empty list"},
		{"null tools", entry("tools: null"), "is no list"},
		{"tool twice", entry("tools: [a, a]"), "second time"},
		{"empty tool", entry("tools: [\"\"]"), "tool's name"},
		{"tools in tools", entry("tools: [[a]]"), "tool's name"},
		{"may_grant yes", entry("may_grant: yes"), "neither true nor false"},
		{"may_grant without its role", entry("roles: [adapter]", "may_grant: true"), "without the role orchestrator"},
		{"tenants without its role", entry("tenants: [red]"), "without the role operator"},
		{"empty tenants", entry("roles: [operator]", "tenants: []"), "empty list"},
		{"tenant twice", entry("roles: [operator]", "tenants: [a, a]"), "second time"},
		{"all tenants", entry("roles: [operator]", "tenants: [\"*\"]"), "is no name"},
		{"no share", entry("share: 0"), "share is a number"},
		{"share in percent", entry("share: 50%"), "share is a number"},
		{"large share", entry("share: 99999999"), "share is a number"},
		{"proxies empty", entry() + "proxies: []\n", "empty list"},
		{"proxy twice", entry() + "proxies: [\"dns:p\", \"dns:p\"]\n", "second time"},
		{"too many", "identities:\n" + strings.Repeat("  - {}\n", maxIdentities+1), "more than 1000"},
	}
}

// C: an identities file that is not wholly understood is refused, with the place.
func TestFaultyDirectories(t *testing.T) {
	for _, c := range faultyDirectories() {
		t.Run(c.line, func(t *testing.T) {
			d, err := readDirectory("i.yaml", []byte(c.content))
			if err == nil || d != nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "i.yaml") || strings.Contains(err.Error(), "%!") {
				t.Errorf("%+v, %v; want %q", d, err, c.says)
			}
		})
	}
}

// What a file says is what identities may.
func TestDirectory(t *testing.T) {
	d, err := readDirectory("i.yaml", []byte(listed+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*identity{
		"spiffe://example.test/operator": {
			Caller: gate.Caller{Tenant: "ops", Name: "op", Operator: true}, roles: roleOperator, tenants: []string{"ops", "red"},
		},
		"spiffe://example.test/agent": {
			Caller: gate.Caller{Tenant: "red", Name: "agent", RawReader: true, MayGrant: true},
			roles:  roleOrchestrator | roleRawReader, tenants: []string{"red"},
		},
		"dns:adapter.example.test": {
			Caller: gate.Caller{Tenant: "red", Name: "web", Tools: []string{"review_status"}}, roles: roleAdapter, tenants: []string{"red"},
		},
		"spiffe://example.test/runner": {Caller: gate.Caller{Tenant: "blue", Name: "runner"}, roles: roleExecutor, tenants: []string{"blue"}},
		"dns:reader.example.test":      {Caller: gate.Caller{Tenant: "blue", Name: "reader", RawReader: true}, roles: roleRawReader, tenants: []string{"blue"}},
		"dns:blue-op.example.test": {
			Caller: gate.Caller{Tenant: "blue", Name: "blue-op", Operator: true}, roles: roleOperator | roleAdapter, tenants: []string{"blue"},
		},
	}
	if !reflect.DeepEqual(d.bySAN, want) {
		t.Errorf("got %s\nwant %s", fmt.Sprint(d.bySAN), fmt.Sprint(want))
	}
	if !d.proxies["spiffe://example.test/mesh"] || !d.proxies["dns:proxy.example.test"] || len(d.proxies) != 2 {
		t.Errorf("proxies %v", d.proxies)
	}
	d, err = readDirectory("i.yaml", []byte(entry("share: 7", "may_grant: false", "tools: [a, b]")))
	if id := d.bySAN["dns:agent.example.test"]; err != nil || id.share != 7 || id.MayGrant || len(id.Tools) != 2 {
		t.Errorf("%+v, %v", id, err)
	}
}

// Every method has a row in the one table, and no role may everything.
func TestRights(t *testing.T) {
	for method, r := range methodRights() {
		if r.roles == 0 || r.roles&roleRawReader != 0 {
			t.Errorf("%s: %b", method, r.roles)
		}
	}
}

// Whatever the file holds, nobody gets a right that it does not name, and nothing panics.
func FuzzDirectory(f *testing.F) {
	f.Add([]byte(listed))
	for _, c := range faultyDirectories() {
		f.Add([]byte(c.content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := readDirectory("i.yaml", content)
		if (d == nil) != (err != nil) {
			t.Fatalf("%v, %v", d, err)
		}
		if err != nil {
			return
		}
		for san, id := range d.bySAN {
			if id.Name == "" || id.Tenant == "" || id.roles == 0 || id.roles >= roleAnyone || len(id.tenants) == 0 || d.proxies[san] ||
				id.Operator != (id.roles&roleOperator != 0) || id.Tools != nil && len(id.Tools) == 0 {
				t.Errorf("%s: %+v", san, id)
			}
		}
	})
}
