package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func deployShape(t testing.TB) *condition.Shape {
	return condition.ShapeOf("s", map[string]strictjson.Value{
		"s": parse(t, `{"type":"object","properties":{"environment":{"type":"string"},"to":{"type":"array","items":{"type":"string"}},"n":{"type":"integer"}}}`),
	})
}

// deploy is an allowed call under one rule for its tool, deploy.
func deploy(t testing.TB, rule Rule) (*Set, Request) {
	t.Helper()
	if rule.Name == "" {
		rule.Name = "rule"
	}
	rule.Tools = []string{"deploy"}
	set, err := Compile([]Rule{rule}, map[string]*condition.Shape{"deploy": deployShape(t)})
	if err != nil {
		t.Fatal(err)
	}
	r := restart(t)
	r.Tool = Tool{Name: "deploy"}
	r.Arguments = parse(t, `{"environment":"production","to":["x@evil.test"],"n":1}`)
	r.Grants = []Grant{{ID: "g1", Tool: "deploy", NotAfter: now.Add(time.Hour), Unlimited: true}}
	r.Sources = Sources{Known: true, List: []Source{{"web_read", "untrusted"}, {"job_status", "trusted"}}}
	return set, r
}

// B8, B9: forbid wins, require adds, and what has no answer refuses.
func TestRules(t *testing.T) {
	const web = `session.sources.exists(s, s.tool == "web_read")`
	proof := []EvidenceRule{{Tool: "job_status", Match: []Match{{at(t, "/environment")[0], at(t, "/environment")[0]}}}}
	for _, c := range []struct {
		line   string
		rule   Rule
		change func(*Request)
		effect Effect
		codes  []Code
	}{
		{"forbid", Rule{Forbid: true}, nil, Deny, []Code{Forbidden}},
		{"forbid by argument", Rule{Forbid: true, When: `call.arguments.environment == "production"`}, nil, Deny, []Code{Forbidden}},
		{"forbid by another argument", Rule{Forbid: true, When: `call.arguments.environment == "staging"`}, nil, Allow, []Code{Granted}},
		{"forbid by tool", Rule{Forbid: true, When: `call.tool == "deploy"`}, nil, Deny, []Code{Forbidden}},
		{"forbid by principal", Rule{Forbid: true, When: `call.principal != "root"`}, nil, Deny, []Code{Forbidden}},
		{"forbid by time", Rule{Forbid: true, When: `now.getDayOfWeek() == 0`}, nil, Deny, []Code{Forbidden}},
		{"forbid by evidence", Rule{Forbid: true, When: `!evidence.exists(e, e.tool == "job_status" && e.data.state == "succeeded")`}, nil, Deny, []Code{Forbidden}},
		{
			"evidence that was replaced",
			Rule{Forbid: true, When: `!evidence.exists(e, e.tool == "job_status")`},
			func(r *Request) { r.Evidence[0].Newest = false }, Deny,
			[]Code{Forbidden},
		},
		{
			"evidence of an old contract",
			Rule{Forbid: true, When: `!evidence.exists(e, e.tool == "job_status")`},
			func(r *Request) { r.Evidence[0].Current = false }, Deny,
			[]Code{Forbidden},
		},
		{"evidence that counts", Rule{Forbid: true, When: `!evidence.exists(e, e.tool == "job_status" && e.version == 1 && now - e.observed_at < duration("5m"))`}, nil, Allow, []Code{Granted}},
		{"forbid by sources", Rule{Forbid: true, When: web}, nil, Deny, []Code{Forbidden}},
		{"other sources", Rule{Forbid: true, When: web}, func(r *Request) { r.Sources.List = r.Sources.List[1:] }, Allow, []Code{Granted}},
		{"no sources", Rule{Forbid: true, When: web}, func(r *Request) { r.Sources.List = nil }, Allow, []Code{Granted}},
		{"sources unknown", Rule{Forbid: true, When: web}, func(r *Request) { r.Sources = Sources{} }, Deny, []Code{ConditionError}},
		{"sources unknown, list filled in", Rule{Forbid: true, When: web}, func(r *Request) { r.Sources.Known = false }, Deny, []Code{ConditionError}},
		{"sources unknown and not decisive", Rule{Forbid: true, When: `call.tool == "x" && ` + web}, func(r *Request) { r.Sources = Sources{} }, Deny, []Code{ConditionError}},
		{"sources unknown behind an or", Rule{Approval: true, When: `true || ` + web}, func(r *Request) { r.Sources = Sources{} }, Deny, []Code{ConditionError}},
		{"sources unknown, only asked for", Rule{Forbid: true, When: `!has(session.sources)`}, func(r *Request) { r.Sources = Sources{} }, Deny, []Code{ConditionError}},
		{"sources unknown, by another way", Rule{Forbid: true, When: `[session].exists(x, x.sources.size() > 5)`}, func(r *Request) { r.Sources = Sources{} }, Deny, []Code{ConditionError}},
		{"sources unknown and not read", Rule{Forbid: true, When: `call.principal == "x"`}, func(r *Request) { r.Sources = Sources{} }, Allow, []Code{Granted}},
		{"a variable called session", Rule{Forbid: true, When: `["a"].exists(session, session == "b")`}, func(r *Request) { r.Sources = Sources{} }, Allow, []Code{Granted}},
		{"error", Rule{Forbid: true, When: `call.arguments.environment == "x"`}, func(r *Request) { r.Arguments = parse(t, `{}`) }, Deny, []Code{ConditionError}},
		{"error of a require", Rule{Approval: true, When: `call.arguments.environment == "x"`}, func(r *Request) { r.Arguments = parse(t, `{}`) }, Deny, []Code{ConditionError}},
		{"no bool", Rule{Forbid: true, When: `evidence[0].data.state`}, nil, Deny, []Code{ConditionError}},
		{"overflow", Rule{Forbid: true, When: `call.arguments.n * 2 == 0`}, func(r *Request) { r.Arguments = parse(t, `{"n":9223372036854775807}`) }, Deny, []Code{ConditionError}},
		{
			"cost",
			Rule{Forbid: true, When: `call.arguments.to.exists(a, call.arguments.to.exists(b, call.arguments.to.exists(c, a + b == c + "!")))`},
			func(r *Request) {
				r.Arguments = parse(t, `{"to":["`+strings.Repeat(`abcdefgh","`, 300)+`"]}`)
			}, Deny,
			[]Code{ConditionError},
		},
		{"approval", Rule{Approval: true}, nil, NeedsApproval, []Code{NeedsPerson}},
		{"approved", Rule{Approval: true}, func(r *Request) { r.Approval = Approved }, Allow, []Code{Granted}},
		{"approval refused", Rule{Approval: true}, func(r *Request) { r.Approval = ApprovalRefused }, Deny, []Code{RefusedByPerson}},
		{"approval invalid", Rule{Approval: true}, func(r *Request) { r.Approval = ApprovalInvalid }, Deny, []Code{InvalidApproval}},
		{"approval of no kind", Rule{Approval: true}, func(r *Request) { r.Approval = 99 }, Deny, []Code{InvalidApproval}},
		{"approval not asked for", Rule{Approval: true, When: `call.arguments.environment == "staging"`}, nil, Allow, []Code{Granted}},
		{"approval does not outrank a DENY", Rule{Approval: true}, func(r *Request) { r.Grants = nil }, Deny, []Code{NoGrant, NeedsPerson}},
		{"evidence", Rule{Evidence: proof}, nil, Deny, []Code{EvidenceMismatch}},
		{"evidence that matches", Rule{Evidence: proof}, func(r *Request) { r.Evidence[0].Data = parse(t, `{"environment":"production"}`) }, Allow, []Code{Granted}},
		{"evidence and approval", Rule{Evidence: proof, Approval: true}, func(r *Request) { r.Evidence = nil }, Deny, []Code{EvidenceMissing, NeedsPerson}},
		{"reading is forbidden too", Rule{Forbid: true}, func(r *Request) { r.Tool.ReadOnly = true }, Deny, []Code{Forbidden}},
		{"reading needs the approval too", Rule{Approval: true}, func(r *Request) { r.Tool.ReadOnly = true }, NeedsApproval, []Code{NeedsPerson}},
		{"by an alias", Rule{Forbid: true}, func(r *Request) {
			r.Tool = Tool{Name: "release", Aliases: []string{"release", "deploy"}}
		}, Deny, []Code{Forbidden}},
		{"reading, with an argument that has no form", Rule{Forbid: true, When: `call.arguments.to[0] == "y@evil.test"`}, func(r *Request) {
			r.Tool = Tool{Name: "deploy", ReadOnly: true, Scopes: recipients(t)}
			r.Arguments = parse(t, `{"to":["y@evil.test."]}`)
		}, Deny, []Code{ConditionError}},
		{"reading, with an argument in another form", Rule{Forbid: true, When: `call.arguments.to[0] == "y@evil.test"`}, func(r *Request) {
			r.Tool = Tool{Name: "deploy", ReadOnly: true, Scopes: recipients(t)}
			r.Arguments = parse(t, `{"to":["y@EVIL.test"]}`)
		}, Deny, []Code{Forbidden}},
		{"reading a url that needs no grant", Rule{Forbid: true, When: `call.arguments.environment != "https://example.test/"`}, func(r *Request) {
			r.Tool = Tool{Name: "deploy", ReadOnly: true, Scopes: []Scope{{Name: "url", Type: URL, At: at(t, "/environment")}}}
			r.Arguments = parse(t, `{"environment":"https://EXAMPLE.test:443"}`)
		}, Allow, []Code{OnlyReads}},
		{"a url with a letter that is escaped", Rule{Forbid: true, When: `call.arguments.environment == "https://example.test/private/a%3Eb"`}, func(r *Request) {
			r.Tool = Tool{Name: "deploy", ReadOnly: true, Scopes: []Scope{{Name: "url", Type: URL, At: at(t, "/environment")}}}
			r.Arguments = parse(t, `{"environment":"https://example.test/%70riv%61te/a%3eb"}`)
		}, Deny, []Code{Forbidden}},
		{"an argument that has no form and is not read", Rule{Forbid: true, When: `now < timestamp("2000-01-01T00:00:00Z")`}, func(r *Request) {
			r.Tool = Tool{Name: "deploy", ReadOnly: true, Scopes: recipients(t)}
			r.Arguments = parse(t, `{"to":["y@evil.test."]}`)
		}, Allow, []Code{OnlyReads}},
		{"of another tool", Rule{Forbid: true}, func(r *Request) { r.Tool.Name, r.Grants[0].Tool = "Deploy", "Deploy" }, Allow, []Code{Granted}},
	} {
		t.Run(c.line, func(t *testing.T) {
			set, r := deploy(t, c.rule)
			if c.change != nil {
				c.change(&r)
			}
			d := Decide(set, r)
			wants(t, d, c.effect, c.codes...)
			if d.Obligations != nil {
				t.Errorf("obligations %v without a grant for a url or path", d.Obligations)
			}
			if c.effect == NeedsApproval && len(d.Grants) == 0 && !r.Tool.ReadOnly {
				t.Error("the challenge would not know the grant")
			}
		})
	}
}

