package policy

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// restart is a call of job_restart that is allowed: a grant for the project, and the
// fresh failure of the same run.
func restart(t testing.TB) Request {
	t.Helper()
	when, err := CompileEvidence(`evidence.state == "failed"`, nil)
	if err != nil {
		t.Fatal(err)
	}
	match := func(p string) Match { return Match{at(t, p)[0], at(t, p)[0]} }
	return Request{
		Tool: Tool{
			Name:   "job_restart",
			Scopes: []Scope{{Name: "project", Type: String, At: at(t, "/project_id")}},
			Requires: []EvidenceRule{{
				Tool: "job_status", MaxAge: 5 * time.Minute, When: when,
				Match: []Match{match("/project_id"), match("/run_id")},
			}},
		},
		Arguments: parse(t, `{"project_id":"bluebird","run_id":"run_1"}`),
		Principal: "u1", Now: now, MayGrant: true,
		Grants: []Grant{grant("g1", "job_restart", "project", "bluebird")},
		Evidence: []Evidence{{
			ID: "e1", Tool: "job_status", Version: 1, Current: true, Newest: true, Caller: "agent",
			Arguments:  parse(t, `{"project_id":"bluebird","run_id":"run_1"}`),
			Data:       parse(t, `{"project_id":"bluebird","run_id":"run_1","state":"failed"}`),
			ObservedAt: now.Add(-time.Minute),
		}},
	}
}

