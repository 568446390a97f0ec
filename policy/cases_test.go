package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// publicCase reads a case from public bug reports, or skips the test visibly.
func publicCase(t *testing.T, name string) strictjson.Value {
	t.Helper()
	root := os.Getenv("HALLMARK_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(root, "cases", "files", name+".authz.json"))
	if os.IsNotExist(err) {
		if os.Getenv("HALLMARK_REQUIRE_SHARED") == "1" {
			t.Fatalf("ABSENT: the case %s, and HALLMARK_REQUIRE_SHARED=1", name)
		}
		t.Skipf("ABSENT: the case %s, neither below HALLMARK_SHARED nor below ../shared", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func member(v strictjson.Value, path ...string) strictjson.Value {
	return v.At(strictjson.Pointer(path))
}

// calls are the case's calls, of which a single one may stand without a list.
func calls(v strictjson.Value) []strictjson.Value {
	c := v.Member("call")
	if c.Kind() != strictjson.Array {
		return []strictjson.Value{c}
	}
	var list []strictjson.Value
	for _, e := range c.Elements() {
		list = append(list, e)
	}
	return list
}

func texts(v strictjson.Value) []string {
	var list []string
	for _, e := range v.Elements() {
		list = append(list, e.Text())
	}
	return list
}

// recipients is the scope of every tool that sends mail. // B9, case 134
func recipients(t testing.TB) []Scope {
	return []Scope{{Name: "recipient", Type: Email, At: at(t, "/to", "/cc", "/bcc", "/reply_to")}}
}

// granted returns what a case's grant allows, in the terms of our scopes: a prefix is
// a value that ends in a slash.
func granted(scope strictjson.Value) (typ ScopeType, pointer string, values []string) {
	if prefix := scope.Member("resource_prefix"); prefix.Exists() {
		value := strings.TrimSuffix(prefix.Text(), "/") + "/"
		if strings.Contains(value, "://") {
			return URL, "/url", []string{value}
		}
		return Path, "/path", []string{value}
	}
	if hosts := scope.Member("hosts"); hosts.Exists() {
		for _, h := range texts(hosts) {
			values = append(values, "https://"+h+"/")
		}
		return URL, "/url", values
	}
	values = texts(scope.Member("recipients"))
	for _, d := range texts(scope.Member("recipient_domains")) {
		values = append(values, "@"+d)
	}
	return Email, "", values
}

// caseRequest puts one call of a case under its grants.
func caseRequest(t testing.TB, c strictjson.Value, tool string, arguments strictjson.Value) Request {
	r := Request{Tool: Tool{Name: tool}, Arguments: arguments, MayGrant: true, Now: now}
	for i, g := range c.Member("grants").Elements() {
		typ, pointer, values := granted(g.Member("scope"))
		scope := Scope{Name: "scope", Type: typ}
		if pointer != "" {
			scope.At = at(t, pointer)
		} else {
			scope.At = recipients(t)[0].At
		}
		r.Tool.Scopes = []Scope{scope}
		r.Grants = append(r.Grants, grant(string(rune('a'+i)), g.Member("tool").Text(), "scope", values...))
	}
	return r
}

// B7, B9, A14: the cases of the area Authorization, from their files. What 132 says of
// digests and 134 of unknown arguments and of line ends in a subject is decided before
// policy, by the approval's reader and by the schema.
func TestCasesOfAreaF(t *testing.T) {
	for _, c := range []struct {
		name string
		want string // of each call: A, D or - for one that is decided elsewhere
	}{
		{"119-path-sibling-prefix", "D"},
		{"120-dot-segments-encoded", "DDDDD"},
		{"122-encoded-slash", "DDDDD"},
		{"123-domain-suffix", "DDDAA"},
		{"125-address-multiple-at", "DDDDDD"},
		{"127-trailing-dot-host", "AAAD"},
		{"129-tool-name-fold", "DDDDDD"},
		{"130-rule-for-other-tool", "D"},
		{"134-hidden-bcc", "D-A-"},
		{"138-symlink-toctou", "A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := publicCase(t, c.name)
			list := calls(file)
			if len(list) != len(c.want) {
				t.Fatalf("the case has %d calls, the table %d", len(list), len(c.want))
			}
			for i, call := range list {
				if c.want[i] == '-' {
					continue
				}
				r := caseRequest(t, file, call.Member("tool").Text(), call.Member("args"))
				d := Decide(compile(t, nil), r)
				if got := d.Effect == Allow; got != (c.want[i] == 'A') {
					t.Errorf("call %d: %v %+v", i+1, d.Effect, d.Reasons)
				}
				if c.name[:3] == "138" && (len(d.Obligations) != 1 || d.Obligations[0] != OpenBeneath) {
					t.Errorf("obligations %v", d.Obligations)
				}
			}
		})
	}
}

func TestCase119AlsoAllow(t *testing.T) {
	file := publicCase(t, "119-path-sibling-prefix")
	for _, path := range texts(file.Member("also_allow")) {
		r := caseRequest(t, file, "files.read", parse(t, `{"path":`+string(strictjson.AppendString(nil, path))+`}`))
		wants(t, Decide(compile(t, nil), r), Allow, Granted)
	}
}

func TestCase127GrantWithTheDot(t *testing.T) {
	file := publicCase(t, "127-trailing-dot-host")
	for i, call := range calls(file) {
		r := caseRequest(t, file, "http.get", call.Member("args"))
		for _, h := range texts(file.Member("grant_variant")) {
			r.Grants[0].Scopes[0].Values = []string{"https://" + h + "/"}
		}
		if d := Decide(compile(t, nil), r); (d.Effect == Allow) != (i < 3) {
			t.Errorf("call %d: %v", i+1, d.Effect)
		}
	}
}

// An approval that is not for these arguments is no approval.
func TestCase132ArgumentsChangedAfterApproval(t *testing.T) {
	file := publicCase(t, "132-args-changed-after-approval")
	set := compile(t, []Rule{{Name: "person", Tools: []string{"payments.transfer"}, Approval: true}}, "payments.transfer")
	r := Request{
		Tool: Tool{Name: "payments.transfer"}, Arguments: member(file, "call", "args"), Now: now,
		MayGrant: true, Grants: []Grant{{ID: "g", Tool: "payments.transfer", NotAfter: now.Add(time.Hour), MaxUses: 1}},
	}
	r.Approval = ApprovalInvalid
	wants(t, Decide(set, r), Deny, InvalidApproval)
	r.Approval = Approved
	wants(t, Decide(set, r), Allow, Granted)
}

// Both ends are included, on either side.
func TestCase136FutureTimestamp(t *testing.T) {
	file := publicCase(t, "136-future-timestamp")
	want := []Effect{Deny, Allow, Deny, Allow}
	age, _ := member(file, "grants", "0", "scope", "max_evidence_age_s").Decimal().Int64()
	skew, _ := file.Member("allowed_skew_s").Decimal().Int64()
	for i, call := range calls(file) {
		seen, err := time.Parse(time.RFC3339, call.Member("observed_at").Text())
		if err != nil {
			t.Fatal(err)
		}
		r := restart(t)
		r.Now, r.Skew = now, time.Duration(skew)*time.Second
		r.Tool.Requires[0].MaxAge = time.Duration(age) * time.Second
		r.Evidence[0].ObservedAt = seen
		d := Decide(compile(t, nil), r)
		if d.Effect != want[i] || d.Effect == Deny && codes(d)[0] != EvidenceStale {
			t.Errorf("observed at %v: %v %+v", seen, d.Effect, d.Reasons)
		}
	}
}

// Deny and allow read the same form, and deny wins.
func TestCase139DenyAndAllowReadAlike(t *testing.T) {
	file := publicCase(t, "139-deny-vs-allow-normal-form")
	command := Scope{Name: "command", Type: String, At: at(t, "/command")}
	r := Request{
		Tool: Tool{Name: "shell.run", Scopes: []Scope{command}}, Arguments: member(file, "call", "args"), Now: now,
		MayGrant: true, Grants: []Grant{grant("g", "shell.run", "command", "rm")},
	}
	wants(t, Decide(compile(t, nil), r), Deny, OutOfScope)

	forbid := compile(t, []Rule{{Name: "rm", Tools: []string{"shell.run"}, Forbid: true, When: `call.arguments.command.contains("rm")`}}, "shell.run")
	r.Grants[0].Scopes[0] = Allowed{Scope: "command", Any: true}
	wants(t, Decide(forbid, r), Deny, Forbidden)

	// The spelling that a grant takes for the same is the same to the rule too.
	mail := compile(t, []Rule{{Name: "evil", Tools: []string{"mail_send"}, Forbid: true, When: `call.arguments.to.exists(a, a.endsWith("@evil.test"))`}}, "mail_send")
	m := Request{
		Tool: Tool{Name: "mail_send", Scopes: recipients(t)}, Arguments: parse(t, `{"to":["x@EVIL.test"]}`), Now: now,
		MayGrant: true, Grants: []Grant{grant("g", "mail_send", "recipient", "@evil.test")},
	}
	wants(t, Decide(mail, m), Deny, Forbidden)
	wants(t, Decide(compile(t, nil), m), Allow, Granted)
}

// Every type that has more than one spelling of a value has one for conditions: what a
// rule forbids, no spelling that a grant takes for the same gets past.
func TestRulesSeeOneSpelling(t *testing.T) {
	for _, row := range []struct {
		kind    ScopeType
		granted string
		spelled []string
		when    string
	}{
		{Email, "@evil.test", []string{"x@evil.test", "x@EVIL.test"}, `call.arguments.v == "x@evil.test"`},
		{Host, "evil.test", []string{"evil.test", "EVIL.test", "evil.test."}, `call.arguments.v == "evil.test"`},
		{URL, "https://evil.test/", []string{"https://evil.test/a", "HTTPS://evil.test./a", "https://evil.test:443/%61"}, `call.arguments.v == "https://evil.test/a"`},
		{Path, "/srv/private/", []string{"/srv/private", "/srv/private/"}, `call.arguments.v == "/srv/private"`},
		{Path, "/", []string{"/"}, `call.arguments.v == "/"`},
		{
			Time, "2026-01-01T00:00:00Z/2027-01-01T00:00:00Z",
			[]string{"2026-12-24T10:00:00Z", "2026-12-24T12:00:00+02:00", "2026-12-24T10:00:00.000-00:00"},
			`call.arguments.v == "2026-12-24T10:00:00Z"`,
		},
	} {
		rule := compile(t, []Rule{{Name: "this", Tools: []string{"t"}, Forbid: true, When: row.when}}, "t")
		for _, spelled := range row.spelled {
			r := Request{
				Tool:      Tool{Name: "t", Scopes: []Scope{{Name: "s", Type: row.kind, At: at(t, "/v")}}},
				Arguments: parse(t, `{"v":"`+spelled+`"}`), Now: now, MayGrant: true,
				Grants: []Grant{grant("g", "t", "s", row.granted)},
			}
			r.Grants[0].NotAfter = now.Add(time.Hour)
			wants(t, Decide(compile(t, nil), r), Allow, Granted)
			wants(t, Decide(rule, r), Deny, Forbidden)
		}
	}
}
