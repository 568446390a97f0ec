package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
)

// permitLife is how long a permit lives, which is also how long a repeat of its request
// gets it again: a permit that is over may have been executed, so that it is never
// renewed under the same id.
const permitLife = time.Minute

// maxTries bounds the grants that are tried until one has a use left.
const maxTries = 64

// memo is what the store keeps of an allowed request for its repeats. It is no permit:
// the rest of that is the call, which a repeat brings along, and the same claims under
// the same key give the same token.
type memo struct {
	PermitID string    `json:"permit_id,omitzero"` // "" where the tool only reads
	IssuedAt time.Time `json:"issued_at"`
	Decision string    `json:"decision"` // the one that was made first
	Grant    string    `json:"grant,omitzero"`
	Issuer   string    `json:"issuer,omitzero"` // of the grant; "" is the caller
	// Caller is who was allowed, Presented the digest of what was presented with the call,
	// and the rest what the decision came to. Nobody else, and nothing else, gets the
	// permit without being allowed anew.
	Caller      string              `json:"caller"`
	Presented   string              `json:"presented"`
	Reasons     []policy.Reason     `json:"reasons"`
	Evidence    []string            `json:"evidence,omitzero"`
	Obligations []policy.Obligation `json:"obligations,omitzero"`
}

// repeated is the answer to a call that the same caller was allowed a moment ago and sends
// again with all that it presented then, as after a lost reply: while that permit lives it
// gets the same decision and the same permit, though its evidence or its grants are over by
// now. It is asked for where the call is denied anew, and false where there is no such
// permit, or where anything else speaks against the call: what a policy forbids stays
// forbidden.
func (d *deciding) repeated(ctx context.Context, r reading, k presented, denied []policy.Reason) (ruling Ruling, permit string, is bool, err error) {
	if !over(denied) {
		return Ruling{}, "", false, nil
	}
	kept, err := d.gate.store.Recall(ctx, d.requestKey("permit", r), d.now)
	if errors.Is(err, audit.ErrNotFound) {
		return Ruling{}, "", false, nil
	}
	if err != nil {
		return Ruling{}, "", false, fmt.Errorf("gate: looking for the first decision: %w", err)
	}
	var first memo
	if err := json.Unmarshal(kept, &first); err != nil {
		return Ruling{}, "", false, fmt.Errorf("gate: what was kept of the first decision: %w", err)
	}
	if first.Caller != d.caller.Name || first.Presented != r.presented() {
		return Ruling{}, "", false, nil
	}
	ruling = rule(r, policy.Decision{
		Effect: policy.Allow, Reasons: first.Reasons, Evidence: first.Evidence, Obligations: first.Obligations,
	}, d.now)
	if permit, err = d.permit(r, ruling, first); err != nil {
		return Ruling{}, "", false, err
	}
	return ruling, permit, true, d.append(ctx, d.allowed(r, ruling, k, first))
}

// over reports whether reasons say no more than that something had its time or its use.
func over(reasons []policy.Reason) bool {
	return !slices.ContainsFunc(reasons, func(r policy.Reason) bool {
		switch r.Code {
		case policy.GrantExpired, policy.GrantExhausted, policy.EvidenceMissing, policy.EvidenceStale,
			policy.EvidenceInvalid, policy.Replayed, policy.InvalidApproval:
			return false
		}
		return true
	})
}