// B8, B9, D5: one table for grants and evidence, each row a change of an allowed call.
func TestDecide(t *testing.T) {
	type request = *Request
	for _, c := range []struct {
		line   string
		change func(r request)
		effect Effect
		codes  []Code
	}{
		{"allowed", func(request) {}, Allow, []Code{Granted}},
		{"zero request", func(r request) { *r = Request{} }, Deny, []Code{UnknownTool}},
		{"unknown tool", func(r request) { r.Tool = Tool{} }, Deny, []Code{UnknownTool}},
		{"no arguments", func(r request) { r.Arguments = strictjson.Value{} }, Deny, []Code{InvalidArguments}},
		{"arguments in a list", func(r request) { r.Arguments = parse(t, `[]`) }, Deny, []Code{InvalidArguments}},

		{"no grant", func(r request) { r.Grants = nil }, Deny, []Code{NoGrant}},
		{"130 grant for another tool", func(r request) { r.Grants[0].Tool = "job_status" }, Deny, []Code{NoGrant}},
		{"129 tool in capitals", func(r request) { r.Grants[0].Tool = "Job_Restart" }, Deny, []Code{NoGrant}},
		{"129 tool with a long s", func(r request) { r.Grants[0].Tool = "job_re\u017ftart" }, Deny, []Code{NoGrant}},
		{"grant for an alias", func(r request) { r.Tool.Aliases = []string{"x", "mcp__restart"}; r.Grants[0].Tool = "mcp__restart" }, Allow, []Code{Granted}},
		{"caller may not grant", func(r request) { r.MayGrant = false }, Deny, []Code{NoGrant}},
		{"signed grant", func(r request) { r.MayGrant = false; r.Grants[0].Issuer = "portal" }, Allow, []Code{Granted}},
		{"expired", func(r request) { r.Grants[0].NotAfter = now }, Deny, []Code{GrantExpired}},
		{"in its last nanosecond", func(r request) { r.Grants[0].NotAfter = now.Add(1) }, Allow, []Code{Granted}},
		{"without an end", func(r request) { r.Grants[0].NotAfter = time.Time{} }, Deny, []Code{GrantExpired}},
		{"no uses", func(r request) { r.Grants[0].Unlimited = false }, Deny, []Code{GrantExhausted}},
		{"one use", func(r request) { r.Grants[0].Unlimited = false; r.Grants[0].MaxUses = 1 }, Allow, []Code{Granted}},
		{"both kinds of uses", func(r request) { r.Grants[0].MaxUses = 1 }, Deny, []Code{GrantExhausted}},
		{"zero grant beside", func(r request) { r.Grants = append(r.Grants, Grant{}) }, Allow, []Code{Granted}},
		{"no time", func(r request) { r.Now = time.Time{} }, Deny, []Code{GrantExpired, EvidenceStale}},

		{"other value", func(r request) { r.Grants[0].Scopes[0].Values[0] = "redbird" }, Deny, []Code{OutOfScope}},
		{"no values", func(r request) { r.Grants[0].Scopes[0].Values = nil }, Deny, []Code{OutOfScope}},
		{"any", func(r request) { r.Grants[0].Scopes[0] = Allowed{Scope: "project", Any: true} }, Allow, []Code{Granted}},
		{"any beside values", func(r request) { r.Grants[0].Scopes[0].Any = true }, Deny, []Code{OutOfScope}},
		{"scope not mentioned", func(r request) { r.Grants[0].Scopes = nil }, Deny, []Code{OutOfScope}},
		{"scope of another name", func(r request) { r.Grants[0].Scopes[0].Scope = "Project" }, Deny, []Code{OutOfScope}},
		{"scope repeated", func(r request) { r.Grants[0].Scopes = slices.Repeat(r.Grants[0].Scopes, 2) }, Deny, []Code{OutOfScope}},
		{"scope that the contract lacks", func(r request) {
			r.Grants[0].Scopes = append(r.Grants[0].Scopes, Allowed{Scope: "region", Any: true})
		}, Allow, []Code{Granted}},
		{"two grants are not added", func(r request) {
			r.Tool.Scopes = append(r.Tool.Scopes, Scope{Name: "run", Type: String, At: at(t, "/run_id")})
			r.Grants = append(r.Grants, grant("g2", "job_restart", "run", "run_1"))
		}, Deny, []Code{OutOfScope, OutOfScope}},
		{"no value", func(r request) { r.Tool.Scopes[0].At = at(t, "/project") }, Deny, []Code{OutOfScope}},
		{"no pointers", func(r request) { r.Tool.Scopes[0].At = nil }, Deny, []Code{OutOfScope}},
		{"no value, optional", func(r request) { r.Tool.Scopes[0].At = at(t, "/project"); r.Tool.Scopes[0].Optional = true }, Allow, []Code{Granted}},
		{"no value, optional, not mentioned", func(r request) {
			r.Tool.Scopes[0].At = at(t, "/project")
			r.Tool.Scopes[0].Optional = true
			r.Grants[0].Scopes = nil
		}, Allow, []Code{Granted}},
		{"optional, with a value", func(r request) { r.Tool.Scopes[0].Optional = true; r.Grants[0].Scopes = nil }, Deny, []Code{OutOfScope}},
		{"unknown type", func(r request) { r.Tool.Scopes[0].Type = "text" }, Deny, []Code{OutOfScope}},
		{"malformed under any", func(r request) {
			r.Tool.Scopes[0].Type = Email
			r.Grants[0].Scopes[0] = Allowed{Scope: "project", Any: true}
		}, Deny, []Code{OutOfScope}},
		{"malformed and optional", func(r request) { r.Tool.Scopes[0].Type = Email; r.Tool.Scopes[0].Optional = true }, Deny, []Code{OutOfScope}},
		{"malformed and expired", func(r request) { r.Tool.Scopes[0].Type = Email; r.Grants[0].NotAfter = now }, Deny, []Code{OutOfScope, GrantExpired}},

		{"reads only", func(r request) { r.Tool = Tool{Name: "web_read", ReadOnly: true}; r.Grants = nil }, Allow, []Code{OnlyReads}},
		{"reads only, wants a grant", func(r request) { r.Tool.ReadOnly = true; r.Tool.RequiresGrant = true; r.Grants = nil }, Deny, []Code{NoGrant}},
		{"reads only, has a grant", func(r request) { r.Tool.ReadOnly = true; r.Tool.RequiresGrant = true }, Allow, []Code{Granted}},
		{"reads only, wants evidence", func(r request) { r.Tool.ReadOnly = true; r.Evidence = nil }, Deny, []Code{EvidenceMissing}},

		{"no evidence", func(r request) { r.Evidence = nil }, Deny, []Code{EvidenceMissing}},
		{"no evidence and no grant", func(r request) { r.Evidence = nil; r.Grants = nil }, Deny, []Code{NoGrant, EvidenceMissing}},
		{"unverified evidence", func(r request) { r.Evidence = nil; r.EvidenceRefused = true }, Deny, []Code{EvidenceInvalid}},
		{"evidence of another tool", func(r request) { r.Evidence[0].Tool = "list_runs" }, Deny, []Code{EvidenceMissing}},
		{"evidence of an old contract", func(r request) { r.Evidence[0].Current = false }, Deny, []Code{EvidenceInvalid}},
		{"evidence of a listed contract", func(r request) { r.Evidence[0].Current = false; r.Tool.Requires[0].Versions = []int{1} }, Allow, []Code{Granted}},
		{"evidence without an id", func(r request) { r.Evidence[0].ID = "" }, Deny, []Code{EvidenceInvalid}},
		{"evidence from elsewhere", func(r request) { r.Tool.Requires[0].From = []string{"ci"} }, Deny, []Code{EvidenceInvalid}},
		{"evidence from a listed caller", func(r request) { r.Tool.Requires[0].From = []string{"ci", "agent"} }, Allow, []Code{Granted}},
		{"another run", func(r request) {
			r.Evidence[0].Data = parse(t, `{"project_id":"bluebird","run_id":"run_2","state":"failed"}`)
		}, Deny, []Code{EvidenceMismatch}},
		{"asked for another run", func(r request) {
			r.Evidence[0].Arguments = parse(t, `{"project_id":"bluebird","run_id":"run_2"}`)
		}, Deny, []Code{EvidenceMismatch}},
		{"run in the arguments only", func(r request) {
			r.Evidence[0].Data = parse(t, `{"project_id":"bluebird","state":"failed"}`)
		}, Allow, []Code{Granted}},
		{"run nowhere", func(r request) {
			r.Evidence[0].Data = parse(t, `{"project_id":"bluebird","state":"failed"}`)
			r.Evidence[0].Arguments = strictjson.Value{}
		}, Deny, []Code{EvidenceMismatch}},
		{"run of another type", func(r request) {
			r.Arguments = parse(t, `{"project_id":"bluebird","run_id":1}`)
			r.Evidence[0].Data = parse(t, `{"project_id":"bluebird","run_id":"1","state":"failed"}`)
		}, Deny, []Code{EvidenceMismatch}},
		{"argument absent", func(r request) { r.Arguments = parse(t, `{"project_id":"bluebird"}`) }, Deny, []Code{EvidenceMismatch}},
		{"nothing matched", func(r request) { r.Tool.Requires[0].Match = nil }, Deny, []Code{EvidenceMismatch}},
		{"not failed", func(r request) {
			r.Evidence[0].Data = parse(t, `{"project_id":"bluebird","run_id":"run_1","state":"succeeded"}`)
		}, Deny, []Code{EvidenceMismatch}},
		{"condition without an answer", func(r request) {
			r.Evidence[0].Data = parse(t, `{"project_id":"bluebird","run_id":"run_1"}`)
		}, Deny, []Code{ConditionError}},
		{"condition without data", func(r request) { r.Evidence[0].Data = strictjson.Value{} }, Deny, []Code{ConditionError}},
		{"superseded", func(r request) { r.Evidence[0].Newest = false }, Deny, []Code{EvidenceStale}},
		{"an older failure and a newer success", func(r request) {
			newer := r.Evidence[0]
			newer.ID, newer.ObservedAt = "e2", now
			newer.Data = parse(t, `{"project_id":"bluebird","run_id":"run_1","state":"succeeded"}`)
			r.Evidence[0].Newest = false
			r.Evidence = append(r.Evidence, newer)
		}, Deny, []Code{EvidenceMismatch, EvidenceStale}},
		{"oldest that counts", func(r request) { r.Evidence[0].ObservedAt = now.Add(-5 * time.Minute) }, Allow, []Code{Granted}},
		{"too old", func(r request) { r.Evidence[0].ObservedAt = now.Add(-5*time.Minute - 1) }, Deny, []Code{EvidenceStale}},
		{"so old that ages overflow", func(r request) { r.Evidence[0].ObservedAt = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC) }, Deny, []Code{EvidenceStale}},
		{"of the future", func(r request) { r.Evidence[0].ObservedAt = now.Add(1) }, Deny, []Code{EvidenceStale}},
		{"so far in the future that ages overflow", func(r request) { r.Evidence[0].ObservedAt = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }, Deny, []Code{EvidenceStale}},
		{"of the future within the skew", func(r request) { r.Evidence[0].ObservedAt = now.Add(time.Second); r.Skew = time.Second }, Allow, []Code{Granted}},
		{"of the future, no limit of age", func(r request) {
			r.Evidence[0].ObservedAt = now.Add(time.Hour)
			r.Tool.Requires[0].MaxAge = 0
		}, Deny, []Code{EvidenceStale}},
		{"old, no limit of age", func(r request) {
			r.Evidence[0].ObservedAt = now.Add(-time.Hour)
			r.Tool.Requires[0].MaxAge = 0
		}, Allow, []Code{Granted}},
		{"age unknown", func(r request) { r.Evidence[0].ObservedAt = time.Time{} }, Deny, []Code{EvidenceStale}},
		{"age unknown, no limit", func(r request) {
			r.Evidence[0].ObservedAt = time.Time{}
			r.Tool.Requires[0].MaxAge = 0
		}, Allow, []Code{Granted}},
		{"age unknown, no limit, no time", func(r request) {
			r.Evidence[0].ObservedAt = time.Time{}
			r.Tool.Requires[0].MaxAge = 0
			r.Now = time.Time{}
		}, Deny, []Code{GrantExpired, EvidenceStale}},
		{"negative skew", func(r request) { r.Evidence[0].ObservedAt = now; r.Skew = -time.Second }, Allow, []Code{Granted}},
		{"negative limit of age", func(r request) { r.Tool.Requires[0].MaxAge = -1; r.Evidence[0].ObservedAt = now }, Deny, []Code{EvidenceStale}},
		{"a no that nobody asked for", func(r request) { r.Approval = ApprovalRefused }, Deny, []Code{RefusedByPerson}},
		{"a yes that nobody asked for", func(r request) { r.Approval = Approved }, Allow, []Code{Granted}},
		{"a yes is no grant", func(r request) { r.Approval = Approved; r.Grants = nil }, Deny, []Code{NoGrant}},
	} {
		t.Run(c.line, func(t *testing.T) {
			r := restart(t)
			c.change(&r)
			wants(t, Decide(compile(t, nil), r), c.effect, c.codes...)
		})
	}
}

