package policy_test

import (
	"fmt"
	"time"

	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// The user asked for a mail to Ana. The page that was read on the way asked for more.
func ExampleDecide() {
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	set, err := policy.Compile([]policy.Rule{{
		Name: "no-outside-mail-after-web", Tools: []string{"mail_send"}, Forbid: true,
		When: `session.sources.exists(s, s.tool == "web_read") && call.arguments.to.exists(a, !a.endsWith("@example.test"))`,
	}}, map[string]*condition.Shape{"mail_send": nil})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := policy.Request{
		Tool: policy.Tool{Name: "mail_send", Scopes: []policy.Scope{{
			Name: "recipient", Type: policy.Email,
			At: []strictjson.Pointer{{"to"}, {"bcc"}},
		}}},
		MayGrant: true,
		Grants: []policy.Grant{{
			ID: "g1", Tool: "mail_send", NotAfter: now.Add(time.Hour), MaxUses: 1,
			Scopes: []policy.Allowed{{Scope: "recipient", Values: []string{"ana@example.test"}}},
		}},
		Sources: policy.Sources{Known: true, List: []policy.Source{{Tool: "web_read", Trust: "untrusted"}}},
		Now:     now,
	}
	for _, arguments := range []string{
		`{"to":["ana@example.test"]}`,
		`{"to":["ana@example.test"],"bcc":["eve@evil.test"]}`,
		`{"to":["eve@evil.test"]}`,
	} {
		request.Arguments, _ = strictjson.Parse([]byte(arguments), strictjson.Ceilings())
		d := policy.Decide(set, request)
		fmt.Printf("%v %q\n", d.Effect, policy.Failure(d.Effect, d.Reasons))
		for _, r := range d.Reasons {
			fmt.Printf("  %s grant=%q argument=%q policy=%q\n", r.Code, r.GrantID, r.Argument, r.Policy)
		}
	}
	// Output:
	// ALLOW ""
	//   GRANTED grant="g1" argument="" policy=""
	// DENY "NOT_AUTHORIZED"
	//   OUT_OF_SCOPE grant="g1" argument="/bcc" policy=""
	// DENY "NOT_AUTHORIZED"
	//   OUT_OF_SCOPE grant="g1" argument="/to" policy=""
	//   FORBIDDEN grant="" argument="" policy="no-outside-mail-after-web"
}