// allow uses up what an allowed call uses, together with its record, and signs its
// permit. Where something has no use left the ruling becomes a denial.
func (d *deciding) allow(ctx context.Context, r reading, ruling Ruling, k presented) (Ruling, string, error) {
	kept := memo{IssuedAt: d.now.UTC().Truncate(time.Second), Decision: d.id}
	if !d.set.subjects[r.tool].ReadOnly {
		fresh, err := uuid.NewV7()
		if err != nil {
			return Ruling{}, "", err
		}
		kept.PermitID = fresh.String()
	}
	permit, err := d.permit(r, ruling, kept)
	if err != nil {
		return Ruling{}, "", err
	}
	decision := ruling.Decision
	if permit == "" && len(decision.Grants) == 0 && len(decision.Consumed) == 0 && k.Approval != policy.Approved {
		return ruling, "", d.append(ctx, d.record(r, ruling, k)) // it only reads
	}
	uses := audit.Uses{Request: d.requestKey("permit", r), Until: d.now.Add(permitLife), Claims: d.claims(r, decision, k)}
	candidates := decision.Grants[:min(len(decision.Grants), maxTries)]
	if len(candidates) == 0 {
		candidates = []*policy.Grant{nil}
	}
	var exhausted []policy.Reason
	for _, grant := range candidates {
		try := uses
		if grant != nil {
			kept.Grant, kept.Issuer = grant.ID, grant.Issuer
			if !grant.Unlimited {
				try.Claims = append(slices.Clone(uses.Claims), d.grantClaim(r, grant))
			}
		}
		settled, outcome, err := d.claim(ctx, r, ruling, k, try, kept)
		switch {
		case err != nil:
			return Ruling{}, "", err
		case outcome.Repeated:
			permit, err = d.permit(r, ruling, settled)
			return granted(ruling, settled.Grant), permit, err
		case outcome.Written():
			return granted(ruling, settled.Grant), permit, nil
		}
		if used := usedUp(decision, k, outcome.Short, len(uses.Claims)); len(used) > 0 {
			exhausted = used
			break
		}
		exhausted = append(exhausted, policy.Reason{Code: policy.GrantExhausted, GrantID: grant.ID})
	}
	ruling = d.instead(r, ruling, exhausted)
	return ruling, "", d.append(ctx, d.record(r, ruling, k))
}

// claim tries to write an allowed call with what it uses. What it returns of a repeat is
// what the first call got; the repeat has a record of its own.
func (d *deciding) claim(ctx context.Context, r reading, ruling Ruling, k presented, uses audit.Uses, kept memo) (memo, audit.Outcome, error) {
	var err error
	decision := granted(ruling, kept.Grant).Decision
	kept.Caller, kept.Presented, kept.Reasons = d.caller.Name, r.presented(), decision.Reasons
	kept.Evidence, kept.Obligations = decision.Evidence, decision.Obligations
	if uses.Memo, err = json.Marshal(kept); err != nil {
		return memo{}, audit.Outcome{}, err
	}
	record := d.allowed(r, ruling, k, kept)
	record.Duration = d.gate.clock().Sub(d.now)
	outcome, err := d.gate.store.Append(ctx, audit.Entry{Record: record, Uses: uses})
	switch {
	case err != nil:
		return memo{}, outcome, fmt.Errorf("gate: recording the decision: %w", err)
	case outcome.Repeated:
		var first memo
		if err := json.Unmarshal(outcome.Memo, &first); err != nil {
			return memo{}, outcome, fmt.Errorf("gate: what was kept of the first decision: %w", err)
		}
		return first, outcome, d.append(ctx, d.allowed(r, ruling, k, first))
	case outcome.Written():
		d.watch.Ends(stages.Record)
		d.gate.observed(record, d.watch)
	}
	return kept, outcome, nil
}

// allowed is the record of an allowed call.
func (d *deciding) allowed(r reading, ruling Ruling, k presented, kept memo) audit.Record {
	record := d.record(r, granted(ruling, kept.Grant), k)
	record.PermitID = kept.PermitID
	if kept.Grant != "" {
		record.GrantIDs, record.GrantIssuer = []string{kept.Grant}, kept.Issuer
	}
	return record
}

// granted names the grant that was used in the reasons.
func granted(ruling Ruling, id string) Ruling {
	reasons := slices.Clone(ruling.Decision.Reasons)
	for i := range reasons {
		if reasons[i].Code == policy.Granted {
			reasons[i].GrantID = id
		}
	}
	ruling.Decision.Reasons = reasons
	return ruling
}

