package gate

import (
	"context"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators"
)

// Known is what a decision rests on besides the call: verified, and plain. The zero
// Known knows of no caller, grant or fact, and denies.
type Known struct {
	Caller Caller
	Now    time.Time
	// Grants are the caller's own and those of verified grant tokens.
	Grants   []policy.Grant
	Evidence []policy.Evidence
	// EvidenceRefused counts the receipts that were presented and do not count.
	EvidenceRefused int
	Sources         policy.Sources
	Approval        policy.Approval
}

// Ruling is what deciding one proposed call came to.
type Ruling struct {
	Tool     *validators.Tool // nil where no contract has the tool, or not in this version
	Decision policy.Decision
	// Failure is what an agent is told of a refusal; "" where the call is allowed.
	Failure contract.FailureCode
	// Result is that refusal, in place of the tool's result; nil where it is allowed.
	Result *ToolResult
	// Rejections say to operators what refused the arguments, and which policies refused.
	Rejections []validators.Rejection
	// ArgumentsJSON are the canonical arguments where the call is allowed, else "".
	ArgumentsJSON string
}

// DecideBy decides one proposed call by one given tool of a set, whatever the proposal's
// tool and version say; tokens of the proposal are not looked at. It is pure: the same
// arguments give the same ruling, unless ctx ends first, which is a refusal.
func DecideBy(ctx context.Context, set *Set, tool *validators.Tool, p Proposal, k Known) Ruling {
	r := reading{Proposal: p}.by(ctx, tool)
	return rule(r, decide(set, r, k), k.Now)
}

// Decide is [DecideBy] by the tool that the proposal names.
func Decide(ctx context.Context, set *Set, p Proposal, k Known) Ruling {
	r := read(ctx, set, p)
	return rule(r, decide(set, r, k), k.Now)
}

// skew is how far in the future an observation may seem to be.
const skew = 30 * time.Second

// decide asks the policies about a reading. One that was refused is denied for its own
// reasons alone: nothing else can be said about it.
func decide(set *Set, r reading, k Known) policy.Decision {
	if r.refused() || r.tool == nil {
		return policy.Decision{Reasons: r.reasons}
	}
	return policy.Decide(set.policies, policy.Request{
		Tool: set.subjects[r.tool], Arguments: r.arguments, Principal: r.Principal,
		Grants: k.Grants, MayGrant: k.Caller.MayGrant,
		Evidence: k.Evidence, EvidenceRefused: k.EvidenceRefused > 0,
		Sources: k.Sources, Approval: k.Approval, Now: k.Now, Skew: skew,
	})
}

// rule turns a decision into what agent and operator get.
func rule(r reading, d policy.Decision, now time.Time) Ruling {
	out := Ruling{Tool: r.tool, Decision: d, Rejections: append(r.rejections, policyRejections(d)...)}
	if d.Effect == policy.Allow {
		out.ArgumentsJSON = string(r.canonical)
		return out
	}
	out.Failure = contract.FailureCode(policy.Failure(d.Effect, d.Reasons))
	out.Result = &ToolResult{
		Tool: r.name, RequestID: r.RequestID, ValidatedAt: now,
		Failure: &Failure{Code: out.Failure},
	}
	if r.tool != nil {
		out.Result.ContractVersion = r.tool.Contract.Version
	}
	return out
}

// policyRejections names, for operators, the deployment's policies that refused; an
// agent learns the code alone.
func policyRejections(d policy.Decision) []validators.Rejection {
	var out []validators.Rejection
	for _, r := range d.Reasons {
		if r.Policy != "" {
			out = append(out, validators.Rejection{
				Layer: contract.LayerPolicy, Check: r.Policy, Detail: "a policy of the deployment says " + string(r.Code),
			})
		}
	}
	return out
}

// shownReasons are the reasons as a caller gets them: several policies that say the same
// are one.
func shownReasons(reasons []policy.Reason) []policy.Reason {
	out := make([]policy.Reason, 0, len(reasons))
	seen := make(map[policy.Reason]bool, len(reasons))
	for _, r := range reasons {
		r.Policy = ""
		if !seen[r] {
			seen[r] = true
			out = append(out, r)
		}
	}
	return out
}

// Tokens are what a gate signs and verifies with. The zero Tokens issue no receipts,
// allow no side effect and believe nothing.
type Tokens struct {
	// Issuer is the service, as its configuration names it: iss of what it signs, aud of
	// what is signed for it.
	Issuer    string
	Keys      *receipt.KeySet
	Approvers *receipt.Approvers // who may approve; nil: nobody
	Issuers   *receipt.Issuers   // who may sign grants; nil: nobody
}

// WithTokens makes a gate sign and verify with what load returns at that moment. load is
// called once for each call, from several goroutines at once, and does not block.
func WithTokens(load func() Tokens) Option {
	return func(g *Gate) { g.tokens = load }
}
