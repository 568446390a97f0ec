package gate

import (
	"time"

	"github.com/google/uuid"

	"github.com/hallmark-gate/hallmark/receipt"
)

// signalReceiptMissing counts receipts that a contract asks for and that could not be
// made; who needs one as evidence is refused.
const signalReceiptMissing = "receipt_not_issued"

// receipt attests an accepted result where its contract says so. wanted is false where
// none is asked for; token is "" where none could be made.
func (t Tokens) receipt(caller Caller, p prepared, o Outcome, now time.Time) (token, id string, wanted bool) {
	if o.Tool == nil || o.Tool.Contract.Receipt == nil || !o.Verdict.Accepted || o.Result.Failure != nil {
		return "", "", false
	}
	fresh, err := uuid.NewV7()
	if err != nil {
		return "", "", true
	}
	c, rules := o.Tool.Contract, o.Tool.Contract.Receipt
	issued := now.UTC().Truncate(time.Second)
	r := receipt.Receipt{
		Issuer: t.Issuer, IssuedAt: issued, Expires: issued.Add(rules.TTL), ID: fresh.String(),
		Tenant: caller.Tenant, Caller: caller.Name, Session: p.Request.SessionID,
		Tool: c.Tool, Version: uint32(c.Version), ContractDigest: c.Digest,
		Request: p.Request.RequestID, ArgumentsDigest: p.argumentsDigest,
		Source: o.Result.Provenance.Source, Trust: trustOf(o.Result),
		Observed: o.Verdict.Output.ObservedAt, Signed: rules.Signed,
	}
	switch {
	case o.Result.Text != nil:
		r.Digest = digest([]byte(o.Result.Text.Content))
	case o.Result.Data != nil:
		r.Digest = digest([]byte(o.Result.Data.JSON))
		if rules.Facts && len(o.Result.Data.JSON) <= receipt.MaxFacts {
			r.Facts = []byte(o.Result.Data.JSON)
		}
	}
	token, err = t.Keys.SignReceipt(r)
	if err != nil {
		return "", "", true
	}
	return token, r.ID, true
}

// delivered says how far outside content that an agent gets may be believed; "" where a
// result holds none.
func delivered(r ToolResult) string {
	if r.Failure != nil && r.Failure.DisplayText == nil || r.Failure == nil && r.Data == nil && r.Text == nil {
		return ""
	}
	return trustOf(r)
}

func trustOf(r ToolResult) string {
	if r.Provenance.Trusted {
		return "trusted"
	}
	return "untrusted"
}