// permit signs the permit of an allowed call; "" where the tool only reads.
func (d *deciding) permit(r reading, ruling Ruling, m memo) (string, error) {
	if m.PermitID == "" {
		return "", nil
	}
	c := receipt.Permit{
		Issuer: d.tokens.Issuer, IssuedAt: m.IssuedAt, Expires: m.IssuedAt.Add(permitLife), ID: m.PermitID,
		Tenant: d.caller.Tenant, Session: r.SessionID, Tool: r.name, Version: uint32(r.tool.Contract.Version),
		Request: r.RequestID, Principal: r.Principal, Decision: m.Decision,
		ArgumentsDigest: r.digest, Audience: audience(r),
	}
	for _, o := range ruling.Decision.Obligations {
		c.Obligations = append(c.Obligations, string(o))
	}
	token, err := d.tokens.Keys.SignPermit(c, d.now)
	d.watch.Ends(stages.Sign)
	if err != nil {
		return "", fmt.Errorf("gate: signing a permit: %w", err)
	}
	return token, nil
}

// audience is who executes a tool.
func audience(r reading) string {
	if a := r.tool.Contract.Arguments; a != nil && a.Audience != "" {
		return a.Audience
	}
	return r.name
}

// claims are what a call uses besides a grant, in the order that usedUp knows.
func (d *deciding) claims(r reading, decision policy.Decision, k presented) []audit.Claim {
	var claims []audit.Claim
	for _, id := range decision.Consumed {
		until := d.now
		for _, f := range k.facts {
			if f.ID == id {
				until = f.Expires
			}
		}
		claims = append(claims, audit.Claim{Key: d.key("receipt", r, d.tokens.Issuer, id), Limit: 1, Until: until.Add(receipt.Skew)})
	}
	if k.Approval == policy.Approved {
		claims = append(claims, d.answerClaim(r, k))
	}
	return claims
}

// answerClaim is the one answer that a challenge can have.
func (d *deciding) answerClaim(r reading, k presented) audit.Claim {
	c := k.answered.challenge
	return audit.Claim{Key: d.key("approval", r, d.tokens.Issuer, c.ID), Limit: 1, Until: c.Expires.Add(receipt.Skew)}
}

// usedUp says of the claims without room, those of grants aside, what was used before.
func usedUp(decision policy.Decision, k presented, short []int, besides int) []policy.Reason {
	var reasons []policy.Reason
	for _, i := range short {
		switch {
		case i >= besides:
		case i < len(decision.Consumed):
			reason := policy.Reason{Code: policy.Replayed}
			for _, f := range k.facts {
				if f.ID == decision.Consumed[i] {
					reason.RequiredTool = f.Tool
				}
			}
			reasons = append(reasons, reason)
		default:
			reasons = append(reasons, policy.Reason{Code: policy.InvalidApproval})
		}
	}
	return reasons
}

func (d *deciding) grantClaim(r reading, g *policy.Grant) audit.Claim {
	owner := "caller:" + d.caller.Name
	if g.Issuer != "" {
		owner = "issuer:" + g.Issuer
	}
	return audit.Claim{Key: d.key("grant", r, owner, g.ID), Limit: g.MaxUses, Until: storable(g.NotAfter)}
}

// storable keeps a time within what the store's 64 bits of nanoseconds hold.
func storable(t time.Time) time.Time {
	if last := time.Date(2261, 1, 1, 0, 0, 0, 0, time.UTC); t.After(last) {
		return last
	}
	return t
}

// key names something that belongs to a session.
func (d *deciding) key(kind string, r reading, names ...string) audit.Key {
	return audit.KeyOf(kind, append([]string{d.caller.Tenant, r.SessionID}, names...)...)
}

// requestKey names the request that is decided: who asks again for the very same call
// under the same id, and under the same contract, repeats it.
func (d *deciding) requestKey(kind string, r reading, more ...string) audit.Key {
	names := []string{r.RequestID, r.name, strconv.Itoa(r.tool.Contract.Version), r.tool.Contract.Digest, r.Principal, r.digest}
	return d.key(kind, r, append(names, more...)...)
}
