package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/validators"
)

// newRecord makes the audit record of one judged call. Nothing of the payload is in
// it: digests, sizes, names that the contract knows, and pointers whose names were
// escaped and cut (B11).
func newRecord(caller Caller, decisionID string, set *Set, p prepared, o Outcome) audit.Record {
	r := audit.Record{
		DecisionID:      decisionID,
		RPC:             "validate",
		Tenant:          caller.Tenant,
		Caller:          caller.Name,
		Tool:            o.Result.Tool,
		ContractVersion: uint32(o.Result.ContractVersion),
		ContractsDigest: set.Digest(),
		RequestID:       p.Request.RequestID,
		SessionID:       p.Request.SessionID,
		Source:          cleanSource(p.Upstream.Source, false),
		Adapter:         p.Upstream.Adapter,
		UpstreamStatus:  p.Upstream.Status.String(),
		Reserialized:    p.Upstream.Reserialized,
		RawBytes:        uint64(len(p.Raw)),
		Attempt:         uint32(o.Attempt),
		Signals:         o.Verdict.Signals,
		ArgumentsDigest: p.argumentsDigest,
		Delivered:       delivered(o.Result),
	}
	if o.Tool == nil {
		// What was asked for, since no contract has it.
		r.Tool = validators.ShownName(p.Request.Tool)
		r.ContractVersion = uint32(p.Request.ContractVersion)
	}
	if p.Request.CallID != "" {
		r.CallIDDigest = digest([]byte(p.Request.CallID))
	}
	if o.Tool != nil {
		c := o.Tool.Contract
		r.ContractDigest, r.Owner = c.Digest, c.Owner
		r.MediaType = o.Result.Provenance.MediaType
	}
	r.OutputBytes, r.Truncated = given(o.Result)
	if f := o.Result.Failure; f != nil {
		r.FailureCode = string(f.Code)
	}
	reject(&r, o.Verdict.Rejections)
	return r
}

// reject notes rejections, the first as the one that counts.
func reject(r *audit.Record, rejections []validators.Rejection) {
	for i, rejection := range rejections {
		if i == 0 {
			r.Rejection = rejectionRecord(rejection)
		} else {
			r.MoreRejections = append(r.MoreRejections, rejectionRecord(rejection))
		}
	}
}

// signal counts something in a record; 0 is not counted. The record's map may be the
// verdict's and is not written to.
func signal(r *audit.Record, name string, n int) {
	if n <= 0 {
		return
	}
	signals := make(map[string]uint64, len(r.Signals)+1)
	maps.Copy(signals, r.Signals)
	signals[name] += uint64(n)
	r.Signals = signals
}

// given is the number of bytes that an agent gets of a reply, and whether they were cut.
func given(r ToolResult) (bytes uint64, truncated bool) {
	outside := r.Text
	switch {
	case r.Data != nil:
		return uint64(len(r.Data.JSON)), r.Data.Truncated
	case r.Failure != nil:
		outside = r.Failure.DisplayText
	}
	return uint64(outside.size()), outside != nil && outside.Truncated
}

func rejectionRecord(r validators.Rejection) audit.Rejection {
	return audit.Rejection{
		Layer: string(r.Layer), Reason: string(r.Reason),
		InstancePath: r.At, SchemaPath: r.SchemaPath, Keyword: r.Keyword,
		Check: r.Check, Detail: r.Detail, Offset: uint64(max(r.Offset, 0)),
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}