// What a decision says of its reasons, and nothing of the values.
func TestReasonsSayWhere(t *testing.T) {
	r := Request{
		Tool: Tool{Name: "mail_send", Scopes: append(recipients(t),
			Scope{Name: "folder", Type: Path, At: at(t, "/files/*/path"), Optional: true})},
		Arguments: parse(t, `{"to":["ana@example.test","eve@evil.test","bad"],"bcc":["x@evil.test"],"files":[{"path":"/etc/passwd"},{"path":"/srv/a"}]}`),
		MayGrant:  true, Now: now,
		Grants: []Grant{
			grant("b", "mail_send", "recipient", "@example.test"),
			grant("a", "mail_send", "recipient", "@example.test"),
		},
	}
	r.Grants[0].NotAfter = now
	r.Grants[1].Scopes = append(r.Grants[1].Scopes, Allowed{Scope: "folder", Values: []string{"/srv/"}})
	got := Decide(compile(t, nil), r).Reasons
	want := []Reason{
		{Code: OutOfScope, Scope: "recipient", Argument: "/to"}, // bad
		{Code: OutOfScope, GrantID: "a", Scope: "folder", Argument: "/files/*/path"},
		{Code: OutOfScope, GrantID: "a", Scope: "recipient", Argument: "/bcc"},
		{Code: OutOfScope, GrantID: "a", Scope: "recipient", Argument: "/to"},
		{Code: GrantExpired, GrantID: "b"},
		{Code: OutOfScope, GrantID: "b", Scope: "folder", Argument: "/files/*/path"},
		{Code: OutOfScope, GrantID: "b", Scope: "recipient", Argument: "/bcc"},
		{Code: OutOfScope, GrantID: "b", Scope: "recipient", Argument: "/to"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	slices.Reverse(r.Grants)
	if again := Decide(compile(t, nil), r).Reasons; !slices.Equal(again, want) {
		t.Errorf("in the other order: %+v", again)
	}
}

// Unlimited first, then the earliest end, then id and issuer.
func TestGrantsInOrder(t *testing.T) {
	r := restart(t)
	base := r.Grants[0]
	r.Grants = nil
	for _, g := range []struct {
		id, issuer string
		end        time.Duration
		uses       uint32
	}{
		{"f", "", 2 * time.Hour, 1},
		{"d", "", time.Hour, 1},
		{"e", "b", time.Hour, 2},
		{"e", "a", time.Hour, 3},
		{"c", "", 3 * time.Hour, 0},
		{"b", "", 2 * time.Hour, 0},
		{"a", "", 3 * time.Hour, 0},
		{"e", "a", time.Hour, 1},
	} {
		n := base
		n.ID, n.Issuer, n.NotAfter, n.MaxUses, n.Unlimited = g.id, g.issuer, now.Add(g.end), g.uses, g.uses == 0
		r.Grants = append(r.Grants, n)
	}
	d := Decide(compile(t, nil), r)
	var got []string
	for _, g := range d.Grants {
		got = append(got, g.ID+g.Issuer+strconv.Itoa(int(g.MaxUses)))
	}
	if want := []string{"b0", "a0", "c0", "d1", "ea1", "ea3", "eb2", "f1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if d.Reasons[0].GrantID != "b" {
		t.Errorf("the reason names %q", d.Reasons[0].GrantID)
	}
}

// A side effect uses up its evidence, unless it is reusable; the latest is taken.
func TestEvidenceIsUsedUp(t *testing.T) {
	r := restart(t)
	r.Tool.Requires[0].Match = r.Tool.Requires[0].Match[:1]
	later := r.Evidence[0]
	later.ID, later.ObservedAt = "e0", now
	same := later
	same.ID = "e2"
	r.Evidence = append(r.Evidence, same, later)
	d := Decide(compile(t, nil), r)
	if want := []string{"e0"}; !slices.Equal(d.Evidence, want) || !slices.Equal(d.Consumed, want) {
		t.Errorf("rests on %v, uses up %v", d.Evidence, d.Consumed)
	}
	r.Tool.Requires = append(r.Tool.Requires, r.Tool.Requires[0])
	r.Tool.Requires[0].Reusable = true
	if d = Decide(compile(t, nil), r); len(d.Evidence) != 1 || len(d.Consumed) != 1 {
		t.Errorf("one receipt for two rules: rests on %v, uses up %v", d.Evidence, d.Consumed)
	}
	r.Tool.Requires[1].Reusable = true
	if d = Decide(compile(t, nil), r); len(d.Evidence) != 1 || d.Consumed != nil {
		t.Errorf("reusable: rests on %v, uses up %v", d.Evidence, d.Consumed)
	}
	r.Tool.Requires[0].Reusable, r.Tool.ReadOnly = false, true
	if d = Decide(compile(t, nil), r); len(d.Evidence) != 1 || d.Consumed != nil {
		t.Errorf("reading: rests on %v, uses up %v", d.Evidence, d.Consumed)
	}
}

// Arrays count as their elements, in any depth; what is no text of its own does not.
func TestFlattening(t *testing.T) {
	for _, c := range []struct {
		line, arguments string
		want            Effect
	}{
		{"text", `{"to":"ana@example.test"}`, Allow},
		{"list", `{"to":["ana@example.test","bob@example.test"]}`, Allow},
		{"each by its own value", `{"to":["zoe@other.test","ana@example.test"],"cc":"kim@other.test"}`, Allow},
		{"lists in lists", `{"to":[["ana@example.test"],[],[[["bob@example.test"]]]]}`, Allow},
		{"one of many outside", `{"to":["ana@example.test","bob@example.test","x@evil.test"]}`, Deny},
		{"deep outside", `{"to":[["ana@example.test"],[[["x@evil.test"]]]]}`, Deny},
		{"134 in another argument", `{"to":["ana@example.test"],"bcc":"x@evil.test"}`, Deny},
		{"134 in reply_to", `{"to":["ana@example.test"],"reply_to":"x@evil.test"}`, Deny},
		{"empty list beside", `{"to":["ana@example.test"],"cc":[]}`, Allow},
		{"empty lists only", `{"to":[],"cc":[]}`, Deny},
		{"object", `{"to":{"a":"ana@example.test"}}`, Deny},
		{"object in a list", `{"to":["ana@example.test",{}]}`, Deny},
		{"null", `{"to":["ana@example.test"],"cc":null}`, Deny},
		{"number", `{"to":["ana@example.test",1]}`, Deny},
	} {
		t.Run(c.line, func(t *testing.T) {
			d := Decide(compile(t, nil), Request{
				Tool: Tool{Name: "mail_send", Scopes: recipients(t)}, Arguments: parse(t, c.arguments), MayGrant: true, Now: now,
				Grants: []Grant{grant("g", "mail_send", "recipient", "kim@other.test", "@example.test", "zoe@other.test")},
			})
			if d.Effect != c.want {
				t.Errorf("%v %+v", d.Effect, d.Reasons)
			}
		})
	}
}

// A call cannot buy time: so many values and no more, whether or not they are covered.
func TestTooManyValues(t *testing.T) {
	for _, c := range []struct {
		n    int
		want Effect
	}{{MaxScopeValues, Allow}, {MaxScopeValues + 1, Deny}, {100 * MaxScopeValues, Deny}} {
		list := strings.TrimSuffix(strings.Repeat(`"ana@example.test",`, c.n), ",")
		d := Decide(compile(t, nil), Request{
			Tool: Tool{Name: "mail_send", Scopes: recipients(t)}, Arguments: parse(t, `{"to":[`+list+`]}`), MayGrant: true, Now: now,
			Grants: []Grant{grant("g", "mail_send", "recipient", "@example.test")},
		})
		if d.Effect != c.want || len(d.Reasons) != 1 {
			t.Errorf("%d values: %v %+v", c.n, d.Effect, d.Reasons)
		}
	}
}

// The same request gets the same decision, and is not changed by it.
func TestDecideChangesNothing(t *testing.T) {
	r, same := restart(t), restart(t)
	same.Arguments, same.Evidence, same.Tool.Requires = r.Arguments, slices.Clone(r.Evidence), slices.Clone(r.Tool.Requires)
	first := Decide(compile(t, nil), r)
	if !reflect.DeepEqual(r, same) || !reflect.DeepEqual(first, Decide(compile(t, nil), r)) {
		t.Error("a decision left a trace")
	}
}