// All rules are evaluated, in the order of their names (approvals come last), and one that is found under two
// names of a tool speaks once.
func TestRulesAreComplete(t *testing.T) {
	rules := []Rule{
		{Name: "e", Tools: []string{"a"}, Forbid: true},
		{Name: "d", Tools: []string{"a"}, Approval: true},
		{Name: "c", Tools: []string{"b", "a"}, Forbid: true},
		{Name: "b", Tools: []string{"b"}, Forbid: true, When: `call.arguments.x == 1`},
		{Name: "a", Tools: []string{"a"}, Forbid: true, When: `false`},
	}
	want := []Reason{{Code: ConditionError, Policy: "b"}, {Code: Forbidden, Policy: "c"}, {Code: Forbidden, Policy: "e"}, {Code: NeedsPerson, Policy: "d"}}
	r := Request{Tool: Tool{Name: "a", Aliases: []string{"b"}, ReadOnly: true}, Arguments: parse(t, `{}`), Now: now}
	for range 2 {
		if got := Decide(compile(t, rules, "a", "b"), r).Reasons; !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		plain := r
		plain.Tool.Aliases = nil
		if got := Decide(compile(t, rules, "a", "b"), plain).Reasons; !slices.Equal(got, want[1:]) {
			t.Errorf("without the alias: got %+v, want %+v", got, want[1:])
		}
		slices.Reverse(rules)
	}
}

