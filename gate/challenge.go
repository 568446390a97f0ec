package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/stages"
	"github.com/hallmark-gate/hallmark/policy"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators"
)

// challengeLife is how long a person has to look at a call.
const challengeLife = 4 * time.Hour

// challenge records that a person must approve, and makes what that person must see. A
// repeat of the request gets the same challenge for as long as it lives and nothing else
// was delivered to the session meanwhile. Where the call does not fit into a challenge,
// or the store cannot say what was delivered, the ruling becomes a denial: nobody approves
// what was not shown.
func (d *deciding) challenge(ctx context.Context, r reading, ruling Ruling, k presented) (Ruling, string, error) {
	sources := k.Sources
	if !sources.Known {
		sources = d.sources(ctx, r)
	}
	if unseen(r, sources) {
		return d.unasked(ctx, r, ruling, k, policy.ConditionError, "the store cannot say what the session has seen, so that nobody can be shown it")
	}
	asked, token, err := d.asked(ctx, r, sources)
	switch {
	case err == nil:
		record := d.record(r, ruling, k)
		record.ChallengeID = asked.ID
		return ruling, token, d.append(ctx, record)
	case !errors.Is(err, audit.ErrNotFound):
		return Ruling{}, "", err
	}
	kids := d.tokens.Keys.ChallengeKeys(d.now)
	if len(kids) == 0 {
		return Ruling{}, "", errors.New("gate: no key signs challenges now")
	}
	question, err := d.newQuestion()
	if err != nil {
		return Ruling{}, "", err
	}
	c, token, err := d.signChallenge(kids[0], r, sources, question)
	d.watch.Ends(stages.Sign)
	var refused *receipt.Error
	if errors.As(err, &refused) && refused.Reason == receipt.TooLarge {
		return d.unasked(ctx, r, ruling, k, policy.InvalidArguments, "the call and what it was made after do not fit into a challenge, so that nobody can approve it")
	}
	if err != nil {
		return Ruling{}, "", fmt.Errorf("gate: signing a challenge: %w", err)
	}
	kept, err := json.Marshal(question)
	if err != nil {
		return Ruling{}, "", err
	}
	record := d.record(r, ruling, k)
	record.ChallengeID = c.ID
	record.Duration = d.gate.clock().Sub(d.now)
	outcome, err := d.gate.store.Append(ctx, audit.Entry{Record: record, Uses: audit.Uses{
		Request: d.challengeKey(kids[0], r, sources), Memo: kept, Until: c.Expires,
	}})
	switch {
	case err != nil:
		return Ruling{}, "", fmt.Errorf("gate: recording the decision: %w", err)
	case outcome.Repeated: // asked by another call at this moment
		if c, token, err = d.askedBefore(kids[0], r, sources, outcome.Memo); err != nil {
			return Ruling{}, "", fmt.Errorf("gate: a challenge made again: %w", err)
		}
		record.ChallengeID = c.ID
		return ruling, token, d.append(ctx, record)
	}
	d.watch.Ends(stages.Record)
	d.gate.observed(record, d.watch)
	return ruling, token, nil
}

// unasked turns a ruling into a denial, since nobody can be asked.
func (d *deciding) unasked(ctx context.Context, r reading, ruling Ruling, k presented, code policy.Code, why string) (Ruling, string, error) {
	ruling = d.instead(r, ruling, []policy.Reason{{Code: code}}, validators.Rejection{Layer: contract.LayerPolicy, Detail: why})
	return ruling, "", d.append(ctx, d.record(r, ruling, k))
}

// question is what the store keeps of a challenge. The rest of it is the call, which a
// repeat brings along, and which is not for the store to hold (B11): the same claims under
// the same key give the same token.
type question struct {
	ID       string    `json:"id"`
	IssuedAt time.Time `json:"issued_at"`
}

func (d *deciding) newQuestion() (question, error) {
	fresh, err := uuid.NewV7()
	return question{ID: fresh.String(), IssuedAt: d.now.UTC().Truncate(time.Second)}, err
}

// asked makes the challenge again that the same call got before, by the key that signed it
// then: a key that was rotated out loses no challenge, one that was revoked loses all. The
// error matches [audit.ErrNotFound] where there is none, or is the store's.
func (d *deciding) asked(ctx context.Context, r reading, s policy.Sources) (receipt.Challenge, string, error) {
	for _, kid := range d.tokens.Keys.ChallengeKeys(d.now) {
		memo, err := d.gate.store.Recall(ctx, d.challengeKey(kid, r, s), d.now)
		switch {
		case errors.Is(err, audit.ErrNotFound):
			continue
		case err != nil:
			return receipt.Challenge{}, "", fmt.Errorf("gate: looking for the challenge: %w", err)
		}
		if c, token, err := d.askedBefore(kid, r, s, memo); err == nil {
			return c, token, nil
		}
	}
	return receipt.Challenge{}, "", audit.ErrNotFound
}

// askedBefore makes a challenge again of what the store kept of it.
func (d *deciding) askedBefore(kid string, r reading, s policy.Sources, memo []byte) (receipt.Challenge, string, error) {
	var q question
	if err := json.Unmarshal(memo, &q); err != nil {
		return receipt.Challenge{}, "", fmt.Errorf("what was kept of it: %w", err)
	}
	return d.signChallenge(kid, r, s, q)
}

func (d *deciding) signChallenge(kid string, r reading, s policy.Sources, q question) (receipt.Challenge, string, error) {
	c := receipt.Challenge{
		Issuer: d.tokens.Issuer, IssuedAt: q.IssuedAt, Expires: q.IssuedAt.Add(challengeLife), ID: q.ID,
		Tenant: d.caller.Tenant, Session: r.SessionID, Caller: d.caller.Name, Principal: r.Principal,
		Tool: r.name, Version: uint32(r.tool.Contract.Version), Arguments: slices.Clone(r.canonical),
	}
	for _, one := range s.List {
		c.Disclosed = append(c.Disclosed, receipt.Source(one))
	}
	token, err := d.tokens.Keys.SignChallenge(kid, c)
	return c, token, err
}

// challengeKey names what a challenge is about: the request, who makes it, and what its
// session had seen; and the key that signs it. Fresh results of the same tools change
// nothing.
func (d *deciding) challengeKey(kid string, r reading, s policy.Sources) audit.Key {
	seen := sha256.New()
	for _, one := range s.List {
		_, _ = io.WriteString(seen, one.Tool+"\x00"+one.Trust+"\x00") // a hash takes everything
	}
	return d.requestKey("challenge", r, kid, d.caller.Name, hex.EncodeToString(seen.Sum(nil)))
}
