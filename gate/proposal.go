package gate

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Proposal is one call that an agent proposes, and what its caller presents for it. The
// caller keeps ownership of Raw and does not change it during the call.
type Proposal struct {
	Tool            string // the model's word
	RequestID       string
	ContractVersion int // 0 or the current one; no other is executed
	SessionID       string
	CallID          string // the framework's own id; never shown
	Principal       string // the user for whom the call is made
	// Raw are the bytes of the argument object.
	Raw []byte
	// Grants are the caller's own word; they count only where Caller.MayGrant says so.
	Grants []policy.Grant
	// GrantTokens, Evidence and Approval are tokens that nobody has looked at yet.
	GrantTokens []string
	Evidence    []string
	Approval    string // "" where none came
}

// reading is a proposal whose tool and arguments have been judged.
type reading struct {
	Proposal
	tool      *validators.Tool // nil where no contract has it, or not in this version
	name      string           // the contract's name of the tool; UnknownTool without one
	arguments strictjson.Value // absent where refused
	canonical []byte           // nil where refused
	digest    string           // of canonical
	// reasons say why the proposal is refused before any policy is asked; rejections say
	// it to operators.
	reasons    []policy.Reason
	rejections []validators.Rejection
}

// refused reports whether there is nothing left to decide.
func (r *reading) refused() bool { return len(r.reasons) > 0 }

// read finds the tool of a proposal and judges its arguments.
func read(ctx context.Context, set *Set, p Proposal) reading {
	r := reading{Proposal: p, name: UnknownTool}
	tool, nameKnown := set.Lookup(p.Tool, 0)
	switch {
	case tool == nil && !nameKnown:
		return r.refuse(policy.Reason{Code: policy.UnknownTool}, validators.Rejection{
			Layer: contract.LayerPolicy, Reason: contract.ReasonUnknownTool, Detail: "no contract has this tool",
		})
	case tool == nil || p.ContractVersion != 0 && p.ContractVersion != tool.Contract.Version:
		r.name = set.Name(p.Tool)
		return r.refuse(policy.Reason{Code: policy.UnknownVersion}, validators.Rejection{
			Layer: contract.LayerPolicy, Reason: contract.ReasonUnknownVersion,
			Detail: "calls are executed at the current version only",
		})
	}
	return r.by(ctx, tool)
}

// by judges the arguments of a proposal by one given tool.
func (r reading) by(ctx context.Context, tool *validators.Tool) reading {
	r.tool, r.name = tool, tool.Contract.Tool
	arguments, rejections := tool.ReadArguments(ctx, r.Raw)
	if len(rejections) > 0 {
		for _, j := range rejections {
			reason := policy.Reason{Code: policy.InvalidArguments, Argument: tool.KnownArgument(j.At), Keyword: j.Keyword}
			r = r.refuse(reason, j)
		}
		return r
	}
	big := strictjson.RefuseBigNumbers
	if a := tool.Contract.Arguments; a != nil && a.BigIntegers {
		big = strictjson.KeepBigNumbers
	}
	canonical, err := strictjson.AppendCanonical(nil, arguments, big)
	if err != nil {
		at := ""
		if refused := new(strictjson.Error); errors.As(err, &refused) {
			at = refused.Pointer
		}
		return r.refuse(policy.Reason{Code: policy.InvalidArguments, Argument: tool.KnownArgument(at)}, validators.Rejection{
			Layer: contract.LayerSyntax, Reason: contract.ReasonNumberLimit, At: tool.KnownArgument(at),
			Detail: "a number stands for no IEEE 754 double, and the contract does not say big_integers: allowed",
		})
	}
	r.arguments, r.canonical, r.digest = arguments, canonical, digest(canonical)
	return r
}

// presented is the digest of all that came with the call besides its arguments: no two
// lists of them are written the same.
func (r reading) presented() string {
	b := make([]byte, 0, 1024)
	count := func(n uint64) { b = binary.AppendUvarint(b, n) }
	texts := func(list ...string) {
		count(uint64(len(list)))
		for _, s := range list {
			count(uint64(len(s)))
			b = append(b, s...)
		}
	}
	flag := func(v bool) {
		if v {
			count(1)
		} else {
			count(0)
		}
	}
	count(uint64(len(r.Grants)))
	for i := range r.Grants {
		g := &r.Grants[i]
		texts(g.ID, g.Issuer, g.Tool)
		count(uint64(g.NotAfter.Unix())) //nolint:gosec // any 64 bits
		count(uint64(g.NotAfter.Nanosecond()))
		count(uint64(g.MaxUses))
		flag(g.Unlimited)
		count(uint64(len(g.Scopes)))
		for _, s := range g.Scopes {
			texts(s.Scope)
			texts(s.Values...)
			flag(s.Any)
		}
	}
	texts(r.GrantTokens...)
	texts(r.Evidence...)
	texts(r.Approval)
	return digest(b)
}

// refuse adds a reason once, and a rejection.
func (r reading) refuse(reason policy.Reason, rejection validators.Rejection) reading {
	r.rejections = append(r.rejections, rejection)
	for _, known := range r.reasons {
		if known == reason {
			return r
		}
	}
	r.reasons = append(r.reasons, reason)
	return r
}