// Everything wrong is said at load, with its place.
func TestCompileFaults(t *testing.T) {
	match := []Match{{}}
	for _, c := range []struct {
		line  string
		rule  Rule
		where string // members at fault
		place string
	}{
		{"nothing", Rule{}, "name tools forbid", ""},
		{"no name", Rule{Tools: []string{"deploy"}, Forbid: true}, "name", ""},
		{"name that is no text", Rule{Name: "\xff", Tools: []string{"deploy"}, Forbid: true}, "name", ""},
		{"unknown tool", Rule{Name: "a", Tools: []string{"Deploy"}, Forbid: true}, "tools", ""},
		{"tool twice", Rule{Name: "a", Tools: []string{"deploy", "deploy"}, Forbid: true}, "tools", ""},
		{"forbids and requires", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, Approval: true}, "forbid", ""},
		{"evidence of nothing", Rule{Name: "a", Tools: []string{"deploy"}, Evidence: []EvidenceRule{{Match: match}}}, "evidence", ""},
		{"evidence without a match", Rule{Name: "a", Tools: []string{"deploy"}, Evidence: []EvidenceRule{{Tool: "job_status"}}}, "evidence", ""},
		{"negative age", Rule{Name: "a", Tools: []string{"deploy"}, Evidence: []EvidenceRule{{Tool: "job_status", Match: match, MaxAge: -1}}}, "evidence", ""},
		{"syntax", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, When: "true &&\n&& true"}, "when", "line 2"},
		{"no bool", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, When: `call.tool`}, "when", ""},
		{"unknown variable", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, When: `result == 1`}, "when", "line 1"},
		{"unknown member", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, When: `call.user == "x"`}, "when", "line 1"},
		{"unknown argument", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, When: `call.arguments.enviroment == "x"`}, "when", "line 1"},
		{"argument of another type", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, When: `call.arguments.environment == 1`}, "when", "line 1"},
		{"member of sources", Rule{Name: "a", Tools: []string{"deploy"}, Forbid: true, When: `session.sources.exists(s, s.name == "x")`}, "when", "line 1"},
	} {
		t.Run(c.line, func(t *testing.T) {
			set, err := Compile([]Rule{c.rule}, map[string]*condition.Shape{"deploy": deployShape(t)})
			if set != nil || err == nil {
				t.Fatal("taken")
			}
			var members []string
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				var f *Fault
				if !errors.As(e, &f) || !strings.HasPrefix(f.Error(), "policy 1: "+f.Member+": ") {
					t.Fatalf("%v", e)
				}
				members = append(members, f.Member)
			}
			if got := strings.Join(members, " "); got != c.where || !strings.Contains(err.Error(), c.place) {
				t.Errorf("got %s: %v", got, err)
			}
		})
	}
	_, err := Compile([]Rule{
		{Name: "a", Tools: []string{"deploy"}, Forbid: true},
		{Name: "a", Tools: []string{"deploy"}, Forbid: true},
		{Name: "b", Tools: []string{"x"}, Forbid: true},
	}, map[string]*condition.Shape{"deploy": nil})
	for _, want := range []string{"policy 2: name", "policy 3: tools"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
