package policy

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// The zero value denies, and so does a set that nobody compiled.
func TestZeroValuesDeny(t *testing.T) {
	if (Decision{}).Effect != Deny {
		t.Error("the zero Decision")
	}
	for _, set := range []*Set{nil, {}} {
		wants(t, Decide(set, restart(t)), Deny, ConditionError)
	}
	for e, name := range map[Effect]string{Deny: "DENY", NeedsApproval: "NEEDS_APPROVAL", Allow: "ALLOW", 99: "DENY"} {
		if e.String() != name {
			t.Errorf("%d is %s", e, e)
		}
	}
}

// Obligations come with the values that were compared as text.
func TestObligations(t *testing.T) {
	for _, c := range []struct {
		line, arguments string
		want            []Obligation
	}{
		{"both", `{"url":"https://example.test/a","path":"/srv/a"}`, []Obligation{NoRedirects, OpenBeneath, PublicAddress}},
		{"url", `{"url":"https://example.test/a"}`, []Obligation{NoRedirects, PublicAddress}},
		{"path", `{"path":"/srv/a"}`, []Obligation{OpenBeneath}},
		{"none", `{}`, nil},
	} {
		t.Run(c.line, func(t *testing.T) {
			d := Decide(compile(t, nil), Request{
				Tool: Tool{Name: "copy", Scopes: []Scope{
					{Name: "from", Type: URL, At: at(t, "/url"), Optional: true},
					{Name: "to", Type: Path, At: at(t, "/path"), Optional: true},
				}},
				Arguments: parse(t, c.arguments), MayGrant: true, Now: now,
				Grants: []Grant{{ID: "g", Tool: "copy", NotAfter: now.Add(1), Unlimited: true, Scopes: []Allowed{
					{Scope: "from", Values: []string{"https://example.test/"}}, {Scope: "to", Values: []string{"/srv/"}},
				}}},
			})
			if d.Effect != Allow || !slices.Equal(d.Obligations, c.want) {
				t.Errorf("%v %v", d.Effect, d.Obligations)
			}
		})
	}
}

// The code for the agent says what could help, and only where it could.
func TestFailure(t *testing.T) {
	for _, c := range []struct {
		line   string
		effect Effect
		codes  []Code
		want   string
	}{
		{"allowed", Allow, []Code{Granted}, ""},
		{"zero", Deny, nil, "NOT_AUTHORIZED"},
		{"tool", Deny, []Code{UnknownTool}, "UNKNOWN_TOOL"},
		{"arguments", Deny, []Code{InvalidArguments}, "INVALID_ARGUMENTS"},
		{"missing", Deny, []Code{EvidenceMissing}, "EVIDENCE_REQUIRED"},
		{"stale and mismatch", Deny, []Code{EvidenceStale, EvidenceMismatch, EvidenceInvalid}, "EVIDENCE_REQUIRED"},
		{"evidence, then a person", Deny, []Code{EvidenceMissing, NeedsPerson}, "EVIDENCE_REQUIRED"},
		{"evidence would not help", Deny, []Code{NoGrant, EvidenceMissing}, "NOT_AUTHORIZED"},
		{"person", NeedsApproval, []Code{NeedsPerson}, "APPROVAL_REQUIRED"},
		{"person said no", Deny, []Code{RefusedByPerson}, "NOT_AUTHORIZED"},
		{"person would not help", Deny, []Code{Forbidden, NeedsPerson}, "NOT_AUTHORIZED"},
		{"condition", Deny, []Code{ConditionError}, "NOT_AUTHORIZED"},
		{"grant", Deny, []Code{OutOfScope}, "NOT_AUTHORIZED"},
		{"unknown effect", 99, nil, "NOT_AUTHORIZED"},
	} {
		var reasons []Reason
		for _, code := range c.codes {
			reasons = append(reasons, Reason{Code: code})
		}
		if got := Failure(c.effect, reasons); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// Signed tokens can bring a thousand grants: what is said of each of them counts arguments
// and not values, so that a denial costs no more memory than its answer.
func TestManyGrantsManyValues(t *testing.T) {
	r := worst(t)
	for len(r.Grants) < 1000 {
		r.Grants = append(r.Grants, grant("h"+strconv.Itoa(len(r.Grants)), "mail_send", "recipient", "x@evil.test"))
	}
	set := compile(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := Decide(set, r)
	runtime.ReadMemStats(&after)
	if d.Effect != Deny || len(d.Reasons) != len(r.Grants) {
		t.Errorf("%s for %d reasons", d.Effect, len(d.Reasons))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("took %d bytes", took)
	}
}
