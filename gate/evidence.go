package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// signalEvidenceRefused counts receipts that were presented and do not count.
const signalEvidenceRefused = "evidence_refused"

// fact is a receipt that was verified, by a contract that serves.
type fact struct {
	receipt.Receipt
	data    strictjson.Value // absent where the receipt holds none
	current bool             // the contract is the tool's current one
}

// verify returns the receipts that count: signed by this service, for this tenant and
// this session, not expired, and judged by a contract that serves now. The others are
// counted; they are as good as absent.
func (t Tokens) verify(set *Set, caller Caller, session string, tokens []string, now time.Time) (facts []fact, refused int) {
	seen := make(map[string]bool, len(tokens))
	for _, token := range tokens {
		r, err := t.Keys.VerifyReceipt(token, receipt.ReceiptExpect{
			Issuer: t.Issuer, Tenant: caller.Tenant, Session: session, Now: now,
		})
		tool, _ := set.Lookup(r.Tool, int(r.Version))
		if err != nil || tool == nil || tool.Contract.Digest != r.ContractDigest || tool.Contract.Tool != r.Tool {
			refused++
			continue
		}
		f := fact{Receipt: r, current: tool.Current}
		if len(r.Facts) > 0 {
			if f.data, err = strictjson.Parse(r.Facts, strictjson.Ceilings()); err != nil {
				refused++
				continue
			}
		}
		if !seen[r.ID] {
			seen[r.ID] = true
			facts = append(facts, f)
		}
	}
	return facts, refused
}

// ids are the ids of facts, for the record.
func ids(facts []fact) []string {
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = f.ID
	}
	return out
}

// forChecks are facts as semantic checks see them. The arguments of the request that a
// fact was got with are not known: a receipt holds their digest.
func forChecks(facts []fact) []validators.Evidence {
	out := make([]validators.Evidence, len(facts))
	for i, f := range facts {
		out[i] = validators.Evidence{Tool: f.Tool, Version: int(f.Version), Data: f.data, ObservedAt: f.Observed}
	}
	return out
}

// forPolicies are facts as policies see them. The error is that of the audit store,
// which alone knows whether a fact is the newest of its kind.
func (g *Gate) forPolicies(ctx context.Context, set *Set, caller Caller, r reading, facts []fact) ([]policy.Evidence, error) {
	out := make([]policy.Evidence, len(facts))
	for i, f := range facts {
		latest, err := g.store.Latest(ctx, audit.Judged{
			Tenant: caller.Tenant, SessionID: r.SessionID, Tool: f.Tool, ArgumentsDigest: f.ArgumentsDigest,
		})
		if err != nil && !errors.Is(err, audit.ErrNotFound) {
			return nil, fmt.Errorf("gate: looking for newer judgements: %w", err)
		}
		out[i] = policy.Evidence{
			ID: f.ID, Tool: f.Tool, Version: int(f.Version), Current: f.current, Caller: f.Caller,
			Arguments: set.argumentsOf(f, r.arguments), Data: f.data, ObservedAt: f.Observed,
			Newest: err == nil && latest.ReceiptID == f.ID,
		}
	}
	return out, nil
}

// argumentsOf returns the arguments that a fact was got with, where they are the ones
// that a requirement asks for: then their digest is the receipt's. They are absent where
// they are anything else, which matches nothing.
func (s *Set) argumentsOf(f fact, call strictjson.Value) strictjson.Value {
	for _, matches := range s.matches[f.Tool] {
		canonical, ok := argumentsWanted(matches, call)
		if !ok || digest(canonical) != f.ArgumentsDigest {
			continue
		}
		if v, err := strictjson.Parse(canonical, strictjson.Ceilings()); err == nil {
			return v
		}
	}
	return strictjson.Value{}
}

// argumentsWanted writes the object whose members are what the matches want of it, in
// canonical form. It knows members of the root alone.
func argumentsWanted(matches []policy.Match, call strictjson.Value) (canonical []byte, ok bool) {
	b := []byte{'{'}
	for i, m := range matches {
		want := call.At(m.Argument)
		if len(m.Evidence) != 1 || !want.Exists() {
			return nil, false
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, m.Evidence[0])
		b = append(b, ':')
		b = strictjson.AppendJSON(b, want)
	}
	v, err := strictjson.Parse(append(b, '}'), strictjson.Ceilings())
	if err != nil {
		return nil, false
	}
	canonical, err = strictjson.AppendCanonical(nil, v, strictjson.KeepBigNumbers)
	return canonical, err == nil
}
